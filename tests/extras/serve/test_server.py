"""`bgfmt serve` as a public server of files: ranges, caching, hosts and origins, limits of connections."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httptools
import pytest

from bgfmt.analysis.questions import Question
from bgfmt.cli import run
from bgfmt.extras.serve import server
from bgfmt.extras.serve.answers import Answers
from bgfmt.extras.serve.app import Service
from bgfmt.extras.serve.holdings import Holdings
from bgfmt.extras.serve.parameters import Settings
from bgfmt.extras.serve.refusals import Refusal
from tests.conftest import ROOT
from tests.support.serving import OS, TEXT, TS, Client, command, served

# -- files, caching, who may ask -------------------------------------------------------------------------


@pytest.mark.slow
def test_ranges(client: Client) -> None:
    data, path = TS.read_bytes(), f"/tables/{TS.name}"
    size = len(data)
    status, headers, body = client.get(path)
    assert (status, body) == (200, data)
    assert headers["accept-ranges"] == "bytes"
    assert "no-transform" in headers["cache-control"]
    assert headers["content-disposition"].startswith("attachment")
    tag = headers["etag"]
    for text, first, last in (
        ("0-0", 0, 0),
        ("40-", 40, size - 1),
        ("-8", size - 8, size - 1),
        (f"100-{size + 9}", 100, size - 1),
        (f"-{size + 9}", 0, size - 1),
    ):
        status, headers, body = client.get(path, Range=f"bytes={text}")
        assert (status, body) == (206, data[first : last + 1]), text
        assert headers["content-range"] == f"bytes {first}-{last}/{size}"
    for text in (f"{size}-", f"{size + 9}-", "-0", "0-1,3-4", ",".join(f"{k}-{k}" for k in range(200))):
        status, headers, body = client.get(path, Range=f"bytes={text}")
        assert (status, headers["content-range"], json.loads(body)["error"]["code"]) == (
            416,
            f"bytes */{size}",
            "bad_range",
        )
    for text in ("bytes=", "bytes=5-2", "lines=1-2", "bytes=a-b", "bytes 0-1"):
        assert client.get(path, Range=text)[0] == 200
    began = time.monotonic()
    for text in (
        "bytes=0-1," + " " * 4000 + "x",
        "bytes=0-1," + "1" * 4000 + "x",
        "bytes" + " " * 4000 + "x",
    ):
        assert client.get(path, Range=text)[0] == 200
    assert time.monotonic() - began < 100  # linear, or it would not end
    assert client.get(path, Range="bytes=0-7", If_Range=tag)[0] == 206
    assert client.get(path, Range="bytes=0-7", If_Range='"other"')[0] == 200
    assert client.get(path, If_None_Match=tag)[0] == 304
    assert "content-encoding" not in client.get(path, Accept_Encoding="gzip")[1]


def test_caching(client: Client) -> None:
    path = f"/v1/play?position={TEXT}&roll=all"
    status, headers, body = client.get(path)
    tag = headers["etag"]
    assert headers["cache-control"] == "public, max-age=3600"
    assert not tag.startswith("W/")
    for said in (tag, f'"x", W/{tag}', "*"):
        status, headers, empty = client.get(path, If_None_Match=said)
        assert (status, empty, headers["etag"]) == (304, b"", tag)
    assert client.get(path, If_None_Match='"x"')[0] == 200
    assert client.get(f"/v1/play?position={TEXT}&roll=61")[1]["etag"] != tag
    status, headers, packed = client.get(path, Accept_Encoding="gzip, br")
    assert (headers["content-encoding"], gzip.decompress(packed)) == ("gzip", body)
    assert "Accept-Encoding" in headers["vary"]
    assert "content-encoding" not in client.get(path, Accept_Encoding="gzip;q=0")[1]
    for page in ("/", "/openapi.json"):
        _, headers, _ = client.get(page)
        assert headers["cache-control"] == "no-cache"
        assert client.get(page, If_None_Match=headers["etag"])[0] == 304
    html = client.get("/")[2].decode()
    asset = re.search(r'src="(assets/[^"]+)"', html)
    assert asset
    _, headers, _ = client.get("/" + asset[1])
    assert headers["cache-control"] == "public, max-age=31536000, immutable"
    assert headers["content-type"].startswith("text/javascript")


def test_headers_everywhere(client: Client) -> None:
    for path in ("/", "/v1/tables", "/nowhere", f"/tables/{TS.name}", "/healthz"):
        headers = client.get(path)[1]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers
    policy = client.get("/")[1]["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy


def test_hosts(client: Client) -> None:
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1:8753", "[::1]:80"):
        assert client.get("/healthz", Host=host)[0] == 200
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil", "0.0.0.0", ""):
        assert client.get("/healthz", Host=host)[0] == 421


@pytest.mark.slow
def test_other_origins() -> None:
    with served(
        "--cors", "https://a.example", "--allow-host", "tables.example", "--no-download", str(TS)
    ) as address:
        client = Client(address)
        for path in (f"/v1/lookup?position={TEXT}", "/v1/lookup?position=x", "/tables/x"):
            headers = client.get(path, Origin="https://a.example")[1]
            assert headers["access-control-allow-origin"] == "https://a.example"
            assert "Origin" in headers["vary"]
            assert "Bgfmt-Rows" in headers["access-control-expose-headers"]
            assert "access-control-allow-origin" not in client.get(path, Origin="https://b.example")[1]
        status, headers, body = client.ask(
            "OPTIONS", "/v1/cube", Origin="https://a.example", Access_Control_Request_Method="POST"
        )
        assert (status, body) == (204, b"")
        assert headers["access-control-allow-methods"] == "GET, HEAD, POST"
        assert headers["access-control-allow-headers"] == "Content-Type, Range, If-None-Match, If-Range"
        assert headers["access-control-max-age"] == "86400"
        assert "access-control-allow-credentials" not in headers
        assert "access-control-allow-origin" not in client.get("/", Origin="https://a.example")[1]
        assert client.get("/healthz", Host="tables.example:1")[0] == 200
        client.error(f"/tables/{TS.name}", 404, "no_such_table")
        assert client.json("/v1/tables")["tables"][0]["url"] is None


def test_counters(client: Client) -> None:
    client.get("/x%0ay")
    _, headers, data = client.get("/metrics")
    text = data.decode()
    assert headers["content-type"].startswith("text/plain; version=0.0.4")
    for name in (
        "bgfmt_build_info{version=",
        'bgfmt_requests_total{method="GET",route="other",status="404"}',
        'bgfmt_request_seconds_bucket{le="0.001",route="',
        'bgfmt_table_bytes{table="ts_06x04.bd"} 352840',
        "bgfmt_in_flight 1",
        "bgfmt_sent_bytes_total",
        "bgfmt_not_covered_total",
    ):
        assert name in text, name
    for line in text.splitlines():
        assert re.fullmatch(r"#.*|[a-z_]+(\{.*\})? -?[0-9.e+-]+", line), line


# -- standing up to anything sent -------------------------------------------------------------------------


def raw(base: str, data: bytes, wait: float = 5) -> bytes:
    parts = urllib.parse.urlsplit(base)
    with socket.create_connection((parts.hostname, parts.port), wait) as connection:
        try:
            connection.sendall(data)
            out = b""
            while piece := connection.recv(65536):
                out += piece
        except OSError:
            pass
        return out


def test_heads_that_are_too_large_or_none(base: str) -> None:
    head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
    assert raw(base, head + b"X: " + b"a" * (40 << 10) + b"\r\n\r\n").startswith(b"HTTP/1.1 431 ")
    assert raw(base, head + b"X-Y: b\r\n" * 6000 + b"\r\n").startswith(b"HTTP/1.1 431 ")
    answer = raw(base, b"\x00garbage " * 100_000)
    assert answer.startswith(b"HTTP/1.1 400 ") or answer == b""
    assert b" 200 " in raw(base, head + b"X: " + b"a" * (20 << 10) + b"\r\nConnection: close\r\n\r\n")[:20]
    assert Client(base).json("/healthz")["status"] == "ok"


def test_chunk_extensions_and_trailers_that_are_too_large(base: str) -> None:
    head = b"POST /v1/lookup HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += b"Transfer-Encoding: chunked\r\n\r\n"
    for rest in (b"0\r\n" + b"X-Y: b\r\n" * 100_000, b"0\r\nX: " + b"a" * 800_000, b"2;" + b"a" * 800_000):
        answer = raw(base, head + rest)
        assert answer.startswith(b"HTTP/1.1 431 ") or answer == b""
    assert Client(base).json("/healthz")["status"] == "ok"


@pytest.mark.slow
def test_what_no_request_is_is_refused_in_the_one_shape(base: str) -> None:
    head = b"POST /v1/lookup HTTP/1.1\r\nHost: localhost\r\n"
    for data in (
        b"\x00garbage ",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
        head + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        head + b"Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\nab",
    ):
        answer = raw(base, data)
        assert answer.startswith(b"HTTP/1.1 400 "), data
        assert b'"code":"bad_request"' in answer, data


def test_a_connection_outlives_a_body_in_chunks(base: str) -> None:
    body = b'"1/1"'
    head = b"POST /v1/lookup HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-ndjson\r\n"
    chunks = b"Transfer-Encoding: chunked\r\n\r\n5\r\n" + body + b"\r\n0\r\n\r\n"
    after = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    answers = raw(base, head + chunks + after, 100)
    assert answers.count(b"HTTP/1.1 200 ") == 2


@pytest.mark.slow
def test_a_head_that_is_not_ended_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it is the first of its connection or a later one, and however it comes."""
    monkeypatch.setattr(server, "HEADER_TIMEOUT_SECONDS", 1.0)
    whole = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

    class Plain(asyncio.Protocol):
        url = b""
        headers: tuple[()] = ()

        def __init__(self) -> None:
            self.loop = asyncio.get_running_loop()
            self.parser = httptools.HttpRequestParser(self)

        def connection_made(self, transport: Any) -> None:
            self.transport = transport

        def data_received(self, data: bytes) -> None:
            self.parser.feed_data(data)

        def on_message_begin(self) -> None: ...
        def on_url(self, url: bytes) -> None: ...
        def on_header(self, name: bytes, value: bytes) -> None: ...
        def on_body(self, body: bytes) -> None: ...
        def on_headers_complete(self) -> None: ...
        def on_message_complete(self) -> None:
            self.transport.write(b"answered ")

    async def send(*pieces: bytes) -> bytes:
        factory = server.limit_connections(Plain, server.Watch(10))
        loop = asyncio.get_running_loop()
        listening = await loop.create_server(factory, "127.0.0.1", 0)
        reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
        answer = await asyncio.wait_for(reader.read(), 100)
        writer.close()
        listening.close()
        return answer

    for pieces in (
        (whole[:20],),
        (whole, whole[:20]),
        (whole + whole[:1],),
        tuple(bytes([b]) for b in whole[:9]),
    ):
        answer = asyncio.run(send(*pieces))
        assert b"HTTP/1.1 408 " in answer, pieces
        assert b'"too_slow"' in answer
    assert asyncio.run(send(b"")) == b""


def test_newcomers_beyond_the_limit() -> None:
    with served("--connections", "5", str(TS)) as address:
        parts = urllib.parse.urlsplit(address)
        open_ones = [socket.create_connection((parts.hostname, parts.port)) for _ in range(5)]
        for one in open_ones:  # each is taken once it is answered
            one.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert one.recv(4096).startswith(b"HTTP/1.1 200 ")
        answer = raw(address, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after" in answer.lower()
        assert b'"busy"' in answer
        for one in open_ones:
            one.close()
        until = time.monotonic() + 100
        while Client(address).get("/healthz")[0] == 503 and time.monotonic() < until:
            time.sleep(0.1)
        assert Client(address).json("/healthz")["tables"] == 1


def test_sixteen_at_once(base: str, capsys: pytest.CaptureFixture[str]) -> None:
    texts = [f"{a},{b}/{c},{d}" for a in (0, 1) for b in (1, 2) for c in (0, 1) for d in (1, 2)]
    expected = {text: command(capsys, "cube", str(TS), str(OS), text) for text in texts}

    def ask(k: int) -> int:
        client, done = Client(base), 0
        for text in texts[k:] + texts[:k]:
            found = client.json("/v1/cube", position=text)
            done += {name: found[name] for name in expected[text]} == expected[text]
        return done

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(ask, range(16))) == 256


@pytest.mark.slow
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "no.bd").write_bytes(b"nothing")
    assert run(["serve", str(tmp_path / "no.bd"), "--port", "0"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    taken.listen()
    assert run(["serve", str(TS), "--port", str(taken.getsockname()[1])]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    taken.close()
    process = subprocess.Popen(
        [sys.executable, "-m", "bgfmt", "serve", "--port", "0", str(TS)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stdout
    assert process.stderr
    line = process.stdout.readline()
    address = line.split()[-1]
    assert line == f"bgfmt serves 1 table on {address}\n"
    Client(address).get("/healthz")
    Client(address).get("/v1/lookup?position=%1b%5b31m")
    process.send_signal(2)
    assert process.wait(120) == 0
    log = process.stderr.read()
    assert "healthz" not in log
    assert "GET /v1/lookup?position=%1b%5b31m 400" in log
    assert "Traceback" not in log


def test_starlette_is_for_this_command_alone() -> None:
    info = f"bgfmt.cli.run(['info', {str(TS)!r}])"
    code = f"import sys, bgfmt, bgfmt.cli; bgfmt.cli.run(['--version']); {info}; "
    code += "assert not {'starlette', 'uvicorn', 'urllib3'} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, cwd=ROOT)


def test_clients_take_turns() -> None:
    from bgfmt.extras.serve.work import CLIENT, Workers

    order: list[str] = []
    workers = Workers(1, 40)

    async def ask(who: str) -> None:
        CLIENT.set(who)
        await workers.run(order.append, who)

    async def all_of_them() -> list[BaseException | None]:
        asking = [ask(who) for who in ["a"] * 60 + ["b", "c"]]
        return await asyncio.gather(*map(asyncio.create_task, asking), return_exceptions=True)

    refused = [one.code for one in asyncio.run(all_of_them()) if isinstance(one, Refusal)]
    assert refused == ["busy"] * (60 - 41)
    assert {"b", "c"} < set(order[:8])
    assert order.count("a") == 41
    workers.close()


@pytest.mark.slow
def test_short_work_does_not_wait_for_calculations() -> None:
    """Sixteen calculations of one client and of others are under way or wait; none holds a quick thread."""
    from bgfmt.extras.serve.work import CLIENT, TURN, NeedsCalculationError, Turn, Workers

    go = threading.Event()
    workers = Workers(1, 40)

    def calculation() -> str:
        if TURN.get() is Turn.PUT_OFF:
            raise NeedsCalculationError
        if TURN.get() is Turn.REFUSE:
            return "of the tables"
        assert go.wait(100)
        return "calculated"

    async def calculate(who: str) -> str:
        CLIENT.set(who)
        return await workers.answer(calculation)

    async def small(who: str) -> str:
        CLIENT.set(who)
        return await workers.run(lambda: "short")

    async def all_of_them() -> tuple[list[str], list[str]]:
        large = [asyncio.create_task(calculate(who)) for who in "abcdefgh" * 2]
        await asyncio.sleep(0.05)
        short = [await small(who) for who in "abz"]
        others = [await one for one in large[1:8]]
        assert not large[0].done()
        go.set()
        return short, [await large[0], *others]

    short, (first, *others) = asyncio.run(all_of_them())
    assert short == ["short"] * 3
    assert first == "calculated"
    assert others == ["of the tables"] * 7
    workers.close()


def test_a_large_request_leaves_a_thread_free() -> None:
    from bgfmt.extras.serve.work import Workers

    go = threading.Event()
    workers = Workers(None, 40)

    async def all_of_them() -> str:
        parts = [asyncio.create_task(workers.run(go.wait, 100, lane=workers.bulk)) for _ in range(40)]
        await asyncio.sleep(0.05)
        short = await workers.run(lambda: "short")
        go.set()
        await asyncio.gather(*parts)
        return short

    assert asyncio.run(all_of_them()) == "short"
    workers.close()


def test_results_are_kept_once_and_bounded() -> None:
    """Advisers for other tables, scores and limits keep none of their own."""
    from bgfmt.extras.serve.answers import MAX_ADVISERS

    with Holdings.open([f"t{k}={TS}" for k in range(MAX_ADVISERS + 5)]) as holdings:
        answers = Answers(holdings)
        for held in holdings:
            answers.answer("lookup", Question(position=TEXT, table=held.name))
            answers.answer("cube", Question(position=TEXT, table=held.name, settle=False))
        assert answers._advisers.cache_info().currsize == MAX_ADVISERS
        advisers = [answers._adviser(Question(table=held.name, settle=False)) for held in holdings]
        assert len({id(one.sources.results) for one in advisers}) == 1


def test_a_client_has_a_share_of_calculation(monkeypatch: pytest.MonkeyPatch) -> None:
    from bgfmt.extras.serve.work import CLIENT, CalculationTime, client_of

    clock = [100.0]
    monkeypatch.setattr("bgfmt.extras.serve.work.time", SimpleNamespace(monotonic=lambda: clock[0]))
    one = CalculationTime(1)
    CLIENT.set("192.0.2.1")
    one.spend(lambda: clock.append(clock.pop() + 1.2))
    with pytest.raises(Refusal, match="calculation time of this client") as refused:
        one.spend(lambda: None)
    ((name, seconds),) = refused.value.headers
    assert (name, refused.value.code) == ("Retry-After", "busy")
    assert 1 <= int(seconds) <= 13
    CLIENT.set("192.0.2.2")
    assert one.spend(lambda: "exact") == "exact"
    assert client_of("2001:db8::1") == client_of("2001:db8::2") != client_of("2001:db8:1::1")


def test_calculations_are_counted() -> None:
    with Holdings.open([str(TS)]) as holdings:
        service = Service(holdings, Settings())
        exact = Question(position="0,0,1,1,1/1,0,2,1,1")
        assert service.answers.answer("cube", exact)[0]["source"] == "calculation"
        text = service.metrics.text().decode()
    assert 'bgfmt_calculations_total{outcome="done"} 1.0\n' in text
    assert "bgfmt_calculation_seconds_count 1.0\n" in text
    assert 'bgfmt_calculation_seconds_bucket{le="+Inf"} 1.0\n' in text


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are forked")
@pytest.mark.parametrize("killed", [False, True])
def test_workers_share_a_port_and_end_together(killed: bool) -> None:
    command = [sys.executable, "-m", "bgfmt", "serve", "--port", "0", "--settle", "0", "--workers", "3"]
    process = subprocess.Popen(
        [*command, str(TS)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=ROOT
    )
    assert process.stdout
    base = process.stdout.readline().decode().split()[-1]
    seen: set[str] = set()
    for _ in range(300):
        client = Client(base)
        seen |= set(re.findall(r'bgfmt_build_info{.*worker="(\d)"', client.get("/metrics")[2].decode()))
        client.kept.close()
        if len(seen) == 3:
            break
    assert seen == {"0", "1", "2"}
    if killed:
        process.kill()
    else:
        process.terminate()
    assert process.wait(120) == (-9 if killed else 0)
    assert process.stdout.read() == b""  # until the last process has closed it


@pytest.mark.slow
@pytest.mark.parametrize(("words", "who"), [(["--proxy", "127.0.0.1"], "192.0.2.7"), ([], "127.0.0.1")])
def test_a_proxy_says_who_asks(words: list[str], who: str) -> None:
    command = [sys.executable, "-m", "bgfmt", "serve", "--port", "0", "--settle", "0", *words, str(TS)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout
    assert process.stderr
    Client(process.stdout.readline().split()[-1]).get("/v1/tables", X_Forwarded_For="192.0.2.7")
    process.send_signal(2)
    assert process.wait(120) == 0
    assert f" {who} GET /v1/tables 200" in process.stderr.read()


@pytest.mark.slow
def test_without_databases_those_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BGFMT_DB", str(TS))
    with served() as base:
        found = Client(base).json("/v1/tables")
        assert [one["name"] for one in found["tables"]] == [TS.name]
        exact = Client(base).json("/v1/cube", position="0,0,1,1,1/1,0,2,1,1")
        assert exact["source"] == "calculation"
