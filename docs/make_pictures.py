"""Draw the pictures of the documents from bgfmt's own answers: `python docs/make_pictures.py`.

They are SVG with a ground of their own, and light or dark as the reader's system is. A test compares them with the
files in docs/pictures.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from pathlib import Path

import bgfmt
from bgfmt.cli.cube import WORDS
from bgfmt.extras.matches.annotate import annotate, page, text
from bgfmt.extras.matches.annotate.report import FIGURES
from bgfmt.game import display

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "pictures"
TABLE = ROOT / "fixtures/golden/gnubg/os_p06.bd"
MATCH = ROOT / "fixtures/matches/gv-5nqfGw9bWG3deTaU.mat"
ASKED = "0 1 0 0 1 / 0 1 1"
RACE = "0 2 2 2 0 4"
UPTO = 7

#: the report's colours and boards, so that both look the same; then what the panels add
STYLE = (
    "\n"
    + page.STYLE.read_text()
    + """
text{font:15px system-ui,sans-serif;fill:var(--text)}.head{font-weight:700;font-size:17px}
text.soft{fill:var(--soft);font-size:13px}text.mid{text-anchor:middle}text.end{text-anchor:end}.loss{fill:var(--bad);font-weight:600}
.ground{fill:var(--page)}.frame{fill:var(--card);stroke:var(--line)}.bar-of{fill:var(--x)}
.cell{stroke:var(--card);stroke-width:2}.dt{fill:#7fb685}.dp{fill:#e0a24c}.nt{fill:#8fb3d9}.none{fill:#b9b6ae}
text.cell-text{fill:#151513;text-anchor:middle;font-weight:600;stroke:none}
"""
)

Panel = tuple[int, int, str]  # width, height, what is drawn


def words(x: float, y: float, said: str, kind: str = "") -> str:
    """A line of text."""
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(said)}</text>'


def rows(x: float, y: float, lines: Iterable[str], step: int = 22, kind: str = "") -> str:
    """Lines of text below each other."""
    return "".join(words(x, y + step * k, line, kind) for k, line in enumerate(lines))


def board(state: bgfmt.GameState, x: int, y: int) -> str:
    """The report's board of a state at a place."""
    place = f'<svg x="{x}" y="{y}" width="{display.WIDTH}" height="{display.HEIGHT}"'
    return display.board(state).replace('<svg class="board"', place)


def cube() -> Panel:
    """A board and its cube decision for money, calculated from the rules."""
    state = bgfmt.GameState.parse(ASKED)
    with bgfmt.Advisor(TABLE) as advisor:
        action = advisor.cube(state)
    choices = {
        "no double": action.no_double,
        "double, take": action.double_take,
        "double, pass": action.double_pass,
    }
    out = [words(14, 26, "Should you double? Should they take?", "head"), board(state, 4, 40)]
    out.append(words(14, 372, f"{action.action}.", "head"))
    for k, (name, equity) in enumerate(choices.items()):
        best = "   best" if equity == action.best else ""
        out.append(words(14, 398 + 22 * k, name) + words(210, 398 + 22 * k, f"{equity:+.4f}{best}"))
    return 430, 458, "".join(out)


def scores() -> Panel:
    """The cube action of the same position at every score."""
    with bgfmt.Advisor(TABLE) as advisor:
        grid = advisor.scores(bgfmt.GameState.parse(ASKED), UPTO)
    size, left, top = 46, 60, 68
    out = [words(14, 26, "The same at every match score", "head")]
    out.append(words(left, 48, "points the other side needs across, you down", "soft"))
    seen = set()
    for mine in range(1, UPTO + 1):
        at = top + size * (mine - 1)
        out.append(words(left - 14, at + 30, str(mine), "mid"))
        out.append(words(left + size * (mine - 0.5), top - 6, str(mine), "mid soft"))
        for other in range(1, UPTO + 1):
            said = grid[mine, other, False].code
            seen.add(said)
            kind = {"D/T": "dt", "D/P": "dp", "N/T": "nt"}.get(said, "none")
            x = left + size * (other - 1)
            out.append(f'<rect class="cell {kind}" x="{x}" y="{at}" width="{size}" height="{size}"/>')
            out.append(words(x + size / 2, at + 29, said, "cell-text"))
    legend = [f"{name}  {WORDS[name]}" for name in WORDS if name in seen]
    for k, one in enumerate(legend):
        out.append(words(left + 190 * (k % 2), top + size * UPTO + 26 + 20 * (k // 2), one, "soft"))
    return 466, 458, "".join(out)


def report() -> tuple[Panel, Panel]:
    """Of a report on a match: the worst error with its board, and the sums of each player."""
    judged = annotate([MATCH], [TABLE])
    ((_, worst),) = judged.worst(1)
    best = f"best: {worst.best} {text.format_equity(worst, worst.best)}"
    said = [text.where(worst), text.score(worst), f"{worst.did} {text.format_equity(worst, worst.did)}", best]
    error = [words(14, 26, "The worst error of a match", "head"), board(worst.decision.state, 4, 40)]
    error += [rows(444, 66, said), words(444, 160, f"lost: {text.format_loss(worst).strip(' ()')}", "loss")]

    sums = [words(14, 26, "A match, judged", "head")]
    figures = {figure.heading: figure for figure in FIGURES}
    headings = ("decisions", "errors", "MWC lost %", "race PR", "luck", "luck MWC %")
    for k, heading in enumerate(headings):
        sums.append(words(316 + 112 * k, 26, heading, "soft end"))
        for row, total in enumerate(judged.totals):
            sums.append(words(316 + 112 * k, 54 + 24 * row, figures[heading].text(total), "end"))
    sums.append(rows(14, 54, [total.name for total in judged.totals], 24))
    return (910, 362, "".join(error)), (910, 92, "".join(sums))


def race() -> Panel:
    """When one side is off: the chance of each number of rolls."""
    with bgfmt.Advisor(TABLE) as advisor:
        found = advisor.race(RACE)
    assert found.bearoff is not None
    out = [words(14, 26, f"{found.pips} pips: when is the last chequer off?", "head")]
    shown = [(rolls, float(chance)) for rolls, chance in enumerate(found.bearoff) if chance >= 0.001]
    for k, (rolls, chance) in enumerate(shown):
        x, high = 24 + 64 * k, 400 * chance
        out.append(
            f'<rect class="bar-of" x="{x}" y="{236 - high:.1f}" width="48" height="{max(high, 1):.1f}"/>'
        )
        out.append(words(x + 24, 230 - high, f"{100 * chance:.1f} %", "mid soft"))
        out.append(words(x + 24, 256, str(rolls), "mid"))
    out.append(
        words(14, 284, f"mean {found.mean_rolls:.3f} rolls, EPC {found.epc:.2f}, wastage {found.wastage:.2f}")
    )
    return 560, 300, "".join(out)


def svg(panels: Iterable[tuple[int, int, Panel]], about: str) -> str:
    """One picture of panels at their places."""
    placed = list(panels)
    width = max(x + panel[0] for x, _, panel in placed) + 14
    height = max(y + panel[1] for _, y, panel in placed) + 14
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<title>{escape(about)}</title><style>{STYLE}</style>",
        re.sub("</?svg[^>]*>", "", display.DEFINITIONS),
        f'<rect class="ground" width="{width}" height="{height}" rx="10"/>',
    ]
    for x, y, (wide, high, drawn) in placed:
        out.append(
            f'<g transform="translate({x} {y})"><rect class="frame" width="{wide}" height="{high}" rx="8"/>'
        )
        out.append(f"{drawn}</g>")
    return "\n".join([*out, "</svg>", ""])


def pictures() -> dict[str, str]:
    """Every picture by the name of its file."""
    one, grid, bars = cube(), scores(), race()
    error, sums = report()
    return {
        "bgfmt.svg": svg(
            [(14, 14, one), (458, 14, grid), (14, 486, sums)],
            "A cube decision on its board, the action at every score, and the sums of a judged match",
        ),
        "cube.svg": svg([(14, 14, one)], "A board and its cube decision"),
        "scores.svg": svg([(14, 14, grid)], "The cube action at every score"),
        "report.svg": svg([(14, 14, error), (14, 390, sums)], "Part of a report on a match"),
        "race.svg": svg([(14, 14, bars)], "The chances to be off in each number of rolls"),
    }


def main(folder: Path = PICTURES) -> None:
    """Write all pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, drawn in pictures().items():
        (folder / name).write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main()
