"""A thousand mutations on every run of the tests; `make fuzz` goes on as long as you like."""

from __future__ import annotations

import os

import pytest

from bgfmt import formats
from bgfmt.extras import matches
from tests.fuzz import readers
from tests.fuzz.mutations import run, seeds


@pytest.mark.slow
def test_mutated_files_give_a_table_or_one_clear_line() -> None:
    assert len(seeds()) > 40
    outcomes = run(int(os.environ.get("BGFMT_FUZZ", "1000")), seed=20)
    assert outcomes["table"] > 0
    assert sum(outcomes.values()) > outcomes["table"]


@pytest.mark.slow
def test_every_reader_gives_a_result_or_one_clear_line() -> None:
    """Those of entry points and commands too; a minute finds and loads them."""
    ends = readers.run(float(os.environ.get("BGFMT_FUZZ_SECONDS", "1.5")), seed=21)
    assert {name for name, counted in ends.items() if counted["ESCAPE"]} == set()
    assert all(counted.total() > 0 for counted in ends.values())


@pytest.mark.slow
def test_readers_are_found_by_entry_points_and_commands() -> None:
    """A format, match reader, engine or command that reads is there without being listed."""
    names = set(readers.all_readers())
    assert {f"format {name}" for name in formats.all_formats()} <= names
    assert {f"match {name}" for name in matches.READERS} <= names
    found = {
        "check-labels word 1", "label word 1", "label word 1 -", "exam --set", "exam word 1", "exam --make",
        "met word 1", "sums --against", "verify word 1", "annotate word 1", "ubgi word 1 -", "cube --met",
    }  # fmt: skip
    assert {f"command {name}" for name in found} <= names
    assert {"engine lines", "engine ubgi"} <= names
    assert not any(name.startswith("command articles") for name in names)
