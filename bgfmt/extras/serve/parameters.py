"""Settings of the service, and parameters of a query: each known, given once and within its range."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qsl

from bgfmt.analysis.questions import Question, options
from bgfmt.analysis.shapes import QuestionOption
from bgfmt.errors import suggest_nearest
from bgfmt.extras.serve.refusals import Refusal


@dataclass(frozen=True)
class Settings:
    """The options of `bgfmt serve`.

    hosts : names that a Host header may have, lower case, without port; None for any.
    origins : origins whose pages may send requests, "*" for all; empty for no CORS.
    settle : maximum number of pairs of boards calculated for one query, 0 for none, None for the default.
    connections : maximum number of open connections. waiting : maximum number of waiting queries of a client.
    share : maximum number of threads for a client. calculation : seconds of calculation a minute for a client.
    """

    hosts: tuple[str, ...] | None = None
    origins: tuple[str, ...] = ()
    download: bool = True
    settle: int | None = None
    max_rows: int = 10_000
    max_body: int = 4 << 20
    max_age: int = 3600
    connections: int = 1000
    waiting: int = 64
    share: int | None = None
    calculation: int | None = None
    proxies: tuple[str, ...] = ()


def from_query(
    query: bytes | str, known: Iterable[str], path: Mapping[str, str] = MappingProxyType({})
) -> dict[str, str]:
    """Parse a query string into {name: text}; Refusal for a parameter that is not in `known` or is given twice.

    path : parameters that the path of the request has.
    """
    text = query.decode("latin-1") if isinstance(query, bytes) else query
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=64)
    except ValueError:
        raise Refusal("bad_parameter", "too many parameters") from None
    given = dict(path)
    for name, value in pairs:
        _check_name(name, known)
        if name in given:
            raise Refusal("bad_parameter", f"{name} is given twice", name)
        given[name] = value
    return given


def from_object(item: Mapping[str, Any], known: Iterable[str]) -> dict[str, str]:
    """Convert a JSON object into parameters as a query string has them: {name: text}, booleans as "true" or "false".

    Refusal for a name that is not in `known`, and for a value that is no text, whole number or boolean.
    """
    given = {}
    for name, value in item.items():
        _check_name(name, known)
        if not isinstance(value, (str, int)):
            raise Refusal("bad_parameter", f"{name} must be a string, a whole number, true or false", name)
        given[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return given


def _check_name(name: str, known: Iterable[str]) -> None:
    if name not in (known := tuple(known)):
        printable = "".join(c if c.isprintable() else "?" for c in name[:40])
        near = suggest_nearest(printable, known)
        text = f"no parameter {printable!r} here{near}; known: {', '.join(known)}"
        raise Refusal("bad_parameter", text, printable)


def position_question(given: Mapping[str, str], base: Question | None = None) -> Question:
    """Parse parameters as `question` does; Refusal if there is no position."""
    if "position" not in given:
        raise Refusal("bad_parameter", "the parameter position is missing", "position")
    return question(given, base)


def question(given: Mapping[str, str], base: Question | None = None) -> Question:
    """Parse parameters, {name: text}, into a query; those not given are as in `base`.

    Refusal for a text that is empty, too long or not allowed.
    """
    changes: dict[str, Any] = {}
    for name, text in given.items():
        option = options()[name]
        if not text.strip():
            raise Refusal("bad_parameter", f"{name} has no value", name)
        if len(text) > option.longest:
            raise Refusal("bad_parameter", f"{name} must have at most {option.longest:,} characters", name)
        try:
            changes[name] = parse_option(option, name, text.strip())
        except ValueError as error:
            raise Refusal("bad_parameter", str(error), name) from None
    return replace(base or Question(), **changes)


def parse_option(option: QuestionOption, name: str, text: str) -> Any:
    """Parse the text of a query option into its type; ValueError for a value that is not allowed.

    name : what messages call the option.
    """
    found = f"not {text[:40]!r}"
    known = {str(choice): choice for choice in option.choices}
    if option.kind is bool:
        known = {"true": True, "false": False}
    if known:
        if text not in known:
            raise ValueError(f"{name} must be one of {', '.join(known)}, {found}")
        return known[text]
    if option.kind is int:
        least, most = option.range
        if not re.fullmatch(r"\d{1,9}", text) or not least <= int(text) <= most:
            raise ValueError(f"{name} must be a whole number from {least} to {most:,}, {found}")
        return int(text)
    if option.pattern and not re.fullmatch(option.pattern, text):
        raise ValueError(f"{option.words}, {found}")
    return text
