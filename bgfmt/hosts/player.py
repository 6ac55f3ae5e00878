"""Decides what an outside program asks: plays, doubles, takes, resignations, from the tables where they cover it.

Inside the tables: the first two-sided table that covers both sides (exact numbers first), else a one-sided one,
where each side plays alone. In money the cube is where the question says; in a match the tables' cubeless chances
are used, and the cube is judged by `bgfmt.hosts.match_play`.

Outside the tables, by this rule:

* play, no contact: the play that leaves the fewest mean rolls where a one-sided table knows them, else the most
  chequers off, then the fewest pips outside the home board, then the fewest gaps;
* play, contact: the play with the best of a plain sum: pips ahead, less for our blots by how far they have come and
  how many opposing chequers can reach them, more for chequers of theirs on the bar and for points we hold;
* cube, no contact: the 8-9-12 rule: double at a lead of 8 % of our pips, redouble at 9 %, take up to 12 %;
* cube, contact: never double, take unless behind by more than a third of our pips.

Every answer is legal: plays are chosen among `bgfmt.game.moves.legal_plays` and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bgfmt import lookup
from bgfmt.analysis import approximate, bulk, choose
from bgfmt.analysis.choose import Databases
from bgfmt.analysis.cube import CubeAction, judge_cube
from bgfmt.errors import NotCoveredError
from bgfmt.game.board import Position, Side
from bgfmt.game.moves import Play, legal_plays
from bgfmt.hosts import external, match_play
from bgfmt.hosts.external import Question
from bgfmt.tables import MeanRolls, NormalOneSided, OneSided, Table, TwoSided

SURE_LOSS = -1.0 + 1e-6  # a stored cubeless equity of 0 reads as -1 exactly


class Engine(Protocol):
    """A second engine, asked where no table covers the position: values of results, greater is better for us."""

    def values(self, question: Question, results: Sequence[Position]) -> Sequence[float]:
        """Worth of each position after our play; `us` is the side that has played."""

    def double(self, question: Question) -> tuple[bool, bool]:
        """Whether the player on roll doubles, and whether the other takes."""


@dataclass(frozen=True)
class Decision:
    """An answer and where it came from.

    text : the line to send.
    source : "two-sided", "one-sided", "engine", "rule", "forced" (one choice only).
    value : equity of the choice for the player asked, where a table gave one.
    left : after a play, the side of the player who made it.
    """

    text: str
    source: str
    value: float | None = None
    left: Side | None = None


class Player:
    """Answers questions from one or more databases or tables.

    Parameters
    ----------
    databases
        What `bgfmt.open` gives, or tables.
    resign
        Offer a resignation when a two-sided table says that the game is certainly lost and no gammon can be.
    engine
        Asked for what no table covers; by default the module's own rule.
    """

    def __init__(self, databases: Databases, *, resign: bool = False, engine: Engine | None = None) -> None:
        self.tables: list[Table] = choose.tables_of(databases)
        self.resign, self.engine = resign, engine

    def answer(self, question: Question, *, cube_in_use: bool = True) -> Decision:
        """The answer to any question. Raises PositionError for a position that cannot be."""
        position = question.position
        position.check()
        if question.kind == "resignation":
            return self._resignation(question)
        if question.kind == "play":
            return self._resigning(question) or self.play(question, cube_in_use=cube_in_use)
        if not position.us.chequers or not position.them.chequers:
            return Decision("take" if question.kind == "take" else "roll", "rule")
        if question.kind == "take":
            return self.take(question)
        return self._resigning(question) or self.double(question)

    # -- plays -------------------------------------------------------------------------------------------

    def play(self, question: Question, *, cube_in_use: bool = True) -> Decision:
        """The best play of the roll; an empty text where no chequer can move."""
        plays = self.legal(question)
        if len(plays) < 2:
            return (
                _decision(plays[0], "forced") if plays else Decision("", "forced", None, question.position.us)
            )
        position = question.position
        cube = question.owner
        if question.length or not cube_in_use or not any(question.may_double):
            cube = "cubeless"
        results = [play.result for play in plays]
        if not any(result.contact for result in results):
            judged = self._race(position.them, [r.us for r in results], cube)
            if judged is not None:
                values, source = judged
                equal = np.flatnonzero(values == values.max())  # of equally good plays the tidiest
                best = max(map(int, equal), key=lambda k: _race_score(results[k].us))
                return _decision(plays[best], source, float(values[best]))
        if self.engine is not None:
            worth = self.engine.values(question, results)
            return _decision(plays[int(np.argmax(worth))], "engine")
        if not any(result.contact for result in results):
            scores = self._race_rule([r.us for r in results])
        else:
            scores = [_contact_score(r) for r in results]
        return _decision(plays[scores.index(max(scores))], "rule")

    def legal(self, question: Question) -> list[Play]:
        """The legal plays of a question's roll."""
        if not question.position.us.chequers or not question.position.them.chequers:
            return []
        return legal_plays(question.position, *question.dice)

    def _race(self, them: Side, results: list[Side], cube: str) -> tuple[Any, str] | None:
        """Worth of each result to the side that has played, and from which kind of table."""
        positions = [Position(side, them) for side in results]
        for cubeful in (True, False) if cube != "cubeless" else (False,):
            table = self._two_sided(positions, cubeful)
            if table is not None:
                ours = np.array([s.number(table.points) for s in results], np.int64)
                theirs = np.full(len(ours), them.number(table.points), np.int64)
                equities = np.asarray(lookup.look_up_many(table, theirs, ours), np.float64)
                return bulk.turned(equities, cube if cubeful else "cubeless"), "two-sided"
        sides = [*results, them]
        one = choose.one_sided_for(self.tables, *sides, distributions=True)
        if not isinstance(one, OneSided):
            return None
        counts = np.array([s.padded(one.points) for s in results])
        others = np.array([them.padded(one.points)] * len(results))
        win, won, lost = approximate.twosided_many(one, others, counts).T
        money = 2 * win - 1 + np.nan_to_num(won) - np.nan_to_num(lost)
        if cube == "cubeless":
            values = -money
        else:
            values = bulk.turned(np.stack([money, *approximate.janowski(money)], axis=1), cube)
        off = np.array([not s.chequers for s in results])
        values = np.where(off, 2.0 if them.chequers == approximate.FULL else 1.0, values)
        return values, "one-sided"

    def _two_sided(self, positions: list[Position], cubeful: bool) -> TwoSided | None:
        """The best two-sided table that covers all of these positions."""
        fitting = [
            table
            for table in self.tables
            if isinstance(table, TwoSided)
            and (table.cubeful or not cubeful)
            and lookup.covers(table, positions[0].them) is None
            and all(lookup.covers(table, p.us) is None for p in positions)
        ]
        return min(fitting, key=lambda t: (not t.exact, not t.cubeful), default=None)

    def _race_rule(self, results: list[Side]) -> list[tuple[float, ...]]:
        table = choose.one_sided_for(self.tables, *results)
        if isinstance(table, (OneSided, MeanRolls, NormalOneSided)):
            numbers = np.array([s.number(table.points) for s in results], np.int64)
            return [(-float(mean),) for mean in bulk.side_values(table, numbers, None)]
        return [_race_score(side) for side in results]

    # -- the cube ----------------------------------------------------------------------------------------

    def double(self, question: Question) -> Decision:
        """`double` or `roll`."""
        if not question.may_double[0] or question.crawford:
            return Decision("roll", "rule")
        doubles, _, source, value = self._cube(question)
        return Decision("double" if doubles else "roll", source, value)

    def take(self, question: Question) -> Decision:
        """`take`, `drop`, or `beaver` where the question says that beavers are played."""
        _, takes, source, value = self._cube(question)
        if question.beavers and not question.length and value is not None and value < -1e-9:
            return Decision("beaver", source, -value)
        return Decision("take" if takes else "drop", source, None if value is None else -value)

    def _cube(self, question: Question) -> tuple[bool, bool, str, float | None]:
        """Whether to double and to take, which kind of table says so, and (money) double/take's equity."""
        position = question.position
        if not position.contact:
            if question.length:
                judged = self._match_cube(question)
                if judged is not None:
                    return judged
            else:
                # a take question still names the cube as it lay before the double
                owner = "owned" if question.owner == "owned" else "centered"
                action, source = self._money_cube(position, owner)
                if action is not None:
                    return action.doubles, action.takes, source, action.double_take
        if self.engine is not None:
            return (*self.engine.double(question), "engine", None)
        return (*_cube_rule(question), "rule", None)

    def _money_cube(self, position: Position, owner: str) -> tuple[CubeAction | None, str]:
        table = choose.two_sided_for(self.tables, position, cubeful=True)
        if table is not None:
            return judge_cube(table, owner, position=position), "two-sided"
        cubeless = self._cubeless(position)
        if cubeless is None:
            return None, "rule"
        owned, centered, opponent = (float(x) for x in approximate.janowski(cubeless[0]))
        rolling = owned if owner == "owned" else centered
        return CubeAction(position, owner, rolling, 2 * opponent, approximate=True), cubeless[1]

    def _cubeless(self, position: Position) -> tuple[float, str] | None:
        table = choose.two_sided_for(self.tables, position)
        if table is not None:
            return choose.equities(table, position).cubeless, "two-sided"
        try:
            return approximate.twosided_from_onesided(self.tables, position).cubeless, "one-sided"
        except NotCoveredError:
            return None

    def _match_cube(self, question: Question) -> tuple[bool, bool, str, float | None] | None:
        position = question.position
        table = choose.two_sided_for(self.tables, position)
        if table is not None:
            equities = choose.equities(table, position)
            win, source = (equities.cubeless + 1) / 2, "two-sided"
            life = match_play.life_of(equities)
        else:
            try:
                win = approximate.twosided_from_onesided(self.tables, position).win
            except NotCoveredError:
                return None
            source, life = "one-sided", match_play.USUAL_LIFE
        action = match_play.judge(
            win, question.away, question.cube, question.owner, life, question.post_crawford
        )
        return action.doubles, action.takes, source, None

    # -- resignations ------------------------------------------------------------------------------------

    def _resigning(self, question: Question) -> Decision | None:
        """`resign normal` in a game that a two-sided table gives as certainly lost."""
        position = question.position
        if not self.resign or position.contact or not position.us.chequers or not position.them.chequers:
            return None
        if question.off[0] < 1 or position.us.chequers >= 15:
            return None
        if question.kind == "play":  # the roll is known: some play may still win
            played = self.play(question)
            worth, source = (1.0 if played.value is None else played.value), played.source
        else:
            worth, source = self._cubeless(position) or (1.0, "rule")
        if source != "two-sided" or worth > SURE_LOSS:
            return None
        return Decision("resign normal", "two-sided", -1.0)

    def _resignation(self, question: Question) -> Decision:
        """Accept an offered resignation when playing on could not win more; the player on roll offers it."""
        position, points = question.position, question.resignation
        them = position.them if not question.doubled else position.us
        most = 3 if position.contact else (2 if 15 in (position.us.chequers, them.chequers) else 1)
        if points >= most:
            return Decision("accept", "rule")
        found = None if position.contact else self._cubeless(position)
        if found is None:
            return Decision("reject", "rule")
        worth = -found[0]  # of playing on, for the player who is asked
        return Decision("accept" if points >= worth - 1e-9 else "reject", found[1], worth)


# -- the rule outside the tables ---------------------------------------------------------------------------


def _decision(play: Play, source: str, value: float | None = None) -> Decision:
    text = external.format_play((move.start, move.end) for move in play.moves)
    return Decision(text, source, value, play.result.us)


def _race_score(side: Side) -> tuple[float, ...]:
    outside = sum((point - 6) * n for point, n in enumerate(side.counts, 1) if point > 6) + 19 * side.bar
    gaps = sum(not n for n in side.padded(24)[:6])
    return (-side.chequers, -outside, -gaps)


def _contact_score(result: Position) -> tuple[float, ...]:
    us, them = result.us, result.them
    mine, theirs = us.padded(24) if not us.bar else (*us.counts, *(0,) * (24 - len(us.counts))), them.counts
    score = float(them.pips - us.pips) + 4.0 * them.bar
    for point, chequers in enumerate(mine, 1):
        if chequers == 1:
            # their chequers that have not yet passed this point of ours and stand within reach
            reach = sum(n for p, n in enumerate(theirs, 1) if 0 < p - (25 - point) <= 12) + them.bar
            score -= min(reach, 3) * (25 - point) * 0.35
        elif chequers > 1 and point <= 8:
            score += 2.0
    return (score,)


def _cube_rule(question: Question) -> tuple[bool, bool]:
    us, them = question.position.us.pips, question.position.them.pips
    if question.position.contact:
        return False, 3 * (them - us) <= us + them
    lead = them - us
    need = 0.09 if question.owner == "owned" else 0.08
    doubles = lead >= need * us
    takes = lead <= 0.12 * us
    if question.length and question.away[0] <= question.cube:
        doubles = False  # the cube is worth nothing to us
    if question.length and question.away[1] <= question.cube:
        takes = True  # passing loses the match
    return doubles, takes
