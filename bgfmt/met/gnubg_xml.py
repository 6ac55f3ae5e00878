"""GNU Backgammon's match equity tables in XML.

`met` holds `info` (`name`, `description`, `length`), a `pre-crawford-table` of `length` rows of `length` numbers
`me`, and one or two `post-crawford-table` (attribute `player`: both, 0, 1) of one row, which may be short. Tables of
parameters (types zadeh and mec, length -1) are calculated. The document type is never loaded, and a document that
declares an entity is refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import NoReturn
from xml.parsers import expat

from bgfmt.errors import CorruptError, FormatError
from bgfmt.met.model import MAX_AWAY, Met, Row, build_met, parse_length, parse_probability
from bgfmt.met.parameters import TYPES, WIN_RATE, post_crawford, pre_crawford

__all__ = ["MAX_DEPTH", "MAX_ELEMENTS", "POSTS", "Element", "read", "write"]


MAX_DEPTH = 16
MAX_ELEMENTS = 2 * MAX_AWAY * MAX_AWAY + 1000
POSTS = "post-crawford-table"


@dataclass
class Element:
    """An XML element: its tag, attributes, text, children, and the byte offset where it begins."""

    tag: str
    attributes: dict[str, str]
    offset: int
    text: str = ""
    children: list[Element] = field(default_factory=list)

    def find_all(self, tag: str) -> list[Element]:
        """Return the direct children with this tag, in document order."""
        return [child for child in self.children if child.tag == tag]


class _Builder:
    """Builds a tree of elements from the events of an expat parser; refuses entities and huge documents."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.stack = [Element("", {}, 0)]
        self.elements = 0
        self.parser = parser = expat.ParserCreate()
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self.start
        parser.EndElementHandler = lambda tag: self.stack.pop()
        parser.CharacterDataHandler = self.characters
        parser.EntityDeclHandler = lambda name, *_: self.refuse(
            "no entity declarations", f"entity {name[:40]!r}"
        )
        parser.SkippedEntityHandler = lambda name, _: self.refuse("no undeclared entities", f"&{name[:40]};")
        parser.ExternalEntityRefHandler = lambda *_: self.refuse("no external entities", "one")

    def refuse(self, expected: str, found: str) -> NoReturn:
        raise CorruptError(self.name, max(0, self.parser.CurrentByteIndex), expected, found)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.elements += 1
        if self.elements > MAX_ELEMENTS or len(self.stack) > MAX_DEPTH:
            self.refuse("a match equity table", "more or deeper elements than one has")
        element = Element(tag, attributes, max(0, self.parser.CurrentByteIndex))
        self.stack[-1].children.append(element)
        self.stack.append(element)

    def characters(self, data: str) -> None:
        self.stack[-1].text += data


def _parse(data: bytes, name: str) -> Element:
    builder = _Builder(name)
    builder.parser.buffer_text = True
    try:
        builder.parser.Parse(data, True)
    except FormatError:
        raise
    except expat.ExpatError as error:
        at = max(0, builder.parser.ErrorByteIndex)
        raise CorruptError(name, at, "well-formed XML", str(error)) from None
    except (ValueError, LookupError, TypeError) as error:  # Python has no such encoding of bytes
        raise CorruptError(name, 0, "XML in a known encoding", str(error)[:80]) from None
    return builder.stack[0].children[0]


def read(data: bytes, source: str, short: str, *, extend: bool = False) -> Met:
    """Parse a match equity table in gnubg's XML.

    Parameters
    ----------
    data
        The contents of the file.
    source
        What error messages call the file.
    short
        The short name that the table gets; its title is the one in the document.
    extend
        Let the table answer scores beyond its length, up to 64-away.

    Raises
    ------
    FormatError, CorruptError
        The document is no such table; the message says what is wrong and at which byte.
    """
    root = _parse(data, source)
    if root.tag != "met":
        raise CorruptError(source, root.offset, "element met", f"element {root.tag[:40]}")
    pre = _one(source, root, "pre-crawford-table")
    posts = root.find_all(POSTS)
    kinds = {table.attributes.get("type", "explicit").strip(): table for table in (pre, *posts)}
    info = _one(source, root, "info")
    title = next((child.text.strip() for child in info.find_all("name")), "")
    for kind, table in kinds.items():
        if kind not in ("explicit", *TYPES):
            known = ", ".join(("explicit", *TYPES))
            raise FormatError(
                f"{source}: {table.tag} at byte {table.offset} is of type {kind[:40]!r}, expected one of {known}"
            )
    if set(kinds) != {"explicit"}:
        if len(kinds) > 1:
            raise CorruptError(source, pre.offset, "tables of one type", " and ".join(sorted(kinds)))
        post = _calculated_posts(source, root, posts, next(iter(kinds)))
        return build_met(source, short, title, pre_crawford(), post, extend=extend)
    stated = _one(source, info, "length")
    length = parse_length(source, stated.offset, stated.text.strip(), "a length")
    rows = pre.find_all("row")
    if len(rows) != length:
        raise CorruptError(source, pre.offset, f"{length} rows", len(rows))
    values = [_numbers(source, row) for row in rows]
    for row, numbers in zip(rows, values, strict=True):
        if len(numbers) != length:
            raise CorruptError(source, row.offset, f"a row of {length} numbers", len(numbers))
    return build_met(source, short, title, values, _posts(source, root, posts, length), extend=extend)


def _calculated_posts(source: str, root: Element, posts: list[Element], kind: str) -> tuple[Row, Row]:
    """Return both players' rows after the Crawford game, calculated from parameters as gnubg 1.07 does."""
    rows = [post_crawford(kind, {}), post_crawford(kind, {})]
    for table in posts:
        player = table.attributes.get("player", "both").strip()
        if player not in ("both", "0", "1"):
            raise CorruptError(source, table.offset, "player both, 0 or 1", repr(player[:40]))
        parameters = {}
        for each in _one(source, table, "parameters").find_all("parameter"):
            key = each.attributes.get("name", "").strip()
            parameters[key] = parse_probability(source, each.offset, each.text.strip())
        if parameters.get("win-rate", WIN_RATE) != WIN_RATE:
            raise FormatError(
                f"{source}: {table.tag} at byte {table.offset} has a win-rate that is not {WIN_RATE}"
            )
        rows[player == "1"] = post_crawford(kind, parameters)
    return rows[0], rows[1]


def _posts(source: str, root: Element, posts: list[Element], length: int) -> tuple[Row, Row]:
    """Return both players' explicit rows after the Crawford game, each of 1 to `length` numbers."""
    rows: dict[str, Row] = {}
    for table in posts:
        row = _one(source, table, "row")
        numbers = _numbers(source, row)
        if not 1 <= len(numbers) <= length:
            raise CorruptError(source, row.offset, f"a row of 1 to {length} numbers", len(numbers))
        player = table.attributes.get("player", "both").strip()
        if player not in ("both", "0", "1") or player in rows:
            found = f"{'another' if player in rows else 'a'} {POSTS} of player {player[:40]!r}"
            raise CorruptError(source, table.offset, "player both, or 0 and 1 once each", found)
        rows[player] = numbers
    if set(rows) == {"both"}:
        return rows["both"], rows["both"]
    if set(rows) == {"0", "1"}:
        return rows["0"], rows["1"]
    expected = f'{POSTS} player="both", or one of player="0" and one of player="1"'
    found = " and ".join(f'player="{player}"' for player in sorted(rows))
    raise CorruptError(source, root.offset, expected, f"only {found}" if len(rows) == 1 else found or "none")


def _one(source: str, parent: Element, tag: str) -> Element:
    """Return the only child with this tag; CorruptError if there is none or more than one."""
    elements = parent.find_all(tag)
    if len(elements) != 1:
        raise CorruptError(source, parent.offset, f"one element {tag} in {parent.tag}", len(elements))
    return elements[0]


def _numbers(source: str, row: Element) -> Row:
    """Return the probabilities in the `me` elements of a row."""
    entries = row.find_all("me")
    return tuple(parse_probability(source, entry.offset, entry.text.strip()) for entry in entries)


def write(met: Met, description: str = "") -> bytes:
    """Return the table as an XML document that `read` and gnubg's ``set met`` accept.

    description : text about the table for the document.
    """
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<!DOCTYPE met PUBLIC "-//GNU Backgammon//DTD Match Equity Tables//EN" "met.dtd">',
        "<met>",
        "  <info>",
        f"    <name>{escape(met.title or met.name, quote=False)}</name>",
        f"    <description>{escape(description, quote=False)}</description>",
        f"    <length>{met.length}</length>",
        "  </info>",
        '  <pre-crawford-table type="explicit">',
        *(_row(row) for row in met.pre),
        "  </pre-crawford-table>",
    ]
    even = met.post[0] == met.post[1]
    for player, row in [("both", met.post[0])] if even else zip("01", met.post, strict=True):
        lines += [f'  <{POSTS} player="{player}" type="explicit">', _row(row), f"  </{POSTS}>"]
    return "\n".join([*lines, "</met>", ""]).encode()


def _row(numbers: Row) -> str:
    entries = "".join(f"<me>{number:.12f}</me>" for number in numbers)
    return f"    <row>{entries}</row>"
