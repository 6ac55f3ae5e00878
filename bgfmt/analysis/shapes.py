"""The shapes of queries and answers: an answer as JSON, an option as text, and the schemas of both.

The class of an answer defines its JSON: `FIELDS` names the fields; the type and a one-sentence description of each
are its annotation, or the signature and docstring of its property. docs/make_shapes.py writes them into the
documents.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from bgfmt.game.board import Position, Side
from bgfmt.game.display import html, picture

__all__ = [
    "CHANCE",
    "CLASSES",
    "MAX_REPR_FIELDS",
    "MAX_TEXT",
    "Chance",
    "Entry",
    "Field",
    "Plain",
    "QuestionOption",
    "Schema",
    "Type",
    "entries",
    "fields_at",
    "name_of",
    "option",
    "ref",
    "schema_of",
    "shapes",
    "to_plain",
]


CHANCE = "a number from 0 to 1"  # marks a field as a probability
Chance = Annotated[float, CHANCE]
Schema = dict[str, Any]
MAX_REPR_FIELDS = 5  # fields in the repr of an answer
MAX_TEXT = 400  # characters of a text parameter of HTTP


# -- an answer as plain values -------------------------------------------------------------------------------


class Field(NamedTuple):
    """One field of an answer in JSON.

    name : the key in JSON.
    path : the attribute that has the value, with dots for one of another object.
    optional : the key is left out if the value is None.
    get : returns the value, given the answer.
    """

    name: str
    path: str
    optional: bool
    get: Callable[[Any], Any]


#: the classes of answers by name, each registered where it is defined
CLASSES: dict[str, type[Plain]] = {}


class Plain:
    """Base class of answers: objects that convert to JSON, as `--json` and the HTTP service print it.

    FIELDS : names of the fields, separated by blanks; if empty, all annotated attributes. ``name=path`` takes an
        attribute of another name, or of another object; a name with "?" is omitted if its value is None.
    TITLE : the heading on docs/json.md if it is not the name of the shape.
    """

    FIELDS: ClassVar[str] = ""
    TITLE: ClassVar[str] = ""
    fields: ClassVar[tuple[Field, ...]] = ()

    def __init_subclass__(cls) -> None:
        CLASSES[cls.__name__] = cls
        cls.fields = tuple(map(_field, cls.FIELDS.split() or cls.__annotations__))
        cls.__repr__ = Plain.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        texts = []
        for name, _, _, get in self.fields:
            value = get(self)
            shown = None if isinstance(value, (Plain, Mapping, list, tuple)) else to_plain(value)
            if isinstance(shown, (str, int, float)):
                texts.append(f"{name} {shown:.4f}" if isinstance(shown, float) else f"{name} {shown}")
        return f"<{type(self).__name__} {', '.join(texts[:MAX_REPR_FIELDS])}>"

    def _repr_html_(self) -> str:
        about: Iterator[Any] = (getattr(self, name, None) for name in ("state", "position", "asked"))
        boards = (
            f'<div style="max-width:26rem">{picture(one)}</div>'
            for one in about
            if hasattr(one, "_repr_svg_")
        )
        board = next(boards, "")
        return board + html(self.as_dict())

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as a dict that `json.dumps` accepts."""
        out = {}
        for name, _, optional, get in self.fields:
            value = get(self)
            if value is not None or not optional:
                out[name] = to_plain(value)
        return out


def _field(word: str) -> Field:
    """Parse one word of `FIELDS`: ``name``, ``name?`` or ``name=path``."""
    name, _, path = word.partition("=")
    bare = name.rstrip("?")
    path = path or bare

    def of_any(owner: Any) -> Any:
        """Return the attribute at the path, None if an object on the way there is None."""
        for part in path.split("."):
            owner = None if owner is None else getattr(owner, part)
        return owner

    optional = bare != name
    return Field(bare, path, optional, of_any if optional and "." in path else attrgetter(path))


def fields_at(path: str, names: str, but: str = "") -> str:
    """Return `FIELDS` that take the fields of another object into an answer.

    Parameters
    ----------
    path
        The attribute of the answer that has the other object.
    names
        The `FIELDS` of the other object.
    but
        The name of a field to skip.

    Returns
    -------
    Words as ``name=path.name``, with a blank before each.
    """
    words = [word.partition("=") for word in names.split()]
    return "".join(
        f" {name}={path}.{attribute or name.rstrip('?')}" for name, _, attribute in words if name != but
    )


def to_plain(value: Any) -> Any:
    """Convert a value to what `json.dumps` accepts: positions become text, arrays and tuples lists."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Plain):
        return value.as_dict()
    if isinstance(value, Mapping):
        return {key: to_plain(one) for key, one in value.items()}
    if isinstance(value, (tuple, list)):
        return [to_plain(one) for one in value]
    return value.tolist() if hasattr(value, "tolist") else str(value)


# -- an option of a question ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class QuestionOption:
    """One option of a query: its documentation and the values that it allows.

    about : one sentence.
    choices : the texts or numbers allowed.
    range : least and greatest value of a number.
    pattern : regular expression of a text; `words` explains it in error messages.
    metavar : what the command line's help calls the value.
    longest : most characters of a text sent by HTTP.
    kind : str, int or bool.
    """

    about: str
    choices: tuple[Any, ...] = ()
    range: tuple[int, int] = (0, 0)
    pattern: str = ""
    words: str = ""
    metavar: str | None = None
    longest: int = MAX_TEXT
    kind: type = str

    def read(self, name: str, text: str) -> Any:
        """Parse the text of this option, called `name` in messages; ValueError for a value that isn't allowed."""
        other = f"not {text[:40]!r}"
        if self.kind is bool:
            if text not in ("true", "false"):
                raise ValueError(f"{name} is true or false, {other}")
            return text == "true"
        if self.kind is int:
            value = int(text) if re.fullmatch(r"\d{1,9}", text) else -1
            if self.choices and value not in self.choices:
                raise ValueError(
                    f"{name} is {', '.join(map(str, self.choices[:3]))}, ... up to {self.choices[-1]}, {other}"
                )
            least, most = self.range
            if not self.choices and not least <= value <= most:
                raise ValueError(f"{name} is a whole number from {least} to {most:,}, {other}")
            return value
        if self.choices and text not in self.choices:
            raise ValueError(f"the {name} is {', '.join(self.choices)}, {other}")
        if self.pattern and not re.fullmatch(self.pattern, text):
            raise ValueError(f"{self.words}, {other}")
        return text

    @property
    def schema(self) -> Schema:
        """The JSON Schema of the option's value."""
        out: Schema = {"type": {str: "string", int: "integer", bool: "boolean"}[self.kind]}
        if self.choices:
            out["enum"] = list(self.choices)
        elif self.kind is int:
            out |= {"minimum": self.range[0], "maximum": self.range[1]}
        elif self.pattern:
            out["pattern"] = f"^({self.pattern})$"
        elif self.kind is str:
            out["maxLength"] = self.longest
        return out


def option(about: str, *, usual: Any = None, **more: Any) -> Any:
    """Return a dataclass field for `bgfmt.analysis.questions.Question`.

    about : one sentence about the option.
    usual : its default.
    more : other arguments of `QuestionOption`.
    """
    return field(default=usual, metadata={"about": about, **more})


# -- the fields of the answers -------------------------------------------------------------------------------


@cache
def shapes() -> dict[str, type[Plain]]:
    """Return the classes of answers by the names that they have in JSON Schema, TypeScript and the docs.

    The classes are defined in several modules; `bgfmt.analysis.questions` imports all of them.
    """
    names = {
        "Origin": "SourcedAnswer",
        "Estimate": "TwoSidedEstimate",
        "Choices": "Numbers",
        "Met": "MetName",
    }
    order = (
        "Origin SideRace Estimate TwoRaces CubeAction Insight CubeAnswer Choices Losses Met MatchCubeAnswer Cell "
        "ScoresAnswer RankedPlay RankedRoll PlayAnswer Described ProbeQuestion ProbeAnswer"
    )
    return {name: CLASSES[names.get(name, name)] for name in order.split()}


class Type(NamedTuple):
    """The type of a value in JSON.

    kind : "string", "integer", "number", "probability" (a number from 0 to 1), "boolean", "list", "object" (whose
        keys are names) or "shape" (an object of one of `shapes`).
    of : the type of the entries of a list or object.
    shapes : the classes of answers that it may be.
    choices : the texts that it may be.
    """

    kind: str
    of: Any = None
    shapes: tuple[type[Plain], ...] = ()
    choices: tuple[str, ...] = ()
    nullable: bool = False


class Entry(NamedTuple):
    """A field of a shape: its name, whether it may be missing, its type and its description."""

    name: str
    optional: bool
    type: Type
    about: str


def entries(shape: type[Plain]) -> list[Entry]:
    """Return the fields of a class of answers with their types and descriptions, in order."""
    out = []
    for name, path, optional, _ in shape.fields:
        hint, about = _hint(shape, path)
        kind = _type(hint)
        out.append(Entry(name, optional, kind._replace(nullable=kind.nullable and not optional), about))
    return out


def _hint(owner: Any, path: str) -> tuple[Any, str]:
    """Return the annotation and the description of the attribute at a path."""
    first, _, rest = path.partition(".")
    attribute: Any = getattr(owner, first, None)
    function = getattr(attribute, "fget", None) or getattr(attribute, "func", None)
    hints = get_type_hints(function or owner, include_extras=True)
    hint = hints["return" if function else first]
    if rest:
        bare = get_args(hint)[0] if get_origin(hint) is Annotated else hint
        return _hint(next(one for one in (*get_args(bare), bare) if one is not type(None)), rest)
    if function:
        return hint, " ".join((function.__doc__ or "").partition("\n\n")[0].split())
    return hint, next((one for one in getattr(hint, "__metadata__", ()) if one != CHANCE), "")


def _type(hint: Any, chance: bool = False) -> Type:
    """Return the type in JSON of an annotation; `chance` if a number in it is a probability."""
    origin = get_origin(hint)
    arguments = get_args(hint)
    if origin is Annotated:
        return _type(arguments[0], chance or CHANCE in hint.__metadata__)
    if origin in (Union, types.UnionType):
        several = [_type(one, chance) for one in arguments if one is not type(None)]
        shapes = tuple(shape for one in several for shape in one.shapes)
        return several[0]._replace(shapes=shapes, nullable=type(None) in arguments)
    number = Type("probability" if chance else "number")
    simple = {
        str: "string",
        Position: "string",
        Side: "string",
        bool: "boolean",
        int: "integer",
        float: number.kind,
    }
    if hint in simple:
        return Type(simple[hint])
    if origin is Literal:
        return Type("string", choices=arguments)
    if origin is Mapping:
        return Type("object", of=_type(arguments[1]))
    if origin in (list, tuple, Sequence):
        return Type("list", of=_type(arguments[0]))
    if isinstance(hint, type) and issubclass(hint, Plain):
        return Type("shape", shapes=(hint,))
    return Type("list", of=number)  # an array


def name_of(shape: type[Plain]) -> str:
    """Return the name of a class of answers in JSON Schema, TypeScript and the docs."""
    return next(name for name, one in shapes().items() if one is shape)


# -- JSON Schema ---------------------------------------------------------------------------------------------


def schema_of(shape: type[Plain]) -> Schema:
    """Return the JSON Schema of a class of answers; other classes in it are references."""
    return {
        "type": "object",
        "description": (shape.__doc__ or "").partition("\n\n")[0],
        "properties": {one.name: _schema(one.type) | {"description": one.about} for one in entries(shape)},
        "required": [one.name for one in entries(shape) if not one.optional],
    }


def ref(name: str) -> Schema:
    """Return a JSON Schema reference to the schema of this name in an OpenAPI document."""
    return {"$ref": f"#/components/schemas/{name}"}


def _schema(of: Type) -> Schema:
    """Return the JSON Schema of a type."""
    if of.kind == "shape":
        several: list[Schema] = [*(ref(name_of(one)) for one in of.shapes), *[{"type": "null"}] * of.nullable]
        return several[0] if len(several) == 1 else {"anyOf": several}
    if of.kind == "list":
        out: Schema = {"type": "array", "items": _schema(of.of)}
    elif of.kind == "object":
        out = {"type": "object", "additionalProperties": _schema(of.of)}
    else:
        out = {"type": "number" if of.kind == "probability" else of.kind}
    if of.choices:
        out["enum"] = [*of.choices, *[None] * of.nullable]
    return {**out, "type": [out["type"], "null"]} if of.nullable else out
