"""`bgfmt verify` and its reports; files that are taken for databases; names of files of any bytes."""

from __future__ import annotations

import base64
import bz2
import gzip
import hashlib
import json
import lzma
import os
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

import bgfmt
from bgfmt.cli import run
from bgfmt.errors import MissingExtraError
from tests.conftest import GOLDEN

TABLE = (GOLDEN / "gnubg/ts_03x03.bd").read_bytes()


def tape(path: Path) -> bytes:
    path.write_bytes(TABLE)
    with tarfile.open(path.with_suffix(".tar"), "w") as file:
        file.add(path, path.name)
    return path.with_suffix(".tar").read_bytes()


def archive(path: Path) -> bytes:
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("gnubg_ts.bd", TABLE)
    return path.read_bytes()


NO_DATABASES = {
    "gzip": gzip.compress(TABLE),
    "zip archive": archive,
    "xz": lzma.compress(TABLE),
    "zstd": b"\x28\xb5\x2f\xfd" + TABLE,
    "bzip2": bz2.compress(TABLE),
    "tar archive": tape,
    "base64": base64.encodebytes(TABLE),
    "`bgfmt met`": b"[Current]\nName=Even coins 9\n",
    "UTF-8": TABLE.decode("latin-1").encode(),
    "re-encoded as UTF-8 text": TABLE.decode(errors="replace").encode(),
    "HTML": b"\r\n<!DOCTYPE html><html><title>Not found</title></html>",
    "HTML page": b"<HTML><body>sign in</body></HTML>",
    "git-lfs": b"version https://git-lfs.github.com/spec/v1\noid sha256:12\nsize 12\n",
    "carriage return": TABLE.replace(b"\n", b"\r\n"),
}


@pytest.mark.parametrize("what", NO_DATABASES)
def test_what_is_no_database_is_named(what: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "gnubg_ts.bd"
    data = NO_DATABASES[what]
    path.write_bytes(data if isinstance(data, bytes) else data(path))
    for words in (["info"], ["lookup", "0 1/1"], ["convert", str(tmp_path / "o.npz")], ["verify"]):
        command, *more = words
        assert run([command, str(path), *more]) == 2
        out, err = capsys.readouterr()
        assert what in (out if command == "verify" else err), (command, out, err)
        assert command == "verify" or err.count("\n") == 1


@pytest.mark.extra("frames")
def test_what_the_terminal_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The verdict of what is not read is there once; a folder, a name and published bytes are spoken of."""
    path, named = tmp_path / "a.bd", tmp_path / "b.parquet"
    path.write_bytes(b"\1" * 100)
    assert run(["verify", str(path)]) == 2
    assert capsys.readouterr().out.count("unknown format") == 1
    assert run(["verify", str(tmp_path)]) == 2
    assert "(FOLDER/* names its files)" in capsys.readouterr().err
    path.write_bytes(TABLE + b"x")
    named.write_bytes(TABLE)
    assert run(["verify", str(path)]) == 1
    assert f"1 byte after byte {len(TABLE):,} belongs to no table" in capsys.readouterr().out
    assert run(["verify", str(named), str(named), "--until", "digest"]) == 0
    said = capsys.readouterr().out
    assert "note      its name: gnubg-ts files end in .bd, not .parquet" in said
    path.write_bytes((GOLDEN / "jfile/bgns.ijf").read_bytes())
    assert run(["verify", str(path), "--until", "digest"]) == 0
    assert "its name: jfile files end in .ijf, not .bd" in capsys.readouterr().out


@pytest.mark.slow
def test_any_bytes_in_a_files_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.bd")
    Path(name).write_bytes(TABLE)
    for suffix in ("html", "json", "md"):
        report = tmp_path / f"report.{suffix}"
        assert run(["verify", name, "--report", str(report)]) == 0
        assert "caf\\udce9.bd" in report.read_text(encoding="utf-8").replace("\\\\", "\\")
    capsys.readouterr()
    for command in (
        ["info", name],
        ["lookup", name, "0 1/1"],
        ["dump", name],
        ["verify", name],
        ["diff", name, name],
    ):
        for more in ([], ["--json"] if command[0] != "dump" else ["--format", "json"]):
            assert run([*command, *more]) == 0
            out, err = capsys.readouterr()
            assert not more or json.loads(out)
            assert "Traceback" not in err


@pytest.mark.slow
def test_a_report_says_what_it_is_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:

    path, wrong, report = tmp_path / "a|b.bd", tmp_path / "wrong.bd", tmp_path / "report"
    path.write_bytes(TABLE)
    wrong.write_bytes(TABLE[:-3] + b"\x01" + TABLE[-2:])
    for suffix in (".json", ".html", ".md"):
        assert run(["verify", str(path), str(wrong), "--report", f"{report}{suffix}"]) == 1
        text = Path(f"{report}{suffix}").read_text()
        for fact in (hashlib.sha256(TABLE).hexdigest(), bgfmt.__version__, "+00:00"):
            assert fact in text, suffix
    assert r"a\|b.bd" in text
    assert "2 files: 1 proved, 1 damaged" in capsys.readouterr().out


@pytest.mark.slow
def test_quiet_and_missing_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, missing = tmp_path / "a.bd", tmp_path / "missing.bd"
    path.write_bytes(TABLE)
    assert run(["verify", "--quiet", str(path), str(path)]) == 0
    assert capsys.readouterr() == ("", "")
    assert run(["verify", "--quiet", str(path), str(missing)]) == 2
    assert capsys.readouterr() == ("", f"bgfmt: {missing}: No such file or directory\n")
    assert run(["verify", "--json", str(path), str(missing)]) == 2
    one, other = json.loads(capsys.readouterr().out)
    assert {*one, "error"} == {*other}
    assert (other["status"], other["exit_code"]) == ("not readable", 2)
    assert run(["verify", "--json", str(missing)]) == 2
    assert json.loads(capsys.readouterr().out) == other


def test_no_file_stops_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that bgfmt only writes, one whose library is missing: the rest is verified, the report is written."""
    path = tmp_path / "a.bd"
    lacking = tmp_path / "b.bd"
    table = tmp_path / "table.csv"
    report = tmp_path / "report.json"
    path.write_bytes(TABLE)
    lacking.write_bytes(TABLE)
    bgfmt.convert(path, table)
    real = bgfmt.verify

    def verify(file: str, **how: Any) -> Any:
        if file == str(lacking):
            raise MissingExtraError(f"{file}: needs pyarrow", "")
        return real(file, **how)

    monkeypatch.setattr(bgfmt, "verify", verify)
    files = [str(table), str(lacking), str(path)]
    assert run(["verify", *files, "--report", str(report)]) == 2
    out = capsys.readouterr().out
    assert f"{table}: not readable: csv files can be written but not read" in out
    assert "3 files: 2 not readable, 1 proved" in out
    assert [one["exit_code"] for one in json.loads(report.read_text())] == [2, 2, 0]
    assert run(["verify", str(lacking)]) == 2
    assert "needs pyarrow" in capsys.readouterr().err
