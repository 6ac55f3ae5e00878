"""J nouns as words and as JSON, for people and programs without J."""

from __future__ import annotations

from typing import Any

import numpy as np

from bgfmt.formats.j.form import JType
from bgfmt.formats.j.noun import Noun

SHOWN = 8


def as_json(noun: Noun) -> dict[str, Any]:
    """All of a noun: type, shape, and its atoms in row-major order under one name.

    values: whole numbers (strings for extended and rational ones); hexfloat: floats in C99 hexadecimal, exact;
    hex: the bytes of literals and quad floats; codeunits, codepoints: unicode; items: nouns inside boxes.
    """
    out: dict[str, Any] = {"type": noun.type.name.lower(), "shape": list(noun.shape)}
    kind, data = noun.type, noun.data
    if kind is JType.BOX:
        out["items"] = [as_json(item) for item in data]
    elif kind is JType.EXTENDED:
        out["values"] = [_whole(number) for number in data]
    elif kind is JType.RATIONAL:
        out["values"] = [_ratio(data[k], data[k + 1]) for k in range(0, len(data), 2)]
    else:
        flat = np.asarray(data).reshape(-1)
        if kind in (JType.LITERAL, JType.QUAD):
            out["hex"] = flat.tobytes().hex()
        elif kind is JType.FLOAT:
            out["hexfloat"] = [_hex(x) for x in flat.tolist()]
        elif kind is JType.COMPLEX:
            out["hexfloat"] = [[_hex(z.real), _hex(z.imag)] for z in flat.tolist()]
        else:
            name = {JType.UNICODE: "codeunits", JType.UNICODE4: "codepoints"}.get(kind, "values")
            out[name] = flat.tolist()
    return out


def describe(noun: Noun, shown: int = SHOWN) -> str:
    """One line: type, shape and the first atoms."""
    first = _first(noun, shown)
    return f"{noun}: {first}" if first else str(noun)


def _first(noun: Noun, shown: int) -> str:
    kind = noun.type
    if kind is JType.BOX:
        return "; ".join(str(item) for item in noun.data[:shown]) + _more(noun.count, shown)
    if kind is JType.EXTENDED:
        return " ".join(_whole(x) for x in noun.data[:shown]) + _more(noun.count, shown)
    if kind is JType.RATIONAL:
        pairs = [_ratio(noun.data[k], noun.data[k + 1]) for k in range(0, min(len(noun.data), 2 * shown), 2)]
        return " ".join(pairs) + _more(noun.count, shown)
    flat = noun.data.reshape(-1)
    if kind is JType.QUAD:
        return " ".join(f"{x:.6g}" for x in flat[: 2 * shown : 2].tolist()) + _more(noun.count, shown)
    if kind in (JType.LITERAL, JType.UNICODE, JType.UNICODE4):
        return repr(_text(noun, 10 * shown)) + _more(noun.count, 10 * shown)
    head = flat[:shown].tolist()
    real = kind in (JType.FLOAT, JType.COMPLEX)
    words = [f"{x:.6g}" if real else str(x) for x in head]
    return " ".join(words) + _more(noun.count, shown)


def _text(noun: Noun, shown: int) -> str:
    data = noun.data.reshape(-1)[:shown]
    if noun.type is JType.UNICODE4:
        return "".join(chr(c) if c < 0x110000 else "\ufffd" for c in data.tolist())
    return str(data.tobytes().decode("utf-8" if noun.type is JType.LITERAL else "utf-16-le", "replace"))


def _more(count: int, shown: int) -> str:
    return " ..." if count > shown else ""


def _hex(value: float) -> str:
    return "nan" if value != value else value.hex()  # noqa: PLR0124


def _whole(number: int) -> str:
    """Decimal digits, or hexadecimal ones where decimal would take long."""
    return str(number) if number.bit_length() < 10_000 else hex(number)


def _ratio(numerator: int, denominator: int) -> str:
    return _whole(numerator) if denominator == 1 else f"{_whole(numerator)}/{_whole(denominator)}"
