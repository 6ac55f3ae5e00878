"""What an address says, and what a web server's answer says beside its bytes."""

from __future__ import annotations

import os
import time
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from bgfmt.errors import NetworkError


def shorn(url: str, urllib3: Any) -> tuple[str, str, dict[str, str]]:
    """The address without user and password, its name in messages, and the header that carries them."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise NetworkError(f"{url.rpartition('@')[2][:200]}: {error}") from None
    if not host:
        raise NetworkError(f"{url[:200]}: names no server")
    shown = (f"[{host}]" if ":" in host else host) + (f":{port}" if port is not None else "")
    clean = urlunsplit((parts.scheme.lower(), shown, parts.path or "/", parts.query, ""))
    if parts.username is None:
        return clean, clean, {}
    user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return clean, clean, dict(urllib3.make_headers(basic_auth=user))


def mark(response: Any) -> str:
    """What tells a replaced file: ETag, else Last-Modified, else the size."""
    tag = response.headers.get("ETag") or response.headers.get("Last-Modified")
    if tag is None:
        tag = response.headers.get("Content-Range", "").rpartition("/")[2]
    return str(tag).removeprefix("W/")


def retry_after(response: Any) -> float:
    """Seconds that a server asks to wait."""
    from email.utils import parsedate_to_datetime

    said = response.headers.get("Retry-After", "").strip()
    if said.isdigit():
        return float(said[:9])
    try:
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    except (TypeError, ValueError):
        return 0.0


def reason(error: BaseException) -> str:
    """An error of the network in a few words."""
    inner: Any = getattr(error, "reason", None) or error
    inner = getattr(inner, "reason", None) or inner
    if isinstance(inner, OSError) and inner.errno is not None:
        return os.strerror(inner.errno)
    text = str(inner).rpartition(": ")[2] or type(inner).__name__
    return " ".join(text.split())[:200]
