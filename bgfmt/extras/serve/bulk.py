"""Many questions in one request: JSON, lines of JSON, and look-ups as plain bytes."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from starlette.requests import ClientDisconnect, Request

from bgfmt.errors import NotCoveredError
from bgfmt.extras.serve.answers import Answers
from bgfmt.extras.serve.parameters import ROUTES, Question, from_object, question
from bgfmt.extras.serve.refusals import Refusal
from bgfmt.game import board
from bgfmt.tables import Table
from bgfmt.tables.base import CHUNK, Numbered

DEEPEST = 20
BODY_SECONDS = 30.0
DISTRIBUTIONS = {"bearoff", "gammon"}
DRAINED = 64 << 20  # bytes of a body that is too large that are read and let go before it is refused


# -- the body --------------------------------------------------------------------------------------------


async def body_of(request: Request, most: int) -> bytes:
    """The body, unpacked; Refusal "too_large" as soon as it is known to be."""
    too_large = Refusal("too_large", f"a body has at most {most:,} bytes (--max-body)")
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("identity", "gzip", "deflate", ""):
        raise Refusal("unsupported_type", "a body is sent plain, or packed as gzip or deflate")
    said = request.headers.get("content-length", "")
    expected = int(said[:20]) if said.isdigit() else 0
    pieces: list[bytes] = []
    length = 0
    try:
        if expected > DRAINED:
            raise too_large
        async with asyncio.timeout(BODY_SECONDS):
            async for piece in request.stream():
                length += len(piece)
                if max(length, expected) <= most:
                    pieces.append(piece)
                elif length > DRAINED:
                    raise too_large
    except TimeoutError:
        late = f"a request's body is complete within {BODY_SECONDS:.0f} s"
        raise Refusal("too_slow", late, headers=(("Connection", "close"),)) from None
    except ClientDisconnect:
        raise Refusal("bad_body", "the body ended early") from None
    except Refusal as refusal:
        refusal.headers = (("Connection", "close"),)
        raise
    if max(length, expected) > most:
        raise too_large  # read to its end first: a client that is still sending would not see the answer
    data = b"".join(pieces)
    if coding in ("identity", ""):
        return data
    unpack = zlib.decompressobj(31 if coding == "gzip" else 15)
    try:
        out = unpack.decompress(data, most + 1)
    except zlib.error:
        raise Refusal("bad_body", f"the body is no {coding}") from None
    if len(out) > most or unpack.unconsumed_tail:
        raise too_large
    if not unpack.eof:
        raise Refusal("bad_body", f"the {coding} of the body ends early")
    return out


class _Twice(Exception):
    pass


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        seen: set[str] = set()
        raise _Twice(next(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]
    return out


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def parsed(data: bytes, row: int | None = None) -> Any:
    """A value of JSON, at most `DEEPEST` deep, no name twice."""
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant)
    except _Twice as error:
        name = str(error)[:40]
        raise Refusal("bad_parameter", f"{name!r} is given twice", name, row) from None
    except UnicodeDecodeError:
        raise Refusal("bad_body", "the body is not UTF-8", row=row) from None
    except (ValueError, RecursionError) as error:
        what = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise Refusal("bad_body", f"no JSON: {what}", row=row) from None
    if _depth(value) > DEEPEST:
        raise Refusal("bad_body", f"nested deeper than {DEEPEST}", row=row)
    return value


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        if depth > DEEPEST:
            break
        level = [
            inner
            for one in level
            if isinstance(one, (dict, list))
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, (dict, list))
        ]
    return depth


# -- JSON and lines of it --------------------------------------------------------------------------------


def items_of_object(route: str, data: bytes, most: int) -> tuple[list[Any], Question]:
    """The items and the common parameters of a JSON body."""
    body = parsed(data)
    if not isinstance(body, dict) or not isinstance(body.get("positions"), list):
        raise Refusal("bad_body", 'the body is an object such as {"positions": ["1 1 / 1", ...]}')
    items = body.pop("positions")
    if len(items) > most:
        raise Refusal("too_large", f"at most {most:,} positions a request (--max-rows)")
    return items, _common(route, body)


def items_of_lines(data: bytes, most: int) -> list[Any]:
    """The items of a body with one a line; blank lines are skipped."""
    lines = [line for line in data.split(b"\n") if line.strip()]
    if len(lines) > most:
        raise Refusal("too_large", f"at most {most:,} positions a request (--max-rows)")
    return [parsed(line, row) for row, line in enumerate(lines)]


def _common(route: str, given: Mapping[str, Any]) -> Question:
    known = [name for name in ROUTES[route] if name != "position"]
    return question(from_object(given, known))


def answer_all(answers: Answers, route: str, items: list[Any], common: Question) -> Iterator[dict[str, Any]]:
    """An answer or an error for each item, in order."""
    if common.settle is None:
        common = replace(common, settle=False)
    answers.holding(common.table)
    for row, item in enumerate(items):
        text = item if isinstance(item, str) else item.get("position") if isinstance(item, dict) else None
        asked = text if isinstance(text, str) else None
        try:
            if isinstance(item, str):
                given: Mapping[str, str] = {"position": item}
            elif isinstance(item, dict):
                given = from_object(item, ROUTES[route])
            else:
                raise Refusal("bad_body", "an item is a text or an object")
            if "position" not in given:
                raise Refusal("bad_parameter", "position is missing", "position")
            one = question(given, common)
            yield answers.answer(route, one)[0] | {"asked": asked}
        except Refusal as refusal:
            refusal.row = row
            yield {"asked": asked, **refusal.body()}


def refused(answer: Mapping[str, Any]) -> str | None:
    """The code of an item that was refused; an answer's own "error", of the cube, is a number or nothing."""
    error = answer.get("error")
    return error["code"] if isinstance(error, dict) else None


# -- look-ups as bytes -----------------------------------------------------------------------------------


class Binary:
    """Look-ups of many rows of bytes in one table.

    rows : how many. columns : names of the numbers of a row. not_covered : rows that the table has nothing for.
    """

    def __init__(self, table: Table, data: bytes, *, numbers: bool, column: str | None) -> None:
        if not isinstance(table, Numbered):
            raise Refusal("bad_parameter", "this table is asked by text alone", "table")
        self.table: Numbered = table
        self.column = self._checked(column)
        width = table.sides * (4 if numbers else table.points)
        if len(data) % width:
            raise Refusal("bad_body", f"a row has {width} bytes; {len(data):,} are no whole number of rows")
        self.rows = len(data) // width
        sides = self._numbers(data) if numbers else self._counts(data)
        self.good = np.ones(self.rows, np.bool_)
        for _, covered in sides:
            self.good &= covered
        self.numbers = [np.where(self.good, found, 0) for found, _ in sides]
        if table.sides == 2 and table.points > 12:
            self._part_contact()
        self.not_covered = int(self.rows - self.good.sum())
        self.columns = self.table.answers(self.column)

    def _checked(self, column: str | None) -> str | None:
        names = DISTRIBUTIONS & self.table.arrays().keys()
        if column is None or column in names:
            return column
        known = "the table's columns are bearoff and, where known, gammon"
        raise Refusal("bad_parameter", known if names else "column is for tables of distributions", "column")

    def _numbers(self, data: bytes) -> list[tuple[NDArray[np.int64], NDArray[np.bool_]]]:
        rows = np.frombuffer(data, "<u4").reshape(self.rows, self.table.sides).astype(np.int64)
        return [(rows[:, k], rows[:, k] < self.table.positions) for k in range(self.table.sides)]

    def _counts(self, data: bytes) -> list[tuple[NDArray[np.int64], NDArray[np.bool_]]]:
        points = self.table.points
        rows = np.frombuffer(data, np.uint8).reshape(self.rows, self.table.sides, points)
        out = []
        for k in range(self.table.sides):
            side = rows[:, k]
            good = np.asarray(side.sum(axis=1, dtype=np.int64) <= self.table.chequers)
            out.append((board.rank_array(np.where(good[:, None], side, 0)), good))
        return out

    def _part_contact(self) -> None:
        """On tables of more than twelve points sides may not have passed each other."""
        high = []
        for numbers in self.numbers:
            counts = board.unrank_array(numbers, self.table.points) > 0
            top = np.where(counts.any(axis=1), counts.shape[1] - counts[:, ::-1].argmax(axis=1), 0)
            high.append(top)
        self.good &= high[0] + high[1] <= 24

    @property
    def size(self) -> int:
        """Bytes of the answer."""
        return self.rows * len(self.columns) * 4

    def block(self, start: int) -> bytes:
        """The answer's bytes for `CHUNK` rows."""
        part = slice(start, start + CHUNK)
        asked = [numbers[part] for numbers in self.numbers]
        try:
            found = self.table.lookup_many(*asked, column=self.column)
        except NotCoveredError as error:  # nothing left to be outside of
            raise Refusal("bad_body", str(error)) from None
        out = np.asarray(found, np.float32).reshape(len(asked[0]), -1).copy()
        out[~self.good[part]] = np.nan
        return out.astype("<f4", copy=False).tobytes()

    async def blocks(self, run: Callable[..., Any]) -> AsyncIterator[bytes]:
        """The answer piece by piece, each made by `run` in a thread."""
        for start in range(0, self.rows, CHUNK):
            yield await run(self.block, start)
