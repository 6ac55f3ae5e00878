"""J's component file (.ijf): Peelle's table of expected rolls, whole one-sided tables, and any other components.

Which nouns hold a table, and in which order, is told in `_jlayout`; the container in `_jcontainer`, the nouns in
`_jnoun`. A file that holds neither table is opened as its components.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from bgfmt.errors import CapabilityError, CorruptError, FormatError
from bgfmt.formats.base import Extent, Format, Head, Option
from bgfmt.formats.j import layout
from bgfmt.formats.j import noun as jn
from bgfmt.formats.j.container import VERSIONS, Container, Version, looks_like
from bgfmt.formats.j.noun import Form, Noun
from bgfmt.formats.j.order import holds
from bgfmt.formats.j.text import as_json, describe
from bgfmt.formats.j.write import compact
from bgfmt.storage import Sink, Source
from bgfmt.tables import Components, MeanRolls, OneSided, Table

STEP = 8 << 20
LISTED = 1000  # components that `info` describes
CHECKED = 4 << 20  # bytes of a file up to which every noun is walked when it is opened


class JComponents(Sequence[Noun]):
    """The nouns of a component file, decoded when asked for."""

    def __init__(self, file: Container) -> None:
        self.file = file

    def __len__(self) -> int:
        return len(self.file)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        return self.file.noun(range(len(self))[k], whole=True)

    def describe(self, k: int) -> str:
        """One line on component k."""
        return describe(self.file.noun(k))

    def as_json(self, k: int) -> dict[str, Any]:
        """All of component k as plain values."""
        return as_json(self[k])


class JFile(Format):
    name = "jfile"
    title = "J component file"
    suffixes = (".ijf",)
    carries = (MeanRolls, OneSided, Components)
    options = (
        Option("kind", str, "mean-rolls: the article's two components; one-sided: the whole table"),
        Option("word", int, "bytes in a word of J's nouns: 8, or 4 as a 32-bit J has them"),
        Option("order", str, "byte order of J's nouns: little or big"),
        Option("container", str, "directory: v64b, v64l, v32l or v32b (by default v64b, with word=4 v32l)"),
        Option("gammon", bool, "write the gammon distributions"),
    )

    def recognise(self, head: Head) -> bool:
        return looks_like(head.bytes[:16])

    # -- reading ----------------------------------------------------------------------------------------

    def read(self, source: Source, offset: int = 0, **described: Any) -> Table:
        if offset:
            raise FormatError(f"{source.name}: a J component file begins at byte 0, not {offset}")
        file = Container(source.buffer[:], source.name)
        if source.size <= CHECKED:
            _check(file)
        common: dict[str, Any] = {"provenance": source.name, "release": source.release}
        own = file.form(0) if len(file) else file.header.form
        extra: dict[str, Any] = {
            "format": self.name,
            "extent": Extent(0, file.end),
            "jlayout": {"container": file.header.version.name, "word": own.word, "order": own.order},
        }
        size = layout.size_of(file)
        said = None if size is None else layout.description(file)
        table: Table
        if size is None:
            table = Components(points=0, chequers=0, nouns=JComponents(file), extra=extra, **common)
        elif said is None:
            table = layout.mean_rolls(file, size, extra=extra, **common)
        else:
            table = layout.one_sided(file, size, said, extra=extra, **common)
        # the file goes along with the very arrays it was read into: changed ones no longer stand for it
        table.extra["jfile"] = (file, _contents(table))  # type: ignore[index]
        return table

    def info(self, table: Table) -> dict[str, Any]:
        file = _kept(table)
        if file is None:
            return {}
        head = file.header
        count = min(len(file), LISTED)
        forms = sorted({file.form(k).name for k in range(count)})
        notes = file.problems()
        if len(file) > LISTED:
            notes.append(f"only the first {LISTED:,} of {len(file):,} components are described")
        try:
            free = sum(size for _, size in file.free_rows)
        except FormatError:
            free = 0
        more = len(file) - {MeanRolls: 2, OneSided: 5}.get(type(table), len(file))
        if more:
            notes.append(f"{more} more component{'s' * (more > 1)} follow{'s' * (more == 1)} the table's own")
        contents = {MeanRolls: "ncodes and ns, as in Peelle's article", OneSided: "a whole one-sided table"}
        details: dict[str, Any] = {
            "contents": contents.get(type(table), "no table bgfmt knows"),
            "container": head.version.name,
            "nouns": ", ".join(forms) or head.form.name,
            "calls": head.calls,
            "free_bytes": free,
            "components": [describe(file.noun(k)) for k in range(count)],
        }
        if isinstance(table, OneSided):
            details["gammon"] = table.gammon is not None
        return details | {"gnubg_name": None, "gnubg_reads": False, "notes": notes}

    # -- writing ----------------------------------------------------------------------------------------

    def accept(self, table: Table) -> None:
        super().accept(table)
        if not isinstance(table, Components) and not holds(table.points, table.chequers):
            raise CapabilityError(
                f"the ncodes of {table.points} points and {table.chequers} chequers exceed J's 64-bit integers; "
                "npz holds this table"
            )

    def losses(self, table: Table, options: Mapping[str, Any]) -> list[str]:
        if isinstance(table, OneSided) and table.gammon is not None and options.get("gammon") is False:
            return ["the gammon distributions are dropped"]
        return []

    def write(self, table: Table, sink: Sink, **options: Any) -> None:
        self.check_options(options)
        self.accept(table)
        if options.get("kind") not in (None, table.kind):
            raise CapabilityError(
                f"a {table.kind} table cannot be written as {options['kind']}; convert it first"
            )
        file = _kept(table)
        dropped = isinstance(table, OneSided) and table.gammon is not None and options.get("gammon") is False
        if options.get("gammon") and not (isinstance(table, OneSided) and table.gammon is not None):
            raise CapabilityError("the table has no gammon distributions; solve it anew to get them")
        version, form = _layout(options, table.extra.get("jlayout") or {})
        if file is not None and not dropped:
            asked = any(options.get(name) is not None for name in ("word", "order", "container"))
            if not asked or _is_so(file, version, form):
                _copy(table, file, sink)
            else:
                compact(JComponents(file), sink, version, form, table.release)
            return
        if isinstance(table, Components):
            compact(cast(Any, table.nouns), sink, version, form, table.release)
            return
        assert isinstance(table, (MeanRolls, OneSided))
        if isinstance(table, OneSided) and dropped:
            table = OneSided(
                points=table.points, chequers=table.chequers, bearoff=table.bearoff,
                extra={k: v for k, v in table.extra.items() if k != "gammon_policy"}, release=table.release,
            )  # fmt: skip
        compact(layout.nouns_of(table), sink, version, form, table.release)


def _contents(table: Table) -> tuple[Any, ...]:
    return (table.nouns,) if isinstance(table, Components) else tuple(table.arrays().values())


def _kept(table: Table) -> Container | None:
    """The component file a table was read from, if the table still holds what was read."""
    kept = table.extra.get("jfile")
    if kept is None:
        return None
    file, contents = kept
    now = _contents(table)
    same = len(now) == len(contents) and all(a is b for a, b in zip(now, contents, strict=True))
    return file if same and isinstance(file, Container) else None


def _check(file: Container) -> None:
    """Walk all nouns; together they may not unfold to much more than the file."""
    left = 4 * len(file.view) + (1 << 20)
    for k in range(len(file)):
        left = jn.walk(file.noun(k), left, file.name)
        if left < 0:
            at = int(file.entries[k, 0])
            raise CorruptError(
                file.name, at, "components of the file's own size", "many that share their bytes"
            )


def _layout(options: Mapping[str, Any], own: Mapping[str, Any]) -> tuple[Version, Form]:
    """Directory and form of nouns to write: as asked, else as the table's file has them, else a 64-bit J's."""
    container, order, word = options.get("container"), options.get("order"), options.get("word")
    if container not in (None, *VERSIONS):
        raise CapabilityError(f"container is one of {', '.join(VERSIONS)}, not {container}")
    if order not in (None, "little", "big"):
        raise CapabilityError(f"order is little or big, not {order}")
    if word not in (None, 4, 8):
        raise CapabilityError(f"word is 4 or 8, not {word}")
    if container is None and word is None and order is None and own.get("container") in VERSIONS:
        container, word = own["container"], own["word"]
    if word is None:
        word = own.get("word", 8) if container is None else VERSIONS[container].word
    form = jn.form_of(word, {"little": "<", "big": ">"}[order] if order else own.get("order", "<"))
    if container is None:
        container = "v64b" if word == 8 else {"<": "v32l", ">": "v32b"}[form.order]
    return VERSIONS[container], form


def _is_so(file: Container, version: Version, form: Form) -> bool:
    """Whether a file already has this directory and these nouns throughout."""
    return file.header.version == version and all(file.form(k) == form for k in range(len(file)))


def _copy(table: Table, file: Container, sink: Sink) -> None:
    """The file's own bytes, some megabytes at a time."""
    for start in range(0, file.end, STEP):
        sink.write(file.view[start : min(start + STEP, file.end)])
        if table.release is not None:
            table.release()
