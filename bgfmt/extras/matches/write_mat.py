"""Writes matches as .mat text, the way gnubg and the servers read it."""

from __future__ import annotations

from bgfmt.errors import CapabilityError
from bgfmt.extras.matches import plays
from bgfmt.extras.matches.model import STARTS, Game, Match, Record, ending
from bgfmt.game.board import Position
from bgfmt.game.drawing import printable
from bgfmt.game.moves import BAR, OFF

COLUMN = 33


def write_mat(match: Match) -> str:
    """A match as .mat text.

    Raises
    ------
    CapabilityError where a board, a cube or a turn was set by hand, or a game does not begin as usual: the form has
    no words for that.
    """
    out = [f'; [{key} "{_plain(value)}"]' for key, value in _headers(match) if value]
    out += ["", f" {match.length} point match", ""]
    for game in match.games:
        out += _game(match, game)
    return "\n".join(out).lstrip("\n") + "\n"


def _headers(match: Match) -> list[tuple[str, str]]:
    rules = match.rules
    headers: list[tuple[str, str]] = [
        ("Site", match.place), ("Event", match.event), ("Round", match.round),
        ("Player 1", match.players[0]), ("Player 2", match.players[1]), ("EventDate", match.date),
        ("Variation", "Nackgammon" if rules.variation == "nackgammon" else "Backgammon"),
    ]  # fmt: skip
    for key, value in (("Crawford", rules.crawford), ("Jacoby", rules.jacoby), ("Beaver", rules.beavers)):
        headers.append((key, "" if value is None else "On" if value else "Off"))
    headers.append(("CubeLimit", "" if rules.cube_limit is None else str(rules.cube_limit)))
    return headers


def _plain(text: str) -> str:
    return printable(text, 500).replace('"', "'")


def _game(match: Match, game: Game) -> list[str]:
    names = [f"{_plain(name)} : {score}" for name, score in zip(match.players, game.scores, strict=True)]
    column = max(COLUMN, len(names[0]) + 3)
    out = [f" Game {game.number}", f" {names[0]:<{column - 1}}{names[1]}"]
    rows: list[list[str]] = []
    usual = STARTS[match.rules.variation]
    turned = 0
    for record in game.records:
        if record.kind == "set" or game.start != Position(usual, usual):
            raise CapabilityError(
                f"game {game.number}: a board or cube set by hand cannot be written as .mat"
            )
        turned = turned + 1 if record.kind in ("double", "beaver", "raccoon") else 0
        if record.implied:
            continue
        if record.player == 0 or not rows or rows[-1][1]:
            rows.append(["", ""])
        rows[-1][record.player] = _cell(record, record.cube << turned)
    won = ending(game)
    last = won and (won[0], f" Wins {won[1]} point{'s' * (won[1] != 1)}" if won[1] else " Wins")
    if last is not None and last[0] == 1 and rows and not rows[-1][1]:
        rows[-1][1] = last[1]  # gnubg counts a pass twice where its result has a line of its own
        last = None
    for number, (left, right) in enumerate(rows, 1):
        out.append(f"{number:3d}) {left:<{column - 7}}  {right}".rstrip())
    if last is not None:
        out.append(" " * (5 if last[0] == 0 else column) + last[1])
    return [*out, ""]


def _cell(record: Record, cube: int) -> str:
    if record.kind == "double":
        return f" Doubles => {cube}"
    if record.kind in ("beaver", "raccoon"):
        return f" Beavers => {cube}"
    if record.kind == "take":
        return " Takes"
    if record.kind == "drop":
        return " Drops"
    if record.kind == "resign":
        return f" Losses {record.points} point" if record.points else " Resigns"
    dice = "00" if record.dice is None else f"{record.dice[0]}{record.dice[1]}"
    if record.kind == "unplayed":
        return f"{dice}: ????"
    if record.kind == "dance":
        return f"{dice}: Cannot Move"
    if record.moves:
        return f"{dice}: " + " ".join(
            f"{'bar' if m.start == BAR else m.start}/{'off' if m.end == OFF else m.end}{'*' * m.hit}"
            for m in record.moves
        )
    if record.after == record.position or record.after is None:
        return f"{dice}:"
    mine, theirs = plays.board(record.after.us), plays.board(record.after.them)
    board = [-theirs[BAR], *(mine[p] - theirs[BAR - p] for p in range(1, BAR)), mine[BAR]]
    return f"{dice}: Illegal play (" + ";".join(map(str, [0, 0, 0, *board])) + ")"


__all__ = ["write_mat"]
