"""The executable specification, docs/spec/bearoff.py, against the package and the original files."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import random
import subprocess
import sys
from array import array
from pathlib import Path
from types import ModuleType

import pytest

import bgfmt
from tests.conftest import GOLDEN, ROOT

PROGRAM = ROOT / "docs/spec/bearoff.py"
NCODES_SHA256 = "9a8d703594daebb69e18df5b56fe04ed6b4702e86369083e9e653722ef491d78"
SMALL = [(points, chequers) for points in range(1, 5) for chequers in range(1, 5)]


@pytest.fixture(scope="module")
def spec() -> ModuleType:
    description = importlib.util.spec_from_file_location("bearoff_specification", PROGRAM)
    assert description is not None
    assert description.loader is not None
    module = importlib.util.module_from_spec(description)
    description.loader.exec_module(module)
    return module


def test_it_is_short_and_needs_the_standard_library_alone() -> None:
    text = PROGRAM.read_text()
    assert len(text.splitlines()) <= 300
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    assert names
    assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names


@pytest.mark.slow
@pytest.mark.parametrize(("points", "chequers"), [*SMALL, (6, 3)])
def test_two_sided_as_the_package(spec: ModuleType, tmp_path: Path, points: int, chequers: int) -> None:
    target = tmp_path / "t.bd"
    bgfmt.solve("two-sided", points, chequers, target)
    assert spec.two_sided_file(points, chequers) == target.read_bytes()


@pytest.mark.parametrize("name", ["01x11", "03x03", "06x03", "07x02"])
def test_two_sided_as_makebearoff(spec: ModuleType, name: str) -> None:
    points, chequers = (int(part) for part in name.split("x"))
    assert spec.two_sided_file(points, chequers) == (GOLDEN / f"gnubg/ts_{name}.bd").read_bytes()


def test_cubeless_as_makebearoff(spec: ModuleType) -> None:
    data = (GOLDEN / "gnubg/ts_03x03_cubeless.bd").read_bytes()
    assert spec.two_sided_file(3, 3, cubeful=False) == data


@pytest.mark.slow
@pytest.mark.parametrize("points", [1, 2, 3])
@pytest.mark.parametrize(
    ("suffix", "gammon", "compressed"),
    [("", True, True), ("_c", True, False), ("_g", False, True), ("_cg", False, False)],
)
def test_one_sided_as_makebearoff(
    spec: ModuleType, points: int, suffix: str, gammon: bool, compressed: bool
) -> None:
    data = (GOLDEN / f"gnubg/os_p{points:02}{suffix}.bd").read_bytes()
    assert spec.one_sided_file(points, gammon, compressed) == data


@pytest.mark.slow
def test_one_sided_as_the_package(spec: ModuleType, tmp_path: Path) -> None:
    target = tmp_path / "o.bd"
    bgfmt.solve("one-sided", 4, 15, target)
    assert spec.one_sided_file(4) == target.read_bytes()


@pytest.mark.parametrize("points", [1, 4, 6, 9])
def test_numbers_have_an_inverse(spec: ModuleType, points: int) -> None:
    draw = random.Random(points)
    last = bgfmt.game.board.count(points, 15) - 1
    for number in [0, 1, last, *(draw.randrange(last) for _ in range(50))]:
        board = spec.board_of(number, points)
        assert spec.position_number(board) == number
        assert bgfmt.Side.from_number(number, points) == bgfmt.Side(*board)


@pytest.mark.slow
def test_peelle_numbers(spec: ModuleType) -> None:
    """The original list of 15 chequers, and its values of the boards of up to three chequers, to the last bit."""
    codes = [spec.ncode(board) for board in spec.peelle_boards(15)]
    assert hashlib.sha256(array("q", codes).tobytes()).hexdigest() == NCODES_SHA256
    assert codes == sorted(codes)
    table = bgfmt.open(GOLDEN / "jfile/bgns.ijf")
    boards = spec.peelle_boards(3)
    assert len(boards) == 84
    for board, expected in zip(boards, spec.peelle_ns(3), strict=True):
        assert expected == table.lookup(bgfmt.Side(*board)).mean_rolls


@pytest.mark.slow
def test_command(tmp_path: Path) -> None:
    target = tmp_path / "t.bd"
    command = [sys.executable, str(PROGRAM), "two-sided", "4x4", "--cubeless", str(target)]
    subprocess.run(command, check=True)
    assert target.read_bytes() == (GOLDEN / "gnubg/ts_04x04_cubeless.bd").read_bytes()
    command = [sys.executable, str(PROGRAM), "one-sided", "3", "--uncompressed", "--no-gammon", str(target)]
    subprocess.run(command, check=True)
    assert target.read_bytes() == (GOLDEN / "gnubg/os_p03_cg.bd").read_bytes()
