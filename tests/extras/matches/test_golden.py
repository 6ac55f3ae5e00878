"""Real files against the expected walks, and against themselves in other forms."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bgfmt.errors import CapabilityError
from bgfmt.extras.matches import Match, read
from bgfmt.extras.matches.decisions import decisions
from bgfmt.extras.matches.mat import write_mat
from bgfmt.extras.matches.sgf import write_sgf
from tests.conftest import FIXTURES
from tests.extras.matches.expected import differences

FOLDER = FIXTURES / "matches"
FILES = sorted(
    p for p in FOLDER.iterdir() if p.suffix in (".mat", ".gam", ".sgf", ".xg", ".bgf", ".gvab", ".ogxm")
)
ROWS = {
    row["name"]: row
    for row in map(json.loads, gzip.decompress((FOLDER / "expected.jsonl.gz").read_bytes()).splitlines())
}
#: what may not fit in them: two games with an illegal play, in several forms, and gnubg's own reading of one
ILLEGAL = ("gv-5nqfGw9bWG3deTaU", "gv-rK7pXm4TqLb9NzWd")
FORMS = [
    "gnubg107-beaver", "gv-B4_SrGcsKAQmoTyHlgJCbM", "gv-XCu3RJ0UvDg_Tldl", "gv-5nqfGw9bWG3deTaU",
    "gv-rK7pXm4TqLb9NzWd", "gv-Sz-2PgKnvb6aFls69-qFXg",
]  # fmt: skip


def met(match: Match) -> list[tuple[object, ...]]:
    """The decisions of a match, by names, so that the order of the players does not matter."""
    return [
        (d.game, d.kind, match.players[d.player].replace("_", " "), d.state.position, d.state.cube_value,
         d.state.owner, d.state.crawford, sorted(d.state.scores), sorted(d.state.dice or ()),
         d.played and d.played.result)
        for d in decisions(match)
    ]  # fmt: skip


def test_the_files_are_those_of_the_manifest() -> None:
    with open(FOLDER / "MANIFEST.tsv", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert sorted(row["name"] for row in rows) == [p.name for p in FILES]
    for row in rows:
        assert hashlib.sha256((FOLDER / row["name"]).read_bytes()).hexdigest() == row["sha256"]
        assert row["licence"] in ("MIT", "own")
    assert len(ROWS) > 40


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.name)
def test_every_game_is_the_expected_walk(path: Path) -> None:
    matches = read(path)
    assert len(matches) == 1
    if path.name in ROWS:
        assert differences(matches[0], ROWS[path.name]) == []
    problems = matches[0].problems
    if path.stem in ILLEGAL:
        assert [p for p in problems if "archive" not in p] == [
            p for p in problems if "rules do not allow" in p
        ]
        assert sum("rules do not allow" in p for p in problems) == 1
    elif path.name == "gv-cube-on-two.ogxm":  # the file itself says 1 for a pass with the cube on 2
        assert len(problems) == 1
        assert "wins 1" in problems[0]
    elif path.name == "gnubg107-bglab-a0cf2ecea150.sgf":
        assert ["recorded twice" in p for p in problems] == [True]
    else:
        assert problems == ()


@pytest.mark.slow
@pytest.mark.parametrize("stem", FORMS)
def test_the_same_match_in_several_forms_has_the_same_decisions(stem: str) -> None:
    found = {p.suffix: met(read(p)[0]) for p in FILES if p.stem == stem}
    assert len(found) > 1
    first, *others = found.values()
    assert len(first) > 5
    assert all(other == first for other in others)


def test_xg_positions_are_the_stored_ones() -> None:
    """Nothing differs from the boards and cubes in the files, and a stored board that is changed is seen."""
    from tests.extras.matches.changed import xg_with

    for path in (p for p in FILES if p.suffix == ".xg"):
        assert not [p for p in read(path)[0].problems if "the file has" in p]
    data = (FOLDER / "gv-B4_SrGcsKAQmoTyHlgJCbM.xg").read_bytes()

    def swap(records: list[bytearray]) -> None:
        record = next(r for r in records[20:] if r[8] == 3)
        full = next(k for k in range(1, 25) if 0 < record[9 + k] < 128)
        free = next(k for k in range(1, 25) if record[9 + k] == 0)
        record[9 + full] -= 1
        record[9 + free] += 1

    def other(records: list[bytearray]) -> None:
        record = next(r for r in records[20:] if r[8] == 3)
        full = next(k for k in range(1, 25) if 0 < record[35 + k] < 128)
        free = next(k for k in range(1, 25) if record[35 + k] == 0)
        record[35 + full] -= 1
        record[35 + free] += 1

    (match,) = read(xg_with(data, other))
    assert "after the play, not the result of its moves" in match.problems[1]
    assert "rules do not allow" in match.problems[2]
    assert (
        "the file has the board" in match.problems[3]
    )  # the next stored board, which the changed one does not lead to
    assert len(match.games[0].records) == len(read(data)[0].games[0].records)
    problems = read(xg_with(data, swap))[0].problems
    assert "the file has the board" in problems[1]  # the first is the archive's checksum


@pytest.mark.slow
@pytest.mark.parametrize("path", [p for p in FILES if p.suffix != ".gam"], ids=lambda p: p.name)
@pytest.mark.parametrize("write", [write_mat, write_sgf])
def test_round_trip(path: Path, write: Callable[[Match], Any]) -> None:
    match = read(path)[0]
    try:
        written = write(match)
    except CapabilityError:
        assert path.name in ("gv-fields.ogxm", "gv-cube-on-two.ogxm")  # games that begin with the cube turned
        return
    (again,) = read(written if isinstance(written, bytes) else written.encode())
    assert (again.players, again.length) == (match.players, match.length)
    assert met(again) == met(match)
    for one, other in zip(again.games, match.games, strict=True):
        assert (one.scores, one.crawford) == (other.scores, other.crawford)
        if other.result is not None:
            assert one.result is not None
            assert (one.result.winner, one.result.points) == (other.result.winner, other.result.points)
    assert (
        write(again) == written or write is write_sgf
    )  # .mat has no other words for it; .sgf keeps what gnubg drops


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["gnubg107-beaver.mat", "gv-XCu3RJ0UvDg_Tldl.mat", "gbf-c4ba99-test.mat", "bglab-match10611856.mat",
     "bglab-match1111635.mat"],
)  # fmt: skip
def test_gnubg_reads_the_same(name: str, oracle: Callable[[str], str], tmp_path: Path) -> None:
    """The .sgf that gnubg makes of a .mat has the decisions that we find in the .mat, and so has gnubg's of ours."""
    program = oracle("gnubg")
    match = read(FOLDER / name)[0]
    (tmp_path / "in.mat").write_bytes((FOLDER / name).read_bytes())
    (tmp_path / "ours.mat").write_text(write_mat(match))
    (tmp_path / "ours.sgf").write_bytes(write_sgf(match))
    commands = ["set confirm new off", "set confirm save off", "set lang C"]
    for source, ask in (("in.mat", "import mat"), ("ours.mat", "import mat"), ("ours.sgf", "load match")):
        commands += [f"{ask} {source}", f"save match {source.replace('.', '-')}.sgf"]
    done = subprocess.run(
        [program, "-t", "-q", "-r"], input="\n".join([*commands, ""]), capture_output=True, text=True,
        cwd=tmp_path, env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}, timeout=800, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for made in ("in-mat.sgf", "ours-mat.sgf", "ours-sgf.sgf"):
        assert met(read(tmp_path / made)[0]) == met(match), made
