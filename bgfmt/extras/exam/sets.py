"""Sets of questions, each with what every answer to it is worth, so that an exam needs no table.

A set is an npz file: `ARRAYS`, and a text `facts` with its name, its purpose, its licence, where the numbers come
from and the SHA-256 of all of that. Worths are in points of a cube at 1, at a score chances to win the match.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bgfmt import storage
from bgfmt.errors import FormatError
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.game.state import GameState

Array = NDArray[Any]
KINDS = ("play", "double", "take", "equity")
PLAY, DOUBLE, TAKE, EQUITY = range(4)
OWNERS = ("centered", "owned", "opponent", "none")
#: what an engine may take a cube decision for, in the order of `Exam.mistaken`
MISTAKES = ("sides exchanged", "score exchanged", "sides and score exchanged", "score ignored")
VERSION = 1
#: name -> kind of number, length of an entry (0 one number, -1 the points)
ARRAYS = {
    "kind": ("u1", 0), "us": ("i1", -1), "them": ("i1", -1), "dice": ("u1", 2), "cube": ("i4", 0), "owner": ("u1", 0),
    "away": ("u1", 2), "crawford": ("u1", 0), "beavers": ("u1", 0), "stratum": ("u1", 0), "weight": ("f8", 0),
    "error": ("f8", 0), "ends": ("f8", 2), "mistaken": ("f4", 12),
}  # fmt: skip


class Question:
    """One question to an engine, the side on roll first.

    kind : "play", "double" (before the roll), "take" (the side on roll has doubled, the other is asked) or "equity".
    us, them : chequers on points 1, 2, .... dice : of a play, else None. owner : where the cube lies, "centered",
    "owned", "opponent", or "none" where the game is played without it. away : None for money.
    """

    __slots__ = (
        "away",
        "beavers",
        "crawford",
        "cube",
        "dice",
        "exam",
        "kind",
        "number",
        "owner",
        "them",
        "us",
    )

    def __init__(self, exam: Exam, number: int, kind: str, us: Any, them: Any, facts: Any) -> None:
        self.exam, self.number, self.kind = exam, number, kind
        self.us: tuple[int, ...] = us
        self.them: tuple[int, ...] = them
        dice, self.cube, owner, away, crawford, beavers = facts
        self.dice: tuple[int, int] | None = dice if dice[0] else None
        self.owner: str = OWNERS[owner]
        self.away: tuple[int, int] | None = away if away[0] else None
        self.crawford, self.beavers = bool(crawford), bool(beavers)

    @property
    def position(self) -> Position:
        """Both sides."""
        return Position(Side(*self.us), Side(*self.them))

    @property
    def state(self) -> GameState:
        """The same as a state; of a take the side on roll is the doubler."""
        owner = "centered" if self.owner == "none" else self.owner
        return GameState.of(
            self.position, self.dice, cube=owner, cube_value=self.cube, away=self.away, crawford=self.crawford,
            doubled=self.kind == "take", jacoby=None if self.away else False,
            beavers=None if self.away else self.beavers, cube_in_use=self.owner != "none",
        )  # fmt: skip

    @property
    def plays(self) -> list[tuple[int, ...]]:
        """The chequers of the side on roll after each legal play."""
        exam = self.exam
        part = slice(exam.starts[self.number], exam.starts[self.number + 1])
        return list(map(tuple, exam.boards[part].tolist()))

    def __str__(self) -> str:
        """The line that `bgfmt exam --ask` writes, docs/exam.md."""
        roll = "".join(map(str, self.dice or (0, 0)))
        score = "money" if self.away is None else f"{self.away[0]}-{self.away[1]}" + "c" * self.crawford
        sides = (" ".join(map(str, side)) for side in (self.us, self.them))
        return f"{self.kind} {roll} {self.owner} {self.cube} {score} {' / '.join(sides)}"


@dataclass(frozen=True, eq=False)
class Exam:
    """N questions on sides of at most `points` points.

    kind (N,) : place in `KINDS`. us, them (N, points) chequers. dice (N, 2), 0 where none. cube (N,). owner (N,)
    place in `OWNERS`. away (N, 2), 0 for money. stratum (N,) place in `strata`. weight (N,) how often it comes up.
    error (N,) : no worth is farther from the truth. ends (N, 2) : the chances to win the match after losing and after
    winning the cube at hand, 0 for money. mistaken (N, 12) : of doubles and takes the first three numbers that each
    of `MISTAKES` would give, not a number where not known.
    starts (N + 1,) : where the worths of each begin. worths : of a play, of each of `results` (position numbers) to
    the side that plays; of a double or a take, to the side on roll, of rolling on, of a double that is taken, passed,
    beavered (not a number where there is no beaver); of an equity that itself and the chance to win the game.
    """

    name: str
    purpose: str
    licence: str
    origin: str
    points: int
    strata: tuple[str, ...]
    kind: Array
    us: Array
    them: Array
    dice: Array
    cube: Array
    owner: Array
    away: Array
    crawford: Array
    beavers: Array
    stratum: Array
    weight: Array
    error: Array
    ends: Array
    mistaken: Array
    starts: Array
    results: Array
    worths: Array
    met: str = ""
    TEXTS: ClassVar[tuple[str, ...]] = ("name", "purpose", "licence", "origin", "met")
    version: int = field(default=VERSION, init=False)

    def __len__(self) -> int:
        return len(self.kind)

    @cached_property
    def boards(self) -> Array:
        """(plays, points) int8: `results` as chequers."""
        return board.unrank_array(self.results, self.points)

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of all that the set says."""
        sums = hashlib.sha256(json.dumps(self._told(), sort_keys=True).encode())
        for name in (*ARRAYS, "starts", "results", "worths"):
            sums.update(np.ascontiguousarray(getattr(self, name)).tobytes())
        return sums.hexdigest()

    def _told(self) -> dict[str, Any]:
        texts = {name: getattr(self, name) for name in self.TEXTS}
        return texts | {"points": self.points, "strata": list(self.strata), "version": VERSION}

    def questions(self, numbers: Array | None = None) -> list[Question]:
        """The questions, all or those of some numbers."""
        at = np.arange(len(self)) if numbers is None else numbers
        kinds = [KINDS[k] for k in self.kind[at].tolist()]
        us, them, dice, away = (
            map(tuple, a[at].tolist()) for a in (self.us, self.them, self.dice, self.away)
        )
        rest = (a[at].tolist() for a in (self.crawford, self.beavers))
        facts = zip(dice, self.cube[at].tolist(), self.owner[at].tolist(), away, *rest, strict=True)
        return list(map(Question, [self] * len(at), at.tolist(), kinds, us, them, facts))

    def of(self, number: int) -> Array:
        """The worths of one question."""
        return self.worths[self.starts[number] : self.starts[number + 1]]

    def triples(self) -> Array:
        """(N, 4) the worths of doubles and takes, not a number elsewhere."""
        out = np.full((len(self), 4), np.nan)
        rows = np.flatnonzero((self.kind == DOUBLE) | (self.kind == TAKE))
        out[rows] = self.worths[self.starts[rows][:, None] + np.arange(4)]
        return out

    def as_dict(self) -> dict[str, Any]:
        """What it is, for JSON."""
        many = np.bincount(self.kind, minlength=len(KINDS)).tolist()
        return {
            **{name: getattr(self, name) for name in self.TEXTS}, "questions": len(self),
            **{f"{kind}s" if kind != "equity" else "equities": n for kind, n in zip(KINDS, many, strict=True)},
            "greatest_error": float(self.error.max(initial=0)), "digest": self.digest,
        }  # fmt: skip

    def part(self, numbers: Array) -> Exam:
        """Some of the questions, in this order."""
        flat, starts = flat_parts(self.starts, numbers)
        plain = {name: getattr(self, name)[numbers] for name in ARRAYS}
        return Exam(
            **self._texts(), **plain, starts=starts, results=self.results[flat], worths=self.worths[flat]
        )

    def _texts(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in (*self.TEXTS, "points", "strata")}

    def save(self, path: str, *, force: bool = False) -> None:
        """Write the set; the same set gives the same bytes with the same NumPy."""
        data = io.BytesIO()
        arrays = {name: getattr(self, name) for name in (*ARRAYS, "starts", "results", "worths")}
        facts = np.frombuffer(json.dumps(self._told() | {"digest": self.digest}).encode(), np.uint8)
        np.savez_compressed(data, facts=facts, **arrays)
        with storage.create(path, force=force) as sink:
            sink.write(data.getvalue())


def flat_parts(starts: Array, numbers: Array) -> tuple[Array, Array]:
    """Of lists one after another the places of those of some numbers, and where each of these begins then."""
    lengths = np.diff(starts)[numbers]
    ends = np.concatenate([[0], np.cumsum(lengths)])
    return np.repeat(starts[:-1][numbers] - ends[:-1], lengths) + np.arange(ends[-1]), ends


def joined(parts: list[Exam], **texts: Any) -> Exam:
    """Sets one after another; strata of one name become one."""
    points = max(part.points for part in parts)
    strata = tuple(dict.fromkeys(name for part in parts for name in part.strata))
    arrays: dict[str, Any] = {
        name: np.concatenate([getattr(p, name) for p in parts]) for name in ARRAYS if ARRAYS[name][1] >= 0
    }
    for name in ("us", "them"):
        wide = [np.pad(getattr(p, name), ((0, 0), (0, points - p.points))) for p in parts]
        arrays[name] = np.concatenate(wide)
    places = [np.array([strata.index(name) for name in p.strata], np.uint8)[p.stratum] for p in parts]
    arrays["stratum"] = np.concatenate(places)
    lengths = np.concatenate([np.diff(p.starts) for p in parts])
    boards = [np.pad(p.boards, ((0, 0), (0, points - p.points))) for p in parts]
    return Exam(
        points=points, strata=strata, **texts, **arrays, starts=np.concatenate([[0], np.cumsum(lengths)]),
        results=np.concatenate([board.rank_array(b) for b in boards]),
        worths=np.concatenate([p.worths for p in parts]),
    )  # fmt: skip


def load(path: str, name: str = "") -> Exam:
    """The set in a file; FormatError, in one line, where there is none or it is damaged."""
    name = name or path
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as held:
            told = json.loads(bytes(held["facts"]))
            arrays = {key: held[key] for key in (*ARRAYS, "starts", "results", "worths")}
        digest = told.pop("digest")
        if told.pop("version") != VERSION:
            raise FormatError(f"{name}: a set of questions of another version of bgfmt")
        made = Exam(**(told | {"strata": tuple(told["strata"])}), **arrays)
    except (KeyError, ValueError, TypeError, EOFError, zipfile.BadZipFile) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{name}: no set of questions ({type(error).__name__})") from None
    problem = _odd(made)
    if problem or made.digest != digest:
        raise FormatError(f"{name}: a damaged set of questions ({problem or 'its digest is another'})")
    return made


def _odd(exam: Exam) -> str:
    """What in a set cannot be, in words."""
    count = exam.kind.size
    for name, (kind, length) in ARRAYS.items():
        array = getattr(exam, name)
        shape = (count,) if not length else (count, exam.points if length < 0 else length)
        if array.shape != shape or array.dtype != np.dtype(kind):
            return name
    starts, flat = exam.starts, len(exam.worths)
    if starts.shape != (count + 1,) or starts[0] or starts[-1] != flat or (np.diff(starts) < 0).any():
        return "starts"
    lengths = {PLAY: 1, DOUBLE: 4, TAKE: 4, EQUITY: 2}
    for kind_number, least in lengths.items():
        many = np.diff(starts)[exam.kind == kind_number]
        if (many < least).any() or (kind_number != PLAY and (many != least).any()):
            return "worths"
    return "results" if exam.results.shape != (flat,) or exam.kind.max(initial=0) > EQUITY else ""
