"""Identifiers that users paste: each form is read and written, and `parse` tells them apart.

Counts run from the ace point up, and of two sides the one on roll comes first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress

from bgfmt.errors import PositionError
from bgfmt.game.board import Position, Side
from bgfmt.game.identifiers.fibs import fibs, from_fibs
from bgfmt.game.identifiers.gnubg_id import (
    from_gnubg_id,
    from_key_letters,
    from_match_id,
    from_position_id,
    from_position_ids,
    gnubg_id,
    key_letters,
    match_id,
    position_id,
    position_ids,
    position_key,
)
from bgfmt.game.identifiers.ogid import DAMAGED as DAMAGED_OGID
from bgfmt.game.identifiers.ogid import PATTERN as OGID
from bgfmt.game.identifiers.ogid import from_ogid, ogid
from bgfmt.game.identifiers.xgid import from_xgid, xgid
from bgfmt.game.state import GameState

__all__ = [
    "GameState",
    "fibs",
    "from_fibs",
    "from_gnubg_id",
    "from_key_letters",
    "from_match_id",
    "from_ogid",
    "from_position_id",
    "from_position_ids",
    "from_xgid",
    "gnubg_id",
    "holds_identifier",
    "key_letters",
    "match_id",
    "ogid",
    "parse",
    "parse_position",
    "parse_side",
    "position_id",
    "position_ids",
    "position_key",
    "xgid",
]


MAX_TEXT_CHARACTERS = 1 << 16
SIDE = r"[\d\s,]*(?:bar[\s,]+\d+[\s,]*)?"
# Identifiers in longer text: preceded by their name, or of a form that nothing else has. Quantifiers that can match
# much are possessive (`++`), so that the time to search a text is linear in its length.
_IS = r"[\s\"'=:\]]*+"
_ID = r"[A-Za-z0-9+/]{8,}+"
_XGID = rf"(?i)xgid{_IS}([-A-Z]+(?::[-A-Z0-9]*)+)|(?<![-\w:])([-A-O]{{20,30}}(?::-?\w+){{7,9}})"
_POSITION_ID = rf"(?i)(?:position[- _]?id|set board){_IS}({_ID})(?:\W++match[- _]?id{_IS}([\w+/]+))?"
_MATCH_ID = rf"(?i)match[- _]?id{_IS}({_ID})"
_GNUBG_ID = rf"(?i)gnu ?(?:bg)?[- ]?id{_IS}({_ID}(?:\s*:\s*[A-Za-z0-9+/]{{11,13}}\b)?)"
_BARE_GNUBG_ID = r"(?<![\w+/:])([A-Za-z0-9+/]{14}:[A-Za-z0-9+/]{12})(?![\w+/])"
#: under the names that gnubg gives them in other languages, or under none
_PAIR = r"(?<![\w+/])([A-Za-z0-9+/]{14})[^\w+/]++(?:[^:\n]{1,30}[\s:=]\W{0,40})?([A-Za-z0-9+/]{12})(?![\w+/])"
#: under any name or none: what has the form of a Position ID and can be one
_UNNAMED = r"(?<![\w+/-])(?=[A-Z+/]*[a-z\d])(?=[a-z]*[A-Z\d+/])([A-Za-z0-9+/]{14})(?![\w+/-]|:\w)"
#: a Position ID or Match ID with `-` and `_` for `+` and `/`, as addresses have them
_URL_SAFE = re.compile(
    r"(?<![\w+/-])(?=[\w-]*[_-])(?=[\w-]*[A-Z])(?=[\w-]*[a-z\d])([A-Za-z0-9_-]{14}|[A-Za-z0-9_-]{12})(?![\w+/-])"
)
#: a Position ID, a Match ID or a key alone
_WHOLE = r"[A-Za-z0-9+/]{14}|[A-Za-z0-9+/]{12}|[A-P]{20}"
_TAG = r"(?i)</?[a-z][^<>]*>"
_FIBS_LINE = r"(?<!\w)(board:[^\r\n]*)"
_DRAWN = r"\+-?1[23]-1[14]-|\+2?24-23-"
#: signs that mail, browsers and word processors put in the place of others
_SIGNS = {ord(sign): "-" for sign in "\u2010\u2011\u2012\u2013\u2014\u2212"}
_SIGNS |= dict.fromkeys(map(ord, "\0\u200b\u200c\u200d\u2060\ufeff"), "")
_QUOTES = "\"'`()<>\u201c\u201d\u2018\u2019\u201e\u00ab\u00bb \r\n\t"


def parse(text: str) -> GameState:
    """Parse an identifier, the counts of two sides, or text that contains an identifier.

    The text may be what a program puts on the clipboard (eXtreme Gammon, gnubg, BGBlitz) or a message around an
    XGID, an OGID, a GNUbg ID, a Position ID or Match ID with its name, or a FIBS board line.

    PositionError for text without a position or with several, for a damaged identifier, which it names, and for
    text of more than `MAX_TEXT_CHARACTERS`.

    >>> parse("dwMAAN4FAAAAAA:cAkAAAAAAAAE").position.us
    Side(4, 3, 1)
    """
    text = text.strip()
    if len(text) > MAX_TEXT_CHARACTERS:
        start = " ".join(text[:30].split())
        limit = f"{len(text):,} characters, and text with a position has at most {MAX_TEXT_CHARACTERS:,}"
        raise PositionError(f"{start!r} ...: {limit}")
    text = _clean_text(text)
    if re.fullmatch(f"{SIDE}/{SIDE}", text):
        first, _, second = text.partition("/")
        return GameState.of(Position(_counts(first), _counts(second)).check())
    if re.fullmatch(r"[A-Za-z0-9+/]{14}(:[A-Za-z0-9+/]*)?", text):
        return from_gnubg_id(text)
    if re.fullmatch(r"[A-Za-z0-9+/]{12}", text):
        return from_match_id(text)
    if re.fullmatch(r"[A-P]{20}", text):
        return GameState.of(from_key_letters(text))
    joined = _joined(text)
    names = list(_named_inside(text))
    wrapped = list(_named_inside(joined))
    if not names and not wrapped:
        names = list(_unnamed_inside(text))
    if not names and not wrapped:
        raise _nothing(text)
    if len(names) == len(wrapped) == 1 and _part(*names[0], wrapped[0][1], joined):
        with suppress(PositionError):
            return _agreed(wrapped)
    try:
        return _agreed(names or wrapped)
    except PositionError:
        if len(names) != 1 or wrapped in ([], names):
            raise
    return _agreed(wrapped)


def _clean_text(text: str) -> str:
    """Replace typographic signs by plain ones, and remove quotes, tags and escapes around an identifier."""
    text = re.sub(
        "%(?:25)*(3[ad]|2[bf])", lambda code: chr(int(code[1], 16)), text.translate(_SIGNS), flags=re.I
    )
    text = re.sub("&#(4[3-7]|58|61);", lambda code: chr(int(code[1])), text)
    # such as the address of a link
    plain = re.sub(_TAG, " ", text)
    tags = "\n".join(re.findall(_TAG, text))
    inside = tags and not any(_named_inside(plain)) and not any(_named_inside(_joined(plain)))
    inside = inside and (any(_named_inside(tags)) or any(_unnamed_inside(tags)) > any(_unnamed_inside(plain)))
    text = _URL_SAFE.sub(_standard, (tags if inside else plain).strip(_QUOTES))
    return re.sub(r"(?i)^(?:position|counts)\s*[:=]\s*(?=[\d\s,]*(?:bar[\s,]+\d+[\s,]*)?/)", "", text)


def _standard(found: re.Match[str]) -> str:
    """Return a URL-safe identifier in the standard alphabet, and other words as they are."""
    text = found[1].replace("-", "+").replace("_", "/")
    try:
        (from_position_id if len(text) == 14 else from_match_id)(text)
    except PositionError:
        return found[1]
    return text


def _joined(text: str) -> str:
    """Join the lines of a text, which a mail program may have broken."""
    return "".join(line.strip("> \t=") for line in text.splitlines())


def _part(read: Callable[[str], GameState], name: str, whole: str, joined: str) -> bool:
    """Return whether an identifier that could be parsed is only the part on one line of a whole one."""
    colons: dict[object, int] = {from_xgid: 9, from_ogid: 9, from_fibs: 52}
    ended = name.count(":") >= colons.get(read, 0)
    begins = re.search(rf"(?:^|ogid{_IS}){re.escape(whole)}", joined, re.I)
    return name != whole and bool((not ended and whole.startswith(name)) or (begins and whole.endswith(name)))


def _agreed(names: list[tuple[Callable[[str], GameState], str]]) -> GameState:
    """Return the state of the first identifier in a text; PositionError if others give another position or state."""
    kinds = [(read, ":" in name) for read, name in names]
    states = [read(name) for read, name in names]
    alike = {state for kind, state in zip(kinds, states, strict=True) if kind == kinds[0]}
    different = max(len(alike), len({state.position for state in states}))
    if different > 1:
        raise PositionError(f"the text holds {different} different positions; paste one")
    return states[0]


def _nothing(text: str) -> PositionError:
    """Return the error for a text without identifier, with the likely mistake."""
    start = " ".join(text[:30].split())
    named = re.search(r"\bposition\W+(?=\S*[\d+/])([A-Za-z0-9+/]{10,18})(?![\w+/])", text, re.I)
    text = named[1] if named else text
    if re.fullmatch(r"(?=.*[A-Z])(?=.*[a-z0-9+/])[A-Za-z0-9+/]{10,18}", text):
        what = f"{text!r}: a Position ID must have 14 characters and a Match ID 12, not {len(text)}"
    elif re.search(_DRAWN, text):
        what = "the text has a drawn board only; paste its XGID or Position ID too"
    elif re.match(r"xgid\W", text, re.I):
        what = f"{start!r}: an XGID is a board of 26 characters and nine fields, each after a colon"
    elif re.fullmatch(r"[-\d\s,/.]+", text):
        what = f"{start!r}: expected two sides of whole numbers with one / between, such as 4 3 1 / 3 3 2"
    else:
        what = (
            f"no position in {start!r}: expected counts (4 3 1 / 3 3 2), an XGID, GNUbg ID, OGID or FIBS line"
        )
    return PositionError(what)


def _named_inside(text: str) -> Iterator[tuple[Callable[[str], GameState], str]]:
    """Yield (reader, identifier) for every identifier in a text; a Position ID and the Match ID after it are one."""
    for match in re.finditer(_FIBS_LINE, text):
        yield from_fibs, match[1].rstrip()
    for match in re.finditer(_XGID, text):
        yield from_xgid, (match[1] or match[2]).rstrip(":")
    for match in (*OGID.finditer(text), *DAMAGED_OGID.finditer(OGID.sub(" ", text))):
        yield from_ogid, match[0]
    text = OGID.sub(" ", text)  # whose first two fields may be as long as gnubg's
    pairs = [":".join(match.groups()) for match in re.finditer(_PAIR, text)]
    for pair in pairs:
        with suppress(PositionError):
            from_gnubg_id(pair)
            yield from_gnubg_id, pair
    for pattern in (_GNUBG_ID, _BARE_GNUBG_ID):
        for match in re.finditer(pattern, text):
            yield from_gnubg_id, re.sub(r"\s", "", match[1])
    positions = list(re.finditer(_POSITION_ID, text))
    for match in positions:
        yield from_gnubg_id, f"{match[1]}:{match[2]}" if match[2] else match[1]
    if not positions and not pairs:
        for match in re.finditer(_MATCH_ID, text):
            yield from_match_id, match[1]


def _unnamed_inside(text: str) -> Iterator[tuple[Callable[[str], GameState], str]]:
    """Yield (reader, identifier) for Position IDs in a text without their usual name, as `Position : ...`."""
    for match in re.finditer(_UNNAMED, text):
        with suppress(PositionError):
            from_position_id(match[1])
            yield from_gnubg_id, match[1]


def holds_identifier(text: str) -> bool:
    """Return whether a text contains an identifier, even a damaged or overlong one; mere counts are not one."""
    if len(text) > MAX_TEXT_CHARACTERS:
        return True
    text = _clean_text(text)
    return any(_named_inside(text)) or bool(re.fullmatch(_WHOLE, text)) or any(_unnamed_inside(text))


def parse_position(text: str) -> Position:
    """Parse a position, side on roll first, from any identifier or the counts of two sides; else PositionError."""
    return parse(text).position


def parse_side(text: str) -> Side:
    """Parse one side: counts from the ace point up ("0 0 0 2 3 4", "0 1 bar 2"), or any identifier's side on roll.

    PositionError for other text.
    """
    counts = text.strip(_QUOTES)
    if re.fullmatch(SIDE, counts) and re.search(r"\d", counts):
        return _counts(counts)
    return parse_position(text).us


def _counts(text: str) -> Side:
    points, _, bar = text.partition("bar")
    words = re.findall(r"\d+", points), re.findall(r"\d+", bar)
    if any(len(number) > 9 for part in words for number in part):
        raise PositionError(f"{text.strip()[:30]!r}: a point holds at most 15 chequers")
    numbers = [int(number) for number in words[0]]
    on_bar = int(words[1][0]) if words[1] else 0
    if len(numbers) > 25 or (bar and len(numbers) > 24):
        raise PositionError(f"{len(numbers)} counts: a side has at most 25, 24 points and the bar")
    if any(number > 15 for number in (*numbers, on_bar)):
        raise PositionError(f"{text.strip()[:30]!r}: a point holds at most 15 chequers")
    return Side(*numbers[:24], bar=numbers[24] if len(numbers) == 25 else on_bar)
