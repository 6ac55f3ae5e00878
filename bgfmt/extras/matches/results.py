"""Whether what a match says of its results agrees with its boards, its cubes and its scores."""

from __future__ import annotations

from dataclasses import replace

from bgfmt.extras.matches.model import Game, Match

Outcome = tuple[int, tuple[int, ...]]  # the winner, and the points that may be meant


def outcome(game: Game, jacoby: bool | None = False) -> Outcome | None:
    """Who won by the records, and what: after the last chequer borne off, a pass, or a resignation of so many points.

    jacoby : False where gammons count even while nobody has doubled; else either is right.
    """
    last = game.records[-1] if game.records else None
    if last is None:
        return None
    if last.kind == "resign":
        return (1 - last.player, (last.points,)) if last.points else None
    if last.kind == "drop":
        offers = 0
        for record in reversed(game.records[:-1]):
            if record.kind not in ("double", "beaver", "raccoon"):
                break
            offers += 1
        return 1 - last.player, (last.cube << max(0, offers - 1),)
    if last.kind == "play" and last.after is not None and not last.after.us.chequers:
        loser = last.after.them
        factor = 1 if loser.chequers < 15 else 2 if loser.highest <= 18 else 3
        turned = last.owner is not None or last.cube > 1
        # gnubg writes Jacoby for any money session it imports, so its being named proves nothing
        return last.player, (last.cube * factor,) if turned or jacoby is False else (
            last.cube,
            last.cube * factor,
        )
    return None


def checked(match: Match) -> Match:
    """The match with a problem named wherever result lines, scores and records disagree.

    A last game may say more or less than its board where the match was over with it.
    """
    jacoby = match.rules.jacoby if not match.length else False
    games = []
    for k, game in enumerate(match.games):
        after = match.games[k + 1] if k + 1 < len(match.games) else None
        games.append(replace(game, problems=game.problems + tuple(_said(match, game, after, jacoby))))
    return replace(match, games=tuple(games))


def _said(match: Match, game: Game, following: Game | None, jacoby: bool | None) -> list[str]:
    out = []
    found, said = outcome(game, jacoby), game.result
    if found is not None and said is not None and said.winner >= 0:
        winner, points = found
        need = match.length - game.scores[winner] if match.length else 0
        # a last game is written down capped at the length, or in full, or, where Jacoby held, without its gammon
        cube = game.records[-1].cube
        capped = following is None and (0 < need <= max(*points, said.points) or said.points == cube)
        if said.winner != winner or (said.points and said.points not in points and not capped):
            ours = " or ".join(map(str, points))
            out.append(
                f"game {game.number}: the file says that player {said.winner + 1} wins {said.points}, "
                f"its records that player {winner + 1} wins {ours}"
            )
    if following is not None and following.number == game.number + 1 and found is not None:
        winner, points = found
        scores = list(game.scores)
        gained = following.scores[winner] - scores[winner]
        if gained not in points or following.scores[1 - winner] != scores[1 - winner]:
            out.append(
                f"game {game.number}: the score after it is {following.scores[0]}-{following.scores[1]}, "
                f"though player {winner + 1} won {' or '.join(map(str, points))} from {scores[0]}-{scores[1]}"
            )
    return out


__all__ = ["checked", "outcome"]
