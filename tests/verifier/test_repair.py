"""Repair gives the genuine bytes back, or refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt.cli import run
from bgfmt.errors import OutputExistsError, UnknownFormatError, VerificationError
from bgfmt.verifier.proofs import proof_of
from tests.support import damage

FILES = (
    "os_p02.bd", "os_p03.bd", "os_p03_c.bd", "os_p03_g.bd", "os_p03_cg.bd", "os_p03_nd.bd", "ts_03x03.bd",
    "ts_03x03_cubeless.bd", "ts_06x02.bd", "ts_05x04.bd", "ts_12x02.bd", "hyper1.bd",
)  # fmt: skip
REPAIRABLE = ("bit", "bits", "unit", "swap", "pad")


@pytest.mark.slow
@pytest.mark.parametrize("kind", REPAIRABLE)
@pytest.mark.parametrize("name", FILES)
def test_the_genuine_bytes_come_back(golden: Path, tmp_path: Path, name: str, kind: str) -> None:
    original = (golden / "gnubg" / name).read_bytes()
    path, fixed = tmp_path / "damaged.bd", tmp_path / "fixed.bd"
    path.write_bytes(damage.damaged(original, kind, FILES.index(name), b""))
    report = bgfmt.repair(path, fixed)
    assert fixed.read_bytes() == original
    assert report.exit_code == 0
    assert "recomputed" in report.notes[0]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["header", "shift", "swapped_bytes", "cut"])
def test_what_is_repaired_is_genuine(golden: Path, tmp_path: Path, kind: str) -> None:
    path, fixed = tmp_path / "damaged.bd", tmp_path / "fixed.bd"
    for name in ("os_p03.bd", "ts_06x02.bd", "os_p03_nd.bd"):
        original = (golden / "gnubg" / name).read_bytes()
        path.write_bytes(damage.damaged(original, kind, 1, b""))
        try:
            bgfmt.repair(path, fixed, force=True)
        except VerificationError as error:
            assert "not repairable" in str(error)
        else:
            assert fixed.read_bytes() == original


@pytest.mark.slow
def test_what_is_no_table_is_refused(golden: Path, tmp_path: Path) -> None:
    original = (golden / "gnubg" / "ts_06x03.bd").read_bytes()
    path, fixed = tmp_path / "damaged.bd", tmp_path / "fixed.bd"
    for data in (original[:40], original[:40] + bytes(len(original) - 40), b"something else" * 100, b""):
        path.write_bytes(data)
        assert run(["repair", str(path), "-o", str(fixed)]) in (1, 2)
        assert not fixed.exists()


@pytest.mark.slow
def test_a_sound_file_is_copied(golden: Path, tmp_path: Path) -> None:
    source, fixed = golden / "gnubg" / "os_p03.bd", tmp_path / "fixed.bd"
    assert run(["repair", str(source), "-o", str(fixed)]) == 0
    assert fixed.read_bytes() == source.read_bytes()
    with pytest.raises(OutputExistsError):
        bgfmt.repair(source, fixed)


def test_what_was_changed_is_said(golden: Path, tmp_path: Path) -> None:
    """Bytes of a header, and that the result is a published file."""
    original = (golden / "gnubg/ts_06x03.bd").read_bytes()
    data = bytearray(original)
    data[20] ^= 1
    (tmp_path / "x.bd").write_bytes(data)
    report = bgfmt.repair(tmp_path / "x.bd", tmp_path / "fixed.bd", force=True)
    assert report.notes[0] == "no entry was recomputed, of 7,056; bytes outside the numbers corrected"
    assert "makebearoff -t 6x3" in report.known_as
    assert any("its bytes are those of makebearoff" in note for note in report.notes)


@pytest.mark.slow
def test_a_damaged_table_behind_another_is_not_dropped(golden: Path, tmp_path: Path) -> None:
    path, fixed = tmp_path / "x.bd", tmp_path / "fixed.bd"
    both = (golden / "gnubg/concat_os_p02_ts_03x03.bd").read_bytes()
    second = both.index(b"gnubg-TS")
    path.write_bytes(both[: second + 2000])
    assert "148 entries recomputed, of 400" in bgfmt.repair(path, fixed).notes
    assert fixed.read_bytes() == both
    for damaged in (both[: second + 500], both.replace(b"gnubg-TS", b"gnubg-\0S")):
        path.write_bytes(damaged)
        with pytest.raises(VerificationError, match="not repairable"):
            bgfmt.repair(path, fixed, force=True)


@pytest.mark.slow
def test_a_file_cut_short_is_completed(golden: Path, tmp_path: Path) -> None:
    original = (golden / "gnubg/ts_06x03.bd").read_bytes()
    told: list[tuple[int, int]] = []
    (tmp_path / "cut.bd").write_bytes(original[: len(original) * 3 // 5])
    bgfmt.repair(tmp_path / "cut.bd", tmp_path / "out.bd", progress=lambda *done: told.append(done))
    assert (tmp_path / "out.bd").read_bytes() == original
    assert told
    half = len(original) // 2
    (tmp_path / "cut.bd").write_bytes(
        original[: half // 2] + bytes(half // 4) + original[half * 3 // 4 : half]
    )
    with pytest.raises(VerificationError, match=r"bgfmt solve two-sided 6x3 -o FILE$"):
        bgfmt.repair(tmp_path / "cut.bd", tmp_path / "other.bd")


@pytest.mark.slow
def test_too_little_that_is_right_is_said_so(golden: Path, tmp_path: Path) -> None:
    path = tmp_path / "cut.bd"
    path.write_bytes((golden / "gnubg/ts_05x04.bd").read_bytes()[:60_000] + bytes(67_048))
    with pytest.raises(VerificationError, match=r"5\d\.\d% of it is wrong, 50% may be; it must be"):
        bgfmt.repair(path, tmp_path / "out.bd")


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("os_p02.bd", "one-sided 2x15 -o FILE"),
        ("ts_03x03_cubeless.bd", "two-sided 3x3 -o FILE --cubeless"),
        ("os_p03_nd.bd", "normal-distribution 3x15 -o FILE"),
        pytest.param(
            "hyper1.bd", "hypergammon 1 --recipe gnubg -o FILE", marks=pytest.mark.extra("hypergammon")
        ),
    ],
)
def test_the_command_that_solves_a_damaged_table_again(
    golden: Path, tmp_path: Path, name: str, command: str
) -> None:
    table = bgfmt.load(golden / "gnubg" / name)
    found = proof_of(table).solve_command(table)
    assert found.startswith(f"bgfmt solve {command}")
    words = found.replace("FILE", str(tmp_path / name)).split()[1:]
    assert run([*words, "--plan"]) == 0


def test_verify_names_the_command_that_repairs(
    golden: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = (golden / "gnubg/ts_03x03.bd").read_bytes()
    good, bad, noise = (tmp_path / name for name in ("good.bd", "b d.bd", "noise.bd"))
    good.write_bytes(data)
    bad.write_bytes(data[:-20])
    noise.write_bytes(b"noise")
    for files, last in (
        ([bad], f"to recompute what is wrong, if at least half is right: bgfmt repair '{bad}' NEW"),
        ([bad, good, bad], "to recompute what is wrong, if at least half is right: bgfmt repair FILE NEW"),
        ([good, noise], "2 files: 1 proved, 1 not readable"),
    ):
        run(["verify", *map(str, files)])
        assert capsys.readouterr().out.splitlines()[-1] == last


@pytest.mark.slow
def test_a_transfer_as_text_is_said_instead(golden: Path, tmp_path: Path) -> None:
    path = tmp_path / "text.bd"
    path.write_bytes((golden / "gnubg/ts_05x04.bd").read_bytes().replace(b"\n", b"\r\n"))
    with pytest.raises(UnknownFormatError, match="copy the file in binary mode"):
        bgfmt.repair(path, tmp_path / "out.bd")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ts_05x03.bd", "os_p03.bd"])
@pytest.mark.parametrize("share", [0.1, 0.3, 0.45])
def test_most_others_are_right(golden: Path, tmp_path: Path, name: str, share: float) -> None:
    """Though next to no entry follows from the others, each of which may be wrong."""
    original = golden / "gnubg" / name
    table: Any = bgfmt.load(original)
    random = np.random.default_rng(7)
    column = "equities" if table.kind == "two-sided" else "bearoff"
    numbers = np.array(getattr(table, column))
    rows = numbers.reshape(-1, numbers.shape[-1])
    wrong = random.choice(len(rows), int(len(rows) * share), replace=False)
    rows[wrong] -= rows[wrong] > 1
    bgfmt.save(replace(table, **{column: numbers}), tmp_path / "x.bd")
    bgfmt.repair(tmp_path / "x.bd", tmp_path / "fixed.bd")
    assert (tmp_path / "fixed.bd").read_bytes() == original.read_bytes()


@pytest.fixture(scope="module")
def packed(golden: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A compressed table of nine tiles."""
    path = tmp_path_factory.mktemp("packed") / "t.bgts"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bgfmt.extras.compressed.layout.MAX_GROUP_ROWS", 90)
        bgfmt.convert(golden / "gnubg" / "ts_06x04.bd", path)
    return path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("part", [0.55, 0.99])
def test_a_compressed_table_comes_back(packed: bytes, tmp_path: Path, part: float) -> None:
    """Its damaged blocks cannot be read; the recurrence makes what they held, and any program can pack it anew."""
    path, fixed = tmp_path / "damaged.bgts", tmp_path / "fixed.bgts"
    data = bytearray(packed)
    data[int(part * len(data))] ^= 0x10
    path.write_bytes(data)
    report = bgfmt.repair(path, fixed)
    assert report.exit_code == 0
    assert "recomputed, of 44,100" in report.notes[0]
    (tmp_path / "sound.bgts").write_bytes(packed)
    assert bgfmt.diff(fixed, tmp_path / "sound.bgts").same


@pytest.mark.slow
def test_what_cannot_be_recomputed_has_to_be_made_anew(
    packed: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, fixed = tmp_path / "damaged.bgts", tmp_path / "fixed.bgts"
    for at in (10, 90, 2000):
        data = bytearray(packed)
        data[at] ^= 0x10
        path.write_bytes(data)
        assert run(["repair", str(path), "-o", str(fixed)]) == 1
        assert capsys.readouterr().err.endswith("; it must be solved again\n")
    path.write_bytes(packed[: len(packed) // 2])
    assert run(["repair", str(path), "-o", str(fixed)]) == 1
    assert "not repairable: less than half of the file can be read" in capsys.readouterr().err
    bgfmt.solve("match", 3, 2, tmp_path / "m.bgm", away=(2, 3), met=bgfmt.met.load())
    assert run(["repair", str(tmp_path / "m.bgm"), "-o", str(fixed)]) == 1
    assert "a match-score table cannot be recomputed; it must be solved again" in capsys.readouterr().err
    assert not fixed.exists()


@pytest.mark.parametrize("size", [0, 1, 32, 3200, 50_000])
def test_what_is_no_database_is_not_readable(
    size: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, as of `verify`; what could be a file without header has 1 from both."""
    path = tmp_path / "notes.txt"
    path.write_bytes((b"some words " * 5000)[:size])
    code = run(["verify", str(path)])
    capsys.readouterr()
    assert run(["repair", str(path), "-o", str(tmp_path / "fixed.bd")]) == code
    assert capsys.readouterr().err.count("\n") == 1
    assert code == 2 or size == 3200
    assert not (tmp_path / "fixed.bd").exists()
