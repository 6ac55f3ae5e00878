"""The HTML page of annotate: boards, hostile names, and in headless Chromium no request to anywhere."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import parse_qsl

import pytest

import bgfmt
from bgfmt.cli import run
from bgfmt.extras.matches import read
from bgfmt.extras.matches.annotate import Judge, MatchReport, Report, annotate_file, judge_match, page, text
from bgfmt.extras.matches.annotate.report import FIGURES, Unread
from bgfmt.game import display
from bgfmt.game.board import Position, Side
from bgfmt.game.state import GameState
from tests.conftest import ROOT
from tests.support.match_making import Maker, MatchPrices
from tests.support.node import run_node

HOSTILE = '<script>alert("1")</script>&"\'>\u202e\x1b[31m</title><img src=http://nowhere.invalid/a.png>'
VOID = {"meta", "link", "img", "br"}


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Judge([]) as judge:
        yield judge


@pytest.fixture(scope="module")
def report(judge: Judge) -> MatchReport:
    return judge_match(read(evening().encode())[0], judge, file="evening.mat")


@cache
def evening() -> str:
    """A match with planted errors."""
    return Maker(MatchPrices(), 2, 5).mat(4)


class Elements(HTMLParser):
    """Counts elements, and sees that they are closed in turn."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("circle", "rect", "path", "use"):
            assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def elements(text: str) -> list[tuple[str, dict[str, str | None]]]:
    parser = Elements()
    parser.feed(text)
    assert not parser.open
    return parser.found


@pytest.mark.slow
def test_a_board_for_every_error(report: MatchReport) -> None:
    found = elements(page.page(Report([report])))
    boards = [attributes for tag, attributes in found if tag == "svg" and attributes.get("class") == "board"]
    assert len(boards) == sum(one.error for one in report.judgements) > 0
    assert all(attributes["aria-label"] for attributes in boards)
    rows = [attributes for tag, attributes in found if tag == "tr" and attributes.get("class")]
    assert len(rows) == len(report.judgements)


@pytest.mark.slow
def test_nothing_from_outside(report: MatchReport) -> None:
    text = page.page(Report([report]))
    for tag, attributes in elements(text):
        assert tag not in ("script", "img", "iframe", "object", "embed")
        for name in ("src", "href", "xlink:href", "action", "data"):
            value = attributes.get(name)
            assert value is None or value == "data:," or value.startswith("#"), (tag, value)
        assert not any(name.startswith("on") for name in attributes)
    assert "url(" not in text
    assert "@import" not in text
    assert "default-src 'none'" in text


@pytest.mark.slow
def test_positions_link_to_a_page(report: MatchReport) -> None:
    """Every error with its board and every decision of the list, each with all of its state."""
    text = page.page(Report([report], page="http://localhost:8753/"))
    links = [attributes["href"] or "" for tag, attributes in elements(text) if tag == "a"]
    assert len(links) == len(report.judgements) + sum(one.error for one in report.judgements)
    asked = [dict(parse_qsl(link.removeprefix("http://localhost:8753/?"))) for link in links]
    told = {replace(one.decision.state, doubled=False).xgid for one in report.judgements}
    assert {one["p"] for one in asked} == told
    assert {one.get("met") for one in asked} == {report.met.name if report.met else None}


@pytest.mark.parametrize("place", ["name", "file"])
def test_hostile_names(report: MatchReport, place: str) -> None:
    name, file = (HOSTILE, "a.mat") if place == "name" else ("Ann", HOSTILE)
    hostile = replace(report, match=replace(report.match, players=(name, "Bob")), file=file)
    text = page.page(Report([hostile, hostile], [Unread(HOSTILE, HOSTILE, "FormatError")]))
    plain = page.page(Report([report, report], [Unread("b", "c", "FormatError")]))
    assert [tag for tag, _ in elements(text)] == [tag for tag, _ in elements(plain)]
    assert "<script" not in text
    assert "\u202e" not in text
    assert "\x1b" not in text
    assert "&lt;script&gt;" in text


@pytest.mark.slow
def test_a_report_says_by_what_and_when(report: MatchReport) -> None:
    text = page.page(Report([report]), made=date(2026, 11, 28))
    assert report.met is not None
    assert (
        f"Judged by bgfmt {bgfmt.__version__} on 2026-11-28 at the score: match equity table {report.met.name}"
        in text
    )


@pytest.mark.slow
def test_a_card_names_who_decides_pips_and_both_actions(report: MatchReport) -> None:
    (_, one), *_ = Report([report]).worst(1)
    text = page.page(Report([report]), most=1)
    card = text[text.index('<article class="card"') :].partition("</article>")[0]
    state = one.decision.state
    position = state.position
    for player, side, colour in ((state.turn, position.us, "dark"), (1 - state.turn, position.them, "light")):
        assert re.search(rf"{state.names[player]} \({colour}\): {side.pips} pips?", card)
    assert card.count("decides") == 1
    assert re.search(rf"{state.names[one.decision.player]} \(\w+\): [^<]*decides", card)
    rows = re.findall(r'<th scope="row">(\w+)</th><td data-head="\w+">([^<]+)</td>', card)
    assert rows == [("Played" if one.play else "Done", one.did), ("Best", one.best)]
    assert one.loss is not None
    assert f'<span class="loss">{one.loss:.4f}</span>' in card


@pytest.mark.slow
def test_values_are_headed_by_what_they_are_and_passing_is_exact(report: MatchReport) -> None:
    wrong = next(one for one in report.judgements if one.error)
    passed = replace(wrong, did="take", best="pass", approximate=True, max_error={"equity": 0.001})
    shown = page.page(Report([replace(report, judgements=[passed])]))
    assert 'data-head="MWC, equity"' in shown
    assert 'data-head="MWC, equity lost">~' in shown
    assert passed.best_equity is not None
    assert f'data-head="equity">{passed.best_equity:+.4f}' in shown
    line = text.line(passed)
    assert "take ~" in line
    assert "best pass ~" not in line
    worst = "\n".join(text.worst_lines(Report([report]), 1))
    state = Report([report]).worst(1)[0][1].decision.state
    assert f"X is {state.names[state.turn]}, O is {state.names[1 - state.turn]}" in worst


@pytest.mark.slow
def test_the_note_on_errors_is_true(report: MatchReport) -> None:
    """An estimated decision counts as an error where its bound is known and the loss lies beyond it."""
    wrong = next(one for one in report.judgements if one.error)
    bounded = replace(wrong, approximate=True, max_error={"equity": 0.001}, close=False)
    assert bounded.error
    assert not replace(bounded, close=True).error
    assert not replace(bounded, max_error=None).error
    text = page.page(Report([report]))
    assert "That holds for estimated numbers too" in text
    assert "where no bound is known the decision is approximate, and no error either" in text


def test_every_figure_with_a_heading_is_in_the_summary() -> None:
    named = [name for names in page.GROUPS.values() for name in names.split()]
    assert sorted(named) == sorted(figure.name for figure in FIGURES if figure.heading)


@pytest.mark.slow
def test_the_report_fits_every_screen(
    report: MatchReport, tmp_path: Path, oracle: Callable[[str], str]
) -> None:
    node, chromium = oracle("node"), oracle("chromium")
    oracle("npm:playwright-core")
    long = replace(report.match, players=("A" * 60, "Bartholomew the Very Long-Named of Somewhere"))
    (tmp_path / "one.html").write_text(page.page(Report([report], page="http://localhost:8753/")))
    many = [replace(report, match=long, file=f"{'m' * 50}{k}.mat") for k in range(3)]
    (tmp_path / "many.html").write_text(page.page(Report([report, *many])))
    for name in ("one.html", "many.html"):
        address = (tmp_path / name).as_uri()
        run_node(node, ROOT / "tests/web/report.test.mjs", BGFMT_REPORT=address, BGFMT_CHROMIUM=chromium)


def test_chequers_of_a_board() -> None:
    state = GameState.of(Position(Side(7, 0, 2, bar=1), Side(0, 3)), (6, 1), cube="owned", cube_value=4)
    text = display.board(state)
    assert len(re.findall(r'<circle class="x"', text)) == 5 + 2 + 1  # the sixth and seventh are counted
    assert len(re.findall(r'<circle class="o"', text)) == 3
    assert len(re.findall(r'<rect class="x"', text)) == 5  # borne off
    assert len(re.findall(r'<rect class="o"', text)) == 12
    assert re.search(r'class="nx"[^>]*>7<', text)
    assert sorted(re.findall(r'class="number"[^>]*>(\d+)<', text)) == ["1", "4", "6"]
    centered = display.board(GameState.of(Position(Side(1), Side(1)), away=(1, 3), crawford=True))
    assert 'class="number"' not in centered  # no cube in the Crawford game
    assert "On roll: 1 on 1. Other side: 1 on 1." in centered


@pytest.mark.slow
def test_in_chromium(
    oracle: Callable[[str], str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Opened as a file the page shows its boards, in light and dark, and asks nobody for anything."""
    chromium = oracle("chromium")
    (tmp_path / "evening.mat").write_text(evening().replace("Ann", "<b>Ann</b>"))
    golden = ROOT / "fixtures/golden/gnubg/os_p06.bd"
    code = run(["annotate", str(tmp_path / "evening.mat"), str(golden), "-o", str(tmp_path / "evening.html")])
    capsys.readouterr()
    assert code == 0
    common = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"]
    common += [
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        f"--user-data-dir={tmp_path}/c",
    ]
    here = (tmp_path / "evening.html").as_uri()
    control = tmp_path / "control.html"
    control.write_text('<img src="http://nowhere.invalid/a.png"><svg class="board"></svg>')

    def opened(address: str) -> tuple[str, list[str]]:
        log = tmp_path / "net.json"
        done = subprocess.run(
            [*common, f"--log-net-log={log}", "--dump-dom", address],
            capture_output=True, text=True, timeout=800, check=False,
        )  # fmt: skip
        return done.stdout, requests(log)

    assert any("nowhere.invalid" in url for url in opened(control.as_uri())[1])  # a request would be seen
    shown, asked = opened(here)
    assert asked == []
    assert shown.count('<svg class="board"') > 3
    assert "&lt;b&gt;Ann&lt;/b&gt;" in shown
    assert "<b>Ann" not in shown
    for scheme in (0, 1):  # dark, light
        shot = tmp_path / f"{scheme}.png"
        settings = f"--blink-settings=preferredColorScheme={scheme}"
        subprocess.run(
            [*common, settings, "--window-size=900,1200", f"--screenshot={shot}", here],
            capture_output=True, timeout=800, check=True,
        )  # fmt: skip
    assert (tmp_path / "0.png").read_bytes() != (tmp_path / "1.png").read_bytes()


#: what the browser asks for itself
OWN = re.compile(
    r"(chrome|chrome-extension|devtools|file|data):|https?://([\w-]+\.)*(google|googleapis|gvt1)\.com"
)


def requests(log: Path) -> list[str]:
    """The addresses that a net log of Chromium has requests for, but for the browser's own."""
    text = log.read_text(errors="replace").rstrip().rstrip(",")
    try:
        found = json.loads(text)
    except json.JSONDecodeError:  # a browser that ended early leaves the list open
        found = json.loads(text + "]}")
    begun = found["constants"]["logEventTypes"]["URL_REQUEST_START_JOB"]
    urls = [
        str((event.get("params") or {}).get("url", "")) for event in found["events"] if event["type"] == begun
    ]
    assert urls
    return [url for url in urls if url and not OWN.match(url)]


@pytest.mark.slow
def test_annotated_bytes_appear_whole(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "m.mat").write_text(Maker(MatchPrices(), 2, 5).mat(2))
    done = annotate_file(tmp_path / "m.mat", judge)
    text = page.page(Report(done.reports))
    assert text.startswith("<!DOCTYPE html>")
    assert text.endswith("</html>\n")
