"""The outermost layer of the service: checks Host, adds headers, turns errors into responses, logs and counts."""

from __future__ import annotations

import re
import secrets
import sys
import time
import traceback
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bgfmt.extras.serve.metrics import Metrics
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
RawHeaders = list[tuple[bytes, bytes]]


class Middleware:
    """The outermost ASGI application.

    log : gets one line for each request; None for no log.
    """

    def __init__(
        self, app: ASGIApp, metrics: Metrics, settings: Settings, log: Callable[[str], None] | None = None
    ) -> None:
        self.app = app
        self.metrics = metrics
        self.log = log
        self.hosts = settings.hosts
        self.origins = set(settings.origins)
        self._common: RawHeaders = [
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-resource-policy", b"cross-origin" if self.origins else b"same-origin"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = time.perf_counter()
        CLIENT.set(client_of((scope.get("client") or ("127.0.0.1",))[0]))
        answer = _Answer(send, self._headers(scope))
        self.metrics.in_flight.inc()
        try:
            self._check_host(scope)
            if scope["method"] == "OPTIONS" and self._allows_cors(scope):
                await answer.send_all(204, PREFLIGHT)
            else:
                scope["app"] = self  # Starlette's routes then raise what they have no answer to
                await self.app(scope, receive, answer)
        except Refusal as refusal:
            await answer.error(refusal)
        except HTTPException as error:
            await answer.error(_routing_refusal(scope, error))
        except Exception:
            number = secrets.token_hex(4)
            sys.stderr.write(f"bgfmt: error {number}\n{traceback.format_exc()}")
            if answer.status:
                raise OSError(f"error {number} after the answer had begun") from None
            await answer.error(Refusal("internal", f"internal error, number {number} in the log"))
        finally:
            self.metrics.in_flight.dec()
            seconds = time.perf_counter() - begun
            route = scope.get("bgfmt.route", "other")
            method = scope["method"] if scope["method"] in METHODS else "other"
            self.metrics.count_request(route, method, answer.status, answer.sent, seconds)
            if self.log is not None and scope["path"] not in ("/healthz", "/readyz"):
                self.log(_line(scope, method, answer, seconds))

    def _check_host(self, scope: Scope) -> None:
        names = [HOST.findall(host.strip().lower())[0] for host in Headers(scope=scope).getlist("host")]
        if self.hosts is not None and (len(names) != 1 or names[0] not in self.hosts):
            raise Refusal("bad_host", "unknown host name; --allow-host NAME allows it")

    def _allows_cors(self, scope: Scope) -> bool:
        return bool(self.origins) and scope["path"].startswith(("/v1/", "/tables/"))

    def _headers(self, scope: Scope) -> RawHeaders:
        if not self._allows_cors(scope):
            return self._common
        out = [*self._common, (b"access-control-expose-headers", EXPOSED)]
        if "*" in self.origins:
            return [*out, (b"access-control-allow-origin", b"*")]
        out.append((b"vary", b"Origin"))
        origin = Headers(scope=scope).get("origin", "")
        if origin in self.origins:
            out.append((b"access-control-allow-origin", origin.encode("latin-1")))
        return out


def _routing_refusal(scope: Scope, error: HTTPException) -> Refusal:
    """Return Starlette's 404 or 405 as a refusal with our text."""
    if error.status_code == 405:
        allowed = ", ".join(sorted({*(error.headers or {}).get("Allow", "GET, HEAD").split(", ")}))
        return Refusal(
            "method_not_allowed", f"this route only takes {allowed}", headers=(("Allow", allowed),)
        )
    if scope["path"].startswith("/tables/"):
        return Refusal("no_such_table", "no such table; /v1/tables lists them")
    return Refusal("no_such_route", "no such route; /openapi.json lists them")


class _Answer:
    """Sends a response with the common headers added, and records its status and number of bytes."""

    def __init__(self, send: Send, headers: RawHeaders) -> None:
        self._send = send
        self._headers = headers
        self.status = self.sent = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", []), *self._headers]
        else:
            self.sent += len(message.get("body", b""))
        await self._send(message)

    async def send_all(self, status: int, headers: RawHeaders, body: bytes = b"") -> None:
        """Send a complete response."""
        await self({"type": "http.response.start", "status": status, "headers": headers})
        await self({"type": "http.response.body", "body": body})

    async def error(self, refusal: Refusal) -> None:
        """Send the error response that a refusal describes."""
        await self.send_all(refusal.status, *refusal.response())


def _line(scope: Scope, method: str, answer: _Answer, seconds: float) -> str:
    who = (scope.get("client") or "-")[0]
    parts = filter(None, (scope.get("raw_path", b""), scope.get("query_string", b"")))
    target = b"?".join(parts).decode("latin-1")
    said = "".join(c if c.isascii() and c.isprintable() else f"\\x{ord(c):02x}" for c in target[:500])
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S")
    return f"{stamp} {who} {method} {said} {answer.status} {answer.sent} {1000 * seconds:.1f} ms"
