"""J component files: golden files are read as an independent reader saw them and written byte for byte."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bgfmt.errors import BgfmtError, CapabilityError, CorruptError, FormatError, HeaderError, TruncatedError
from bgfmt.formats.base import Fault
from bgfmt.formats.j import audit
from bgfmt.formats.j import noun as jn
from bgfmt.formats.j.container import FJ01B, FJ01L, V32L, V64B, V64L, VERSIONS, Container, looks_like
from bgfmt.formats.j.jfile import JFile
from bgfmt.formats.j.noun import E3, FORMS, JType, as_json
from bgfmt.formats.j.write import compact
from bgfmt.formats.records import as_read
from bgfmt.storage import MemorySink, Source
from tests.support.j_changes import Changer
from tests.support.j_nouns import (
    DAMAGED,
    FILES,
    GOOD,
    JFILES,
    as_golden,
    container,
    contents,
    from_json,
    run_j,
    table,
)

SAID = contents()
E1 = FORMS[0xE1]
FUZZ = int(os.environ.get("BGFMT_FUZZ", "900"))


def test_a_film_is_no_component_file() -> None:
    """MPEG-4 begins as a list of boxes of old J did on a 32-bit machine with the most significant byte first."""
    film = b"\0\0\0\x20ftypisom\0\0\2\0isomiso2avc1mp41"
    assert not looks_like(film)
    assert looks_like(film[:12] + b"\0\0\0\1" + film[16:])


def relative(path: Path) -> str:
    return path.relative_to(JFILES).as_posix()


@pytest.mark.parametrize("path", GOOD, ids=relative)
def test_read_as_an_independent_reader_did(path: Path) -> None:
    said, file = SAID[relative(path)], container(path)
    head = file.header
    assert head.version.name == said["header"].get("version", head.version.name).lower()
    assert [head.components, head.length, list(head.directory), list(head.free)] == [
        said["header"][key] for key in "cldf"
    ]
    assert (head.calls, head.items) == (said["header"].get("q"), said["header"]["items"])
    if said.get("free") is not None:
        assert [list(row) for row in file.free_list[0]] == said["free"]
    for k, component in enumerate(said["components"]):
        noun = file.noun(k)
        assert list(map(int, file.entries[k])) == component["at"]
        assert file.view[component["at"][0]] == int(component["first_byte"], 16)
        short = "sha256_of_values_as_little_endian_64_bit" in component["noun"]
        assert (as_golden(noun) if short else as_json(noun)) == component["noun"]


@pytest.mark.parametrize(("name", "message"), DAMAGED.items())
def test_damaged_files_are_refused(name: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        container(JFILES / "odd" / name)


@pytest.mark.parametrize("k", range(7))
@pytest.mark.parametrize("value", [1e300, -1e300, 2.0**63, float("inf"), float("nan")])
def test_numbers_of_the_header_that_no_integer_holds(k: int, value: float) -> None:
    """Floats are floored, and there are floats beyond every integer."""
    head = Container(memoryview((JFILES / "small.ijf").read_bytes()), "x").header
    said = [
        head.version.number,
        head.first,
        head.components,
        head.length,
        head.directory,
        head.free,
        head.calls,
    ]
    items = [jn.integers(np.array(one, np.int64)) for one in said]
    items[k] = jn.floats([value] * (2 if k in (4, 5) else 1))
    noun = jn.encode(jn.boxes(items), head.form)
    data = noun + (JFILES / "small.ijf").read_bytes()[len(noun) :]
    with pytest.raises(FormatError):
        list(audit.check_container(Container(memoryview(data), "x"), len(data)))


def test_order_of_the_oldest_version_is_guessed() -> None:
    assert container(JFILES / "odd/fj01_be.ijf").header.version is FJ01B
    for name in ("fj01_le", "fj01_pre601", "fj01_trap"):
        assert container(JFILES / f"odd/{name}.ijf").header.version == FJ01L


def problems(file: Container) -> list[str]:
    """The faults that `bgfmt info` names."""
    faults = audit.check_structure(file, len(file.view))
    return [str(fault) for fault in faults if not fault.carried]


def test_faults_that_reading_survives_are_named() -> None:
    wanted = {
        "longer": "found 2,272 bytes",
        "length_too_big": "found 99,999 bytes",
        "length_too_small": "found 1,000 bytes",
        "no_free_list": "a readable free list",
        "dir_size_40": "a whole number of entries",
    }
    for path in GOOD:
        found = problems(container(path))
        assert (path.stem in wanted) == bool(found), path
        assert wanted.get(path.stem, "") in "".join(found)


# -- writing -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said", json.loads((JFILES / "histories/histories.json").read_text()), ids=lambda s: s["file"]
)
def test_histories_give_the_same_bytes(said: dict[str, Any]) -> None:
    wide = not said["kind"].startswith("v32")
    store = MemorySink()
    for step in said["ops"]:
        nouns = [from_json(noun) for noun in step.get("nouns", ())]
        if step["op"] == "jcreate":
            writer = Changer.create(store, V64B if wide else V32L, E3 if wide else E1, step["room"])
        elif step["op"] == "jappend":
            writer.append(nouns)
        elif step["op"] == "jreplace":
            writer.replace(step["at"], nouns)
        else:
            writer = Changer.over(store, Container(memoryview(bytes(store.data)), "history"))
    assert bytes(store.data) == (JFILES / "histories" / said["file"]).read_bytes()


@pytest.mark.parametrize("folder", ["trace64", "trace32"])
def test_each_step_of_the_worked_example(folder: str) -> None:
    i, text = jn.integers, jn.text
    letter = lambda c: jn.Noun(JType.LITERAL, (), np.frombuffer(c, np.uint8).reshape(()))  # noqa: E731
    one = jn.Noun(JType.BOOLEAN, (), np.uint8(1).reshape(()))
    two = jn.Noun(JType.INTEGER, (), np.array(2))
    half = jn.Noun(JType.FLOAT, (), np.array(3.5))
    empty = jn.Noun(JType.BOOLEAN, (0,), np.zeros(0, np.uint8))
    boxed = jn.Noun(JType.BOX, (), (letter(b"q"),))
    steps: list[tuple[list[int] | None, list[jn.Noun]]] = [
        (None, [i(np.arange(5))]),
        (None, [text("hello")]),
        (None, [letter(b"a"), half, jn.boxes([one, two])]),
        ([1], [i(np.arange(100))]),
        ([0], [letter(b"x")]),
        (None, [i([1, 2, 3])]),
        (None, [letter(b"y")] * 40),
        ([2, 4], [jn.floats([1.5, 2.5])]),
        ([5, 6, 7], [text("abc"), text(""), empty]),
        (None, [letter(b"p"), i(np.arange(6).reshape(2, 3)), boxed]),
    ]
    store = MemorySink()
    writer = Changer.create(store) if folder == "trace64" else Changer.create(store, V32L, E1)
    for k, row in enumerate(table(f"{folder}/trace.tsv")):
        assert bytes(store.data) == (JFILES / folder / row["file"]).read_bytes(), row["j_sentence"]
        if k < len(steps):
            at, nouns = steps[k]
            if at is None:
                writer.append(nouns)
            else:
                writer.replace(at, nouns)


def some_noun(random: np.random.Generator) -> jn.Noun:
    """Text, whole numbers, floats or boxes, most of them small."""
    size = int(random.integers(0, 40) ** 2)
    text = jn.text("".join(map(chr, random.integers(32, 127, size))))
    numbers, boxed = jn.integers(random.integers(-99, 99, size // 8)), jn.boxes([text, jn.floats([size / 7])])
    return [text, numbers, boxed][int(random.integers(3))]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_every_history_of_the_library_is_sound(seed: int) -> None:
    """Created by a 32-bit J or a 64-bit one, changed by both: what was left behind is noted, nothing is damage."""
    random, store = np.random.default_rng(seed), MemorySink()
    wide = bool(random.integers(2))
    writer = Changer.create(store, V64B if wide else V32L, E3 if wide else E1, int(random.integers(40)))
    nouns: list[jn.Noun] = []
    for step in range(30):
        kind, few = int(random.integers(8)), [some_noun(random) for _ in range(int(random.integers(1, 4)))]
        if kind == 0 and nouns:  # the other J goes on: a 64-bit one upgrades the directory
            wide = not wide
            file = Container(memoryview(bytes(store.data)), "history")
            writer = Changer.over(store, file, V64B if wide else file.header.version, E3 if wide else E1)
        elif kind < 4 or not nouns:
            writer.append(few)
            nouns += few
        elif kind == 4:
            writer.replace_one_twice(k := int(random.integers(len(nouns))), few)
            nouns[k] = few[-1]
        else:
            places = random.permutation(len(nouns))[: len(few)].tolist()
            writer.replace(places, few)
            for k, noun in zip(places, few, strict=False):
                nouns[k] = noun
        file = Container(memoryview(bytes(store.data)), "history")
        faults = [fault for fault in audit.check_container(file, len(store.data)) if not fault.carried]
        assert faults == [], (step, kind, list(map(str, faults)))
        assert [as_json(noun) for noun in file] == [as_json(noun) for noun in nouns]


def test_what_a_replacement_left_behind_is_a_note() -> None:
    """The blocks lie as if the file had only grown, but the rest of one holds the end of an older noun."""
    store = MemorySink()
    writer = Changer.create(store)
    for text in ("a" * 40, "b" * 60):
        writer.append([jn.text(text)])
    writer.replace([1], [jn.text("c" * 30)])
    faults = list(audit.check_container(Container(memoryview(bytes(store.data)), "x"), len(store.data)))
    assert [fault.rule for fault in faults] == ["blocks", "component 1: rest of the block"]
    assert all(fault.carried for fault in faults)


def test_a_changed_byte_between_nouns_is_told() -> None:
    """In files of `jdup` and of one `jappend` it is a fault, in others, and in the counter of calls, a note."""
    made, room, changed = MemorySink(), MemorySink(), MemorySink()
    nouns = [jn.text("a" * 40), jn.boxes([jn.text("b")]), jn.text("c" * 7)]
    compact(nouns, made)
    Changer.create(room, room=100).append(nouns)
    writer = Changer.create(changed)
    for noun in nouns:
        writer.append([noun])

    def faults_of(data: bytes) -> list[Fault]:
        return list(audit.check_container(Container(memoryview(data), "x"), len(data)))

    for store in (made, room, changed):
        data = bytes(store.data)
        sound = faults_of(data)
        assert all(fault.carried for fault in sound)
        for at in range(len(data)):
            mutant = bytearray(data)
            mutant[at] ^= 1 << at % 8
            try:
                faults = faults_of(bytes(mutant))
            except BgfmtError:
                continue
            noted = store is changed or 400 <= at < 408
            told = faults != sound if noted else any(not fault.carried for fault in faults)
            assert told or data[at] in b"abc", at


def test_a_changed_byte_of_the_zeros_behind_text_is_found() -> None:
    """J 9.8 writes none there, so that blanks or what the block had before follow the text."""
    store = MemorySink()
    compact([jn.text("a" * 40)], store)
    data = bytes(store.data)
    end = data.index(b"a" * 40) + 40
    for word, expected in ((b" " * 8, []), (b"\1" + bytes(7), [False]), (b" " + bytes(7), [False])):
        mutant = data[:end] + word + data[end + 8 :]
        faults = audit.check_container(Container(memoryview(mutant), "x"), len(mutant))
        assert [fault.carried for fault in faults] == expected


def test_growing_directory_room_and_types() -> None:
    grow, room, types = MemorySink(), MemorySink(), MemorySink()
    writer = Changer.create(grow)
    for k in range(70):
        writer.append([jn.text("g" * k)])
    Changer.create(room, room=100).append([jn.integers([0, 1, 2])])
    golden = container(JFILES / "types.ijf")
    writer = Changer.create(types)
    for k in range(len(golden)):
        writer.append([golden.noun(k)])
    for store, name in ((grow, "grow"), (room, "room100"), (types, "types")):
        assert bytes(store.data) == (JFILES / f"{name}.ijf").read_bytes()


def test_compaction_and_upgrade() -> None:
    small, store = container(JFILES / "small.ijf"), MemorySink()
    compact([small.noun(k) for k in range(len(small))], store)
    assert bytes(store.data) == (JFILES / "small_compacted.ijf").read_bytes()
    old = container(JFILES / "small_v32l.ijf")
    upgraded = MemorySink(bytes(old.view))
    Changer.over(upgraded, old).append([jn.text("from64")])
    assert bytes(upgraded.data) == (JFILES / "small_v32l_upgraded.ijf").read_bytes()


@pytest.mark.parametrize("path", [p for p in GOOD if p.parent.name == "odd"], ids=relative)
def test_going_on_with_foreign_layouts_or_refusing(path: Path) -> None:
    """What the library would damage is refused; the rest reads well after appending, replacing and growing."""
    file, reactions = container(path), {row["file"]: row for row in table("odd/REACTIONS.tsv")}
    store = MemorySink(bytes(file.view))
    before = [as_json(file.noun(k)) for k in range(len(file))]
    safe = reactions.get(path.name, {"all_later_changes": "ok"})["all_later_changes"] == "ok"
    if not safe or path.name == "fj01_trap.ijf":
        with pytest.raises(BgfmtError):
            Changer.over(store, file)
        return
    writer = Changer.over(store, file)
    writer.append([jn.integers(np.arange(300))])
    writer.replace([len(before)], [jn.text("x" * 900)])
    for k in range(40):
        writer.append([jn.text("y" * k)])
    after = Container(memoryview(bytes(store.data)), "after")
    assert [as_json(after.noun(k)) for k in range(len(before))] == before
    assert len(after) == len(before) + 41
    assert problems(after) == []
    assert after.header.version is V64B


def test_refusals_of_the_writer() -> None:
    for version in (V32L, V64L, VERSIONS["v32b"]):
        with pytest.raises(CapabilityError, match="without components"):
            compact([], MemorySink(), version)
    store = MemorySink()
    Changer.create(store, V32L, E1)
    with pytest.raises(CapabilityError, match="without components"):
        Changer.over(store, Container(memoryview(bytes(store.data)), "x"))
    writer = Changer.create(MemorySink())
    writer.append([jn.text("a"), jn.text("b")])
    with pytest.raises(CapabilityError, match="twice"):
        writer.replace([1, 1], [jn.text("c")])
    with pytest.raises(CapabilityError, match=r"0\.\.1"):
        writer.replace([2], [jn.text("c")])


class Nothing:
    """A store that keeps only its size."""

    written = 0

    def write_at(self, offset: int, data: jn.Piece) -> None:
        assert offset + len(data) <= self.written

    def skip(self, size: int) -> None:
        self.written += size

    def flush(self) -> None:
        pass


def test_files_of_4_byte_positions_end_at_2_gib() -> None:
    rows = jn.Noun(JType.LITERAL, (1 << 30,), np.broadcast_to(np.uint8(32), (1 << 30,)))
    writer = Changer.create(Nothing(), V32L, E1)
    with pytest.raises(CapabilityError, match="2 GiB"):
        writer.append([rows])


# -- hostile bytes -------------------------------------------------------------------------------------------


def held(data: memoryview) -> MemorySink:
    """A sink that holds these bytes already."""
    sink = MemorySink()
    sink.write(data)
    return sink


def use(data: bytes) -> None:
    """Everything that is done with a file: open, describe, decode and write it again."""
    source = Source.from_bytes(data, "mutant.ijf")
    reading = JFile().read(source)
    JFile().info(reading)
    JFile().layout(reading.table)
    list(JFile().audit(source, *reading))
    kept = as_read(reading.table, Container)
    assert kept is not None
    for rows in reading.table.arrays().values():
        rows[0:9]
    compact([kept.noun(k) for k in range(len(kept))], MemorySink(), V64B, FORMS[0xE2])


@pytest.mark.slow
@pytest.mark.parametrize("path", [p for p in FILES if p.stat().st_size < 2700], ids=relative)
def test_every_truncation_is_refused(path: Path) -> None:
    data = path.read_bytes()
    end = len(data) if path.name != "longer.ijf" else len(data) - 100  # the length it should have
    for size in {*range(0, end, 1 if path.name == "small.ijf" else 11), *range(end - 20, end)}:
        with pytest.raises(FormatError):
            JFile().read(Source.from_bytes(data[:size], path.name))


def mutants(count: int, seed: int) -> Any:
    """Small golden files with random bytes or words changed, mostly where header, directory and heads are."""
    random = np.random.default_rng(seed)
    files = [path.read_bytes() for path in FILES if path.stat().st_size < 13_000]
    words = [
        -1,
        -(1 << 31),
        1 << 31,
        (1 << 31) - 1,
        1 << 62,
        -(1 << 63),
        (1 << 63) - 1,
        0,
        1,
        2,
        32,
        64,
        128,
        255,
    ]
    for _ in range(count):
        data = bytearray(files[random.integers(len(files))])
        file = data[:]
        focus = len(data) if random.random() < 0.4 else random.choice([64, 512, 1024, 2048])
        for _ in range(random.integers(1, 4)):
            at = int(random.integers(min(focus, len(data) - 8)))
            kind = random.integers(4)
            if kind == 0:
                data[at] = int(random.integers(256))
            elif kind == 1:
                data[at] ^= 1 << int(random.integers(8))
            else:
                at, size = at & ~3, int(random.choice([4, 8]))
                value = words[random.integers(len(words))] if kind == 2 else int(random.integers(len(file)))
                order: Any = ("little", "big")[random.integers(2)]
                data[at : at + size] = (value % (1 << 8 * size)).to_bytes(size, order)
        yield bytes(data[: len(file)])


@pytest.mark.slow
def test_mutants_give_a_result_or_one_clear_error() -> None:
    survived = 0
    for k, data in enumerate(mutants(FUZZ, seed=20)):
        start = time.process_time()
        try:
            use(data)
            survived += 1
        except BgfmtError as error:
            if "\n" in str(error):
                raise AssertionError(f"mutant {k}: a message of several lines") from error
        except Exception as error:
            raise AssertionError(f"mutant {k}: {type(error).__name__}: {error}") from error
        assert time.process_time() - start < 20, f"mutant {k} took long"
    assert 0 < survived < FUZZ


def test_many_entries_that_share_a_large_noun() -> None:
    """A directory of thousands of entries on one box noun is refused rather than walked thousands of times."""
    store = MemorySink()
    writer = Changer.create(store, room=20_000)
    writer.append([jn.boxes([jn.integers([1])] * 3000)])
    row = store.data[1024:1040]
    store.data[1024 : 1024 + 160_000] = row * 10_000
    header = jn.boxes([
        jn.integers(np.array(x)) if not isinstance(x, int) else jn.Noun(JType.INTEGER, (), np.array(x))
        for x in (V64B.number, 0, 10_000, writer.length, writer.directory, writer.list_at, 1)
    ])  # fmt: skip
    store.data[:408] = jn.encode(header, E3)
    start = time.process_time()
    with pytest.raises(CorruptError, match="share"):
        JFile().read(Source.from_bytes(bytes(store.data)))
    assert time.process_time() - start < 20


def test_messages() -> None:
    data = bytearray((JFILES / "bgns.ijf").read_bytes())
    with pytest.raises(TruncatedError, match="needs 512 bytes, found 100"):
        Container(memoryview(bytes(data[:100])), "x.ijf")
    data[0x80] = 0
    with pytest.raises(HeaderError, match=r"x\.ijf: v at byte 40: expected one of"):
        Container(memoryview(bytes(data)), "x.ijf")


# -- the real J ----------------------------------------------------------------------------------------------

READ = """
f =: <'{path}'
h =: 3!:2 (1!:11) f,<0 512
'c l' =: (>2{{h),>3{{h
'dp ds' =: >4{{h
'fp fs' =: >5{{h
ent =: (c,2) $ _3 (3!:4) , |."1 ((2*c),8) $ (1!:11) f,<dp,16*c
read =: 3 : '3!:2 (1!:11) f,<y{{ent'
free =: 3!:2 (1!:11) f,<fp,fs
"""
#: what jappend does to a file with room in its directory and nothing free, every byte made by J itself
APPEND = """
d =: 3!:1 {noun}
b =: <. 2 ^ >. 2 ^. #d
(d , (b - #d) # ' ') 1!:3 f
(, |."1 (2 8) $ 3 (3!:4) l , b) 1!:12 f,<dp+16*c
(3!:1 ((>0{{h);0;(c+1);(l+b);(dp,ds);(fp,fs);(1+>6{{h))) 1!:12 f,<0
"""


@pytest.mark.slow
def test_j_reads_our_file_and_changes_it_as_we_do(oracle: Callable[[str], str], tmp_path: Path) -> None:
    jconsole = oracle("jconsole")
    store = MemorySink()
    nouns = [jn.integers(np.arange(500).reshape(5, 100)), jn.floats([0.5, 2.5]), jn.boxes([jn.text("abc")])]
    compact(nouns, store)
    path = tmp_path / "ours.ijf"
    path.write_bytes(bytes(store.data))
    script = READ.format(path=path) + "answer =: c ; l ; (1!:4 f) ; free"
    said = [as_json(noun) for noun in run_j(jconsole, tmp_path, script).data]
    assert [said[0]["values"], said[1]["values"], said[2]["values"]] == [
        [3],
        [len(store.data)],
        [len(store.data)],
    ]
    assert said[3]["shape"] == [0, 2]
    answer = run_j(jconsole, tmp_path, READ.format(path=path) + "answer =: (read 0) ; (read 1) ; < read 2")
    assert [as_json(noun) for noun in answer.data] == [as_json(noun) for noun in nouns]

    script = READ.format(path=path) + APPEND.format(noun="(i.77);'grown'") + "answer =: 1"
    run_j(jconsole, tmp_path, script)
    writer = Changer.over(store, Container(memoryview(bytes(store.data)), "ours"))
    writer.append([jn.boxes([jn.integers(np.arange(77)), jn.text("grown")])])
    assert path.read_bytes() == bytes(store.data)
    assert problems(container(path)) == []
