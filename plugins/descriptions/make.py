"""Write files for file(1), shared-mime-info and parts of those for Kaitai Struct: `python make.py [FOLDER]`.

What a file must begin with is asked of the registry: beginning with an example, each byte is given every value, and
those are kept with which the format still recognises the file. What stands in a description for Kaitai Struct between
``made: WHAT FORMAT.NAME`` and ``made: end`` follows from a structure that the format declares: as `seq`, the
attributes of its fields, ``if CONDITION: FIELDS`` some of them with a condition; as `words`, the same for J, whose
words have 4 or 8 bytes; as `instances`, the same with their offsets; as `rows`, the types of the rows of its arrays
of arrays; as `size`, an instance with its size.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape, quoteattr

from construct import Array, BytesInteger, Construct, FormatField, Struct

from bgfmt import formats
from bgfmt.formats import Format, Head
from bgfmt.formats.gnubg import HeaderFacts
from bgfmt.formats.structures import constant, core_of, count_text, dtype_of, offset_texts

HERE = Path(__file__).parent
#: containers of others, which programs know already, and formats without a sign of their own
LEFT_OUT = {"csv", "npz", "parquet", "sqlite", "zarr"}
#: endings that tell nothing, as several formats, or other programs, have them
COMMON = {".bd", ".db"}
EVERY = set(range(256))
WON = b"\xff\xff" + bytes(62)  # a side without chequers needs no roll


def noun(form: int, *words: int) -> bytes:
    """The first words of a J noun; `form` & 1 is set for the least significant byte first, & 2 for 8 bytes a word."""
    return b"".join(
        (word % (1 << 64)).to_bytes(8, "big")[-8 if form & 2 else -4 :][:: -1 if form & 1 else 1]
        for word in words
    )


ENTRY: Struct = formats.get("gnubg-os").structures["entry"]


def index(entry: Struct, second: int) -> bytes:
    """The first entry of an index, and where the values of the second begin."""
    first = {"start": 0, "count": 1, "first": 0, "gammon_count": 1, "gammon_first": 0}
    return bytes(entry.build(first) + entry.start.build(second))


#: how files begin
EXAMPLES: dict[str, list[bytes]] = {
    **{name: [formats.get(name).magic] for name in ("bgfmt-match", "bgfmt-ts", "bgsage")},
    "bkg-binary": [formats.get("bkg-binary").structures["header"].build({"domain": b"u"})],
    "bkg-text": [b"bkg-bearoff 1 points=6 men=8 pips=25"],
    "gnubg-2001": [WON],
    "gnubg-hyper": [HeaderFacts("H", 25, 1).canonical],
    "gnubg-nd": [HeaderFacts("ND", 6, 15).canonical],
    "gnubg-os": [HeaderFacts("OS", 6, 15, True, True).canonical],
    "gnubg-ts": [HeaderFacts("TS", 6, 6, cubeful=True).canonical],
    "jfile": [bytes([0xE0 | form]) + noun(form, 0, 32, 7, 1)[1:] for form in range(4)]
    + [noun(form, 32, -1, 7, 1) for form in range(4)],
    "points-text": [b"bearoff-2s 1 points=3"],
}
#: how files without header begin; `sized`: whether they can have none but the sizes of their format's tables
HEADERLESS = [
    ("gnubg-os", WON, True),
    ("gnubg-os", index(ENTRY, 2), False),  # two entries of an index with gammons
    ("gnubg-os", index(Struct(*ENTRY.subcons[:3]), 1), False),  # one without gammons
    ("gnubg-nd", bytes(16) + b"\0\0\x80\x3f" + bytes(12), True),
    ("gnubg-ts", b"\xff" * 16, True),
]


class Sign(NamedTuple):
    """The values that each of the first bytes may have, without those behind that may have any; sizes, if not all."""

    values: list[set[int]]
    example: bytes
    sizes: tuple[int, ...] = ()

    def runs(self) -> Iterator[tuple[int, bytes]]:
        """(offset, bytes) of the stretches that are always the same."""
        run, start = b"", 0
        for at, values in enumerate([*self.values, set[int]()]):
            if len(values) == 1:
                start, run = (at, bytes(values)) if not run else (start, run + bytes(values))
            elif run:
                yield start, run
                run = b""

    def choices(self) -> Iterator[tuple[int, set[int]]]:
        """(offset, values) of the bytes that may have some values."""
        return ((at, values) for at, values in enumerate(self.values) if 1 < len(values) < 256)


def stretch(values: set[int]) -> bool:
    """Whether they follow one another."""
    return bool(values) and max(values) - min(values) == len(values) - 1


def sign(form: Format[Any], example: bytes) -> Sign:
    """What the format asks of the files that begin like this."""
    size = 5180448 if form.name == "gnubg-2001" else 1 << 20

    def known(first: bytes, size: int = size) -> bool:
        return form.recognise(Head("", size, first.ljust(512, b"\0")))

    if not known(example):
        raise ValueError(f"{form.name} does not recognise {example!r}")
    each = []
    for at, own in enumerate(example):
        values = {value for value in range(256) if known(example[:at] + bytes([value]) + example[at + 1 :])}
        # apart from each other, they are those of several forms, of which each has an example
        each.append(values if stretch(values) or stretch(EVERY - values) else {own})
    while len(each[-1]) == 256:
        each.pop()
    return Sign(each, example, () if known(example, size + 1) else (size,))


def signs(name: str) -> list[Sign]:
    """How a format's files are known."""
    form = formats.get(name)
    found = [sign(form, example) for example in EXAMPLES[name]]
    for other, first, sized in HEADERLESS:
        if other == name:
            # the sizes of the tables that the format looks for in a damaged file
            sizes = {facts.size for facts in form.canonical_headers() if facts.size} if sized else ()  # type: ignore[attr-defined]
            found.append(Sign([{value} for value in first], first, tuple(sorted(sizes))))
    return found


# ---- file(1)


def spelled(data: bytes) -> str:
    """Bytes as magic(5) and shared-mime-info write them."""
    return "".join(chr(b) if re.match(rb"[\w.-]", bytes([b])) else f"\\x{b:02x}" for b in data)


def magic(name: str) -> Iterator[str]:
    """The lines of a format: one test below the other, the last one names it."""
    form = formats.get(name)
    named = f"{form.title} ({name})"
    yield f"# {named}"
    for one in signs(name):
        tests = [f"{at}\tstring\t{spelled(run)}" for at, run in one.runs()]
        for at, values in one.choices():
            if stretch(values):
                tests += [f"{at}\tubyte\t>{min(values) - 1}", f"{at}\tubyte\t<{max(values) + 1}"]
            else:
                tests += [f"{at}\tubyte\t!{value}" for value in sorted(EVERY - values)]
        ends = [f"-0\toffset\t={size}" for size in one.sizes] or [tests.pop()]
        yield from (">" * depth + test for depth, test in enumerate(tests))
        for end in ends:
            yield f"{'>' * len(tests)}{end}\t{named}"
            if len(ends) > 1:
                continue  # three lines for each of hundreds of sizes would be many
            yield f"!:mime\t{mime(name)}"
            if form.suffixes:
                yield f"!:ext\t{'/'.join(suffix[1:] for suffix in form.suffixes)}"


def mime(name: str) -> str:
    """The type of a format's files, which is registered nowhere."""
    return f"application/x-{name}"


# ---- shared-mime-info


def xml(name: str) -> Iterator[str]:
    """The type of a format. There is no test of a size, so only what a header says is tested."""
    form = formats.get(name)
    yield f"  <mime-type type={quoteattr(mime(name))}>"
    yield f"    <comment>{escape(form.title)}</comment>"
    yield '    <magic priority="60">'
    for one in signs(name)[: len(EXAMPLES[name])]:
        tests = [[(at, run)] for at, run in one.runs()]
        for (
            at,
            values,
        ) in one.choices():  # nothing can be excluded, so a byte of many values is as in the example
            few = sorted(values) if stretch(values) else [one.example[at]]
            tests.append([(at, bytes([value])) for value in few])
        yield from matches(tests, "      ")
    yield "    </magic>"
    endings = sorted({*form.suffixes} - COMMON)
    yield from (f"    <glob pattern={quoteattr(f'*{ending}')}/>" for ending in endings)
    yield "  </mime-type>"


def matches(tests: list[list[tuple[int, bytes]]], indent: str) -> Iterator[str]:
    """Elements that hold where one of each test holds."""
    for at, value in tests[0]:
        element = f'{indent}<match type="string" offset="{at}" value="{spelled(value)}"'
        if not tests[1:]:
            yield f"{element}/>"
            continue
        yield f"{element}>"
        yield from matches(tests[1:], f"{indent}  ")
        yield f"{indent}</match>"


# ---- Kaitai Struct

MADE = re.compile(
    r"^( *)# made: (\w+) ([\w-]+)\.(\w+)(?: if (.+): ([\w ]+))?\n.*?(?=^ *# made: end)",
    re.MULTILINE | re.DOTALL,
)


#: a word of J: 8 bytes if bit 1 of its form is set
WORD = {"switch-on": "form >> 1", "cases": {0: "s4", 1: "s8"}}


class Description:
    """Parts of a description that follow from one structure of a format.

    optional : names of the fields that are there only where `condition`, an expression of Kaitai Struct's, holds.
    """

    def __init__(self, form: str, key: str, condition: str = "", optional: str = "") -> None:
        self.key = key
        self.named = formats.get(form).structures
        self.struct: Struct = self.named[key]
        self.condition = condition
        self.optional = optional.split()

    def seq(self) -> Iterator[str]:
        """The attributes of the fields in order."""
        for part in self.struct.subcons:
            yield f"- {flow(self.attribute(part))}"

    def words(self) -> Iterator[str]:
        """The attributes of the fields in order; integers of 8 bytes are words."""
        for part in self.struct.subcons:
            attribute = self.attribute(part)
            if attribute["type"] in ("s8", "s8be"):
                attribute["type"] = WORD
            yield f"- {flow(attribute)}"

    def instances(self) -> Iterator[str]:
        """The fields with their offsets, except those of a header, which are attributes."""
        taken: set[str] = set()
        for part, offset in zip(self.struct.subcons, offset_texts(self.struct), strict=False):
            core = core_of(part)
            if part.name == "header":
                taken = {field.name for field in getattr(core, "subcons", ())}
                continue
            attribute = self.attribute(part)
            name = attribute.pop("id")
            place = {"pos": int(offset) if offset.isdigit() else offset}
            yield f"{name}{'_part' * (name in taken)}: {flow(place | attribute)}"

    def rows(self) -> Iterator[str]:
        """The types of the items of arrays of arrays: an array each."""
        for part in self.struct.subcons:
            name = part.name
            core = core_of(part)
            while isinstance(core, Array) and isinstance(core_of(core.subcon), Array):
                core = core_of(core.subcon)
                name = row(name)
                inner = self.attribute("values" / core, name)
                if "repeat-expr" in inner and not isinstance(inner["repeat-expr"], int):
                    inner["repeat-expr"] = re.sub(r"([a-z]\w*)", r"_root.\1", inner["repeat-expr"])
                yield f"{name}:"
                yield f"  seq: [{flow(inner)}]"

    def size(self) -> Iterator[str]:
        """The size of the structure."""
        yield f"{self.key}_size: {flow({'value': offset_texts(self.struct)[-1]})}"

    def attribute(self, part: Construct, of: str = "") -> dict[str, Any]:
        """A field as an attribute; `of` is the name of the type in which it stands."""
        core = core_of(part)
        name = (part.name or "").replace(" ", "_")
        found = {"id": name + "_digits" * is_digits(core)} if name else {}
        if isinstance(core, Array):
            inner = core_of(core.subcon)
            items = {"type": row(of or part.name)} if isinstance(inner, Array) else self.kind(inner)
            count = core.count if isinstance(core.count, int) else count_text(core.count)
            found |= items | {"repeat": "expr", "repeat-expr": count}
        else:
            found |= self.kind(core)
        value = constant(part)
        if isinstance(value, bytes):
            found.pop("size")
            found["contents"] = value.decode() if any(value) and value.isascii() else [*value]
        elif value is not None:
            found["valid"] = value
        if name in self.optional:
            found["if"] = self.condition
        return found | ({"doc": part.docs} if part.docs else {})

    def kind(self, core: Construct) -> dict[str, Any]:
        """The type of a field that is no array."""
        if isinstance(core, Struct):
            return {"type": next(key for key, struct in self.named.items() if struct is core)}
        if isinstance(core, FormatField):
            kind = dtype_of(core)
            return {"type": f"{kind.kind.replace('i', 's')}{kind.itemsize}{'be' * (core.fmtstr[0] == '>')}"}
        if isinstance(core, BytesInteger):
            return {"type": f"b{8 * core.sizeof()}"}
        if is_digits(core):
            return {"type": "str", "size": core.sizeof(), "encoding": "ASCII"}
        return {"size": core.sizeof()}


def is_digits(core: Construct) -> bool:
    """Whether a field is a number in decimal digits."""
    return getattr(core, "unit", "") == "digit"


def row(name: str) -> str:
    """The type of the rows of an array."""
    return f"{name.replace(' ', '_')}_row"


def flow(values: dict[Any, Any]) -> str:
    """A mapping of YAML in one line."""
    return f"{{{', '.join(f'{key}: {plain(value)}' for key, value in values.items())}}}"


def plain(value: Any) -> str:
    """A value as YAML, in quotes unless it is surely the same without."""
    if isinstance(value, dict):
        return flow(value)
    if isinstance(value, str) and re.fullmatch(r"[A-Za-z_][\w ()*+-]*", value):
        return value
    return json.dumps(value, ensure_ascii=False)


def described(text: str) -> str:
    """The text of a description with its marked parts made anew."""

    def fill(match: re.Match[str]) -> str:
        indent, what, *rest = match.groups(default="")
        lines = [match[0].partition("\n")[0].strip(), *getattr(Description(*rest), what)()]
        return "".join(f"{indent}{line}\n" for line in lines)

    return MADE.sub(fill, text)


# ---- the files


def own_formats() -> set[str]:
    """The names of the formats of bgfmt itself, without those of plugins."""
    names = formats.all_formats().items()
    return {name for name, form in names if type(form).__module__.startswith("bgfmt.")}


def made() -> dict[str, str]:
    """The files by name."""
    wrong = (set(EXAMPLES) | LEFT_OUT) ^ own_formats()
    if wrong:
        raise ValueError(f"not in EXAMPLES or LEFT_OUT, or no format: {', '.join(sorted(wrong))}")
    by = "made by python plugins/descriptions/make.py"
    lines = [line for name in EXAMPLES for line in magic(name)]
    types = [line for name in EXAMPLES for line in xml(name)]
    space = "http://www.freedesktop.org/standards/shared-mime-info"
    begin = f'<?xml version="1.0" encoding="UTF-8"?>\n<!-- {by} -->\n<mime-info xmlns="{space}">'
    descriptions = sorted((HERE / "kaitai").glob("*.ksy"))
    return {
        "bearoff.magic": "\n".join([f"# {by}", *lines, ""]),
        "bearoff.xml": "\n".join([begin, *types, "</mime-info>", ""]),
        **{f"kaitai/{path.name}": described(path.read_text(encoding="utf-8")) for path in descriptions},
    }


def main(folder: Path) -> None:
    """Write them."""
    (folder / "kaitai").mkdir(parents=True, exist_ok=True)
    for name, text in made().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else HERE)
