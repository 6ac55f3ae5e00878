"""The second level of bgfmt-ts: what one ply rebuilds is left out, and every answer is the same."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt import solver
from bgfmt.cli import run
from bgfmt.errors import BgfmtError, CapabilityError, CorruptError
from bgfmt.files.database import read_source
from bgfmt.formats.compressed import halves, kernels_halves, layout, leaving, order
from bgfmt.formats.compressed.plays import Plays
from bgfmt.game import board
from bgfmt.storage import RangeSource, Source
from bgfmt.tables import TwoSided
from tests.support import packed_reader, packing, same_answers
from tests.support.packing import NAME, of, unpacked

rng = np.random.default_rng(212)
packed = partial(packing.packed, level=2)


@cache
def table() -> TwoSided:
    return solver.two_sided(6, 4)


@cache
def data() -> bytes:
    """6x4 in three groups."""
    return packed(table())


@pytest.fixture(params=["one by one", "many at once"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows rebuilt record by record, or for many sides at once."""
    monkeypatch.setattr(halves, "ONE", 0 if request.param == "one by one" else 1)


@pytest.mark.parametrize("size", [(1, 1), (1, 15), (12, 1), (2, 3), (9, 2), (12, 2)])
@pytest.mark.parametrize("cubeful", [True, False])
def test_sizes_come_back(size: tuple[int, int], cubeful: bool, way: None) -> None:
    made = solver.two_sided(*size)
    one = made if cubeful else made.cubeless()
    again = unpacked(packed(one))
    assert (again.points, again.chequers, again.cubeful) == (*size, cubeful)
    assert np.array_equal(np.asarray(again.equities), np.asarray(one.equities))


def test_it_is_half() -> None:
    one = solver.two_sided(6, 5)
    assert len(packed(one)) < 0.8 * len(packed(one, level=1))
    found: Any = unpacked(data()).equities
    n = len(found)
    held = sum(int(found.packed.shape.widths(g, j).sum()) for g in range(3) for j in range(g + 1))
    assert found.packed.shape.groups == 3
    assert held == n * (n + 1) // 2


def test_rows_records_and_pieces_agree(way: None) -> None:
    stored = np.asarray(table().equities)
    found: Any = unpacked(data()).equities
    n = len(stored)
    us, them = rng.integers(0, n, 3000), rng.integers(0, n, 3000)
    assert np.array_equal(found[us, them], stored[us, them])
    assert all(np.array_equal(found[u, t], stored[u, t]) for u, t in zip(us[:400], them[:400], strict=True))
    assert np.array_equal(found[-1, 5], stored[-1, 5])
    assert np.array_equal(found[0], stored[0])
    assert np.array_equal(found[3:90:7], stored[3:90:7])
    assert np.array_equal(found[us[:9]], stored[us[:9]])
    assert [np.array_equal(found[k : k + 10], stored[k : k + 10]) for k in range(0, 200, 10)] == [True] * 20
    numbers = found.order
    for first, last in ((0, n), (0, 1), (5, 6), (60, 75), (130, 209)):
        places = np.sort(rng.permutation(n)[:20])
        wanted = stored[numbers[places]][:, numbers[first:last]]
        assert np.array_equal(found.piece(places, first, last), wanted)


@pytest.mark.parametrize("size", [(5, 4), (8, 2)])
@pytest.mark.parametrize("cubeful", [True, False])
def test_a_reader_written_from_the_page_reads_the_same(cubeful: bool, size: tuple[int, int]) -> None:
    one = solver.two_sided(*size)
    one = one if cubeful else one.cubeless()
    found = packed_reader.read(packed(one))
    stored = np.asarray(one.equities)
    assert len(found) == len(stored) ** 2
    assert all(tuple(stored[us, them].tolist()) == record for (us, them), record in found.items())


@pytest.mark.parametrize("size", [(1, 15), (6, 4), (12, 2), (7, 3)])
def test_orders(size: tuple[int, int]) -> None:
    """Whatever the strengths: by them, and so that every play goes to an earlier place."""
    n = board.count(*size)
    for weak in (rng.integers(0, 50, n), np.zeros(n, np.int64), -np.arange(n)):
        assert (np.diff(weak[order.strongest_first(weak)]) >= 0).all()
        assert (np.diff(weak[order.weakest_first(weak)]) <= 0).all()
        numbers = order.falling(weak, *size)
        places = np.argsort(numbers)
        assert sorted(numbers.tolist()) == list(range(n))
        for u in rng.integers(1, n, 20).tolist():
            roll = tuple(rng.integers(1, 7, 2).tolist())
            found = packed_reader.results(u, size[0], (max(roll), min(roll)))
            assert all(places[j] < places[u] for j in found)


def test_plays_are_those_to_earlier_places() -> None:
    n = board.count(8, 3)
    numbers = order.strongest_first(rng.integers(0, 10, n) + np.arange(n))
    places = np.argsort(numbers)
    plays = Plays(8, 3, numbers, places)
    assert plays.lists is not None
    ends, results = plays.lists
    left_out = 0
    for u in rng.integers(1, n, 60).tolist():
        wanted = kernels_halves.wanted_by(u, plays.singles, plays.room)
        mine = results[ends[21 * u] : ends[21 * u + 21]]
        assert wanted.tolist() == np.unique(mine).tolist()
        assert plays.room.found[: len(mine)].tolist() == mine.tolist()
        for r, roll in enumerate((a, b) for a in range(1, 7) for b in range(1, a + 1)):
            one = numbers[results[ends[21 * u + r] : ends[21 * u + r + 1]]]
            every = packed_reader.results(int(numbers[u]), 8, roll)
            assert set(one.tolist()) == {j for j in every if places[j] < u}
            left_out += len(every) - len(one)
    assert left_out


def test_an_order_in_which_a_roll_leads_to_no_earlier_place() -> None:
    n = board.count(6, 4)
    numbers = np.arange(n)[::-1]
    plays = Plays(6, 4, numbers, np.argsort(numbers))
    assert plays.lists is None
    assert len(kernels_halves.wanted_by(5, plays.singles, plays.room)) == 0
    source = Source.from_bytes(data())
    directory = layout.read_directory(source, 0, layout.read_shape(source, 0))
    other = layout.Directory(directory.classes, directory.strips, numbers, directory.facts).build()
    found: Any = unpacked(data()[:64] + other + data()[64 + len(other) :]).equities
    for key in (slice(None), (int(numbers[3]), int(numbers[9])), (numbers[:3], numbers[7:10])):
        with pytest.raises(CorruptError, match="earlier place"):
            found[key]


def test_a_table_that_one_ply_does_not_rebuild_is_refused(tmp_path: Path, capfd: Any) -> None:
    other = TwoSided(points=3, chequers=3, equities=rng.integers(0, 65536, (20, 20, 4)).astype(np.uint16))
    with pytest.raises(CapabilityError, match="12 points"):
        packed(TwoSided(points=13, chequers=1, equities=np.zeros((14, 14, 4), np.uint16)))
    with pytest.raises(CapabilityError, match="levels 1 and 2"):
        packed(table(), level=3)
    path = tmp_path / "o.bd"
    bgfmt.save(other, path, format="gnubg-ts")
    assert run(["convert", str(path), str(tmp_path / "o.bgts"), "-O", "level=2"]) == 2
    said = capfd.readouterr().err
    assert "recipe" in said
    assert "of 20 sides" in said
    assert said.count("\n") == 1
    assert not (tmp_path / "o.bgts").exists()


@pytest.mark.parametrize("cubeful", [True, False])
def test_one_bit_that_differs_is_refused(cubeful: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of any record that is left out, in any column: the sums of its row alone find it."""
    one = table() if cubeful else table().cubeless()
    stored = np.asarray(one.equities)
    numbers = order.strongest_first(order.weakness(stored))
    places = np.argsort(numbers)
    for k in range(40):
        u, t = rng.integers(0, 210, 2).tolist()
        changed = stored.copy()
        changed[u, t, k % stored.shape[2]] ^= 1 << int(rng.integers(16))
        left_out = leaving.LeftOut(of(6, 4, changed), numbers)
        if places[u] < places[t]:
            assert left_out.all() == 1
    assert leaving.LeftOut(one, numbers).all() == 0
    assert leaving.LeftOut(one, numbers).some() == 0
    changed = stored.copy()
    u, t = (int(numbers[k]) for k in (40, 150))
    changed[u, t, 0] += 1
    with pytest.raises(CapabilityError, match="recipe"):
        packed(of(6, 4, changed))


def test_another_order_is_taken_where_that_of_strength_does_not_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strengths that put the positions upside down: then every play goes to an earlier place."""
    monkeypatch.setattr(leaving, "weakness", lambda rows: -np.arange(210))
    again: Any = unpacked(packed(table())).equities
    assert again.order.tolist() == order.falling(-np.arange(210), 6, 4).tolist()
    assert np.array_equal(np.asarray(again), table().equities)


def test_a_record_that_is_held_may_be_anything() -> None:
    """Of what is not left out nothing is asked but that it rebuilds the rest: here the last place against itself."""
    numbers = np.array(table().equities)
    last = int(order.strongest_first(order.weakness(numbers))[-1])
    numbers[last, last] += 1
    again = unpacked(packed(of(6, 4, numbers)))
    assert np.array_equal(np.asarray(again.equities), numbers)


def test_conversions(tmp_path: Path) -> None:
    plain, one, two = (tmp_path / name for name in ("a.bd", "1.bgts", "2.bgts"))
    plain.write_bytes(
        (Path(__file__).resolve().parents[2] / "fixtures/golden/gnubg/ts_03x03.bd").read_bytes()
    )
    assert run(["convert", str(plain), str(two), "-O", "level=2"]) == 0
    with bgfmt.open(two) as db:
        assert db.info()["level"] == 2
    bgfmt.convert(two, tmp_path / "b.bd", to="gnubg-ts")
    assert (tmp_path / "b.bd").read_bytes() == plain.read_bytes()
    bgfmt.convert(two, tmp_path / "c.bgts")
    assert (tmp_path / "c.bgts").read_bytes() == two.read_bytes()
    bgfmt.convert(plain, one)
    bgfmt.convert(two, tmp_path / "d.bgts", to=NAME, level=1)
    assert (tmp_path / "d.bgts").read_bytes() == one.read_bytes()
    bgfmt.convert(one, tmp_path / "e.bgts", to=NAME, level=2)
    assert (tmp_path / "e.bgts").read_bytes() == two.read_bytes()


def test_every_flipped_bit_is_found_by_what_touches_it() -> None:
    packing.flipped(data(), np.asarray(table().equities), rng, 120)


class Equal(bytes):
    """A sum that is always right."""

    def __ne__(self, other: object) -> bool:
        return False

    __hash__ = bytes.__hash__


def test_no_bytes_with_right_sums_do_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Damage as a forger makes it, sums repaired: a table or an error, nothing read beyond the file."""
    whole = packed(solver.two_sided(5, 3))
    monkeypatch.setattr(layout, "crc", lambda part: Equal(b"0000"))
    monkeypatch.setattr("bgfmt.formats.compressed.reading.crc", lambda part: Equal(b"0000"))
    monkeypatch.setattr("bgfmt.formats.compressed.kernels_sums.unsound", lambda *a: -1)
    outcomes = {"table": 0, "error": 0}
    first = layout.read_shape(Source.from_bytes(whole), 0).first_strip
    for k in range(300):
        broken = bytearray(whole)
        for _ in range(int(rng.integers(1, 4))):
            low, high = ((0, 64), (64, first), (first, len(whole)), (first, first + 400))[k % 4]
            broken[int(rng.integers(low, high))] = int(rng.choice([0, 1, 2, 127, 128, 254, 255]))
        try:
            found: Any = unpacked(bytes(broken)).equities
            found.packed._rows_sound[:] = found.packed._beside_sound[:] = True
            np.asarray(found)
            n = len(found)
            found[rng.integers(0, n, 40), rng.integers(0, n, 40)]
            outcomes["table"] += 1
        except BgfmtError as error:
            assert "\n" not in str(error)
            outcomes["error"] += 1
    assert min(outcomes.values()) > 20


def test_verify_names_what_it_names_of_the_plain_file(tmp_path: Path) -> None:
    bgfmt.save(table(), tmp_path / "r.bgts", format=NAME, level=2)
    report = bgfmt.verify(tmp_path / "r.bgts")
    assert report.exit_code == 0
    assert report.checked == 210 * 210
    assert bgfmt.verify(tmp_path / "r.bgts", sample=5_000).exit_code == 0
    numbers = np.array(table().equities)
    last = int(order.strongest_first(order.weakness(numbers))[-1])
    numbers[last, last, 2] += 40
    wrong = TwoSided(points=6, chequers=4, equities=numbers)
    reports = []
    bgfmt.save(wrong, tmp_path / "w.bd", format="gnubg-ts")
    bgfmt.save(wrong, tmp_path / "w.bgts", format=NAME, level=2)
    for name in ("w.bd", "w.bgts"):
        report = bgfmt.verify(tmp_path / name)
        assert report.exit_code == 1
        found = [f for f in report.findings if f.entry is not None]
        reports.append([(f.entry, f.expected, f.found, f.field) for f in found])
    assert reports[0] == reports[1]
    assert len(reports[0]) == 1


def test_commands_answer_as_on_the_plain_table(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    plain, small = tmp_path / "t.bd", tmp_path / "t.bgts"
    bgfmt.save(table(), plain, format="gnubg-ts")
    bgfmt.convert(plain, small, to=NAME, level=2)
    assert same_answers.differences(plain, small, 40) == 0
    capfd.readouterr()
    said = []
    for path in (plain, small):
        assert run(["dump", str(path)]) == 0
        said.append(capfd.readouterr().out.replace(path.name, "FILE"))
    assert said[0] == said[1]
    assert run(["diff", str(plain), str(small)]) == 0


def test_look_ups_by_range() -> None:
    stored = np.asarray(table().equities)
    source = RangeSource("ranges", len(data()), lambda at, size: data()[at : at + size])
    opened: Any = read_source(source).table
    found = opened.equities
    us, them = rng.integers(0, 210, 200), rng.integers(0, 210, 200)
    assert np.array_equal(found[us, them], stored[us, them])
    assert np.array_equal(found[7, 200], stored[7, 200])
    assert np.array_equal(found[200, 7], stored[200, 7])


def test_a_damaged_file_is_repaired(tmp_path: Path) -> None:
    broken = bytearray(data())
    broken[-3000] ^= 8
    path = tmp_path / "b.bgts"
    path.write_bytes(broken)
    assert run(["repair", str(path), "-o", str(tmp_path / "r.bgts")]) in (0, 1)
    with bgfmt.open(tmp_path / "r.bgts") as db:
        again: Any = db.table
        assert np.array_equal(np.asarray(again.equities), np.asarray(table().equities))
