"""The scripts in the real J against bgfmt's own answers."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from fractions import Fraction as F
from pathlib import Path

import numpy as np
import pytest

import bgfmt
from bgfmt import Side
from bgfmt.extras.lab import orders
from bgfmt.extras.lab.articles import systems
from tests.support.single import rank_plays

SCRIPT = Path(__file__).resolve().parents[1] / "bearoff.ijs"
GOLDEN = Path(__file__).resolve().parents[3] / "fixtures" / "golden"
BOARDS = [
    (0, 2, 2, 2, 0, 4),
    (0, 0, 0, 2, 3, 4),
    (1,),
    (0, 1, 0, 0, 1),
    (3, 3, 3, 2, 2, 2),
    (0, 0, 1, 0, 0, 1),
]
ROLLS = [(6, 1), (1, 6), (3, 3), (5, 2), (1, 1), (6, 6)]


def _conftest():  # type: ignore[no-untyped-def]
    path = Path(__file__).resolve().parents[3] / "tests" / "conftest.py"
    spec = importlib.util.spec_from_file_location("bgfmt_tests_conftest", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def jconsole() -> str:
    found = _conftest().find_program("jconsole")
    if found is None:
        if os.environ.get("BGFMT_REQUIRE_ORACLES") == "1":
            pytest.fail("the real program 'jconsole' is not installed")
        pytest.skip("the real program 'jconsole' is not installed")
    return str(found)


def say(jconsole: str, folder: Path, sentences: list[str], name: str = "bearoff") -> list[str]:
    """The text of each sentence's value; it goes through a file, since J cuts long lines on the screen."""
    out, script = folder / "out.txt", folder / "test.ijs"
    out.unlink(missing_ok=True)
    lines = [f"((\": {sentence}),LF) 1!:3 <'{out}'" for sentence in sentences]
    script.write_text(
        "\n".join(["LF =: 10 { a.", f"0!:0 <'{SCRIPT.with_stem(name)}'", "9!:11 ] 16", *lines, "exit 0", ""])
    )
    done = subprocess.run(
        [jconsole, str(script)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=800,
        check=False,
    )
    said = out.read_text().splitlines() if out.exists() else []
    assert len(said) == len(sentences), done.stdout
    return said


def text(counts: tuple[int, ...]) -> str:
    return " ".join(map(str, counts)) if len(counts) > 1 else f",{counts[0]}"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The article's genuine file, and files made by bgfmt in several layouts."""
    folder = tmp_path_factory.mktemp("j")
    genuine = GOLDEN / "jfile" / "bgns.ijf"
    out = [genuine]
    for number, options in enumerate(
        ({"word": 4, "container": "v32l"}, {"container": "v64l"}, {"order": "big"})
    ):
        out.append(folder / f"m{number}.ijf")
        bgfmt.convert(genuine, out[-1], **options)
    for name in ("os_p06", "os_p03"):
        out.append(folder / f"{name}.ijf")
        bgfmt.convert(GOLDEN / "gnubg" / f"{name}.bd", out[-1])
    return out


@pytest.mark.slow
@pytest.mark.parametrize("number", range(6))
def test_same_answers_as_bgfmt(jconsole: str, files: list[Path], tmp_path: Path, number: int) -> None:
    path = files[number]
    with bgfmt.open(path) as database:
        points = database.table.points
        boards = [b for b in BOARDS if len(b) <= points] + [(2, 2, 1), (0, 0, 3)]
        sentences = [f"bearoff_open '{path}'"]
        expected: list[float] = []
        for counts in boards:
            race = database.lookup(Side(*counts))
            mean = race.mean_rolls if hasattr(race, "mean_rolls") else race.mean
            sentences += [f"N {text(counts)}", f"EPC {text(counts)}"]
            expected += [mean, mean * 49 / 6]
            for a, b in ROLLS:
                best = rank_plays(database, Side(*counts), (a, b), measure="mean")
                sentences += [f"> {{. {a} {b} Best {text(counts)}", f"# {a} {b} Plays {text(counts)}"]
                expected += [best[0].value, len(best)]
        said = say(jconsole, tmp_path, sentences)
    assert said[0] == f"{points} 15"
    np.testing.assert_allclose([float(s.replace("_", "-")) for s in said[1:]], expected, rtol=1e-6)


def test_play_in_words_and_refusals(jconsole: str, files: list[Path], tmp_path: Path) -> None:
    said = say(
        jconsole,
        tmp_path,
        [
            f"bearoff_open '{files[0]}'",
            "> 2 { 6 1 Best 0 2 2 2 0 4",
            "> 1 { 6 1 Best 0 2 2 2 0 4",
            "> 2 { 6 6 Best 0 1 0 0 1",
            "N :: ('refused'\"_) 0 0 0 0 0 16",
            "N :: ('refused'\"_) 0 0 0 0 0 0 1",
            "N :: ('refused'\"_) 0 0 _1 0 2 0",
        ],
    )
    assert said[1:] == ["6/off 6/5", "0 2 2 2 1 2", "5/off 2/off", "refused", "refused", "refused"]


# -- articles.ijs --------------------------------------------------------------------------------------------


def test_the_articles_systems(jconsole: str, tmp_path: Path) -> None:
    boards = [(0, 0, 0, 2, 3, 4), (15, 0, 0, 0, 0, 0), (1, 0, 2, 0, 0, 3, 1, 0), (0, 0, 0)]
    pairs = [(8, 6), (15, 15), (1, 2), (4, 1)]
    theirs = [[float(c) for c in systems.distribution(Side(n))] for pair in pairs for n in pair]
    numbers = {f"{x} Ace {o}": systems.Ace(x, o) for x, o in pairs}
    numbers |= {f"DoubleOffAce {n}": systems.DoubleOffAce(n) for n in (0, 1, 2, 3, 15)}
    for (x, o), ours, other in zip(pairs, theirs[::2], theirs[1::2], strict=True):
        rows = [" ".join(f"{chance:.17g}" for chance in row) for row in (ours, other)]
        numbers[f"(, {rows[0]}) Pwin , {rows[1]}"] = float(systems.Pwin(Side(x), Side(o)))
    for counts in boards:
        numbers[f"Ross {text(counts)}"] = orders.ross_rank(orders.ross_list(Side(*counts)), len(counts))
    numbers |= {f"{p} Layouts {c}": systems.layouts(p, c) for p, c in ((6, 15), (1, 1), (12, 7))}
    said = say(jconsole, tmp_path, [*numbers], "articles")
    np.testing.assert_allclose([float(s) for s in said], [*numbers.values()], rtol=1e-14)
    lists = [f"1r6 {tree} {level}" for tree in ("BTree", "BTreeA") for level in (0, 1, 2, 5)]
    lists += [f"{len(counts)} Unrank Ross {text(counts)}" for counts in boards]
    values = [list(map(str, getattr(systems, s.split()[1])(F(1, 6), int(s.split()[2])))) for s in lists[:8]]
    said = say(jconsole, tmp_path, lists, "articles")
    assert [s.replace("r", "/").split() for s in said] == values + [[*map(str, counts)] for counts in boards]
