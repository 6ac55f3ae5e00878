"""The front door: what a plain import shows, typed for a user, described for `help()`, and still light."""

from __future__ import annotations

import inspect
import re
import runpy
import subprocess
import sys
import tomllib
import types
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import bgfmt
from tests.conftest import GOLDEN, ROOT

CLIENT = ROOT / "tests" / "client" / "program.py"


def _fresh(code: str) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_every_name_is_an_attribute_after_a_plain_import() -> None:
    _fresh(
        "import bgfmt\nfor name in bgfmt.__all__: getattr(bgfmt, name)\nassert set(bgfmt.__all__) <= set(dir(bgfmt))"
    )
    _fresh(
        "import bgfmt; bgfmt.errors.PositionError, bgfmt.tables.TwoSided, bgfmt.moves.ROLLS, bgfmt.solver.plan"
    )


def test_importing_loads_nothing_heavy() -> None:
    heavy = {
        "numba",
        "rich",
        "matplotlib",
        "starlette",
        "uvicorn",
        "urllib3",
        "asyncio",
        "construct",
        "click",
    }
    _fresh(f"import sys, bgfmt; found = {heavy!r} & set(sys.modules); assert not found, found")


@pytest.mark.parametrize(
    "name", [n for n in bgfmt.__all__ if not isinstance(getattr(bgfmt, n), types.ModuleType)]
)
def test_help_describes_it(name: str) -> None:
    thing = getattr(bgfmt, name)
    assert inspect.getdoc(thing)
    if inspect.isclass(thing) and not issubclass(thing, Exception):
        for key, value in vars(thing).items():
            if not key.startswith("_") and (callable(value) or isinstance(value, (property, classmethod))):
                assert inspect.getdoc(getattr(thing, key)), f"{name}.{key}"


@pytest.mark.slow
def test_types_are_strict(tmp_path: Path) -> None:
    """mypy --strict accepts the package, its plugins, a client of the public names, and python-tasks.md."""
    configured = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    assert configured["strict"] is True
    assert "tests/client/program.py" in configured["files"]
    text = (ROOT / "docs/python-tasks.md").read_text(encoding="utf-8")
    tasks = [code for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "rich" not in code]
    assert len(tasks) > 5
    for k, code in enumerate(tasks):
        (tmp_path / f"task_{k}.py").write_text(code, encoding="utf-8")
    files = [*configured["files"], *map(str, tmp_path.iterdir())]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *files], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stdout


def test_a_client_uses_every_public_name() -> None:
    text = CLIENT.read_text()
    missing = [name for name in (*bgfmt.__all__, *bgfmt.analysis.__all__) if name not in text]
    assert missing in ([], ["Library"], ["Decision", "Library", "Races", "RankedMany", "Resignation"]), (
        missing
    )


@pytest.mark.slow
def test_a_client_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """In this process, where kernels are compiled that others have not compiled yet."""
    runpy.run_path(str(CLIENT))["main"](GOLDEN / "gnubg")
    assert capsys.readouterr().out


US, THEM = np.array([[0, 1, 0, 0, 1, 0]] * 3), np.array([[0, 1, 1, 0, 0, 0]] * 3)
WRONG: dict[str, Callable[[bgfmt.Database], object]] = {
    "databases from bgfmt.open or bgfmt.load, not 'ts.bd'": lambda db: bgfmt.analysis.judge_many(
        "ts.bd", US, THEM
    ),
    "bgfmt.load, not None": lambda db: bgfmt.analysis.race_many(None, US),
    "two whole numbers, such as": lambda db: bgfmt.solve("two-sided", "6x8", "x.bd"),
    "expected a position of two sides": lambda db: bgfmt.Position([0, 1], (1, 0)),
    r"'0 1 / 1' is text; Side.parse and Position.parse read it": lambda db: db.lookup("0 1 / 1"),
    r"a position, such as Position\(Side\(0, 1\), Side\(0, 1, 1\)\), not \[0, 1\]": lambda db: db.lookup(
        [0, 1]
    ),
    "expected a play of legal_plays or Advisor.plays, not '5/4'": lambda db: bgfmt.GameState().after("5/4"),
    r"Side\(\*counts\), not \(\[0, 1\], 0\)": lambda db: bgfmt.Side([0, 1]),
    r"whole counts .*, not float64 of shape \(3, 6\)": lambda db: db.lookup_many(US.astype(float), THEM),
    r"row 1: counts must be from 0 to 15": lambda db: db.lookup_many(US - [[0], [1], [2]], THEM),
    "row 40001: a side has at most 15 chequers, not 24": lambda db: db.lookup_many(
        np.where(np.arange(40010)[:, None] == 40001, 4, US[0]), np.tile(THEM[0], (40010, 1))
    ),
    "row 1: dice must be from 1 to 6, not 7 and 2": lambda db: bgfmt.analysis.rank_many(
        [db], US, THEM, [(1, 1), (7, 2), (0, 0)]
    ),
    "row 2: the game is over": lambda db: bgfmt.analysis.judge_many([db], US * [[1], [1], [0]], THEM),
}


@pytest.mark.parametrize("words", WRONG)
def test_a_wrong_call_is_told_in_words(words: str) -> None:
    with bgfmt.open(GOLDEN / "gnubg" / "ts_06x04.bd") as db, pytest.raises(bgfmt.BgfmtError, match=words):
        WRONG[words](db)


def test_solve_says_what_there_is_and_what_is_needed(tmp_path: Path) -> None:
    with pytest.raises(
        bgfmt.errors.SolverError,
        match=r"known: bkg, .*hypergammon-met, match, .*two-sided, .*two-sided-jacoby$",
    ):
        bgfmt.solve("nonsense", 3, 3, tmp_path / "q.bd")
    with pytest.raises(TypeError, match="needs away="):
        bgfmt.solve("match", 3, 3, tmp_path / "q.bgm")
    with pytest.raises(TypeError, match="needs length="):
        bgfmt.solve("hypergammon-met", 25, 1, tmp_path / "q.xml")
