"""Tables of match scores: solved, written, read, asked, proved, and every flipped bit found."""

from __future__ import annotations

import itertools
import random
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt import formats, met, solver
from bgfmt.analysis.at_score import answer_from_table, refusal, roller_at
from bgfmt.analysis.ondemand import solve_match
from bgfmt.errors import (
    BgfmtError,
    HeaderError,
    NotCoveredError,
    OutputExistsError,
    SolverError,
    TruncatedError,
)
from bgfmt.files.convert import convert, save
from bgfmt.formats.match import BgfmtMatch
from bgfmt.game.board import Position, Side
from bgfmt.met import Met
from bgfmt.met.score import CubeState as Cube
from bgfmt.met.score import Score
from bgfmt.solver.match import match_score
from bgfmt.storage import Source
from bgfmt.tables import MatchScore
from bgfmt.tables.match_score import Results
from bgfmt.verifier.recurrence import floats
from bgfmt.verifier.recurrence import two_sided as recurrence

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "match"
XG2 = met.load()
UNEVEN = met.load(FIXTURES / "uneven7.xml")
SCORES: list[tuple[Met, tuple[int, int], int]] = [
    (XG2, (3, 5), 0),
    (XG2, (4, 4), 1),
    (XG2, (1, 3), 0),
    (XG2, (1, 1), 0),
    (XG2, (16, 13), 0),
    (UNEVEN, (7, 2), 1),
    (UNEVEN, (3, 3), 0),
]


def failing(table: MatchScore) -> list[int]:
    return recurrence.check(floats.FloatRule(table), threads=2).numbers.tolist()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("away", "states", "columns"),
    [
        ((1, 1), 1, 1), ((1, 5), 2, 3), ((2, 2), 3, 2), ((2, 3), 4, 5), ((2, 9), 4, 5), ((3, 3), 5, 4),
        ((3, 4), 5, 7), ((4, 4), 5, 4), ((3, 5), 6, 9), ((3, 16), 6, 9), ((4, 5), 6, 9), ((4, 9), 6, 9),
        ((5, 5), 7, 6), ((8, 8), 7, 6), ((5, 9), 8, 13), ((9, 9), 9, 8), ((16, 16), 9, 8), ((17, 17), 11, 10),
        ((25, 25), 11, 10),
    ],
)  # fmt: skip
def test_states_and_columns(away: tuple[int, int], states: int, columns: int) -> None:
    """The table of section 5: states that can arise, and columns with the cubeless one."""
    table = match_score(2, 1, away, XG2)
    assert len(table.score.cubes) == states
    assert len(table.names) == len(set(table.names)) == columns
    swapped = match_score(2, 1, away[::-1], XG2)
    assert len(swapped.names) == columns


@pytest.mark.slow
def test_the_table_of_the_laws_is_what_the_solver_makes() -> None:
    kept, solved = bgfmt.load(FIXTURES / "score_3x2.bgm"), match_score(3, 2, (3, 5), XG2)
    assert isinstance(kept, MatchScore)
    assert kept.score == solved.score
    assert kept.balance.tobytes() == solved.balance.tobytes()


@pytest.mark.slow
@pytest.mark.parametrize("case", SCORES, ids=str)
def test_answers_as_on_demand(case: tuple[Met, tuple[int, int], int]) -> None:
    table_met, away, player = case
    table = match_score(6, 3, away, table_met, player=player)
    assert not failing(table)
    rng = random.Random(3)
    asked = 0
    for swapped, crawford, cube in itertools.product(
        (False, True),
        (False, True),
        ((1, "centered"), (2, "owned"), (2, "opponent"), (4, "owned"), (8, "opponent")),
    ):
        mine, other = away[::-1] if swapped else away
        if crawford and (1 not in away or cube[0] != 1):
            continue
        score = Score((mine, other), table_met, crawford, *cube, player ^ swapped)
        position = Position(*(Side.from_number(rng.randrange(1, 84), 6) for _ in range(2)))
        if refusal(table, position, score) is not None:
            assert score.live(score.state) or score.cube not in table.score.results
            continue
        asked += 1
        answer, truth = answer_from_table(table, position, score), solve_match(position, score)
        found = answer.cube
        for name, value in truth.cube.mwc.as_dict().items():
            held = found.mwc.as_dict()[name]
            assert (held is None) == (value is None)
            assert abs((held or 0) - (value or 0)) < 1e-7, name
        if not (found.close or truth.cube.close):
            assert found.action == truth.cube.action
        assert answer.plays(3, 5) == pytest.approx(truth.plays(5, 3), abs=1e-7)
    assert asked >= 2


@pytest.mark.slow
def test_gammons() -> None:
    table = match_score(2, 15, (4, 2), XG2)
    assert not failing(table)
    assert "cubeless" not in table.names
    score = Score((4, 2), XG2)
    for us, them in (((1, 0), (15, 0)), ((14, 1), (13, 2)), ((0, 2), (1, 1))):
        position = Position(Side(*us), Side(*them))
        found, truth = answer_from_table(table, position, score).cube, solve_match(position, score)
        assert abs(found.mwc.best - truth.cube.mwc.best) < 1e-7
        assert found.position.gammons == truth.cube.position.gammons == (15 in (sum(us), sum(them)))
        assert found.action == truth.cube.action
    with pytest.raises(NotCoveredError, match="Crawford"):
        crawford = match_score(1, 15, (4, 1), XG2)
        answer_from_table(crawford, Position(Side(1), Side(15)), Score((4, 1), XG2, crawford=True))


@pytest.mark.slow
def test_near_float64() -> None:
    """Stored numbers are within 1e-7 of numbers that nothing was rounded off."""
    for away in ((5, 9), (16, 16), (2, 4)):
        rounded, exact = match_score(6, 5, away, XG2), match_score(6, 5, away, XG2, dtype=np.float64)
        assert np.abs(rounded.balance - exact.balance).max() < 1e-7
        assert exact.exact
        assert not rounded.exact
        assert not failing(exact)


@pytest.mark.slow
def test_threads_change_nothing() -> None:
    one, three = (match_score(6, 4, (5, 9), XG2, threads=threads) for threads in (1, 3))
    assert np.array_equal(one.balance, three.balance)


@pytest.mark.slow
def test_table_needs_its_score() -> None:
    table = match_score(3, 2, (3, 5), XG2)
    one = Position(Side(1), Side(1))
    assert roller_at(table, Score((3, 5), XG2)) == 0
    assert roller_at(table, Score((5, 3), XG2, player=1)) == 1
    assert roller_at(table, Score((3, 5), met.load("g11"))) is None
    assert roller_at(table, Score((3, 4), XG2)) is None
    uneven = match_score(3, 2, (3, 5), UNEVEN, player=1)
    assert roller_at(uneven, Score((3, 5), UNEVEN, player=1)) == 0
    assert roller_at(uneven, Score((5, 3), UNEVEN)) == 1
    assert roller_at(uneven, Score((3, 5), UNEVEN)) is None
    with pytest.raises(NotCoveredError, match="3-away, 5-away with Kazaross-XG2"):
        answer_from_table(table, one, Score((3, 4), XG2))
    with pytest.raises(NotCoveredError, match="no cube at 1, owned"):
        answer_from_table(table, one, Score((3, 5), XG2, cube=1, owner="owned"))
    with pytest.raises(NotCoveredError, match="chequers"):
        answer_from_table(table, Position(Side(3), Side(1)), Score((3, 5), XG2))
    for points, by in ((1, 0.01), (2, -0.02), (8, -1e-5)):  # another's chances under the digest of this one
        win, lose = table.score.results[points]
        results = {**table.score.results, points: Results(win + by, lose)}
        other = replace(table, score=replace(table.score, results=results))
        for away in ((3, 5), (5, 3)):
            answer_from_table(table, one, Score(away, XG2))
            with pytest.raises(
                NotCoveredError, match="match winning probabilities differ from those of Kazaross-XG2"
            ):
                answer_from_table(other, one, Score(away, XG2))


@pytest.mark.slow
def test_file_and_back(tmp_path: Path) -> None:
    table = match_score(4, 3, (3, 5), XG2)
    path, archive, again = tmp_path / "a.bgm", tmp_path / "a.npz", tmp_path / "b.bgm"
    save(table, path)
    convert(path, archive, to="npz")
    convert(archive, again)
    assert path.read_bytes() == again.read_bytes()
    for name, form in ((path, "bgfmt-match"), (archive, "npz")):
        with bgfmt.open(name) as db:
            assert db.format.name == form
            assert isinstance(db.table, MatchScore)
            assert db.table.score == table.score
            assert np.array_equal(np.asarray(db.table.balance), table.balance)
            assert list(db.format.audit(db.source, db.table, db.reading.extent)) == []
            assert db.table.mwc(Position(Side(0, 2), Side(1, 1)), 0, Cube(1, 2)) == table.mwc(
                Position(Side(0, 2), Side(1, 1)), 0, Cube(1, 2)
            )
    exact = match_score(3, 2, (3, 5), XG2, dtype=np.float64)
    with pytest.raises(BgfmtError, match="npz holds those"):
        save(exact, tmp_path / "exact.bgm")
    save(exact, tmp_path / "exact.npz")
    with bgfmt.open(tmp_path / "exact.npz") as db:
        assert db.table.exact


@pytest.mark.slow
def test_layout_as_documented(tmp_path: Path) -> None:
    table = match_score(3, 2, (2, 4), UNEVEN, player=1)
    path = tmp_path / "a.bgm"
    save(table, path)
    data = path.read_bytes()
    assert data[:8] == b"BGMATCH\x1a"
    assert list(data[8:16]) == [1, 0, 3, 2, 2, 4, 1, 0]
    columns, results = np.frombuffer(data[16:20], "<u2").tolist()
    assert columns == len(table.names)
    assert data[24:56].hex() == UNEVEN.digest
    assert data[56:120].rstrip(b"\0") == b"uneven7"
    assert data[120:124] == bytes([0, 255, 0, 0])
    end = 120 + 4 * columns + 20 * results
    assert int.from_bytes(data[end : end + 4], "little") == zlib.crc32(data[:end])
    start = -(-(end + 4) // 64) * 64
    n = 10
    assert np.array_equal(
        np.frombuffer(data[start : start + 4 * n * n * columns], "<f4"), table.balance.reshape(-1)
    )
    assert int.from_bytes(data[start + 4 * n * n * columns :], "little") == zlib.crc32(
        table.balance.tobytes()
    )


@pytest.mark.slow
def test_solve_to_file(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    path = tmp_path / "s.bgm"
    how: Any = {"away": (3, 5), "met": XG2}
    bgfmt.solve("match", 4, 3, path, **how, progress=lambda done, total: seen.append((done, total)))
    other = tmp_path / "t.bgm"
    save(match_score(4, 3, (3, 5), XG2), other)
    assert path.read_bytes() == other.read_bytes()
    assert seen[-1] == (35 * 35, 35 * 35)
    with pytest.raises(OutputExistsError):
        bgfmt.solve("match", 4, 3, path, **how)
    bgfmt.solve("match", 4, 3, path, away=(2, 2), met=XG2, force=True)
    with bgfmt.open(path) as db:
        assert isinstance(db.table, MatchScore)
        assert db.table.score.away == (2, 2)
    archive = tmp_path / "s.npz"
    bgfmt.solve("match", 3, 2, archive, **how, recipe="exact")
    with bgfmt.open(archive) as db:
        assert db.table.exact
    with pytest.raises(SolverError, match="1 to 12 points"):
        bgfmt.solve("match", 13, 2, tmp_path / "x.bgm", **how)
    with pytest.raises(SolverError, match="recipe"):
        bgfmt.solve("match", 3, 2, tmp_path / "x.bgm", **how, recipe="gnubg")
    assert not (tmp_path / "x.bgm").exists()
    planned = solver.plan("match", 6, 10, away=(5, 9), met=XG2)
    assert planned.memory < 6e9
    assert planned.output > 3.3e9


@pytest.mark.slow
def test_every_flipped_bit_is_found(tmp_path: Path) -> None:
    """In the numbers by the recurrence, in memory and hence in any format; in the file by its sums.

    Of every third byte one bit, so that each bit of a number has its turn.
    """
    table = match_score(3, 2, (3, 5), XG2)
    raw = table.balance.view(np.uint8).reshape(-1)
    columns = len(table.names)
    for at in range(0, len(raw), 3):
        raw[at] ^= np.uint8(1 << at % 8)
        assert at // 4 // columns in failing(table), at
        raw[at] ^= np.uint8(1 << at % 8)
    path = tmp_path / "a.bgm"
    save(table, path)
    data = bytearray(path.read_bytes())
    for at in [*range(100), *range(100, len(data), 3)]:
        data[at] ^= 1 << at % 8
        source = Source.from_bytes(bytes(data), "a.bgm")
        try:
            table, extent = BgfmtMatch().read(source)  # type: ignore[assignment]
        except HeaderError as error:
            assert "\n" not in str(error)
        else:
            assert list(BgfmtMatch().audit(source, table, extent)), at  # type: ignore[arg-type]
        data[at] ^= 1 << at % 8


@pytest.mark.slow
def test_damaged_blocks_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.bgm"
    save(match_score(6, 4, (3, 5), XG2), path)
    data = bytearray(path.read_bytes())
    for change, rules in ((0, []), (4, ["checksums of the blocks"])):
        data[1_000_000] ^= change
        source = Source.from_bytes(bytes(data))
        table, extent = BgfmtMatch().read(source)
        assert [fault.rule for fault in BgfmtMatch().audit(source, table, extent)] == rules


@pytest.mark.slow
def test_mutations_are_refused_in_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a.bgm"
    save(match_score(3, 2, (3, 5), XG2), path)
    data = path.read_bytes()
    for size in (0, 5, 8, 100, 120, 300, len(data) - 1):
        with pytest.raises(BgfmtError):
            BgfmtMatch().read(Source.from_bytes(data[:size]))
    with pytest.raises(TruncatedError):
        BgfmtMatch().read(Source.from_bytes(data[:-1]))
    rng = random.Random(5)
    for _ in range(400):
        mutated = bytearray(data)
        for _ in range(rng.randint(1, 3)):
            mutated[rng.randrange(360)] = rng.randrange(256)
        end = (
            120 + 4 * int.from_bytes(mutated[16:18], "little") + 20 * int.from_bytes(mutated[18:20], "little")
        )
        if rng.random() < 0.7 and end < 2000:  # a header whose sum is right, and the rest wrong
            mutated[end : end + 4] = zlib.crc32(bytes(mutated[:end])).to_bytes(4, "little")
        try:
            BgfmtMatch().read(Source.from_bytes(bytes(mutated)))
        except BgfmtError as error:
            assert "\n" not in str(error)


@pytest.mark.slow
def test_known_format() -> None:
    assert "bgfmt-match" in formats.all_formats()
    table = match_score(2, 1, (2, 3), XG2)
    assert formats.default_format(table).name == "bgfmt-match"
    assert table.facts()["away"] == "2-3"
    entry = table.lookup(Position(Side(1), Side(1)))
    assert set(entry.mwc) == set(table.names)
    assert "cubeless" in entry.describe()
    assert table.lookup_many([Side(1)], [Side(1)], column="cubeless")[0] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a.bgm", "a.npz", "exact.npz"])
def test_verify_proves_and_finds(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    dtype = np.float64 if name.startswith("exact") else np.float32
    table = match_score(6, 3, (5, 9), XG2, dtype=dtype)
    save(table, path)
    recipe = "exact" if table.exact else "match"
    for until in (None, "regenerate"):
        report = bgfmt.verify(path, until=until)
        assert report.exit_code == 0
        assert report.verdict.startswith("proved: every one of 7,056 entries")
        assert f"recipe {recipe}" in report.verdict
    assert bgfmt.verify(path, sample=200).verdict.startswith("nothing wrong found in a sample")
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))
    report = bgfmt.verify(path)
    assert report.exit_code == 1
    assert "1 of 7,056 entries does not follow from the others; first: position" in report.verdict


@pytest.mark.slow
def test_facts_that_are_none_are_refused() -> None:
    """Whatever a file says of its score: what `formats.described` turns into an error of one line, and no other."""
    told = match_score(3, 2, (3, 5), XG2).metadata()
    refused = 0
    for name in told:
        for wrong in (None, True, 3, 1.5, "", "x", "3-", "3-5-7", "٣-٥", "1:2", "1:x:2", [], {}):
            try:
                MatchScore.parse_metadata({**told, name: wrong})
            except ValueError:
                refused += 1
    assert refused > 70


@pytest.mark.slow
def test_sampled_recurrence_is_the_whole_one() -> None:
    for table in (match_score(6, 3, (3, 5), XG2), match_score(2, 15, (4, 2), UNEVEN)):
        numbers = np.arange(table.positions**2)
        right = floats.FloatRule(table).compute_entries(numbers)
        assert np.array_equal(right, table.balance.reshape(right.shape))
