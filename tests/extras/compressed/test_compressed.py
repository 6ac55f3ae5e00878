"""bgfmt-ts, compressed two-sided tables: nothing is lost, nothing damaged passes, nothing needs the whole."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt import solver
from bgfmt.cli import run
from bgfmt.errors import BgfmtError, CapabilityError
from bgfmt.extras.compressed import kernels_model, kernels_records, layout, model, reader, writer
from bgfmt.files.database import read_source
from bgfmt.game import board
from bgfmt.storage import RangeSource, Source
from bgfmt.tables import TwoSided
from bgfmt.verifier.recurrence.two_sided import PairReader, PairRule
from tests.conftest import GOLDEN
from tests.support import packed_reader, same_answers
from tests.support.packing import NAME, flipped, of, packed, second_level, unpacked

rng = np.random.default_rng(12)


@cache
def table() -> TwoSided:
    """6x4: large enough for factors of both kinds, blocks of several records, and several groups."""
    return solver.two_sided(6, 4)


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups of at most 90 places, so that a small table has nine tiles."""
    monkeypatch.setattr(layout, "MAX_GROUP_ROWS", 90)


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1, 1), (1, 15), (12, 1), (2, 3), (3, 3), (9, 2)])
@pytest.mark.parametrize("cubeful", [True, False])
def test_sizes_come_back(size: tuple[int, int], cubeful: bool) -> None:
    made = solver.two_sided(*size)
    one = made if cubeful else made.cubeless()
    again = unpacked(packed(one))
    assert (again.points, again.chequers, again.cubeful) == (*size, cubeful)
    assert np.array_equal(np.asarray(again.equities), np.asarray(one.equities))


def test_reader_and_writer_follow_changed_widths(monkeypatch: pytest.MonkeyPatch, groups: None) -> None:
    """Header, directory, head of a strip and index each with one field of another width."""
    before = packed(table())
    text = Path(layout.__file__).read_text(encoding="utf-8")
    for old, new in {
        '"groups" / Int16ul': '"groups" / Int32ul',
        "this.positions, Int32ul": "this.positions, Int16ul",
        '"narrow" / Int16ul': '"narrow" / Int32ul',
        "this.segments + 1, Int64ul": "this.segments + 1, Int32ul",
    }.items():
        assert text.count(old) == 1
        text = text.replace(old, new)
    changed = {"__name__": layout.__name__}
    exec(text, changed)
    for name in ("HEADER", "HEADER_BYTES", "TABLE", "COLUMN", "COUNTS", "STRIP_HEAD", "INDEX", "BEGIN"):
        monkeypatch.setattr(layout, name, changed[name])
    data = packed(table())
    assert len(data) != len(before)
    assert np.array_equal(np.asarray(unpacked(data).equities), np.asarray(table().equities))
    assert read_source(Source.from_bytes(data)).extent.size == len(data)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["random", "zeros", "ends", "steps", "a few far off"])
@pytest.mark.parametrize("columns", [1, 4])
def test_numbers_that_are_no_equities_come_back(how: str, columns: int) -> None:
    n = board.count(4, 4)
    shape = (n, n, columns)
    numbers = {
        "random": rng.integers(0, 65536, shape),
        "zeros": np.zeros(shape),
        "ends": rng.integers(0, 2, shape) * 65535,
        "steps": np.arange(n)[:, None, None] * 900 + np.zeros(shape),
        "a few far off": np.where(rng.random(shape) < 0.001, 65535, 30000),
    }[how]
    one = of(4, 4, numbers)
    assert np.array_equal(np.asarray(unpacked(packed(one)).equities), one.equities)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("points", "chequers", "columns", "most"), [(1, 1, 4, 2400), (4, 4, 1, 1.4), (6, 5, 4, 1.02)]
)
def test_numbers_that_nothing_predicts_take_little_more_than_their_own_size(
    points: int, chequers: int, columns: int, most: float
) -> None:
    """Where factors make a tile no smaller, they are left out; the reader made from the page agrees."""
    n = board.count(points, chequers)
    one = of(points, chequers, rng.integers(0, 65536, (n, n, columns)))
    data = packed(one)
    assert len(data) < (most if most > 2 else most * np.asarray(one.equities).nbytes)
    assert np.array_equal(np.asarray(unpacked(data).equities), one.equities)
    if n < 100:
        records = packed_reader.read(data)
        assert all(tuple(one.equities[us, them].tolist()) == record for (us, them), record in records.items())


@pytest.mark.slow
def test_tiles_that_pack_well_keep_their_factors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which bytes the factors have depends on the processor, so that these cannot be compared with stored ones."""
    monkeypatch.setattr(model, "without_factors", lambda tile: pytest.fail("left out the factors"))
    assert np.array_equal(unpacked(packed(table())).equities[5], np.asarray(table().equities)[5])


@pytest.mark.slow
def test_factors_are_found_and_pay() -> None:
    data = packed(solver.two_sided(6, 5))
    tile = unpacked(data).equities.reader.model(0, 0)  # type: ignore[attr-defined]
    assert tile.counts.sum(axis=0).min() > 0
    assert len(data) < 0.36 * 462 * 462 * 8


def test_two_tiles_at_a_time_are_in_memory(groups: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where those of a whole strip take too much; the rows are then read once for each two."""
    found, gathered = [], writer._gather_rows
    data = packed(table())

    def watched(*parts: Any) -> Any:
        found.append(gathered(*parts))
        return found[-1]

    monkeypatch.setattr(writer, "_gather_rows", watched)
    monkeypatch.setattr(writer, "MAX_HELD_BYTES", 0)
    assert packed(table()) == data
    assert len(found) == 3 * 2
    assert max(part.shape[1] for part in found) <= 2 * 90


@pytest.mark.slow
def test_rows_records_and_pieces_agree(groups: None) -> None:
    stored, data = np.asarray(table().equities), packed(table())
    found: Any = unpacked(data).equities
    n = len(stored)
    assert found.reader.shape.groups == 3
    us, them = rng.integers(0, n, 500), rng.integers(0, n, 500)
    assert np.array_equal(found[us, them], stored[us, them])
    assert found[us[:0], them[:0]].shape == (0, 4)
    assert np.array_equal(found[-1, 5], stored[-1, 5])
    assert np.array_equal(found[3:90:7], stored[3:90:7])
    assert np.array_equal(found[us[:9]], stored[us[:9]])
    assert np.array_equal(found[7][..., 2], stored[7][..., 2])
    assert [np.array_equal(found[k : k + 10], stored[k : k + 10]) for k in range(0, 200, 10)] == [True] * 20
    with pytest.raises(IndexError):
        found[n, 0]
    order = found.order
    for first, last in ((0, n), (5, 6), (60, 75), (130, n - 1)):
        places = np.sort(rng.permutation(n)[:20])
        assert np.array_equal(found.piece(places, first, last), stored[order[places]][:, order[first:last]])


def test_the_verifier_reads_pieces() -> None:
    """Else it would decode whole rows for every band, and repair could not tell which parts are readable."""
    assert PairReader(PairRule(unpacked(packed(table())))).packed


@pytest.mark.slow
@pytest.mark.parametrize("cubeful", [True, False])
def test_a_reader_written_from_the_page_reads_the_same(cubeful: bool, groups: None) -> None:
    one = solver.two_sided(5, 4)
    one = one if cubeful else one.cubeless()
    found = packed_reader.read(packed(one))
    stored = np.asarray(one.equities)
    assert len(found) == len(stored) ** 2
    assert all(tuple(stored[us, them].tolist()) == record for (us, them), record in found.items())


@pytest.mark.slow
def test_predictions_are_exact_whatever_the_factors() -> None:
    """Products of matrices, and single ones, against Python's integers, at the limits of every field."""
    sizes = [(256, 1024, 1024)] * 3 + [(1, 0, 1), (9, 33, 17), (0, 15, 0), (256, 1024, 1024)]
    for top, (k, m, pairs) in zip((0, 3, 7, 15, 15, 15, 15), sizes, strict=True):
        shifts = tuple(rng.integers(0, top + 1, each).astype(np.uint8) for each in (k, m, pairs))
        tile = layout.TileModel([shifts])  # type: ignore[list-item]
        wide = rng.choice(np.array([-32768, -32767, -5, 0, 3, 32767], np.int16), (2, 3, k))
        narrow = rng.choice(np.array([-128, -127, -1, 0, 2, 127], np.int8), (2, 3, m))
        fours = rng.integers(0, 256, (2, 3, pairs)).astype(np.uint8)
        if top == 3:  # small enough for 32 bits
            narrow //= 16
        mine, theirs = (
            np.concatenate([(w >> 8).astype(np.uint8), w.astype(np.uint8), s.view(np.uint8), f], axis=1)
            for w, s, f in zip(wide, narrow, fours, strict=True)
        )
        out = np.zeros((1, 3, 3), np.uint16)
        model.predict(mine, theirs, tile, out)
        for i in range(3):
            for j in range(3):
                plain = [(a.tobytes(), b.tobytes(), c.tobytes()) for a, b, c in tile.columns]
                wanted = packed_reader.predictions(mine[i].tobytes(), theirs[j].tobytes(), plain)
                row, found = np.empty(kernels_records.MAX_FACTORS, np.int32), np.zeros(1, np.uint16)
                kernels_model.raise_row(mine[i].view(np.int8), 0, tile.parts(0), tile.shifts, row)
                kernels_model.add_prediction(row, theirs[j].view(np.int8), 0, tile.parts(0), found)
                assert [out[0, i, j]] == wanted == found.tolist()


def test_the_classes_are_sound() -> None:
    assert model.default_classes().is_valid()
    assert (np.diff(model.class_edges()) > 0).all()
    assert (model.default_classes().frequencies[1:, 63] > 0).all()


@pytest.mark.slow
def test_facts_travel(tmp_path: Path) -> None:
    plain, small, back = (tmp_path / name for name in ("a.bd", "a.bgts", "b.bd"))
    plain.write_bytes((GOLDEN / "gnubg/ts_03x03.bd").read_bytes())
    bgfmt.convert(plain, small)
    bgfmt.convert(small, back, to="gnubg-ts")
    assert back.read_bytes() == plain.read_bytes()
    bgfmt.convert(small, tmp_path / "c.bgts")
    assert (tmp_path / "c.bgts").read_bytes() == small.read_bytes()
    with bgfmt.open(small) as db:
        assert db.info()["compressed"] is True
        assert db.table.cut(2, 2).positions == 6


def test_exact_tables_are_refused() -> None:
    exact = TwoSided(points=1, chequers=1, equities=np.zeros((2, 2, 1)))
    with pytest.raises(CapabilityError, match="16-bit"):
        packed(exact)


@pytest.mark.slow
def test_the_second_level_is_refused_by_name(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "2.bgts"
    path.write_bytes(second_level(packed(solver.two_sided(2, 3))))
    with pytest.raises(CapabilityError, match=r"level 2, .*reads level 1: convert it with bgfmt 0\.2"):
        bgfmt.open(path)
    for arguments in (
        ["info", str(path)],
        ["lookup", str(path), "1"],
        ["verify", str(path)],
        ["dump", str(path)],
    ):
        assert run(arguments) == 2, arguments
        refusal = capfd.readouterr().err
        assert "2.bgts" in refusal
        assert "level 2" in refusal
        assert refusal.count("\n") == 1


@pytest.mark.slow
def test_every_flipped_bit_is_found_by_what_touches_it(groups: None) -> None:
    flipped(packed(table()), np.asarray(table().equities), rng, 150)


@pytest.mark.slow
def test_commands_find_a_flipped_bit(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    data = bytearray(packed(table()))
    data[-1000] ^= 16
    path, plain = tmp_path / "t.bgts", tmp_path / "t.bd"
    path.write_bytes(data)
    bgfmt.save(table(), plain, format="gnubg-ts")
    for arguments in (
        ["verify", str(path)],
        ["dump", str(path)],
        ["diff", str(path), str(plain)],
        ["convert", str(path), str(tmp_path / "x.bd"), "--to", "gnubg-ts"],
        ["convert", str(path), str(tmp_path / "x.bgts")],
    ):
        assert run(arguments) in (1, 2), arguments
        said = capfd.readouterr()
        assert "sum" in said.out + said.err
        assert "Traceback" not in said.err
    assert sorted(tmp_path.iterdir()) == [plain, path]


class Equal(bytes):
    """A sum that is always right."""

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = bytes.__hash__


@pytest.mark.slow
def test_no_bytes_with_right_sums_do_harm(monkeypatch: pytest.MonkeyPatch, groups: None) -> None:
    """Damage as a forger makes it, sums repaired: a table or an error, nothing read beyond the file."""
    data = packed(solver.two_sided(5, 3))
    monkeypatch.setattr(layout, "crc", lambda part: Equal(b"0000"))
    monkeypatch.setattr(reader, "crc", lambda part: Equal(b"0000"))
    outcomes = {"table": 0, "error": 0}
    first = layout.read_shape(Source.from_bytes(data), 0).first_strip
    for k in range(400):
        broken = bytearray(data)
        for _ in range(int(rng.integers(1, 4))):
            low, high = ((0, 64), (64, first), (first, len(data)), (first, first + 400))[k % 4]
            broken[int(rng.integers(low, high))] = int(rng.choice([0, 1, 2, 127, 128, 254, 255]))
        try:
            found: Any = unpacked(bytes(broken)).equities
            np.asarray(found)
            n = len(found)
            found[rng.integers(0, n, 40), rng.integers(0, n, 40)]
            outcomes["table"] += 1
        except BgfmtError as error:
            assert "\n" not in str(error)
            outcomes["error"] += 1
    assert min(outcomes.values()) > 20


@pytest.mark.slow
def test_verify_names_what_it_names_of_the_plain_file(tmp_path: Path, groups: None) -> None:
    numbers = np.array(table().equities)
    numbers[150, 77, 2] += 40
    numbers[9, 200, 0] -= 1
    wrong = of(6, 4, numbers)
    reports = []
    for name, form in (("w.bd", "gnubg-ts"), ("w.bgts", NAME)):
        bgfmt.save(wrong, tmp_path / name, format=form)
        report = bgfmt.verify(tmp_path / name)
        sampled = bgfmt.verify(tmp_path / name, sample=30_000)
        assert report.exit_code == sampled.exit_code == 1
        reports.append(
            [(f.entry, f.expected, f.found, f.field) for f in report.findings if f.entry is not None]
        )
    assert reports[0] == reports[1]
    assert len(reports[0]) >= 2
    bgfmt.save(table(), tmp_path / "r.bgts", format=NAME)
    assert bgfmt.verify(tmp_path / "r.bgts", sample=5_000).exit_code == 0
    report = bgfmt.verify(tmp_path / "r.bgts")
    assert report.exit_code == 0
    assert report.checked == 210 * 210


@pytest.mark.slow
def test_a_look_up_by_range_asks_for_little() -> None:
    data, stored = packed(solver.two_sided(6, 6)), np.asarray(solver.two_sided(6, 6).equities)
    asked: list[int] = []

    def fetch(offset: int, size: int) -> bytes:
        asked.append(size)
        return data[offset : offset + size]

    packed_table: Any = read_source(RangeSource("ranges", len(data), fetch)).table
    found = packed_table.equities
    opening = sum(asked)
    assert opening < 20_000
    assert np.array_equal(found[500, 600], stored[500, 600])
    assert sum(asked) < opening + 8 * 924 + 30_000
    before = sum(asked)
    assert np.array_equal(found[501, 33], stored[501, 33])
    assert sum(asked) < before + 6_000


@pytest.mark.slow
def test_a_look_up_in_a_file_has_the_disk_read_its_parts_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, stored = tmp_path / "t.bgts", np.asarray(table().equities)
    bgfmt.save(table(), path, format=NAME)
    with bgfmt.open(path) as db:
        found, asked = db.table.equities, []  # type: ignore[attr-defined]
        monkeypatch.setattr(found.reader.source, "prefetch", asked.extend)
        assert np.array_equal(found[100, 7], stored[100, 7])
        assert len(asked) == 4  # the strip's head and index, a row's segment, a column's factors
        asked.clear()
        assert np.array_equal(found[101, 8], stored[101, 8])
        assert len(asked) == 2
        assert sum(size for _, size in asked) < 3000
        found[np.arange(200), np.arange(200)]
        assert len(asked) == 2


@pytest.mark.slow
def test_answers_are_those_of_the_plain_table(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    plain, small = tmp_path / "t.bd", tmp_path / "t.bgts"
    bgfmt.save(table(), plain, format="gnubg-ts")
    bgfmt.convert(plain, small)
    assert same_answers.differences(plain, small, 40) == 0
    capfd.readouterr()
    said = []
    for path in (plain, small):
        assert run(["dump", str(path)]) == 0
        said.append(capfd.readouterr().out.replace(path.name, "FILE"))
    assert said[0] == said[1]
    assert said[0]
    assert run(["diff", str(plain), str(small)]) == 0
