"""Comparing databases of other sizes, layouts and formats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bgfmt
from bgfmt.cli import run
from bgfmt.errors import CapabilityError


def test_the_same_numbers_in_other_sizes_and_layouts(golden: Path) -> None:
    folder = golden / "gnubg"
    for a, b, compared in (
        ("ts_06x03.bd", "ts_05x04.bd", 56**2),
        ("ts_06x04.bd", "ts_06x04_cubeless.bd", 210**2),
        ("os_p03.bd", "os_p03_cg.bd", 816),
        ("os_p04.bd", "os_p06.bd", 3876),
        ("hyper1.bd", "hyper1.bd", 676),
    ):
        result = bgfmt.diff(folder / a, folder / b)
        assert result.same, str(result)
        assert result.compared == compared


def test_differences_are_counted_and_placed(golden: Path, tmp_path: Path) -> None:
    data = bytearray((golden / "gnubg" / "ts_06x03.bd").read_bytes())
    at = 40 + 8 * (30 * 84 + 41) + 2
    value = int.from_bytes(data[at : at + 2], "little")
    data[at : at + 2] = (value - 3).to_bytes(2, "little")
    path = tmp_path / "other.bd"
    path.write_bytes(data)
    result = bgfmt.diff(golden / "gnubg" / "ts_06x03.bd", path)
    assert (result.different, result.largest, result.counts) == (1, 3.0, {"3": 1})
    assert result.first is not None
    assert result.first["position_number"] == 30 * 84 + 41
    assert str(result).startswith(
        "1 of 7,056 positions of 6 points and 3 chequers differs, by 3 units at most;"
    )
    data[at : at + 2] = (value ^ 0x4000).to_bytes(2, "little")
    path.write_bytes(data)
    assert "by 16,384 units at most" in str(bgfmt.diff(golden / "gnubg" / "ts_06x03.bd", path))
    assert str(bgfmt.diff(path, path)).startswith(
        "the same numbers (equities) for all 7,056 positions of 6 points"
    )
    assert run(["diff", str(golden / "gnubg" / "ts_06x03.bd"), str(path)]) == 1
    assert run(["diff", "--json", str(path), str(path)]) == 0


def test_distributions_against_means(golden: Path) -> None:
    result = bgfmt.diff(golden / "gnubg" / "os_p04.bd", golden / "gnubg" / "os_p04_nd.bd")
    assert result.kind == "mean-rolls"
    assert 0 < result.largest < 3e-4
    assert np.isfinite(result.mean)


def test_what_has_nothing_in_common(golden: Path) -> None:
    with pytest.raises(CapabilityError):
        bgfmt.diff(golden / "gnubg" / "os_p03.bd", golden / "gnubg" / "ts_03x03.bd")
    with pytest.raises(CapabilityError):
        bgfmt.diff(golden / "gnubg" / "hyper1.bd", golden / "gnubg" / "ts_03x03.bd")
