"""Match equity tables that gnubg calculates from parameters: types `zadeh` and `mec` of its XML.

What gnubg 1.07 does, found by changing the parameters and reading its `show met`:

* Before the Crawford game is over both types get the normal formula by which gnubg extends any table, at all scores
  to 64-away; their parameters for these scores change nothing.
* After it the trailer doubles at once. `free-drop-2-away` is subtracted at 2-away in both types. At 4-away type
  `zadeh` subtracts `free-drop-4-away` and goes on from the changed values, type `mec` adds it and goes on from the
  unchanged ones.
* `player="both"` sets player 0 alone. Player 1 keeps the usual parameters, those of `USUAL`.
"""

from __future__ import annotations

from collections.abc import Mapping

from bgfmt.met.model import MAX_AWAY, Row, normal_probability

TYPES = ("zadeh", "mec")
GAMMON_RATES = {"zadeh": "gammon-rate-trailer", "mec": "gammon-rate"}
WIN_RATE = 0.5
USUAL_GAMMON_RATE = 0.25
USUAL = {"free-drop-2-away": 0.015, "free-drop-4-away": 0.004, "win-rate": WIN_RATE}


def pre_crawford() -> list[Row]:
    """Return player 0's win probabilities before the Crawford game is over, by the normal approximation.

    64 rows, by the points that he needs, of 64 numbers, by those that the opponent needs.
    """
    away = range(1, MAX_AWAY + 1)
    return [tuple(normal_probability(mine, other) for other in away) for mine in away]


def post_crawford(kind: str, given: Mapping[str, float]) -> Row:
    """Return the trailer's probabilities of winning the match, 1-away to 64-away, after the Crawford game.

    kind : gnubg's formula, "zadeh" or "mec". given : parameters of the formula by their names in gnubg's XML;
    those that are missing have gnubg's defaults.
    """
    gammons = given.get(GAMMON_RATES[kind], USUAL_GAMMON_RATE)
    drop_at_2 = given.get("free-drop-2-away", USUAL["free-drop-2-away"])
    drop_at_4 = given.get("free-drop-4-away", USUAL["free-drop-4-away"])
    changes = {2: -drop_at_2, 4: -drop_at_4 if kind == "zadeh" else drop_at_4}
    goes_on = [0.0, WIN_RATE, WIN_RATE]  # by points to go, from 0
    row = [WIN_RATE, WIN_RATE + changes[2]]
    if kind == "zadeh":
        goes_on[2] = row[1]
    for away in range(3, MAX_AWAY + 1):
        after_gammon = 1.0 if away <= 4 else goes_on[away - 4]
        value = WIN_RATE * ((1 - gammons) * goes_on[away - 2] + gammons * after_gammon)
        changed = value + changes.get(away, 0.0)
        row.append(changed)
        goes_on.append(changed if kind == "zadeh" else value)
    return tuple(row)
