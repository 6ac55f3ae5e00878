"""The state of a game: everything that an answer may depend on. Identifiers are converted from and to it.

Players are 0 and 1 (top and bottom in gnubg's drawings), so that an identifier can be written back unchanged;
queries use relative views, the player on roll first: `position`, `owner`, `away`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, Literal

from bgfmt.errors import PositionError
from bgfmt.game import moves
from bgfmt.game.board import Position, Side
from bgfmt.game.notations import notation

__all__ = [
    "LARGEST_CUBE",
    "OVER",
    "OWNERS",
    "START",
    "Dice",
    "Ended",
    "GameState",
    "Kind",
    "Owner",
    "as_state",
    "counts_with_bar",
    "crawford_error",
    "cube_owner",
    "pair_of_dice",
    "parse_away",
    "side_from_counts",
    "sides_from_signed",
    "signed_counts",
]


Kind = Literal["play", "cube", "take", "resignation"]
Ended = Literal["", "over", "resigned", "passed"]
Owner = Literal["centered", "owned", "opponent"]
OWNERS: tuple[Owner, ...] = ("centered", "owned", "opponent")
_WORDS: dict[str, Owner] = {owner: owner for owner in OWNERS} | {"centred": "centered"}
_WORDS |= {"us": "owned", "ours": "owned", "them": "opponent", "theirs": "opponent"}
Dice = tuple[int, int] | str
LARGEST_CUBE = 1 << 20
#: message that there is nothing to decide, by how the game has ended
OVER: dict[Ended, str] = {
    "over": "the game is over",
    "resigned": "the game is over: a player has resigned",
    "passed": "the game is over: the double was passed",
}
START = Side(0, 0, 0, 0, 0, 5, 0, 3, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2)


@dataclass(frozen=True)
class GameState:
    """The state of a game between player 0 and player 1.

    sides : player 0's and player 1's chequers, each from its own ace point.
    turn : the player on roll, or the doubler while a double is pending.
    dice : the two dice as rolled, or None before the roll.
    cube_value : 1, 2, 4, ...; cube_owner : 0, 1, or None if centered. While a double is pending both are those
        before the double.
    doubled : whether a double is pending; resigned : points the player on roll has offered to resign, 0 for none.
    scores : of player 0 and player 1; length : points of the match, 0 for money.
    crawford : whether this is the Crawford game.
    jacoby, beavers : whether these money rules are in use, None if unknown.
    limit : log2 of the largest cube.
    cube_in_use : False if the game is played without a cube.
    chequers : how many a side began with; fewer than 15 in hypergammon.
    names : of player 0 and player 1, from a FIBS line or a match; P0 and P1 if unknown.
    beavered : how often a pending double has been turned back: 1 a beaver, 2 a raccoon.
    ended : how the game has ended, if an identifier says that it has: "over", "resigned", "passed"; else "".
    notes : further content of an identifier, as text, that no field holds; ignored by comparison.
    """

    sides: tuple[Side, Side] = (START, START)
    turn: int = 1
    dice: tuple[int, int] | None = None
    cube_value: Annotated[int, "Value of the cube."] = 1
    cube_owner: int | None = None
    doubled: bool = False
    resigned: int = 0
    scores: tuple[int, int] = (0, 0)
    length: int = 0
    crawford: bool = False
    jacoby: bool | None = None
    beavers: bool | None = None
    limit: int = 10
    cube_in_use: bool = True
    chequers: int = 15
    names: tuple[str, str] = ("P0", "P1")
    beavered: int = 0
    ended: Ended = ""
    notes: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.turn not in (0, 1) or self.cube_owner not in (None, 0, 1):
            raise PositionError(f"turn and cube_owner must be 0 or 1, not {self.turn} and {self.cube_owner}")
        if not 1 <= self.cube_value <= LARGEST_CUBE or self.cube_value & (self.cube_value - 1):
            raise PositionError(f"the cube's value must be 1, 2, 4, ..., not {self.cube_value}")
        if self.dice is not None:
            object.__setattr__(self, "dice", pair_of_dice(self.dice))
        if self.length < 0 or min(self.scores) < 0:
            raise PositionError(
                f"a match to {self.length} points cannot have the score {self.scores[0]} to {self.scores[1]}"
            )

    @classmethod
    def of(
        cls,
        position: Position,
        dice: Dice | None = None,
        *,
        cube: str = "centered",
        cube_value: int = 1,
        away: tuple[int, int] | None = None,
        crawford: bool = False,
        **fields: Any,
    ) -> GameState:
        """Make the state in which the side on roll (player 1) is the first of `position`.

        cube : "centered", "owned" (by the side on roll) or "opponent". away : points that the side on roll and
        the other still need; None for money. fields : further fields of a state, such as `doubled` and
        `jacoby`. PositionError for a score, cube or dice that cannot be.
        """
        length = 0
        scores = (0, 0)
        if away is not None:
            if min(away) < 1:
                raise PositionError(
                    f"both sides must need at least one point to win the match, not {away[0]} and {away[1]}"
                )
            length = max(away)
            scores = (length - away[1], length - away[0])
        if crawford and (away is None or min(away) != 1):
            raise crawford_error(away)
        owner = {"centered": None, "owned": 1, "opponent": 0}[cube_owner(cube)]
        fields |= {"scores": scores, "length": length, "crawford": crawford}
        rolled = None if dice is None else pair_of_dice(dice)
        return cls((position.them, position.us), 1, rolled, cube_value, owner, **fields)

    @classmethod
    def parse(
        cls,
        text: str,
        *,
        away: tuple[int, int] | str | None = None,
        cube: str | None = None,
        dice: Dice | None = None,
        **fields: Any,
    ) -> GameState:
        """Return the state of any identifier, or of the counts of two sides; see `bgfmt.identifiers.parse`.

        Parameters
        ----------
        text
            The identifier, or counts such as "0 1 0 0 1 / 0 1 1", the side on roll first.
        away, cube, dice, fields
            What replaces the identifier's score, cube, dice and other fields, as in `with_options`.
        """
        state: GameState = notation("parse")(text)
        return state.with_options(away=away, cube=cube, dice=dice, **fields)

    @cached_property
    def position(self) -> Position:
        """Both sides, the side on roll first."""
        return Position(self.sides[self.turn], self.sides[1 - self.turn])

    @property
    def owner(self) -> Owner:
        """Cube as seen by the side on roll: `centered`, `owned` or `opponent`."""
        if self.cube_owner is None:
            return "centered"
        return "owned" if self.cube_owner == self.turn else "opponent"

    @property
    def cube_power(self) -> int:
        """Base-2 logarithm of the cube's value: 0 for 1, 3 for 8."""
        return self.cube_value.bit_length() - 1

    @property
    def money(self) -> bool:
        """Whether this is money play, not a match."""
        return not self.length

    @property
    def away(self) -> tuple[int, int] | None:
        """Points that the side on roll and the opponent need.

        They are those still needed to win the match; None for money.
        """
        if not self.length:
            return None
        return self.length - self.scores[self.turn], self.length - self.scores[1 - self.turn]

    @property
    def crawford_game(self) -> bool | None:
        """Whether this is the Crawford game.

        None for money.
        """
        return self.crawford if self.length else None

    @property
    def post_crawford(self) -> bool:
        """Whether the Crawford game is over: a side needs one point, and this is not the Crawford game."""
        return self.length > 1 and not self.crawford and self.length - 1 in self.scores

    @property
    def may_double(self) -> bool:
        """Whether the player on roll has access to the cube, and this is not the Crawford game.

        That a double at this score may gain nothing (a dead cube) is not considered.
        """
        return self.cube_in_use and not self.crawford and self.owner != "opponent"

    @property
    def kind(self) -> Kind:
        """The pending decision: "play" (dice are rolled), "cube", "take" or "resignation" (accept it or not)."""
        if self.resigned:
            return "resignation"
        if self.doubled:
            return "take"
        return "play" if self.dice else "cube"

    @property
    def legal_plays(self) -> list[moves.Play]:
        """All legal plays of the dice, one for each different board after it; empty if no chequer can move.

        PositionError before the roll.
        """
        if self.dice is None:
            raise PositionError('the state has no dice; set them first: state.rolled("61").legal_plays')
        return moves.legal_plays(self.position, *self.dice)

    @property
    def over(self) -> bool:
        """Whether the game has ended: a side has no chequers left, has passed, has resigned, or has won the match."""
        is_match_won = self.length > 0 and max(self.scores) >= self.length
        return bool(self.ended) or is_match_won or not all(side.chequers for side in self.sides)

    def with_options(
        self,
        *,
        away: tuple[int, int] | str | None = None,
        cube: str | None = None,
        dice: Dice | None = None,
        **fields: Any,
    ) -> GameState:
        """Return the same state with another score, cube or dice; an argument of None keeps the state's own.

        Parameters
        ----------
        away
            Points that the side on roll and the other still need, (3, 5) or "3-5"; not the Crawford game.
        cube
            "centered", "owned" (by the side on roll) or "opponent".
        dice
            The roll, (2, 1) or "21".
        fields
            Other fields of a state, such as `cube_value`, `crawford` and `jacoby`.

        Raises
        ------
        PositionError
            A score, cube or dice that cannot be, or a Crawford game in which neither side needs one point.
        """
        changes: dict[str, Any] = {}
        if cube is not None:
            owners = {"centered": None, "owned": self.turn, "opponent": 1 - self.turn}
            changes["cube_owner"] = owners[cube_owner(cube)]
        if away is not None:
            mine, other = parse_away(away) if isinstance(away, str) else away
            if min(mine, other) < 1:
                raise PositionError(
                    f"both sides must need at least one point to win the match, not {mine}-{other}"
                )
            length = max(mine, other)
            scores = (length - other, length - mine)[:: 1 if self.turn else -1]
            changes |= {"length": length, "scores": scores, "crawford": False}
        if dice is not None:
            changes["dice"] = pair_of_dice(dice)
        state = replace(self, **changes | fields)
        if state.crawford and (state.away is None or 1 not in state.away):
            raise crawford_error(state.away)
        return state

    def after(self, play: Any) -> GameState:
        """Return the state after a play: the other side on roll, no dice.

        play : one of `legal_plays` or of `Advisor.plays`; it has a `result`, the position after it with the side that
        has played first.

        PositionError for anything else, such as the notation of a play.
        """
        result = getattr(play, "result", None)
        if not isinstance(result, Position):
            raise PositionError(f"expected a play of legal_plays or Advisor.plays, not {play!r}")
        sides = (result.us, result.them) if self.turn == 0 else (result.them, result.us)
        turned = replace(self, sides=sides, turn=1 - self.turn, dice=None, doubled=False, beavered=0)
        return replace(turned, resigned=0)

    def noted(self, *notes: str) -> GameState:
        """Return the same state with notes added: sentences about what no field of a state can hold."""
        return replace(self, notes=(*self.notes, *notes)) if notes else self

    def before_roll(self) -> GameState:
        """Return the same state without dice and without a pending double or resignation, as for a cube decision."""
        return replace(self, dice=None, doubled=False, resigned=0, beavered=0)

    def rolled(self, dice: Dice) -> GameState:
        """Return the same state with these dice, given as (2, 1) or "21", and no pending double or resignation."""
        return replace(self, dice=pair_of_dice(dice), doubled=False, resigned=0, beavered=0)

    def _repr_svg_(self) -> str:
        value: str = notation("picture")(self)
        return value

    @property
    def gnubg_id(self) -> str:
        """gnubg's Position ID and Match ID joined by a colon."""
        value: str = notation("gnubg_id")(self)
        return value

    @property
    def xgid(self) -> str:
        """eXtreme Gammon's identifier (XGID)."""
        value: str = notation("xgid")(self)
        return value


def as_state(position: GameState | Position | str) -> GameState:
    """Convert to a state: a position becomes money play with a centered cube and player 1 on roll; text is parsed.

    PositionError for text without a position and for other types.
    """
    if isinstance(position, str):
        return GameState.parse(position)
    if isinstance(position, Position):
        return GameState.of(position)
    if not isinstance(position, GameState):
        raise PositionError(f"expected a GameState, Position or text, not {type(position).__name__}")
    return position


def crawford_error(away: tuple[int, int] | None) -> PositionError:
    """Return the error for a Crawford game at a score, None for money, at which there is none."""
    if away is None:
        return PositionError("the Crawford game needs a match score")
    return PositionError(f"the Crawford game needs a side that is 1-away, not {away[0]}-{away[1]}")


def pair_of_dice(dice: Dice) -> tuple[int, int]:
    """Return two dice in the order given, of a pair or of "21", "2-1", "2 1", "2,1"; PositionError for others."""
    try:
        numbers = [int(die) for die in (re.sub(r"[-, /]", "", dice) if isinstance(dice, str) else dice)]
    except (TypeError, ValueError):
        numbers = []
    if len(numbers) != 2:
        raise PositionError(f"a roll must be two dice, such as 61 or (6, 1), not {dice!r:.40}")
    if not all(1 <= die <= 6 for die in numbers):
        raise PositionError(f"dice must be from 1 to 6, not {numbers[0]} and {numbers[1]}")
    return numbers[0], numbers[1]


def parse_away(text: str) -> tuple[int, int]:
    """Parse a match score such as "5-9": the points that the side on roll and the other side need.

    PositionError for other text.
    """
    match = re.fullmatch(r"(\d{1,4})(?:\s*+[-,:]\s*+|\s++)(\d{1,4})", text.strip())
    if not match:
        raise PositionError(
            f"a score must be the points that both sides need, the side on roll first, such as 5-9, not {text[:20]!r}"
        )
    return int(match[1]), int(match[2])


def cube_owner(name: str) -> Owner:
    """Return the canonical name "centered", "owned" or "opponent" for an accepted word for the cube's owner.

    PositionError for other words.
    """
    owner = _WORDS.get(name)
    if owner is None:
        raise PositionError(f"the cube must be centered, owned or opponent, not {name!r}")
    return owner


def counts_with_bar(side: Side) -> tuple[int, ...]:
    """Return the 25 numbers of chequers of a side: on points 1 to 24, then on the bar."""
    return side.padded(25)


def side_from_counts(counts: list[int] | tuple[int, ...]) -> Side:
    """Make a side from 25 numbers of chequers: on points 1 to 24, then on the bar."""
    return Side(*counts[:24], bar=counts[24])


def signed_counts(state: GameState) -> list[int]:
    """Return 26 counts as player 1 sees them: player 0's bar, points 1 to 24, player 1's bar.

    Chequers of player 0 are negative numbers.
    """
    zero, one = (counts_with_bar(side) for side in state.sides)
    return [-zero[24], *(one[p] - zero[23 - p] for p in range(24)), one[24]]


def sides_from_signed(signed: list[int], name: str) -> tuple[Side, Side]:
    """Convert 26 numbers as `signed_counts` returns them to player 0's and player 1's sides.

    name : what messages call the numbers. PositionError if a player has a chequer on the other's bar.
    """
    if signed[0] > 0 or signed[25] < 0:
        raise PositionError(f"{name}: a chequer is on the other player's bar")
    zero = side_from_counts([max(0, -count) for count in signed[24::-1]])
    one = side_from_counts([max(0, count) for count in signed[1:]])
    return zero, one
