"""The parameters of a question as HTTP carries them: known ones only, each once, all within their range."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from bgfmt.analysis import questions
from bgfmt.analysis.questions import QUESTIONS as ROUTES
from bgfmt.analysis.questions import Question
from bgfmt.extras.serve.refusals import Refusal

BINARY = ("table", "column", "rows")
__all__ = ["BINARY", "ROUTES", "Question", "from_object", "from_query", "question"]


def from_query(query: bytes | str, known: Iterable[str]) -> dict[str, str]:
    """The parameters of a query string; Refusal for one that is unknown, given twice or empty."""
    text = query.decode("latin-1") if isinstance(query, bytes) else query
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=64)
    except ValueError:
        raise Refusal("bad_parameter", "too many parameters") from None
    given: dict[str, str] = {}
    for name, value in pairs:
        _check_name(name, known)
        if name in given:
            raise Refusal("bad_parameter", f"{name} is given twice", name)
        given[name] = value
    return given


def from_object(item: Mapping[str, Any], known: Iterable[str]) -> dict[str, str]:
    """The parameters of an object of JSON: texts, whole numbers and truth values, as texts."""
    given = {}
    for name, value in item.items():
        _check_name(name, known)
        if isinstance(value, bool):
            given[name] = "true" if value else "false"
        elif isinstance(value, (str, int)):
            given[name] = str(value)
        else:
            text = f"{name} needs a text, a whole number, true or false"
            raise Refusal("bad_parameter", text, _printable(name))
    return given


def _check_name(name: str, known: Iterable[str]) -> None:
    known = tuple(known)
    if name not in known:
        printable = _printable(name)
        text = f"there is no parameter {printable!r} here (there are: {', '.join(known)})"
        raise Refusal("bad_parameter", text, printable)


def _printable(name: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in name[:40])


def question(given: Mapping[str, str], base: Question | None = None) -> Question:
    """The question that texts stand for, on top of common parameters; Refusal for one out of range."""
    try:
        return questions.read(given, base)
    except ValueError as error:
        name, text = error.args
        raise Refusal("bad_parameter", text, name) from None
