"""The service as anybody reaches it, without a socket: bodies of bulk requests, and whole requests."""

from __future__ import annotations

import asyncio
import io
from contextlib import redirect_stderr
from functools import cache
from typing import Any

from bgfmt.extras.serve import bulk
from bgfmt.extras.serve.app import Service
from bgfmt.extras.serve.holdings import Holdings
from bgfmt.extras.serve.parameters import Settings, question
from tests.fuzz.corpus import FIXTURES

BODIES = (
    b'lookup {"positions": ["1 1 / 1", {"position": "0 1 / 2", "table": "ts_05x04.bd"}], "table": "ts_05x04.bd"}',
    b'race {"positions": ["1 1 / 1"]}',
    b'cube {"positions": ["1 1 / 1 1"], "away": "3-5", "crawford": false, "cube_value": 2}',
    b'play {"positions": [{"position": "1 1 / 1", "roll": "61", "top": 3}], "cube": "owned", "measure": "mean"}',
    b'lookup "1 1 / 1"\n{"position": "2 / 1"}\n\n"dwMAAN4FAAAAAA"\n',
    b"rows \x01\x00\x00\x00\x00\x01\x00\x00\x00\x00" * 3,
    b"numbers \x01\x00\x00\x00\x07\x00\x00\x00",
)
REQUESTS = (
    b"GET /v1/lookup position=1+1+/+1&table=ts_05x04.bd host: localhost\naccept-encoding: gzip\n\n",
    b"GET /v1/cube/1%201%20/%201 away=3-5&met=x host: localhost\nif-none-match: \"abc\", *\n\n",
    b"GET /v1/play position=1+1+/+1&roll=all host: localhost\n\n",
    b"GET /v1/probe position=dwMAAN4FAAAAAA:cAkAAAAAAAAE host: localhost\n\n",
    b"GET /tables/ts_05x04.bd  host: localhost\nrange: bytes=0-99, 200-\nif-range: x\n\n",
    b"GET /eval p1=1&p2=1&p22=-2 host: localhost\n\n",
    b"GET /move p1=1&p2=1&p22=-2&die1=3&die2=1 host: localhost\n\n",
    b"GET /assets/00/page.js  host: localhost\n\n",
    b"GET /metrics  host: localhost\n\n",
    b"POST /v1/lookup table=ts_05x04.bd host: localhost\ncontent-type: application/json\ncontent-encoding: gzip\n"
    b'content-length: 5\n\n{"positions": ["1 1 / 1"]}',
    b"POST /v1/lookup table=ts_05x04.bd&rows=numbers host: localhost\ncontent-type: application/octet-stream\n\n"
    b"\x01\x00\x00\x00\x07\x00\x00\x00",
    b"POST /v1/race  host: localhost\ncontent-type: application/x-ndjson\norigin: x\n\n\"1 1 / 1\"\n\"2 / 1\"\n",
)  # fmt: skip


@cache
def service() -> Service:
    """A service with one small table, which calculates nothing."""
    held = Holdings.open([str(FIXTURES / "golden" / "gnubg" / "ts_05x04.bd")])
    return Service(held, Settings(settle=0, max_rows=8))


@cache
def app() -> Any:
    return service().app()


@cache
def loop() -> asyncio.AbstractEventLoop:
    """One for all requests."""
    return asyncio.new_event_loop()


def body(data: bytes) -> None:
    """Answer a body; its first word says the route, or that it is plain bytes."""
    word, _, rest = data.partition(b" ")
    if word in (b"rows", b"numbers"):
        found = bulk.Binary(service().holdings[0].table, rest, numbers=word == b"numbers", column=None)
        for start in range(0, found.rows, 1 << 16):
            found.block(start)
        return
    route = word.decode("ascii", "replace") if word in (b"lookup", b"race", b"cube", b"play") else "lookup"
    loop().run_until_complete(service().answer_bulk(route, rest, question({}), not rest.startswith(b"{")))


def request(data: bytes) -> str:
    """Send a request to the application; a status of 500 is a failure."""
    head, _, content = data.partition(b"\n\n")
    first, *lines = head.split(b"\n")
    words = first.split(b" ", 4)
    method, path, query = [*words, b"", b"", b""][:3]
    headers = [tuple(line.lower().split(b": ", 1)) for line in [*words[3:4], *lines] if b": " in line]
    if len(words) > 4:
        headers += [(b"host", words[4])]
    return loop().run_until_complete(_answer(method, path, query, headers, content))


async def _answer(method: bytes, path: bytes, query: bytes, headers: list[Any], content: bytes) -> str:
    from urllib.parse import unquote_to_bytes

    scope = {
        "type": "http", "http_version": "1.1", "method": method.decode("latin-1"), "raw_path": path,
        "path": unquote_to_bytes(path).decode("utf-8", "replace"), "root_path": "", "scheme": "http",
        "query_string": query, "headers": headers, "client": None, "server": ("localhost", 80),
    }  # fmt: skip
    status = 0

    received = False

    async def receive() -> dict[str, Any]:
        nonlocal received
        if received:  # the client waits for its answer
            await asyncio.Event().wait()
        received = True
        return {"type": "http.request", "body": content, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        nonlocal status
        status = message.get("status", status)
        for name, value in message.get("headers", ()):
            assert b"\n" not in name + value, "a header of two lines"

    said = io.StringIO()
    with redirect_stderr(said):
        await app()(scope, receive, send)
    assert status not in (0, 500), said.getvalue() or "no answer"
    return str(status)
