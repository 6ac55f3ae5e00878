"""A thousand mutations on every run of the tests; `make fuzz` goes on as long as you like."""

from __future__ import annotations

import os

import pytest

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
    ends = readers.run(float(os.environ.get("BGFMT_FUZZ_SECONDS", "1.5")), seed=21)
    assert {name for name, counted in ends.items() if counted["ESCAPE"]} == set()
    assert all(counted.total() > 0 for counted in ends.values())
