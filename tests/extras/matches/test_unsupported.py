"""Forms that bgfmt does not read are named, with the program that reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bgfmt.cli import run
from bgfmt.errors import UnknownFormatError
from bgfmt.extras.matches import read, unsupported
from tests.conftest import FIXTURES

#: short texts of each form, made up; gnubg 1.07 imports the one of FIBS
TEXTS = {
    "bgammon.org": "i 1699046131 ann bob 5 0 0 2 1 0\n1 r 6-1 13/7 8/7\n2 r 3-1 8/5 6/5\n",
    "FIBS": "Score is 0-0 in a 5 point match.\nann is X - bob is O\n\nX: (3 1) 8-5 6-5\nO: (2 1) 13-11 6-5\n",
    "TrueMoneyGames": "MatchId: 1876396\nPlayer1: 40000 ann\nPlayer2: 40001 bob\n\nGame: 1\n1) 31: 8/5 6/5\n",
    "PartyGammon": "MATCHID=12345\nPLAYER_1=ann\nPLAYER_2=bob\nMATCHLENGTH=5\nGAME_1=31 8/5 6/5;21 13/11 6/5\n",
    "GamesGrid": "ann vs. bob\n\nGame 1.\n1 31: 8-5 6-5\n1b 21: 13-11 6-5\n",
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_form_is_named(name: str, end: str) -> None:
    with pytest.raises(UnknownFormatError) as caught:
        read(TEXTS[name].replace("\n", end).encode(), "x.txt")
    assert name in str(caught.value)
    assert ("gnubg imports it" in str(caught.value)) == (name != "bgammon.org")


def test_a_match_cut_short_is_not_called_a_transfer_in_text_mode() -> None:
    head = '\ufeff; [Player 1 "Kévin"]\r\n; [Player 2 "Johan"]\r\n'.encode()
    with pytest.raises(UnknownFormatError, match="not a readable match"):
        read(head, "x.mat")


def test_commands_say_it_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.match"
    path.write_text(TEXTS["bgammon.org"])
    for command in ("matches", "annotate"):
        assert run([command, str(path)]) == 2
        assert capsys.readouterr().err.startswith("bgfmt: x.match: a replay of bgammon.org: ")


def test_matches_that_are_read_have_none_of_these_forms() -> None:
    files = [path for path in (FIXTURES / "matches").iterdir() if path.suffix in (".mat", ".gam", ".sgf")]
    assert len(files) > 20
    assert not [path for path in files if unsupported.name_format(path.read_bytes())]
