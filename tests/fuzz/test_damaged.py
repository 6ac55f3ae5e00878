"""Damaged copies on every run of the tests; `python -m tests.fuzz.damaged 10000` goes on."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from bgfmt import formats
from tests.fuzz.damaged import ANOTHER_SIZE, UNCHANGED, Seed, copy, run, seeds
from tests.support import damage


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("seeds")


@pytest.fixture(scope="module")
def corpus(folder: Path) -> list[Seed]:
    return list(seeds(folder))


@pytest.mark.slow
def test_there_is_a_seed_of_every_kind_and_format(corpus: list[Seed]) -> None:
    kinds = {table.kind for seed in corpus for table in seed.tables}
    assert kinds == {
        "one-sided", "normal-distribution", "mean-rolls", "two-sided", "hypergammon", "match-score", "bkg",
        "expected-points", "hypergammon-exact", "two-sided-gammons", "two-sided-jacoby",
    }  # fmt: skip
    written = {name for name, form in formats.all_formats().items() if form.reads}
    assert {seed.format for seed in corpus} == written
    assert len(damage.KINDS) + len(damage.VALUES) > 35


@pytest.mark.slow
def test_every_format_is_written_with_every_kind_of_wrong_number(folder: Path, corpus: list[Seed]) -> None:
    """A kind of damage that changes nothing, such as columns of a table with one, is made up for by the others.

    Each is written once for each format and kind of table.
    """
    done: Counter[str] = Counter()
    written = set()
    for seed in corpus:
        if not seed.tables or len(seed.data) > 300_000:
            continue
        kinds = {table.kind for table in seed.tables}
        for kind in (*damage.VALUES, ANOTHER_SIZE):
            case = (seed.format, *sorted(kinds), kind)
            if case not in written and copy(seed, kind, 5, b"", folder) is not None:
                written.add(case)
                done[seed.format] += 1
    assert set(done) >= {form.name for form in formats.all_formats().values() if form.reads and form.writes} - {
        "gnubg-2001", "bgsage",  # large
    }  # fmt: skip
    assert min(done.values()) >= 8, done


@pytest.mark.slow
def test_no_damaged_copy_is_called_good(folder: Path, corpus: list[Seed], bkg_once: None) -> None:
    outcomes = run(int(os.environ.get("BGFMT_DAMAGED", "60")), seed=3, folder=folder, corpus=corpus)
    assert outcomes["ESCAPE"] == 0
    assert outcomes["damaged"] > 30
    assert outcomes.total() - outcomes[UNCHANGED] > 50
