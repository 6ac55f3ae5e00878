"""Many queries in one request: JSON, lines of JSON, and look-ups as bytes."""

from __future__ import annotations

import asyncio
import json
import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from starlette.requests import ClientDisconnect, Request

from bgfmt.analysis.questions import QUESTIONS, Question
from bgfmt.extras.serve.answers import Answers
from bgfmt.extras.serve.parameters import from_object, position_question, question
from bgfmt.extras.serve.refusals import Refusal, to_json
from bgfmt.game import board
from bgfmt.tables import Table
from bgfmt.tables.base import CHUNK

MAX_JSON_DEPTH = 20
BODY_SECONDS = 30.0
PART_SECONDS = 0.05  # of answers for one client, before others have their turn
DISTRIBUTIONS = {"bearoff", "gammon"}
CLOSED = (("Connection", "close"),)  # a header
MAX_DRAINED_BYTES = (
    64 << 20
)  # bytes of a body that is too large that are read and let go before it is refused


# -- the body --------------------------------------------------------------------------------------------


async def body_of(request: Request, most: int) -> bytes:
    """Return the decompressed body of a request; Refusal "too_large" as soon as it exceeds `most` bytes."""
    large = f"a body has at most {most:,} bytes (--max-body)"
    too_large = Refusal("too_large", large)
    cut = Refusal("too_large", large, headers=CLOSED)
    coding = request.headers.get("content-encoding", "") or "identity"
    coding = coding.strip().lower()
    if coding not in ("identity", "gzip"):
        raise Refusal("unsupported_type", "the request body must be uncompressed, or compressed by gzip")
    length_header = request.headers.get("content-length", "")
    expected = int(length_header[:20]) if length_header.isdecimal() else 0
    if expected > max(most, MAX_DRAINED_BYTES):
        raise cut
    pieces: list[bytes] = []
    length = 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for piece in request.stream():
                length += len(piece)
                if max(length, expected) <= most:
                    pieces.append(piece)
                elif length > MAX_DRAINED_BYTES:
                    raise cut
    except TimeoutError:
        late = f"the body did not arrive within {BODY_SECONDS:.0f} s"
        raise Refusal("too_slow", late, headers=CLOSED) from None
    except ClientDisconnect:
        raise Refusal("bad_body", "the request body is truncated") from None
    if max(length, expected) > most:
        raise too_large  # read to its end first: a client that is still sending would not see the answer
    data = b"".join(pieces)
    if coding == "identity":
        return data
    unpack = zlib.decompressobj(31)
    try:
        out = unpack.decompress(data, most + 1)
    except zlib.error:
        raise Refusal("bad_body", "the request body is not valid gzip") from None
    if len(out) > most or unpack.unconsumed_tail:
        raise too_large
    if not unpack.eof:
        raise Refusal("bad_body", "the request body, compressed by gzip, is truncated")
    return out


def _unique_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; Refusal if a name is in it twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)[:40]
        raise Refusal("bad_parameter", f"{twice!r} is given twice", twice)
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not valid JSON")


def parse_json(data: bytes, row: int | None = None) -> Any:
    """Parse a JSON value at most `MAX_JSON_DEPTH` levels deep, without duplicate names; Refusal for others.

    row : index of the item in a bulk request, for the error.
    """
    try:
        value = json.loads(
            data.decode("utf-8"), object_pairs_hook=_unique_object, parse_constant=_no_constant
        )
        if _depth(value) <= MAX_JSON_DEPTH:
            return value
        why = f"nested deeper than {MAX_JSON_DEPTH}"
    except Refusal as refusal:
        refusal.row = row
        raise
    except UnicodeDecodeError:
        why = "the body is not UTF-8"
    except RecursionError:
        why = "not JSON: nested too deeply"
    except ValueError as error:
        why = f"not JSON: {error}"
    raise Refusal("bad_body", why, row=row)


def _depth(value: Any) -> int:
    if not isinstance(value, (dict, list)):
        return 0
    return 1 + max(map(_depth, value.values() if isinstance(value, dict) else value), default=0)


# -- JSON and lines of it --------------------------------------------------------------------------------


def items_of(route: str, data: bytes, common: Question, lines: bool, most: int) -> tuple[list[Any], Question]:
    """Parse the body of a bulk request into its items (queries) and their common parameters.

    Parameters
    ----------
    route : the kind of query, such as "cube".
    data : the body, lines of JSON or one object with `positions` and common parameters.
    common : parameters from the query string.
    lines : True if the body is lines.
    most : maximum number of items; Refusal for more.
    """
    if lines:
        items: list[Any] = [line for line in data.split(b"\n") if line.strip()]
    else:
        body = parse_json(data)
        if not isinstance(body, dict) or not isinstance(body.get("positions"), list):
            raise Refusal("bad_body", 'the body must be an object such as {"positions": ["1 1 / 1", ...]}')
        items = body.pop("positions")
        common = question(from_object(body, [name for name in QUESTIONS[route] if name != "position"]))
    if len(items) > most:
        raise Refusal("too_large", f"at most {most:,} positions a request (--max-rows)")
    return [parse_json(line, row) for row, line in enumerate(items)] if lines else items, common


def calculates(items: list[Any], common: Question) -> bool:
    """Return whether any item of a bulk request, or their common parameters, asks for a calculation (`settle`)."""
    wanted = (item.get("settle") for item in items if isinstance(item, dict))
    return bool(common.settle) or any(settle in (True, "true") for settle in wanted)


def answer_all(answers: Answers, route: str, items: list[Any], common: Question) -> Iterator[dict[str, Any]]:
    """Yield an answer or an error for each item of a bulk request, in the order of the items.

    Nothing is calculated unless `settle` asks for it. route : the kind of query, such as "cube". common : parameters
    for items without their own.
    """
    if common.settle is None:
        common = replace(common, settle=False)
    for row, item in enumerate(items):
        text = item.get("position") if isinstance(item, dict) else item
        asked = {"asked": text if isinstance(text, str) else None}
        try:
            if not isinstance(item, (str, dict)):
                raise Refusal("bad_body", "an item must be a string or an object")
            given = from_object({"position": item} if isinstance(item, str) else item, QUESTIONS[route])
            yield asked | answers.answer(route, position_question(given, common))[0]
        except Refusal as refusal:
            refusal.row = row
            yield asked | refusal.body()


def part_of(answers: Iterator[dict[str, Any]]) -> tuple[list[bytes], int]:
    """Take answers from an iterator for `PART_SECONDS`; return them as JSON, and how many of them are not covered."""
    out: list[bytes] = []
    missing = 0
    end = time.monotonic() + PART_SECONDS
    for one in answers:
        out.append(to_json(one))
        missing += "error" in one and one["error"]["code"] == "not_covered"
        if time.monotonic() > end:
            break
    return out, missing


# -- look-ups as bytes -----------------------------------------------------------------------------------


class Binary:
    """Look-ups of many positions in one table, requested and answered as bytes.

    rows : number of positions. columns : names of the numbers in a row of the answer.
    not_covered : number of positions that the table does not have.

    Parameters
    ----------
    table : the table. data : the request.
    numbers : True for rows of position numbers as little-endian uint32, False for rows of chequer counts as bytes.
    column : "bearoff" or "gammon" for tables of distributions; None for all numbers.
    """

    def __init__(self, table: Table, data: bytes, *, numbers: bool, column: str | None) -> None:
        if table.listing is not None:
            raise Refusal("bad_parameter", "this table takes queries as text only", "table")
        names = DISTRIBUTIONS & table.arrays().keys()
        if column is not None and column not in names:
            known = ", ".join(sorted(names)) or "none"
            raise Refusal("bad_parameter", f"the table's distributions are {known}", "column")
        self.table = table
        self.column = column
        width = table.sides * (4 if numbers else table.points)
        if len(data) % width:
            raise Refusal(
                "bad_body", f"a row has {width} bytes; {len(data):,} are not a whole number of rows"
            )
        self.rows = len(data) // width
        if numbers:
            sides = np.frombuffer(data, "<u4").astype(np.int64)
            covered = np.asarray(sides < table.positions)
        else:
            counts = np.frombuffer(data, np.uint8).reshape(-1, table.points)
            covered = np.asarray(counts.sum(axis=1, dtype=np.int64) <= table.chequers)
            sides = board.rank_array(np.where(covered[:, None], counts, 0))
        self.good = np.asarray(covered.reshape(-1, table.sides).all(axis=1))
        self.numbers = np.where(self.good[:, None], sides.reshape(-1, table.sides), 0).T
        if table.sides == 2 and table.points > 12:  # sides that may not have passed each other
            points = np.arange(1, table.points + 1)
            boards = (board.unrank_array(numbers, table.points) > 0 for numbers in self.numbers)
            self.good &= sum((points * taken).max(axis=1) for taken in boards) <= 24
        self.not_covered = int(self.rows - self.good.sum())
        self.columns = self.table.answers(self.column)

    def block(self, start: int) -> bytes:
        """Return the answers for `CHUNK` rows from index `start` on as little-endian float32, NaN if not covered."""
        part = slice(start, start + CHUNK)
        asked = [numbers[part] for numbers in self.numbers]
        found = self.table.lookup_many(*asked, column=self.column)
        out = np.asarray(found, np.float32).reshape(len(asked[0]), -1).copy()
        out[~self.good[part]] = np.nan
        return out.astype("<f4", copy=False).tobytes()

    async def blocks(self, run: Callable[..., Any]) -> AsyncIterator[bytes]:
        """Yield the answer in pieces of `CHUNK` rows.

        run : takes a function and arguments, calls it in a thread, and returns an awaitable of its result.
        """
        for start in range(0, self.rows, CHUNK):
            yield await run(self.block, start)
