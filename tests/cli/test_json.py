"""docs/json.md against real answers of every command: no field is missing there, none is listed that never comes."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest

import bgfmt
from bgfmt.cli import cli, run
from tests.conftest import GOLDEN, ROOT

PAGE = (ROOT / "docs/json.md").read_text(encoding="utf-8")
HERE = "0 1 0 0 1 / 0 1 1"
ROW = re.compile(r"^\|([^|]*`[^|]*)\|([^|]*)\|([^|]*)\|$", re.M)
SEE = re.compile(r"See \[([^]]+)\]\(#[\w-]+\)")


def _fields(text: str) -> dict[str, str]:
    """Field, with `?` where it may be missing, -> type, or the heading under which it is described."""
    found: dict[str, str] = {}
    for names, kind, meaning in ROW.findall(text):
        for name, may in re.findall(r"`([^`]+)`(\??)", names):
            assert name + may not in found, name
            found[name + may] = kind.strip(" `") or f"See {SEE.findall(meaning)[0]}"
    return found


def _resolved(schema: dict[str, str]) -> dict[str, str]:
    """Field, with `?` where it may be missing, -> type; a field that may be missing is never null."""
    found = {}
    for name, kind in schema.items():
        found[name] = kind
        if kind.startswith("See "):
            there = SCHEMAS[kind.removeprefix("See ")]
            bare = name.rstrip("?")
            described = there.get(bare) or there[f"{bare}?"]
            assert not described.startswith("See "), name
            found[name] = described.removesuffix(" or null") if bare != name else described
    return found


SECTIONS = re.split(r"^#+ (.*)\n", PAGE, flags=re.M)[1:]
SCHEMAS = {
    name: _fields(text)
    for name, text in zip(SECTIONS[::2], SECTIONS[1::2], strict=True)
    if "| field |" in text
}
SCHEMAS = {name: _resolved(schema) for name, schema in SCHEMAS.items()}
#: fields seen in some answer, by schema
SEEN: dict[str, set[str]] = {name: set() for name in SCHEMAS}


def fits(kind: str, value: Any, where: str) -> None:
    """AssertionError where a value is not of a type of the page."""
    if kind.endswith(" or null"):
        if value is not None:
            fits(kind.removesuffix(" or null"), value, where)
    elif kind in SCHEMAS:
        follows(kind, value, where)
    elif kind.startswith("["):
        assert isinstance(value, list), where
        for k, one in enumerate(value):
            fits(kind[1:-1], one, f"{where}[{k}]")
    elif kind.startswith("{"):
        assert isinstance(value, dict), where
        for name, one in value.items():
            fits(kind[1:-1], one, f"{where}.{name}")
    elif kind in ("number", "probability"):
        assert isinstance(value, (int, float)), where
        assert not isinstance(value, bool), where
        assert kind == "number" or -1e-9 <= value <= 1 + 1e-9, f"{where}: {value}"
    else:
        types = {"string": str, "integer": int, "boolean": bool, "any": object}
        assert isinstance(value, types[kind]), f"{where}: {value!r} is no {kind}"
        assert kind != "integer" or not isinstance(value, bool), where


def follows(name: str, value: Any, where: str = "") -> None:
    """AssertionError where an object does not have exactly the fields of a heading of the page."""
    where = where or name
    assert isinstance(value, dict), f"{where}: {value!r}"
    schema = SCHEMAS[name]
    plain = {field.rstrip("?"): kind for field, kind in schema.items()}
    needed = {field for field in schema if not field.endswith("?")} - {"..."}
    assert needed <= set(value), f"{where}: {needed - set(value)} missing"
    SEEN[name] |= set(value)
    for field, one in value.items():
        kind = plain.get(field, plain.get("..."))
        assert kind is not None, f"{where}: {field} is not on the page"
        if field not in plain:
            SEEN[name].add("...")
        fits(kind, one, f"{where}.{field}")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of all kinds."""
    folder = tmp_path_factory.mktemp("json")
    for name in ("os_p06", "ts_06x04", "ts_03x03", "os_p04_nd", "hyper1"):
        shutil.copy(GOLDEN / f"gnubg/{name}.bd", folder / f"{name}.bd")
    shutil.copy(GOLDEN / "jfile/bgns.ijf", folder)
    data = bytearray((folder / "ts_06x04.bd").read_bytes())
    data[4000] ^= 1
    (folder / "bad.bd").write_bytes(data)
    (folder / "none.bd").write_bytes(b"no database")
    (folder / "bad.py").write_text("def answer(question):\n    return 0 if question.number % 9 else 'x'\n")
    (folder / "labels.csv").write_text("position,win\n1 / 1,100\n1 1 1 / 1,0.2\n")
    (folder / "right.csv").write_text("position,win\n1 / 1,1\n")
    (folder / "evening.mat").write_bytes((ROOT / "fixtures/matches/gv-XCu3RJ0UvDg_Tldl.mat").read_bytes())
    (folder / "evening.xg").write_bytes((ROOT / "fixtures/matches/gv-XCu3RJ0UvDg_Tldl.xg").read_bytes())
    for name in ("lazybg-match1", "bglab-match10611856"):
        shutil.copy(ROOT / f"fixtures/matches/{name}.mat", folder)
    (folder / "money.mat").write_bytes((ROOT / "fixtures/matches/gnubg107-beaver.mat").read_bytes())
    return folder


CASES = [
    ("Info", "info os_p06.bd"),
    ("Info", "info --digest ts_06x04.bd bgns.ijf hyper1.bd"),
    ("Info", "convert os_p06.bd small.bd --points 4 --force"),
    ("Info", "solve two-sided 3x3 --quiet --force -o 3x3.bd"),
    ("Info", "solve match 3x2 --away 2-3 --quiet --force -o 2-3.bgm"),
    ("Lookup", "lookup ts_06x04.bd 0,1/1"),
    ("Lookup", "lookup os_p06.bd 0,1/1"),
    ("Lookup", "lookup os_p04_nd.bd 0,1"),
    ("Lookup", "lookup bgns.ijf 0,1"),
    ("Lookup", "lookup hyper1.bd #30"),
    ("Lookup", "lookup 5-9.bgm 0,1/1"),
    ("Side race", "race os_p06.bd 0,2,2,2,0,4"),
    ("Side race", "race os_p04_nd.bd 0,2,2,2"),
    ("Race", "race os_p06.bd 0,2,2,2,0,4/15"),
    ("Race", "race bgns.ijf 0,2,2,2,0,4/15"),
    ("Cube", "cube ts_06x04.bd 0,1,0,0,1/0,1,1"),
    ("Cube", "cube os_p06.bd 0,0,0,0,0,15/0,0,0,0,0,15"),
    ("Match cube", "cube ts_06x04.bd 0,1,0,0,1/0,1,1 --away 3-5"),
    ("Match cube", "cube os_p06.bd 0,0,0,0,0,15/0,0,0,0,0,15 --away 7-9 --limit 1000"),
    ("Match cube", "cube ts_06x04.bd 0,1,0,0,1/0,1,1 --away 1-5"),
    ("Cube", "cube ts_06x04.bd 0,1,0,0,1/0,1,1 --insight"),
    ("Match cube", "cube ts_06x04.bd 0,1,0,0,1/0,1,1 --away 3-5 --insight"),
    ("Match cube", "cube 5-9.bgm 0,1,0,0,1/0,1,1 --away 5-9"),
    ("Scores", "cube ts_06x04.bd 0,1,0,0,1/0,1,1 --scores 3"),
    ("Scores", "cube ts_06x04.bd 0,1,0,0,1/0,1,1 --scores 2 --away 1-2 --crawford"),
    ("Scores", "cube os_p06.bd 0,0,0,0,0,15/0,0,0,0,0,15 --scores 2 --limit 1000"),
    ("Plays", "play ts_06x04.bd 0,1,0,0,1/0,1,1 21"),
    ("Plays", "play os_p06.bd 0,0,0,0,0,15/0,0,0,0,0,15 61 --limit 1000"),
    ("Plays", "play ts_06x04.bd 0,1,0,0,1/0,1,1 all --away 2-3"),
    ("Plays", "play os_p06.bd 0,1,0,0,1 21 --measure off:1 --top 2"),
    ("Plays", "play ts_06x04.bd 0,1,0,0,1/0,1,1 all --top 1 --jacoby"),
    ("Identifiers", "id XGID=-DCA------------------bcc-:1:1:1:D:0:0:1:0:10 --table 2x2"),
    ("Match equity tables", "met"),
    ("Match equity tables", "met g11"),
    ("Match equity tables", "met g11 mec26"),
    ("Report", "verify ts_06x04.bd"),
    ("Report", "verify --exact ts_03x03.bd os_p06.bd"),
    ("Report", "verify bad.bd two.bd"),
    ("Report", "repair bad.bd -o mended.bd"),
    ("Diff", "diff ts_06x04.bd bad.bd"),
    ("Diff", "diff os_p06.bd bgns.ijf"),
    ("Match", "matches evening.mat"),
    ("Annotation", "annotate evening.mat ts_06x04.bd os_p06.bd"),
    ("Annotation", "annotate evening.xg ts_06x04.bd os_p06.bd"),
    ("Annotation", "annotate money.mat evening.mat gone.mat ts_06x04.bd os_p06.bd"),
    ("Judgement", "judge ts_06x04.bd 0,1,0,0,1/0,1,1 --roll 21 --played 5/2"),
    ("Judgement", "judge os_p06.bd 0,1,0,0,1/0,1,1 --take --away 3-5"),
    ("Rule study", "study rules ts_06x04.bd --rule keith"),
    ("Exam", "exam rule:keith --sample 300 --against bgfmt:limit=0"),
    ("Exam", "exam bad.py:answer --set matches --kind play"),
    ("Checked labels", "check-labels labels.csv"),
    ("Checked labels", "check-labels right.csv"),
    ("Rule study", "study rules os_p06.bd --chequers 1-2"),
    ("Rule study", "study rules --chequers 1-2 --away 2-5 --rule keith"),
    ("bgfmt articles", "articles ace 3 2"),
    ("bgfmt articles", "articles ace 3 2 --exact"),
    ("Lookup", "lookup g.bkg 0,1"),
    ("Lookup", "lookup e.points 0,1/1"),
    ("Engine series", "engine bkg series --games 20 --position 0,0,2/0,0,2"),
    ("Engine replay", "engine bkg replay"),
    ("Engine plays", "engine bkg explain 4HPwATDgc/ABMA 31"),
    ("Engine position", "engine bkg explain 2,2,3/5,2,3,3,2"),
    ("Formats", "formats"),
    ("Check", "gnubg check ts_06x04.bd"),
    ("Check", "gnubg check none.bd"),
    ("Installation", "gnubg install ts_06x04.bd --dir slots"),
    ("Where", "gnubg where --dir slots"),
    ("Failure", "cube none.bd 0,1/1"),
    ("Failure", "cube 1,1"),
    ("Failure", "race os_p06.bd --nonsense"),
    ("Report", "verify nope.bd"),
    ("Report", "verify nope.bd ts_06x04.bd"),
    ("Failure", "matches nope.mat"),
    ("Failure", "lookup ts_06x04.bd 5/5"),
]


@pytest.mark.slow
def test_answers_are_as_the_page_says(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one test, which alone can say that no field of the page never comes."""
    monkeypatch.chdir(here)
    for schema, line in CASES:
        _make(line)
        code = run([*line.split(), "--json"])
        found = json.loads(capsys.readouterr().out)
        codes = {"Failure": (1, 2), "Annotation": (0, 2), "Check": (0, 2), "Report": (0, 1, 2)}
        assert code in codes.get(schema, (0, 1)), line
        for one in found if isinstance(found, list) else [found]:
            follows(schema, one, line)
    assert run(["verify", "ts_06x04.bd", "--report", str(tmp_path / "report.json")]) == 0
    follows("Report", json.loads((tmp_path / "report.json").read_text())[0])
    never = {
        f"{name}.{field}"
        for name, schema in SCHEMAS.items()
        for field in (f.rstrip("?") for f in schema)
        if SEEN[name] and field not in SEEN[name]
    }
    # rare: a double that the file leaves out, a resignation, an offset in a file of several parts
    assert never <= {"Record.implied", "Record.points"}
    assert {name for name in SCHEMAS if not SEEN[name]} <= {"Common fields", "Broken format"}


def _make(line: str) -> None:
    """The files of a case that are not copied."""
    if "5-9.bgm" in line and not Path("5-9.bgm").exists():
        assert run(["solve", "match", "6x2", "--away", "5-9", "--quiet", "-o", "5-9.bgm"]) == 0
    for name, what in (("g.bkg", "bkg"), ("e.points", "expected-points 3x2")):
        if name in line and not Path(name).exists():
            assert run(["solve", *what.split(), "--quiet", "-o", name]) == 0
    if "two.bd" in line and not Path("two.bd").exists():
        Path("two.bd").write_bytes(Path("ts_06x04.bd").read_bytes() * 2)


LINES = [
    ("Lookup", "lookup ts_06x04.bd -", "0,1/1\n"),
    ("Side race", "race os_p06.bd -", "0 2 2 2 0 4\n"),
    ("Cube", "cube ts_06x04.bd -", f"{HERE}\n"),
    ("Plays", "play ts_06x04.bd -", f"{HERE} 21\n"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("schema", "command", "lines"), LINES)
def test_lines_of_standard_input(schema: str, command: str, lines: str, here: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bgfmt", *command.split()],
        input=lines + "nonsense\n", capture_output=True, text=True, cwd=here, check=False,
    )  # fmt: skip
    good, bad = map(json.loads, done.stdout.splitlines())
    follows(schema, good)
    follows("Failure", bad)
    assert done.returncode == 1


def test_dump_has_the_fields_of_lookup(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(here)
    for name in ("ts_06x04", "os_p06", "os_p04_nd", "hyper1"):
        run(["dump", f"{name}.bd", "--format", "json", "--start", "30", "--count", "1"])
        (dumped,) = json.loads(capsys.readouterr().out)
        run(["lookup", f"{name}.bd", "#30", "--json"])
        (found,) = json.loads(capsys.readouterr().out)
        del found["asked"]
        assert found == dumped


def test_every_command_with_json_is_on_the_page() -> None:
    context = click.Context(cli)
    for name in cli.list_commands(context):
        command = cli.get_command(context, name)
        assert command is not None
        for one in (command, *getattr(command, "commands", {}).values()):
            if any(p.name == "as_json" for p in one.params):
                assert f"## bgfmt {name}" in PAGE or f", bgfmt {name}" in PAGE, name
    assert bgfmt.__version__
