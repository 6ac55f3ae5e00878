"""A package of a third party adds a kind of table, formats and a command; `guest/` is one, as in site-packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import GOLDEN, ROOT

GUEST = ROOT / "tests" / "guest"


def python(*arguments: str, guest: bool = True, timeout: int = 120) -> subprocess.CompletedProcess[str]:
    paths = ([str(GUEST)] if guest else []) + [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        cwd=ROOT,
    )


def run(*arguments: str, guest: bool = True) -> subprocess.CompletedProcess[str]:
    return python("-m", "bgfmt", *arguments, guest=guest)


def fine(*arguments: str) -> str:
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_guests_format(tmp_path: Path) -> None:
    bgns = str(GOLDEN / "jfile" / "bgns.ijf")
    text, back = str(tmp_path / "a.rolls"), str(tmp_path / "b.ijf")
    fine("convert", bgns, text, "--to", "rolls-text")
    fine("convert", text, back, "--to", "jfile")
    assert Path(back).read_bytes() == Path(bgns).read_bytes()
    assert "6.5668" in fine("lookup", text, "0 0 0 2 3 4")
    Path(text).write_text("rolls 3 x\n")
    wrong = run("info", text)
    assert wrong.returncode == 2
    assert wrong.stderr.count("\n") == 1


@pytest.fixture(scope="module")
def fewest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of a guest's kind of table in a guest's format."""
    path = tmp_path_factory.mktemp("guest") / "a.few"
    made = python(
        "-c", f"import bgfmt; from bgfmt_guest.fewest import solve; bgfmt.save(solve(6, 8), {str(path)!r})"
    )
    assert made.returncode == 0, made.stderr
    return path


@pytest.mark.slow
def test_a_guests_kind_of_table_is_described_looked_up_and_dumped(fewest: Path) -> None:
    facts = json.loads(fine("info", str(fewest), "--json"))
    assert (facts["kind"], facts["points"], facts["chequers"]) == ("fewest-rolls", 6, 8)
    assert "at least 1 rolls" in fine("lookup", str(fewest), "0 0 0 0 0 4")
    answer = json.loads(fine("lookup", str(fewest), "0 0 0 0 0 5", "--json"))
    assert (answer[0] if isinstance(answer, list) else answer)["rolls"] == 2
    rows = fine("dump", str(fewest), "--format", "csv").splitlines()
    assert len(rows) == 3004
    assert rows[0].endswith("rolls")


@pytest.mark.slow
def test_a_guests_kind_of_table_is_converted_and_compared(fewest: Path, tmp_path: Path) -> None:
    archive, cut, back = (str(tmp_path / name) for name in ("a.npz", "cut.few", "back.few"))
    fine("convert", str(fewest), archive)
    fine("convert", archive, back, "--to", "fewest")
    assert Path(back).read_bytes() == fewest.read_bytes()
    fine("convert", archive, cut, "--to", "fewest", "--points", "4", "--chequers", "3")
    assert Path(cut).read_bytes()[:8] == b"FEWEST\x04\x03"
    fine("diff", str(fewest), archive)
    fine("diff", str(fewest), cut)
    changed = bytearray(fewest.read_bytes())
    changed[100] += 1
    Path(back).write_bytes(changed)
    assert run("diff", str(fewest), back).returncode == 1


@pytest.mark.slow
def test_a_guests_kind_of_table_is_verified_as_far_as_sense(fewest: Path, tmp_path: Path) -> None:
    assert "nothing wrong" in fine("verify", "--until", "sense", str(fewest))
    for at, value in ((100, 99), (100, 0)):
        changed = bytearray(fewest.read_bytes())
        changed[at] = value
        path = tmp_path / "wrong.few"
        path.write_bytes(changed)
        assert run("verify", "--until", "sense", str(path)).returncode == 1
    path.write_bytes(fewest.read_bytes()[:-1])
    assert run("verify", "--until", "sense", str(path)).returncode in (1, 2)


@pytest.mark.slow
def test_a_guests_kind_of_table_is_proved_by_the_guests_proof(fewest: Path, tmp_path: Path) -> None:
    text = fine("verify", "--until", "regenerate", str(fewest))
    assert text.startswith("proved: every one of 3,003 entries follows from the rules (recipe sixes)")
    assert "solved again by recipe sixes: the same numbers throughout" in text
    changed = bytearray(fewest.read_bytes())
    changed[8 + 2000] += 1
    path = tmp_path / "wrong.few"
    path.write_bytes(changed)
    done = run("verify", str(path))
    assert done.returncode == 1
    assert done.stdout.startswith("damaged: 1 entry wrong in itself; first: position 2,000 (")
    assert f"byte {8 + 2000:,}" in done.stdout


@pytest.mark.slow
def test_a_guests_solver_has_a_command(fewest: Path, tmp_path: Path) -> None:
    path = tmp_path / "solved.few"
    fine("solve", "fewest-rolls", "6x8", "-o", str(path))
    assert path.read_bytes() == fewest.read_bytes()
    assert "fewest-rolls tables can only be solved by recipe exact" in run(
        "solve", "fewest-rolls", "6x8", "-o", str(path), "--recipe", "gnubg"
    ).stderr  # fmt: skip
    listed = fine("solve", "--help")
    assert "The fewest rolls, by a guest." in listed
    assert "broken-solver" in listed
    broken = run("solve", "broken-solver", "6x8", "-o", str(path))
    assert (broken.returncode, broken.stderr.count("\n")) == (2, 1)
    assert "the solver of broken-solver tables is broken: ModuleNotFoundError" in broken.stderr


@pytest.mark.slow
def test_a_guest_is_held_to_the_laws() -> None:
    done = python(
        "-m",
        "pytest",
        "tests/laws",
        "-q",
        "-k",
        "fewest or rolls-text",
        "-p",
        "no:cacheprovider",
        timeout=800,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "passed" in done.stdout or "[100%]" in done.stdout


@pytest.mark.slow
def test_a_guests_command() -> None:
    said = run("pips", "dwMAAN4FAAAAAA")
    assert (said.returncode, said.stdout) == (0, "13 15\n")
    assert "pips" in run("--help").stdout
    wrong = run("pips", "nonsense")
    assert wrong.returncode == 2
    assert wrong.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_broken_guest_is_named_and_harms_nobody() -> None:
    said = run("formats")
    assert said.returncode == 0
    assert "broken-guest" in said.stdout + said.stderr
    assert "rolls-text" in said.stdout
    listed = run("--help")
    assert listed.returncode == 0
    assert "broken-verb" in listed.stdout
    called = run("broken-verb", "a", "--b")
    assert (called.returncode, called.stderr.count("\n")) == (2, 1)
    assert "the plugin command 'broken-verb' does not load: ModuleNotFoundError" in called.stderr


@pytest.mark.parametrize("arguments", [("pips", "dwMAAN4FAAAAAA"), ("info", "x.rolls")])
def test_without_the_guest(arguments: tuple[str, ...]) -> None:
    assert run(*arguments, guest=False).returncode == 2
