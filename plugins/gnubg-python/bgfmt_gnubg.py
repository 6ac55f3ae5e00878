"""Bearoff tables inside GNU Backgammon: look up the board, rank the plays, annotate the match.

Put this file anywhere and load it at gnubg's prompt with `load python bgfmt_gnubg.py`, or name it
`gnubg_user.py` where gnubg looks for that. Tables: `>bearoff_use("gnubg_ts.bd")` or the environment variable
BGFMT_DB (files and folders separated by ":"); without either what gnubg has installed, or bgfmt's default tables.
bgfmt must be importable: PYTHONPATH, or the user's site directory.

    >bearoff_lookup()     the current position: equities, cube action, rolls to go
    >bearoff_plays()      the plays of the current roll, or >bearoff_plays("61")
    >bearoff_annotate()   judge the whole match; the comments are saved with the match
"""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import gnubg

if TYPE_CHECKING:
    from bgfmt import Advisor, GameState
    from bgfmt.analysis import CubeAction, RankedPlays
    from bgfmt.extras.matches.annotate import Report

R = TypeVar("R")
SHOWN = 10
_advisers: list[Advisor] = []


def _guarded(function: Callable[..., R]) -> Callable[..., R | None]:
    """An error becomes one line: gnubg would print a traceback and say nothing to the script that called it."""

    @functools.wraps(function)
    def run(*arguments: Any) -> R | None:
        try:
            return function(*arguments)
        except ImportError as error:
            print(f"bearoff: {error}; is bgfmt on PYTHONPATH?")
        except (OSError, ValueError, LookupError) as error:
            print(f"bearoff: {error}")
        return None

    return run


@_guarded
def bearoff_use(*paths: str) -> None:
    """Use these tables from now on: files or folders."""
    from bgfmt import Advisor

    found = Advisor([os.path.expanduser(path) for path in paths] or None)
    while _advisers:
        _advisers.pop().close()
    _advisers.append(found)
    for line in found.library.lines():
        print("bearoff table:", line)


def _adviser() -> Advisor | None:
    if not _advisers:
        bearoff_use()
    return _advisers[0] if _advisers else None


def _state() -> GameState | None:
    """Where gnubg stands, or None when no game is on."""
    from bgfmt import GameState

    try:
        return GameState.parse(f"{gnubg.positionid()}:{gnubg.matchid()}")
    except Exception:
        print("bearoff: no game is being played")
        return None


@_guarded
def bearoff_lookup() -> CubeAction | None:
    """What the tables say about the current position."""
    adviser, state = _adviser(), _state()
    if adviser is None or state is None:
        return None
    from bgfmt.errors import NotCoveredError

    position = state.position
    print(f"bearoff: {position} (on roll first, from the ace point)")
    for name, side in (("on roll", position.us), ("other", position.them)):
        try:
            race = adviser.race(side)
        except NotCoveredError:
            continue
        print(f"  {name}: mean {race.mean_rolls:.4f} rolls, EPC {race.epc:.3f}, wastage {race.wastage:.3f}")
    action = adviser.cube(state)
    if action.match is None:
        values = adviser.equities(state)
        about = " (approximate)" if values.approximate else ""
        print(
            f"  cubeless {values.cubeless:+.5f}, owned {values.owned:+.5f}, "
            f"centered {values.centered:+.5f}, opponent owns {values.opponent:+.5f}{about}"
        )
    else:
        for what, chance in action.match.mwc.as_dict().items():
            if chance is not None:
                print(f"  {what.replace('_', ' ')}: {100 * chance:.3f} % match winning chance")
    print(f"  {action.action}{', approximate' if action.approximate else ''}")
    return action


@_guarded
def bearoff_plays(roll: str | tuple[int, int] | None = None) -> RankedPlays | None:
    """The plays of the current roll, or of another, best first."""
    adviser, state = _adviser(), _state()
    if adviser is None or state is None:
        return None
    from bgfmt.game.moves import parse_roll

    dice = parse_roll(roll) if roll else state.dice
    if dice is None:
        print('bearoff: no dice yet; roll, or say >bearoff_plays("61")')
        return None
    ranked = adviser.plays(state.rolled(dice))
    about = " (approximate)" if ranked.approximate else ""
    print(f"bearoff: {len(ranked.plays)} play(s), {ranked.measure} equity{about}")
    for place, play in enumerate(ranked.plays[:SHOWN], 1):
        print(f"  {place:2d}. {play.notation:<24} {play.value:+.5f}  (-{play.loss:.5f})")
    return ranked


@_guarded
def bearoff_annotate() -> Report | None:
    """Judge every covered decision of the match and comment it; the match in gnubg then holds the comments."""
    adviser = _adviser()
    if adviser is None:
        return None
    from bgfmt.extras.matches.annotate import Judge, Report, annotate_file, text

    with tempfile.TemporaryDirectory() as folder:
        before, after = os.path.join(folder, "before.sgf"), os.path.join(folder, "after.sgf")
        gnubg.command(f'save match "{before}"')
        if not os.path.exists(before):
            print("bearoff: there is no match to annotate")
            return None
        done = annotate_file(before, Judge(adviser.library))
        with open(after, "wb") as out:
            out.write(done.sgf())
        gnubg.command("set confirm new off")  # the same match is loaded back, nothing is lost
        gnubg.command(f'load match "{after}"')
        gnubg.command("set confirm new on")
    report = Report(done.reports)
    print(text.text(report), end="")
    return report
