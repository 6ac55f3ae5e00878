"""The JavaScript reader beside Python: node's own tests, fed with what bgfmt answers."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt import Position, Side, met
from bgfmt.analysis import Advisor
from bgfmt.analysis import questions as asked_of
from bgfmt.analysis.positions import one_or_two
from bgfmt.analysis.sources import Limits
from bgfmt.errors import NotCoveredError, PositionError
from bgfmt.extras.compressed import layout
from bgfmt.extras.serve.answers import Answers
from bgfmt.extras.serve.holdings import Holdings
from bgfmt.extras.serve.parameters import Question, question
from bgfmt.extras.serve.refusals import Refusal
from bgfmt.game import board
from bgfmt.game.identifiers import gnubg_id, position_id, xgid
from bgfmt.game.moves import ROLLS, legal_plays
from bgfmt.game.state import GameState
from bgfmt.solver.registry import solver_of
from bgfmt.tables import TwoSided, bounds
from tests.conftest import GOLDEN, ROOT

FILES = sorted((GOLDEN / "gnubg").glob("[ot]s_*.bd"))
HEADERLESS = {
    "os_p03_H.bd": {"kind": "one-sided", "points": 3, "gammon": True, "compressed": True},
    "os_p03_cH.bd": {"kind": "one-sided", "points": 3, "gammon": True, "compressed": False},
    "os_p03_cgH.bd": {"kind": "one-sided", "points": 3, "gammon": False, "compressed": False},
    "os_p03_ndH.bd": {"kind": "normal-distribution", "points": 3},
    "ts_03x03_H.bd": {"kind": "two-sided", "points": 3, "chequers": 3},
}
FORMATS = {"one-sided": "gnubg-os", "normal-distribution": "gnubg-nd", "two-sided": "gnubg-ts"}
LARGE = board.count(6, 15)
PAIRS = 50_000  # calculated for one question


def lines(path: Path, values: Iterable[Any]) -> None:
    path.write_text("".join(json.dumps(value) + "\n" for value in values))


def opened(path: Path) -> Any:
    layout = HEADERLESS.get(path.name)
    if layout is None:
        return bgfmt.open(path)
    more = {key: value for key, value in layout.items() if key != "kind"}
    if layout["kind"] == "one-sided":
        more["chequers"] = 15
    return bgfmt.open(path, format=FORMATS[str(layout["kind"])], **more)


def other_files(folder: Path, random: np.random.Generator) -> Iterator[Path]:
    """Tables of the other formats that the reader knows: compressed ones of one strip and of many, of any numbers."""
    yield from (GOLDEN / "gnubg/hyper1.bd", ROOT / "fixtures/match/score_3x2.bgm")
    for name, most in (("ts_06x04", 8192), ("ts_05x04", 64), ("ts_06x04", 22), ("ts_06x04_cubeless", 70)):
        path = folder / f"{name}_{most}.bgts"
        with pytest.MonkeyPatch.context() as patch, bgfmt.open(GOLDEN / f"gnubg/{name}.bd") as db:
            patch.setattr(layout, "MAX_GROUP_ROWS", most)
            bgfmt.save(db.table, path)
        yield path
    for columns, spread in ((4, 65536), (1, 65536), (4, 2000)):
        numbers = random.integers(0, spread, (126, 126, columns), np.uint16)
        path = folder / f"random_{columns}_{spread}.bgts"
        bgfmt.save(TwoSided(points=5, chequers=4, equities=numbers), path)
        yield path
    yield from counting_gammons(folder)
    path = folder / "bearoff_1sided.db"
    with bgfmt.open(GOLDEN / "gnubg/os_p06.bd") as db:
        bgfmt.save(replace(db.table, gammon_policy="race"), path)
    yield path


def counting_gammons(folder: Path) -> Iterator[Path]:
    """Tables that count gammons, for money and by Jacoby's rule."""
    for kind in ("two-sided-gammons", "two-sided-jacoby"):
        path = folder / f"{kind}.bgts"
        if not path.exists():
            bgfmt.save(solver_of(kind, 2, 15).solve(threads=1), path)
        yield path


def golden_answers(folder: Path, random: np.random.Generator) -> None:
    found, own = [], np.random.default_rng(29)
    drawn = [(path, random) for path in FILES] + [(path, own) for path in other_files(folder, own)]
    for path, drawing in drawn:
        with opened(path) as db:
            entries = db.table.entries
            numbers = {0, 1, entries - 1, *drawing.integers(0, entries, 150).tolist()}
            numbered = [db.table.unrank(n) for n in sorted(numbers) if n < entries]
            races = [
                a for a in numbered if not (isinstance(a, Position) and a.contact and db.table.points < 25)
            ]
            answers = [db.lookup(asked).as_dict() for asked in races]
        found.append({"path": str(path), "layout": HEADERLESS.get(path.name), "answers": answers})
    lines(folder / "files.jsonl", found)


def random_answers(folder: Path, random: np.random.Generator, many: int = 100_000) -> None:
    path = GOLDEN / "gnubg/ts_06x04.bd"
    with bgfmt.open(path) as db:
        numbers = random.integers(0, db.table.entries, many)
        us, them = np.divmod(numbers, db.table.positions)
        values = db.lookup_many(us, them).astype(np.float64)
    columns = ["cubeless", "owned", "centered", "opponent"]
    np.column_stack([numbers, values]).astype("<f8").tofile(folder / "random.bin")
    lines(folder / "random.jsonl", [{"path": str(path), "columns": columns, "count": many}])


def large_answers(folder: Path, random: np.random.Generator) -> None:
    """A file of 23.6 GB with holes: a header, and numbers in the rows that are asked for."""
    path = folder / "large.bd"
    asked = [
        "2,3,3,3,2,2/1,2,4,2,3,3",
        "0,0,0,0,0,15/0,0,0,0,0,15",
        "1,1,1,1,1,1/2,2,2,2,2,2",
        "0,1,0,0,1/0,1,1",
    ]
    numbers = []
    with open(path, "wb") as file:
        file.write(f"gnubg-TS-06-15-1{'x' * 23}\n".encode())
        for text in asked:
            position = bgfmt.parse_position(text)
            us, them = position.us.number(6), position.them.number(6)
            file.seek(40 + 8 * them * LARGE)
            file.write(random.integers(0, 65536, 4 * LARGE, np.uint16).tobytes())
            for number in (us * LARGE + them, (them + 1) * LARGE - 1, them * LARGE + us):
                file.seek(40 + 8 * number)
                file.write(random.integers(0, 65536, 4, np.uint16).tobytes())
                numbers.append(number)
        file.truncate(40 + 8 * LARGE * LARGE)
    with Holdings.open([str(path)]) as holdings:
        table = holdings[0].table
        answers = [table.lookup(table.unrank(n)).as_dict() for n in numbers]
        seam = Functions(holdings, settle=0)
        probed = [
            {"position": text, "answer": seam.answer("probe", Question(position=text, roll="all"))[0]}
            for text in asked
        ]
    lines(folder / "large.jsonl", [{"path": str(path), "answers": answers, "probed": probed}])


def identifiers(folder: Path, random: np.random.Generator) -> None:
    found = []
    for k in range(300):
        us, them = random_side(random, 12, 15), random_side(random, 12, 15)
        dice = (int(random.integers(1, 7)), int(random.integers(1, 7))) if k % 2 else None
        away = (int(random.integers(1, 10)), int(random.integers(1, 10))) if k % 3 == 0 else None
        owner = ("centered", "owned", "opponent")[k % 3]
        state = GameState.of(Position(us, them), dice, cube=owner, cube_value=1 << (k % 5), away=away)
        full = [[*side.counts, *(0,) * (6 - len(side.counts))] for side in (us, them)]
        plain = GameState.of(Position(us, them))
        for text in (xgid(state), gnubg_id(state), str(Position(us, them)), position_id(Position(us, them))):
            found.append(
                {
                    "text": text,
                    "us": full[0],
                    "them": full[1],
                    "id": position_id(Position(us, them)),
                    "xgid": xgid(plain),
                    "cube": owner,
                    "roll": f"{max(dice)}{min(dice)}" if dice else None,
                    "away": list(away) if away else None,
                }
            )
    lines(folder / "identifiers.jsonl", found)


def random_side(random: np.random.Generator, points: int, chequers: int) -> Side:
    many = int(random.integers(1, chequers + 1))
    return Side(*np.bincount(random.integers(0, points, many), minlength=points).tolist())


class Functions(Answers):
    """The service as the functions of ask.js answer: what of a question was not looked at is not said."""

    def _aside(self, asked: Question, answer: Any) -> list[str]:
        return []


def asked(folder: Path, random: np.random.Generator) -> None:
    """What the service answers from tables alone, by the functions of ask.js."""
    sets = [
        ["ts_06x04.bd", "os_p06.bd"],
        ["os_p06.bd"],
        ["ts_06x04_cubeless.bd", "os_p04.bd"],
        ["os_p04_g.bd"],
        ["os_p04_nd.bd", "ts_05x03.bd"],
    ]
    found = []
    for names in sets:
        paths = [str(GOLDEN / "gnubg" / name) for name in names]
        with Holdings.open(paths) as holdings:
            seam = Functions(holdings, settle=0)
            for k in range(60):
                points, most = ((6, 4), (6, 15), (4, 5), (4, 15), (6, 3))[k % 5]
                most = min(most, most_of(names))
                us, them = random_side(random, points, most), random_side(random, points, most)
                text = str(us) if k % 7 == 0 else str(Position(us, them))
                roll = f"{random.integers(1, 7)}{random.integers(1, 7)}"
                cube = ("centered", "owned", "opponent")[k % 3]
                measure = (None, None, "cubeless", "mean", "off:3")[k % 5]
                for name, more, given in questions(text, roll, cube, measure):
                    entry: dict[str, Any] = {"tables": paths, "question": [name, text, *more]}
                    try:
                        answer, _ = seam.answer(name, question({"position": text, **given}))
                        answer.pop("asked", None)
                        found.append(entry | without_estimates(name, answer))
                    except Refusal as refusal:
                        found.append(entry | {"error": refusal.code})
    codes = [one.get("error") for one in found]
    assert codes.count(None) > 400
    assert {"not_covered", "bad_position"} <= set(codes)
    lines(folder / "asked.jsonl", found)


def without_estimates(name: str, answer: dict[str, Any]) -> dict[str, Any]:
    """What the reader says where Python may estimate: a refusal, of a probe in the sections that are estimated."""
    if name != "probe":
        return {"error": "not_covered"} if answer["source"] == "estimate" else {"answer": answer}
    estimated = [one for one in ("cube", "play") if answer[one] and answer[one]["source"] == "estimate"]
    answer |= dict.fromkeys(estimated)
    if not any(answer[one] for one in ("cube", "race", "play")):
        return {"error": "not_covered"}
    return {"answer": answer, "estimated": estimated}


def calculated(folder: Path, random: np.random.Generator) -> None:
    """What the service calculates or estimates, for money and at a score, within the same limit; a roll at a time
    where a table covers some of the rolls only."""
    table = met.load()
    given = {name: getattr(table, name) for name in ("name", "digest", "even", "pre", "post")}
    rules = [{}, {"jacoby": True}, {"beavers": False, "cube": "owned", "cube_value": 2}, {"cube": "opponent"}]
    scores: list[dict[str, Any]] = [{"away": "2-3"}, {"away": "1-4", "crawford": True}, {"away": "3-1"}]
    scores += [{"away": "4-2", "cube": "owned"}, {"away": "2-9", "cube_value": 2, "cube": "opponent"}]
    scores.append({"away": "30-5", "extend_met": True})
    found = []
    sets = [["ts_06x04.bd", "os_p06.bd"], ["ts_06x04_cubeless.bd"]]
    gammons = list(map(str, counting_gammons(folder)))
    estimated = ["2,3,3,1,2,2/1,2,4,2,3,3", "4,4,1,3/0,0,3,4,4,4", "3,3,2,2,2,1,2/2,2,3,3,2,1,0,0,0,1"]
    estimated.append("2,1,1,0,1,0,0,1,0,0,1,0,2/1,1,1,2,1,0,1,0,1")  # beyond the table of ten points
    for paths in [*([str(GOLDEN / "gnubg" / name) for name in names] for names in sets), gammons]:
        with Holdings.open(paths) as holdings:
            seam = Functions(holdings, settle=PAIRS)
            texts = [
                "2,1,1/1,1,1",
                "3,1,1/0,1,1,0,1,1",
                "15/15",
                "14,1/15",
                "0,0,0,0,0,0,0,1,1/2,0,1,1",
                "1/1",
            ]
            texts += [str(Position(random_side(random, 6, 5), random_side(random, 6, 5))) for _ in range(12)]
            if "cubeless" in paths[0]:
                texts[1] = "4,1/0,1"  # the reader has no chances of it to look up, and calculates all
            if paths is gammons:
                texts = [
                    "10,5/8,7",
                    "0,15/4,3",
                    "6,9/5,10",
                    "3,4/9,6",
                    "15/0,15",
                    "7,8/15",
                    "2,13/1,1",
                    "3/2,2",
                ]
            if "ts_06x04.bd" in paths[0]:
                texts += estimated
            for k, text in enumerate(texts):
                more = rules[k % len(rules)] if k % 2 else scores[k // 2 % len(scores)]
                options = (
                    {"calculate": True, "limit": 4 * PAIRS}
                    | more
                    | ({"met": given} if "away" in more else {})
                )
                asked: list[Any] = [
                    ("cube", [options], {}),
                    ("play", ["all", options | {"top": 9}], {"roll": "all", "top": 9}),
                ]
                if k < 3 or text == estimated[0]:
                    asked.append(("cube", [options | {"scores": 3, "met": given}], {"scores": 3}))
                    asked.append(("cube", [options | {"insight": True, "met": given}], {"insight": True}))
                for name, words, beside in asked:
                    entry = {"tables": paths, "question": [name, text, *words]}
                    said = {key: json.dumps(value) for key, value in (more | beside).items()}
                    said = {key: value.strip('"') for key, value in said.items()}
                    answer, settled = seam.answer(name, question({"position": text, **said}))
                    assert settled, text
                    found.append(entry | {"answer": answer})
    assert {one["answer"]["source"] for one in found} == {
        "calculation",
        "estimate",
        "two-sided",
        "two-sided-gammons",
        "two-sided-jacoby",
    }
    lines(folder / "calculated.jsonl", found)


def races(folder: Path, random: np.random.Generator) -> None:
    """Races that no table covers: calculated, by the table of ten points, and with a chequer beyond it."""
    own = np.random.default_rng(31)
    texts = ["0,0,0,0,0,0,3/0,0,0,0,0,0,3", "0,0,2,1,1,1,1", "10,5/1,14", "0,2,1/0,0,0,0,0,0,0,2"]
    texts += [f"{random_side(own, 9, 5)}/{random_side(own, 9, 5)}" for _ in range(8)]
    far = ["2,1,1,0,1,0,0,1,0,0,1,0,2/1,1,1,2,1,0,1,0,1", "1,2,2,2,2,2,1,1,1"]
    found = []
    for text in texts + far:
        limit = 4 * PAIRS if text in far else 40_000_000
        with Advisor(tables=[], limit=Limits.of(limit)) as advisor:
            answer = asked_of.race(advisor, one_or_two(text)).as_dict()
        asked = {"position": text, "options": {"calculate": True, "limit": limit}}
        found.append(asked | {"answer": json.loads(json.dumps(answer))})
    sources = {one["answer"]["source"] for one in found}
    assert sources == {"calculation", "one-sided", "estimate"}
    lines(folder / "races.jsonl", found)


def most_of(names: list[str]) -> int:
    """Python solves for gammon chances that a table lacks, the reader does not: no side that can lose one."""
    return 14 if "os_p04_g.bd" in names else 15


def questions(text: str, roll: str, cube: str, measure: str | None) -> Iterable[Any]:
    options = {"cube": cube} | ({"measure": measure} if measure else {})
    yield "race", [], {}
    yield "cube", [], {}
    yield "play", [roll, options], {"roll": roll, **options}
    yield "play", ["all", {"top": 1}], {"roll": "all", "top": "1"}
    yield "probe", [{"roll": roll, **options}], {"roll": roll, **options}


def errors(folder: Path, random: np.random.Generator) -> None:
    sizes = [(points, chequers) for points in range(1, 24) for chequers in range(1, 16)]
    found = [
        {
            "points": points,
            "chequers": chequers,
            "stored": bounds.stored_error(points, chequers),
            "mean": bounds.mean_error(points),
            "normal": bounds.mean_error(points, normal=True),
        }
        for points, chequers in sizes
    ]
    lines(folder / "bounds.jsonl", found)


def plays(folder: Path, random: np.random.Generator) -> None:
    found = []
    for k in range(300):
        side = random_side(random, (6, 6, 8, 24)[k % 4], 15)
        roll = ROLLS[int(random.integers(21))]
        legal = legal_plays(Position(side, Side()), roll.high, roll.low)
        results = [[str(play), str(play.result.us)] for play in legal]
        found.append({"counts": list(side.counts), "roll": f"{roll.high}{roll.low}", "plays": results})
    lines(folder / "plays.jsonl", found)


def node_tests(folder: Path | None, node: str) -> None:
    environment = dict(os.environ)
    environment.pop("NODE_OPTIONS", None)
    if folder is not None:
        environment["BGFMT_EXPECTED"] = str(folder)
    tests = sorted(map(str, (ROOT / "plugins/js/tests").glob("*.test.js")))
    run = subprocess.run(
        [node, "--test", *tests], env=environment, capture_output=True, text=True, timeout=800, check=False
    )
    failed = [line for line in run.stdout.splitlines() if "not ok" in line or "error:" in line]
    assert run.returncode == 0, "\n".join(failed[:40]) + run.stdout[-3000:] + run.stderr[-1000:]
    assert "# skipped 0" in run.stdout or "ℹ skipped 0" in run.stdout, run.stdout[-800:]


@pytest.mark.slow
def test_the_reader_and_python_say_the_same(tmp_path: Path, oracle: Callable[[str], str]) -> None:
    node = oracle("node")
    random = np.random.default_rng(13)
    for write in (
        golden_answers,
        random_answers,
        large_answers,
        identifiers,
        asked,
        calculated,
        races,
        errors,
        plays,
    ):
        write(tmp_path, random)
    node_tests(tmp_path, node)


@pytest.mark.slow
def test_a_client_in_typescript_is_accepted(oracle: Callable[[str], str]) -> None:
    node, typescript = oracle("node"), oracle("npm:typescript")
    config = ROOT / "tests/web/tsconfig.json"
    run = subprocess.run(
        [node, f"{typescript}/bin/tsc", "-p", str(config)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_outside_is_an_error_on_both_sides() -> None:
    with bgfmt.open(GOLDEN / "gnubg/ts_06x04.bd") as db:
        with pytest.raises(NotCoveredError):
            db.lookup(bgfmt.parse_position("5/1"))
        with pytest.raises(PositionError):
            db.lookup(Side(1))
