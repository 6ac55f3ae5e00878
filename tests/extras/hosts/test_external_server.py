"""The line server over sockets: nobody waits for another's question, nobody is locked out, nothing raw is shown."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest

from bgfmt.extras.hosts.external import Player, Reply, Session
from bgfmt.extras.hosts.server import Server
from tests.extras.hosts.test_external import CAPTURED
from tests.support.answering import running

SLOW = CAPTURED.replace("gnubg", "slow")


class Deliberate(Player):
    """Answers at once, except those who are called slow: these when they are let."""

    def __init__(self) -> None:
        self.let, self.begun = threading.Event(), threading.Event()

    def answer(self, state: object) -> Reply:
        if "slow" in state.names:  # type: ignore[attr-defined]
            self.begun.set()
            assert self.let.wait(120)
        return Reply("6/off", "two-sided")


@contextmanager
def serving(player: Player, **more: object) -> Iterator[int]:
    with running(Server(player, **more)) as port:  # type: ignore[arg-type]
        yield port


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=800)


def ask(sock: socket.socket, line: str) -> str:
    sock.sendall(line.encode())
    return answer(sock)


def answer(sock: socket.socket) -> str:
    text = b""
    while not text.endswith(b"\n"):
        piece = sock.recv(4096)
        if not piece:
            return "closed"
        text += piece
    return text.decode().rstrip("\n")


def test_a_long_answer_keeps_nobody_waiting() -> None:
    player = Deliberate()
    with serving(player) as port, connected(port) as slow, connected(port) as quick:
        slow.sendall(SLOW.encode())
        assert player.begun.wait(120)
        assert [ask(quick, CAPTURED) for _ in range(3)] == ["6/off"] * 3
        assert not player.let.is_set()
        player.let.set()
        assert answer(slow) == "6/off"


def test_without_threads_the_serving_thread_answers() -> None:
    seen = set()

    class Named(Deliberate):
        def answer(self, state: object) -> Reply:
            seen.add(threading.current_thread())
            return super().answer(state)

    with serving(Named(), threads=0) as port, connected(port) as one, connected(port) as two:
        assert [ask(one, CAPTURED), ask(two, CAPTURED)] == ["6/off", "6/off"]
    assert len(seen) == 1


def test_who_leaves_in_the_middle_of_an_answer_stops_nothing() -> None:
    player = Deliberate()
    with serving(player) as port:
        with connected(port) as slow:
            slow.sendall(SLOW.encode())
            assert player.begun.wait(120)
        player.let.set()
        with connected(port) as quick:
            assert ask(quick, CAPTURED) == "6/off"


def test_no_number_of_clients_that_asked_once_locks_out_the_next() -> None:
    with serving(Deliberate(), connections=8) as port, ExitStack() as stack:
        for _ in range(30):
            sock = stack.enter_context(connected(port))
            assert ask(sock, CAPTURED) == "6/off"


@pytest.mark.parametrize("name", ["\x1b[2J\x1b]0;x\x07", "\u202egnubg", "a\rb"])
def test_names_reach_the_terminal_without_controls(name: str) -> None:
    said: list[str] = []
    player = Deliberate()
    player.let.set()
    session = Session(player, said.append)
    session.reply(CAPTURED.replace("gnubg", name))
    session.reply(f"hello {name}")
    assert said
    assert all(line.isprintable() for line in said)
