"""The tables themselves: whole, or one byte range, in pieces, whatever the size."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from bgfmt.extras.serve.holdings import Holding
from bgfmt.extras.serve.refusals import Refusal
from bgfmt.extras.serve.work import Workers
from bgfmt.storage import system

PIECE = 256 << 10
RANGE = re.compile(r"(\d*+)\s*+-\s*+(\d*+)")


def send(request: Request, held: Holding, workers: Workers) -> Response:
    """The answer to a request for a table's file."""
    tag = f'"{held.fingerprint}"'
    headers = {
        "Accept-Ranges": "bytes",
        "ETag": tag,
        "Cache-Control": "public, max-age=3600, no-transform",
        "Content-Disposition": f'attachment; filename="{_ascii(held.name)}"',
    }
    if matches(request.headers.get("if-none-match"), tag):
        return Response(status_code=304, headers=headers)
    asked = request.headers.get("range")
    if asked is not None and request.headers.get("if-range", tag).strip() != tag:
        asked = None
    first, last, status = 0, held.size - 1, 200
    found = None if asked is None else byte_range(asked, held.size)
    if found is not None:
        (first, last), status = found, 206
        headers["Content-Range"] = f"bytes {first}-{last}/{held.size}"
    headers["Content-Length"] = str(last - first + 1)
    return StreamingResponse(
        _pieces(held, first, last, workers), status, headers, media_type="application/octet-stream"
    )


def byte_range(text: str, size: int) -> tuple[int, int] | None:
    """First and last byte of a Range header, None where it is not of a form to be heeded; Refusal beyond the file."""
    unit, _, said = text.partition("=")
    ranges = [one.strip() for one in said.split(",")]
    found = RANGE.fullmatch(ranges[0])
    if unit.strip().lower() != "bytes" or found is None:
        return None
    if len(ranges) > 1:
        if all(not one or RANGE.fullmatch(one) for one in ranges):
            raise _beyond("one range a request", size)
        return None
    if found.groups() == ("", ""):
        return None
    first, last = (None if n == "" else int(n[:30]) for n in found.groups())
    if first is None:
        assert last is not None
        if last == 0 or size == 0:
            raise _beyond("an empty range", size)
        return max(0, size - last), size - 1
    if last is not None and last < first:
        return None
    if first >= size:
        raise _beyond(f"the file has {size:,} bytes", size)
    return first, size - 1 if last is None else min(last, size - 1)


def _beyond(why: str, size: int) -> Refusal:
    return Refusal("bad_range", why, headers=(("Content-Range", f"bytes */{size}"),))


def matches(header: str | None, tag: str) -> bool:
    """Whether an If-None-Match header names the tag."""
    if header is None:
        return False
    tags = [one.strip().removeprefix("W/") for one in header.split(",")]
    return tag in tags or header.strip() == "*"


def _ascii(name: str) -> str:
    return "".join(c if c.isascii() and c.isprintable() and c not in '"\\' else "_" for c in name)


async def _pieces(held: Holding, first: int, last: int, workers: Workers) -> AsyncIterator[bytes]:
    at, fd = first, held.fd
    assert fd is not None
    while at <= last:
        piece = await workers.read(system.read_at, fd, min(PIECE, last - at + 1), at)
        if not piece:
            raise OSError(f"{held.name} was cut short while it was sent")
        yield piece
        at += len(piece)
