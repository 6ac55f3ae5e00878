"""`bgfmt race`, `cube` and `play` as they are typed."""

from __future__ import annotations

import io
import json
import re
import shlex
import subprocess
import sys

import pytest

import bgfmt
from bgfmt import met
from bgfmt.analysis.solving import solve_side
from bgfmt.cli import cli, run
from bgfmt.files.solve import solve_table
from bgfmt.game.board import Side
from bgfmt.solver.match import match_score
from tests.support.analysis_tables import exact_two_sided, means, one_sided, stored_two_sided

VERBS = ("race", "cube", "play")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, golden):
    """A folder with the files the examples name."""
    here = tmp_path_factory.mktemp("ask")
    bgfmt.save(one_sided(), here / "gnubg_os0.bd", format="gnubg-os")
    bgfmt.save(stored_two_sided(), here / "gnubg_ts0.bd", format="gnubg-ts")
    bgfmt.save(exact_two_sided(3), here / "exact.npz", format="npz")
    bgfmt.save(means(), here / "means.npz", format="npz")
    cubeless = bgfmt.load(golden / "gnubg" / "ts_06x04_cubeless.bd")
    bgfmt.save(cubeless, here / "cubeless.bd", format="gnubg-ts")
    return here


@pytest.fixture
def ask(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)

    def go(line: str) -> tuple[int, str, str]:
        code = run(shlex.split(line))
        out = capsys.readouterr()
        return code, out.out, out.err

    return go


def examples() -> list[str]:
    lines = []
    for verb in VERBS:
        command = cli.get_command(None, verb)  # type: ignore[arg-type]
        text = command.help or ""
        lines += [
            line.strip().removeprefix("bgfmt ")
            for line in text.splitlines()
            if line.strip().startswith("bgfmt ")
        ]
    return lines


@pytest.mark.slow
@pytest.mark.parametrize("line", examples())
def test_examples_of_the_help_pages(ask, line):
    code, out, err = ask(line)
    assert code == 0, err
    assert out
    assert not err
    code, out, _ = ask(line + " --json")
    assert code == 0
    assert json.loads(out)


def test_every_verb_has_an_example():
    assert {line.split()[0] for line in examples()} == set(VERBS)


def test_race(ask):
    code, out, _ = ask("race gnubg_os0.bd 0 2 2 2 0 4")
    assert code == 0
    assert "pips              42" in out
    assert "EPC" in out
    quoted = ask('race gnubg_os0.bd "0 2 2 2 0 4"')
    assert quoted[1] == out
    data = json.loads(ask("race gnubg_os0.bd 0 1 0 0 1 0 --json")[1])
    assert data["mean_rolls"] == pytest.approx(1.475308642, abs=2e-4)
    assert data["off_within"][1] == pytest.approx(19 / 36, abs=1e-5)
    assert data["wastage"] == pytest.approx(data["epc"] - 7)
    both = json.loads(ask('race gnubg_os0.bd "8 / 6" --json')[1])
    assert both["two_sided"]["win"] == pytest.approx(0.301055, abs=3e-5)
    assert both["on_roll"]["pips"] == 8
    text = ask('race gnubg_os0.bd "0 0 0 0 0 15 / 2"')[1]
    assert "gammon saved" in text
    assert "approximately" in text
    alone = ask("race means.npz 0 0 0 2 3 4")
    assert "6.56681" in alone[1]
    assert "rolls     exactly" not in alone[1]


@pytest.mark.slow
def test_a_race_outside_the_home_board(ask):
    """Within ten points by the default table, beyond by a mean of the 21 rolls."""
    code, out, err = ask('race "0 1 0 2 3 4 2 2 0 1"')
    assert not code, err
    assert "EPC               96.461" in out
    assert "from bgfmt_os10.bd" in out
    code, out, err = ask('race --limit 1 --json "0 0 0 0 0 0 0 0 0 0 0 0 5 / 0 0 1 0 0 0 0 4"')
    assert not code, err
    answer = json.loads(out)
    exact = solve_side(Side(*[0] * 12, 5), limit=1 << 40)
    assert answer["on_roll"]["source"] == "estimate"
    assert answer["on_roll"]["mean_rolls"] == pytest.approx(exact.last @ range(len(exact.last)), abs=0.04)
    assert sum(answer["on_roll"]["bearoff"]) == pytest.approx(1)
    assert 0 < answer["two_sided"]["win"] < 0.5
    assert answer["two_sided"]["win_gammon"] == 0


def test_an_address_inside_a_pasted_text_is_no_database(ask):
    xgid = "XGID=-BCBB----------------abbc-:0:0:1:00:0:0:0:0:10"
    plain = ask(f'cube "{xgid}"')
    for text in (f"see https://example.org/x {xgid}", f"[url=https://example.org/x]{xgid}[/url]"):
        code, out, err = ask(f'cube "{text}"')
        assert (code, out) == plain[:2], err
    said = ask("race https://example.org/?position=dwMAAN4FAAAAAA")
    assert said == ask("race dwMAAN4FAAAAAA")


@pytest.mark.slow
def test_cube(ask):
    code, out, _ = ask('cube gnubg_ts0.bd "0 1 0 0 1 0 / 0 1 1 0 0 0"')
    assert code == 0
    for text in ("67.11", "+0.1605", "+0.3210", "Centered cube: Double, take"):
        assert text in out
    assert "Own cube" not in out
    own = ask('cube gnubg_ts0.bd "0 1 0 0 1 0 / 0 1 1 0 0 0" --owner me')[1]
    assert "Own cube: No redouble, take" in own
    assert own == ask('cube gnubg_ts0.bd "0 1 0 0 1 0 / 0 1 1 0 0 0" --cube owned')[1]
    assert "Centered cube" not in own
    at_score = ask('cube gnubg_ts0.bd "0 1 0 0 1 / 0 1 1" --away 3-5')[1]
    assert "doubling gains 0.251 % (0.0292), taking gains 6.320 % (0.7345)" in at_score
    assert "taking" not in ask('cube gnubg_ts0.bd "0 1 0 0 1 / 0 1 1" --away 1-5')[1]
    assert "--owner and --cube" in ask('cube "1 / 1" --owner me --cube owned')[2]
    data = json.loads(ask('cube gnubg_ts0.bd "0 0 0 0 0 1 / 0 0 1" --json')[1])
    assert data["label"] == 5
    assert data["centered_cube"]["tie_take"]
    assert data["centered_cube"]["settled"]
    assert data["centered_cube"]["action"] == "Double, take or pass"
    loose = json.loads(ask('cube gnubg_ts0.bd "0 0 0 0 0 1 / 0 0 1" --json --no-settle')[1])
    assert not loose["centered_cube"]["sure_take"]
    data = json.loads(ask('cube exact.npz "0 0 0 0 0 1 / 0 0 1" --json')[1])
    assert data["centered_cube"]["tie_take"]
    assert not data["centered_cube"]["settled"]
    rough = ask('cube gnubg_os0.bd "0 1 0 0 1 0 / 0 1 1 0 0 0" --no-settle')
    assert rough[0] == 0
    assert "estimate, ±" in rough[1]
    assert "calculated exactly; exact" in ask('cube gnubg_os0.bd "0 1 0 0 1 0 / 0 1 1 0 0 0"')[1]
    best = ask('cube gnubg_os0.bd gnubg_ts0.bd "0 1 0 0 1 0 / 0 1 1 0 0 0"')
    assert best[1] == out
    plain = ask('cube cubeless.bd "0 1 0 0 1 0 / 0 1 1 0 0 0" --no-settle')
    assert plain[0] == 0
    assert "estimate, ±" in plain[1]


def test_why_a_table_of_another_score_is_skipped(ask, folder):
    """It was told that it says no match winning chances at all."""
    bgfmt.save(match_score(3, 2, (3, 5), met.load()), folder / "3-5.bgm")
    for line in ('cube 3-5.bgm "0 1 / 1 1" --away 4-5', 'play 3-5.bgm "0 1 1 / 1 1" 21 --away 4-5'):
        assert "3-5.bgm is skipped: the table is of 3-away, 5-away with Kazaross-XG2" in ask(line)[1]
    assert "is skipped" not in ask('cube 3-5.bgm "0 1 / 1 1" --away 5-3')[1]
    said = ask('cube 3-5.bgm "0 1 / 1 1"')[1]
    assert "3-5.bgm is skipped: a match-score table does not have both sides' cubeful equities" in said


def test_ignored_options_are_named(ask):
    """It was passed over in silence."""
    for line, words in (
        ('cube "0 1 / 1 1" --met g11 --met-player 1', "ignored: --met, --met-player; this is not a match"),
        ('play "0 1 / 1 1" 21 --extend-met', "ignored: --extend-met; this is not a match"),
        ('play "0 1 1" 21 --away 3-5 --cube owned', "ignored: --cube, --away; the position is one side"),
        (
            'cube gnubg_ts0.bd "0 1 / 1 1" --scores 2',
            "gnubg_ts0.bd is skipped: the cube at all scores is calculated",
        ),
        ('cube "0 1 / 1 1" --scores 2 --oracle', "ignored: --oracle; the query covers all scores"),
        ('play "0 1 1" 21 --oracle', "ignored: --oracle; the position is one side"),
        ('cube "0 1 / 1 1" --scores 2 --jacoby', "ignored: --jacoby; the query covers all scores"),
        ('play "0 1 1 / 1" 61 --measure mean --away 3-5', "ignored: --away; plays are ranked by mean"),
        ("cube XGID=-BCBB----------------abbc-:0:0:1:61:0:0:0:0:10", "identifier's dice are ignored"),
        ("cube XGID=-BCBB----------------abbc-:1:1:1:00:0:0:0:0:3", "the largest cube, 8, is ignored"),
    ):
        assert words in ask(line)[1]
        assert words in ask(f"{line} --json")[2]
    for line in (
        'cube "0 1 / 1 1" --met g11 --away 2-2',
        'cube "0 1 / 1 1" --met g11 --scores 2',
        'play "0 1 / 1" 21',
    ):
        assert "ignored" not in "".join(ask(line)[1:])


def test_lines_that_are_no_text_of_the_terminal(ask, monkeypatch):
    """As in a terminal whose encoding is strict; that ended in a traceback."""
    lines = io.TextIOWrapper(io.BytesIO(b"\xff1\n0 1 / 1\n"), encoding="utf-8")
    monkeypatch.setattr("sys.stdin", lines)
    code, out, _ = ask("cube exact.npz -")
    first, second = map(json.loads, out.splitlines())
    assert (code, first["error"]["kind"], second["action"]) == (1, "PositionError", "Double, pass")


@pytest.mark.slow
def test_an_oracle_settles_what_an_estimate_leaves_open(ask):
    words = 'gnubg_os0.bd "3 1 0 0 0 3 / 3 0 0 2 0 2" --limit 0'
    estimated = json.loads(ask(f"cube {words} --cube centered --json")[1])
    assert (estimated["source"], estimated["sure"]) == ("estimate", False)
    data = json.loads(ask(f"cube {words} --cube centered --oracle --json")[1])
    assert (data["source"], data["approximate"], data["sure"]) == ("rollout", True, True)
    assert (
        data["usual_error"]["centered"] < data["max_error"]["centered"] < estimated["max_error"]["centered"]
    )
    assert data["centered"] == data["centered_cube"]["no_double"]
    code, out, _ = ask(f"cube {words} --oracle")
    assert code == 0
    assert "\n  rollout, ±" in out
    assert data["certainty"] in out
    play = ask('play gnubg_os0.bd "0 0 0 2 2 2 1 1 / 0 0 2 2 2 1 1 1" 52 --limit 0 --oracle')[1]
    assert ": money equity, cube centered (rollout)\n" in play


@pytest.mark.extra("races")
def test_an_estimate_names_the_limit_of_a_calculation(ask):
    line = 'cube gnubg_ts0.bd "2 1 0 0 0 0 1 / 1 1 0 0 0 0 1" --limit'
    needed = re.search(r"a --limit of at least (\d+)", ask(f"{line} 10")[1])
    assert needed is not None
    assert "calculated exactly" not in ask(f"{line} {int(needed[1]) - 1}")[1]
    # the number is a lower bound: the work is not counted to its end
    assert "calculated exactly" in ask(f"{line} {4 * int(needed[1])}")[1]


@pytest.mark.slow
def test_every_race_has_an_answer(ask):
    for text in (
        "0 0 0 0 5 9 / 0 0 0 0 5 9",
        "2 2 2 2 2 2 1 0 1 / 3 3 2 3 2 2",
        "3 3 3 3 0 0 0 0 0 0 0 0 0 3 / 5 5 5",
    ):
        code, out, _ = ask(f'cube gnubg_ts0.bd "{text}" --limit 1000')
        assert code == 0
        assert "estimate, ±" in out
        assert "too close to call" not in out
        ranked = json.loads(ask(f'play gnubg_ts0.bd "{text}" 52 --limit 1000 --json')[1])
        assert ranked["source"] == "estimate"
        assert ranked["usual_error"]["value"] < ranked["max_error"]["value"]
        at_score = json.loads(ask(f'cube gnubg_ts0.bd "{text}" --limit 1000 --away 5-3 --json')[1])
        assert at_score["usual_error"] < at_score["max_error"]["mwc"]
        grid = json.loads(ask(f'cube gnubg_ts0.bd "{text}" --limit 1000 --scores 2 --json')[1])
        assert (grid["source"], len(grid["cells"])) == ("estimate", 6)


@pytest.mark.slow
def test_a_folder_that_is_one_database(ask, folder, tmp_path):
    solve_table("two-sided", 4, 3, store=tmp_path / "made")
    code, out, err = ask(f'play "{tmp_path}/made" "1 0 1 / 2" 21')
    assert (code, err) == (0, "")
    assert "from made;" in out
    (tmp_path / "empty").mkdir()
    code, _, err = ask(f'cube "{tmp_path}/empty" "1 0 1 / 2"')
    assert code == 2
    assert "no database in this folder" in err


def test_positions_by_identifier(ask):
    from bgfmt.game.board import Position, Side
    from bgfmt.game.identifiers import position_id

    name = position_id(Position(Side(0, 1, 0, 0, 1), Side(0, 1, 1)))
    assert ask(f"cube gnubg_ts0.bd {name}")[1] == ask('cube gnubg_ts0.bd "0 1 0 0 1 0 / 0 1 1 0 0 0"')[1]
    assert ask(f"play gnubg_ts0.bd {name} 21")[1] == ask('play gnubg_ts0.bd "0 1 0 0 1 / 0 1 1" 2-1')[1]
    xgid = "XGID=-DCA------------------bcc-:0:0:1:00:0:0:0:0:10"
    assert ask(f"race gnubg_os0.bd {xgid}")[1] == ask('race gnubg_os0.bd "4 3 1 / 3 3 2"')[1]
    alone = position_id(Position(Side(0, 2, 2, 2, 0, 4), Side()))
    assert ask(f"race gnubg_os0.bd {alone}")[1] == ask("race gnubg_os0.bd 0 2 2 2 0 4")[1]


@pytest.mark.parametrize("words", ["race -", "race - --settle", "race gnubg_os0.bd -", "race gnubg_ts0.bd -"])
def test_a_race_of_standard_input_is_that_of_the_argument(ask, monkeypatch, words):
    lines = ["2 1 0 1 1 1 1", "0,0,0,0,0,0,3/0,0,0,0,0,0,3", "0 0 0 0 0 0 0 0 0 0 0 3 / 1"]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines)))
    code, out, _ = ask(f"{words} --json")
    assert code == 0
    for line, text in zip(lines, out.splitlines(), strict=True):
        alone = ask(f"{words.partition(' -')[0]} --json '{line}'")[1]
        assert json.loads(text) == json.loads(alone)


def test_a_table_that_does_not_answer_a_race_is_named(ask):
    code, out, err = ask("race gnubg_os0.bd 0 0 0 0 0 0 1")
    assert code == 0
    assert "calculated exactly" in out
    assert "gnubg_os0.bd is skipped: 0 0 0 0 0 0 1 has a chequer on point 7" in err


@pytest.mark.slow
def test_an_xgid_without_its_word_is_no_option(ask):
    identifier = "-BCBB----------------abbc-:0:0:1:00:0:0:0:0:10"
    assert ask(f"cube {identifier}") == ask(f"cube XGID={identifier}")


@pytest.mark.slow
def test_play(ask):
    code, out, _ = ask("play gnubg_os0.bd 0 2 2 2 0 4 6-1")
    assert code == 0
    assert "1. 6/5 6/off" in out
    assert "(-0.101" in out
    assert ask('play gnubg_os0.bd "0 2 2 2 0 4" 61')[1] == out
    data = json.loads(ask('play gnubg_ts0.bd "1 0 0 3 0 1 / 0 0 0 0 0 1" 21 --measure cubeless --json')[1])
    assert data["plays"][0]["play"] == "6/4 1/off"
    assert data["plays"][0]["value"] == pytest.approx(2 * 3 / 144 - 1, abs=2e-4)
    assert data["plays"][0]["loss"] == 0
    rolls = json.loads(ask('play gnubg_ts0.bd "1 0 0 3 0 1 / 0 0 0 0 0 1" all --json')[1])["rolls"]
    assert len(rolls) == 21
    assert "6-6" not in ask('play gnubg_ts0.bd "0 0 1 / 0 0 1" all')[1]
    chance = ask("play gnubg_os0.bd 0 0 0 2 3 4 65 --measure off:6")
    assert "probability of being off within 6 more rolls" in chance[1]
    assert "estimated" in ask('play gnubg_os0.bd "3 3 / 2 2" 21 --no-settle')[1]
    equal = ask('play gnubg_ts0.bd "0 1 0 0 1 / 0 1 1" 21')[1]
    assert all(words in equal for words in ("2. 5/3 2/1", "(equal)"))
    assert "-0.00000" not in equal


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("race gnubg_os0.bd 0 0 0 0 0 0 1 --no-settle", 1, "point 7"),
        ("race gnubg_ts0.bd 0 0 0 0 0 1 --no-settle", 1, "two-sided"),
        ('cube gnubg_ts0.bd "7 / 1" --no-settle', 1, "7 chequers"),
        ('cube gnubg_ts0.bd "1 / 0 0 0 0 0 0 1" --no-settle', 1, "point 7"),
        ('cube gnubg_ts0.bd "0 1 / 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1"', 1, "passed"),
        ("cube gnubg_ts0.bd 0 1 0 0 1 0", 2, "one side"),
        ('cube means.npz "1 / 1" --no-settle', 1, "mean-rolls"),
        ("cube nosuch 0 1 / 1", 2, "neither a file, a folder"),
        ('cube gnubg_ts0.bd "1 / 1" --away 5', 2, "5-9"),
        ('cube gnubg_ts0.bd "1 / 1" --away 5-4 --crawford', 2, "needs a side that is 1-away, not 5-4"),
        ('cube gnubg_ts0.bd "1 / 1" --away 99-5', 1, "25-away"),
        ('play gnubg_ts0.bd "1 / 1"', 2, "add the roll"),
        ("play gnubg_os0.bd 0 1 0 0 1 0 77", 2, "a roll must be two dice"),
        ("play gnubg_os0.bd 0 1 0 0 1 0 21 --measure best", 2, "a measure must be"),
        ("play gnubg_os0.bd 0 1 0 0 1 0 21 --measure money", 2, "both sides"),
        ("play means.npz 0 1 0 0 1 0 21 --measure off:2", 1, "mean-rolls"),
        ("race gnubg_os0.bd nonsense", 2, "nonsense"),
        ("race gnubg_os0.bd 0 0 0 0 0 16", 2, "15 chequers"),
        ("race missing.bd 0 0 1", 2, "missing.bd"),
        ("cube missing.bgts 0 1 / 1", 2, "No such file"),
        ("race gnubg_os0.bd", 2, "expected database files"),
        ("play gnubg_os0.bd 61", 2, "expected database files"),
        ("play gnubg_os0.bd 0 0 0 0 0 0 21", 2, ""),
        ("race gnubg_os0.bd 1 --plot out.xyz", 2, "matplotlib"),
    ],
)
def test_what_is_refused_in_one_line(ask, line, code, said):
    got, out, err = ask(line)
    assert got == code, err
    assert not out
    assert err.count("\n") == 1
    assert said in err


@pytest.mark.slow
@pytest.mark.extra("charts")
def test_plots(ask, folder):
    pytest.importorskip("matplotlib")
    assert ask("race gnubg_os0.bd 0 2 2 2 0 4 --plot one.png")[0] == 0
    assert ask('race gnubg_os0.bd "0 2 2 2 0 4 / 0 0 0 3 5 7" --plot two.svg')[0] == 0
    assert ask('cube gnubg_ts0.bd "0 1 0 0 1 0 / 0 1 1 0 0 0" --plot chart.png')[0] == 0
    for name, start in (("one.png", b"\x89PNG"), ("two.svg", b"<?xml"), ("chart.png", b"\x89PNG")):
        assert (folder / name).read_bytes().startswith(start)


@pytest.mark.extra("charts")
def test_without_matplotlib(ask, monkeypatch):
    for name in [m for m in sys.modules if m.split(".")[0] == "matplotlib"] + ["matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    code, _, err = ask("race gnubg_os0.bd 0 2 2 2 0 4 --plot one.png")
    assert code == 2
    assert "pip install" in err


def test_single_questions_do_not_wake_the_compiler(golden):
    script = f"""
import sys, bgfmt
from bgfmt import Advisor, GameState
from bgfmt.game.board import Position, Side
folder = {str(golden / "gnubg")!r}
with bgfmt.open(folder + "/ts_06x04.bd") as ts, bgfmt.open(folder + "/os_p04.bd") as one:
    position = Position(Side(0, 1, 0, 1), Side(0, 1, 1))
    advisor = Advisor([ts, one], calculate="nothing")
    advisor.cube(GameState.of(position))
    advisor.plays(GameState.of(position, (2, 1)))
    advisor.race(position.us)
print("numba" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cube", "shown", "hidden"),
    [
        ("0:0:1", ["Centered cube: "], ["Own cube"]),
        ("1:1:1", ["Own cube: "], ["Centered cube"]),
        ("1:-1:1", ["The other side owns the cube"], ["Centered cube", "Own cube"]),
    ],
)
def test_an_identifier_says_which_cube_there_is(ask, cube, shown, hidden):
    """Only the decision that can be made is shown, and any other with --cube."""
    text = f"XGID=-BCBB----------------abbc-:{cube}:00:0:0:0:0:10"
    code, out, _ = ask(f"cube gnubg_os0.bd {text} --no-settle")
    assert code == 0
    assert all(words in out for words in shown)
    assert not any(words in out for words in hidden)
    assert "Own cube: " in ask(f"cube gnubg_os0.bd {text} --no-settle --cube owned")[1]
    centered = ask("cube gnubg_os0.bd dwMAAN4FAAAAAA --no-settle")[1]  # which says nothing of a cube
    assert "Centered cube: " in centered
    assert "Own cube: " not in centered
    data = json.loads(ask(f"cube gnubg_os0.bd {text} --no-settle --json")[1])
    assert data["centered_cube"]["cube"] == "centered"
    assert data["owned_cube"]["cube"] == "owned"


def test_where_no_cube_is_in_use_no_double_is_shown(ask):
    """An XGID's last field names the largest cube, which no double may exceed."""
    out = ask("cube XGID=-BCBB----------------abbc-:3:1:1:00:0:0:0:0:3")[1]
    assert out.rstrip().endswith("\nNo cube is in use")
    data = json.loads(ask("cube XGID=-BCBB----------------abbc-:3:1:1:00:0:0:0:0:3 --json")[1])
    assert data["owned_cube"]["no_double"] == data["cubeless"]


def test_a_beaver_has_its_row(capsys, golden):
    table = str(golden / "gnubg" / "ts_06x04.bd")
    position = "0 0 0 0 0 4 / 2 2"
    assert run(["cube", table, position, "--cube", "centered"]) == 0
    out = capsys.readouterr().out
    assert "  double, beaver    -3.7777\n" in out
    assert "doubling costs 2.8333, taking gains 2.8889, beavering 1.8889 more" in out
    assert run(["cube", table, position, "--no-beavers"]) == 0
    assert "beaver  " not in capsys.readouterr().out
    assert run(["cube", table, position, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["centered_cube"]
    assert found["double_beaver"] == 2 * found["double_take"]
    assert found["double_margin"] == found["double_beaver"] - found["no_double"]


@pytest.mark.extra("races")
@pytest.mark.parametrize("line", ["cube {}", "play {} 31", "cube {} --away 3-5", "play {} 31 --away 3-5"])
def test_a_single_question_that_takes_long_is_estimated(capsys, monkeypatch, golden, line):
    """Half a minute of two cores is more than anybody waits for without having asked for it."""
    monkeypatch.setenv("BGFMT_DB", str(golden / "gnubg" / "os_p06.bd"))
    words = shlex.split(line.format('"2 2 2 2 2 2 / 3 3 3 3 2 1"'))
    assert run([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["source"] == "estimate"
