"""Bearoff tables inside GNU Backgammon: look up the board, rank the plays, annotate the match.

Put this file anywhere and load it at gnubg's prompt with `load python bgfmt_gnubg.py`, or name it
`gnubg_user.py` where gnubg looks for that. Tables: `>bearoff_use("gnubg_ts.bd")` or the environment variable
BGFMT_DB (several files separated by ":"). bgfmt must be importable: PYTHONPATH, or the user's site directory.

    >bearoff_lookup()     the current position: equities, cube action, rolls to go
    >bearoff_plays()      the plays of the current roll, or >bearoff_plays("61")
    >bearoff_annotate()   judge the whole match; the comments are saved with the match
"""

import os
import tempfile

import gnubg

_databases = []
SHOWN = 10


def _guarded(function):
    """An error becomes one line: gnubg would print a traceback and say nothing to whoever called it."""

    def run(*arguments):
        try:
            return function(*arguments)
        except ImportError as error:
            print(f"bearoff: {error}; is bgfmt on PYTHONPATH?")
        except (OSError, ValueError, LookupError) as error:
            print(f"bearoff: {error}")
        return None

    run.__doc__, run.__name__ = function.__doc__, function.__name__
    return run


@_guarded
def bearoff_use(*paths):
    """Use these tables from now on."""
    import bgfmt

    opened = [bgfmt.open(os.path.expanduser(path)) for path in paths]
    while _databases:
        _databases.pop().close()
    _databases.extend(opened)
    for one in opened:
        print("bearoff table:", one)


def _tables():
    if not _databases:
        named = [path for path in os.environ.get("BGFMT_DB", "").split(os.pathsep) if path]
        if not named:
            print('bearoff: no table yet; say >bearoff_use("FILE.bd") or set BGFMT_DB')
            return []
        bearoff_use(*named)
    return _databases


def _state():
    """Where gnubg stands, or None when no game is on."""
    from bgfmt.game.identifiers import parse

    try:
        return parse(f"{gnubg.positionid()}:{gnubg.matchid()}")
    except Exception:
        print("bearoff: no game is being played")
        return None


def _cube(state):
    return "centered" if state.owner is None else "owned" if state.owner == state.turn else "opponent"


@_guarded
def bearoff_lookup():
    """What the tables say about the current position."""
    tables, state = _tables(), _state()
    if not tables or state is None:
        return None
    from bgfmt.analysis import equities, judge_cube
    from bgfmt.errors import NotCoveredError

    print(f"bearoff: {state.position} (on roll first, from the ace point)")
    for one in tables:
        for name, side in (("on roll", state.position.us), ("other", state.position.them)):
            try:
                race = one.lookup(side)
            except (NotCoveredError, ValueError):
                continue
            print(f"  {name}: mean {race.mean:.4f} rolls, EPC {race.epc:.3f}, wastage {race.wastage:.3f}")
    try:
        values = equities(tables, state.position)
        if values.centered is None:
            print(f"  cubeless {values.cubeless:+.5f}")
        else:
            print(
                f"  cubeless {values.cubeless:+.5f}, owned {values.owned:+.5f}, "
                f"centered {values.centered:+.5f}, opponent owns {values.opponent:+.5f}"
            )
    except NotCoveredError:
        pass
    action = judge_cube(tables, _cube(state), position=state.position)
    about = ", approximate" if action.approximate else ""
    money = " (money; the score is not looked at)" if state.length else ""
    print(f"  {action.action}{about}{money}")
    return action


@_guarded
def bearoff_plays(roll=None):
    """The plays of the current roll, or of another, best first."""
    tables, state = _tables(), _state()
    if not tables or state is None:
        return None
    from bgfmt.analysis import rank_plays

    dice = roll or state.dice
    if dice is None:
        print('bearoff: no dice yet; roll, or say >bearoff_plays("61")')
        return None
    ranked = rank_plays(tables, state.position, dice, cube=_cube(state))
    about = " (approximate)" if ranked[0].approximate else ""
    print(f"bearoff: {len(ranked)} play(s), money equity{about}")
    for place, play in enumerate(ranked[:SHOWN], 1):
        print(f"  {place:2d}. {play.notation:<24} {play.value:+.5f}  (-{play.loss:.5f})")
    return ranked


@_guarded
def bearoff_annotate():
    """Judge every covered decision of the match and comment it; the match in gnubg then holds the comments."""
    tables = _tables()
    if not tables:
        return None
    from bgfmt.hosts.annotate import judge_match, read_match

    with tempfile.TemporaryDirectory() as folder:
        before, after = os.path.join(folder, "before.sgf"), os.path.join(folder, "after.sgf")
        gnubg.command(f'save match "{before}"')
        if not os.path.exists(before):
            print("bearoff: there is no match to annotate")
            return None
        file = read_match(before)
        report = judge_match(file.match, tables)
        with open(after, "wb") as out:
            out.write(file.annotated(report))
        gnubg.command("set confirm new off")  # the same match is loaded back, nothing is lost
        gnubg.command(f'load match "{after}"')
        gnubg.command("set confirm new on")
    print(report.text(), end="")
    return report
