"""The routes of the HTTP service."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import re
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from pathlib import PurePath
from typing import Any, TypeVar
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from bgfmt import __version__, met
from bgfmt.analysis.questions import QUESTIONS, Question
from bgfmt.errors import BgfmtError
from bgfmt.extras.serve import bulk, openapi, page, wildbg
from bgfmt.extras.serve.answers import Answers
from bgfmt.extras.serve.holdings import Holding, Holdings
from bgfmt.extras.serve.metrics import Metrics
from bgfmt.extras.serve.middleware import Middleware
from bgfmt.extras.serve.openapi import BYTES, JSON, LINES
from bgfmt.extras.serve.parameters import Settings, from_query, position_question, question
from bgfmt.extras.serve.refusals import Refusal, refusal_of, to_json
from bgfmt.extras.serve.work import CalculationTime, NeedsCalculationError, Workers
from bgfmt.storage import system

QUICK = ("lookup", "race", "cube")  # read a row or two of a table; others more, in a thread
SMALL_BYTES = 16 << 10  # of a body that needs no thread to be read or packed
FEW_ITEMS = 20  # of a request that is no large one
PIECE_BYTES = 256 << 10
MIN_COMPRESSED_BYTES = 1024  # bytes that are worth packing
#: a Range header: the first range, and further ones
RANGES = re.compile(r"bytes\s*=\s*(\d{0,30})-(\d{0,30})(,\s*\d*-\d*)*", re.IGNORECASE)
GZIP = re.compile(r"(gzip|\*)(?!\s*;\s*q=0(\.0*)?\s*(,|$))", re.IGNORECASE)  # in Accept-Encoding
BINARY = ("table", "column", "rows")
NOT_KEPT = {"Cache-Control": "no-store", "Vary": "Accept-Encoding"}
Ask = Callable[[Request], Awaitable[Response]]
T = TypeVar("T")


class Service:
    """Tables, adviser and counters behind the routes."""

    def __init__(self, holdings: Holdings, settings: Settings, worker: int | None = None) -> None:
        self.holdings = holdings
        self.settings = settings
        self.metrics = Metrics(__version__, [(one.name, one.size) for one in holdings], worker)
        told = self.metrics.count_calculation
        self.answers = Answers(holdings, settings.settle, CalculationTime(settings.calculation, told))
        self.workers = Workers(settings.share, settings.waiting, told)
        self._near = all(one.fd is not None for one in holdings)  # none that waits for a network
        tables = " ".join(f"{one.name}:{one.fingerprint}" for one in holdings)
        self._stamp = f"{__version__} {tables} {settings.settle}"

    async def _reply(
        self, request: Request, asked: str, answer: Callable[[], Awaitable[tuple[Any, bool]]]
    ) -> Response:
        """Return a JSON response with a strong ETag computed from tables, version, route and query.

        answer : returns the value, and whether it is final; one that is not must not be cached.
        """
        text = f"{self._stamp}\0{request.scope['bgfmt.route']}\0{asked}"
        tag = f'"{hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]}"'
        headers = {"ETag": tag, "Cache-Control": f"public, max-age={self.settings.max_age}"}
        headers |= {"Vary": "Accept-Encoding"}
        if (same := unchanged(request, headers)) is not None:
            return same
        value, settled = await answer()
        return _compressed_response(request, to_json(value), JSON, headers if settled else NOT_KEPT)

    # -- questions ---------------------------------------------------------------------------------------

    async def answer_query(self, route: str, request: Request) -> Response:
        """Answer a GET query; the position is a parameter or part of the path.

        route : the query, such as "cube".
        """
        given = from_query(request.scope["query_string"], QUESTIONS[route], request.path_params)
        asked = position_question(given)
        text = given["position"]
        return await self._reply(request, f"{text}\0{asked!r}", lambda: self._answer(route, asked, text))

    async def _answer(self, route: str, asked: Question, text: str) -> tuple[dict[str, Any], bool]:
        try:
            answer, settled = await self._run_query(route, asked)
        except Refusal as refusal:
            self.metrics.count_positions(f"/v1/{route}", 1, refusal.code == "not_covered")
            raise
        self.metrics.count_positions(f"/v1/{route}", 1)
        if route != "probe":
            return {"asked": text} | answer, settled
        answer["question"]["position"] = text
        return answer, settled

    async def _run_query(self, route: str, asked: Question) -> tuple[dict[str, Any], bool]:
        if self._is_fast(route, asked):
            with contextlib.suppress(NeedsCalculationError):
                return self.workers.at_once(self.answers.answer, route, asked)
        return await self.workers.answer(self.answers.answer, route, asked)

    def _is_fast(self, route: str, asked: Question) -> bool:
        """Return whether the tables answer fast enough (a millisecond or two) to do without a thread."""
        if not self._near or asked.insight or asked.scores is not None:
            return False
        return route in QUICK or (route == "play" and (asked.roll or "").lower() != "all")

    async def bulk(self, route: str, request: Request) -> Response:
        """Answer a POST of many queries of one kind: JSON, lines of JSON, or bytes for look-ups.

        route : the kind, such as "cube".
        """
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind == BYTES and route == "lookup":
            return await self._binary(request)
        if kind not in (JSON, LINES):
            offered = f"{JSON}, {LINES}" + (f", {BYTES}" if route == "lookup" else "")
            raise Refusal("unsupported_type", f"the body must be one of {offered}")
        lines = kind == LINES
        known = [name for name in QUESTIONS[route] if lines and name != "position"]
        common = question(from_query(request.scope["query_string"], known))
        data = await bulk.body_of(request, self.settings.max_body)
        body = await self.answer_bulk(route, data, common, lines)
        return await self._run_on_body(len(body), _compressed_response, request, body, kind, NOT_KEPT)

    async def answer_bulk(self, route: str, data: bytes, common: Question, lines: bool) -> bytes:
        """Return the answers to a body with many queries, as lines of JSON or one object.

        Parameters
        ----------
        route : the query, such as "cube".
        data : the body.
        common : parameters for all items that do not have their own.
        lines : True for one item on each line, False for one JSON object with all.
        """
        most = self.settings.max_rows
        items, common = await self._run_on_body(len(data), bulk.items_of, route, data, common, lines, most)
        if common.table is not None:
            self.answers.table_named(common.table)
        answers = bulk.answer_all(self.answers, route, items, common)
        lane = self.workers.quick if len(items) <= FEW_ITEMS else self.workers.bulk
        if bulk.calculates(items, common):
            lane = self.workers.calculations
        parts: list[bytes] = []
        while len(parts) < len(items):
            part, missing = await self.workers.run(bulk.part_of, answers, lane=lane)
            self.metrics.count_positions(f"/v1/{route}", len(part), missing)
            parts += part
        return b"".join(one + b"\n" for one in parts) if lines else b'{"results":[' + b",".join(parts) + b"]}"

    async def _run_on_body(self, size: int, job: Callable[..., T], *arguments: Any) -> T:
        """Return the result of `job` on a body of `size` bytes; a large one runs in a thread."""
        if size <= SMALL_BYTES:
            return job(*arguments)
        return await self.workers.run(job, *arguments, lane=self.workers.bulk)

    async def _binary(self, request: Request) -> Response:
        given = from_query(request.scope["query_string"], BINARY)
        if "table" not in given:
            raise Refusal("bad_parameter", "the parameter table is needed for a body of bytes", "table")
        if given.get("rows", "counts") not in ("counts", "numbers"):
            raise Refusal("bad_parameter", "rows must be counts or numbers", "rows")
        table = self.answers.table_named(given["table"]).table
        column = given.get("column")
        numbers = given.get("rows") == "numbers"
        data = await bulk.body_of(request, self.settings.max_body)
        lane = self.workers.quick if len(data) <= SMALL_BYTES else self.workers.bulk
        run = partial(self.workers.run, lane=lane)
        rows = await run(lambda: bulk.Binary(table, data, numbers=numbers, column=column))
        self.metrics.count_positions("/v1/lookup", rows.rows, rows.not_covered)
        headers = {
            "Content-Length": str(rows.rows * len(rows.columns) * 4),
            "Cache-Control": "no-store",
            "Bgfmt-Rows": str(rows.rows),
            "Bgfmt-Columns": ",".join(rows.columns),
            "Bgfmt-Not-Covered": str(rows.not_covered),
        }
        return StreamingResponse(rows.blocks(run), 200, headers, media_type=BYTES)

    # -- everything else ---------------------------------------------------------------------------------

    async def list_tables(self, request: Request) -> Response:
        """Answer `/v1/tables`: version, features, match equity tables, and the served tables."""
        from_query(request.scope["query_string"], ())
        features = ["match"] if self.settings.settle == 0 else ["settle", "match"]
        entries = [held.entry(self._url(held)) for held in self.holdings]
        found = {"version": __version__, "features": features, "mets": list(met.names()), "tables": entries}
        return _static_response(request, to_json(found), JSON, f"public, max-age={self.settings.max_age}")

    def _url(self, held: Holding) -> str | None:
        """Return the path from which a table's file can be downloaded, None if it is not offered."""
        return f"/tables/{quote(held.name)}" if held.fd is not None and self.settings.download else None

    async def table(self, request: Request) -> Response:
        """Answer `/tables/NAME` with the file of a table."""
        held = self.holdings.by_name.get(request.path_params["name"])
        if held is None or self._url(held) is None:
            raise Refusal("no_such_table", "no such table; /v1/tables lists them")
        return send(request, held)

    async def answer_wildbg(
        self, answer: Callable[..., Any], known: tuple[str, ...], request: Request
    ) -> Response:
        """Answer a route that the HTTP service of wildbg has too, in its form.

        answer : computes the value from the answers and the parameters. known : names of the parameters.
        """
        route = request.scope["bgfmt.route"]

        async def reply() -> tuple[Any, bool]:
            value, settled = await self.workers.answer(answer, self.answers, given)
            self.metrics.count_positions(route, 1)
            return value, settled

        try:
            given = from_query(request.scope["query_string"], known)
            return await self._reply(request, repr(sorted(given.items())), reply)
        except (Refusal, BgfmtError) as error:
            refusal = error if isinstance(error, Refusal) else refusal_of(error)
        if refusal.status == 503:
            raise refusal
        self.metrics.count_positions(route, 1, refusal.code == "not_covered")
        body = refusal.body()
        return Response(
            to_json({"message": body["error"]["message"], **body}), refusal.status, NOT_KEPT, JSON
        )

    async def health(self, _: Request) -> Response:
        """Answer `/healthz`: status, version, number of tables."""
        state = {"status": "ok", "version": __version__, "tables": len(self.holdings)}
        return Response(to_json(state), 200, {"Cache-Control": "no-store"}, JSON)

    async def counters(self, _: Request) -> Response:
        """Answer `/metrics`: counters in the text format of Prometheus."""
        kind = "text/plain; version=0.0.4; charset=utf-8"
        return Response(self.metrics.text(), 200, {"Cache-Control": "no-store"}, kind)

    async def description(self, request: Request) -> Response:
        """Answer with the OpenAPI document."""
        data = to_json(openapi.document(self.settings, [one.name for one in self.holdings]))
        return _static_response(request, data, JSON)

    async def front(self, request: Request) -> Response:
        """Answer `/` with the HTML page of the service."""
        policy = {"Content-Security-Policy": page.POLICY_HEADER}
        return _static_response(request, page.html("serve"), "text/html; charset=utf-8", **policy)

    async def asset(self, request: Request) -> Response:
        """Answer with a script or style sheet of the page."""
        name = request.path_params["name"]
        if request.path_params["hash"] != page.digest() or name not in page.assets():
            raise Refusal("no_such_route", "no such file of the page")
        caching = "public, max-age=31536000, immutable"
        return _static_response(request, page.assets()[name], page.TYPES[PurePath(name).suffix], caching)

    def app(self, log: Callable[[str], None] | None = None) -> ASGIApp:
        """Return the ASGI application.

        log : called with one line for each request.
        """
        routes = []
        for name in QUESTIONS:
            ask = partial(self.answer_query, name)
            routes.append(_route(f"/v1/{name}", ask, None if name == "probe" else partial(self.bulk, name)))
            routes.append(_route(f"/v1/{name}/{{position:path}}", ask))
        others: dict[str, Ask] = {
            "/v1/tables": self.list_tables,
            "/tables/{name}": self.table,
            "/eval": partial(self.answer_wildbg, wildbg.evaluate, wildbg.EVAL),
            "/move": partial(self.answer_wildbg, wildbg.moves, wildbg.MOVE),
            "/healthz": self.health,
            "/readyz": self.health,
            "/metrics": self.counters,
            "/openapi.json": self.description,
            "/v1/openapi.json": self.description,
            "/": self.front,
            "/assets/{hash}/{name}": self.asset,
        }
        routes += [_route(path, answer) for path, answer in others.items()]
        inner = Router(routes, redirect_slashes=False)
        return Middleware(inner, self.metrics, self.settings, log)


def _route(path: str, get: Ask, post: Ask | None = None) -> Route:
    """Return a route that stores its template in the scope, for the counters."""
    template = path.replace(":path", "")

    async def ask(request: Request) -> Response:
        request.scope["bgfmt.route"] = template
        return await (post if post and request.method == "POST" else get)(request)

    return Route(path, ask, methods=["GET", "POST"] if post else ["GET"])


def _static_response(
    request: Request, data: bytes, kind: str, caching: str = "no-cache", **more: str
) -> Response:
    """Return a response for a document that changes with the version only."""
    tag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": caching, "Vary": "Accept-Encoding", **more}
    return unchanged(request, headers) or _compressed_response(request, data, kind, headers)


def _compressed_response(request: Request, data: bytes, kind: str, headers: dict[str, str]) -> Response:
    """Return a response with the data, compressed by gzip if the client accepts it and it saves something."""
    if len(data) > MIN_COMPRESSED_BYTES and GZIP.search(request.headers.get("accept-encoding", "")):
        data = gzip.compress(data, 5, mtime=0)
        headers = {**headers, "Content-Encoding": "gzip"}
    return Response(data, 200, {**headers, "Content-Type": kind})


# -- the tables themselves: whole, or one byte range, in pieces, whatever the size --------------------------


def send(request: Request, held: Holding) -> Response:
    """Return the response to a request for the file of a served table (`held`), or for a byte range of it."""
    tag = f'"{held.fingerprint}"'
    headers = {
        "Accept-Ranges": "bytes",
        "ETag": tag,
        "Cache-Control": "public, max-age=3600, no-transform",
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(held.name, safe='')}",
    }
    if (same := unchanged(request, headers)) is not None:
        return same
    asked = request.headers.get("range", "") if request.headers.get("if-range", tag).strip() == tag else ""
    found = byte_range(asked, held.size)
    first, last = found or (0, held.size - 1)
    if found:
        headers["Content-Range"] = f"bytes {first}-{last}/{held.size}"
    headers["Content-Length"] = str(last - first + 1)
    return StreamingResponse(_pieces(held, first, last), 206 if found else 200, headers, media_type=BYTES)


def byte_range(text: str, size: int) -> tuple[int, int] | None:
    """Return the first and last byte that a Range header requests, None for a header that must be ignored.

    Refusal for a range beyond the file, or more than one. text : value of the header. size : of the file in bytes.
    """
    found = RANGES.fullmatch(text.strip())
    if found is None or not (found[1] or found[2]):
        return None
    first = int(found[1]) if found[1] else max(0, size - int(found[2]))
    last = int(found[2]) if found[1] and found[2] else max(first, size)
    if last < first:
        return None
    if found[3] or first >= size:
        one = f"a request may have one byte range, which begins within the {size:,} bytes of the file"
        raise Refusal("bad_range", one, headers=(("Content-Range", f"bytes */{size}"),))
    return first, min(last, size - 1)


def unchanged(request: Request, headers: dict[str, str]) -> Response | None:
    """Return a 304 response with these headers if If-None-Match has their ETag, else None."""
    header = request.headers.get("if-none-match", "")
    tags = [one.strip().removeprefix("W/") for one in header.split(",")]
    same = headers["ETag"] in tags or header.strip() == "*"
    return Response(status_code=304, headers=headers) if same else None


def _pieces(held: Holding, first: int, last: int) -> Iterator[bytes]:
    """Yield the bytes of a file in pieces; Starlette reads them in threads of its own."""
    at = first
    fd = held.fd
    assert fd is not None
    while at <= last:
        piece = system.read_at(fd, min(PIECE_BYTES, last - at + 1), at)
        if not piece:
            raise OSError(f"{held.name} was truncated while it was sent")
        yield piece
        at += len(piece)
