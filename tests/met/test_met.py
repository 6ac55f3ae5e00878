"""Match equity tables: the shipped ones, both file kinds, and everything that is refused."""

from __future__ import annotations

import hashlib
import json
import random
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from bgfmt import met
from bgfmt.cli import run
from bgfmt.errors import (
    BgfmtError,
    CapabilityError,
    CorruptError,
    FormatError,
    NotCoveredError,
    PositionError,
)

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "match"
DATA = files("bgfmt").joinpath("data", "met")
XG2 = DATA.joinpath("Kazaross-XG2.xml").read_bytes()
EVEN = (FIXTURES / "even9.met").read_bytes()


def test_shipped_tables_are_the_files_they_were() -> None:
    readme = DATA.joinpath("README.md").read_text()
    digests = dict(re.findall(r"^([0-9a-f]{64})  (\S+)$", readme, re.M))
    digests = {name: digest for digest, name in digests.items()}
    assert len(digests) == 6
    for name, digest in digests.items():
        data = DATA.joinpath(name).read_bytes()
        assert hashlib.sha256(data).hexdigest() == digest
        assert b"Copying and distribution" in data


def test_default_and_names() -> None:
    assert met.names()[0] == met.DEFAULT == met.load().name
    files = Path(met.__file__).parents[1].glob("data/met/*.xml")
    assert sorted(met.names()) == sorted(path.stem for path in files)
    for name in met.names():
        table = met.load(name)
        assert table.name == name
        assert table.length == {"Kazaross-Shaw": 5, "zadeh": 64}.get(name, 25)
        assert table.even
        assert len(table.digest) == 64
        assert met.load(name.upper()).digest == met.load(f"{name}.xml").digest == table.digest
    assert len({met.load(name).digest for name in met.names()}) == 6


def test_values() -> None:
    xg2 = met.load()
    assert xg2.title == "Kazaross XG2 25 point MET"
    assert xg2.mwc((1, 2)) == 0.67736
    assert xg2.mwc((2, 1), player=1) == 1 - 0.67736
    assert xg2.mwc((2, 1), after_crawford=True) == 0.48803
    assert xg2.mwc((25, 1), after_crawford=True) == 0.001230  # the file's own number, which gnubg drops
    assert xg2.after((4, 9), 4) == 1.0
    assert xg2.after((4, 9), -9) == 0.0
    assert xg2.after((4, 9), 3) == xg2.pre[0][8]
    assert xg2.after((1, 9), -8) == xg2.post[0][0]
    assert xg2.after((1, 9), -4) == 1 - xg2.post[1][4]


def test_short_rows_follow_the_formula() -> None:
    for name in ("g11", "mec26"):
        post = met.load(name).post[0]
        assert len(post) == 25
        assert post[24] == (post[20] / 4 + 3 * post[22] / 4) / 2
    one = EVEN.replace(
        b"0.500000 0.500000 0.250000 0.250000 0.125000 0.125000 0.062500 0.062500 0.031250 ", b"0.5"
    )
    assert met.read(one).post[0][:6] == (
        0.5,
        0.5,
        0.3125,
        (0.25 + 1.5 * 0.25) / 2,
        *met.read(one).post[0][4:6],
    )


def test_uneven() -> None:
    table = met.load(FIXTURES / "uneven7.xml")
    assert not table.even
    assert table.mwc((1, 1)) == 0.53
    assert table.mwc((1, 1), player=1) == 1 - 0.53
    assert table.mwc((3, 1), player=0, after_crawford=True) == 0.2809
    assert table.mwc((3, 1), player=1, after_crawford=True) == 0.2209
    assert table.mwc((1, 3), player=1, after_crawford=True) == 1 - 0.2809
    jacobs = met.load(FIXTURES / "jac050.xml")
    assert jacobs.pre[0][0] == 0.51
    assert "&" in jacobs.title
    assert jacobs.post[0] != jacobs.post[1]
    assert not met.load(FIXTURES / "ortega.xml").even


def test_ini() -> None:
    table = met.load(FIXTURES / "even9.met")
    assert (table.length, table.name, table.title) == (9, "even9", "Even coins 9")
    shouting = EVEN.upper().replace(b"\n", b"\r\n").replace(b"EVEN COINS 9", b"Gr\xfcn")
    assert met.read(shouting).digest == table.digest
    assert met.read(shouting).title == "Grün"
    assert met.read(b"\xef\xbb\xbf" + EVEN).digest == table.digest


def test_digest_is_of_the_values_only() -> None:
    spaced = XG2.replace(b"<me>0.50000</me>", b"<me>\n 5e-1 </me>").replace(b"Kazaross", b"Nobody")
    assert met.read(spaced).digest == met.load().digest
    assert met.read(XG2.replace(b"0.67736", b"0.67737")).digest != met.load().digest


def test_beyond_the_table() -> None:
    plain, extended = met.load(), met.load(extend=True)
    with pytest.raises(NotCoveredError, match="Kazaross-XG2 goes to 25-away, not 26-away"):
        plain.mwc((26, 3))
    with pytest.raises(NotCoveredError, match="goes to 64-away"):
        extended.mwc((65, 3))
    with pytest.raises(PositionError):
        plain.mwc((0, 3))
    assert extended.mwc((30, 30)) == 0.5
    assert extended.mwc((25, 3)) == plain.mwc((25, 3))
    assert extended.mwc((30, 20)) + extended.mwc((20, 30)) == pytest.approx(1)
    assert 0.5 < extended.mwc((26, 30)) < extended.mwc((26, 40)) < 1
    post = plain.post[0]
    assert extended.mwc((26, 1), after_crawford=True) == (post[21] / 4 + 3 * post[23] / 4) / 2
    assert extended.digest == plain.digest


MEC = b"""<met><info><name>mec</name><length>-1</length></info>
<pre-crawford-table type="mec"><parameters/></pre-crawford-table>
<post-crawford-table type="mec" player="both"><parameters>
<parameter name="gammon-rate">0.26</parameter><parameter name="win-rate">0.5</parameter>
<parameter name="free-drop-2-away">0.015</parameter><parameter name="free-drop-4-away">0.004</parameter>
</parameters></post-crawford-table></met>"""


@pytest.mark.parametrize("kind", ["zadeh", "mec"])
def test_tables_of_parameters_are_those_of_gnubg(kind: str) -> None:
    """gnubg 1.07 shows six digits; the normal formula is within 7e-8 of its own."""
    table = met.load("zadeh") if kind == "zadeh" else met.read(MEC)
    seen = 0
    for line in (FIXTURES / "gnubg-met-parameters.tsv").read_text().splitlines()[1:]:
        of, name, *numbers = line.split("\t")
        if of == kind:
            row = table.pre[int(name[3:]) - 1] if name.startswith("pre") else table.post[int(name[-1])]
            for ours, theirs in zip(row, numbers, strict=False):
                assert abs(100 * ours - float(theirs)) < 6e-5
                seen += 1
    assert seen > 700
    assert table.length == 64


def test_tables_of_parameters_are_even_only_if_both_players_are_set() -> None:
    assert met.load("zadeh").even
    assert not met.read(MEC).even
    again = MEC[: MEC.index(b"<post")] + MEC[MEC.index(b"<post") : -6].replace(b"both", b"0")
    again += MEC[MEC.index(b"<post") : -6].replace(b"both", b"1") + b"</met>"
    assert met.read(again).even


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b'type="mec"', b'type="other"', "'other', expected one of explicit, zadeh, mec"),
        (b'pre-crawford-table type="mec"', b'pre-crawford-table type="zadeh"', "tables of one type"),
        (b'win-rate">0.5', b'win-rate">0.6', "win-rate"),
        (b'win-rate">0.5', b'win-rate">x', "a number from 0 to 1"),
        (b'player="both"', b'player="2"', "player both, 0 or 1"),
    ],
)
def test_bad_parameters_are_refused(old: bytes, new: bytes, reason: str) -> None:
    with pytest.raises(FormatError, match=reason):
        met.read(MEC.replace(old, new))


HEAD = (
    b'<?xml version="1.0"?>\n<!DOCTYPE met PUBLIC "-//GNU Backgammon//DTD Match Equity Tables//EN" "met.dtd"'
)
BOMB = (
    HEAD
    + b' [<!ENTITY a "aaaaaaaaaa">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + k, b"&%c;" % (97 + k) * 10) for k in range(9))
    + b"]><met><info><name>&j;</name></info></met>"
)

BROKEN = {
    "empty": b"",
    "other": b"hello",
    "bomb": BOMB,
    "external": HEAD + b' [<!ENTITY a SYSTEM "file:///etc/passwd">]><met>&a;</met>',
    "parameter entity": HEAD + b' [<!ENTITY % a SYSTEM "http://localhost/a.dtd"> %a;]><met/>',
    "undeclared entity": XG2.replace(b"Kazaross XG2", b"&nothing;", 1),
    "not closed": XG2[:2000],
    "root": b"<mat></mat>",
    "no pre": re.sub(b"(?s)<pre-crawford.*</pre-crawford-table>", b"", XG2),
    "no post": re.sub(b"(?s)<post-crawford.*</post-crawford-table>", b"", XG2),
    "no info": re.sub(b"(?s)<info>.*</info>", b"", XG2),
    "length": XG2.replace(b"<length>25<", b"<length>24<"),
    "length 65": XG2.replace(b"<length>25<", b"<length>65<"),
    "length -1": XG2.replace(b"<length>25<", b"<length>-1<"),
    "row": XG2.replace(b"<me>0.67736</me>", b""),
    "nan": XG2.replace(b"0.67736", b"nan"),
    "above 1": XG2.replace(b"0.67736", b"1.00001"),
    "below 0": XG2.replace(b"0.67736", b"-0.1"),
    "text": XG2.replace(b"0.67736", b"half"),
    "one player": XG2.replace(b'player="both"', b'player="0"'),
    "player": XG2.replace(b'player="both"', b'player="2"'),
    "encoding": b'<?xml version="1.0" encoding="nonsense"?><met/>',
    "codec": b'<?xml version="1.0" encoding="rot13"?><met/>',
    "deep": b"<met>" * 100_000,
    "long post": XG2.replace(b"<me>0.48803</me>", b"<me>0.48803</me>" * 2),
    "ini row": EVEN.replace(b" 3=", b" 33="),
    "ini number": EVEN.replace(b"0.875000", b"0,875000"),
    "ini size": EVEN.replace(b"Size=9", b"Size=99"),
    "ini short row": EVEN.replace(b"0.998047", b""),
    "ini no data": EVEN.replace(b"Data=", b"Date="),
    "ini no section": b"; nothing\nSize=3\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_refused_in_one_line(name: str, tmp_path: Path) -> None:
    path = tmp_path / "x.met"
    path.write_bytes(BROKEN[name])
    with pytest.raises(FormatError) as refusal:
        met.load(path)
    message = str(refusal.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert len(message) < 400
    assert isinstance(refusal.value, CorruptError)


def test_what_a_table_lacks_after_the_crawford_game_is_said() -> None:
    for name, words in (
        (
            "no post",
            'expected post-crawford-table player="both", or one of player="0" and one of player="1", found none',
        ),
        ("one player", 'player="1", found only player="0"'),
        ("player", "found a post-crawford-table of player '2'"),
    ):
        with pytest.raises(CorruptError, match=re.escape(words)):
            met.read(BROKEN[name], "x.xml")


def test_no_such_table(tmp_path: Path) -> None:
    with pytest.raises(CapabilityError, match="'nix'; expected a file or one of Kazaross-XG2"):
        met.load("nix")
    with pytest.raises(OSError, match="not a regular file"):
        met.load(tmp_path)
    large = tmp_path / "large.xml"
    large.write_bytes(b"<" + bytes(1 << 20))
    with pytest.raises(CorruptError, match="at most"):
        met.load(large)


def test_mutations_give_a_table_or_one_line() -> None:
    rng = random.Random(1)
    for start in (XG2, EVEN, (FIXTURES / "uneven7.xml").read_bytes()):
        for _ in range(300):
            data = bytearray(start)
            for _ in range(rng.randint(1, 4)):
                at = rng.randrange(len(data))
                kind = rng.randrange(3)
                if kind == 0:
                    data[at] = rng.randrange(256)
                elif kind == 1:
                    del data[at : at + rng.randint(1, 40)]
                else:
                    data[at:at] = data[at : at + rng.randint(1, 200)]
            try:
                table = met.read(bytes(data))
            except BgfmtError as error:
                assert "\n" not in str(error)
            else:
                assert 1 <= table.length <= 64
                assert all(0 <= m <= 1 for row in (*table.pre, *table.post) for m in row)


def test_light_to_import() -> None:
    code = "import sys, bgfmt.met; print('numpy' in sys.modules, 'numba' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False"]


@pytest.mark.slow
def test_golden_gnubg_differences() -> None:
    """The exact columns of gnubg's worst errors."""
    from bgfmt.analysis.ondemand import solve_match
    from bgfmt.game.board import Position, Side
    from bgfmt.met.score import Score

    lines = (FIXTURES / "gnubg-differences.tsv").read_text().splitlines()
    names = lines[0].split("\t")
    owners = {"centre": "centered", "roller": "owned", "opponent": "opponent"}
    assert len(lines) == 41
    for line in lines[1:]:
        row = dict(zip(names, line.split("\t"), strict=True))
        away = int(row["away_roller"]), int(row["away_other"])
        score = Score(away, met.load(), False, int(row["cube"]), owners[row["owner"]])
        us, them = (Side(*map(int, row[side].split())) for side in ("on_roll", "opponent"))
        cube = solve_match(Position(us, them), score).cube
        assert cube.mwc.double_take is not None
        assert cube.mwc.double_pass is not None
        assert abs(cube.mwc.no_double - float(row["exact_nd"])) < 1.5e-9
        assert abs(cube.mwc.double_take - float(row["exact_dt"])) < 1.5e-9
        assert abs(cube.mwc.double_pass - float(row["exact_dp"])) < 1.5e-9
        assert cube.action.lower().replace("redouble", "double") == row["exact_action"]


@pytest.mark.slow
def test_answers_are_json() -> None:
    from bgfmt.analysis.ondemand import solve_match
    from bgfmt.game.board import Position, Side
    from bgfmt.met.score import Score

    answer = solve_match(Position(Side(1, 0, 1), Side(0, 1)), Score((2, 4), met.load()))
    text = json.dumps(answer.cube.as_dict())
    assert json.loads(text)["met"] == {"name": "Kazaross-XG2", "digest": met.load().digest}


@pytest.mark.parametrize(
    "line",
    [
        "cube 0,1/1 --away 30-3",
        pytest.param("judge 0,1/1 --away 30-3 --take", marks=pytest.mark.extra("matches")),
        "solve match 3x2 --away 3-30 -o q.bgm",
        "cube 0,1/1 --scores 30",
    ],
)
def test_a_score_beyond_the_table_names_the_option(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(line.split()) == 1
    said = capsys.readouterr().err
    assert "goes to 25-away, not " in said
    assert said.endswith("(--extend-met extends it to 64-away)\n")
    assert said.count("\n") == 1
    if "--scores" not in line:
        assert run([*line.replace("30", "65").split(), "--extend-met"]) == 1
        assert capsys.readouterr().err.endswith("goes to 64-away, not 65-away\n")
