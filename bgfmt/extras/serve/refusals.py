"""Errors as HTTP responses: a status, a code and a one-line message."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

from bgfmt.cli.options import plain_value
from bgfmt.errors import (
    BgfmtError,
    FormatError,
    NetworkError,
    NotCoveredError,
    PositionError,
    SourceChangedError,
)

CODES = {
    400: "bad_request bad_position bad_parameter bad_body",
    404: "not_covered no_such_table no_such_route",
    405: "method_not_allowed",
    408: "too_slow",
    413: "too_large",
    415: "unsupported_type",
    416: "bad_range",
    421: "bad_host",
    431: "head_too_large",
    500: "internal",
    503: "busy",
}
STATUSES = {code: status for status, codes in CODES.items() for code in codes.split()}
RETRY = (("Retry-After", "1"),)  # a header
MAX_MESSAGE_CHARACTERS = 600  # characters of a message; a question's own text in it is cut with it


@dataclass
class Refusal(Exception):
    """A response that is an error.

    parameter, row : the parameter or the row of a bulk request that caused it. headers : additional headers.
    """

    code: str
    message: str
    parameter: str | None = None
    row: int | None = None
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def status(self) -> int:
        """HTTP status of the error's code, such as 404 for "no_such_table"."""
        return STATUSES[self.code]

    def body(self) -> dict[str, Any]:
        """Return the body for JSON: `error` with `status`, `code`, `message` and, if known, `parameter` and `row`."""
        message = " ".join(self.message.split())[:MAX_MESSAGE_CHARACTERS]
        more = {"parameter": self.parameter, "row": self.row}
        known = {name: value for name, value in more.items() if value is not None}
        return {"error": {"status": self.status, "code": self.code, "message": message} | known}

    def response(self) -> tuple[list[tuple[bytes, bytes]], bytes]:
        """Return the headers and the body as bytes."""
        data = to_json(self.body())
        headers = {"content-type": "application/json", "content-length": str(len(data))}
        headers |= {"cache-control": "no-store"} | {name.lower(): value for name, value in self.headers}
        return [(name.encode(), value.encode()) for name, value in headers.items()], data


def to_json(value: Any) -> bytes:
    """Encode a value as JSON; numbers keep all digits, and a lone surrogate becomes its escape."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=plain_value)
    return text.encode("utf-8", "backslashreplace")


def refusal_of(error: BgfmtError) -> Refusal:
    """Return the error response for an error of bgfmt; an error that is not the client's or a table's is raised."""
    if isinstance(error, NotCoveredError):
        return Refusal("not_covered", str(error), "position")
    if isinstance(error, PositionError):
        return Refusal("bad_position", str(error), "position")
    if isinstance(error, FormatError | NetworkError | SourceChangedError):  # of a table, while it was served
        place, colon, what = str(error).partition(": ")
        return Refusal("internal", f"{os.path.basename(place)}{colon}{what}")
    raise error
