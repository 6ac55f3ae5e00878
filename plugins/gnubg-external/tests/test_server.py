"""Nothing that is sent stops the server: scans, half-open connections, endless lines, clients that vanish."""

from __future__ import annotations

import contextlib
import os
import resource
import shlex
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import bgfmt
from bgfmt.analysis import Advisor
from bgfmt.extras.hosts import server
from bgfmt.extras.hosts.external import Player
from bgfmt.extras.hosts.server import Server
from tests.support.answering import running

ROLL = (
    "board:gnubg:root:0:0:0:0:2:0:1:0:0:1:0:0:0:0:0:0:0:0:0:0:0:0:0:0:-1:0:-1:-1:0:-1:0:0:0:0:1:1:1:0:1:-1:0:25:"
    "11:12:0:0:0:0:0:1"
)
PLAY = ROLL.replace("-1:0:0:0:0:1:1:1", "-1:5:2:5:2:1:1:1")
TAKE = (
    "board:root:gnubg:5:1:3:0:1:1:0:1:0:0:0:0:0:0:0:0:0:0:0:0:0:0:-1:0:0:-1:0:-2:0:1:0:0:0:0:1:1:1:1:1:-1:0:25:"
    "12:11:0:0:0:0:0:1"
)


@pytest.fixture
def port(tables: list[Path], monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(server, "UNFINISHED", 1.0)
    monkeypatch.setattr(server, "SENDING", 1.0)
    with (
        bgfmt.open(tables[0]) as two,
        bgfmt.open(tables[1]) as one,
        running(Server(Player(Advisor([two, one], outside="rule")), connections=8)) as number,
    ):
        yield number


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=800)


def ask(sock: socket.socket, line: str) -> str:
    sock.sendall(line.encode() + b"\n\0")
    data = b""
    while not data.endswith(b"\n"):
        more = sock.recv(4096)
        if not more:
            break
        data += more
    return data.decode().rstrip("\n")


def alive(port: int) -> bool:
    with connect(port) as sock:
        return ask(sock, PLAY) == "4/off 2/off"


@pytest.mark.slow
def test_captured_questions(port: int) -> None:
    with connect(port) as sock:
        assert ask(sock, ROLL) == "double"
        assert ask(sock, PLAY) == "4/off 2/off"
        assert ask(sock, TAKE) in ("take", "drop")
        assert ask(sock, "board:").startswith("Error: ")
        assert ask(sock, PLAY) == "4/off 2/off"


def test_a_port_scan(port: int) -> None:
    for probe in (
        b"",
        b"\0" * 100,
        b"GET / HTTP/1.0\r\n\r\n",
        bytes(range(256)) * 4,
        b"\x16\x03\x01\n\n\n",
        b"\n" * 500,
    ):
        for _ in range(10):
            with connect(port) as sock:
                sock.sendall(probe)
    assert alive(port)


def test_a_line_of_a_megabyte(port: int) -> None:
    for filler in (b"x", b"board:" + b"1:"):
        with connect(port) as sock:
            answer = b""
            try:
                sock.sendall((filler * (1 << 20))[: 1 << 20] + b"\n")
                answer = sock.recv(4096)
            except ConnectionError:
                pass  # closed while we were still sending
            assert answer in (b"", b"Error: a line of more than 4096 bytes\n")
    assert alive(port)


def test_half_open_connections_do_not_shut_others_out(port: int) -> None:
    with connect(port) as playing:
        assert ask(playing, PLAY) == "4/off 2/off"
        idle = [connect(port) for _ in range(40)]
        for sock in idle[:20]:
            sock.sendall(b"board:half")
        assert alive(port)
        assert ask(playing, PLAY) == "4/off 2/off"  # the one that plays is not the one to go
        for sock in idle:
            sock.close()


@pytest.mark.slow
def test_an_unfinished_line_ends_in_time(port: int) -> None:
    with connect(port) as sock:
        sock.sendall(b"board:half")
        assert sock.recv(100) == b""  # where the server waits without end, the socket's own time is up first


def test_a_client_that_vanishes(port: int) -> None:
    for _ in range(20):
        sock = connect(port)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close with a reset
        sock.sendall(f"{PLAY}\n{PLAY}\n".encode() * 20)
        sock.close()
    assert alive(port)


def test_a_client_that_never_reads(port: int) -> None:
    with connect(port) as sock:
        sock.setblocking(False)
        try:
            for _ in range(1000):
                sock.send(f"{ROLL}\n".encode() * 50)
        except OSError:
            pass  # its buffers are full
        assert alive(port)


def test_many_at_once(port: int) -> None:
    clients = [connect(port) for _ in range(8)]
    for _ in range(5):
        for sock in clients:
            sock.sendall(f"{PLAY}\n".encode())
        for sock in clients:
            assert sock.recv(100) == b"4/off 2/off\n"
    for sock in clients:
        sock.close()


def test_clients_that_asked_once_do_not_lock_others_out(port: int) -> None:
    """Eight places, all taken by clients that have asked: the one silent longest gives way."""
    clients = [connect(port) for _ in range(8)]
    for sock in clients:
        assert ask(sock, PLAY) == "4/off 2/off"
    for sock in clients[1:]:
        assert ask(sock, PLAY) == "4/off 2/off"
    with connect(port) as newcomer:
        assert ask(newcomer, PLAY) == "4/off 2/off"
        assert gone(clients[0])
        for sock in clients[1:]:
            assert ask(sock, PLAY) == "4/off 2/off"
    for sock in clients:
        sock.close()


def gone(sock: socket.socket) -> bool:
    try:
        return sock.recv(1) == b""
    except ConnectionError:
        return True


@pytest.mark.slow
def test_a_thousand_clients(tables: list[Path]) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with served(tables) as (port, process):
        clients = [connect(port) for _ in range(1000)]
        for sock in clients:
            sock.sendall(PLAY.encode() + b"\n\0")
        assert all(sock.recv(100) == b"4/off 2/off\n" for sock in clients)
        for sock in clients:  # each now begins a line, sends garbage, or leaves
            sock.sendall(b"board:" + b"1:" * 1000)
        with connect(port) as late:
            assert ask(late, PLAY) == "4/off 2/off"
        assert memory(process.pid) < 400 << 20
        for sock in clients:
            sock.close()
        assert alive(port)


@pytest.mark.slow
def test_few_open_files(tables: list[Path]) -> None:
    """Where the system allows 64 open files, the 200th client is answered still."""
    with served(tables, "ulimit -n 64 && ") as (port, _):
        clients = []
        for _ in range(200):
            clients.append(connect(port))
            assert ask(clients[-1], PLAY) == "4/off 2/off"
        for sock in clients:
            sock.close()
        assert alive(port)


@pytest.mark.slow
def test_memory_does_not_grow_with_what_is_sent(tables: list[Path]) -> None:
    with served(tables) as (port, process):
        assert alive(port)
        before = memory(process.pid)
        clients = [connect(port) for _ in range(100)]
        for sock in clients:
            sock.setblocking(False)
        for _ in range(20):
            for sock in clients:
                with contextlib.suppress(OSError):
                    sock.send((PLAY + "\n").encode() * 500)  # answers are never read
        time.sleep(0.5)
        assert alive(port)
        assert memory(process.pid) - before < 50 << 20
        for sock in clients:
            sock.close()


def test_names_do_not_reach_the_terminal_raw(tables: list[Path]) -> None:
    evil = "\x1b]0;owned\x07\x9b31m\u202e"
    with served(tables, "", "--verbose") as (port, process):
        with connect(port) as sock:
            assert ask(sock, PLAY.replace("gnubg", evil)) == "4/off 2/off"
            assert not set(ask(sock, evil)) & set(evil) - set("]0;owned31m")
            assert not set(ask(sock, PLAY.replace(":25:", f":{evil}:"))) & {"\x1b", "\x07", "\x9b", "\u202e"}
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        said = process.stderr.read()
        assert "?]0;owned" in said
        assert not set(said) & {"\x1b", "\x07", "\x9b", "\u202e"}
        assert process.wait(120) == 0


def test_a_port_that_is_taken(port: int, tables: list[Path]) -> None:
    command = [sys.executable, "-m", "bgfmt", "gnubg-external", "--port", str(port), *map(str, tables)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=800, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def memory(pid: int) -> int:
    """Bytes a process has in memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) * 1024


@contextlib.contextmanager
def served(
    tables: list[Path], before: str = "", *options: str
) -> Iterator[tuple[int, subprocess.Popen[str]]]:
    """The command as a user starts it: (port, process)."""
    words = [sys.executable, "-m", "bgfmt", "gnubg-external", "--port", "0", *options, *map(str, tables)]
    with subprocess.Popen(
        ["bash", "-c", f"{before}exec {shlex.join(words)}"], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "listening on 127.0.0.1:" in line:
                break
        try:
            yield int(line.rsplit(":", 1)[1]), process
        finally:
            process.terminate()
            process.wait(120)


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_the_command_stops_cleanly(tables: list[Path], end: int) -> None:
    command = [sys.executable, "-m", "bgfmt", "gnubg-external", "--port", "0", *map(str, tables)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ) as process:
        assert process.stderr is not None
        port = 0
        for line in process.stderr:
            if "listening on 127.0.0.1:" in line:
                port = int(line.rsplit(":", 1)[1])
                break
        with connect(port) as sock:
            assert ask(sock, PLAY) == "4/off 2/off"
            process.send_signal(end)
            assert process.wait(120) == 0
        assert process.stderr.read() == "stopped\n"
