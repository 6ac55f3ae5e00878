"""`bgfmt serve` in a process of its own, and a client of it that knows its page alone."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
import urllib.parse
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from typing import Any

import pytest

from bgfmt.cli import run
from tests.conftest import GOLDEN, ROOT

TS, OS = GOLDEN / "gnubg/ts_06x04.bd", GOLDEN / "gnubg/os_p06.bd"
TEXT = "0,1,0,0,1/0,1,1"


@contextlib.contextmanager
def served(*words: str) -> Iterator[str]:
    """The address of `bgfmt serve` in a process of its own."""
    command = [sys.executable, "-m", "bgfmt", "serve", "--port", "0", "--quiet", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.fullmatch(r"bgfmt serves \d+ tables? on (http://\S+/)\n", line)
        assert found, line
        yield found[1]
    finally:
        process.terminate()
        assert process.wait(120) == 0


class Client:
    """A connection to the server; `get` and the like give (status, headers, body)."""

    def __init__(self, base: str) -> None:
        parts = urllib.parse.urlsplit(base)
        assert parts.hostname
        assert parts.port
        self.host, self.port = parts.hostname, parts.port
        self.kept = HTTPConnection(self.host, self.port, timeout=800)

    def ask(
        self, method: str, path: str, body: bytes | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.kept.request(method, path, body, named)
        answer: HTTPResponse = self.kept.getresponse()
        data = answer.read()
        if answer.headers.get("Connection") == "close":
            self.kept.close()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, data

    def get(self, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
        return self.ask("GET", path, **headers)

    def json(self, path: str, status: int = 200, **query: Any) -> Any:
        if query:
            path += "?" + urllib.parse.urlencode(query)
        got, headers, data = self.get(path)
        assert (got, headers["content-type"]) == (status, "application/json"), (path, data[:300])
        return json.loads(data)

    def error(
        self, path: str, status: int, code: str, parameter: str | None = None, method: str = "GET"
    ) -> dict[str, str]:
        got, headers, data = self.ask(method, path)
        said = json.loads(data)["error"]
        assert (got, said["status"], said["code"], said.get("parameter")) == (
            status,
            status,
            code,
            parameter,
        ), said
        assert headers["cache-control"] == "no-store"
        assert headers["content-type"] == "application/json"
        assert "\n" not in said["message"]
        assert str(GOLDEN) not in said["message"]
        return headers

    def post(
        self, path: str, body: Any, kind: str = "application/json", **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.ask("POST", path, data, Content_Type=kind, **headers)


@contextlib.contextmanager
def ready() -> Iterator[str]:
    """The address of a server of two tables, one of them under a second name."""
    words = ("--max-rows", "10000", "--settle", "200000", str(TS), str(OS), f"again.bd={TS}", str(TS))
    with served(*words) as address:
        yield address


def command(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert run([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)
