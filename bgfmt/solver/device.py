"""The two kernels of a tile on a GPU."""

from __future__ import annotations
