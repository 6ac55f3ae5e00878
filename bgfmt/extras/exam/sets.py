"""Sets of questions, each with what every answer to it is worth, so that an exam needs no table.

A set is an npz file: the columns of `rows`, `LISTS`, and a text `facts` with its name, its purpose, its licence,
where the numbers come from and the SHA-256 of all of that. Worths are in points of a cube at 1, at a score chances
to win the match.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from bgfmt import storage
from bgfmt.errors import FormatError
from bgfmt.game import board
from bgfmt.game.board import Position, Side
from bgfmt.game.state import GameState
from bgfmt.storage.foreign import load_json
from bgfmt.storage.source import open_regular

Array = NDArray[Any]
KINDS = ("play", "double", "take", "equity")
PLAY, DOUBLE, TAKE, EQUITY = range(4)
OWNERS = ("centered", "owned", "opponent", "none")
#: what an engine may take a cube decision for, in the order of `mistaken`
MISTAKES = ("sides exchanged", "score exchanged", "sides and score exchanged", "score ignored")
WORTHS = {PLAY: 1, DOUBLE: 4, TAKE: 4, EQUITY: 2}  # numbers of a question, of a play at least
VERSION = 1
MAX_MEMBERS = 64  # arrays of an archive
MAX_UNPACKED = 64 << 20  # bytes that any archive may unpack to
MAX_RATIO = 60  # bytes more for each byte of the archive; sets that ship have 4 to 10
MAX_AWAY = 64  # points to go
LICENCE = "CC0-1.0"
TEXTS = ("name", "purpose", "licence", "origin", "met")
LISTS = ("starts", "results", "worths")


def fields(points: int) -> np.dtype[Any]:
    """The columns of questions on sides of that many points.

    kind : place in `KINDS`. us, them : chequers. dice : 0 where none. owner : place in `OWNERS`. away : 0 for money.
    stratum : place in `Exam.strata`. weight : how often it comes up. error : no worth is farther from the truth.
    ends : the chances to win the match after losing and after winning the cube at hand, 0 for money. mistaken : of
    doubles and takes the first three numbers that each of `MISTAKES` would give, not a number where not known.
    """
    return np.dtype([
        ("kind", "u1"), ("us", "i1", points), ("them", "i1", points), ("dice", "u1", 2), ("cube", "i4"),
        ("owner", "u1"), ("away", "u1", 2), ("crawford", "u1"), ("beavers", "u1"), ("stratum", "u1"),
        ("weight", "f8"), ("error", "f8"), ("ends", "f8", 2), ("mistaken", "f4", 12),
    ])  # fmt: skip


@dataclass(slots=True)
class Question:
    """One question to an engine, the side on roll first.

    kind : "play", "double" (before the roll), "take" (the side on roll has doubled, the other is asked) or "equity".
    us, them : chequers on points 1, 2, .... dice : of a play, else None. owner : where the cube lies, "centered",
    "owned", "opponent", or "none" where the game is played without it. away : None for money.
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
        part = slice(*self.exam.starts[self.number : self.number + 2])
        return list(map(tuple, self.exam.boards[part].tolist()))

    def __str__(self) -> str:
        """The line that `bgfmt exam --ask` writes, docs/exam.md."""
        roll = "".join(map(str, self.dice or (0, 0)))
        score = "money" if self.away is None else f"{self.away[0]}-{self.away[1]}" + "c" * self.crawford
        sides = (" ".join(map(str, side)) for side in (self.us, self.them))
        return f"{self.kind} {roll} {self.owner} {self.cube} {score} {' / '.join(sides)}"


@dataclass(frozen=True, eq=False)
class Exam:
    """N questions.

    rows (N,) of `fields`, which are attributes, too. starts (N + 1,) : where the worths of each begin. worths : of a
    play, of each of `results` (position numbers) to the side that plays; of a double or a take, to the side on roll,
    of rolling on, of a double that is taken, passed, beavered (not a number where there is no beaver); of an equity
    that itself and the chance to win the game.
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
        return int(self.us.shape[1])

    @cached_property
    def boards(self) -> Array:
        """(plays, points) int8: `results` as chequers."""
        return board.unrank_array(self.results, self.points)

    @cached_property
    def clusters(self) -> Array:
        """Return (N,) integers from 0, one for each position: chequers of both sides, whatever is asked about it."""
        sides = [np.unique(board.rank_array(side), return_inverse=True) for side in (self.us, self.them)]
        (_, us), (others, them) = sides
        _, numbers = np.unique(us * len(others) + them, return_inverse=True)
        return np.asarray(numbers)

    def _arrays(self) -> dict[str, Array]:
        return {name: getattr(self, name) for name in (*(self.rows.dtype.names or ()), *LISTS)}

    def _told(self) -> dict[str, Any]:
        texts = {name: getattr(self, name) for name in TEXTS}
        return texts | {"points": self.points, "strata": list(self.strata), "version": VERSION}

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of all that the set says."""
        sums = hashlib.sha256(json.dumps(self._told(), sort_keys=True).encode())
        for array in self._arrays().values():
            sums.update(np.ascontiguousarray(array).tobytes())
        return sums.hexdigest()

    def questions(self, numbers: Array | None = None) -> list[Question]:
        """The questions, all or those of some numbers."""
        at = np.arange(len(self)) if numbers is None else numbers
        rows = self.rows[at]
        us, them, dice, away = (map(tuple, rows[name].tolist()) for name in ("us", "them", "dice", "away"))
        plain = (rows[name].tolist() for name in ("kind", "owner", "cube", "crawford", "beavers"))
        return [
            Question(self, n, KINDS[kind], us, them, dice if dice[0] else None, OWNERS[owner], cube,
                     away if away[0] else None, bool(crawford), bool(beavers))
            for n, us, them, dice, away, kind, owner, cube, crawford, beavers
            in zip(at.tolist(), us, them, dice, away, *plain, strict=True)
        ]  # fmt: skip

    def of(self, number: int) -> Array:
        """The worths of one question."""
        return self.worths[self.starts[number] : self.starts[number + 1]]

    def worths_of(self, *kinds: int) -> Array:
        """(N, 4), of equities (N, 2), the worths of questions of some kinds, not a number elsewhere."""
        width = WORTHS[kinds[0]]
        out = np.full((len(self), width), np.nan)
        rows = np.flatnonzero(np.isin(self.kind, kinds))
        out[rows] = self.worths[self.starts[rows][:, None] + np.arange(width)]
        return out

    def as_dict(self) -> dict[str, Any]:
        many = np.bincount(self.kind, minlength=len(KINDS)).tolist()
        return {
            **{name: getattr(self, name) for name in TEXTS}, "questions": len(self),
            **{f"{kind}s" if kind != "equity" else "equities": n for kind, n in zip(KINDS, many, strict=True)},
            "greatest_error": float(self.error.max(initial=0)), "digest": self.digest,
        }  # fmt: skip

    def part(self, numbers: Array) -> Exam:
        """Some of the questions, in this order."""
        lengths = np.diff(self.starts)[numbers]
        starts = starts_of(lengths)
        flat = np.repeat(self.starts[:-1][numbers] - starts[:-1], lengths) + np.arange(starts[-1])
        return replace(
            self, rows=self.rows[numbers], starts=starts, results=self.results[flat], worths=self.worths[flat]
        )

    def save(self, path: str, *, force: bool = False) -> None:
        """Write the set; the same set gives the same bytes with the same NumPy."""
        data = io.BytesIO()
        facts = np.frombuffer(json.dumps(self._told() | {"digest": self.digest}).encode(), np.uint8)
        np.savez_compressed(data, facts=facts, **self._arrays())  # type: ignore[arg-type]
        with storage.create(path, force=force) as sink:
            sink.write(data.getvalue())


def starts_of(lengths: Any) -> Array:
    """(N + 1,) where N lists of these lengths begin, one after another."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def rows_of(count: int, points: int, **columns: Any) -> Array:
    """(count,) of `fields`: of weight 1, without mistakes, all else that is not given 0."""
    rows = np.zeros(count, fields(points))
    for name, value in {"weight": 1.0, "mistaken": np.nan, **columns}.items():
        rows[name] = value
    return rows


def joined(parts: list[Exam], **changes: Any) -> Exam:
    """Sets one after another; strata of one name become one. What they are called is that of the first."""
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
    """Return the set in a file; FormatError, in one line, if there is none or it is damaged."""
    name = name or path
    try:
        with open(open_regular(path), "rb") as file, zipfile.ZipFile(file) as archive:
            arrays = _members(archive, os.fstat(file.fileno()).st_size)
        told = load_json(arrays.pop("facts").tobytes())
        starts, results, worths = (arrays.pop(key) for key in LISTS)
        digest, version, _, strata = (told.pop(key) for key in ("digest", "version", "points", "strata"))
        count, points = arrays["us"].shape
        wanted = fields(points)
        for key in wanted.names or ():
            if (arrays[key].dtype, arrays[key].shape) != (wanted[key].base, (count, *wanted[key].shape)):
                raise ValueError(f"{key} of another shape or type")
        if [one.dtype.str for one in (starts, results, worths)] != ["<i8", "<i8", "<f8"]:
            raise ValueError("lists of other types")
        rows = rows_of(count, points, **arrays)
        made = Exam(rows, starts, results, worths, tuple(strata), **told)
    except FormatError:
        raise
    except OSError as error:
        if error.filename is not None:  # of the file itself; zipfile and bz2 raise others for damage
            raise
        raise FormatError(f"{name}: no set of questions (OSError)") from None
    except Exception as error:  # zipfile, zlib and NumPy raise errors of many kinds for damaged archives
        raise FormatError(f"{name}: no set of questions ({type(error).__name__})") from None
    if version != VERSION:
        raise FormatError(f"{name}: a set of questions of another version of bgfmt")
    problem = _problem(made)
    if problem or made.digest != digest:
        raise FormatError(f"{name}: a damaged set of questions ({problem or 'its digest is another'})")
    return made


def _members(archive: zipfile.ZipFile, size: int) -> dict[str, Array]:
    """Return the arrays of an archive of `size` bytes by name; ValueError for what could unpack to much more."""
    infos = archive.infolist()
    whole = sum(info.file_size for info in infos)
    if len(infos) > MAX_MEMBERS or whole > MAX_UNPACKED + MAX_RATIO * size:
        raise ValueError("too large once unpacked")
    arrays = {}
    for info in infos:
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError("another compression")
        with archive.open(info) as member:
            npy.read_magic(member)
            shape, _, dtype = npy.read_array_header_1_0(member)
            if dtype.hasobject or prod(shape) * dtype.itemsize != info.file_size - member.tell():
                raise ValueError("an array of another size")
            data = member.read(info.file_size)
        arrays[info.filename.removesuffix(".npy")] = np.frombuffer(data, dtype).reshape(shape)
    return arrays


def _problem(exam: Exam) -> str:
    """Return the name of a column or list that cannot be, empty if all can."""
    starts = exam.starts
    flat = len(exam.worths)
    if starts.shape != (len(exam) + 1,) or starts[0] or starts[-1] != flat or (np.diff(starts) < 0).any():
        return "starts"
    if exam.kind.max(initial=0) > EQUITY:
        return "kind"
    if not 1 <= exam.points <= board.MAX_POINTS:
        return "us"
    many = np.diff(starts)
    least = np.array(list(WORTHS.values()))[exam.kind]
    if exam.worths.shape != (flat,) or (many < least).any() or (many != least)[exam.kind != PLAY].any():
        return "worths"
    if np.isinf(exam.worths).any() or np.isnan(exam.worths[_needed(exam)]).any():
        return "worths"
    boards = board.count(exam.points, board.MAX_CHEQUERS)
    if (
        exam.results.shape != (flat,)
        or exam.results.min(initial=0) < 0
        or exam.results.max(initial=0) >= boards
    ):
        return "results"
    return next((name for name, sound in _sound_columns(exam).items() if not sound), "")


def _needed(exam: Exam) -> Array:
    """Return (worths,) bool: worths that are never not a number, all but those of beavers and win probabilities."""
    kinds = np.repeat(exam.kind, np.diff(exam.starts))
    places = np.arange(len(kinds)) - np.repeat(exam.starts[:-1], np.diff(exam.starts))
    optional: Array = (np.isin(kinds, (DOUBLE, TAKE)) & (places == 3)) | ((kinds == EQUITY) & (places == 1))
    return ~optional


def _sound_columns(exam: Exam) -> dict[str, bool]:
    """Return by column whether every number of it can be."""
    sound = {}
    for name in ("us", "them"):
        side = getattr(exam, name)
        sums = side.sum(axis=1, dtype=int)
        sound[name] = bool((side >= 0).all() and (sums >= 1).all() and (sums <= board.MAX_CHEQUERS).all())
    rolled = (exam.dice >= 1).all(axis=1) & (exam.dice <= 6).all(axis=1)
    unrolled = (exam.dice == 0).all(axis=1)
    match = (exam.away >= 1).all(axis=1) & (exam.away <= MAX_AWAY).all(axis=1)
    money = (exam.away == 0).all(axis=1)
    texts = (*(getattr(exam, name) for name in TEXTS), *exam.strata)
    return sound | {
        "dice": bool(np.where(exam.kind == PLAY, rolled, unrolled).all()),
        "away": bool((match | money).all()),
        "owner": bool((exam.owner < len(OWNERS)).all()),
        "cube": bool(((exam.cube >= 1) & (exam.cube & (exam.cube - 1) == 0)).all()),
        "stratum": bool((exam.stratum < len(exam.strata)).all()),
        "crawford": bool((exam.crawford <= 1).all() and (exam.beavers <= 1).all()),
        "weight": bool((np.isfinite(exam.weight) & (exam.weight > 0)).all()),
        "error": bool((np.isfinite(exam.error) & (exam.error >= 0)).all()),
        "ends": bool(np.isfinite(exam.ends).all()),
        "texts": all(isinstance(text, str) for text in texts),
    }
