"""The dialects of .mat text, and each fault that readers of it have had."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bgfmt.errors import FormatError, UnknownFormatError
from bgfmt.extras.matches import Game, Match, Record, read
from bgfmt.extras.matches.decisions import decisions
from bgfmt.extras.matches.mat import write_mat
from bgfmt.extras.matches.plays import read_play
from bgfmt.extras.matches.walk import GameWalk
from bgfmt.game.board import Position, Side
from bgfmt.game.identifiers import position_id


def match_of(
    *rows: str, head: str = " 7 point match\n\n Game 1\n Ann : 0                        Bob : 0\n"
) -> Match:
    (match,) = read((head + "\n".join(rows) + "\n").encode())
    return match


def game_of(*rows: str) -> Game:
    return match_of(*rows).games[0]


def said(game: Game) -> list[tuple[str, int]]:
    return [(r.kind, r.player) for r in game.records]


def last(game: Game) -> Record:
    return game.records[-1]


# -- plays -----------------------------------------------------------------------------------------------


def test_words() -> None:
    assert read_play("24/18*/13") == ([(24, 18), (18, 13)], 1, "")
    assert read_play("8/5(2) 6/3*(2)") == ([(8, 5), (8, 5), (6, 3), (6, 3)], 1, "")
    assert read_play("BAR/20 Bar/21* 6/Off 25/0") == ([(25, 20), (25, 21), (6, 0), (25, 0)], 1, "")
    assert read_play("Cannot Move") == ([], 0, "Cannot Move")
    assert read_play("8/5 rubbish") == ([(8, 5)], 0, "rubbish")
    assert read_play("8/") == ([], 0, "8/")
    assert read_play("8/5, 6/5*") == ([(8, 5), (6, 5)], 1, "")
    assert read_play("6/4(2)*") == ([(6, 4), (6, 4)], 1, "")


@pytest.mark.parametrize(
    ("written", "hit"),
    [("25/20* 20/14", 20), ("25/20 20/14", 20), ("bar/20/14", 20), ("25/19* 19/14", 19), ("bar/19/14", 19)],
)
def test_a_hit_is_where_it_is_written(written: str, hit: int) -> None:
    """With 56 both bar/20*/14 and bar/19*/14 bring the same chequer to 14 with one hit: the written stop decides."""
    walk = GameWalk(Match(("a", "b")))
    walk.begin(
        Position(Side(0, 0, 0, 0, 0, 2, bar=1), Side(2, 0, 0, 0, 1, 1, 2))
    )  # blots on White's 20 and 19
    hops, marks, _ = read_play(written)
    walk.roll(0, (5, 6), hops, marks=marks)
    (record,) = walk.finish().records
    assert record.legal
    assert record.after is not None
    assert record.after.them.bar == 1
    left = {20: 19, 19: 20}[hit]
    assert record.after.them.counts[25 - left - 1] == 1  # the other blot still stands
    assert record.after.them.counts[25 - hit - 1] == 0
    assert walk.problems == []


def test_marked_hits_decide_only_for_merged_words() -> None:
    """13/4 for 54 with a blot on 9: by way of 8 nothing is hit; with the star the blot is."""
    text = "(;GM[6]MI[length:0]RU[];PL[W]AE[a:y]AW[m][f]AB[i][a][a][a]%s;W[54md])"
    (match,) = read((text % "").encode())
    (record,) = [r for r in match.games[0].records if r.kind == "play"]
    assert record.after is not None
    assert record.after.them.bar == 0
    (match,) = read((text % "[h][h]").encode())  # 8 is closed: the only way is over the blot
    (record,) = [r for r in match.games[0].records if r.kind == "play"]
    assert record.legal
    assert record.after is not None
    assert record.after.them.bar == 1


def test_words_may_come_in_any_order() -> None:
    game = game_of("  1) 31: 8/5 6/5                  42: 8/4 6/4", "  2) 44: 9/5 13/9 13/9 9/5")
    assert last(game).legal
    assert game.problems == ()


@pytest.mark.parametrize(
    ("play", "kind"),
    [("14/11 6/5", "no chequer"), ("13/10 8/7 6/5", "illegal"), ("8/9 6/5", "illegal"), ("13/3", "illegal"),
     ("8/5", "illegal"), ("24/18 18/12", "both sides")],
)  # fmt: skip
def test_illegal_plays_are_walked_and_said(play: str, kind: str) -> None:
    game = game_of(
        f"  1) 31: {play}                 42: 8/4 6/4", "  2) 52: 13/8 13/11             61: 13/7 8/7"
    )
    if kind == "illegal":
        assert [r.kind for r in game.records] == ["play"] * 4
        assert [r.legal for r in game.records] == [False, True, True, True]
        assert list(game.problems) == [f"game 1, line 5: Ann plays 31: {play}, which the rules do not allow"]
    else:
        assert game.records == ()
        assert kind in game.problems[0]
        assert "skipped" in game.problems[0]


def test_backward_plays_go_on() -> None:
    game = game_of("  1) 64: 8/14 13/7 6/8                 42: 8/4 6/4", "  2) 31: 14/11 8/7")
    assert [r.legal for r in game.records] == [False, True, True]
    assert game.records[0].after is not None
    assert game.records[0].after.us.counts == (0, 0, 0, 0, 0, 4, 1, 3, 0, 0, 0, 0, 4, 1, *[0] * 9, 2)


def test_a_play_that_is_not_recorded_leaves_its_board() -> None:
    """GridGammon's "Illegal play" has a FIBS board instead of words."""
    from bgfmt.extras.matches.mat import write_mat

    match = match_of("  1) 31: 8/9 6/5                 42: 8/4 6/4", "  2) 31: 9/6 8/7")
    after = match.games[0].records[0].after
    assert after is not None
    board = [0, -2, 0, 0, 0, 1, 4, 0, 2, 1, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2, 0]
    for numbers in ([25, 0, 1, *board, 1, 0, 0], board, [25, 0, 1, *[-n for n in reversed(board)], -1]):
        row = f"  1) 31: Illegal play ({';'.join(map(str, numbers))})    42: 8/4 6/4"
        other = match_of(row, "  2) 31: 9/6 8/7")
        assert [position_id(r.position) for r in other.games[0].records] == [
            position_id(r.position) for r in match.games[0].records
        ]
        assert other.games[0].records[0].after == after
        assert len(other.games[0].problems) == 1
        assert "Illegal play (0;0;0;" in write_mat(other) or other.games[0].records[0].moves
    lost = match_of("  1) 31: Illegal play (1;2;3)    42: 8/4 6/4")
    assert "no board after it" in lost.games[0].problems[0]


# -- rolls without a play --------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", ["31: ????", "31: ???", "31:", "31: Concedes", "31:  Resigns"])
def test_rolled_and_not_played_is_no_illegal_play(cell: str) -> None:
    won = "                                  Wins 1 point"
    game = game_of("  1) 52: 13/8 13/11              61: 13/7 8/7", f"  2) {cell}", won)
    assert said(game)[2] == ("unplayed", 0)
    assert game.records[2].dice == (3, 1)
    assert game.problems == ()
    match = match_of("  1) 52: 13/8 13/11              61: 13/7 8/7", f"  2) {cell}")
    assert [d.kind for d in decisions(match)] == ["play", "no double", "play"]


def test_nothing_rolled() -> None:
    game = game_of("  1) 52: 13/8 13/11              61: 13/7 8/7", "  2) 00: ????")
    assert said(game)[-1] == ("unplayed", 0)
    assert last(game).dice is None


def test_a_dance_is_one_with_and_without_words() -> None:
    rows = [
        "  1) 52: 13/8 13/11              31: 8/5 6/5",
        "  2) 64: 24/14                   31: 24/23 24/21*/20*",
    ]
    assert match_of(*rows).games[0].problems  # no such play: to have the reader say something at all
    closed = "(;GM[6]MI[length:0]RU[];PL[W]AE[a:y]AW[y]AB[a][a][b][b][c][c][d][d][e][e][f][f];W[31];B[21])"
    (match,) = read(closed.encode())
    assert [r.kind for r in match.games[0].records] == ["set", "play", "unplayed"]
    closed = closed.replace(
        "AB[a][a][b][b][c][c][d][d][e][e][f][f]", "AB[x][x][w][w][v][v][u][u][t][t][s][s]"
    )
    (match,) = read(closed.encode())
    assert [r.kind for r in match.games[0].records] == ["set", "dance", "unplayed"]
    assert match.problems == ()


def test_an_empty_cell_with_a_play_in_the_middle_is_said() -> None:
    game = game_of("  1) 52:                         61: 13/7 8/7", "  2) 31: 8/5 6/5")
    assert [r.legal for r in game.records] == [False, True, True]
    assert "no play, although one is legal" in game.problems[0]


# -- whose cell ------------------------------------------------------------------------------------------


def test_a_lone_cell_is_of_the_player_whose_turn_it_is() -> None:
    """The columns of text that went through a web page mean nothing."""
    game = game_of(
        "  1)    31: 8/5 6/5",
        " 2) 42: 8/4 6/4  53: 8/3 6/3",
        " 5)   Doubles => 2",
        " 6) Takes",
        "7) 61: 13/7 8/7",
    )
    assert said(game) == [("play", 1), ("play", 0), ("play", 1), ("double", 0), ("take", 1), ("play", 0)]
    assert game.problems == ()


def test_a_first_row_with_one_cell() -> None:
    assert said(game_of("  1) 31: 8/5 6/5", "  2) 42: 8/4 6/4")) == [("play", 1), ("play", 0)]
    assert said(game_of("  1) 31: 8/5 6/5")) == [("play", 0)]
    assert said(game_of("  1)                             31: 8/5 6/5")) == [("play", 1)]


def test_numbers_jump_and_stand_alone_and_tabs_are_blanks() -> None:
    game = game_of(" 22) 31: 8/5 6/5\t42: 8/4 6/4", " 25)\t53: 8/3 6/3", " 26)")
    assert said(game) == [("play", 0), ("play", 1), ("play", 0)]
    assert game.problems == ()


def test_who_resigns() -> None:
    rows = ["  1) 52: 13/8 13/11              61: 13/7 8/7"]
    assert said(game_of(*rows, "  2)  Losses 2 point              Wins 2 point"))[-1] == ("resign", 0)
    assert said(game_of(*rows, "  2) 31: 8/5 6/5                  Losses 2 point"))[-1] == ("resign", 1)
    game = game_of(*rows, " Losses 1 point", "", "      Wins 1 point and the match")
    assert said(game)[-1] == ("resign", 1)  # the column of who wins counts, not that of a line of its own
    assert last(game).points == 1
    assert game.result is not None
    assert (game.result.winner, game.result.points) == (0, 1)
    assert said(game_of(*rows, "  2) Concedes"))[-1] == ("resign", 0)


# -- cubes -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("beavers", "cube"), [(1, 4), (2, 8), (3, 16), (4, 32)])
def test_beavers_without_takes(beavers: int, cube: int) -> None:
    """gnubg writes no take after a beaver; a roll takes it, and the player who beavered keeps the cube."""
    rows = ["  1) 31: 8/5 6/5                  Doubles => 2"]
    turns = [f"Beavers => {4 << k}" for k in range(beavers)]
    for k in range(0, beavers, 2):
        rows.append(f"  {k + 2})  " + "                ".join(turns[k : k + 2]))
    rows.append("  9)                             42: 8/4 6/4")
    game = match_of(*rows, head=" 0 point match\n Game 1\n Ann : 0                        Bob : 0\n").games[0]
    kinds = ["play", "double", "beaver", "raccoon", "beaver", "raccoon"][: 2 + beavers]
    assert [r.kind for r in game.records] == [*kinds, "take", "play"]
    assert game.records[-2].implied
    assert (last(game).cube, last(game).owner, last(game).player) == (cube, 0, 1)
    assert game.problems == ()


def test_cubes_that_do_not_fit_are_said() -> None:
    game = game_of(
        "  1) 31: 8/5 6/5                  Doubles => 8", "  2)  Takes                       42: 8/4 6/4"
    )
    assert "the cube is turned to 8, not to 2" in game.problems[0]
    assert last(game).cube == 8
    game = game_of(
        "  1) 31: 8/5 6/5                  42: 8/4 6/4", "  2)  Takes                       42: 8/4 6/4"
    )
    assert "where nobody has doubled" in game.problems[0]
    game = game_of("  1) Doubles => 2                 Takes", "  2) 31: 8/5 6/5                42: 8/4 6/4")
    assert "before the first roll" in game.problems[0]
    game = game_of("  1) 31: 8/5 6/5                  Doubles => 2", "  2)  Drops", "  3) 42: 8/4 6/4")
    assert "after the end" in game.problems[0]


def test_results_are_checked() -> None:
    rows = [
        "  1) 31: 8/5 6/5                  Doubles => 2",
        "  2)  Drops                       Wins 1 point",
    ]
    second = [
        "",
        " Game 2",
        " Ann : 0                        Bob : 1",
        "  1) 31: 8/5 6/5                 42: 8/4 6/4",
    ]
    assert match_of(*rows, *second).problems == ()
    wrong = match_of(*rows[:1], rows[1].replace("Wins 1", "Wins 4"), *second)
    assert "player 2 wins 4, its records that player 2 wins 1" in wrong.problems[0]
    wrong = match_of(*rows, *second[:2], second[2].replace("Bob : 1", "Bob : 3"), *second[3:])
    assert "the score after it is 0-3" in wrong.problems[0]
    capped = match_of(*rows[:1], rows[1].replace("Wins 1 point", "Wins 7 point and the match"))
    assert capped.problems == ()


# -- around the games ------------------------------------------------------------------------------------


def test_comments_are_no_plays() -> None:
    game = game_of(
        "  1) 31: 8/5 6/5                  42: 8/4 6/4", "; connection lost 31: 8/5 6/5", ";  2) 11: 6/5", " ; Takes",
        "  2) 53: 8/3 6/3",
    )  # fmt: skip
    assert said(game) == [("play", 0), ("play", 1), ("play", 0)]
    assert game.problems == ()


def test_several_matches_in_a_file() -> None:
    text = '; [Player 1 "A"]\n; [Jacoby "On"]\n 0 point match\n\n'
    text += " Game 1\n A : 0      B : 0\n 1) 31: 8/5 6/5   42: 8/4 6/4\n\n"
    text += " Game 2\n A : 1      B : 0\n 1) 31: 8/5 6/5\n"
    text += '; [Site "x"]\n 5 point match\n Game 1\n C : 0      D : 0\n 1) 31: 8/5 6/5\n'
    text += " Game 1\n E : 0     F : 0\n 1) 61: 13/7 8/7\n"
    matches = read(text.encode())
    assert [m.players for m in matches] == [("A", "B"), ("C", "D"), ("E", "F")]
    assert [len(m.games) for m in matches] == [2, 1, 1]
    assert [m.length for m in matches] == [0, 5, 5]
    assert [m.rules.jacoby for m in matches] == [True, None, None]
    assert [m.place for m in matches] == ["", "x", "x"]


@pytest.mark.parametrize(
    ("line", "players", "scores"),
    [
        (" Ann : 3                        Bob : 12", ("Ann", "Bob"), (3, 12)),
        ("Nils Varley: 3      Gwen Baxter: 2", ("Nils Varley", "Gwen Baxter"), (3, 2)),
        (" Ann,1830 : 0              Bob,1540 : 1", ("Ann", "Bob"), (0, 1)),
        ("  : 0                            lasse : 1", ("", "lasse"), (0, 1)),
        (" lasse : 0                        : 1", ("lasse", ""), (0, 1)),
        (" a: 5 b : 1               c, d : 2", ("a: 5 b", "c, d"), (1, 2)),
        (" \u00c9lo\u00efse : 0\tZo\u00eb : 0", ("\u00c9lo\u00efse", "Zo\u00eb"), (0, 0)),
        (" A_B : 0  B,C : 0", ("A_B", "B,C"), (0, 0)),
    ],
)
@pytest.mark.parametrize("coding", ["utf-8", "utf-8-sig", "cp1252"])
def test_names(line: str, players: tuple[str, str], scores: tuple[int, int], coding: str) -> None:
    text = f'; [Player 1 "{players[1]}"]\n; [Player 2 "{players[0]}"]\n25 point match\r\n\r\nGame 1\r\n'
    text += f"{line}\r\n 1) 31: 8/5 6/5\r\n"
    (match,) = read(text.encode(coding))
    assert match.players == players
    assert match.games[0].scores == scores
    assert match.problems == ()


def test_rules_and_headers() -> None:
    head = '; [Site "S"]\n; [Event "E"]\n; [Match ID "7"]\n; [EventDate "2026.01.02"]\n; [Round "3"]\n'
    head += '; [Crawford "Off"]\n; [Jacoby "On"]\n; [Beaver "On"]\n; [CubeLimit "64"]\n; [Variation "Backgammon"]\n'
    names = " Ann : 6                        Bob : 0\n"
    match = match_of(" 1) 31: 8/5 6/5", head=head + "7 point match\nGame 1\n" + names)
    assert (match.place, match.event, match.date, match.round) == ("S", "E", "2026.01.02", "3")
    assert match.headers["Match ID"] == "7"
    rules = match.rules
    assert (rules.crawford, rules.jacoby, rules.beavers, rules.cube_limit) == (False, True, True, 64)
    assert not match.games[0].crawford
    match = match_of(" 1) 31: 8/5 6/5", head=head.replace("Off", "On") + "7 point match\nGame 1\n" + names)
    assert match.games[0].crawford
    for words in ("Unlimited match", "Money session", "0 point match", ""):
        match = match_of(" 1) 31: 8/5 6/5   42: 8/4 6/4", head=f'; [Jacoby "On"]\n{words}\nGame 1\n' + names)
        assert match.length == 0
        assert [d.state.jacoby for d in decisions(match)] == [True] * 3


def test_crawford_game_is_the_first_one_point_away() -> None:
    games = []
    for number, (a, b) in enumerate([(0, 0), (4, 0), (4, 1), (4, 4)], 1):
        games += [
            f" Game {number}",
            f" Ann : {a}                        Bob : {b}",
            " 1) 31: 8/5 6/5       42: 8/4 6/4",
        ]
    match = match_of(*games, head=" 5 point match\n")
    assert [g.crawford for g in match.games] == [False, True, False, False]
    both = match_of(" 1) 31: 8/5 6/5", head=" 5 point match\nGame 1\n Ann : 4     Bob : 4\n")
    assert not both.games[0].crawford
    doubled = match_of(*games[3:6], " 2) Doubles => 2    Takes", head=" 5 point match\n")
    assert "doubles, which the rules do not allow" in doubled.problems[0]


def test_jellyfish_games_have_no_heading() -> None:
    (match,) = read(b"\n gnubg                          root\n  1) 31: 8/5 6/5                 42: 8/4 6/4\n")
    assert match.players == ("gnubg", "root")
    assert said(match.games[0]) == [("play", 0), ("play", 1)]


def test_nackgammon_and_others() -> None:
    head = '; [Variation "Nackgammon"]\n 5 point match\nGame 1\n Ann : 0     Bob : 0\n'
    match = match_of(" 1) 31: 23/20 6/5    42: 8/4 6/4", head=head)
    assert match.problems == ()
    assert match.games[0].start.us.counts[22:] == (2, 2)
    with pytest.raises(FormatError, match="neither backgammon nor Nackgammon"):
        match_of(" 1) 31: 8/5 6/5", head=head.replace("Nackgammon", "Hyper"))


#: they were taken for money
ODD_LENGTHS = [
    b" %s point match\n\n Game 1\n A : 0  B : 0\n 1) 31: 8/5 6/5\n" % n for n in (b"-5", b"9" * 20)
]


@pytest.mark.parametrize(
    "data", [b"", b"hello", b" 5 point match\n", b"\0\0\0\0", b"Game", b"31: 8/5 6/5", *ODD_LENGTHS]
)
def test_what_is_no_match_is_refused(data: bytes) -> None:
    with pytest.raises((FormatError, UnknownFormatError)) as error:
        read(data)
    assert str(error.value).isprintable()


# -- plays that are lost ---------------------------------------------------------------------------------


def test_the_board_of_a_lost_play_may_stand_behind_ten_numbers() -> None:
    """GridGammon writes length, scores, dice and more before the board, and pips after it."""
    after = match_of("  1) 31: 8/9 6/5                 42: 8/4 6/4").games[0].records[0].after
    board = [0, -2, 0, 0, 0, 1, 4, 0, 2, 1, 0, 0, -5, 5, 0, 0, 0, -3, 0, -5, 0, 0, 0, 0, 2, 0]
    for before in range(30):
        numbers = [*(3 * k % 7 for k in range(before)), *board, 1, 0, 0, 25, 0]
        row = f"  1) 31: Illegal play ({';'.join(map(str, numbers))})    42: 8/4 6/4"
        game = match_of(row, "  2) 31: 9/6 8/7").games[0]
        assert (game.records[0].after, len(game.records), len(game.problems)) == (after, 3, 1), before
        assert all(record.sure for record in game.records)


@pytest.mark.parametrize("play", ["", " Illegal play (1;2;3)", " ~~~"])
def test_after_a_lost_play_no_board_is_known_until_one_is_given(play: str) -> None:
    rows = [f"  1) 31:{play}      42: 8/4 6/4", "  2) 31: 8/5 6/5     31: 24/23 24/21"]
    game = match_of(*rows).games[0]
    assert [record.sure for record in game.records] == [True, False, False, False]
    assert "nothing is judged" in " ".join(game.problems)
    stood = match_of("  1) 31: Cannot Move      42: 8/4 6/4", rows[1]).games[0]
    assert all(record.sure for record in stood.records)


def test_a_board_that_the_file_gives_is_known_again() -> None:
    walk = GameWalk(Match(("A", "B")))
    walk.add_unknown_play(0, (3, 1), "not written")
    walk.roll(1, (4, 2), [(8, 4), (6, 4)])
    walk.add_board(0, (3, 1), walk.position(0))
    walk.roll(1, (3, 1), [(8, 5), (6, 5)])
    walk.add_unknown_play(0, (6, 5), "not written")
    walk.setup(board=walk.position(0))
    assert [record.sure for record in walk.finish().records] == [True, False, False, True, True, True]


@pytest.mark.slow
def test_nothing_is_judged_on_a_board_that_is_not_known() -> None:
    from bgfmt.extras.matches.annotate import Judge, judge_match

    row = ["  1) 31: 6/5 5/2     42: 6/2 4/2", "  2) 31: 6/5 5/2     42: 6/2 4/2"]
    start = "(;FF[4]GM[6]MI[length:0][game:0][ws:0][bs:0]PW[A]PB[B];AE[a:y]AW[f][f][f][f]AB[s][s][s][s]PL[W]"
    whole = read((start + ";W[31feeb];B[42sttv];W[31feeb];B[42sttv])").encode())[0]
    lost = match_of("  1) 31: ~~~      42: 8/4 6/4", *row)
    with Judge([]) as judge:
        assert judge_match(whole, judge).judgements
        game = whole.games[0]
        records = tuple(replace(record, sure=False) for record in game.records)
        report = judge_match(replace(whole, games=(replace(game, records=records),)), judge)
    assert not report.judgements
    assert report.problems[-1].startswith("game 1: nothing is judged")
    assert "nothing is judged" in " ".join(lost.problems)


def test_the_recorded_winner_is_compared_with_the_scores() -> None:
    """A forfeit says who won, not how much; the next score must agree, and a resignation must be the loser's."""

    def text(*between: str) -> bytes:
        head = '; [Player 1 "A"]\n 5 point match\n\n Game 1\n A : 0      B : 0\n  1) 31: 8/5 6/5     42: 8/4 6/4\n'
        return (head + "\n".join(between) + "\n  1) 31: 8/5 6/5     42: 8/4 6/4\n").encode()

    wins = "   Wins 100 points"
    for score, good in (("A : 1      B : 0", True), ("A : 0      B : 1", False), ("A : 0      B : 0", False)):
        match = read(text(wins, "", " Game 2", f" {score}"))[0]
        assert match.games[0].result is not None
        assert (not match.problems) is good, (score, match.problems)
    resigned = read(
        text("  2) 31: 13/10 6/5     Resigns", " " * 20 + wins, "", " Game 2", " A : 0      B : 2")
    )[0]
    assert "its records that player 1 wins the game" in " ".join(resigned.problems)


def test_quotes_in_names_are_written_and_read() -> None:
    """As gnubg 1.07 writes and reads them, in the heading and in the line of names."""
    text = """; [Event "Ann's "Open""]
; [Player 1 "Ann "Ace" Lee"]

 3 point match

 Game 1
 Ann "Ace" Lee : 0               Bob : 0
  1) 31: 8/5 6/5                 21: 13/11 6/5
"""
    match = read(text.encode())[0]
    assert (match.players, match.event) == (('Ann "Ace" Lee', "Bob"), 'Ann\'s "Open"')
    again = read(write_mat(match).encode())[0]
    assert (again.players, again.event) == (match.players, match.event)
