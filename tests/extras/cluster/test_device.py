"""Kernels of a CUDA device, on Numba's simulator: the same numbers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bgfmt.errors import CapabilityError
from bgfmt.files.solve import solve_table

BGFMT = [sys.executable, "-m", "bgfmt"]


@pytest.mark.slow
def test_the_simulator_of_a_device_gives_the_same_numbers() -> None:
    """All sizes up to 4x2, 3x3 and 2x4, some in several tiles; a process of its own takes the simulator at import."""
    pytest.importorskip("numba.cuda")
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.simulated"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["17", "same"]


def test_without_a_device_it_is_one_line(tmp_path: Path) -> None:
    device = pytest.importorskip("numba.cuda")
    if device.is_available():
        pytest.skip("there is a device here")
    with pytest.raises(CapabilityError, match="no CUDA device"):
        solve_table("two-sided", 3, 2, tmp_path / "o.bd", device="cuda")
    assert not list(tmp_path.iterdir())
