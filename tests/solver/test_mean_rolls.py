"""Mean rolls: the doubles of Peelle's `bgns.ijf`, bit for bit."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import numpy as np
import pytest

from bgfmt.game import board
from bgfmt.game.moves import ROLLS, race_plays
from bgfmt.solver import mean_rolls

# SHA-256 of the 54,264 values of the file as little-endian doubles, ascending by Peelle's code
NS_SHA256 = "43c49c9b1e889afb7f4c594a84fc44f8cdeabfbedf777a8787545f43a2529805"


@pytest.mark.slow
def test_every_bit_of_bgns() -> None:
    means = np.asarray(mean_rolls().means)
    codes = board.unrank_array(np.arange(len(means)), 6).astype(np.int64) @ 16 ** np.arange(5, -1, -1)
    in_peelles_order = means[np.argsort(codes)].astype("<f8")
    assert hashlib.sha256(in_peelles_order.tobytes()).hexdigest() == NS_SHA256


@pytest.mark.slow
def test_the_genuine_file_holds_these_bytes(golden: Path) -> None:
    stored = (golden / "jfile" / "bgns.ijf").read_bytes()
    means = np.asarray(mean_rolls().means)
    for counts in ((0, 0, 0, 2, 3, 4), (15, 0, 0, 0, 0, 0), (1, 1, 2, 2, 0, 3)):
        assert struct.pack("<d", means[board.rank(counts)]) in stored


@pytest.mark.slow
@pytest.mark.parametrize(
    ("counts", "value"),
    [
        ((0, 0, 0, 0, 0, 1), "0x1.4000000000000p+0"),
        ((0, 0, 0, 1, 1, 1), "0x1.3e431c99bb8fcp+1"),
        ((3, 3, 3, 2, 2, 2), "0x1.e3859df24282bp+2"),
        ((0, 0, 0, 0, 0, 15), "0x1.88849af5ab008p+3"),
    ],
)
def test_published_values(counts: tuple[int, ...], value: str) -> None:
    assert float(mean_rolls().means[board.rank(counts)]).hex() == value


@pytest.mark.slow
def test_bearing_in_needs_nine_points() -> None:
    """Expected rolls after five ways to play 6-1, as printed by Taper_Mike on bgonline.org in 2015."""
    means = mean_rolls(9).means
    for counts, printed in (
        ((0, 0, 1, 3, 4, 6, 0, 1, 0), 10.5467744),
        ((0, 1, 0, 3, 4, 6, 0, 0, 1), 10.5530588),
        ((0, 1, 0, 2, 5, 6, 0, 1, 0), 10.5573673),
        ((0, 0, 2, 1, 5, 6, 0, 1, 0), 10.5641112),
        ((0, 1, 1, 1, 5, 6, 0, 0, 1), 10.5675855),
    ):
        assert float(means[board.rank(counts)]) == pytest.approx(printed, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(("points", "chequers"), [(1, 15), (3, 5), (7, 3), (12, 2)])
def test_slow_twin(points: int, chequers: int) -> None:
    n = board.count(points, chequers)
    means = np.zeros(n)
    for number in range(1, n):
        side = board.unrank(number, points)
        best = [w * min(means[board.rank(a)] for a in race_plays(side, h, l)) for h, l, w in ROLLS]
        means[number] = 1 + sum(best) / 36
    table = mean_rolls(points, chequers)
    assert (table.points, table.chequers) == (points, chequers)
    assert np.abs(np.asarray(table.means) - means).max() < 1e-12
