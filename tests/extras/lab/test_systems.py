"""The articles' systems against the values they print, and against the exact ones."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction as F
from math import isclose

import pytest

from bgfmt.cli import run
from bgfmt.errors import PositionError
from bgfmt.extras.lab.articles import systems
from bgfmt.extras.lab.articles.systems import Ace, BTree, BTreeA, DoubleOffAce, Pwin, Rolls
from bgfmt.game.board import Position, Side
from tests.support import points_game

PRINTED_ACE = """
 1.00 1.00 1.00 1.00 1.00 1.00 1.00 1.00
 0.17 0.86 1.00 1.00 1.00 1.00 1.00 1.00
 0.00 0.25 0.79 0.98 1.00 1.00 1.00 1.00
 0.00 0.02 0.30 0.75 0.96 1.00 1.00 1.00
 0.00 0.00 0.05 0.33 0.72 0.93 0.99 1.00
 0.00 0.00 0.00 0.08 0.35 0.70 0.91 0.99
 0.00 0.00 0.00 0.01 0.10 0.36 0.68 0.90
 0.00 0.00 0.00 0.00 0.02 0.12 0.37 0.67
"""
EXACT_ACE = {
    (3, 1): F(1, 6),
    (3, 3): F(31, 36),
    (5, 3): F(55, 216),
    (5, 5): F(1021, 1296),
    (5, 7): F(1271, 1296),
    (7, 3): F(5, 216),
    (7, 5): F(2341, 7776),
    (7, 11): F(46531, 46656),
    (9, 15): F(1678991, 1679616),
    (11, 13): F(13810169, 15116544),
    (13, 13): F(1485285061, 2176782336),
    (15, 7): F(125, 279936),
    (15, 15): F(52521141451, 78364164096),
    (0, 0): F(1),
    (0, 5): F(1),
    (1, 0): F(0),
    (3, 0): F(0),
    (16, 16): F(52521141451, 78364164096),
    (8, 6): F(2341, 7776),
}
ACE_DOUBLES = {
    (3, 1): "0x1.5555555555554p-3",
    (7, 5): "0x1.3447a34acc60cp-2",
    (8, 6): "0x1.3447a34acc60cp-2",
    (9, 5): "0x1.a5663075fde50p-5",
    (11, 5): "0x1.a5663075fde00p-9",
    (15, 7): "0x1.d438a79f8c000p-12",
    (15, 15): "0x1.5726ed7946938p-1",
    (13, 11): "0x1.717f68b07a9dep-2",
}


def test_ace_prints_the_articles_table():
    rows = [[float(x) for x in line.split()] for line in PRINTED_ACE.strip().splitlines()]
    for x, row in zip(range(1, 16, 2), rows, strict=True):
        for o, printed in zip(range(1, 16, 2), row, strict=True):
            assert f"{Ace(x, o):.2f}" == f"{printed:.2f}"
            assert Ace(x, o) == Ace(x + 1, o + 1)


def test_ace_exactly():
    for (x, o), value in EXACT_ACE.items():
        assert Ace(x, o, exact=True) == value
        assert isclose(Ace(x, o), value, abs_tol=2e-16)
    for (x, o), text in ACE_DOUBLES.items():
        assert Ace(x, o) == float.fromhex(text)
    assert Ace(400, 399) > 0.5


def test_ace_agrees_with_pwin():
    for x in range(1, 9):
        for o in range(1, 9):
            assert Pwin(Side(x), Side(o)) == Ace(x, o, exact=True)
    assert f"{float(Pwin(Side(8), Side(6))):.6f}" == "0.301055"


def test_trees():
    sixth = F(1, 6)
    assert BTree(sixth, 0) == [1]
    assert BTree(sixth, 3) == [F(k, 216) for k in (1, 5, 5, 25, 5, 25, 25, 125)]
    assert BTree(F(2, 5), 2) == [F(4, 25), F(6, 25), F(6, 25), F(9, 25)]
    assert BTree(F(1, 3), 3) == [F(k, 27) for k in (1, 2, 2, 4, 2, 4, 4, 8)]
    tree = BTree(sixth, 7)
    assert sum(tree) == 1
    assert [a + b for a, b in zip(tree[::2], tree[1::2], strict=True)] == BTree(sixth, 6)
    doubles = ["0x1.2f684bda12f68p-8", "0x1.7b425ed097b42p-6", "0x1.7b425ed097b42p-6", "0x1.da12f684bda14p-4"]
    assert BTree(1 / 6, 3)[:4] == [float.fromhex(x) for x in doubles]
    assert BTree(1 / 6, 3)[7] == float.fromhex("0x1.284bda12f684dp-1")


def test_truncated_tree():
    sixth = F(1, 6)
    assert BTreeA(sixth, 0) == [1]
    assert BTreeA(sixth, 1) == [sixth, 0]
    assert BTreeA(sixth, 3) == [F(1, 36), 0, F(5, 36), F(25, 216), 0]
    assert BTreeA(sixth, 4) == [F(1, 36), F(5, 216), 0, F(5, 216), 0, F(25, 216), F(125, 1296), 0]
    assert [len(BTreeA(sixth, k)) for k in range(9)] == [1, 2, 3, 5, 8, 13, 21, 34, 55]
    sums = [1, sixth, F(11, 36), F(61, 216), F(371, 1296), F(2221, 7776), F(13331, 46656), F(79981, 279936)]
    sums += [F(479891, 1679616), F(2879341, 10077696)]
    assert [sum(BTreeA(sixth, k)) for k in range(10)] == sums
    assert sum(BTreeA(sixth, 15)) == F(134338567021, 470184984576)
    assert isclose(sum(BTreeA(1 / 6, 8)), 479891 / 1679616, abs_tol=1e-15)


def test_double_off():
    for n in range(31):
        pairs = -(-n // 2)
        assert DoubleOffAce(n, exact=True) == F(2, 7) + F(5, 7) * F(-1, 6) ** pairs
        assert DoubleOffAce(n, exact=True) == sum(BTreeA(F(1, 6), pairs)) if pairs < 12 else True
    assert DoubleOffAce(15, exact=True) == F(479891, 1679616)
    for n, text in {
        7: "0x1.2522c3f35ba79p-2",
        9: "0x1.247a34acc60edp-2",
        15: "0x1.249265ae9b872p-2",
        19: "0x1.249249ef84521p-2",
        30: "0x1.249249248b9adp-2",
    }.items():
        assert DoubleOffAce(n) == float.fromhex(text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("counts", "exact"),
    [
        ((0, 0, 0, 1, 1, 1), 2.486423087),
        ((1, 0, 0, 0, 0, 1), 1.586419753),
        ((0, 1, 0, 0, 1, 0), 1.475308642),
        ((0, 0, 0, 0, 0, 1), 1.25),
        ((0, 2, 2, 2, 1, 2), 5.302669027),
        ((1, 1, 2, 2, 0, 3), 5.404268973),
        ((0, 0, 0, 2, 3, 4), 6.566809938),
    ],
)
def test_expected_rolls(counts: tuple[int, ...], exact: float):
    assert isclose(Rolls(counts), exact, abs_tol=5.1e-10)
    if sum(counts) <= 3:
        assert isclose(Rolls(counts, exact=True), exact, abs_tol=5.1e-10)


def test_counting():
    assert systems.multichoose(6, 4) == 126
    assert systems.multichoose(7, 15) == systems.bearoff_positions() == 54264
    assert systems.naive_cells() == 268_435_456
    assert systems.naive_cells() / systems.bearoff_positions() == pytest.approx(4946.84, abs=0.005)
    one = {(3, 3): 19, (3, 10): 285, (3, 15): 815, (4, 3): 34, (4, 10): 1000, (6, 3): 83, (6, 10): 8007}
    one |= {(6, 15): 54263, (24, 15): 25_140_840_659}
    for size, count in one.items():
        assert systems.layouts(*size) == count
        assert systems.two_sided_layouts(*size) == count**2
    assert systems.two_sided_layouts(24, 15) == 632_061_869_041_227_554_281


def test_ross_hash_answers_here_too():
    assert systems.ross_rank(systems.ross_list(Side(0, 2, 2, 2, 0, 4))) == 7407
    assert systems.ross_unrank(4982) == (0,) * 6 + (4, 4, 5, 5, 5, 6, 6, 6, 6)
    with pytest.raises(AttributeError):
        systems.nothing_of_that_name  # noqa: B018


@pytest.mark.slow
def test_points_game_values():
    one, six = Side(1), Side(0, 0, 0, 0, 0, 1)
    cases = [
        (six, one, F(1, 2)),
        (six, six, F(5, 8)),
        (Side(0, 0, 2), one, F(-1, 18)),
        (Side(2, 1), Side(0, 0, 1), F(-2, 3)),
        (Side(0, 0, 3), Side(0, 0, 3), F(6433, 10368)),
        (Side(1, 0, 0, 0, 0, 1), Side(0, 1, 0, 0, 1), F(20017, 52488)),
        (Side(0, 0, 0, 0, 1, 1), Side(0, 0, 0, 0, 1, 1), F(37005601, 68024448)),
    ]
    for us, them, value in cases:
        assert points_game.expected_points(Position(us, them)) == value
    three = Side(0, 0, 0, 0, 0, 3)
    assert isclose(points_game.expected_points(Position(three, three)), 0.425616287, abs_tol=5.1e-10)


@pytest.mark.parametrize(
    ("points", "chequers", "size", "digest"),
    [
        (1, 1, 70, "cbf7391c3666f2b3f8efe9d34ee2e6d62d8145f30d95d9c44906703bb3131b62"),
        (1, 3, 182, "3edf61744bb2b7f5b8930edda264764d67b8c2c27126bd2f7b18b3677a948989"),
        (2, 2, 457, "241e042744847b933a16f6f60d6c71a824b036e296c3c46e699a73e90897c60d"),
        (3, 3, 6556, "945d843e7364880e17eb588846c7bd6cbacc0e0bc8dd4ae478b8c2b3135afb17"),
        (4, 3, 23179, "bccfe0145ff20b23409b93dc703dd7ecdce4bc10d5d7bd2ce4028f8e4e5900e2"),
        (6, 1, 921, "7d43290153fb0ee16ec8c59c8d043547ea7b01d92807c767cd2b5dbea7a8b90c"),
        (6, 2, 17554, "f7bf3faebcf828dfb518e6ffeb27427a46ec546901d87196e2525646af704931"),
    ],
)
def test_points_game_text(points: int, chequers: int, size: int, digest: str):
    text = "".join(points_game.as_text(points, chequers)).encode("ascii")
    assert len(text) == size
    assert hashlib.sha256(text).hexdigest() == digest


@pytest.mark.slow
def test_rolls_go_on_beyond_the_home_board():
    for counts in ((0, 0, 1, 0, 0, 0, 0, 1, 1), (0,) * 11 + (2,)):
        assert isclose(Rolls(counts), Rolls(counts, exact=True), rel_tol=1e-12)
    side = Side(0, 0, 2, 1, 0, 0, 0, 1, 1)
    assert isclose(Rolls(side), float(Rolls(side, exact=True)), rel_tol=1e-12)
    assert Rolls((0, 2, 2, 2, 1, 2)) == Rolls((0, 2, 2, 2, 1, 2, 0, 0))
    with pytest.raises(PositionError, match="17,383,860 positions"):
        Rolls((1, 2, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1))
    with pytest.raises(PositionError, match="chequers on points"):
        Rolls(Side(1, bar=1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["ace", "8", "6"], "0.301054527"), (["ace", "8", "6", "--exact"], "2341/7776"),
        (["btree", "1/6", "2"], "1/36 5/36 5/36 25/36"), (["btree", "0.25", "2", "--truncated"], "0.25 0.1875 0"),
        (["double-off", "15", "--exact"], "479891/1679616"), (["rolls", "0 1 0 0 1 0", "--exact"], "239/162"),
        (["rolls", "0 0 0 2 1 2 0 1 1"], "5.95395866"), (["pwin", "8", "6", "--exact"], "2341/7776"),
        (["hash", "0 0 0 2 3 4"], "4982"), (["hash", "4982", "--rank"], "0 0 0 2 3 4"),
        (["layouts", "24", "15"], "25140840659 632061869041227554281"),
    ],
)  # fmt: skip
def test_the_commands(line: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["articles", *line]) == 0
    assert capsys.readouterr().out == f"{said}\n"
    assert run(["articles", *line, "--json"]) == 0
    value = json.loads(capsys.readouterr().out)["value"]
    words = value if isinstance(value, list) else [value]
    assert [f"{one:.9g}" if isinstance(one, float) else str(one) for one in words] == said.split()


@pytest.mark.parametrize(
    "line", [["btree", "x", "1"], ["btree", "1/0", "1"], ["hash", "x", "--rank"], ["ace", "-1", "2"]]
)
def test_commands_refuse_in_a_line(line: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["articles", *line]) == 2
    assert capsys.readouterr().err.count("\n") == 1
