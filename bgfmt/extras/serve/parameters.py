"""The parameters of a question: known ones only, each once, none empty, all within their range."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qsl

from bgfmt.extras.serve.refusals import Refusal

MOST_TEXT = 400
MOST_TOP = 1_000_000
ROUTES: Mapping[str, tuple[str, ...]] = {
    "lookup": ("position", "table"),
    "race": ("position", "table"),
    "cube": ("position", "table", "settle", "away", "crawford", "cube_value", "met"),
    "play": ("position", "table", "roll", "cube", "measure", "top", "away", "crawford", "cube_value", "met"),
}
ROUTES = {**ROUTES, "probe": (*ROUTES["play"], "settle")}
CUBES = ("centered", "owned", "opponent")
BINARY = ("table", "column", "rows")


@dataclass(frozen=True)
class Question:
    """What is asked, as texts that have been checked; None where nothing was said."""

    position: str = ""
    table: str | None = None
    roll: str | None = None
    cube: str | None = None
    measure: str | None = None
    top: int | None = None
    settle: bool | None = None
    away: tuple[int, int] | None = None
    crawford: bool | None = None
    cube_value: int | None = None
    met: str | None = None

    def about(self, position: str) -> Question:
        """The same question of another position."""
        return Question(
            position,
            self.table,
            self.roll,
            self.cube,
            self.measure,
            self.top,
            self.settle,
            self.away,
            self.crawford,
            self.cube_value,
            self.met,
        )

    def key(self) -> str:
        """The question as one text, for an ETag."""
        return repr(self)


def from_query(query: bytes | str, known: Iterable[str]) -> dict[str, str]:
    """The parameters of a query string; Refusal for one that is unknown, given twice or empty."""
    text = query.decode("latin-1") if isinstance(query, bytes) else query
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=64)
    except ValueError:
        raise Refusal("bad_parameter", "too many parameters") from None
    found: dict[str, str] = {}
    for name, value in pairs:
        _check_name(name, known)
        if name in found:
            raise Refusal("bad_parameter", f"{name} is given twice", name)
        found[name] = value
    return found


def from_object(item: Mapping[str, Any], known: Iterable[str]) -> dict[str, str]:
    """The parameters of an object of JSON: texts, whole numbers and truth values, as texts."""
    found = {}
    for name, value in item.items():
        _check_name(name, known)
        if isinstance(value, bool):
            found[name] = "true" if value else "false"
        elif isinstance(value, (str, int)):
            found[name] = str(value)
        else:
            raise Refusal(
                "bad_parameter", f"{name} needs a text, a whole number, true or false", _shown(name)
            )
    return found


def _check_name(name: str, known: Iterable[str]) -> None:
    known = tuple(known)
    if name not in known:
        shown = _shown(name)
        raise Refusal(
            "bad_parameter", f"there is no parameter {shown!r} here (there are: {', '.join(known)})", shown
        )


def _shown(name: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in name[:40])


def question(given: Mapping[str, str], base: Question | None = None) -> Question:
    """The question that texts stand for, on top of common parameters; Refusal for one out of range."""
    changes: dict[str, Any] = {}
    base = base or Question()
    for name, text in given.items():
        if not text.strip():
            raise Refusal("bad_parameter", f"{name} is empty", name)
        if len(text) > MOST_TEXT:
            raise Refusal("bad_parameter", f"{name} has more than {MOST_TEXT} characters", name)
        changes[name] = _READERS[name](text.strip(), name)
    if changes.keys() == {"position"}:
        return base.about(changes["position"])
    return replace(base, **changes)


def _text(text: str, name: str) -> str:
    return text


def mended(text: str, name: str = "position") -> str:
    """A position as it was before its way through a URL: blanks in an ID were "+", "-" and "_" stand for "+/"."""
    found = re.fullmatch(r"([A-Za-z0-9+/ _-]{14})(:[A-Za-z0-9+/ _-]{12})?", text)
    if found is None or re.fullmatch(r"[\d\s-]+", text):
        return text
    return text.replace(" ", "+").replace("-", "+").replace("_", "/")


def _roll(text: str, name: str) -> str:
    if text.lower() == "all":
        return "all"
    dice = re.sub(r"[-, /]", "", text)
    if not re.fullmatch(r"[1-6]{2}", dice):
        raise Refusal(
            "bad_parameter", f"a roll is two dice such as 61 or 6-1, or all, not {text[:40]!r}", name
        )
    return "".join(sorted(dice, reverse=True))


def _cube(text: str, name: str) -> str:
    if text not in CUBES:
        raise Refusal("bad_parameter", f"the cube is {', '.join(CUBES)}, not {text[:40]!r}", name)
    return text


def _measure(text: str, name: str) -> str:
    if text in ("money", "cubeless", "mean") or re.fullmatch(r"off:\d{1,3}", text):
        return text
    raise Refusal("bad_parameter", f"a measure is money, cubeless, mean or off:N, not {text[:40]!r}", name)


def _whole(least: int, most: int) -> Any:
    def read(text: str, name: str) -> int:
        if not re.fullmatch(r"\d{1,9}", text) or not least <= int(text) <= most:
            raise Refusal("bad_parameter", f"{name} is a whole number from {least} to {most:,}", name)
        return int(text)

    return read


def _truth(text: str, name: str) -> bool:
    if text not in ("true", "false"):
        raise Refusal("bad_parameter", f"{name} is true or false, not {text[:40]!r}", name)
    return text == "true"


def _away(text: str, name: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,2})-(\d{1,2})", text)
    if found is None or not all(1 <= int(n) <= 64 for n in found.groups()):
        raise Refusal("bad_parameter", "away is what both sides need, such as 3-5, each from 1 to 64", name)
    return int(found[1]), int(found[2])


def _cube_value(text: str, name: str) -> int:
    if not re.fullmatch(r"\d{1,4}", text) or int(text) not in [1 << k for k in range(11)]:
        raise Refusal("bad_parameter", "cube_value is 1, 2, 4, ... up to 1024", name)
    return int(text)


_READERS: dict[str, Any] = {
    "position": mended,
    "table": _text,
    "roll": _roll,
    "cube": _cube,
    "measure": _measure,
    "top": _whole(1, MOST_TOP),
    "settle": _truth,
    "away": _away,
    "crawford": _truth,
    "cube_value": _cube_value,
    "met": _text,
}
