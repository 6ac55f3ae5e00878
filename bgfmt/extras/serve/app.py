"""The routes."""

from __future__ import annotations

import hashlib
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from bgfmt import __version__
from bgfmt.extras.serve import bulk, openapi, page, wildbg
from bgfmt.extras.serve.answers import Answers
from bgfmt.extras.serve.door import Door, Metrics, packed, to_json
from bgfmt.extras.serve.holdings import Holding, Holdings
from bgfmt.extras.serve.parameters import BINARY, ROUTES, Question, from_query, question
from bgfmt.extras.serve.refusals import Refusal
from bgfmt.extras.serve.work import Workers
from bgfmt.storage import system

QUICK = ("lookup", "race")  # answered at once; the others in a thread
PIECE = 256 << 10
RANGE = re.compile(r"(\d*+)\s*+-\s*+(\d*+)")
JSON, LINES, BYTES = "application/json", "application/x-ndjson", "application/octet-stream"


@dataclass(frozen=True)
class Settings:
    """What `bgfmt serve` was told."""

    hosts: tuple[str, ...] | None = None
    origins: tuple[str, ...] = ()
    download: bool = True
    settle: int | None = None
    max_rows: int = 10_000
    max_body: int = 4 << 20
    max_age: int = 3600
    connections: int = 1000


class Service:
    """The tables, the adviser and the counters behind the routes."""

    def __init__(self, holdings: Holdings, settings: Settings) -> None:
        self.holdings, self.settings = holdings, settings
        self.answers = Answers(holdings, settings.settle)
        self.workers = Workers()
        self._near = all(one.fd is not None for one in holdings)  # none that waits for a network
        self.metrics = Metrics(__version__, [(one.name, one.size) for one in holdings])
        self._stamp = f"{__version__} {holdings.fingerprints} {settings.settle}"

    def tag(self, route: str, asked: str) -> str:
        """A strong ETag of tables, version, route and question."""
        made = hashlib.sha256(f"{self._stamp}\0{route}\0{asked}".encode("utf-8", "surrogatepass")).hexdigest()
        return f'"{made[:32]}"'

    def url(self, name: str) -> str | None:
        """Where a table can be had."""
        from urllib.parse import quote

        return f"/tables/{quote(name)}" if self.settings.download else None

    def tables(self) -> dict[str, Any]:
        """The answer of `/v1/tables`."""
        from bgfmt import met

        features = ["match"] if self.settings.settle == 0 else ["settle", "match"]
        entries = [one.entry(None if one.fd is None else self.url(one.name)) for one in self.holdings]
        return {"version": __version__, "features": features, "mets": list(met.names()), "tables": entries}

    # -- questions ---------------------------------------------------------------------------------------

    def asking(self, route: str) -> Callable[[Request], Any]:
        """GET of a question, the position as parameter or in the path."""

        async def ask(request: Request) -> Response:
            _template(request, f"/v1/{route}" + ("/{position}" if "position" in request.path_params else ""))
            given = from_query(request.scope["query_string"], ROUTES[route])
            if "position" in request.path_params:
                if "position" in given:
                    raise Refusal(
                        "bad_parameter", "position is given twice, in the path and as a parameter", "position"
                    )
                given["position"] = request.path_params["position"]
            if "position" not in given:
                raise Refusal("bad_parameter", "position is missing", "position")
            asked = question(given)
            tag = self.tag(route, f"{given['position']}\0{asked!r}")
            if matches(request.headers.get("if-none-match"), tag):
                return Response(status_code=304, headers=self._kept(tag))
            answer, settled = await self._answer(route, asked, given["position"])
            if not settled:  # not to be kept: it can be better
                return _json(request, answer, {"Cache-Control": "no-store", "Vary": "Accept-Encoding"})
            return _json(request, answer, self._kept(tag))

        return ask

    async def _answer(self, route: str, asked: Question, text: str) -> tuple[dict[str, Any], bool]:
        try:
            if route in QUICK and self._near:
                answer, settled = self.answers.answer(route, asked)
            else:
                answer, settled = await self.workers.run(self.answers.answer, route, asked)
        except Refusal as refusal:
            self.metrics.asked(f"/v1/{route}", 1, refusal.code == "not_covered")
            raise
        self.metrics.asked(f"/v1/{route}", 1)
        if route == "probe":
            answer["question"]["position"] = text
        else:
            answer["asked"] = text
        return answer, settled

    def _kept(self, tag: str) -> dict[str, str]:
        return {
            "ETag": tag,
            "Cache-Control": f"public, max-age={self.settings.max_age}",
            "Vary": "Accept-Encoding",
        }

    def bulk(self, route: str) -> Callable[[Request], Any]:
        """POST of many questions."""

        async def ask(request: Request) -> Response:
            _template(request, f"/v1/{route}")
            kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind == BYTES and route == "lookup":
                return await self._binary(request)
            if kind not in (JSON, LINES):
                offered = f"{JSON}, {LINES}" + (f", {BYTES}" if route == "lookup" else "")
                raise Refusal("unsupported_type", f"the body is one of {offered}")
            lines = kind == LINES
            query = from_query(
                request.scope["query_string"], [n for n in ROUTES[route] if n != "position"] if lines else []
            )
            common = question(query)
            data = await bulk.body_of(request, self.settings.max_body)
            accepted = request.headers.get("accept-encoding")
            return await self.workers.run(self._many, route, data, common, lines, accepted)

        return ask

    def _many(self, route: str, data: bytes, common: Question, lines: bool, accepted: str | None) -> Response:
        most = self.settings.max_rows
        if lines:
            items = bulk.items_of_lines(data, most)
        else:
            items, common = bulk.items_of_object(route, data, most)
        found = list(bulk.answer_all(self.answers, route, items, common))
        missing = sum(bulk.refused(one) == "not_covered" for one in found)
        self.metrics.asked(f"/v1/{route}", len(found), missing)
        body = b"".join(to_json(one) + b"\n" for one in found) if lines else to_json({"results": found})
        return _packed(
            body, LINES if lines else JSON, accepted, {"Cache-Control": "no-store", "Vary": "Accept-Encoding"}
        )

    async def _binary(self, request: Request) -> Response:
        given = from_query(request.scope["query_string"], BINARY)
        if "table" not in given:
            raise Refusal("bad_parameter", "table is needed: bytes say no size of a table", "table")
        if any(not text for text in given.values()):
            raise Refusal("bad_parameter", "a parameter is empty", next(k for k, v in given.items() if not v))
        if given.get("rows", "counts") not in ("counts", "numbers"):
            raise Refusal("bad_parameter", "rows is counts or numbers", "rows")
        held = self.answers.holding(given["table"])
        assert held is not None
        data = await bulk.body_of(request, self.settings.max_body)
        numbers = given.get("rows") == "numbers"
        found = await self.workers.run(
            lambda: bulk.Binary(held.table, data, numbers=numbers, column=given.get("column"))
        )
        self.metrics.asked("/v1/lookup", found.rows, found.not_covered)
        headers = {
            "Content-Length": str(found.size),
            "Cache-Control": "no-store",
            "Bgfmt-Rows": str(found.rows),
            "Bgfmt-Columns": ",".join(found.columns),
            "Bgfmt-Not-Covered": str(found.not_covered),
        }
        return StreamingResponse(found.blocks(self.workers.run), 200, headers, media_type=BYTES)

    # -- everything else ---------------------------------------------------------------------------------

    async def listed(self, request: Request) -> Response:
        """`/v1/tables`."""
        _template(request, "/v1/tables")
        from_query(request.scope["query_string"], ())
        tag = self.tag("tables", "")
        if matches(request.headers.get("if-none-match"), tag):
            return Response(status_code=304, headers=self._kept(tag))
        return _json(request, self.tables(), self._kept(tag))

    async def table(self, request: Request) -> Response:
        """`/tables/{name}`."""
        _template(request, "/tables/{name}")
        held = self.holdings.by_name.get(request.path_params["name"])
        if held is None or held.fd is None or not self.settings.download:
            raise Refusal("no_such_table", "there is no table of that name; /v1/tables lists them")
        return send(request, held, self.workers)

    def foreign(
        self, route: str, answer: Callable[..., Any], known: tuple[str, ...]
    ) -> Callable[[Request], Any]:
        """`/eval` and `/move`."""

        async def ask(request: Request) -> Response:
            _template(request, route)
            try:
                given = from_query(request.scope["query_string"], known)
                tag = self.tag(route, repr(sorted(given.items())))
                if matches(request.headers.get("if-none-match"), tag):
                    return Response(status_code=304, headers=self._kept(tag))
                found = await self.workers.run(answer, self.answers, given)
                self.metrics.asked(route, 1)
            except Refusal as refusal:
                if refusal.code == "busy":
                    raise
                self.metrics.asked(route, 1, refusal.code == "not_covered")
                body = to_json(wildbg.refused(refusal))
                return Response(body, refusal.status, {"Cache-Control": "no-store"}, JSON)
            return _json(request, found, self._kept(tag))

        return ask

    async def health(self, request: Request) -> Response:
        """`/healthz`."""
        _template(request, "/healthz")
        said = {"status": "ok", "version": __version__, "tables": len(self.holdings)}
        return Response(to_json(said), 200, {"Cache-Control": "no-store"}, JSON)

    async def counters(self, request: Request) -> Response:
        """`/metrics`."""
        _template(request, "/metrics")
        kind = "text/plain; version=0.0.4; charset=utf-8"
        return Response(self.metrics.text(), 200, {"Cache-Control": "no-store", "Content-Type": kind})

    def _stored(self, request: Request, data: bytes, kind: str, caching: str, **more: str) -> Response:
        """A document that changes with the version only."""
        tag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
        headers = {"ETag": tag, "Cache-Control": caching, "Vary": "Accept-Encoding", **more}
        if matches(request.headers.get("if-none-match"), tag):
            return Response(status_code=304, headers=headers)
        return _packed(data, kind, request.headers.get("accept-encoding"), headers)

    async def description(self, request: Request) -> Response:
        """`/openapi.json`."""
        _template(request, "/openapi.json")
        data = to_json(openapi.document(self.settings, [one.name for one in self.holdings]))
        return self._stored(request, data, JSON, "no-cache")

    async def front(self, request: Request) -> Response:
        """`/`: the page."""
        _template(request, "/")
        policy = {"Content-Security-Policy": page.POLICY_HEADER}
        return self._stored(request, page.html("serve"), "text/html; charset=utf-8", "no-cache", **policy)

    async def asset(self, request: Request) -> Response:
        """`/assets/HASH/NAME`."""
        _template(request, "/assets/{hash}/{name}")
        name = request.path_params["name"]
        if request.path_params["hash"] != page.digest() or name not in page.assets():
            raise Refusal("no_such_route", "there is no such file of the page")
        return self._stored(
            request, page.assets()[name], page.media_type(name), "public, max-age=31536000, immutable"
        )

    def close(self) -> None:
        """Let the threads end."""
        self.workers.close()

    def app(self, log: Callable[[str], None] | None = None) -> ASGIApp:
        """The application."""
        routes = []
        for name in ROUTES:
            ask = self.asking(name)
            many = {} if name == "probe" else {"POST": self.bulk(name)}
            routes.append(Route(f"/v1/{name}", _by_method(ask, many), methods=["GET", *many]))
            routes.append(Route(f"/v1/{name}/{{position:path}}", ask, methods=["GET"]))
        for path, answer in (
            ("/v1/tables", self.listed),
            ("/tables/{name}", self.table),
            ("/eval", self.foreign("/eval", wildbg.evaluate, wildbg.EVAL)),
            ("/move", self.foreign("/move", wildbg.moves, wildbg.MOVE)),
            ("/healthz", self.health),
            ("/metrics", self.counters),
            ("/openapi.json", self.description),
            ("/", self.front),
            ("/assets/{hash}/{name}", self.asset),
        ):
            routes.append(Route(path, answer, methods=["GET"]))
        inner = Router(routes, redirect_slashes=False)
        return Door(inner, self.metrics, hosts=self.settings.hosts, origins=self.settings.origins, log=log)


def _by_method(ask: Callable[..., Any], many: dict[str, Callable[..., Any]]) -> Callable[[Request], Any]:
    async def either(request: Request) -> Response:
        answer: Response = await many.get(request.method, ask)(request)
        return answer

    return either


def _template(request: Request, route: str) -> None:
    request.scope["bgfmt.route"] = route


def _json(request: Request, value: Any, headers: dict[str, str]) -> Response:
    return _packed(to_json(value), JSON, request.headers.get("accept-encoding"), headers)


def _packed(data: bytes, kind: str, accepted: str | None, headers: dict[str, str]) -> Response:
    small = packed(data, accepted)
    if small is not None:
        return Response(small, 200, {**headers, "Content-Encoding": "gzip", "Content-Type": kind})
    return Response(data, 200, {**headers, "Content-Type": kind})


# -- the tables themselves: whole, or one byte range, in pieces, whatever the size --------------------------


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
    unit, _, rest = text.partition("=")
    ranges = [one.strip() for one in rest.split(",")]
    match = RANGE.fullmatch(ranges[0])
    if unit.strip().lower() != "bytes" or match is None:
        return None
    if len(ranges) > 1:
        if all(not one or RANGE.fullmatch(one) for one in ranges):
            raise _beyond("one range a request", size)
        return None
    if match.groups() == ("", ""):
        return None
    first, last = (None if n == "" else int(n[:30]) for n in match.groups())
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
