"""The fields of answers and options with their types and descriptions, and their JSON Schemas.

docs/make_shapes.py writes the fields into the documents.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from bgfmt.analysis.answers import MetName, RankedPlay, SideRace, SourcedAnswer
from bgfmt.analysis.cube import Cell, CubeAction, Losses, Numbers
from bgfmt.analysis.insight import Insight
from bgfmt.analysis.questions import (
    CubeAnswer,
    MatchCubeAnswer,
    PlayAnswer,
    RankedRoll,
    ScoresAnswer,
    TwoRaces,
)
from bgfmt.analysis.races import TwoSidedEstimate
from bgfmt.analysis.shapes import CHANCE, Plain, QuestionOption
from bgfmt.extras.serve.probe import Described, ProbeAnswer, ProbeQuestion
from bgfmt.game.board import Position, Side

Schema = dict[str, Any]

#: the classes of answers by the names that they have in JSON Schema, TypeScript and the docs
SHAPES: dict[str, type[Plain]] = {
    "Origin": SourcedAnswer,
    "SideRace": SideRace,
    "Estimate": TwoSidedEstimate,
    "TwoRaces": TwoRaces,
    "CubeAction": CubeAction,
    "Insight": Insight,
    "CubeAnswer": CubeAnswer,
    "Choices": Numbers,
    "Losses": Losses,
    "Met": MetName,
    "MatchCubeAnswer": MatchCubeAnswer,
    "Cell": Cell,
    "ScoresAnswer": ScoresAnswer,
    "RankedPlay": RankedPlay,
    "RankedRoll": RankedRoll,
    "PlayAnswer": PlayAnswer,
    "Described": Described,
    "ProbeQuestion": ProbeQuestion,
    "ProbeAnswer": ProbeAnswer,
}


class Entry(NamedTuple):
    """A field of a shape: its name, whether it may be missing, its JSON Schema and its description."""

    name: str
    optional: bool
    schema: Schema
    about: str


def entries(shape: type[Plain]) -> list[Entry]:
    """Return the fields of a class of answers with their schemas and descriptions, in the order of its JSON.

    A field that may be missing is never null.
    """
    out = []
    for name, path, optional, _ in shape.fields:
        hint, about = _hint(shape, path)
        out.append(Entry(name, optional, _schema(hint, null=not optional), about))
    return out


@cache
def _hints(owner: Any) -> dict[str, Any]:
    """Return the evaluated annotations of a class or function; evaluating them takes milliseconds."""
    return get_type_hints(owner, include_extras=True)


def _hint(owner: Any, path: str) -> tuple[Any, str]:
    """Return the annotation and the description of the attribute at a path."""
    first, _, rest = path.partition(".")
    attribute: Any = getattr(owner, first, None)
    function = getattr(attribute, "fget", None) or getattr(attribute, "func", None)
    hint = _hints(function or owner)["return" if function else first]
    if rest:
        bare = get_args(hint)[0] if get_origin(hint) is Annotated else hint
        return _hint(next(one for one in (*get_args(bare), bare) if one is not type(None)), rest)
    if function:
        return hint, " ".join((function.__doc__ or "").partition("\n\n")[0].split())
    return hint, next((one for one in getattr(hint, "__metadata__", ()) if one != CHANCE), "")


def _schema(hint: Any, chance: bool = False, null: bool = True) -> Schema:
    """Return the JSON Schema of an annotation.

    chance : whether a number in it is a probability. null : whether null is allowed if the annotation has None.
    """
    origin = get_origin(hint)
    arguments = get_args(hint)
    if origin is Annotated:
        return _schema(arguments[0], chance or CHANCE in hint.__metadata__, null)
    if origin in (Union, types.UnionType):
        several = [_schema(one, chance) for one in arguments if one is not type(None)]
        nullable = null and type(None) in arguments
        return _union(several, nullable)
    number = {"type": "number"} | ({"minimum": 0, "maximum": 1} if chance else {})
    simple = {str: "string", Position: "string", Side: "string", bool: "boolean", int: "integer"}
    if hint in simple:
        return {"type": simple[hint]}
    if hint is float:
        return number
    if origin is Literal:
        return {"type": "string", "enum": list(arguments)}
    if origin is Mapping:
        return {"type": "object", "additionalProperties": _schema(arguments[1])}
    if origin in (list, tuple, Sequence):
        return {"type": "array", "items": _schema(arguments[0])}
    if isinstance(hint, type) and issubclass(hint, Plain):
        return ref(name_of(hint))
    return {"type": "array", "items": number}  # an array of NumPy


def _union(several: list[Schema], nullable: bool) -> Schema:
    """Return the JSON Schema of a value of one of several classes of answers, or of one other type, or null."""
    first = several[0]
    if "$ref" in first:
        several += [{"type": "null"}] * nullable
        return first if len(several) == 1 else {"anyOf": several}
    if not nullable:
        return first
    choices = {"enum": [*first["enum"], None]} if "enum" in first else {}
    return first | {"type": [first["type"], "null"]} | choices


def name_of(shape: type[Plain]) -> str:
    """Return the name of a class of answers in JSON Schema, TypeScript and the docs."""
    return next(name for name, one in SHAPES.items() if one is shape)


# -- JSON Schema ---------------------------------------------------------------------------------------------


def schema_of(shape: type[Plain]) -> Schema:
    """Return the JSON Schema of a class of answers.

    A field that is itself a class of answers is a reference, see `ref`; that class's schema is not included.
    """
    fields = entries(shape)
    return {
        "type": "object",
        "description": (shape.__doc__ or "").partition("\n\n")[0],
        "properties": {one.name: one.schema | {"description": one.about} for one in fields},
        "required": [one.name for one in fields if not one.optional],
    }


def ref(name: str) -> Schema:
    """Return a JSON Schema reference to the schema of this name in an OpenAPI document."""
    return {"$ref": f"#/components/schemas/{name}"}


def schema_of_option(option: QuestionOption) -> Schema:
    """Return the JSON Schema of the value of a query option."""
    out: Schema = {"type": {str: "string", int: "integer", bool: "boolean"}[option.kind]}
    if option.choices:
        out["enum"] = list(option.choices)
    elif option.kind is int:
        out |= {"minimum": option.range[0], "maximum": option.range[1]}
    elif option.pattern:
        out["pattern"] = f"^({option.pattern})$"
    elif option.kind is str:
        out["maxLength"] = option.longest
    return out
