"""Commands killed at every call that changes a folder: the old state or the new is left, and the next settles it."""

from __future__ import annotations

import contextlib
import io
import os
import resource
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from bgfmt.cli import run
from tests.conftest import ROOT
from tests.support import crash

STOCK = b"the file that was here before"
HOST = ["--host", "pypi"]
MATCH = """ 1 point match

 Game 1
 Ann : 0                              Bob : 0
  1) 31: 8/5 6/5                      42: 8/4 6/4
  2) 61: 13/7 8/7                     65: 24/18 18/13
"""


@pytest.fixture
def places(golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path, Path]:
    """(source, start, work): a table to install, a folder with a stranger's file in its slot, a folder to work in."""
    monkeypatch.setenv("GNUBG_DATA_DIR", "")
    source = tmp_path / "new.bd"
    shutil.copy(golden / "gnubg/ts_04x04.bd", source)
    start = tmp_path / "start"
    start.mkdir()
    (start / "gnubg_ts.bd").write_bytes(STOCK)
    return source, start, tmp_path / "work"


@dataclass
class Said:
    returncode: int
    stdout: str
    stderr: str


def bgfmt(*arguments: object) -> Said:
    """The command, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([str(argument) for argument in arguments])
    return Said(code, out.getvalue(), err.getvalue())


def install(source: Path, work: Path, *more: str) -> list[str]:
    return [
        "gnubg",
        "install",
        str(source),
        "--slot",
        "ts",
        "--dir",
        str(work),
        *HOST,
        "--until",
        "digest",
        *more,
    ]


def slots(folder: Path) -> dict[str, bytes | str]:
    """What gnubg would see, and what is kept: all but hidden names and the program's own data."""
    return {
        name: held
        for name, held in crash.listing(folder).items()
        if name.startswith(("gnubg_ts.bd", ".bgfmt")) or ".bgfmt-" in name
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "link"), [("kill", False), ("full", False), ("kill", True)], ids=["kill", "full", "kill-link"]
)
def test_install(places: tuple[Path, Path, Path], fault: str, link: bool) -> None:
    source, start, work = places
    more = ["--link"] if link else []
    new = f"-> {source}" if link else source.read_bytes()
    seen = set()
    for number, ran in crash.every_kill(start, work, install(source, work, *more), fault=fault):
        left = slots(work)
        assert left["gnubg_ts.bd"] in (STOCK, new), number
        if fault == "full":
            assert ran.code in (0, 2)
            assert "Traceback" not in ran.err
            assert len(ran.err.splitlines()) <= 1 or ran.code == 0
        uninstalled = shutil.copytree(work, work.with_name("uninstalled"), symlinks=True)
        taken = bgfmt("gnubg", "uninstall", "--dir", uninstalled, *HOST)
        assert taken.returncode == (0 if ".bgfmt-installed.json" in left else 2), taken.stderr
        assert slots(uninstalled)["gnubg_ts.bd"] == STOCK
        shutil.rmtree(uninstalled)
        seen.add(left["gnubg_ts.bd"])
        # the same command again installs the file and leaves nothing else
        assert bgfmt(*install(source, work, *more)).returncode == 0
        after = slots(work)
        assert (after["gnubg_ts.bd"], after["gnubg_ts.bd.before-bgfmt"]) == (new, STOCK)
        assert len(after) == 3
        # whatever was left, installing and taking out work, and the stranger's file is back
        assert bgfmt(*install(source, work)).returncode in (0, 2)
        taken = bgfmt("gnubg", "uninstall", "--force", "--dir", work, *HOST)
        assert taken.returncode == 0, taken.stderr
        assert slots(work) == {"gnubg_ts.bd": STOCK}
    assert seen == {STOCK, new}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "changed"),
    [("kill", False), ("full", False), ("kill", True)],
    ids=["kill", "full", "kill-changed"],
)
def test_uninstall(places: tuple[Path, Path, Path], fault: str, changed: bool) -> None:
    source, start, work = places
    assert bgfmt(*install(source, start)).returncode == 0
    before = source.read_bytes()
    if changed:
        before = b"changed by somebody"
        (start / "gnubg_ts.bd").write_bytes(before)
    asked = ["gnubg", "uninstall", "ts", "--force", "--dir", str(work), *HOST]
    for number, _ in crash.every_kill(start, work, asked, fault=fault):
        left = slots(work)
        assert left["gnubg_ts.bd"] in (STOCK, before), number
        assert STOCK in left.values()
        bgfmt(*asked)
        after = slots(work)
        assert after.pop("gnubg_ts.bd") == STOCK
        assert list(after.values()) == ([before] if changed else [])


@pytest.mark.slow
@pytest.mark.parametrize("tenth", [0, 7])
@pytest.mark.parametrize("verb", ["install", "install as another", "convert", "repair", "annotate", "site"])
def test_no_room(places: tuple[Path, Path, Path], verb: str, tenth: int) -> None:
    """No file may grow beyond some tenths of the output: one line, and everything is as it was."""
    source, start, work = places
    (start / "in.mat").write_text(MATCH)
    db = str(source)
    if verb == "repair":
        data = bytearray(source.read_bytes())
        data[1001] ^= 0x40
        source.write_bytes(data)
    arguments, like = {
        "install": (install(source, start), source),
        "install as another": (install(source, work), source),
        "convert": (["convert", db, str(start / "out.npz")], source),
        "repair": (["repair", db, "-o", str(start / "out.bd")], source),
        "annotate": (
            ["annotate", str(start / "in.mat"), db, "-o", str(start / "out.html")],
            start / "in.mat",
        ),
        "site": (["site", str(start / "out"), db], source),
    }[verb]
    size = like.stat().st_size * tenth // 10
    before, names = crash.listing(start), sorted(start.parent.rglob("*"))

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    done = subprocess.run(
        [sys.executable, "-m", "bgfmt", *arguments],
        capture_output=True, text=True, cwd=ROOT, preexec_fn=limit, check=False,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert str(start.parent) in done.stderr
    assert (crash.listing(start), sorted(start.parent.rglob("*"))) == (before, names)


# -- other commands that write ------------------------------------------------------------------------------


def checked(start: Path, work: Path, name: str, arguments: list[str], again: list[str], at_most: int) -> None:
    """Killed anywhere, the output is the old one or the new one; the command run again makes it."""
    old = crash.listing(start).get(name)
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(start, work)
    assert bgfmt(*arguments).returncode == 0
    new = crash.listing(work)[name]
    assert new != old
    for number, _ in crash.every_kill(start, work, arguments, at_most=at_most):
        assert crash.listing(work).get(name) in (old, new), number
        done = bgfmt(*again)
        assert done.returncode == 0, done.stderr
        assert crash.listing(work)[name] == new
        assert set(crash.listing(work)) == {*crash.listing(start), name}, number


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["convert", "solve", "repair", "annotate"])
def test_outputs(golden: Path, tmp_path: Path, verb: str) -> None:
    start, work = tmp_path / "start", tmp_path / "work"
    start.mkdir()
    made = work / "out"
    if verb == "convert":
        shutil.copy(golden / "gnubg/os_p04.bd", start / "in.bd")
        (start / "out.npz").write_bytes(b"old")
        made = work / "out.npz"
        arguments = ["convert", str(work / "in.bd"), str(made), "--force"]
    elif verb == "solve":
        made = work / "out.bd"
        (start / "out.bd").write_bytes(b"old")
        arguments = ["solve", "two-sided", "3x3", "-o", str(made), "--force"]
    elif verb == "repair":
        data = bytearray((golden / "gnubg/ts_03x03.bd").read_bytes())
        data[1001] ^= 0x40
        (start / "in.bd").write_bytes(data)
        made = work / "out.bd"
        arguments = ["repair", str(work / "in.bd"), "-o", str(made), "--force"]
    else:
        shutil.copy(golden / "gnubg/ts_06x04.bd", start / "db.bd")
        (start / "in.mat").write_text(MATCH)
        made = work / "out.sgf"
        arguments = ["annotate", str(work / "in.mat"), str(work / "db.bd"), "-o", str(made), "--force"]
    checked(start, work, made.name, arguments, arguments, at_most=8)


@pytest.mark.slow
def test_folders(golden: Path, tmp_path: Path) -> None:
    """Killed anywhere, the old folder or the new one is there, or the next command brings the old one back."""
    folders = pytest.importorskip("bgfmt.extras.folders")
    start, work = tmp_path / "start", tmp_path / "work"
    start.mkdir()
    for name in ("ts_03x03.bd", "ts_06x02.bd", "ts_06x03.bd"):
        shutil.copy(golden / "gnubg" / name, start)
    made = start / "made"
    arguments = ["site", str(work / "made"), str(work / "ts_03x03.bd"), "--force"]
    assert bgfmt("site", made, start / "ts_06x02.bd").returncode == 0
    old = crash.listing(made)
    shutil.copytree(start, work)
    assert bgfmt(*arguments).returncode == 0
    new = crash.listing(work / "made")
    assert new != old
    seen = set()
    for number, _ in crash.every_kill(start, work, arguments, at_most=24):
        if (work / "made").exists():
            seen.add("old" if crash.listing(work / "made") == old else "new")
            assert crash.listing(work / "made") in (old, new), number
        else:
            seen.add("none")
            folders.recover_folder(work / "made")
            assert crash.listing(work / "made") == old
        again = bgfmt(*arguments)
        assert again.returncode == 0, again.stderr
        assert crash.listing(work / "made") == new
        assert {path.name for path in work.iterdir()} == {path.name for path in start.iterdir()}, number
    assert seen >= {"old", "new"}
