"""Any bytes give a match or one clear line, in time in proportion to their number."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import json
import lzma
import os
import random
import struct
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from bgfmt.cli import cli, run
from bgfmt.errors import BgfmtError, FormatError
from bgfmt.extras.matches import MAX_RECORDS, content, printable, read
from bgfmt.extras.matches import mat as mat_module
from tests.conftest import FIXTURES
from tests.extras.matches.mutate import one, repacked
from tests.support.doubling import assert_linear

FOLDER = FIXTURES / "matches"
SEEDS = [
    "bglab-match1574521.mat", "gv-XCu3RJ0UvDg_Tldl.mat", "gnubg107-beaver.gam", "gnubg107-beaver.sgf",
    "gnubg107-bglab-e78c69b794d8.sgf", "gv-B4_SrGcsKAQmoTyHlgJCbM.xg", "gv-B4_SrGcsKAQmoTyHlgJCbM.bgf",
    "gv-B4_SrGcsKAQmoTyHlgJCbM.gvab", "gv-resign.ogxm", "gv-fields.ogxm",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", SEEDS)
def test_damaged_files(name: str) -> None:
    """BGFMT_FUZZ=10000 makes this the long one."""
    data = (FOLDER / name).read_bytes()
    source = random.Random(7)
    ends = set()
    for _ in range(int(os.environ.get("BGFMT_FUZZ", "80"))):
        copy = repacked(data, source)
        begin = time.process_time()
        ends.add(one(copy))
        assert time.process_time() - begin < 20
    assert "FormatError" in ends or "UnknownFormatError" in ends


BEGINNINGS = [b"RGMH", b"OGXM\2\0\0\0\2\0\0\0", b'{"format":"BGF"}\n', b"(;GM[6]", b" Game 1\n"]
LETTERS = '0123456789 :/*()\n\tabcdrfoDTWinsLse=>;[]"?'
ANY = st.one_of(
    st.binary(max_size=200),
    st.tuples(st.sampled_from(BEGINNINGS), st.binary(max_size=200)).map(b"".join),
    st.text(LETTERS, max_size=300).map(lambda text: b" 5 point match\nGame 1\n" + text.encode()),
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(ANY)
def test_any_bytes(data: bytes) -> None:
    one(data)


HEAD = b" 5 point match\n\n Game 1\n A : 0   B : 0\n"
SMILE = b'{"format":"BGF","useSmile":true}\n:)\n\x07'
OGXM = b"OGXM\2\0\0\0\2\0\0\0" + struct.pack("<I", 36) + b"MTCH\5\0\0\0\1\4\0\5\0\0END!\0\0"
LONG: dict[str, Callable[[int], bytes]] = {
    "mat: blanks in the line of names": lambda n: HEAD[:24] + b" A" + b" " * n + b": 0   B : 0 x\n",
    "mat: colons": lambda n: HEAD[:24] + b" A : 0 " * (n // 7) + b"x\n",
    "mat: empty lines": lambda n: b"\n" * n,
    "mat: blank lines of a game": lambda n: HEAD + b"\n" * n,
    "mat: a row of dice": lambda n: HEAD + b" 1) " + b"31: " * (n // 4),
    "mat: a row of words": lambda n: HEAD + b" 1) 31: " + b"8/5 " * (n // 4),
    "mat: one long word": lambda n: HEAD + b" 1) 31: 8" + b"/5" * (n // 2),
    "mat: rows": lambda n: HEAD + b" 1) 31:\n" * (n // 8),
    "mat: games": lambda n: HEAD + b" Game 2\n A : 0   B : 0\n" * (n // 26),
    "mat: matches": lambda n: b'; [Site "x"]\n Game 1\n' * (n // 22),
    "mat: digits": lambda n: HEAD + b"1" * n,
    "sgf: open trees": lambda n: b"(" * n,
    "sgf: a long comment": lambda n: b"(;GM[6]C[" + b"a\\]" * (n // 3) + b"])",
    "sgf: a comment without an end": lambda n: b"(;GM[6]C[" + b"a\\]" * (n // 3),
    "sgf: values": lambda n: b"(;GM[6]AE" + b"[a:y]" * (n // 5) + b")",
    "sgf: a long key": lambda n: b"(;GM[6]" + b"A" * n + b"[x])",
    "sgf: a long MI": lambda n: b"(;GM[6]MI[" + b"a" * n + b"])",
    "sgf: nodes": lambda n: b"(;GM[6]" + b";W[31]" * (n // 6) + b")",
    "sgf: games": lambda n: b"(;GM[6];W[31])" * (n // 14),
    "bgf: nested JSON": lambda n: b'{"format":"BGF"}\n' + b"[" * n,
    "bgf: Smile's numbers": lambda n: SMILE + b"\xfa\x80a\xf8" + b"\xc0" * n + b"\xf9\xfb",
    "bgf: nested Smile": lambda n: SMILE + b"\xf8" * n,
    "ogxm: a stream": lambda n: OGXM * (n // 36),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG)
def test_time_grows_with_the_size(name: str) -> None:
    """Eight times the bytes take eight times the time."""

    def reading(size: int) -> Callable[[], None]:
        data = LONG[name](size)

        def work() -> None:
            try:
                read(data)
            except BgfmtError as error:
                assert str(error).isprintable()

        return work

    assert assert_linear(reading(40_000), reading(320_000), 8) < 8


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bgfmt.extras.matches.model.MAX_RECORDS", 1000)
    with pytest.raises(FormatError, match="more than 1,000 records"):
        read(HEAD + b" 1) 31:\n" * 2000)
    assert MAX_RECORDS == 300_000
    assert len(read(HEAD + b" 1) 31: 99/1\n" * 900)[0].problems) < 200
    monkeypatch.setattr(mat_module, "LARGEST", 1000)
    with pytest.raises(FormatError, match="a text larger than"):
        read(HEAD + b" " * 1000)


def test_only_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(FormatError, match=r"not a regular file|found a folder"):
            content(path)
    with pytest.raises(FileNotFoundError):
        content(tmp_path / "none")


def test_what_other_programs_make_of_a_file() -> None:
    """Windows' editor writes UTF-16, old Macs end lines otherwise; what is packed is told so."""
    for name in SEEDS[:5]:
        data = (FOLDER / name).read_bytes()
        text = data.decode("utf-8", "replace").replace("\r\n", "\n")
        for code in ("utf-16", "utf-16-be"):
            mark = b"\xfe\xff" * code.endswith("be")
            assert read(mark + text.encode(code), name) == read(text.encode(), name)
        assert read(text.replace("\n", "\r").encode(), name) == read(text.encode(), name)
        for pack, words in ((gzip.compress, "gzip"), (bz2.compress, "bzip2"), (lzma.compress, "xz")):
            with pytest.raises(FormatError, match=f"is compressed by {words}; unpack it first"):
                read(pack(data), name)


# -- what a terminal could obey ----------------------------------------------------------------------------

EVIL = "\x1b]0;owned\x07Ann\x9b31m\u202egro"


def test_printable() -> None:
    assert printable("Zoë 🎲 José-María") == "Zoë 🎲 José-María"
    assert printable(EVIL) == "?]0;owned?Ann?31m?gro"
    assert printable("a\r\nb\x00\u2028\u00a0") == "a??b?? "
    assert printable("x" * 500) == "x" * 197 + "..."


@settings(max_examples=200)
@given(st.text(max_size=300))
def test_printable_is(text: str) -> None:
    assert printable(text).isprintable()
    assert len(printable(text)) <= 200


def test_names_never_reach_the_terminal_raw(tmp_path: Path, golden: Path) -> None:
    text = f" 5 point match\n\n Game 1\n {EVIL} : 0            Bob : 0\n  1) 31: 8/5 6/4     42: {EVIL}\n {EVIL}\n"
    path = tmp_path / "m.mat"
    path.write_text(text, encoding="utf-8")
    (match,) = read(path)
    assert match.players[0] == EVIL  # the model has what the file has
    table = str(golden / "gnubg" / "os_p06.bd")
    for command in (
        ["matches", str(path)],
        ["matches", "--json", str(path)],
        ["annotate", str(path), table],
        ["annotate", str(path), table, "--json"],
    ):
        done = CliRunner().invoke(cli, command, standalone_mode=False)
        assert not done.exception, done.output
        assert "owned" in done.output
        assert all(c.isprintable() or c == "\n" for c in done.output), command
    done = CliRunner().invoke(cli, ["matches", str(path), str(tmp_path / "none")], standalone_mode=False)
    assert done.return_value == 2


@pytest.mark.parametrize("size", [30, 2000, 20000, -20_000])
def test_a_cut_xg_says_so(size: int) -> None:
    data = (FIXTURES / "matches" / "gv-B4_SrGcsKAQmoTyHlgJCbM.xg").read_bytes()
    with pytest.raises(FormatError, match=r"cut short|expected whole records"):
        read(data[:size], "cut.xg")


def test_json_of_many_files_is_a_line_a_match_in_bounded_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = FOLDER / "gnubg107-beaver.sgf"
    assert run(["matches", "--json", str(source)]) == 0
    (alone,) = json.loads(capsys.readouterr().out)  # one file: a list
    files = [tmp_path / f"m{k:02d}.sgf" for k in range(60)]
    for file in files:
        file.write_bytes(source.read_bytes())
    bad = tmp_path / "bad.xg"
    bad.write_bytes(b"RGMH")
    assert run(["matches", "--json", *map(str, files[:2]), str(bad), str(files[2])]) == 2
    captured = capsys.readouterr()
    answers = [json.loads(line) for line in captured.out.splitlines()]
    assert [Path(answer["file"]).name for answer in answers] == ["m00.sgf", "m01.sgf", "bad.xg", "m02.sgf"]
    assert answers[2]["error"]["kind"] == "FormatError"
    assert [answer | {"file": ""} for answer in answers[:2]] == [alone | {"file": ""}] * 2
    assert len(captured.err.splitlines()) == 1

    def peak(number: int) -> int:
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            tracemalloc.start()
            run(["matches", "--json", *map(str, files[:number])])
            most = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        return most

    assert peak(60) < 1.5 * peak(2)
