"""What every format must do, built in or a guest's: the files are made from the registry, see `samples`."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bgfmt import formats
from bgfmt.errors import BgfmtError, CapabilityError, FormatError, TruncatedError
from bgfmt.formats import Format, Layout, Region, placeholder_rows
from bgfmt.formats.j.noun import as_json
from bgfmt.formats.records import Record, facts_of
from bgfmt.storage import MemorySink, RangeSource, Source, create
from bgfmt.tables import Table, same_numbers

from .samples import Sample, from_checkout, samples

FORMATS = formats.all_formats()
SAMPLES = samples()
every = pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES.keys())
TRIES = 80
FEW = 24  # changes of a file whose every change takes reading or writing all of it


def numbers_equal(a: Table, b: Table) -> bool:
    if a.arrays():
        return same_numbers(a, b)
    one, two = (getattr(t, "nouns") for t in (a, b))  # noqa: B009
    return len(one) == len(two) and all(as_json(one[k]) == as_json(two[k]) for k in range(len(one)))


def bits(table: Table) -> list[bytes]:
    """The bytes of a table's numbers."""
    return [np.asarray(rows).tobytes() for rows in table.arrays().values()]


def written(sample: Sample, table: Table) -> bytes:
    """A table as the sample's format writes it, in the layout it was read with."""
    store = MemorySink()
    sample.format.write(table, store)  # type: ignore[arg-type]
    return bytes(store.data)


def kept(sample: Sample) -> Table:
    """The table without the columns that the sample's format or options leave out."""
    table: Any = sample.table
    found: Any = sample.read().table
    if set(found.arrays()) < set(table.arrays()):
        assert sample.format.losses(table, sample.options)
        return replace(table, gammon=None, gammon_policy="")
    if table.kind == "two-sided" and table.cubeful and not found.cubeful:
        assert sample.format.losses(table, sample.options)
        return table.cubeless()  # type: ignore[no-any-return]
    return sample.table


@from_checkout
def test_every_format_has_a_sample() -> None:
    several = {name for name, f in FORMATS.items() if f.historic or f.folder or not f.reads}
    assert {s.format.name for s in SAMPLES.values()} | several == set(FORMATS)


@pytest.mark.slow
@every
def test_what_is_written_is_read_again(sample: Sample) -> None:
    table, extent = sample.read()
    assert numbers_equal(table, kept(sample))
    assert (extent.offset, extent.size) == (0, len(sample.data))
    assert written(sample, table) == sample.data


@pytest.mark.slow
@every
def test_a_source_of_ranges_gives_the_same(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    """A table whose bytes are asked for is the same, and opening a file of plain rows asks for its header alone."""
    asked: list[int] = []

    def fetch(offset: int, size: int) -> bytes:
        asked.append(size)
        return sample.data[offset : offset + size]

    monkeypatch.setattr("bgfmt.storage.source.RangeSource.max_eager_bytes", 64)
    source = RangeSource("ranges", len(sample.data), fetch)
    table, extent = sample.format.read(source, **sample.described)
    layout = layout_of(sample, sample.read().table)
    if all(r.numbers or r.offset < len(layout.header) for r in layout.regions):
        assert sum(asked) <= 2 * len(layout.header) + 200
    assert extent.size == len(sample.data)
    assert numbers_equal(table, sample.read().table)
    assert [f for f in sample.format.audit(source, table, extent) if not f.carried] == []


@pytest.mark.slow
@every
def test_its_own_bytes_have_no_fault(sample: Sample) -> None:
    table, extent = sample.read()
    faults = list(sample.format.audit(sample.source(), table, extent))
    assert [str(fault) for fault in faults if not fault.carried] == []
    if table.kind != "components":
        assert faults == []


@every
def test_one_format_recognises_it(sample: Sample) -> None:
    claims = [f.name for f in FORMATS.values() if f.recognise(formats.head_of(sample.source()))]
    assert claims == ([sample.format.name] if not sample.described else [])
    if claims:
        assert formats.recognise(sample.source()).name == sample.format.name


def test_every_format_of_our_own_has_a_signature() -> None:
    """`bgfmt.signatures` rules it out without importing it, and the descriptions for other programs start from it."""
    own = {name for name, form in FORMATS.items() if type(form).__module__.startswith("bgfmt.")}
    assert own - set(formats.signatures()) == set()


@every
def test_a_sign_refuses_no_file_that_its_format_takes(sample: Sample) -> None:
    rng = np.random.default_rng(5)
    for _ in range(TRIES):
        data = bytearray(sample.data[:512])
        for at in rng.integers(0, min(len(data), 48), rng.integers(0, 3)):
            data[at] = rng.integers(256)
        head = formats.Head("mutated", len(sample.data), bytes(data), 0)
        for name, sign in formats.signatures().items():
            if FORMATS[name].recognise(head):
                assert re.match(sign.pattern, head.bytes, re.DOTALL), (name, head.bytes[:48])


def test_the_suffixes_by_which_formats_are_asked_are_their_own() -> None:
    own = {name: form.suffixes for name, form in FORMATS.items()}
    listed = {name: sign.suffixes for name, sign in formats.signatures().items()}
    assert {name: own[name] for name in listed} == listed
    for suffix in {suffix for suffixes in own.values() for suffix in suffixes}:
        named = [form.name for form in formats.all_by_suffix(f"x{suffix.upper()}")]
        assert named == [name for name, suffixes in own.items() if suffix in suffixes]


@pytest.mark.slow
@every
def test_every_truncation_is_refused(sample: Sample) -> None:
    size = len(sample.data)
    rng = np.random.default_rng(2)
    for cut in {*range(min(size, 60)), size - 1, size - 2, *rng.integers(0, size, 60).tolist()}:
        with pytest.raises(TruncatedError) as caught:
            walked(sample, sample.data[:cut])
        assert "\n" not in str(caught.value)


def layout_of(sample: Sample, table: Table) -> Layout:
    """The layout of a file; one region without numbers where the format does not tell it."""
    try:
        return sample.format.layout(table)
    except CapabilityError:
        return Layout(b"", (Region("file", 0, len(sample.data)),), lambda entry, column, item: 0)


def walked(sample: Sample, data: bytes) -> Table:
    """Read all of a file: every array, every noun."""
    table = sample.read(data).table
    for _ in table.blocks():
        pass
    for noun in getattr(table, "nouns", ()):
        repr(noun)
    return table


@pytest.mark.slow
@every
def test_a_changed_byte_outside_the_numbers_does_not_pass(sample: Sample) -> None:
    """It is an error, a fault of the audit, or another honest file: it says something else, and is written so."""
    table, _ = sample.read()
    layout = layout_of(sample, table)
    rng = np.random.default_rng(3)
    places = [r.offset + k for r in layout.regions if not r.numbers for k in range(r.size)]
    if not sample.options.get("compressed", True) or len(places) > TRIES:
        places = rng.permutation(places)[:FEW].tolist()
    if not any(r.numbers for r in layout.regions):  # every try writes the whole file again
        places = rng.permutation(places)[: min(FEW, max(4, 2_000_000 // len(sample.data)))].tolist()
    tries = places if len(sample.data) < 100_000 else places[:25]
    for at in tries:
        changed = bytearray(sample.data)
        changed[at] ^= 1 << int(rng.integers(8))
        try:
            other, extent = sample.read(bytes(changed))
            faults = list(sample.format.audit(sample.source(bytes(changed)), other, extent))
        except FormatError as error:
            assert "\n" not in str(error)
            continue
        if faults or extent.size != len(sample.data):
            continue
        says = (type(other), other.points, other.chequers, facts_of(other))
        said = (type(table), table.points, table.chequers, facts_of(table))
        same = says == said and numbers_equal(other, table)
        if same and bits(other) != bits(table):  # a zero of another sign
            same = False
        assert not same, f"byte {at} changed unseen ({layout.region_at(at)})"
        assert written(sample, other) == changed


@pytest.mark.slow
@every
def test_a_changed_number_is_copied_as_it_stands(sample: Sample) -> None:
    table, _ = sample.read()
    layout = layout_of(sample, table)
    numbers = [r for r in layout.regions if r.numbers and r.size]
    rng = np.random.default_rng(4)
    for region in numbers * 3:
        changed = bytearray(sample.data)
        at = region.offset + int(rng.integers(region.size))
        changed[at] ^= 1 << int(rng.integers(8))
        try:
            other = walked(sample, bytes(changed))
        except FormatError:
            continue
        assert not numbers_equal(other, table)
        again = written(sample, other)  # what is not a number may be a sum of the numbers
        assert all(
            again[r.offset : r.offset + r.size] == changed[r.offset : r.offset + r.size] for r in numbers
        )


@pytest.mark.slow
@every
def test_the_layout_tells_size_and_places(sample: Sample) -> None:
    table, _ = sample.read()
    layout = layout_of(sample, table)
    assert layout.size == len(sample.data)
    assert sample.data.startswith(layout.header)
    at = 0
    for region in layout.regions:
        assert region.offset == at
        at += region.size
    rng = np.random.default_rng(5)
    if not any(region.numbers for region in layout.regions):
        return
    for name, rows in table.arrays().items():
        stored = np.asarray(rows)
        for _ in range(5):
            place = tuple(int(rng.integers(axis)) for axis in stored.shape)
            entry = int(np.ravel_multi_index(place[: table.sides], stored.shape[: table.sides]))
            item = int(np.ravel_multi_index((0, *place[table.sides :]), (1, *stored.shape[table.sides :])))
            if stored[place] == 0:
                continue  # a compressed row leaves out leading and trailing zeros
            changed = bytearray(sample.data)
            try:
                changed[layout.offset_of(entry, name, item)] ^= 1
            except CapabilityError:  # a number that every such table has, and no file
                continue
            try:
                again = np.asarray(sample.read(bytes(changed)).table.arrays()[name])
            except FormatError:
                continue
            differs = np.argwhere(again != stored)
            rolls = sample.format.name == "bgsage" and name == "gammon"  # survival: two chances change
            assert place in [tuple(row) for row in differs.tolist()] or rolls
            assert len(differs) <= 2


@pytest.mark.slow
@every
def test_every_byte_written_is_summed_for_the_check_before_it_has_its_name(
    sample: Sample, tmp_path: Path
) -> None:
    table, _ = sample.read()
    with create(tmp_path / "out") as sink:
        sample.format.write(table, sink)
        sink.flush()
        assert sum(end - start for start, end, _ in sink.sums.intact_pieces()) == sink.written


@pytest.mark.slow
@every
def test_progress_counts_the_bytes(sample: Sample) -> None:
    seen: list[tuple[int, int]] = []
    sample.format.write(
        sample.table,
        MemorySink(),
        progress=lambda *p: seen.append(p),
        **sample.options,  # type: ignore[arg-type]
    )
    done = [d for d, _ in seen]
    assert done == sorted(done)
    assert seen[-1][0] == seen[-1][1] >= len(sample.data) * 0.5
    assert all(0 <= d <= t for d, t in seen)


@every
def test_a_body_filled_backwards_is_the_same_file(sample: Sample) -> None:
    table = kept(sample)
    arrays = {name: placeholder_rows(tuple(r.shape), r.dtype) for name, r in table.arrays().items()}
    if not arrays:
        return
    facts: Any = replace(table, **arrays)  # type: ignore[arg-type]
    store = MemorySink()
    try:
        with sample.format.body(store, facts, **sample.options) as room:  # type: ignore[arg-type]
            assert set(room) == set(arrays)
            for name, rows in room.items():
                wanted = np.asarray(table.arrays()[name])
                for k in reversed(range(len(wanted))):
                    rows[k] = wanted[k]
        store.flush()
    except CapabilityError:
        return
    assert bytes(store.data) == sample.data


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS.keys())
def test_options_are_checked(form: Format) -> None:
    table = next((s.table for s in SAMPLES.values() if s.format is form), None)
    if table is None:
        return
    wrong: list[dict[str, Any]] = [{"no-such-option": True}]
    wrong += [{o.name: object()} for o in form.options]
    for options in wrong:
        store = MemorySink()
        with pytest.raises(CapabilityError):
            form.write(table, store, **options)  # type: ignore[arg-type]
        assert store.written == 0


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS.keys())
def test_any_bytes_give_a_table_or_an_error_of_ours(form: Format) -> None:
    rng = np.random.default_rng(6)
    starts = [s.data[:40] for s in SAMPLES.values() if s.format is form][:3] or [b""]
    for k in range(150):
        data = starts[k % len(starts)][: int(rng.integers(41))] + rng.bytes(int(rng.integers(700)))
        source = Source.from_bytes(data, "noise")
        for act in (form.read, form.guess, form.tables_of_size):
            try:
                act(source)
            except BgfmtError as error:
                assert "\n" not in str(error)


@pytest.mark.parametrize("form", FORMATS.values(), ids=FORMATS.keys())
def test_it_is_documented(form: Format) -> None:
    module = __import__(type(form).__module__, fromlist=["x"])
    assert module.__doc__
    assert form.title
    pages = Path(__file__).parents[2] / "docs" / "formats"
    if type(form).__module__.startswith("bgfmt.") and pages.is_dir():
        page = pages / f"{form.name}.md"
        assert page.is_file()
        text = page.read_text()
        assert all(option.name in text for option in form.options)


@every
def test_records_survive_as_facts(sample: Sample) -> None:
    table = sample.read().table
    for record in table.carried:
        if isinstance(record, Record):
            assert type(record).from_facts(record.facts()) == record
            assert type(record).from_facts({k: _text(v) for k, v in record.facts().items()}) == record
            assert record.inconsistency(table) is None


def _text(fact: object) -> str:
    return str(int(fact) if isinstance(fact, bool) else fact)
