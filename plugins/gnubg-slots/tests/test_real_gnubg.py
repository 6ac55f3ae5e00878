"""The real gnubg reads what bgfmt has made and installed, and changes its mind where its own tables were short."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import random
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import bgfmt
from bgfmt import Position, Side
from bgfmt.cli import run

PREPARED = """set automatic game off
set automatic roll off
set automatic bearoff off
set player 0 human
set player 1 human
new session
set turn 1
set output digits 6
"""


@dataclass(frozen=True)
class Advice:
    """What gnubg's `eval` said of one position."""

    evaluator: str
    win: float
    no_double: float
    double_take: float
    action: str


def required(what: str, found: str | None) -> str:
    if found is None:
        if os.environ.get("BGFMT_REQUIRE_ORACLES") == "1":
            pytest.fail(f"{what} is not installed")
        pytest.skip(f"{what} is not installed")
    return found


@pytest.fixture(scope="session")
def gnubg() -> str:
    return required("gnubg", shutil.which("gnubg", path=os.environ.get("PATH", "") + ":/usr/games"))


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Tables made by bgfmt itself."""
    folder = tmp_path_factory.mktemp("made")
    sizes = {"3x10": (3, 10), "6x8": (6, 8)}
    for name, (points, chequers) in sizes.items():
        table = bgfmt.solver.two_sided(points, chequers)
        bgfmt.save(table, folder / f"{name}.bd", format="gnubg-ts")
    return {name: folder / f"{name}.bd" for name in sizes}


@pytest.fixture
def home(gnubg: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A private folder for Debian's gnubg; skipped where private mounts are switched off."""
    if not Path("/var/lib/gnubg").is_dir():
        pytest.skip("not Debian's gnubg")
    if subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode:
        pytest.skip("private mounts are switched off here")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path / "bgfmt" / "debian"


def ask(command: str, ids: list[str], folder: Path) -> list[Advice]:
    script = folder / "ask.txt"
    script.write_text(PREPARED + "".join(f"set board {i}\neval\n" for i in ids))
    text = subprocess.run(
        [command, "-t", "-q", "-r", "-c", str(script)],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=800,
        check=True,
    ).stdout
    answers = []
    for part in text.split("Evaluator:")[1:]:

        def number(pattern: str, part: str = part) -> float:
            found = re.search(pattern, part)
            assert found is not None, part
            return float(found.group(1))

        action = re.search(r"Proper cube action: ([A-Za-z ,]+)", part)
        assert action is not None
        answers.append(
            Advice(
                part.split()[0],
                number(r"static: ([\d.]+)"),
                number(r"No double\s+([+-][\d.]+)"),
                number(r"Double, take\s+([+-][\d.]+)"),
                action.group(1).strip(),
            )
        )
    return answers


SCENARIOS = [
    ("3x10", "tw8AANg7AAAAAA", "Double, take", "Double, pass", 0.781369, 0.836484, 1.028306),
    ("3x10", "3wUAAHwdAAAAAA", "Double, take", "No double, take", None, 0.669307, 0.662699),
    ("6x8", "1RkAAEoXAAAAAA", "Double, take", "Double, pass", None, 0.801602, 1.013413),
    ("6x8", "Fx0AAJY6AAAAAA", "No double, take", "Double, take", None, 0.559045, 0.573953),
]


@pytest.mark.slow
def test_cube_advice_turns(gnubg: str, made: dict[str, Path], home: Path, tmp_path: Path) -> None:
    for size in ("3x10", "6x8"):
        cases = [case for case in SCENARIOS if case[0] == size]
        ids = [case[1] for case in cases]
        before = ask(gnubg, ids, tmp_path)
        assert run(["gnubg", "install", str(made[size]), "--user", "--host", "debian"]) == 0
        after = ask(str(home / "start-gnubg"), ids, tmp_path)
        for case, old, new in zip(cases, before, after, strict=True):
            _, _, wrong, right, win, no_double, double_take = case
            assert (old.evaluator, old.action) == ("Bearoff1", wrong)
            assert (new.evaluator, new.action) == ("Bearoff-TS", right)
            assert new.no_double == pytest.approx(no_double, abs=2e-6)
            assert new.double_take == pytest.approx(double_take, abs=2e-6)
            assert win is None or new.win == pytest.approx(win, abs=2e-6)
        assert run(["gnubg", "uninstall", "ts", "--user", "--host", "debian"]) == 0
        assert [a.evaluator for a in ask(str(home / "start-gnubg"), ids, tmp_path)] == ["Bearoff1"] * 2


@pytest.mark.slow
def test_random_positions_give_our_numbers(made: dict[str, Path], home: Path, tmp_path: Path) -> None:
    rng = random.Random(3)
    assert run(["gnubg", "install", str(made["6x8"]), "--user", "--host", "debian"]) == 0
    positions = [Position(side(rng, 7, 8), side(rng, 1, 8)) for _ in range(40)]
    answers = ask(str(home / "start-gnubg"), [position_id(p) for p in positions], tmp_path)
    with bgfmt.open(made["6x8"]) as db:
        for position, answer in zip(positions, answers, strict=True):
            equities = db.lookup(position)
            assert answer.evaluator == "Bearoff-TS"
            assert answer.win == pytest.approx((equities.cubeless + 1) / 2, abs=2e-6)
            assert answer.no_double == pytest.approx(equities.centered, abs=2e-6)
            assert answer.double_take == pytest.approx(2 * equities.opponent, abs=2e-6)


@pytest.mark.slow
def test_three_hundred_positions_through_the_python_package(made: dict[str, Path], tmp_path: Path) -> None:
    other = os.environ.get("BGFMT_ORACLE_PYTHON")
    if other is None and importlib.util.find_spec("gnubg") is not None:
        other = sys.executable
    python = required("the gnubg Python package (BGFMT_ORACLE_PYTHON)", other)
    asked = "import importlib.util as u; print(list(u.find_spec('gnubg').submodule_search_locations)[0])"
    package = subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True).stdout.strip()
    home = tmp_path / "data"
    home.mkdir()
    for item in (Path(package) / "data").iterdir():
        (home / item.name).symlink_to(item)
    assert run(["gnubg", "install", str(made["6x8"]), "--host", "pypi", "--dir", str(home)]) == 0
    rng = random.Random(4)
    positions = [Position(side(rng, 7, 8), side(rng, 1, 8)) for _ in range(300)]
    boards = [tuple((*s.padded(24), 0) for s in (p.them, p.us)) for p in positions]
    code = (
        "import gnubg, json, sys\n"
        "print(json.dumps([[gnubg.classify(b, 0), gnubg.evaluate(b)[0]] for b in "
        f"{boards!r}]))"
    )
    done = subprocess.run(
        [python, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"GNUBG_DATA_DIR": str(home)},
    )

    answers = json.loads(done.stdout.strip().splitlines()[-1])
    with bgfmt.open(made["6x8"]) as db:
        for position, (kind, win) in zip(positions, answers, strict=True):
            assert kind == 5
            assert win == pytest.approx((db.lookup(position).cubeless + 1) / 2, abs=1e-6)


def side(rng: random.Random, low: int, high: int) -> Side:
    counts = [0] * 6
    for _ in range(rng.randint(low, high)):
        counts[rng.randrange(6)] += 1
    return Side(*counts)


def position_id(position: Position) -> str:
    bits = ""
    for one in (position.them, position.us):
        bits += "".join("1" * n + "0" for n in (*one.padded(24), 0))
    return base64.b64encode(int(bits[::-1], 2).to_bytes(10, "little")).decode()[:14]
