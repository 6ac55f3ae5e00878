"""J's component file (.ijf): Peelle's table of expected rolls, whole one-sided tables, and any other components.

`layout` defines which nouns hold a table, in which order; `container` reads the container, `noun` the nouns, and
`audit` checks which bytes J's library writes. A file that holds neither table is opened as its components.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any, ClassVar

import numpy as np
from construct import Struct

from bgfmt.errors import CapabilityError, CorruptError, FormatError
from bgfmt.formats import base, records
from bgfmt.formats.j import audit, layout
from bgfmt.formats.j import noun as jn
from bgfmt.formats.j.container import V64B, VERSIONS, Container, Version, looks_like
from bgfmt.formats.j.layout import Components, JLayout
from bgfmt.formats.j.noun import E3, Form, Noun, form_of
from bgfmt.formats.j.write import compact
from bgfmt.formats.records import AsRead, as_read
from bgfmt.game.orders import Peelle
from bgfmt.storage import Source
from bgfmt.tables import MeanRolls, OneSided

COPY_BYTES = 8 << 20
MAX_DESCRIBED = 1000  # number of components that `info` describes
MAX_CHECKED_BYTES = 4 << 20  # in larger files nouns are not checked at opening
Kind = MeanRolls | OneSided | Components
TABLE_COMPONENTS = {MeanRolls.kind: 2, OneSided.kind: 5}  # number of components of a table
ARRAY_COMPONENTS = {"means": 1, "bearoff": 2, "gammon": 3}  # component of each array


class JFile(base.Format[Kind]):
    name = "jfile"
    title = "J component file"
    suffixes = (".ijf",)
    carries = (MeanRolls, OneSided, Components)
    records = (JLayout,)
    structures: ClassVar[Mapping[str, Struct]] = {"noun": E3.head, "entry": V64B.entry}
    options = (
        base.Option("kind", str, "mean-rolls: the article's two components; one-sided: the whole table"),
        base.Option("word", int, "bytes in a word of J's nouns: 8, or 4 as a 32-bit J has them"),
        base.Option("order", str, "byte order of J's nouns: little or big"),
        base.Option(
            "container", str, "directory: v64b, v64l, v32l or v32b (by default v64b, with word=4 v32l)"
        ),
        base.Option("gammon", bool, "write the gammon distributions"),
    )

    def recognise(self, head: base.Head) -> bool:
        return looks_like(head.bytes)

    # -- reading ----------------------------------------------------------------------------------------

    def read(self, source: Source, offset: int = 0, **described: Any) -> base.Reading[Kind]:
        if offset:
            raise FormatError(f"{source.name}: a J component file must begin at byte 0, not {offset}")
        file = Container(source.buffer[:], source.name)
        if source.size <= MAX_CHECKED_BYTES:
            _check_nouns(file)
        own = file.form(0) if len(file) else file.header.form
        more: dict[str, Any] = {"provenance": source.name, "release": source.release}
        more["carried"] = (JLayout(file.header.version.name, own.word, own.order),)
        size = layout.size_of(file)
        table: Kind
        if size is None:
            table = Components(points=0, chequers=0, nouns=file, **more)
        else:
            layout.sample_codes(file, size)
            words = layout.read_description(file)
            if words is None:
                table = layout.read_mean_rolls(file, size, **more)
            else:
                table = layout.read_one_sided(file, size, words, **more)
        behind = AsRead(records.contents(table), file)
        return base.Reading(replace(table, carried=(*table.carried, behind)), base.Extent(0, file.end))

    def info(self, reading: base.Reading[Kind]) -> dict[str, Any]:
        file = as_read(reading.table, Container)
        table = reading.table
        if file is None:
            return {}
        head = file.header
        count = min(len(file), MAX_DESCRIBED)
        forms = sorted({file.form(k).name for k in range(count)})
        faults = audit.check_structure(file, len(file.view))
        notes = [str(fault) for fault in faults if not fault.carried] + self.extra_contents(reading)
        if len(file) > MAX_DESCRIBED:
            notes.append(f"only the first {MAX_DESCRIBED:,} of {len(file):,} components are described")
        contents = {
            MeanRolls.kind: "ncodes and ns, as in Peelle's article",
            OneSided.kind: "a whole one-sided table",
        }
        return {
            "contents": contents.get(table.kind, "no table bgfmt knows"),
            "container": head.version.name,
            "nouns": ", ".join(forms) or head.form.name,
            "calls": head.calls,
            "free_bytes": sum(size for _, size in file.free_list[0]),
            "components": [file.describe(k) for k in range(count)],
            "notes": notes,
        }

    def extra_contents(self, reading: base.Reading[Kind]) -> list[str]:
        file = as_read(reading.table, Container)
        more = 0 if file is None else len(file) - TABLE_COMPONENTS.get(reading.table.kind, len(file))
        if more <= 0:
            return []
        return [f"{more} more component{'s' * (more > 1)} follow{'s' * (more == 1)} the table's own"]

    # -- writing ----------------------------------------------------------------------------------------

    def refusal(self, table: Kind, options: base.Options) -> str | None:
        if table.arrays() and not layout.fits_64_bits(table.points, table.chequers):
            return (
                f"the ncodes of {table.points} points and {table.chequers} chequers exceed J's 64-bit integers; "
                "npz holds this table"
            )
        if options.get("kind") not in (None, table.kind):
            return f"a {table.kind} table cannot be written as {options['kind']}; convert it first"
        if options.get("gammon") and "gammon" not in table.arrays():
            return base.NO_GAMMONS
        rows = table.arrays().get("bearoff")
        if rows is not None and not table.exact and rows.shape[1] != base.ROLLS:
            return f"jfile holds 32 rolls a position, not {rows.shape[1]}; npz holds these"
        _choose_layout(options, table.record(JLayout))
        return None

    def losses(self, table: Kind, options: base.Options) -> list[str]:
        return [base.GAMMONS_DROPPED] if _drops_gammons(table, options) else []

    def is_default_for(self, table: Kind) -> bool:
        return table.kind != OneSided.kind

    def emit(self, table: Kind, sink: base.Outlet, options: base.Options) -> None:
        file, nouns, version, form = _plan(table, options)
        if file is None:
            compact(nouns, sink, version, form, table.release)
            return
        for start in range(0, file.end, COPY_BYTES):
            sink.write(file.view[start : min(start + COPY_BYTES, file.end)])
            if table.release is not None:
                table.release()

    # -- every byte -------------------------------------------------------------------------------------

    def layout(self, table: Kind, **options: Any) -> base.Layout:
        """Return where the numbers of a table lie in the file.

        All bytes between them belong to the structure of the component file.
        """
        file, nouns, version, form = _plan(table, options)
        if file is not None:
            entries = file.entries.tolist()
            end = file.end
            forms = [file.form(k) for k in range(len(file))]
        else:
            writer = compact(nouns, None, version, form)
            entries = writer.entries
            end = writer.length
            forms = [form] * len(nouns)
        spans: dict[str, base.Region] = {}
        for name in table.arrays():
            if name == "gammon" and _drops_gammons(table, options):
                continue
            k = ARRAY_COMPONENTS[name]
            start = entries[k][0] + forms[k].head_bytes(len(nouns[k].shape))
            spans[name] = base.Region(
                name, start, nouns[k].count * forms[k].size(nouns[k].type), numbers=True
            )
        regions: list[base.Region] = []
        at = 0
        for span in sorted(spans.values(), key=lambda region: region.offset):
            regions += [base.Region("container", at, span.offset - at), span]
            at = span.offset + span.size
        regions.append(base.Region("container", at, end - at))

        def place(entry: int, column: str, item: int) -> int:
            name = column or next(iter(spans))
            k = ARRAY_COMPONENTS[name]
            row = int(Peelle(table.points, table.chequers).rows(np.array([entry]))[0])
            atoms = row * prod(nouns[k].shape[1:]) + item
            return spans[name].offset + forms[k].size(nouns[k].type) * atoms

        return base.Layout(b"", tuple(regions), place)

    def audit(self, source: Source, table: Kind, extent: base.Extent) -> Iterator[base.Fault]:
        file = as_read(table, Container)
        if file is None:
            file = Container(source.buffer[:], source.name)
        yield from audit.check_container(file, extent.size, source.release)
        if "bearoff" in table.arrays():  # a whole table: some components follow from its numbers
            yield from audit.check_derived(file, layout.nouns_of(table))
            for fact in records.unknown(table):
                at, size = map(int, file.entries[4])
                yield base.Fault(at, size, "description", "what a program writes", fact)
        for k in range(TABLE_COMPONENTS.get(table.kind, len(file)), len(file)):
            at, size = map(int, file.entries[k])
            noun = file.noun(k)
            if len(noun.shape) == 2 and noun.shape[0] == file.noun(0).count:
                expected = "a description of such rows in component 4"
                yield base.Fault(at, size, "component of rows", expected, f"component {k}, {noun}", False)
            else:
                yield base.Fault(
                    at, size, "further component", "a table's own components", f"one more, {k}", True
                )


def _drops_gammons(table: Kind, options: base.Options) -> bool:
    """Return True if the options drop gammon distributions that the table has."""
    return "gammon" in table.arrays() and options.get("gammon") is False


def _plan(table: Kind, options: base.Options) -> tuple[Container | None, Sequence[Noun], Version, Form]:
    """Return what is written: the file that a table was read from if its bytes stay, else None; nouns and layout."""
    version, form = _choose_layout(options, table.record(JLayout))
    if _drops_gammons(table, options):
        without: dict[str, Any] = {"gammon": None, "gammon_policy": ""}
        return None, layout.nouns_of(replace(table, **without)), version, form
    file = as_read(table, Container)
    if file is None:
        return None, layout.nouns_of(table), version, form
    same = file.header.version == version and all(file.form(k) == form for k in range(len(file)))
    if same or all(options.get(name) is None for name in ("word", "order", "container")):
        return file, file, version, form
    return None, file, version, form


def _check_nouns(file: Container) -> None:
    """Check all nouns; together they may not expand to much more than the file."""
    left = jn.unfold_limit(len(file.view))
    for k in range(len(file)):
        left -= file.noun(k).total
        if left < 0:
            what = "components of the file's own size"
            raise CorruptError(file.name, int(file.entries[k, 0]), what, "many that share their bytes")


def _choose_layout(options: Mapping[str, Any], own: JLayout | None) -> tuple[Version, Form]:
    """Return directory version and form of nouns to write: by options, else as in the table's file, else 64-bit."""
    container, order, word = (options.get(name) for name in ("container", "order", "word"))
    sets = (("container", container, VERSIONS), ("order", order, ("little", "big")), ("word", word, (4, 8)))
    for name, value, values in sets:
        if value is not None and value not in values:
            raise CapabilityError(f"{name} must be {' or '.join(map(str, values))}, not {value}")
    if own is None:
        own = JLayout("", 8, "<")
    if container is None and word is None and order is None and own.container in VERSIONS:
        return VERSIONS[own.container], form_of(own.word, own.order)
    if word is None:
        word = own.word if container is None else VERSIONS[container].word
    form = form_of(word, {"little": "<", "big": ">", None: own.order}[order])
    if container is None:
        container = "v64b" if word == 8 else {"<": "v32l", ">": "v32b"}[form.order]
    return VERSIONS[container], form
