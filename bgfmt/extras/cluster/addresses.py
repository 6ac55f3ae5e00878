"""Addresses of clusters: ``local:N``, N workers of this machine, or that of a scheduler such as ``tcp://host:8786``."""

from __future__ import annotations

import contextlib
import re
import socket
import time
from importlib.util import find_spec

from bgfmt.errors import CapabilityError, MissingExtraError

LOCAL = re.compile(r"local:([1-9]\d{0,3})")
REMOTE = re.compile(r"(tcp|tls|ws|wss|ucx)://([^\s/]+):(\d{1,5})")
LISTENING = 10  # seconds in which somebody has to listen at the address of a scheduler
MOST_GREETING = 1 << 20  # bytes; a scheduler says first how long its greeting is, in 8 bytes


def check_address(address: str) -> None:
    """CapabilityError unless it is one of a cluster."""
    if not LOCAL.fullmatch(address) and not REMOTE.fullmatch(address):
        raise CapabilityError(
            f"{address!r}: a cluster is local:N or the address of a scheduler, tcp://host:port"
        )


def workers_here(address: str) -> int | None:
    """How many workers of this machine an address asks for; None where they are elsewhere.

    CapabilityError for an address of no cluster; MissingExtraError without Dask.
    """
    check_address(address)
    if find_spec("distributed") is None:
        install = "pip install '.[cluster]' in a checkout of bgfmt"
        raise MissingExtraError(f"a cluster needs Dask: {install}", install)
    local = LOCAL.fullmatch(address)
    return int(local[1]) if local else None


def reach(address: str) -> None:
    """OSError unless a scheduler listens at an address.

    Dask asks for a name that nobody has until its time is up, and waits
    without end for a program that listens and never greets.
    """
    found = REMOTE.fullmatch(address)
    if found is None or found[1] not in ("tcp", "tls"):
        return
    host, port = found[2].strip("[]"), int(found[3])
    until = time.monotonic() + LISTENING
    while True:
        try:
            there = socket.create_connection((host, port), LISTENING)
            break
        except (socket.gaierror, OverflowError) as error:
            raise OSError(plain(error)) from None
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
    with there:
        if found[1] == "tls":  # what it says is enciphered
            return
        there.settimeout(LISTENING)
        greeting = b""
        with contextlib.suppress(TimeoutError):
            greeting = there.recv(8)
        if not 0 < int.from_bytes(greeting, "little") < MOST_GREETING:
            raise OSError("what listens there is no Dask scheduler")


def plain(error: BaseException) -> str:
    """What an error says, in one line."""
    text = (isinstance(error, OSError) and not error.filename and error.strerror) or str(error)
    return " ".join(text.split())[:200] or type(error).__name__
