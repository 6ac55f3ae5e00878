"""A store of chunks: what is whole is read, what is damaged or half is found, what is missing is made again."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bgfmt
from bgfmt import solver
from bgfmt.cli import run
from bgfmt.errors import BgfmtError, CapabilityError, CorruptError, FormatError, ScratchError, TruncatedError
from bgfmt.extras.large import chunks
from bgfmt.extras.large.tiles import grid_of
from bgfmt.files.solve import solve_table
from bgfmt.game.board import Position
from tests.support.store_making import chunk_files, digest, reseal


def test_crc32c_is_the_published_one() -> None:
    """RFC 3720, appendix B.4."""
    rng = np.random.default_rng(1)
    data = rng.integers(0, 256, 3000, dtype=np.uint8)
    known = {
        b"123456789": 0xE3069283,
        bytes(32): 0x8A9136AA,
        b"\xff" * 32: 0x62A8AB43,
        bytes(range(32)): 0x46DD794E,
    }
    for text, total in known.items():
        assert chunks.crc32c(np.frombuffer(text, np.uint8)) == total
    assert chunks.crc32c(data[3:999]) == chunks.crc32c(data[3:999].copy())


@pytest.mark.slow
def test_a_store_is_a_table_like_any_other(store: Path, tmp_path: Path) -> None:
    wanted = solver.two_sided(5, 4)
    with bgfmt.open(store) as db:
        table = db.table
        assert np.array_equal(np.asarray(table.arrays()["equities"]), wanted.equities)
        rng = np.random.default_rng(2)
        us, them = rng.integers(0, table.positions, (2, 500))
        assert np.array_equal(table.lookup_many(us, them), wanted.lookup_many(us, them))
        place = Position.parse("0 1 1 0 0 0 / 1 0 0 2 0 0")
        assert db.lookup(place) == wanted.lookup(place)
        assert table.cut(chequers=3).check() is None
    bgfmt.convert(store, tmp_path / "a.bd", to="gnubg-ts")
    bgfmt.solve("two-sided", 5, 4, tmp_path / "b.bd")
    assert digest(tmp_path / "a.bd") == digest(tmp_path / "b.bd")
    assert bgfmt.verify(store).verdict.startswith("proved")


@pytest.mark.slow
def test_zarr_opens_it(store: Path) -> None:
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(str(store), mode="r")
    numbers, equities = group["numbers"][:], group["equities"]
    wanted = np.asarray(solver.two_sided(5, 4).equities)
    assert equities.metadata.codecs[1].to_dict()["name"] == "crc32c"
    assert np.array_equal(equities[:], wanted[numbers][:, numbers])


@pytest.mark.slow
def test_what_fsspec_reaches() -> None:
    pytest.importorskip("fsspec")
    address = "memory://bgfmt-test/s"
    solve_table("two-sided", 4, 3, store=address)
    with bgfmt.open(address) as db:
        assert np.array_equal(np.asarray(db.table.arrays()["equities"]), solver.two_sided(4, 3).equities)


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_flipped_bit_is_found(
    data: st.DataObject, store: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    copy = Path(shutil.copytree(store, tmp_path_factory.mktemp("flip") / "s"))
    file = data.draw(st.sampled_from([*chunk_files(copy), copy / "numbers/c.0"]))
    content = bytearray(file.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    file.write_bytes(content)
    report = bgfmt.verify(copy)
    assert report.exit_code == 1
    assert file.relative_to(copy).as_posix() in str(report.as_dict())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["zarr.json", "equities/zarr.json", "numbers/zarr.json"])
def test_every_byte_of_a_description_is_accounted_for(copied: Path, name: str) -> None:
    file = copied / name
    sound = file.read_bytes()
    for at in range(len(sound)):
        file.write_bytes(sound[:at] + bytes([sound[at] ^ 1 << at % 7]) + sound[at + 1 :])
        with contextlib.suppress(BgfmtError):
            assert next(iter(bgfmt.open(copied).audit()), None) is not None, at
    for odd in (sound + b" ", sound[:-1], sound.replace(b'"gnubg"', b'"other"')):
        if odd != sound:
            file.write_bytes(odd)
            assert bgfmt.verify(copied).exit_code == 1
    file.write_bytes(sound)
    assert bgfmt.verify(copied).exit_code == 0
    (copied / "equities/c.9").write_bytes(b"foreign")
    report = bgfmt.verify(copied)
    assert report.exit_code == 1
    assert "equities/c.9" in str(report.as_dict())


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no links, no pipes")
def test_what_no_writer_leaves_in_a_store_is_found(copied: Path) -> None:
    (copied / "link").symlink_to("zarr.json")
    (copied / "equities/c.0.0.0.zip").symlink_to("/nowhere")
    os.mkfifo(copied / "pipe")
    (copied / "mine.part").write_bytes(b"1")
    (copied / "equities/c.0.0.0.1-0123abcd.part").write_bytes(b"of a writer that was killed")
    report = bgfmt.verify(copied)
    assert report.status == "damaged"
    (finding,) = report.findings
    assert "no such file in the store" in str(finding.expected)
    with bgfmt.open(copied) as db:
        found = {fault.rule: fault.found for fault in db.audit()}
    assert found == {
        "'equities/c.0.0.0.zip'": "no regular file",
        "'link'": "no regular file",
        "'mine.part'": "1 bytes",
        "'pipe'": "no regular file",
    }


def test_a_store_without_its_description_is_no_sound_file(
    copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (copied / "zarr.json").unlink()
    with pytest.raises(FormatError, match=r"copy: not a store of chunks: it has no zarr\.json"):
        bgfmt.open(copied)
    assert run(["verify", str(copied)]) == 2
    assert "it has no zarr.json" in capsys.readouterr().err


def test_a_wrong_number_is_found_under_a_right_checksum(copied: Path) -> None:
    def change(content: bytearray) -> None:
        content[8 * 130] ^= 4

    reseal(chunk_files(copied)[0], change)
    report = bgfmt.verify(copied)
    assert report.exit_code == 1
    assert any(f.rule is bgfmt.verifier.Rule.ENTRY for f in report.findings)


@pytest.mark.slow
def test_chunks_cannot_change_places(tmp_path: Path) -> None:
    solve_table("two-sided", 6, 5, store=tmp_path / "s")
    a, b = tmp_path / "s/equities/c.0.1.0", tmp_path / "s/equities/c.1.0.0"
    first, second = a.read_bytes(), b.read_bytes()
    assert first != second
    a.write_bytes(second)
    b.write_bytes(first)
    assert "checksum of the chunks" in str(bgfmt.verify(tmp_path / "s").as_dict())


def test_half_a_store_is_not_read(copied: Path) -> None:
    gone = chunk_files(copied)[-1]
    content = gone.read_bytes()
    gone.unlink()
    with pytest.raises(TruncatedError, match="store"):
        bgfmt.open(copied)
    gone.write_bytes(content[:-1])
    with pytest.raises(TruncatedError):
        bgfmt.open(copied)
    gone.write_bytes(content)
    said = json.loads((copied / "zarr.json").read_text())
    said["attributes"]["bgfmt"]["state"] = "solving"
    (copied / "zarr.json").write_text(json.dumps(said))
    with pytest.raises(TruncatedError, match="not finished"):
        bgfmt.open(copied)


def test_damage_met_on_the_way_makes_no_file(store: Path, tmp_path: Path) -> None:
    """Rows go into the file as soon as they are whole; a chunk that is damaged by then is an error."""
    copy = Path(shutil.copytree(store, tmp_path / "s"))
    content = bytearray(chunk_files(copy)[0].read_bytes())
    content[77] ^= 1
    chunk_files(copy)[0].write_bytes(content)
    with pytest.raises(CorruptError, match="CRC-32C"):
        solve_table("two-sided", 5, 4, tmp_path / "o.bd", store=copy, resume=True)
    assert sorted(os.listdir(tmp_path)) == ["s"]


@pytest.mark.slow
def test_while_it_is_solved_zarr_sees_no_equities(tmp_path: Path) -> None:
    grid = grid_of(5, 4, columns=4)
    seen = []

    def look(done: int, total: int) -> None:
        seen.append((tmp_path / "s/equities/zarr.json").exists())
        with pytest.raises(TruncatedError):
            bgfmt.open(tmp_path / "s")

    solve_table("two-sided", 5, 4, store=tmp_path / "s", progress=look)
    assert seen == [False] * len(grid.tiles())


def test_a_damaged_chunk_is_an_error_where_it_is_asked_for(copied: Path) -> None:
    file = chunk_files(copied)[0]
    content = bytearray(file.read_bytes())
    content[100] ^= 1
    file.write_bytes(content)
    with (
        bgfmt.open(copied) as db,
        pytest.raises(CorruptError, match=r"c\.0\.0\.0: byte [\d,]+: expected the CRC-32C"),
    ):
        db.table.lookup_many(np.arange(20), np.arange(20))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_description_is_an_answer(
    data: st.DataObject, store: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    copy = tmp_path_factory.mktemp("described") / "s"
    shutil.copytree(store, copy)
    text = json.loads((copy / "zarr.json").read_text())
    said = text["attributes"]["bgfmt"]
    field = data.draw(st.sampled_from(sorted(said)))
    said[field] = data.draw(st.sampled_from([None, 0, -1, 1, 2, 5, 1e9, "x", [], {}, True, 10**12]))
    (copy / "zarr.json").write_text(json.dumps(text))
    try:
        with bgfmt.open(copy) as db:
            assert np.asarray(db.table.equities[0, 0]).shape == (4,)
    except bgfmt.BgfmtError as error:
        assert "\n" not in str(error)


@pytest.mark.slow
def test_going_on_makes_what_is_gone_or_damaged(tmp_path: Path, made: dict[str, Path]) -> None:
    path = tmp_path / "s"
    solve_table("two-sided", 6, 5, store=path)
    said = json.loads((path / "zarr.json").read_text())
    said["attributes"]["bgfmt"] |= {"state": "solving", "sum": ""}
    (path / "zarr.json").write_text(json.dumps(said))
    files = chunk_files(path)
    files[1].unlink()
    files[5].write_bytes(files[5].read_bytes()[:99])
    content = bytearray(files[7].read_bytes())
    content[50] ^= 8
    files[7].write_bytes(content)
    with pytest.raises(ScratchError) as caught:
        solve_table("two-sided", 6, 5, tmp_path / "o.bd", store=path)
    assert caught.value.state == "unfinished"
    with pytest.raises(ScratchError, match="another table"):
        solve_table("two-sided", 6, 4, store=path, resume=True)
    solved = solve_table("two-sided", 6, 5, tmp_path / "o.bd", store=path, resume=True)
    assert 0 < solved.made <= 3 < solved.found
    assert digest(tmp_path / "o.bd") == digest(made["6x5"])


@pytest.mark.slow
def test_other_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "letter").write_text("dear")
    with pytest.raises(bgfmt.errors.OutputExistsError):
        solve_table("two-sided", 3, 2, store=tmp_path / "s")
    with pytest.raises(CapabilityError):
        solve_table("one-sided", 3, 2, store=tmp_path / "t")
    solve_table("two-sided", 3, 2, tmp_path / "o.bd", memory=400_000_000)
    assert sorted(os.listdir(tmp_path)) == ["o.bd", "s"]


@pytest.mark.slow
def test_progress_is_at_its_end_once(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    solve_table("two-sided", 6, 6, tmp_path / "o.bd", tiles=True, progress=lambda *said: told.append(said))
    assert [done == total for done, total in told].count(True) == 1
    assert told[-1][0] == told[-1][1]
