"""The verbs about files, as a user types them: answers, exit codes, one-line errors."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

import bgfmt
from bgfmt import Position, Side
from bgfmt.cli import cli as group
from bgfmt.cli import run
from tests.conftest import GOLDEN

OS, TS = str(GOLDEN / "gnubg/os_p06.bd"), str(GOLDEN / "gnubg/ts_06x04.bd")
PAIR = GOLDEN / "gnubg/concat_os_p02_ts_03x03.bd"


def cli(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    code = run([str(a) for a in arguments])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


def fails(capsys: pytest.CaptureFixture[str], *arguments: str | Path, code: int = 2) -> str:
    found, out, err = cli(capsys, *arguments)
    assert found == code, (out, err)
    assert err.startswith("bgfmt: ")
    assert err.count("\n") == 1
    return err


def test_every_verb_has_help_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in group.list_commands(click.Context(group)):
        code, out, _ = cli(capsys, verb, "--help")
        assert code == 0
        assert "Usage: bgfmt" in out


def test_info(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = cli(capsys, "info", OS, "--digest")
    assert code == 0
    assert "3dc7b833c4670849cee00479a9e21b49" in out
    assert "gnubg_os0.bd" in out
    code, out, _ = cli(capsys, "info", TS, "--json")
    facts = json.loads(out)
    assert (facts["points"], facts["chequers"], facts["cubeful"], facts["gnubg_reads"]) == (6, 4, True, True)


def test_lookup_texts(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = cli(capsys, "lookup", TS, "0 1 0 0 1 0 / 0 1 1 0 0 0")
    assert code == 0
    assert "+0.3422" in out
    assert "+0.1605" in out
    same = cli(capsys, "lookup", OS, "0", "0", "0", "2", "3", "4")
    assert same == cli(capsys, "lookup", OS, "0 0 0 2 3 4")
    assert "6.567" in same[1]
    code, out, _ = cli(capsys, "lookup", OS, "#4982", "--json")
    assert json.loads(out)[0]["side"] == "0 0 0 2 3 4"
    code, out, _ = cli(capsys, "lookup", OS, "4 3 1 / 3 3 2", "--json")
    assert [a["player"] for a in json.loads(out)] == ["on roll", "other side"]
    assert "2.4" not in fails(capsys, "lookup", OS, "0 0 0 0 0 0 1", code=1)
    fails(capsys, "lookup", TS, "nonsense")


def test_dump_agrees_with_lookup(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = cli(capsys, "dump", TS, "--start", "22000", "--count", "500", "--format", "csv")
    assert code == 0
    rows = list(csv.DictReader(io.StringIO(out)))
    assert len(rows) == 500
    with bgfmt.open(TS) as db:
        for row in rows[::50]:
            us, them = (Side(*map(int, row[k].split())) for k in ("us", "them"))
            eq = db.lookup(Position(us, them)).as_dict()
            assert eq["position_number"] == int(row["position_number"])
            assert [int(row[f"us_{p}"]) for p in range(1, 7)] == list(us.padded(6))
            assert [
                float(row[k]) for k in ("win", "cubeless", "owned", "centered", "opponent")
            ] == pytest.approx(
                [eq[k] for k in ("win", "cubeless", "owned", "centered", "opponent")], abs=1e-9
            )
    code, text, _ = cli(capsys, "dump", TS, "--start", "22000", "--count", "2")
    assert text.splitlines()[0].split()[0] == "22000"
    code, out, _ = cli(capsys, "dump", OS, "--start", "54000", "--format", "json")
    records = json.loads(out)
    assert len(records) == 264
    with bgfmt.open(OS) as db:
        last = db.lookup(Side(0, 0, 0, 0, 0, 15))
        assert records[-1]["mean_rolls"] == pytest.approx(last.mean_rolls)
        assert records[-1] == last.as_dict() | {
            "table": Path(OS).name, "path": OS, "max_error": db.table.errors(),
        }  # fmt: skip
    for name in ("os_p03_nd", "hyper1", "os_p02_g", "ts_03x03_cubeless"):
        for style in ("text", "csv", "json"):
            code, out, _ = cli(
                capsys, "dump", GOLDEN / f"gnubg/{name}.bd", "--format", style, "--count", "20"
            )
            assert code == 0
            assert len(out.splitlines()) >= 20
    fails(capsys, "dump", OS, "--start", "54264", code=1)


@pytest.mark.slow
def test_convert_several_files_into_a_folder(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "csv"
    assert cli(capsys, "convert", OS, TS, "-o", out, "--to", "csv")[0] == 0
    assert sorted(path.name for path in out.iterdir()) == ["os_p06.csv", "ts_06x04.csv"]
    code, text, _ = cli(capsys, "convert", OS, TS, "-o", out, "--json")
    assert [Path(one["file"]).name for one in json.loads(text)] == ["os_p06.bd", "ts_06x04.bd"]
    assert (out / "os_p06.bd").read_bytes() == Path(OS).read_bytes()
    code, text, err = cli(capsys, "convert", OS, TS, "-o", tmp_path, "--to", "gnubg-ts", "--quiet")
    assert (code, text) == (2, "")
    refusal, count = err.splitlines()
    assert refusal.startswith(f"bgfmt: {OS}: the format gnubg-ts holds two-sided tables")
    assert count == "1 of 2 files not converted"
    assert (tmp_path / "ts_06x04.bd").read_bytes() == Path(TS).read_bytes()
    code, text, _ = cli(capsys, "convert", OS, TS, "-o", tmp_path / "none", "--to", "npz", "--plan")
    assert text.count("nothing is lost") == 2
    assert not (tmp_path / "none").exists()
    assert cli(capsys, "convert", OS, "-o", f"{tmp_path}/one/", "--to", "csv")[0] == 0
    assert (tmp_path / "one" / "os_p06.csv").exists()


def test_convert_names_each_file_that_fails(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    small, missing = GOLDEN / "gnubg/os_p01.bd", tmp_path / "missing.bd"
    code, _, err = cli(capsys, "convert", missing, PAIR, small, "-o", tmp_path, "--to", "npz", "--quiet")
    assert code == 2
    first, second, count = err.splitlines()
    assert first == f"bgfmt: {missing}: No such file or directory"
    assert second.startswith(f"bgfmt: {PAIR}: information would be lost")
    assert "--part" in second
    assert count == "2 of 3 files not converted"
    code, _, err = cli(
        capsys, "convert", PAIR, small, "-o", tmp_path / "all", "--to", "npz", "--lossy", "--quiet"
    )
    assert code == 0
    assert err.startswith(f"{tmp_path}/all/{PAIR.stem}.npz: lost: 1 more database(s)")


def test_convert_names_both_files_of_one_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        shutil.copy(GOLDEN / "gnubg/os_p01.bd", tmp_path / folder / "same.bd")
    sources = [tmp_path / "a/same.bd", tmp_path / "b/same.bd"]
    err = fails(capsys, "convert", *sources, "-o", tmp_path)
    assert f"{sources[0]} and {sources[1]} would both be written to {tmp_path}/same.bd" in err


def test_a_folder_as_output_is_named_by_o(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert f"-o {tmp_path}" in fails(capsys, "convert", OS, tmp_path)
    assert "is a folder; give the name of a file in it" in fails(
        capsys, "solve", "one-sided", "1", "-o", tmp_path
    )


def test_convert_to_gnubg_chooses_by_the_table(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = [GOLDEN / f"gnubg/{name}.bd" for name in ("os_p01", "os_p01_nd", "ts_01x01", "hyper1")]
    assert cli(capsys, "convert", *files, "-o", tmp_path / "npz", "--to", "npz")[0] == 0
    packed = sorted((tmp_path / "npz").iterdir())
    assert cli(capsys, "convert", *packed, "-o", tmp_path / "back", "--to", "gnubg")[0] == 0
    assert [(tmp_path / "back" / file.name).read_bytes() for file in files] == [f.read_bytes() for f in files]
    assert "gnubg-os" in fails(capsys, "info", OS, "--as", "gnubg")
    means = GOLDEN / "jfile/bgns.ijf"
    assert "gnubg files (gnubg-hyper," in fails(capsys, "convert", means, tmp_path / "x", "--to", "gnubg")


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_convert_leaves_no_empty_folder(
    error: type[BaseException],
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> list[str]:
        raise error("no more")

    (tmp_path / "there").mkdir()
    monkeypatch.setattr("bgfmt.convert", fail)
    code = 130 if error is KeyboardInterrupt else 2
    for folder in ("a/b/", "there/"):
        assert cli(capsys, "convert", OS, "-o", f"{tmp_path}/{folder}", "--to", "csv")[0] == code
        assert cli(capsys, "convert", OS, TS, "-o", tmp_path / folder, "--to", "csv")[0] == code
    assert [path.name for path in tmp_path.rglob("*")] == ["there"]


def test_convert_standard_input_and_output(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bgfmt", "convert"]
    with open(TS, "rb") as source:
        arguments = ["-", "-", "--to", "npz"]
        made = subprocess.run([*command, *arguments], stdin=source, capture_output=True, check=True)
    (tmp_path / "piped.npz").write_bytes(made.stdout)
    assert made.stderr == b""
    bgfmt.convert(tmp_path / "piped.npz", tmp_path / "back.bd", to="gnubg-ts")
    assert (tmp_path / "back.bd").read_bytes() == Path(TS).read_bytes()


def test_repair_as_convert(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = bytearray(Path(TS).read_bytes())
    data[5000] ^= 1
    (tmp_path / "bad.bd").write_bytes(data)
    assert cli(capsys, "repair", tmp_path / "bad.bd", tmp_path / "good.bd")[0] == 0
    assert (tmp_path / "good.bd").read_bytes() == Path(TS).read_bytes()
    assert cli(capsys, "repair", tmp_path / "bad.bd", "-o", tmp_path / "also.bd")[0] == 0


def test_convert_and_its_refusals(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "out.bd"
    assert cli(capsys, "convert", OS, out)[0] == 0
    assert out.read_bytes() == Path(OS).read_bytes()
    assert "--force" in fails(capsys, "convert", OS, out)
    assert cli(capsys, "convert", OS, out, "--force", "--no-compress", "--points", "3")[0] == 0
    assert out.read_bytes() == (GOLDEN / "gnubg/os_p03_c.bd").read_bytes()
    code, plan, _ = cli(capsys, "convert", OS, out, "--force", "--points", "3", "--plan")
    assert (code, plan) == (0, "loses: 53,448 of 54,264 positions: those beyond 3 points and 15 chequers\n")
    assert "--lossy" in fails(capsys, "convert", OS, tmp_path / "nd.bd", "--to", "gnubg-nd")
    code, _, err = cli(capsys, "convert", OS, tmp_path / "nd.bd", "--to", "gnubg-nd", "--lossy")
    assert code == 0
    lost, made = err.splitlines()
    assert lost.startswith("lost: ")
    digest = hashlib.sha256((tmp_path / "nd.bd").read_bytes()).hexdigest()
    assert re.fullmatch(rf".*nd\.bd: written in \d+\.\d s, 868\.3 kB, SHA-256 {digest}", made)
    assert "two-sided" in fails(capsys, "convert", OS, tmp_path / "x.bd", "--to", "gnubg-ts")
    assert "4x4" not in fails(capsys, "convert", TS, tmp_path / "x.bd", "--points", "7")
    for typed, name, says in (  # as typed, not by the names of Python
        (
            "--compress",
            "x.bd",
            "gnubg-ts has no option --compress; it has: --cubeless, --header or --no-header",
        ),
        ("--no-gammon", "x.bd", "gnubg-ts has no option --no-gammon"),
        ("--cubeless", "x.npz", "npz has no option --cubeless; it has: none"),
        ("-Olevel=2", "x.npz", "npz has no option -O level; it has: none"),
        ("-Oblock-size=3", "x.bd", "gnubg-ts has no option -O block-size"),
        (
            "--header",
            "x.ijf",
            "jfile has no option --header; it has: -O container, --gammon or --no-gammon, -O kind",
        ),
    ):
        assert says in fails(capsys, "convert", TS, tmp_path / name, typed)
    for item in ("points=99", "to=x", "progress=1", "force=yes"):
        fails(capsys, "convert", TS, tmp_path / "x.bd", "-O", item)
    assert "no format" in fails(capsys, "convert", TS, tmp_path / "x.bd", "--to", "wav")
    assert "--to" in fails(capsys, "convert", TS, tmp_path / "x.zip")
    assert cli(capsys, "solve", "match", "3x2", "--away", "2-3", "--quiet", "-o", tmp_path / "m.bgm")[0] == 0
    assert "cannot hold a match-score table" in fails(
        capsys, "convert", tmp_path / "m.bgm", tmp_path / "x.bd"
    )
    (tmp_path / "m.bgm").unlink()
    fails(capsys, "convert", TS, tmp_path / "no/such/folder.bd")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["nd.bd", "out.bd"]


def test_a_file_is_not_converted_onto_itself(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    here = tmp_path / "a.bd"
    shutil.copy(TS, here)
    before = here.read_bytes()
    fails(capsys, "convert", here, here)
    assert here.read_bytes() == before
    assert cli(capsys, "convert", here, here, "--force", "--cubeless", "--lossy")[0] == 0
    assert here.read_bytes() == (GOLDEN / "gnubg/ts_06x04_cubeless.bd").read_bytes()


@pytest.mark.parametrize("verb", ["info", "dump"])
def test_unreadable_files(verb: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "empty.bd").touch()
    (tmp_path / "short.bd").write_bytes(Path(TS).read_bytes()[:5000])
    (tmp_path / "text.bd").write_text("hello\n" * 100)
    (tmp_path / "liar.bd").write_bytes(b"gnubg-TS-06-15-1" + b"x" * 23 + b"\n" + bytes(1000))
    for name, said in [
        ("empty.bd", "empty"),
        ("short.bd", "352,840"),
        ("text.bd", "unknown format"),
        ("liar.bd", "cut"),
    ]:
        assert said in fails(capsys, verb, tmp_path / name)
    fails(capsys, verb, tmp_path)
    fails(capsys, verb, tmp_path / "none.bd")
    fails(capsys, verb, "/dev/null")


def test_headerless_files_by_description(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    cli(capsys, "convert", GOLDEN / "gnubg/ts_01x02.bd", tmp_path / "n.bd", "--no-header")
    assert "--as gnubg-ts:points=1,chequers=2" in fails(capsys, "info", tmp_path / "n.bd")
    code, out, _ = cli(capsys, "info", tmp_path / "n.bd", "--as", "gnubg-ts:points=2,chequers=1,cubeful")
    assert code == 0
    assert "2 points" in out
    for described in ("points=-1", "points=0", "points=99,chequers=1", "cubeful=2"):
        fails(capsys, "info", tmp_path / "n.bd", "--as", f"gnubg-ts:{described}")
    assert cli(capsys, "convert", GOLDEN / "gnubg/ts_04x02.bd", tmp_path / "m.bd", "--no-header")[0] == 0
    for verb in ("info", "dump"):  # one way for all: by size and content
        assert cli(capsys, verb, tmp_path / "m.bd")[0] == 0
    assert cli(capsys, "convert", tmp_path / "m.bd", tmp_path / "h.bd", "--header")[0] == 0
    assert (tmp_path / "h.bd").read_bytes() == (GOLDEN / "gnubg/ts_04x02.bd").read_bytes()
    fails(capsys, "info", tmp_path / "n.bd", "--as", "gnubg-ts:points=4,colour=2")
    fails(capsys, "info", tmp_path / "n.bd", "--as", "gnubg-ts:points=many")


@pytest.mark.extra("lab", "large")
def test_formats_lists_all(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = cli(capsys, "formats", "--json")
    listed = json.loads(out)
    assert code == 0
    assert listed["broken"] == []
    assert {"gnubg-os", "gnubg-nd", "gnubg-ts", "gnubg-hyper", "jfile", "bgsage", "npz"} <= {
        f["name"] for f in listed["formats"]
    }
    assert [f["name"] for f in listed["formats"] if not f["reads"]] == ["csv"]
    assert [f["name"] for f in listed["formats"] if not f["writes"]] == ["zarr"]
    _, out, _ = cli(capsys, "formats")
    assert "(.csv; written only)" in out
    assert out.count("hypergammon-exact") == 1
    assert out.count("holds any table") >= 4


def test_one_point_and_one_chequer(capsys: pytest.CaptureFixture[str]) -> None:
    path = GOLDEN / "gnubg/ts_01x01.bd"
    _, out, _ = cli(capsys, "info", path)
    assert "1 point · 1 chequer · 2 positions" in out
    assert "1 point x 1 chequer" in out
    _, out, _ = cli(capsys, "diff", path, path)
    assert out.endswith("of 1 point and 1 chequer\n")


def test_a_format_that_is_only_written_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table, out = GOLDEN / "gnubg/ts_03x03.bd", tmp_path / "t.csv"
    assert cli(capsys, "convert", table, out)[0] == 0
    assert "can be written but not read; convert to one of npz" in fails(capsys, "info", out)
    (tmp_path / "noise.bd").write_bytes(b"noise")
    assert "csv" not in fails(capsys, "info", tmp_path / "noise.bd")


@pytest.mark.slow
def test_numbers_of_a_format_s_own_have_commas_and_stand_in_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert cli(capsys, "convert", GOLDEN / "gnubg/ts_03x03.bd", tmp_path / "t.bgts")[0] == 0
    lines = cli(capsys, "info", tmp_path / "t.bgts")[1].splitlines()[1:]
    assert "  unpacked      3,200" in lines
    assert "  kind          two-sided" in lines


def test_a_reader_that_goes_away() -> None:
    command = f"{sys.executable} -m bgfmt dump {TS} | head -1"
    run_ = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert run_.stderr == ""
    assert run_.stdout.startswith("         0")
