"""The probe page: its state by node, and the page itself in headless Chromium, served and static."""

from __future__ import annotations

import contextlib
import functools
import gzip
import http.server
import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import bgfmt
from bgfmt import GameState, met
from bgfmt.analysis import Advisor, questions
from bgfmt.extras.serve import page
from bgfmt.game.identifiers import parse
from tests.conftest import GOLDEN, ROOT
from tests.support.node import run_node
from tests.support.serving import served

TABLES = [str(GOLDEN / "gnubg/ts_06x04.bd"), str(GOLDEN / "gnubg/os_p06.bd")]
HYPERGAMMON = str(GOLDEN / "gnubg/hyper1.bd")


class Quiet(http.server.SimpleHTTPRequestHandler):
    """The standard library's server, which knows no ranges."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextlib.contextmanager
def static(folder: Path) -> Iterator[str]:
    """The address of a folder, below another folder as on a static host."""
    handler = functools.partial(Quiet, directory=str(folder.parent))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/{folder.name}/"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.slow
def test_the_page_in_a_browser(tmp_path: Path, oracle: Callable[[str], str]) -> None:
    node, chromium = oracle("node"), oracle("chromium")
    for name in ("playwright-core", "axe-core"):
        oracle(f"npm:{name}")
    folder = tmp_path / "site"
    page.write(folder, TABLES)
    shots = os.environ.get("BGFMT_SHOTS", "")
    with (
        served("--settle", "0", *TABLES) as first,
        static(folder) as second,
        served("--settle", "0", HYPERGAMMON) as third,
        served(*TABLES) as fourth,
    ):
        pages = json.dumps({"served": first, "static": second})
        more = {"BGFMT_PAGES": pages, "BGFMT_CHROMIUM": chromium, "BGFMT_SHOTS": shots, "HOME": str(tmp_path)}
        more |= {"BGFMT_HYPERGAMMON": third, "BGFMT_CALCULATING": fourth, "BGFMT_FOLDER": str(folder)}
        run_node(node, ROOT / "tests/web/page.test.mjs", **more)


@pytest.mark.slow
def test_a_site_without_its_server(tmp_path: Path, oracle: Callable[[str], str]) -> None:
    node, chromium = oracle("node"), oracle("chromium")
    oracle("npm:playwright-core")
    packed = tmp_path / "ts_06x04.bgts"
    bgfmt.convert(TABLES[0], packed)
    page.write(tmp_path / "site", [str(packed), TABLES[1]], part=131072)
    more = {"BGFMT_SITE": str(tmp_path / "site"), "BGFMT_CHROMIUM": chromium, "HOME": str(tmp_path)}
    run_node(node, ROOT / "tests/web/offline.test.mjs", **more)


def expected(advisor: Advisor, position: str, away: tuple[int, int] | None) -> list[object]:
    """What the page is to show of a cube in the middle: its address, the action, the three numbers."""
    cube = questions.cube(advisor, GameState.of(parse(position).position, away=away)).as_dict()
    names = ("no_double", "double_take", "double_pass")
    action = cube["centered_cube"] if away is None else cube
    shown = [f"{action[n]:+.4f}" if away is None else f"{100 * cube['mwc'][n]:.2f} %" for n in names]
    return [f"?p={position}" + (f"&away={away[0]}-{away[1]}" if away else ""), action["action"], shown]


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "program"), [("firefox", "firefox-esr"), ("webkit", "WebKitWebDriver")])
def test_the_page_in_another_engine(
    engine: str, program: str, tmp_path: Path, oracle: Callable[[str], str]
) -> None:
    node, path = oracle("node"), oracle(program)
    if engine == "webkit":
        oracle("xvfb-run")
    packed = tmp_path / "ts_06x04.bgts"
    bgfmt.convert(TABLES[0], packed)
    page.write(tmp_path / "site", [str(packed), TABLES[1]])
    with Advisor([str(packed), TABLES[1]], met=met.load(met.DEFAULT)) as advisor:
        asked = [
            expected(advisor, position, away)
            for position in ("0,1,0,0,1/0,1,1", "0,1,4/0,1,4")  # of the table; calculated
            for away in (None, (3, 5))
        ]
    more = {"BGFMT_SITE": str(tmp_path / "site"), "HOME": str(tmp_path), "BGFMT_EXPECTED": json.dumps(asked)}
    run_node(node, ROOT / "tests/web/engines.test.mjs", **more, BGFMT_ENGINES=json.dumps({engine: path}))


@pytest.mark.slow
def test_state_and_address(oracle: Callable[[str], str]) -> None:
    run_node(oracle("node"), ROOT / "tests/web/state.test.mjs")


def test_the_page_is_small_and_strict() -> None:
    html, assets = page.html("serve"), page.assets()
    size = len(gzip.compress(html)) + sum(len(gzip.compress(data)) for data in assets.values())
    assert size < 150_000
    early = [page.html("site"), *(data for name, data in assets.items() if name not in page.LATER)]
    tables = 5 * 16384  # what a first answer reads of them
    assert sum(len(gzip.compress(data)) for data in early) + tables < 150_000
    text = html.decode()
    assert not re.search(r"<script(?![^>]*src=)|\sstyle=|\son\w+=|https?://(?!www\.w3\.org)", text)
    for name, data in page.assets().items():
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(", data.decode()
        ), name
        for imported in re.findall(r'from "\./([^"]+)"', data.decode()):
            assert imported in page.assets(), (name, imported)


def test_the_readers_files_are_those_of_the_plugin_without_comments() -> None:
    for name in page.READER:
        kept = [line for line in (ROOT / "plugins/js" / name).read_text().splitlines() if line.strip()]
        left = [line for line in page.assets()[name].decode().splitlines() if line.strip()]
        gone = [line for line in kept if line not in set(left)]
        assert left == [line for line in kept if line in set(left)]
        assert all(re.match(r"\s*(//|/?\*)", line) for line in gone), name
