"""J nouns: every golden form decodes and encodes to the same bytes; damaged ones are refused, as J refuses them."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from construct import Struct
from hypothesis import given, settings
from hypothesis import strategies as st

from bgfmt.errors import CapabilityError, CorruptError, FormatError, TruncatedError
from bgfmt.formats.j import noun as jn
from bgfmt.formats.j.noun import FORMS, Form, JType, Noun, as_json, decode, describe
from tests.support.j_nouns import run_j, table

NOUNS, ODD = table("nouns.tsv"), table("nouns_odd.tsv")
E1, E2, E3 = FORMS[0xE1], FORMS[0xE2], FORMS[0xE3]


def forms(row: dict[str, str]) -> dict[int, bytes]:
    return {b: bytes.fromhex(row[f"{b:x}_hex"]) for b in FORMS if row[f"{b:x}_hex"] != "-"}


@pytest.mark.parametrize("row", NOUNS, ids=lambda r: r["name"])
def test_every_form_from_every_form(row: dict[str, str]) -> None:
    for data in forms(row).values():
        noun = decode(memoryview(data))
        assert (int(noun.type), row["shape"].split()) == (
            int(row["type"]),
            [str(axis) for axis in noun.shape],
        )
        for other, expected in forms(row).items():
            assert jn.encode(noun, FORMS[other]) == expected
            assert jn.measure(noun, FORMS[other]) == len(expected)


@pytest.mark.parametrize("row", ODD, ids=lambda r: r["name"])
def test_odd_bytes_as_j_takes_them(row: dict[str, str]) -> None:
    data, reaction = memoryview(bytes.fromhex(row["hex"])), row["j_9.7_reaction_of_3!:2"]
    if reaction.startswith("accepts"):
        assert decode(data).type in JType
        if "xnum" in row["name"]:
            assert list(decode(data).data) == [int(reaction.split()[-1].rstrip("x").replace("_", "-"))]
    else:
        with pytest.raises(FormatError):
            decode(data)


@pytest.mark.parametrize("row", NOUNS, ids=lambda r: r["name"])
def test_every_truncation_is_refused(row: dict[str, str]) -> None:
    for first, data in forms(row).items():
        may_end_early = int(row["type"]) in (*jn.TERMINATED, JType.BOX)  # by the room for the terminator
        padding = len(data) - len(data.rstrip(b"\0")) if may_end_early else 0
        for size in range(len(data) - min(padding, FORMS[first].word)):
            with pytest.raises(FormatError):
                decode(memoryview(data[:size]))


def test_values() -> None:
    by_name = {row["name"]: decode(memoryview(bytes.fromhex(row["e2_hex"]))) for row in NOUNS}
    assert by_name["int_list_neg"].data.tolist() == [1, -2, 3]
    assert by_name["ext_neg"].data[0] == -12345678901234567890
    assert list(by_name["rat_list"].data) == [1, 3, -2, 5, 7, 1]
    assert as_json(by_name["uni2_list"])["codeunits"] == [960, 961, 8364]
    assert describe(by_name["box_tree"]) == "box 3: boolean atom; box 2; integer 2 by 2"
    assert describe(by_name["cplx_scalar"]) == "complex atom: 1+2j"


def test_large_arrays_are_views() -> None:
    data = memoryview(jn.encode(jn.integers(np.arange(1000)), E3))
    noun = decode(data)
    assert noun.at == 40
    assert np.shares_memory(noun.data, np.frombuffer(data, np.uint8))


def test_numbers_that_4_byte_words_cannot_hold() -> None:
    for noun in (jn.integers([1 << 31]), jn.boxes([jn.integers([-(1 << 31) - 1])])):
        assert decode(memoryview(jn.encode(noun, E3))).type is noun.type
        with pytest.raises(CapabilityError, match="4-byte"):
            jn.encode(noun, E1)
    wide = Noun(JType.INTEGER, (0, 1 << 40), np.zeros(0))
    with pytest.raises(CapabilityError, match="4-byte"):
        jn.encode(wide, E1)
    assert decode(memoryview(jn.encode(wide, E2))).shape == (0, 1 << 40)


@given(st.lists(st.integers(-(1 << 200), 1 << 200), max_size=5), st.sampled_from(list(FORMS.values())))
def test_whole_numbers_of_any_size(numbers: list[int], form: Form) -> None:
    noun = Noun(JType.EXTENDED, (len(numbers),), tuple(numbers))
    assert list(decode(memoryview(jn.encode(noun, form))).data) == numbers


SHAPES = st.lists(st.integers(0, 3), max_size=4).map(tuple)


@st.composite
def nouns(draw: Any, depth: int = 3) -> Noun:
    kinds = [
        JType.BOOLEAN,
        JType.LITERAL,
        JType.INTEGER,
        JType.FLOAT,
        JType.COMPLEX,
        JType.UNICODE,
        JType.INT2,
    ]
    kind = draw(st.sampled_from(kinds + [JType.BOX] * 4 * (depth > 0)))
    shape = draw(SHAPES)
    count = int(np.prod(shape, dtype=np.int64))
    if kind is JType.BOX:
        return Noun(kind, shape, tuple(draw(nouns(depth=depth - 1)) for _ in range(count)))  # type: ignore[call-arg]
    seed = np.random.default_rng(draw(st.integers(0, 99)))
    dtype = E1.atom(kind)
    raw = seed.integers(0, 2 if kind is JType.BOOLEAN else 256, count * dtype.itemsize, np.uint8)
    return Noun(kind, shape, raw.view(dtype).reshape(shape))


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(nouns(), st.sampled_from(list(FORMS.values())), st.sampled_from(list(FORMS.values())))
def test_any_noun_survives_every_form(noun: Noun, one: Form, other: Form) -> None:
    first = jn.encode(noun, one)
    back = decode(memoryview(first))
    assert as_json(back) == as_json(noun)
    assert jn.encode(decode(memoryview(jn.encode(back, other))), one) == first


class WideRank(Form):
    """A form whose rank has 8 bytes."""

    @cached_property
    def head(self) -> Struct:
        wide = {"rank": jn.integer_of(8, self.order)}
        return Struct(*(part.name / wide.get(part.name, part) for part in super().head.subcons))


def test_reader_and_writer_follow_a_changed_width(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = WideRank(0xE1, 4, "<")
    monkeypatch.setitem(FORMS, 0xE1, wide)
    noun = jn.boxes([jn.integers([[1, 2], [3, 4]]), jn.text("abc"), Noun(JType.EXTENDED, (1,), (10**30,))])
    data = jn.encode(noun, wide)
    assert len(data) == jn.measure(noun, wide) == jn.measure(noun, E1) + 4 * 5
    assert as_json(decode(memoryview(data))) == as_json(noun)


# -- hostile bytes -------------------------------------------------------------------------------------------


def chain(depth: int, width: int) -> bytes:
    """Boxes whose `width` contents are one and the same box, `depth` levels down."""
    out = b""
    for _ in range(depth):
        words = np.array([32, width, 1, width] + [(5 + width) * 8] * width, "<i8")
        out += b"\xe3" + bytes(7) + words.tobytes()
    return out + jn.encode(jn.integers([7]), E3)


def test_shared_boxes_do_not_explode() -> None:
    assert decode(memoryview(chain(3, 2))).count == 2
    start = time.process_time()
    with pytest.raises(CorruptError, match="unfold"):
        decode(memoryview(chain(60, 2)))
    with pytest.raises(CorruptError, match="nested"):
        decode(memoryview(chain(500, 1)))
    assert time.process_time() - start < 20


def test_shared_numbers_do_not_explode() -> None:
    limbs = jn.encode(Noun(JType.LITERAL, (80_000,), np.full(80_000, 255, np.uint8)), E3)
    head = np.array([64, 10_000, 1, 10_000] + [40 + 80_000] * 10_000, "<i8")
    with pytest.raises(CorruptError, match="unfold"):
        decode(memoryview(b"\xe3" + bytes(7) + head.tobytes() + limbs))


def test_long_old_numbers_take_no_time() -> None:
    digits = np.full(40_000, 9999, "<i8")
    inner = jn.encode(jn.integers(digits), E3)
    head = np.array([64, 1, 0, 40], "<i8")
    start = time.process_time()
    noun = decode(memoryview(b"\xe3" + bytes(7) + head.tobytes() + inner))
    assert noun.data[0] == 10**160_000 - 1
    assert describe(noun).startswith("extended atom: 0x")
    assert time.process_time() - start < 20


def test_sizes_that_overflow() -> None:
    for count, shape in (
        (1 << 62, (1 << 62,)),
        (0, (1 << 62, 0)),
        (1 << 62, (1 << 31, 1 << 31)),
        (-1, (-1,)),
    ):
        words = np.array([4, count, len(shape), *shape], "<i8")
        data = memoryview(b"\xe3" + bytes(7) + words.tobytes())
        if count == 0:
            assert decode(data).count == 0
        else:
            with pytest.raises(FormatError):
                decode(data)


@pytest.mark.parametrize("number", [65536, 1024, 2048, 4096, 8192, 16384, 32768, 3, 5, 0, -4])
def test_types_that_no_file_holds(number: int) -> None:
    words = np.array([number, 1, 0, 0], "<i8")
    with pytest.raises(CorruptError, match="type of noun"):
        decode(memoryview(b"\xe3" + bytes(7) + words.tobytes()))


def test_messages_name_byte_and_expectation() -> None:
    with pytest.raises(TruncatedError, match=r"x\.ijf: cut short at byte 8"):
        decode(memoryview(b"\xe3" + bytes(7)), name="x.ijf")
    with pytest.raises(CorruptError, match="byte 0: expected a J noun"):
        decode(memoryview(b"\x99" * 64))


# -- the real J ----------------------------------------------------------------------------------------------


def test_j_reads_what_we_write(oracle: Callable[[str], str], tmp_path: Path) -> None:
    """3!:2 of each golden noun in our bytes, in all four forms, matches the J expression, type included."""
    jconsole = oracle("jconsole")
    lines = []
    for k, row in enumerate(NOUNS):
        noun = decode(memoryview(bytes.fromhex(row["e3_hex"])))
        for form in FORMS.values():
            try:
                data = jn.encode(noun, form)
            except CapabilityError:
                continue
            path = tmp_path / f"{k}_{form.name}"
            path.write_bytes(data)
            lines.append(f"e =. {row['j_expression']}\nr =. 3!:2 (1!:1) <'{path}'")
            lines.append("answer =: answer , (e -: r) *. ((3!:0 e) = 3!:0 r) *. ($e) -: $r")
    found = run_j(jconsole, tmp_path, "answer =: 0$0\n" + "\n".join(lines))
    assert found.count == len(lines) // 2
    assert found.data.tolist() == [1] * found.count
