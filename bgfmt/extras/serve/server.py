"""The socket, the signals, the first line: `serve` runs until it is told to end."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import uvicorn

from bgfmt.extras.serve.app import Service, Settings
from bgfmt.extras.serve.door import LOOPBACK
from bgfmt.extras.serve.holdings import Holdings
from bgfmt.extras.serve.protocol import Protocol

GRACE = 5  # seconds for requests under way once the end is asked for


class _Server(uvicorn.Server):
    """uvicorn's server, ending without the signal that ended it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def stop(*_: Any) -> None:
            self.should_exit = True

        before = {one: signal.signal(one, stop) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)


def is_loopback(host: str) -> bool:
    """Whether an address to bind is this machine's own."""
    if host == "localhost":
        return True
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return False


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. Made with IPPROTO_TCP, as asyncio turns Nagle's algorithm off for no other."""
    address = host.strip("[]")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((address, port))
        made.listen(1024)
    except BaseException:
        made.close()
        raise
    return made


def hosts_of(host: str, allowed: tuple[str, ...]) -> tuple[str, ...] | None:
    """Names that a Host header may say, None for every one."""
    if is_loopback(host):
        return (*LOOPBACK, *allowed)
    return allowed or None


def _more_files(connections: int) -> None:
    """Room for the connections among the files this process may open."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 2 * connections + 256
        if soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard) if hard > 0 else wanted, hard))


def serve(
    holdings: Holdings,
    settings: Settings,
    *,
    host: str,
    port: int,
    say: Callable[[str], None],
    quiet: bool = False,
) -> None:
    """Serve until SIGINT or SIGTERM; `say` is told the address once connections are taken."""
    _more_files(settings.connections)
    Protocol.most = settings.connections
    made = listen(host, port)
    service = Service(holdings, settings)
    for name in ("uvicorn.error", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)

    def log(line: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(line + "\n")

    config = uvicorn.Config(
        service.app(None if quiet else log),
        http=Protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=GRACE,
    )
    service.answers.warm()
    try:
        asyncio.run(_run(_Server(config), made, holdings, host, say))
    finally:
        working = service.workers.under_way > 0
        service.close()
        if working:  # a calculation cannot be stopped half-way, and none may keep the process
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)


async def _run(
    server: _Server, made: socket.socket, holdings: Holdings, host: str, say: Callable[[str], None]
) -> None:
    async def announce() -> None:
        while not server.started:
            await asyncio.sleep(0.005)
        shown = f"[{host.strip('[]')}]" if ":" in host else host
        many = f"{len(holdings)} table{'s' if len(holdings) != 1 else ''}"
        say(f"bgfmt serves {many} on http://{shown}:{made.getsockname()[1]}/")

    task = asyncio.get_running_loop().create_task(announce())
    try:
        await server.serve(sockets=[made])
    finally:
        task.cancel()
