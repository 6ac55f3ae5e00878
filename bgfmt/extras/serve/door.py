"""What every request and every answer passes through: Host, CORS, headers, counting, the log."""

from __future__ import annotations

import re
import secrets
import sys
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bgfmt.extras.serve.parameters import Settings
from bgfmt.extras.serve.refusals import Refusal
from bgfmt.extras.serve.work import CLIENT, client_of

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
EXPOSED = b"ETag, Content-Range, Accept-Ranges, Retry-After, Bgfmt-Rows, Bgfmt-Columns, Bgfmt-Not-Covered"
PREFLIGHT = [
    (b"access-control-allow-methods", b"GET, HEAD, POST"),
    (b"access-control-allow-headers", b"Content-Type, Range, If-None-Match, If-Range"),
    (b"access-control-max-age", b"86400"),
]
METHODS = ("GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH")  # others are counted together
HOST = re.compile(r"\[[^]]*\]|[^:]*")  # the name in a Host header, without the port
Headers = list[tuple[bytes, bytes]]


class Door:
    """The outermost application.

    log : takes one line a request, or None.
    """

    def __init__(
        self, app: ASGIApp, metrics: Metrics, settings: Settings, log: Callable[[str], None] | None = None
    ) -> None:
        self.app, self.metrics, self.log = app, metrics, log
        self.hosts, self.origins = settings.hosts, set(settings.origins)
        self._common: Headers = [
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-resource-policy", b"cross-origin" if self.origins else b"same-origin"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = time.perf_counter()
        CLIENT.set(client_of((scope.get("client") or ("127.0.0.1",))[0]))
        headers = self._headers(scope)
        if any(name == b"transfer-encoding" for name, _ in scope["headers"]):
            headers = [*headers, (b"connection", b"close")]  # where such a body ends is not known to `Watch`
        answer = _Answer(send, headers)
        self.metrics.add("bgfmt_in_flight", 1)
        try:
            self._check_host(scope)
            if scope["method"] == "OPTIONS" and self._shared(scope):
                await answer.plain(204, PREFLIGHT)
            else:
                scope["app"] = self  # Starlette's routes then raise what they have no answer to
                await self.app(scope, receive, answer)
        except Refusal as refusal:
            await answer.error(refusal)
        except HTTPException as error:
            await answer.error(_not_there(scope, error))
        except Exception:
            number = secrets.token_hex(4)
            sys.stderr.write(f"bgfmt: error {number}\n{traceback.format_exc()}")
            if answer.status:
                raise OSError(f"error {number} after the answer had begun") from None
            await answer.error(Refusal("internal", f"an error of bgfmt's own, number {number} in its log"))
        finally:
            self.metrics.add("bgfmt_in_flight", -1)
            seconds = time.perf_counter() - begun
            route = scope.get("bgfmt.route", "other")
            method = scope["method"] if scope["method"] in METHODS else "other"
            self.metrics.add("bgfmt_requests_total", 1, route=route, method=method, status=answer.status)
            self.metrics.add("bgfmt_sent_bytes_total", answer.sent, route=route)
            self.metrics.took("bgfmt_request_seconds", seconds, route=route)
            if self.log is not None and scope["path"] not in ("/healthz", "/readyz"):
                self.log(_line(scope, method, answer, seconds))

    def _check_host(self, scope: Scope) -> None:
        headers = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        said = [HOST.findall(value.strip().lower())[0] for value in headers]
        if self.hosts is not None and (len(said) != 1 or said[0] not in self.hosts):
            raise Refusal("bad_host", "this name of the server is not served; --allow-host NAME allows it")

    def _shared(self, scope: Scope) -> bool:
        return bool(self.origins) and scope["path"].startswith(("/v1/", "/tables/"))

    def _headers(self, scope: Scope) -> Headers:
        if not self._shared(scope):
            return self._common
        out = [*self._common, (b"access-control-expose-headers", EXPOSED)]
        if "*" in self.origins:
            return [*out, (b"access-control-allow-origin", b"*")]
        origin = dict(scope["headers"]).get(b"origin", b"")
        allowed = [(b"access-control-allow-origin", origin)] * (origin.decode("latin-1") in self.origins)
        return [*out, (b"vary", b"Origin"), *allowed]


def _not_there(scope: Scope, error: HTTPException) -> Refusal:
    """Starlette's own 404 and 405 in our words."""
    if error.status_code == 405:
        allowed = ", ".join(sorted({*(error.headers or {}).get("Allow", "GET, HEAD").split(", ")}))
        return Refusal("method_not_allowed", f"methods here: {allowed}", headers=(("Allow", allowed),))
    if scope["path"].startswith("/tables/"):
        return Refusal("no_such_table", "there is no table of that name; /v1/tables lists them")
    return Refusal("no_such_route", "there is no such route; /openapi.json lists them")


class _Answer:
    """Sends on, with the common headers, and remembers status and bytes."""

    def __init__(self, send: Send, headers: Headers) -> None:
        self._send, self._headers = send, headers
        self.status = self.sent = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", []), *self._headers]
        else:
            self.sent += len(message.get("body", b""))
        await self._send(message)

    async def plain(self, status: int, headers: Headers, body: bytes = b"") -> None:
        await self({"type": "http.response.start", "status": status, "headers": headers})
        await self({"type": "http.response.body", "body": body})

    async def error(self, refusal: Refusal) -> None:
        await self.plain(refusal.status, *refusal.response())


def _line(scope: Scope, method: str, answer: _Answer, seconds: float) -> str:
    who = (scope.get("client") or "-")[0]
    query = scope.get("query_string", b"")
    target = scope.get("raw_path", b"").decode("latin-1") + (f"?{query.decode('latin-1')}" if query else "")
    said = "".join(c if c.isascii() and c.isprintable() else f"\\x{ord(c):02x}" for c in target[:500])
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S")
    return f"{stamp} {who} {method} {said} {answer.status} {answer.sent} {1000 * seconds:.1f} ms"


BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, float("inf"))
ESCAPED = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})  # in a label
#: what is counted: the type for Prometheus, and a sentence
FAMILIES = {
    "bgfmt_build_info": ("gauge", "The version."),
    "bgfmt_requests_total": ("counter", "Requests answered."),
    "bgfmt_request_seconds": ("histogram", "Time from a request to the end of its answer."),
    "bgfmt_positions_total": ("counter", "Positions asked, each of a bulk question."),
    "bgfmt_not_covered_total": ("counter", "Of them not covered."),
    "bgfmt_calculations_total": ("counter", "Calculations asked for, by what became of them."),
    "bgfmt_calculation_seconds": ("histogram", "Time of a calculation."),
    "bgfmt_in_flight": ("gauge", "Requests under way."),
    "bgfmt_sent_bytes_total": ("counter", "Bytes of bodies sent."),
    "bgfmt_table_bytes": ("gauge", "Size of each table served."),
}


class Metrics:
    """What has been asked and answered since the start. Routes are templates, never text of a client.

    worker : which of several processes this is, told in every line; None for the only one.
    """

    def __init__(self, version: str, tables: Iterable[tuple[str, int]], worker: int | None = None) -> None:
        self._of = () if worker is None else (("worker", worker),)
        #: by family, then by what its name ends in and its labels
        self._values: dict[str, dict[tuple[Any, ...], float]] = {
            family: defaultdict(int) for family in FAMILIES
        }
        self.add("bgfmt_build_info", 1, version=version)
        self.add("bgfmt_not_covered_total", 0)
        for name, size in tables:
            self.add("bgfmt_table_bytes", size, table=name)

    def add(self, family: str, number: float, suffix: str = "", **labels: str | float) -> None:
        self._values[family][suffix, *self._of, *labels.items()] += number

    def took(self, family: str, seconds: float, **labels: str) -> None:
        for bound in BOUNDS:
            self.add(family, seconds <= bound, "_bucket", **labels, le=bound)
        self.add(family, seconds, "_sum", **labels)
        self.add(family, 1, "_count", **labels)

    def calculated(self, outcome: str, seconds: float) -> None:
        """Count a calculation, and time one that was done."""
        self.add("bgfmt_calculations_total", 1, outcome=outcome)
        if outcome == "done":
            self.took("bgfmt_calculation_seconds", seconds)

    def asked(self, route: str, positions: int, not_covered: int = 0) -> None:
        self.add("bgfmt_positions_total", positions, route=route)
        self.add("bgfmt_not_covered_total", not_covered)

    def text(self) -> str:
        """All of it, in the text form that Prometheus reads."""
        out: list[str] = []
        for family, (kind, about) in FAMILIES.items():
            out += [f"# HELP {family} {about}", f"# TYPE {family} {kind}"]
            for (suffix, *labels), value in self._values[family].items():
                texts = ((name, "+Inf" if label == BOUNDS[-1] else str(label)) for name, label in labels)
                text = ",".join(f'{name}="{said.translate(ESCAPED)}"' for name, said in texts)
                out.append(f"{family}{suffix}{f'{{{text}}}' if text else ''} {value}")
        return "\n".join(out) + "\n"
