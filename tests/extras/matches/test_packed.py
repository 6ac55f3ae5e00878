"""The packed forms: .xg, .bgf, OGXM; what their readers bear, and what they refuse."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from bgfmt.errors import FormatError
from bgfmt.extras.matches import Match, bgf, each, ogxm, read, xg
from bgfmt.extras.matches.decisions import decisions
from tests.conftest import FIXTURES
from tests.extras.matches.changed import bgf_document, bgf_of, xg_records, xg_with

FOLDER = FIXTURES / "matches"
XG = (FOLDER / "gv-B4_SrGcsKAQmoTyHlgJCbM.xg").read_bytes()
BGF = (FOLDER / "gv-B4_SrGcsKAQmoTyHlgJCbM.bgf").read_bytes()
OGXM = (FOLDER / "gv-resign.ogxm").read_bytes()
GVAB = (FOLDER / "gv-XCu3RJ0UvDg_Tldl.gvab").read_bytes()


def refused(data: bytes, words: str) -> None:
    with pytest.raises(FormatError, match=words) as error:
        read(data, "file")
    assert str(error.value).isprintable()


# -- .xg -------------------------------------------------------------------------------------------------


def test_a_score_below_0_is_a_problem_of_its_game() -> None:
    (match,) = read(xg_with(XG, lambda records: records[1].__setitem__(slice(12, 16), b"\xfe\xff\xff\xff")))
    assert match.games[0].scores[0] == 0
    assert "a score below 0" in match.games[0].problems[0]
    assert list(decisions(match))


def test_xg_without_an_index_is_read() -> None:
    (whole,) = read(XG)
    (patched,) = read(xg_with(XG, lambda records: None))
    assert whole.notes == ()
    assert patched.notes == ("the archive has no index; its first member is read",)
    assert patched.games == whole.games


def test_xg_header() -> None:
    (match,) = read(FOLDER / "gbf-ronde1-UngerHarmand-FriebeJacobi-7pt.xg")
    assert match.players == ("Kévin UNGER Nicolas HARMAND", "FRIEBE JACOBI")
    assert match.length == 7
    assert match.date.startswith("2024-08")
    assert match.rules.crawford


def test_xg_damage_is_said() -> None:
    begin, _ = xg_records(XG)
    refused(XG[:40], "byte")
    refused(XG[: begin + 100], "cut short")
    refused(XG[:begin] + b"\0" * 100, "zlib")
    refused(xg_with(XG, lambda r: r[0].__setitem__(8, 3)), "record 0: expected a match header")
    refused(xg_with(XG, lambda r: r[0].__setitem__(556, 0)), "the mark of a match")
    refused(xg_with(XG, lambda r: r[0].__setitem__(96, 2)), "variation 2")
    refused(xg_with(XG, lambda r: r[5].__setitem__(8, 9)), "record 5: expected type 1 to 5, found type 9")
    refused(xg_with(XG, lambda r: r.pop(1)), "expected a game header")
    refused(xg_with(XG, lambda r: r.append(bytearray(5))), "whole records")
    flipped = bytearray(XG)
    flipped[begin + 5000] ^= 1
    with pytest.raises(FormatError):
        read(bytes(flipped))
    wrong_end = XG[:-36] + struct.pack("<I", 1) + XG[-32:]
    assert read(wrong_end)[0].notes == ("the checksum of the archive is wrong",)


@pytest.mark.slow
def test_xg_bombs_are_bounded() -> None:
    """A record is 20 bytes packed: a file of many is refused, and never held."""
    begin, records = xg_records(XG)
    packer = zlib.compressobj(9)
    bomb = packer.compress(bytes(records[0]) + bytes(records[1]))
    cube = bytes(records[2])
    for _ in range(510):
        bomb += packer.compress(cube * 100)
    bomb += packer.flush()
    assert len(bomb) < 1_000_000
    refused(XG[:begin] + bomb, "more than 50,000 records")


def test_xg_names_in_any_letters() -> None:
    wide = "Ŀóśé \U0001f3b2".encode("utf-16-le") + b"\0\0" + b"\xdc\xd8" * 5  # rubbish after the 0

    def change(records: list[bytearray]) -> None:
        records[0][880 : 880 + len(wide)] = wide

    assert read(xg_with(XG, change))[0].players[0] == "Ŀóśé \U0001f3b2"


def test_xg_illegal_plays_take_the_stored_board() -> None:
    (match,) = read(FOLDER / "gv-5nqfGw9bWG3deTaU.xg")
    bad = [(game, k) for game in match.games for k, r in enumerate(game.records) if not r.legal]
    assert len(bad) == 1
    game, k = bad[0]
    after = game.records[k].after
    assert after is not None
    assert game.records[k + 1].position == after.swapped()


# -- .bgf ------------------------------------------------------------------------------------------------


def plain(data: bytes) -> Any:
    """The document of a .bgf file."""
    return bgf.read_smile(bgf_document(data)[1])


def test_bgf_in_every_packing() -> None:
    (match,) = read(BGF)
    document = json.dumps(plain(BGF)).encode()
    for header, body in (
        (b'{"format":"BGF"}', document),
        (b'{"format": "BGF", "compress": true}', zlib.compress(document)),
        (b'{"format":"BGF","useSmile":true}', bgf_document(BGF)[1]),
    ):
        (other,) = read(header + b"\n" + body)
        assert other == match
    assert read(bgf_of(document))[0] == match


def test_bgf_names_outside_ascii() -> None:
    """Smile has tokens of their own for keys and values outside ASCII."""
    body = bgf_document(BGF)[1]
    name = plain(BGF)["nameGreen"].encode()
    old = bytes([0x3F + len(name)]) + name
    assert body.count(old) >= 1
    new = "Éloïse Łódź".encode()
    token = bytes([0x7E + len(new)]) + new
    (match,) = read(bgf_of(body.replace(old, token, 1), BGF.partition(b"\n")[0]))
    assert match.players[0] == "Éloïse Łódź"


def test_smile_values() -> None:
    head = b":)\n\x03"
    numbers = (
        b"\xfa\x80a\xc2\x80b\xc1\x80c\x24\x03\x9f\x80d\x22\x80e\x23\x80f\x21\x80g\x28"
        + b"\x03\x7c\x00\x00\x00"
        + b"\xfb"
    )
    found = bgf.read_smile(head + numbers)
    assert (found["a"], found["b"]) == (1, -1)
    assert (found["d"], found["e"], found["f"]) == (False, True, None)
    assert found["g"] == 1.0
    texts = b"\xfa\x80a\xf8\x41xy\x01\x80\xc3\xa9\x02\xe0long\xfc\x20\xf9\x40\x41zz\xfb"
    assert bgf.read_smile(head + texts)["a"] == "zz"
    shared = b"\xf8\x40p\x40q\x02\x01\xf9"
    assert bgf.read_smile(head + shared) == ["p", "q", "q", "p"]
    refuse = [
        b"\xf8",
        b"\xfa\x80",
        b"\xf8\x05\xf9",
        b"\xf8\xfe\xf9",
        b"\xfa\x41x\xc0\xfb",
        b"\xf8\xe0abc",
        b"\xf8\x24\0\0\0\0\0\0\0\0\0\0\0\0",
        b"\xf8" * 100,
    ]
    for data in refuse:
        with pytest.raises(FormatError):
            bgf.read_smile(head + data)
    with pytest.raises(FormatError):
        bgf.read_smile(b"nonsense")


def test_shared_tables_start_again() -> None:
    """After 1,024 texts the table is empty, so token 1 means the 1,025th."""
    body = b"".join(b"\x42" + f"{k:03x}".encode() for k in range(1025))
    found = bgf.read_smile(b":)\n\x03\xf8" + body + b"\x01\xf9")
    assert found[-1] == "400"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.pop("games"), "an array as games"),
        (lambda d: d.update(games=[3]), "expected an object"),
        (lambda d: d.update(matchlen="x"), "a number as matchlen"),
        (lambda d: d["games"][0].pop("moves"), "an array as moves"),
        (lambda d: d["games"][0]["moves"][0].update({"from": [1]}), "4 numbers as from"),
        (lambda d: d["games"][0]["initial"].update(points=[0]), "26 numbers as points"),
    ],
)
def test_bgf_documents_that_are_none(change: Callable[[Any], object], words: str) -> None:
    document = plain(BGF)
    change(document)
    refused(bgf_of(json.dumps(document).encode()), words)


def test_bgf_damage_is_said() -> None:
    refused(BGF[:5000], "cut short")
    refused(b'{"format":"BGF","compress":true}\nxx', "gzip or zlib")
    refused(b'{"format":"BGF"}\n' + b"[" * 100_000, "expected JSON")
    refused(b'{"format":"BGF"}\n[]', "expected an object")
    refused(b'{"format":"BGF","compress":true}\n' + zlib.compress(bytes(40 << 20)), "larger than 32 MiB")
    document = plain(BGF)
    document["nameGreen"] = "\ud800x"
    assert read(bgf_of(json.dumps(document).encode()))[0].players[0] == "\ufffdx"
    document["games"][0]["moves"][1].update(red=9, green=3)
    assert "dice of 9 and 3" in read(bgf_of(json.dumps(document).encode()))[0].problems[0]


# -- OGXM ------------------------------------------------------------------------------------------------


def test_ogxm_streams() -> None:
    both = read(OGXM + GVAB + OGXM)
    assert [m.games for m in both] == [read(OGXM)[0].games, read(GVAB)[0].games, read(OGXM)[0].games]
    cut = read(OGXM + GVAB[:500])
    assert len(cut) == 1
    assert "the rest of the stream is skipped" in cut[0].notes[0]
    assert [m.players for m in each(OGXM * 3)] == [read(OGXM)[0].players] * 3


def test_ogxm_damage_is_said() -> None:
    refused(OGXM[:30], "a size up to")
    refused(OGXM[:4] + b"\3" + OGXM[5:], "version 1 or 2")
    refused(OGXM[:8] + b"\3" + OGXM[9:], "readers of 3")
    refused(OGXM.replace(b"MTCH", b"XXXX"), "required and unknown")
    refused(GVAB.replace(b"MHDR", b"XXXX"), "no match header")
    refused(GVAB[:-8] + b"WHAT" + GVAB[-4:], "END!")
    blocks = (FOLDER / "gv-blocks.ogxm").read_bytes()
    at = blocks.index(b"DECS") + 400
    changed = blocks[:at] + bytes([blocks[at] ^ 1]) + blocks[at + 1 :]
    assert read(changed)[0].notes == ("the checksum of the file is wrong",)


def test_nackgammon_is_taken_where_it_fits() -> None:
    """The one real file that says Nackgammon plays from the usual start; 23/20 is played from the other only."""
    data = (FOLDER / "gv-fields.ogxm").read_bytes()
    assert [g.start.us.counts[22] for g in read(data)[0].games] == [0, 0]
    at = data.index(b"GAME")
    game = data[at : at + 27]
    assert game.count(b"q3") == 1
    moved = data.replace(b"q3", b"bB", 1)  # White's second chequers: 23/20 from frame points 2
    match = read(moved)[0]
    assert match.games[0].start.us.counts[22] == 2
    assert next(r for r in match.games[0].records if r.kind == "play").moves


# -- oracles ---------------------------------------------------------------------------------------------


def boards_in(document: Any, match: Match) -> int:
    """How many rolls of another reader's document have our dice and our board; all of them must."""
    from bgfmt.game.identifiers import from_ogid

    seen = 0
    assert match.length == document["match_length"]
    for game, theirs in zip(match.games, document["games"], strict=True):
        plies = [ply for ply in theirs["plies"] if ply["action_id"] <= 20]
        rolls = [r for r in game.records if r.kind in ("play", "dance")]
        assert len(plies) in (len(rolls), len(rolls) + 1)  # a roll that was not played
        for ply, record in zip(plies, rolls, strict=False):
            assert sorted((ply["d1"], ply["d2"])) == sorted(record.dice or ())
            state = from_ogid(ply["ogid_before"])
            assert record.position in (state.position, state.position.swapped())
            seen += 1
    return seen


@pytest.mark.slow
def test_the_ogxm_package_agrees(oracle: Callable[[str], str]) -> None:
    """The package `ogxm`, the reference reader, has the rolls and boards that we find."""
    oracle("py:ogxm")
    import ogxm as package

    seen = 0
    for name in ("gv-blocks.ogxm", "gv-cube-on-two.ogxm", "gv-match.ogxm", "gv-resign.ogxm"):
        data = (FOLDER / name).read_bytes()
        document, match = package.binary_to_json(data), read(data)[0]
        assert match.players == (document["player_white"], document["player_black"])
        seen += boards_in(document, match)
    assert seen > 100


@pytest.mark.parametrize("stem", ["gv-B4_SrGcsKAQmoTyHlgJCbM", "gv-XCu3RJ0UvDg_Tldl"])
def test_gammonview_agrees(stem: str, oracle: Callable[[str], str]) -> None:
    """gammonview's own readers of .xg and .bgf have the rolls and boards that we find."""
    oracle("py:gvformat")
    import gvformat

    for suffix, convert in ((".xg", gvformat.convert_xg), (".bgf", gvformat.convert_bgf)):
        data = (FOLDER / f"{stem}{suffix}").read_bytes()
        assert boards_in(convert(data), read(data)[0]) > 50


def test_recognised_by_content() -> None:
    assert [r.recognise(XG) for r in (xg, bgf, ogxm)] == [True, False, False]
    assert [r.recognise(BGF) for r in (xg, bgf, ogxm)] == [False, True, False]
    assert [r.recognise(GVAB) for r in (xg, bgf, ogxm)] == [False, False, True]
    assert len(list(decisions(read(XG)[0]))) > 50
