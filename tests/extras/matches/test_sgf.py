"""gnubg's .sgf: what is read, what is borne, and comments put into it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bgfmt.errors import FormatError
from bgfmt.extras.matches import read
from bgfmt.extras.matches.annotate import Judge, annotate_file
from bgfmt.extras.matches.decisions import decisions
from bgfmt.extras.matches.sgf import Note, parse, with_comments, write_sgf

HEAD = b"(;FF[4]GM[6]MI[length:0][game:0][ws:0][bs:0]PW[a]PB[b]RU[Jacoby]RE[W+2R]"


def test_comments_keep_everything_else() -> None:
    data = b"(;FF[4]GM[6]MI[length:0][ws:0][bs:0]PW[a\\]b]PB[c]RU[Jacoby]\n;B[31qtst]C[mine\n]\n;W[63])\n"
    (match,) = read(data)
    assert match.players == ("a]b", "c")
    first, second = match.games[0].records
    assert [(m.start, m.end) for m in first.moves] == [(8, 5), (6, 5)]
    once = with_comments(data, {first.at: Note(["x ] y"]), second.at: Note(["z"])})
    assert b"C[mine\nbgfmt: x \\] y]" in once
    assert b"W[63]C[bgfmt: z])" in once
    first, second = read(once)[0].games[0].records
    assert with_comments(once, {first.at: Note(["x ] y"]), second.at: Note(["z"])}) == once
    assert with_comments(data, {}) == data


def test_what_gnubg_says_of_the_match() -> None:
    (match,) = read(HEAD + b"DT[2026-11-21]EV[Open]RO[2]PC[Oslo];W[31hefe])")
    assert (match.date, match.event, match.round, match.place) == ("2026-11-21", "Open", "2", "Oslo")
    assert match.rules.jacoby
    result = match.games[0].result
    assert result is not None
    assert (result.winner, result.points, result.resigned) == (0, 2, True)


def test_dice_without_a_play_were_not_played() -> None:
    (match,) = read(HEAD + b";W[31hefe];B[42qusu];PL[W]DI[64])")
    assert [r.kind for r in match.games[0].records] == ["play", "play", "unplayed"]
    assert match.games[0].records[-1].dice == (6, 4)
    assert match.problems == ()
    (match,) = read(HEAD + b";DI[31];W[31hefe];B[42qusu])")
    assert [r.kind for r in match.games[0].records] == ["play", "play"]


def test_setups_beavers_and_takes() -> None:
    body = b";PL[B]AE[a:y]AW[a][b]AB[x][w]CV[2]CP[b];B[double];W[double];B[take];B[21wzxz])"
    (match,) = read(HEAD + body)
    records = match.games[0].records
    assert [r.kind for r in records] == ["set", "double", "beaver", "take", "play"]
    assert (records[-1].cube, records[-1].owner) == (8, 0)
    assert match.games[0].problems == (
        "game 1: the file says that player 1 wins 2, its records that player 2 wins 8",
    )
    assert [d.kind for d in decisions(match)] == ["double", "beaver", "play"]
    again = read(write_sgf(match))[0]
    assert [(r.kind, r.position, r.cube, r.owner) for r in again.games[0].records] == [
        (r.kind, r.position, r.cube, r.owner) for r in records
    ]


def test_variations_and_games() -> None:
    (match,) = read(HEAD + b";W[31hefe](;B[42qusu];W[61mghg])(;B[63ardd]))")
    assert [r.dice for r in match.games[0].records] == [(3, 1), (4, 2), (6, 1)]
    two = read(
        HEAD + b";W[31hefe])" + HEAD.replace(b"game:0", b"game:1").replace(b"ws:0", b"ws:2") + b";W[31hefe])"
    )
    assert [len(m.games) for m in two] == [2]
    assert [len(m.games) for m in read(2 * (HEAD + b";W[31hefe])"))] == [1, 1]


def test_what_cannot_be_read_is_said() -> None:
    (match,) = read(HEAD + b";W[31hefe];B[9zq];W[31hefe])")
    assert "cannot be read" in match.problems[0]
    assert [r.kind for r in match.games[0].records] == ["play"]
    for data, words in (
        (b"(;GM[1])", "another game"),
        (b"(;GM[6]RU[Hypergammon1])", "hypergammon"),
        (b"(;GM[6]", "still open"),
        (b"(;GM[6]))", "too many"),
        (b"(;GM[6]C[abc)", "expected SGF"),
        (b"(;[6])", "expected SGF"),
        (b"()", "no SGF game"),
        (b"(;GM[6]) rubbish", "expected SGF"),
    ):
        with pytest.raises(FormatError, match=words):
            read(data)


def test_offsets_of_nodes() -> None:
    data = b"\xef\xbb\xbf(;GM[6]  ;W[31] ;C[x]B[42])"
    (nodes,) = parse(data)
    assert [data[n.begin : n.end] for n in nodes] == [b";GM[6]", b";W[31]", b";C[x]B[42]"]
    assert nodes[2].comment is not None
    assert data[slice(*nodes[2].comment)] == b"x"


#: a session that gnubg 1.07 played and saved: it keeps the analysis of its own plays, without their luck
OWN_PLAYS = b"""(;FF[4]GM[6]CA[UTF-8]AP[GNU Backgammon:1.07.001]MI[length:0][game:0][ws:0][bs:0]PW[gnubg]PB[root]
;PL[B]AE[a:y]AW[a][b][c][c][c][d][d][d][e][e]AB[x][x][w][w][v][v][v][u][u][u][u]
;B[54uzuz]
;W[43czdz]A[0][czdz E ver 3 0.369488 0.000000 0.000000 0.000000 0.000000 -0.365433 0C 0 1 0.000000 1]
;B[55uzuzvzvz]DA[E ver 3 2C 1 0.000000 1 0.63 0.0 0.0 0.0 0.0 0.26 0.47 0.63 0.0 0.0 0.0 0.0 0.26 0.37]LU[0.25000]
)
"""


def test_plays_that_gnubg_made_get_their_luck() -> None:
    """gnubg's statistics would show 0.000; luck that stands there already stays."""
    match = read(OWN_PLAYS)[0]
    at = [record.at for record in match.games[0].records if record.kind == "play"]
    notes = {place: Note([], b"A[0]", b"LU[%.5f]" % (0.1 * number)) for number, place in enumerate(at, 1)}
    out = with_comments(OWN_PLAYS, notes)
    nodes = [line for line in out.split(b"\n") if line.startswith((b";B[", b";W["))]
    assert nodes[0] == b";B[54uzuz]A[0]LU[0.10000]"
    assert nodes[1].endswith(b"-0.365433 0C 0 1 0.000000 1]LU[0.20000]")
    assert nodes[2] == OWN_PLAYS.split(b"\n")[4]
    assert with_comments(out, notes) == out


def test_the_luck_of_all_rolls_is_in_an_annotated_file(tmp_path: Path) -> None:
    path = tmp_path / "session.sgf"
    path.write_bytes(OWN_PLAYS)
    with Judge(records=True) as judge:
        one = annotate_file(path, judge)
    plays = [judged for judged in one.reports[0].judgements if judged.play]
    assert len(plays) == 3
    out = one.sgf()
    for judged in plays[:2]:
        assert judged.luck is not None
        assert b"LU[%.5f]" % judged.luck in out
    assert out.count(b"LU[") == 3
