"""The expected walk of a match, as expected.jsonl has it, and where ours differs.

An action there is [kind, player, dice, Position ID], with cube and owner where the form has them. A dance is a
"roll", a beaver a "double"; a take that nobody wrote has no Position ID, and in all forms but .xg that of a take or a
pass is seen by who answers. A roll that was not played may be there as a "roll", or be left out.
"""

from __future__ import annotations

from typing import Any

from bgfmt.extras.matches import Match
from bgfmt.game.identifiers import position_id

HOW = {"pass": 0, "single": 1, "gammon": 2, "backgammon": 3, "match": 4}
KINDS = {"play": "roll", "dance": "roll", "beaver": "double", "raccoon": "double"}


def describe_walk(match: Match, *, answerer: bool, resigns: bool) -> list[dict[str, Any]]:
    """Return our walk in the form of expected.jsonl, without what that form leaves out."""
    games = []
    for game in match.games:
        actions: list[list[Any]] = []
        for r in game.records:
            kind = KINDS.get(r.kind, r.kind)
            if kind == "set" or (kind == "resign" and not resigns):
                continue
            if kind == "unplayed" and r.dice is None:
                continue
            dice = None if r.dice is None else "".join(map(str, sorted(r.dice, reverse=True)))
            swap = answerer and kind in ("take", "drop")
            where = position_id(r.position.swapped() if swap else r.position)
            actions.append([kind, r.player, dice, where, r.cube, r.owner])
        result = None
        if game.result is not None and game.result.how:
            how = HOW[game.result.how] + 100 * game.result.resigned
            result = [game.result.winner, game.result.points, how]
        games.append(
            {"scores": list(game.scores), "crawford": game.crawford, "result": result, "actions": actions}
        )
    return games


def differences(match: Match, row: dict[str, Any]) -> list[str]:
    """In words, what our walk of a match has otherwise than the expected one."""
    out = []
    # gnubg, which made the expected walks of text, takes "NAME : 1" without a second name for one called ": 1"
    players = ["" if player.startswith(": ") else player for player in row["players"]]
    if list(match.players) != players:
        out.append(f"players {match.players} for {row['players']}")
    if match.length != row["length"]:
        out.append(f"length {match.length} for {row['length']}")
    name = row["name"]
    ours = describe_walk(
        match, answerer=not name.endswith(".xg"), resigns=name.endswith((".bgf", ".gvab", ".ogxm"))
    )
    if len(ours) != len(row["games"]):
        out.append(f"{len(ours)} games for {len(row['games'])}")
    for number, (one, other) in enumerate(zip(ours, row["games"], strict=False), 1):
        if not other["agreed"]:
            continue
        for key in ("scores", "crawford", "result"):
            if key in other and one[key] != other[key]:
                out.append(f"game {number}: {key} {one[key]} for {other[key]}")
        for k in range(max(len(one["actions"]), len(other["actions"]))):
            mine = one["actions"][k] if k < len(one["actions"]) else None
            theirs = other["actions"][k] if k < len(other["actions"]) else None
            if mine is not None and mine[0] == "unplayed" and theirs is None:
                continue
            if mine is not None and theirs is not None:
                if mine[0] == "unplayed" and theirs[0] == "roll":
                    mine[0] = "roll"
                mine = mine[: len(theirs)]
                if theirs[2] is not None:
                    theirs = [*theirs[:2], "".join(sorted(theirs[2], reverse=True)), *theirs[3:]]
                if theirs[3] is None:
                    mine[3] = None
            if mine != theirs:
                out.append(f"game {number}, action {k + 1}: {mine} for {theirs}")
                break
    return out
