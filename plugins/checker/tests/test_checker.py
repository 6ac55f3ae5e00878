"""check.c: accepts every original file of its kinds, and finds one unit planted anywhere."""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from bgfmt.cli import run as bgfmt_run

HERE = Path(__file__).resolve().parent.parent
GOLDEN = HERE.parent.parent / "fixtures" / "golden" / "gnubg"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
SANITIZE = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
RIGHT = sorted(GOLDEN / name for name in os.listdir(GOLDEN) if re.fullmatch(r"os_p\d+(_c|_g|_cg)?\.bd", name))
RIGHT += sorted(path for path in GOLDEN.glob("ts_*.bd") if not re.search("_H|13x02", path.name))
REFUSED = ["os_p02_nd.bd", "os_p03_H.bd", "ts_03x03_H.bd", "ts_13x02.bd", "hyper1.bd"]


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compile the checker strictly, with further flags; return the program."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        if os.environ.get("BGFMT_REQUIRE_ORACLES") == "1":
            pytest.fail("no C compiler")
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("checker")

    def compile_with(name: str, *flags: str) -> Path:
        program = folder / name
        if not program.exists():
            command = [compiler, *STRICT, *flags, str(HERE / "check.c"), "-o", str(program)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        return program

    return compile_with


def run(program: Path, path: Path) -> tuple[int, str]:
    done = subprocess.run([program, path], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("path", RIGHT, ids=lambda path: path.stem)
def test_original_files_are_correct(build: Callable[..., Path], path: Path) -> None:
    code, text = run(build("fast", "-O3", "-fopenmp"), path)
    assert code == 0, text
    assert re.fullmatch(r"correct: \d+ entries\n", text)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["os_p01", "os_p02", "os_p02_cg", "ts_01x11", "ts_03x03", "ts_02x03_cubeless"]
)
def test_sanitizers_are_silent(build: Callable[..., Path], tmp_path: Path, name: str) -> None:
    program = build("sanitized", *SANITIZE)
    assert run(program, GOLDEN / f"{name}.bd")[0] == 0
    data = (GOLDEN / f"{name}.bd").read_bytes()
    draw = random.Random(name)
    target = tmp_path / "damaged.bd"
    for _ in range(40):
        damaged = bytearray(data)
        damaged[draw.randrange(len(data))] = draw.randrange(256)
        target.write_bytes(damaged[: draw.choice([len(data), len(data), draw.randrange(len(data))])])
        code, text = run(program, target)
        assert re.match("correct: |wrong: |not checked: ", text), text
        assert code == {"c": 0, "w": 1, "n": 2}[text[0]]


@pytest.mark.parametrize("name", ["os_p02", "os_p02_cg", "ts_03x03"])
def test_every_byte_of_the_header_counts(build: Callable[..., Path], tmp_path: Path, name: str) -> None:
    program = build("fast", "-O3", "-fopenmp")
    data = (GOLDEN / f"{name}.bd").read_bytes()
    target = tmp_path / "damaged.bd"
    for at in range(40):
        for value in {data[at] ^ 1, 0, *b" z01+"} - {data[at]}:
            target.write_bytes(data[:at] + bytes([value]) + data[at + 1 :])
            code, text = run(program, target)
            assert code in (1, 2), (at, value, text)


@pytest.mark.parametrize("name", REFUSED)
def test_other_kinds_are_not_checked(build: Callable[..., Path], name: str) -> None:
    assert run(build("sanitized", *SANITIZE), GOLDEN / name)[0] == 2


@pytest.mark.parametrize(
    ("name", "columns"), [("ts_04x04", 4), ("ts_06x03", 4), ("ts_04x04_cubeless", 1), ("ts_05x03", 4)]
)
def test_a_unit_in_a_two_sided_file_is_found(
    build: Callable[..., Path], tmp_path: Path, name: str, columns: int
) -> None:
    program = build("fast", "-O3", "-fopenmp")
    data = (GOLDEN / f"{name}.bd").read_bytes()
    numbers = (len(data) - 40) // 2
    positions = round((numbers // columns) ** 0.5)
    draw = random.Random(name)
    target = tmp_path / "t.bd"
    for _ in range(20):
        index = draw.randrange(numbers)
        at = 40 + 2 * index
        right = int.from_bytes(data[at : at + 2], "little")
        wrong = right - 1 if right else 1
        target.write_bytes(data[:at] + wrong.to_bytes(2, "little") + data[at + 2 :])
        us, them = divmod(index // columns, positions)
        expected = f"us {us}, them {them}, column {index % columns}: stored {wrong}, expected {right}"
        assert run(program, target) == (1, f"wrong: {expected}\n")


@pytest.mark.parametrize("kinds", [1, 2])
def test_a_unit_in_a_one_sided_file_is_found(build: Callable[..., Path], tmp_path: Path, kinds: int) -> None:
    program = build("fast", "-O3", "-fopenmp")
    data = (GOLDEN / ("os_p03_c.bd" if kinds == 2 else "os_p03_cg.bd")).read_bytes()
    draw = random.Random(kinds)
    target = tmp_path / "o.bd"
    for _ in range(20):
        index = draw.randrange((len(data) - 40) // 2)
        at = 40 + 2 * index
        right = int.from_bytes(data[at : at + 2], "little")
        wrong = right - 1 if right else 1
        target.write_bytes(data[:at] + wrong.to_bytes(2, "little") + data[at + 2 :])
        position, place = divmod(index, 32 * kinds)
        kind = ("bearoff", "gammon")[place // 32]
        expected = f"position {position}, {kind}, roll {place % 32}: stored {wrong}, expected {right}"
        assert run(program, target) == (1, f"wrong: {expected}\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["os_p01", "os_p02_c", "os_p03_g", "ts_02x03", "ts_03x03", "ts_02x03_cubeless"]
)
def test_a_unit_anywhere_is_found(build: Callable[..., Path], tmp_path: Path, name: str) -> None:
    """Add or take one unit at random places: index, numbers of finished games, and all others."""
    program = build("fast", "-O3", "-fopenmp")
    data = (GOLDEN / f"{name}.bd").read_bytes()
    draw = random.Random(f"unit {name}")
    target = tmp_path / "unit.bd"
    for _ in range(60):
        damaged = bytearray(data)
        at = draw.randrange(40, len(data))
        damaged[at] = (damaged[at] + draw.choice([-1, 1])) % 256
        target.write_bytes(damaged)
        code, text = run(program, target)
        assert code in (1, 2), (at, text)
        if name.startswith("ts"):
            assert code == 1


DAMAGED = sorted((GOLDEN.parents[1] / "broken").glob("*.bd"))


@pytest.mark.slow
@pytest.mark.parametrize("path", [*RIGHT, *DAMAGED], ids=lambda path: path.stem)
def test_bgfmt_verify_agrees(build: Callable[..., Path], path: Path) -> None:
    """Correct files are proved, and files that are damaged or cut short are not."""
    code, text = run(build("fast", "-O3", "-fopenmp"), path)
    assert (code == 0) == (verify_code(path) == 0), text


@pytest.mark.parametrize("name", ["os_p02", "os_p02_cg", "ts_03x03", "ts_02x03_cubeless"])
def test_bgfmt_verify_agrees_on_planted_damage(build: Callable[..., Path], tmp_path: Path, name: str) -> None:
    program = build("fast", "-O3", "-fopenmp")
    data = (GOLDEN / f"{name}.bd").read_bytes()
    draw = random.Random(f"damage {name}")
    target = tmp_path / "damage.bd"
    for _ in range(12):
        damaged = bytearray(data)
        damaged[draw.randrange(40, len(data))] ^= 1 << draw.randrange(8)
        target.write_bytes(damaged)
        assert run(program, target)[0] != 0
        assert verify_code(target) != 0


def verify_code(path: Path) -> int:
    """Return the exit code of `bgfmt verify`."""
    return bgfmt_run(["verify", "--quiet", str(path)])


def test_it_is_short() -> None:
    lines = (HERE / "check.c").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 250
    assert max(map(len, lines)) <= 118
