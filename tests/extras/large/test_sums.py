"""Sums of files and blocks: against hashlib, a tree by hand, a broken download, and what is published."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

import bgfmt
from bgfmt.cli import run
from bgfmt.extras.large.blocks import BLOCK, compute_checksums
from bgfmt.storage import open_source
from bgfmt.verifier.checks import load_published


def sha(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def test_sums_and_the_tree_of_blocks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Five blocks, the last one short: the odd ones go up as they are."""
    path, kept = tmp_path / "five.bin", tmp_path / "five.blocks"
    data = np.random.default_rng(26).bytes(4 * BLOCK + 1000)
    path.write_bytes(data)
    assert run(["sums", str(path), "--blocks", str(kept)]) == 0
    said = capsys.readouterr().out
    a, b, c, d, e = (sha(b"\0", data[k * BLOCK : (k + 1) * BLOCK]) for k in range(5))
    root = sha(b"\1", sha(b"\1", sha(b"\1", a, b), sha(b"\1", c, d)), e).hex()
    for total in (
        hashlib.md5(data).hexdigest(),
        hashlib.sha256(data).hexdigest(),
        root,
        f"{len(data):,} bytes",
    ):
        assert total in said
    assert kept.read_bytes() == a + b + c + d + e

    part = bytearray(data[: 3 * BLOCK + 5])
    part[BLOCK + 7] ^= 1
    path.write_bytes(part)
    assert run(["sums", str(path), "--against", str(kept)]) == 1
    said = capsys.readouterr().out
    assert "2 of 5 blocks are present and correct" in said
    assert root in said
    assert [line.split()[1] for line in said.splitlines() if "differs" in line] == ["1", "3"]
    assert [line.split()[1] for line in said.splitlines() if "the file ends in it" in line] == ["3"]
    for there in (2, 0):  # a part is not the whole, even where nothing in it differs
        path.write_bytes(data[: there * BLOCK])
        assert run(["sums", str(path), "--against", str(kept)]) == 1
        said = capsys.readouterr().out
        assert f"{there} of 5 blocks are present and correct, {5 - there} are missing" in said
    path.write_bytes(data)
    assert run(["sums", str(path), "--against", str(kept)]) == 0
    path.write_bytes(data + data)
    assert run(["sums", str(path), "--against", str(kept)]) == 2
    assert run(["sums", str(path), "--against", str(path)]) == 2
    assert "a list of checksums must have 32 bytes for each block" in capsys.readouterr().err
    path.write_bytes(b"")
    assert run(["sums", str(path)]) == 2
    assert capsys.readouterr() == ("", f"bgfmt: {path}: the file is empty\n")


def test_a_file_held_against_a_list_of_digests(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, listed = tmp_path / "a.bd", tmp_path / "SHA256SUMS"
    path.write_bytes(b"a table")
    sha256, md5 = hashlib.sha256(b"a table").hexdigest(), hashlib.md5(b"a table").hexdigest()
    listed.write_text(f"{'0' * 64}  b.bd\n{sha256}  ../a.bd\n")
    assert run(["sums", str(path)]) == 0
    assert "no published file has these checksums" in capsys.readouterr().out
    for against in (str(listed), sha256, md5.upper()):
        assert run(["sums", str(path), "--against", against]) == 0
        assert "its MD5 or SHA-256 is among those given" in capsys.readouterr().out
    path.write_bytes(b"another")
    for against in (str(listed), sha256):
        assert run(["sums", str(path), "--against", against]) == 1
        assert "is not among those given" in capsys.readouterr().out


def test_several_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file that is missing does not keep the others from being checked; checksums of blocks are of one file."""
    path, missing = tmp_path / "a.bd", tmp_path / "missing.bd"
    path.write_bytes(b"a table")
    sha256 = hashlib.sha256(b"a table").hexdigest()
    assert run(["sums", str(missing), str(path), "--against", sha256]) == 2
    out, err = capsys.readouterr()
    assert err == f"bgfmt: {missing}: No such file or directory\n"
    assert out.startswith(f"{path}: its MD5 or SHA-256 is among")
    assert run(["sums", str(path), str(path), "--blocks", str(tmp_path / "blocks")]) == 2
    assert "--blocks takes only one FILE" in capsys.readouterr().err


@pytest.mark.parametrize("line", ["{0}  {1}", "{0} *{1}", "SHA256 ({1}) = {0}", "\\{0}  {1}"])
def test_a_list_of_digests_is_read_by_name(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `sha256sum -c`: the digest counts only on the line of the file's own name."""
    path = tmp_path / "b.bd"
    listed = tmp_path / "SHA256SUMS"
    path.write_bytes(b"a table")
    digest = hashlib.sha256(b"a table").hexdigest()
    listed.write_text("\n".join([line.format("0" * 64, "b.bd"), line.format(digest, "t.bd"), ""]))
    assert run(["sums", str(path), "--against", str(listed)]) == 1
    assert f"is that of t.bd in {listed}, not of b.bd" in capsys.readouterr().out
    listed.write_text(line.format(digest, "B.bd") + "\n" + line.format("1" * 64, "x.bd"))
    path.write_bytes(b"another")
    assert run(["sums", str(path), "--against", str(listed)]) == 1
    assert f"{listed} does not list b.bd" in capsys.readouterr().out
    path.write_bytes(b"a table")
    listed.write_text(line.format(digest, "folder/b.bd"))
    assert run(["sums", str(path), "--against", str(listed)]) == 0


@pytest.mark.parametrize("name", ["a\\nb.bd", "a\nb.bd", "a\rb.bd"])
def test_escaped_names_are_read_as_sha256sum_writes_them(name: str, tmp_path: Path) -> None:
    """A backslash and an n, and a line feed, which both contain `\\n` when written."""
    path = tmp_path / name
    path.write_bytes(b"a table")
    listed = tmp_path / "SHA256SUMS"
    escaped = name.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    listed.write_text(f"\\{hashlib.sha256(b'a table').hexdigest()}  {escaped}\n")
    assert run(["sums", str(path), "--against", str(listed)]) == 0


def test_published_sums_are_those_of_what_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = {entry["command"]: entry for entry in load_published() if "command" in entry}
    for entry in own.values():
        assert [len(entry[name]) for name in ("sum", "md5", "root")] == [64, 32, 64]
    for command, suffix in (
        ("two-sided 6x6", ".bd"),
        ("two-sided-gammons 2x15", ".npz"),
        ("one-sided 6", ".bd"),
    ):
        path = tmp_path / f"made{suffix}"
        assert run(["solve", *command.split(), "-o", str(path), "--quiet", "--force"]) == 0
        with open_source(path) as source:
            found = compute_checksums(source)
        entry = own[command]
        assert (entry["size"], entry["sum"], entry["md5"], entry["root"]) == (
            found.size, found.sha256, found.md5, found.root,
        )  # fmt: skip
        capsys.readouterr()
        assert run(["sums", str(path)]) == 0
        assert f"bgfmt solve {command}" in capsys.readouterr().out
    assert bgfmt.verify(tmp_path / "made.npz", until="digest").status != "damaged"
