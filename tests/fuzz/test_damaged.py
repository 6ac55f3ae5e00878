"""Some hundred damaged copies on every run of the tests; `python -m tests.fuzz.damaged 10000` goes on."""

from __future__ import annotations

import os
from pathlib import Path

from tests import damage
from tests.fuzz.damaged import run, seeds


def test_there_is_a_seed_of_every_kind_and_format(tmp_path: Path) -> None:
    found = list(seeds(tmp_path))
    kinds = {seed.table.kind for seed in found if seed.table is not None}
    assert kinds == {
        "one-sided", "normal-distribution", "mean-rolls", "two-sided", "hypergammon", "match-score", "bkg",
        "expected-points", "hypergammon-exact", "two-sided-fine",
    }  # fmt: skip
    assert {seed.format for seed in found} >= {
        "gnubg-os", "gnubg-nd", "gnubg-ts", "gnubg-hyper", "npz", "jfile", "bgfmt-match", "bgfmt-ts", "zarr",
        "parquet", "sqlite", "sconyers", "bkg-binary", "points-text",
    }  # fmt: skip
    assert len(damage.KINDS) + len(damage.VALUES) > 25


def test_no_damaged_copy_is_called_good(tmp_path: Path) -> None:
    outcomes = run(int(os.environ.get("BGFMT_DAMAGED", "400")), seed=3, folder=tmp_path)
    assert outcomes["ESCAPE"] == 0
    assert outcomes["damaged"] > 200
    assert outcomes.total() > 350
