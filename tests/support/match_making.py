"""Makes matches with planted errors, and says what each covered decision should be found to cost.

Money prices are worked out here from a two-sided table's four numbers alone; those at a score come from whole tables
of the score (`bgfmt.solver.match`), other code than what judges matches.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from bgfmt import met
from bgfmt.analysis.at_score import answer_from_table
from bgfmt.extras.matches.model import START
from bgfmt.game.board import Position, Side
from bgfmt.game.identifiers import position_id
from bgfmt.game.moves import BAR, OFF, Play, legal_plays
from bgfmt.met.score import Score
from bgfmt.solver.match import match_score

Expected = tuple[int, int, str, str, float]  # game, player, kind, Position ID, equity lost


@dataclass(frozen=True)
class Now:
    """The cube as the player on roll sees it, and the score."""

    cube: int
    lies: str
    away: tuple[int, int] | None
    crawford: bool


class MoneyPrices:
    """Losses from a two-sided table."""

    def __init__(self, table: Any, *, beavers: bool = True) -> None:
        self.table = table
        self.beavers = beavers
        self.points, self.chequers = table.points, table.chequers

    def equities(self, position: Position) -> list[float]:
        us, them = (s.number(self.points) for s in (position.us, position.them))
        return [float(x) / 32767.5 - 1 for x in self.table.equities[us, them]]

    def cube(self, position: Position, now: Now) -> dict[str, float]:
        _, owned, centered, opponent = self.equities(position)
        rolling = owned if now.lies == "owned" else centered
        taken = 2 * opponent
        doubled = min(1.0, taken, 2 * taken if self.beavers else taken)
        best = max(rolling, doubled)
        return {
            "double": best - doubled,
            "no double": best - rolling,
            "take": taken - doubled,
            "pass": 1 - doubled,
        }

    def plays(self, position: Position, dice: tuple[int, int], plays: list[Play], now: Now) -> list[float]:
        worth = [self.worth(play.result, now.lies) for play in plays]
        return [max(worth) - value for value in worth]

    def worth(self, result: Position, lies: str) -> float:
        """To the player who has just come to `result`, his side first."""
        if not result.us.chequers:
            return 1.0
        _, owned, centered, opponent = self.equities(result.swapped())
        if lies == "owned":
            return -opponent
        rolling = centered if lies == "centered" else owned
        return -max(rolling, min(1.0, 2 * opponent))


@cache
def table_at(points: int, chequers: int, away: tuple[int, int]) -> Any:
    """The table of a score, made once for all matches."""
    return match_score(points, chequers, away, met.load())


class MatchPrices:
    """Losses in EMG from tables of the scores, made when they come up."""

    def __init__(self, points: int = 6, chequers: int = 3) -> None:
        self.points, self.chequers = points, chequers

    def score(self, now: Now) -> tuple[Any, Score]:
        assert now.away is not None
        cube = (1, "centered") if now.crawford else (now.cube, now.lies)
        score = Score(now.away, met.load(), now.crawford, *cube)
        low, high = sorted(now.away)
        return table_at(self.points, self.chequers, (low, high)), score

    def cube(self, position: Position, now: Now) -> dict[str, float]:
        table, score = self.score(now)
        decided = answer_from_table(table, position, score).cube
        assert decided.losses is not None
        return {
            name.replace("_", " "): decided.score.emg_loss(loss)
            for name, loss in decided.losses.as_dict().items()
        }

    def plays(self, position: Position, dice: tuple[int, int], plays: list[Play], now: Now) -> list[float]:
        table, score = self.score(now)
        answer = answer_from_table(table, position, score)
        found = answer.plays(*dice)
        best = max(found.values())
        return [score.emg_loss(best - found[play.result.us]) for play in plays]


@dataclass
class Maker:
    """Plays games by chance: sensible while there is contact, carelessly in the bearoff."""

    prices: Any
    seed: int = 1
    length: int = 0
    expected: list[Expected] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    def covered(self, position: Position) -> bool:
        sides = (position.us, position.them)
        few = all(0 < s.chequers <= self.prices.chequers and s.highest <= self.prices.points for s in sides)
        return few and not position.contact

    # -- one game ----------------------------------------------------------------------------------------

    def game(self, number: int, scores: tuple[int, int] = (0, 0)) -> tuple[list[tuple[int, str]], int, int]:
        """(player, cell) of each action, the winner, and the points."""
        sides, cube, owner = [START, START], 1, None
        actions: list[tuple[int, str]] = []
        player, first = self.random.randrange(2), True
        crawford = bool(self.length) and self.length - 1 in scores
        while True:
            position = Position(sides[player], sides[1 - player])
            lies = "centered" if owner is None else "owned" if owner == player else "opponent"
            away = (self.length - scores[player], self.length - scores[1 - player]) if self.length else None
            now = Now(cube, lies, away, crawford)
            access = not first and lies != "opponent" and not crawford and cube < 64
            if away:
                access = access and away[0] > cube
            if access and self.covered(position):
                price = self.prices.cube(position, now)
                where = position_id(position)
                if self.random.random() < 0.3:
                    self.expected.append((number, player, "double", where, price["double"]))
                    actions.append((player, f" Doubles => {2 * cube}"))
                    takes = self.random.random() < 0.6
                    lost = price["take" if takes else "pass"]
                    self.expected.append((number, 1 - player, "take" if takes else "pass", where, lost))
                    actions.append((1 - player, " Takes" if takes else " Drops"))
                    if not takes:
                        return actions, player, cube
                    cube, owner, lies = 2 * cube, 1 - player, "opponent"
                    now = Now(cube, lies, away, crawford)
                else:
                    self.expected.append((number, player, "no double", where, price["no double"]))
            dice = (self.random.randint(1, 6), self.random.randint(1, 6))
            while first and dice[0] == dice[1]:
                dice = (self.random.randint(1, 6), self.random.randint(1, 6))
            first = False
            plays = legal_plays(position, *dice)
            if plays:
                play = self.choose(position, plays)
                if self.covered(position):
                    lost = self.prices.plays(position, dice, plays, now)[plays.index(play)]
                    self.expected.append((number, player, "play", position_id(position), lost))
                sides[player], sides[1 - player] = play.result.us, play.result.them
                cell = " ".join(
                    f"{m.start}/{'off' if m.end == OFF else m.end}{'*' * m.hit}" for m in play.moves
                ).replace("off", "0")
            else:
                cell = ""
            actions.append((player, f"{dice[0]}{dice[1]}: {cell}"))
            if not sides[player].chequers:
                loser = sides[1 - player]
                gammon = 1 + (loser.chequers == 15)
                return actions, player, cube * gammon
            player = 1 - player

    def choose(self, position: Position, plays: list[Play]) -> Play:
        if self.covered(position):
            return self.random.choice(plays)
        return max(plays, key=lambda p: (-_exposed(p.result), p.result.them.bar, -_spread(p.result.us)))

    # -- text --------------------------------------------------------------------------------------------

    def mat(self, games: int) -> str:
        """A .mat text of `games` games, or until the match is won."""
        out = ['; [EventDate "2026.11.21"]']
        if not getattr(self.prices, "beavers", True):
            out.append('; [Beaver "Off"]')
        out += ["", f" {self.length} point match", ""]
        scores = [0, 0]
        crawford_seen = False
        for number in range(games):
            at_stake = self.length - 1 in scores if self.length else False
            if at_stake and crawford_seen:
                break  # one Crawford game is enough
            crawford_seen = crawford_seen or at_stake
            actions, winner, points = self.game(number, (scores[0], scores[1]))
            out += [f" Game {number + 1}", f" Ann : {scores[0]}                        Bob : {scores[1]}"]
            cells: list[list[str]] = []
            for player, cell in actions:
                if player == 0 or not cells or cells[-1][1]:
                    cells.append(["", ""])
                cells[-1][player] = cell
            for k, (left, right) in enumerate(cells, 1):
                out.append(f"{k:3d}) {left:<27} {right}".rstrip())
            out += [" " * (6 if winner == 0 else 34) + f"Wins {points} point{'s' * (points > 1)}", ""]
            scores[winner] += points
            if self.length and scores[winner] >= self.length:
                break
        return "\n".join(out) + "\n"


def _exposed(position: Position) -> int:
    side, other = position.us, position.them.highest
    return sum(c == 1 and 25 - p < other for p, c in enumerate(side.counts, 1))


def _spread(side: Side) -> int:
    return max(side.counts.__len__(), BAR if side.bar else 0) + side.pips // 40
