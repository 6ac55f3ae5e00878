"""`bgfmt.solve` and `bgfmt solve`: a file in the format its name says, or a refusal before the work begins."""

from __future__ import annotations

import hashlib
import json
import os
import pty
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt.cli import run as command
from bgfmt.errors import CapabilityError, FormatNeededError, OptionError, OutputExistsError, SolverError
from bgfmt.solver.one_sided import MeanRollsSolver, OneSidedSolver
from bgfmt.solver.two_sided import TwoSidedSolver
from tests.conftest import GOLDEN, has_extra

SIX_BY_SIX = (
    "9eac8a2c697dae8a09f2e5653022084b9e725df6c32950cb5299b273fc64500f"  # as printed in gnubg's manual
)


def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make any solving fail the test."""

    def never(*arguments: object, **options: object) -> None:
        raise AssertionError("work was begun")

    for solver in (OneSidedSolver, TwoSidedSolver, MeanRollsSolver):
        monkeypatch.setattr(solver, "solve", never)
    if has_extra("large"):
        monkeypatch.setattr("bgfmt.extras.large.stores.Filling.run", never)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "size", "name", "options", "golden"),
    [
        ("one-sided", (4, 15), "a.bd", {}, "os_p04.bd"),
        ("one-sided", (3, 15), "a.bd", {"gammon": False, "compressed": False}, "os_p03_cg.bd"),
        ("normal-distribution", (3, 15), "a.bd", {}, "os_p03_nd.bd"),
        ("two-sided", (3, 3), "a.bd", {}, "ts_03x03.bd"),
        ("two-sided", (3, 3), "no-suffix", {}, "ts_03x03.bd"),
        ("two-sided", (3, 3), "A.BD", {"cubeful": False}, "ts_03x03_cubeless.bd"),
        ("two-sided", (6, 4), "a.bd", {"scratch": "s"}, "ts_06x04.bd"),
        ("two-sided", (3, 3), "a.db", {"format": "gnubg-ts"}, "ts_03x03.bd"),
    ],
)
def test_the_very_bytes(
    what: str, size: tuple[int, int], name: str, options: dict[str, Any], golden: str, tmp_path: Path
) -> None:
    if "scratch" in options:
        options = options | {"scratch": tmp_path / "s"}
    made = bgfmt.solve(what, *size, tmp_path / name, **options)
    assert made == tmp_path / name
    assert made.read_bytes() == (GOLDEN / "gnubg" / golden).read_bytes()
    assert os.listdir(tmp_path) == [name]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "size", "name", "recipe", "format"),
    [
        ("one-sided", (3, 15), "a.ijf", None, "jfile"),
        ("one-sided", (3, 15), "a.npz", None, "npz"),
        ("one-sided", (3, 15), "a.npz", "exact", "npz"),
        ("one-sided", (3, 15), "a", "exact", "npz"),
        ("one-sided", (6, 15), "a.db", "bgsage", "bgsage"),
        ("one-sided", (6, 15), "a", "bgsage", "bgsage"),
        ("two-sided", (3, 2), "a.npz", None, "npz"),
        ("two-sided", (3, 2), "a", "exact", "npz"),
        ("mean-rolls", (3, 15), "a", None, "jfile"),
        ("mean-rolls", (3, 15), "a.ijf", None, "jfile"),
        ("mean-rolls", (3, 15), "a.npz", None, "npz"),
    ],
)
def test_the_suffix_decides(
    what: str, size: tuple[int, int], name: str, recipe: str | None, format: str, tmp_path: Path
) -> None:
    made = bgfmt.solve(what, *size, tmp_path / name, recipe=recipe)
    with bgfmt.open(made) as db:
        assert (db.format.name, db.table.kind) == (format, what)
        assert (db.table.points, db.table.chequers) == size


@pytest.mark.parametrize(
    ("arguments", "options", "error", "says"),
    [
        (("one-sided", 6, 15, "q.csv"), {}, FormatNeededError, r"q.csv: no format uses the suffix '.csv'"),
        (("one-sided", 6, 15, "q.old"), {}, FormatNeededError, r"no format uses the suffix"),
        (
            ("two-sided", 6, 6, "q.ijf"),
            {},
            FormatNeededError,
            r"\.ijf files \(jfile\) cannot hold a two-sided",
        ),
        (
            ("two-sided", 3, 3, "q.bd"),
            {"recipe": "exact"},
            FormatNeededError,
            "cannot hold a two-sided table",
        ),
        (("two-sided", 3, 3, "q.db"), {}, FormatNeededError, r"\.db files \(bgsage\) cannot hold"),
        (("one-sided", 5, 15, "q.db"), {}, FormatNeededError, r"cannot hold a one-sided table"),
        (("one-sided", 6, 15, "q.db"), {}, CapabilityError, "bgsage would lose information"),
        (("one-sided", 6, 15, "q.bd"), {"recipe": "bgsage"}, CapabilityError, "would lose information"),
        (("two-sided", 3, 3, "q.bd"), {"format": "nope"}, CapabilityError, "no format 'nope'"),
        (("two-sided", 3, 3, "q.bd"), {"compressed": True}, OptionError, "no option 'compressed'"),
        (("two-sided", 3, 3, "-"), {}, CapabilityError, "- cannot be used as a file name"),
        (("two-sided", 3, 3, "nowhere/q.bd"), {}, OSError, "its folder does not exist"),
        (("two-sided", 3, 3, "x" * 300 + ".bd"), {}, OSError, "name too long"),
        pytest.param(
            ("two-sided", 6, 15, "x" * 250 + ".bd"),
            {},
            OSError,
            "name too long",
            marks=pytest.mark.extra("large"),
        ),
        (("two-sided", 3, 3, "/dev/null"), {"force": True}, OSError, "a device, not a regular file"),
        (("two-sided", 3, 3, "there.bd"), {}, OutputExistsError, "there.bd: exists already"),
        (("two-sided", 13, 3, "q.bd"), {}, SolverError, "1 to 12 points"),
        (("one-sided", 6, 16, "q.bd"), {}, SolverError, "1 to 15 chequers"),
        pytest.param(
            ("hypergammon", 24, 3, "q.bd"),
            {},
            SolverError,
            "hypergammon must have 25 points",
            marks=pytest.mark.extra("hypergammon"),
        ),
        (("backgammon", 6, 3, "q.bd"), {}, SolverError, "no solver"),
        (("two-sided", 3, 3, "q.bd"), {"recipe": "bgsage"}, SolverError, "solved by recipe gnubg or exact"),
        (
            ("two-sided", 3, 3, "q.npz"),
            {"resume": True, "recipe": "exact"},
            CapabilityError,
            "solved in memory",
        ),
        (("one-sided", 3, 15, "q.bd"), {"scratch": "s"}, CapabilityError, "solved in memory"),
    ],
)
def test_refused_before_work(
    arguments: tuple[Any, ...],
    options: dict[str, Any],
    error: type[Exception],
    says: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    no_work(monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.bd").write_bytes(b"theirs")
    with pytest.raises(error, match=says) as caught:
        bgfmt.solve(*arguments, **options)
    assert "--" not in str(caught.value)
    assert os.listdir(tmp_path) == ["there.bd"]
    assert Path("/dev/null").is_char_device()


@pytest.mark.extra("large")
def test_too_little_disk(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    no_work(monkeypatch)
    monkeypatch.setattr("shutil.disk_usage", lambda folder: type("Usage", (), {"free": 30e9})())
    with pytest.raises(SolverError, match=r"needs 47\.1 GB of disk, 30\.0 GB are free"):
        bgfmt.solve("two-sided", 6, 15, tmp_path / "t.bd")


@pytest.mark.extra("large")
@pytest.mark.parametrize("name", ["a.npz", "a.bgts"])
def test_large_tables_of_any_format(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Through a store beside the file; progress goes on while the file is made of the store, to its end."""
    monkeypatch.setattr(import_module("bgfmt.solver.two_sided"), "MAX_PAIRS_IN_MEMORY", 100)
    seen: list[tuple[int, int]] = []
    made = bgfmt.solve("two-sided", 3, 3, tmp_path / name, progress=lambda *done: seen.append(done))
    again = bgfmt.solve("two-sided", 3, 3, tmp_path / "a.bd")
    with bgfmt.open(made) as db:
        assert again.read_bytes()[40:] == np.asarray(db.table.equities).tobytes()
    assert sorted(os.listdir(tmp_path)) == sorted(["a.bd", name])
    assert seen == sorted(seen)
    assert seen[-1][0] == seen[-1][1] > 20 * 20


@pytest.mark.slow
def test_without_header(tmp_path: Path) -> None:
    for name, what in (("os_p03_c", "one-sided"), ("ts_03x03", "two-sided")):
        more = {"compressed": False} if what == "one-sided" else {}
        size = (3, 15) if what == "one-sided" else (3, 3)
        made = bgfmt.solve(what, *size, tmp_path / name, header=False, format=None, **more)
        assert made.read_bytes() == (GOLDEN / f"gnubg/{name}.bd").read_bytes()[40:]


# -- the command line ----------------------------------------------------------------------------------


def test_one_line_for_every_refusal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    no_work(monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there.bd").touch()
    os.mkfifo(tmp_path / "fifo.bd")
    for words, says in (
        ("one-sided 6 -o q.csv", "(--to FORMAT)"),
        ("two-sided 6x6 -o q.ijf", "(--to FORMAT)"),
        ("two-sided 3x3 -o there.bd", "there.bd: exists already (--force replaces it)"),
        ("two-sided 3x3 -o fifo.bd --force", "fifo.bd: is a FIFO, not a regular file"),
        ("two-sided 3x3 -o /dev/null --force", "/dev/null: is a device, not a regular file"),
        ("two-sided 3x3 -o -", "- cannot be used as a file name"),
        ("two-sided 3x3 -o no/where.bd", "no/where.bd: its folder does not exist"),
        ("one-sided 3 --no-compress --to npz -o q.npz", "npz has no option --no-compress; it has: none"),
        ("one-sided 3 --normal-dist --recipe exact -o q.bd", "solved by recipe gnubg, not by exact"),
        ("one-sided 30 -o q.bd", "1 to 18 points"),
        ("mean-rolls", "Missing option '-o'"),
    ):
        assert command(["solve", *words.split()]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.count("\n") == 1
        assert says in err
        assert ".part" not in err
    assert sorted(os.listdir(tmp_path)) == ["fifo.bd", "there.bd"]


@pytest.mark.slow
def test_mean_rolls(tmp_path: Path) -> None:
    assert command(["solve", "mean-rolls", "--quiet", "-o", str(tmp_path / "bgns.ijf")]) == 0
    with bgfmt.open(tmp_path / "bgns.ijf") as db:
        assert db.table.kind == "mean-rolls"


@pytest.mark.extra("large")
def test_plans(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ("one-sided 6", "one-sided 6 --normal-dist", "two-sided 6x15", "mean-rolls"):
        assert command(["solve", *words.split(), "--plan"]) == 0
        said = capsys.readouterr().out
        assert re.search(
            r"time +about \d+:\d\d .*memory +[\d.]+ [kMG]B.*output +[\d.]+ [kMG]B", said, re.DOTALL
        )
    for words, output in (("one-sided 6", 1465788), ("two-sided 6x8 --cluster local:2", 40 + 3003**2 * 8)):
        assert command(["solve", *words.split(), "--plan", "--json"]) == 0
        plan = json.loads(capsys.readouterr().out)
        assert plan["output"] == pytest.approx(output, rel=0.02)
        assert plan.keys() > {"what", "memory", "output"}


def test_a_plan_in_little_memory_says_what_lies_on_the_disk(capsys: pytest.CaptureFixture[str]) -> None:
    seconds = []
    for words in ("", "--memory 6G", "--memory 100G"):
        assert command(["solve", "one-sided", "15", "--plan", *words.split()]) == 0
        said = capsys.readouterr().out
        clock, memory, scratch = re.findall(r"about (\S+) on|memory +(\S+ GB)|scratch +(\S+ GB)", said)
        minutes, rest = clock[0].split(":")
        seconds.append(60 * int(minutes) + int(rest))
        if words:
            assert memory[1] == ("6.0 GB" if "6G" in words else "38.8 GB")
            assert scratch[2] == "38.7 GB"
    assert seconds[1] > seconds[2]
    assert command(["solve", "one-sided", "15", "--plan", "--memory", "1M"]) == 2
    assert command(["solve", "mean-rolls", "--plan"]) == 0


def test_the_size_of_a_one_sided_table_is_written_as_of_others(tmp_path: Path) -> None:
    a, b = tmp_path / "a.bd", tmp_path / "b.bd"
    assert command(["solve", "one-sided", "3", "--chequers", "4", "-o", str(a)]) == 0
    assert command(["solve", "one-sided", "3x4", "-o", str(b)]) == 0
    assert a.read_bytes() == b.read_bytes()


def test_a_folder_that_is_full_leaves_nothing(tmp_path: Path) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", tmp_path]
    if os.getuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this machine mounts nothing")
    try:
        done = subprocess.run(
            [sys.executable, "-m", "bgfmt", "solve", "one-sided", "6", "--quiet", "-o", tmp_path / "a.bd"],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert "needs 1.5 MB of disk" in done.stderr
        assert os.listdir(tmp_path) == []
    finally:
        subprocess.run(["umount", "-l", tmp_path], check=True)


def _in_a_terminal(*words: str, **environment: str) -> str:
    """What a command writes to standard error when that is a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "bgfmt", *words], stderr=theirs, env=os.environ | environment
    ) as process:
        os.close(theirs)
        said = b""
        try:
            while piece := os.read(ours, 4096):
                said += piece
        except OSError:  # the other end is closed
            pass
        assert process.wait() == 0
    os.close(ours)
    return said.decode()


@pytest.mark.slow
@pytest.mark.usefixtures("numba_kernels")
def test_the_first_time_it_says_that_it_compiles(tmp_path: Path) -> None:
    words = ["solve", "one-sided", "1x1", "--normal-dist", "--force", "-o", str(tmp_path / "a.bd")]
    cache = tmp_path / "cache"
    assert _in_a_terminal(*words, NUMBA_CACHE_DIR=str(cache)).count("compiling, once") == 1
    assert "compiling" not in _in_a_terminal(*words, NUMBA_CACHE_DIR=str(cache))
    forgotten = _forget_smallest(cache)
    assert _in_a_terminal(*words, "--quiet", NUMBA_CACHE_DIR=str(cache)) == ""
    assert forgotten.exists()


def _forget_smallest(cache: Path) -> Path:
    """Remove the code of the smallest kernel from a cache, so that numba compiles it again; its path."""
    smallest = min(cache.rglob("*.nbc"), key=lambda path: path.stat().st_size)
    smallest.unlink()
    return smallest


@pytest.mark.slow
@pytest.mark.usefixtures("numba_kernels")
def test_a_query_says_without_a_terminal_that_it_compiles(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bgfmt", "verify", str(GOLDEN / "gnubg" / "os_p01.bd")]
    cache = tmp_path / "cache"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}

    def told(*words: str) -> str:
        done = subprocess.run([*command, *words], env=environment, capture_output=True, text=True, check=True)
        return done.stderr

    assert told() == "bgfmt: compiling, once\n"
    assert told() == ""
    forgotten = _forget_smallest(cache)
    assert told("--quiet") == ""
    assert forgotten.exists()


def test_progress_says_no_rate_before_there_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bgfmt.cli.terminal import Progress

    clock = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    with Progress("solving", " pairs", always=True) as progress:
        for seconds, done in ((12.0, 100), (12.0, 100), (12.0, 500), (1.0, 600), (12.0, 900), (1.0, 1000)):
            clock[0] += seconds
            progress(done, 1000)
    assert capsys.readouterr().err.splitlines() == [
        "solving:  10.0 %",
        "solving:  10.0 %",
        "solving:  50.0 %  17  pairs/s  0:30 left",
        "solving:  90.0 %  22  pairs/s  0:05 left",
        "solving: 100.0 %  24  pairs/s  0:00 left",
    ]


@pytest.mark.slow
def test_the_default_tables_are_quick(tmp_path: Path) -> None:
    """One-sided 6 points and two-sided 6x6, their code compiled already."""
    code = (
        "import time, bgfmt\n"
        f"bgfmt.solve('one-sided', 6, 15, {str(tmp_path / 'os.bd')!r}, force=True)\n"
        f"bgfmt.solve('two-sided', 6, 6, {str(tmp_path / 'ts.bd')!r}, force=True)\n"
        "print(time.process_time())"
    )
    tries = (float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(3))
    assert any(taken < 8 for taken in tries)  # seconds of the processor; about one where it is idle
    one, two = (tmp_path / name for name in ("os.bd", "ts.bd"))
    assert one.read_bytes() == (GOLDEN / "gnubg/os_p06.bd").read_bytes()
    assert hashlib.sha256(two.read_bytes()).hexdigest() == SIX_BY_SIX


@pytest.mark.extra("large")
def test_a_plan_is_of_what_would_run(capsys: pytest.CaptureFixture[str]) -> None:
    """Of recipe gnubg, memory means a store; a table of recipe exact lies in a mapped file and goes through none."""
    size = ["solve", "two-sided", "6x9", "--plan"]
    assert command([*size, "--memory", "2G"]) == 0
    assert "through a store" in capsys.readouterr().out
    assert command([*size, "--memory", "2G", "--recipe", "exact"]) == 0
    assert "store" not in capsys.readouterr().out
    assert command([*size, "--store", "s", "--recipe", "exact"]) == 2
    assert "not in a store" in capsys.readouterr().err
