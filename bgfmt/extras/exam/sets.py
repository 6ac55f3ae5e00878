"""Sets of questions, each with the value of every possible answer, so that an exam needs no database.

A set is an npz file: the columns of `rows`, `LISTS`, and a JSON text `facts` with its name, purpose, licence, the
source of the values and the SHA-256 of all of that. Values ("worths") are in points of a cube at 1, at a score in
probability to win the match (MWC).
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from bgfmt import storage
from bgfmt.errors import FormatError
from bgfmt.extras.foreign import load_json
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.game.state import GameState
from bgfmt.storage.source import open_regular

Array = NDArray[Any]
KINDS = ("play", "double", "take", "equity")
PLAY, DOUBLE, TAKE, EQUITY = range(4)
OWNERS = ("centered", "owned", "opponent", "none")
WORTHS = {PLAY: 1, DOUBLE: 4, TAKE: 4, EQUITY: 2}  # number of values of a question; of a play at least
VERSION = 1
MAX_MEMBERS = 64  # arrays of an archive
MAX_UNPACKED = 64 << 20  # bytes that any archive may unpack to
MAX_RATIO = 60  # further bytes for each byte of the archive; shipped sets have 4 to 10
MAX_AWAY = 64  # points to go
LICENCE = "CC0-1.0"
TEXTS = ("name", "purpose", "licence", "origin", "met")
LISTS = ("starts", "results", "worths")


def fields(points: int) -> np.dtype[Any]:
    """Return the NumPy record type of a question, for boards of this many points a side.

    kind : index into `KINDS`. us, them : chequers on each point. dice : 0, 0 if not rolled. cube : its value. owner :
    index into `OWNERS`. away : points to go, 0, 0 for money. stratum : index into `Exam.strata`. weight : how often
    the question comes up in practice. error : bound on the error of its values. ends : MWC after losing and after
    winning the question's cube, 0, 0 for money. mistaken : unused, NaN in new sets; older sets have values.
    """
    return np.dtype([
        ("kind", "u1"), ("us", "i1", points), ("them", "i1", points), ("dice", "u1", 2), ("cube", "i4"),
        ("owner", "u1"), ("away", "u1", 2), ("crawford", "u1"), ("beavers", "u1"), ("stratum", "u1"),
        ("weight", "f8"), ("error", "f8"), ("ends", "f8", 2), ("mistaken", "f4", 12),
    ])  # fmt: skip


@dataclass(slots=True)
class Question:
    """One question to an engine, seen by the side on roll.

    kind : "play", "double" (asked before the roll), "take" (the side on roll has doubled, the other side is asked) or
        "equity".
    us, them : chequers on points 1, 2, ... of the side on roll and of the other.
    dice : the roll of a play, else None.
    owner : "centered", "owned" or "opponent", or "none" if the game is played without a cube.
    away : points to go of the side on roll and of the other, None for money.
    """

    exam: Exam
    number: int
    kind: str
    us: tuple[int, ...]
    them: tuple[int, ...]
    dice: tuple[int, int] | None
    owner: str
    cube: int
    away: tuple[int, int] | None
    crawford: bool
    beavers: bool

    @property
    def position(self) -> Position:
        """Position, the side on roll first."""
        return Position(Side(*self.us), Side(*self.them))

    @property
    def state(self) -> GameState:
        """The question as a `GameState`; for a take the side on roll is the doubler."""
        owner = "centered" if self.owner == "none" else self.owner
        return GameState.of(
            self.position, self.dice, cube=owner, cube_value=self.cube, away=self.away, crawford=self.crawford,
            doubled=self.kind == "take", jacoby=None if self.away else False,
            beavers=None if self.away else self.beavers, cube_in_use=self.owner != "none",
        )  # fmt: skip

    @property
    def plays(self) -> list[tuple[int, ...]]:
        """Chequers by point of the side on roll after each legal play; an answer may be an index in this list."""
        part = slice(*self.exam.starts[self.number : self.number + 2])
        return list(map(tuple, self.exam.boards[part].tolist()))

    def __str__(self) -> str:
        """Return the line that `bgfmt exam --ask` prints; docs/exam.md describes it."""
        roll = "".join(map(str, self.dice or (0, 0)))
        score = "money" if self.away is None else f"{self.away[0]}-{self.away[1]}" + "c" * self.crawford
        sides = (" ".join(map(str, side)) for side in (self.us, self.them))
        return f"{self.kind} {roll} {self.owner} {self.cube} {score} {' / '.join(sides)}"


@dataclass(frozen=True, eq=False)
class Exam:
    """A set of N questions with the values of their answers.

    rows : (N,) records of `fields(points)`; the columns are attributes of the set, too.
    starts : (N + 1,) int64, where the values of each question begin in `worths`.
    results : as long as `worths`; for a play the position number of the board after it, else 0.
    worths : float64 values. Of a play one for each of `results`, to the side that plays. Of a double or a take four,
        to the side on roll: no double, double taken, double passed, double beavered (NaN without beavers). Of an
        equity two: the equity and the probability to win the game.
    strata : names of the groups that `rows["stratum"]` refers to.
    """

    rows: Array
    starts: Array
    results: Array
    worths: Array
    strata: tuple[str, ...] = ("",)
    name: str = ""
    purpose: str = ""
    licence: str = LICENCE
    origin: str = ""
    met: str = ""

    def __getattr__(self, name: str) -> Array:
        if name in (self.rows.dtype.names or ()):
            return self.rows[name]
        raise AttributeError(name)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def points(self) -> int:
        """Number of points of each side of the boards."""
        return int(self.us.shape[1])

    @cached_property
    def boards(self) -> Array:
        """Boards after plays, (len(worths), points) int8: `results` converted to the chequers on each point."""
        return board.unrank_array(self.results, self.points)

    @cached_property
    def clusters(self) -> Array:
        """Numbers from 0 that are equal for questions about the same chequers of both sides, (N,)."""
        boards = np.concatenate([self.us, self.them], axis=1)
        _, numbers = np.unique(boards, axis=0, return_inverse=True)
        return np.asarray(numbers).reshape(-1)

    def _arrays(self) -> dict[str, Array]:
        """Return all arrays of the set by name, as the file stores them."""
        return {name: getattr(self, name) for name in (*(self.rows.dtype.names or ()), *LISTS)}

    def _facts(self) -> dict[str, Any]:
        """Return the texts and the dimensions of the set, as the file stores them in `facts`."""
        texts = {name: getattr(self, name) for name in TEXTS}
        return texts | {"points": self.points, "strata": list(self.strata), "version": VERSION}

    @cached_property
    def digest(self) -> str:
        """SHA-256 of all texts and arrays of the set, in hexadecimal."""
        sums = hashlib.sha256(json.dumps(self._facts(), sort_keys=True).encode())
        for array in self._arrays().values():
            sums.update(np.ascontiguousarray(array).tobytes())
        return sums.hexdigest()

    def questions(self, numbers: Array | None = None) -> list[Question]:
        """Return the questions of these numbers, by default all."""
        found = []
        for number in range(len(self)) if numbers is None else numbers.tolist():
            kind, us, them, dice, cube, owner, away, crawford, beavers, *_ = self.rows[number].item()
            found.append(
                Question(
                    self, number, KINDS[kind], tuple(us.tolist()), tuple(them.tolist()),
                    tuple(dice.tolist()) if dice[0] else None, OWNERS[owner], cube,
                    tuple(away.tolist()) if away[0] else None, bool(crawford), bool(beavers),
                )
            )  # fmt: skip
        return found

    def of(self, number: int) -> Array:
        """Return the values of all answers to the question of this number, as described for the field `worths`."""
        return self.worths[self.starts[number] : self.starts[number + 1]]

    def worths_of(self, *kinds: int) -> Array:
        """Return the values of the answers to questions of some kinds, (N, width); NaN in the rows of other kinds.

        kinds : of the same width, `DOUBLE` and `TAKE` (four values) or `EQUITY` (two).
        """
        width = WORTHS[kinds[0]]
        out = np.full((len(self), width), np.nan)
        rows = np.flatnonzero(np.isin(self.kind, kinds))
        out[rows] = self.worths[self.starts[rows][:, None] + np.arange(width)]
        return out

    def as_dict(self) -> dict[str, Any]:
        """Return texts such as the name, counts of questions by kind, greatest error and SHA-256, for JSON."""
        many = np.bincount(self.kind, minlength=len(KINDS)).tolist()
        return {
            **{name: getattr(self, name) for name in TEXTS}, "questions": len(self),
            **{f"{kind}s" if kind != "equity" else "equities": n for kind, n in zip(KINDS, many, strict=True)},
            "greatest_error": float(self.error.max(initial=0)), "digest": self.digest,
        }  # fmt: skip

    def part(self, numbers: Array) -> Exam:
        """Return a smaller set with the questions of these numbers, in this order."""
        lengths = np.diff(self.starts)[numbers]
        starts = starts_of(lengths)
        flat = np.repeat(self.starts[:-1][numbers] - starts[:-1], lengths) + np.arange(starts[-1])
        return replace(
            self, rows=self.rows[numbers], starts=starts, results=self.results[flat], worths=self.worths[flat]
        )

    def save(self, path: str, *, force: bool = False) -> None:
        """Write the set to an npz file; the same set and version of NumPy give the same bytes.

        force : overwrite an existing file.
        """
        data = io.BytesIO()
        facts = np.frombuffer(json.dumps(self._facts() | {"digest": self.digest}).encode(), np.uint8)
        np.savez_compressed(data, facts=facts, **self._arrays())  # type: ignore[arg-type]
        with storage.create(path, force=force) as sink:
            sink.write(data.getvalue())


def starts_of(lengths: Any) -> Array:
    """Return (N + 1,) int64 offsets of N concatenated lists, from their (N,) lengths."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def rows_of(count: int, points: int, **columns: Any) -> Array:
    """Return `count` records of `fields(points)` with the given columns.

    Columns that are not given are 0, except `weight` (1) and `mistaken` (NaN).
    """
    rows = np.zeros(count, fields(points))
    for name, value in {"weight": 1.0, "mistaken": np.nan, **columns}.items():
        rows[name] = value
    return rows


def join_sets(parts: list[Exam], **changes: Any) -> Exam:
    """Join sets of questions into one; strata (groups) of the same name are merged.

    The result has the texts of the first set, except the fields in `changes`. Boards are padded to the greatest
    number of points.
    """
    points = max(part.points for part in parts)
    strata = tuple(dict.fromkeys(name for part in parts for name in part.strata))
    rows = []
    boards = []
    for one in parts:
        wide = ((0, 0), (0, points - one.points))
        columns = {name: one.rows[name] for name in one.rows.dtype.names or ()}
        columns |= {"us": np.pad(one.us, wide), "them": np.pad(one.them, wide)}
        columns["stratum"] = np.array([strata.index(name) for name in one.strata])[one.stratum]
        rows.append(rows_of(len(one), points, **columns))
        boards.append(np.pad(one.boards, wide))
    return replace(
        parts[0], strata=strata, rows=np.concatenate(rows), worths=np.concatenate([one.worths for one in parts]),
        starts=starts_of(np.concatenate([np.diff(one.starts) for one in parts])),
        results=np.concatenate([board.rank_array(one) for one in boards]), **changes,
    )  # fmt: skip


def load(path: str, name: str = "") -> Exam:
    """Read a set from an npz file.

    name : what error messages call it, by default the path.

    Raises
    ------
    FormatError : if the file is not a set, is damaged, or is of another version.
    OSError : if it cannot be opened.
    """
    name = name or path
    with open(open_regular(path), "rb") as file:
        try:
            arrays = _read_arrays(file)
            facts = load_json(arrays.pop("facts").tobytes())
            starts, results, worths = (arrays.pop(key) for key in LISTS)
            digest, version, _, strata = (facts.pop(key) for key in ("digest", "version", "points", "strata"))
            count, points = arrays["us"].shape
            expected = fields(points)
            for key in expected.names or ():
                if (arrays[key].dtype, arrays[key].shape) != (
                    expected[key].base,
                    (count, *expected[key].shape),
                ):
                    raise ValueError(f"{key} has the wrong shape or type")
            if [one.dtype.str for one in (starts, results, worths)] != ["<i8", "<i8", "<f8"]:
                raise ValueError("a list has the wrong type")
            made = Exam(rows_of(count, points, **arrays), starts, results, worths, tuple(strata), **facts)
            problem = _find_problem(made)
        except Exception as error:  # zipfile, zlib and NumPy raise errors of many kinds for damaged archives
            raise FormatError(f"{name}: not a set of questions ({type(error).__name__})") from None
    if version != VERSION:
        raise FormatError(f"{name}: the set of questions is from another version of bgfmt")
    if problem or made.digest != digest:
        raise FormatError(f"{name}: the set of questions is damaged ({problem or 'its checksum differs'})")
    return made


def _read_arrays(file: BinaryIO) -> dict[str, Array]:
    """Return the arrays of an npz archive by name; ValueError if its members could unpack to far more than it has."""
    size = os.fstat(file.fileno()).st_size
    with np.load(file, allow_pickle=False) as archive:
        infos = archive.zip.infolist()
        unpacked = sum(info.file_size for info in infos)
        if len(infos) > MAX_MEMBERS or unpacked > MAX_UNPACKED + MAX_RATIO * size:
            raise ValueError("the set is too large after decompression")
        return dict(archive)


def _find_problem(exam: Exam) -> str:
    """Return the name of a column or list that has impossible values, "" if there is none."""
    starts = exam.starts
    flat = len(exam.worths)
    if starts.shape != (len(exam) + 1,) or starts[0] or starts[-1] != flat or (np.diff(starts) < 0).any():
        return "starts"
    if exam.kind.max(initial=0) > EQUITY:
        return "kind"
    if not 1 <= exam.points <= board.MAX_POINTS:
        return "us"
    play = exam.kind == PLAY
    cubes = np.isin(exam.kind, (DOUBLE, TAKE))
    lengths = np.diff(starts)
    least = np.array(list(WORTHS.values()))[exam.kind]
    if exam.worths.ndim > 1 or (lengths < least).any() or (lengths != least)[~play].any():
        return "worths"
    needed = np.repeat(play, lengths)  # beavers and win probabilities may be NaN
    needed[starts[:-1][~play]] = True
    needed[starts[:-1][cubes][:, None] + (1, 2)] = True
    boards = board.count(exam.points, board.MAX_CHEQUERS)
    rolled = ((exam.dice >= 1) & (exam.dice <= 6)).all(axis=1)
    match = ((exam.away >= 1) & (exam.away <= MAX_AWAY)).all(axis=1)
    sound: dict[str, Any] = {
        "worths": np.where(needed, np.isfinite(exam.worths), ~np.isinf(exam.worths)),
        "results": exam.results.shape == (flat,) and ((exam.results >= 0) & (exam.results < boards)).all(),
        "us": _are_boards(exam.us),
        "them": _are_boards(exam.them),
        "dice": np.where(play, rolled, (exam.dice == 0).all(axis=1)),
        "away": match | (exam.away == 0).all(axis=1),
        "owner": exam.owner < len(OWNERS),
        "cube": (exam.cube >= 1) & (exam.cube & (exam.cube - 1) == 0),
        "stratum": exam.stratum < len(exam.strata),
        "crawford": exam.crawford <= 1,
        "beavers": exam.beavers <= 1,
        "weight": np.isfinite(exam.weight) & (exam.weight > 0),
        "error": np.isfinite(exam.error) & (exam.error >= 0),
        "ends": np.isfinite(exam.ends),
        "texts": [isinstance(text, str) for text in (*(getattr(exam, name) for name in TEXTS), *exam.strata)],
    }
    return next((name for name, right in sound.items() if not np.all(right)), "")


def _are_boards(sides: Array) -> Array:
    """Return for each row of chequers by point whether it is a side that has not borne off all its chequers."""
    chequers = sides.sum(axis=1, dtype=int)
    sound: Array = (sides.min(axis=1) >= 0) & (chequers >= 1) & (chequers <= board.MAX_CHEQUERS)
    return sound
