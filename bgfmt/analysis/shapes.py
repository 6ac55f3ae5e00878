"""The shapes of questions and answers: an answer as JSON, an option as text, and what describes both.

The class of an answer says its JSON once: `FIELDS` names the fields; the type and one sentence of each stand in its
annotation, or in the signature and docstring of its property. docs/make_shapes.py writes them into the documents.
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

CHANCE = "a number from 0 to 1"  # marks the type of a field
Chance = Annotated[float, CHANCE]
Schema = dict[str, Any]
MOST_SHOWN = 5  # fields that the repr of an answer has
MOST_TEXT = 400  # characters of a text sent by HTTP


# -- an answer as plain values -------------------------------------------------------------------------------


class Field(NamedTuple):
    """One field of an answer in JSON: its name, the path of its attribute, whether it may be left out."""

    name: str
    path: str
    optional: bool
    get: Callable[[Any], Any]


#: the classes of answers by name, each registered where it is defined
CLASSES: dict[str, type[Plain]] = {}


class Plain:
    """An object with a form as plain values, which `--json` and the HTTP service print.

    FIELDS : names of the fields, separated by blanks; where nothing is said all that are annotated. ``name=path``
    takes an attribute of another name, or of another object; a name with "?" is left out where its value is None.
    TITLE : the heading on docs/json.md where it is not the name of the shape.
    """

    FIELDS: ClassVar[str] = ""
    TITLE: ClassVar[str] = ""
    fields: ClassVar[tuple[Field, ...]] = ()

    def __init_subclass__(cls) -> None:
        CLASSES[cls.__name__] = cls
        cls.fields = tuple(map(_field, cls.FIELDS.split() or cls.__annotations__))
        cls.__repr__ = Plain.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        said = []
        for name, _, _, get in self.fields:
            value = get(self)
            shown = None if isinstance(value, (Plain, Mapping, list, tuple)) else plain(value)
            if isinstance(shown, (str, int, float)):
                said.append(f"{name} {shown:.4f}" if isinstance(shown, float) else f"{name} {shown}")
        return f"<{type(self).__name__} {', '.join(said[:MOST_SHOWN])}>"

    def _repr_html_(self) -> str:
        from bgfmt.game.display import html, picture

        about: Iterator[Any] = (getattr(self, name, None) for name in ("state", "position", "asked"))
        boards = (
            f'<div style="max-width:26rem">{picture(one)}</div>'
            for one in about
            if hasattr(one, "_repr_svg_")
        )
        board = next(boards, "")
        return board + html(self.as_dict())

    def as_dict(self) -> dict[str, Any]:
        """The fields as plain values."""
        out = {}
        for name, _, optional, get in self.fields:
            value = get(self)
            if value is not None or not optional:
                out[name] = plain(value)
        return out


def _field(word: str) -> Field:
    name, _, path = word.partition("=")
    bare = name.rstrip("?")
    path = path or bare

    def of_any(owner: Any) -> Any:
        """The attribute at the path, None where an object on the way there is None."""
        for part in path.split("."):
            owner = None if owner is None else getattr(owner, part)
        return owner

    optional = bare != name
    return Field(bare, path, optional, of_any if optional and "." in path else attrgetter(path))


def fields_at(path: str, names: str, but: str = "") -> str:
    """The `FIELDS` of an attribute at `path`, to stand among those of the object that has it."""
    words = [word.partition("=") for word in names.split()]
    return "".join(
        f" {name}={path}.{attribute or name.rstrip('?')}" for name, _, attribute in words if name != but
    )


def plain(value: Any) -> Any:
    """A value as JSON has it: positions as text, arrays and tuples as lists."""
    if value is None or isinstance(value, (str, int, float)):
        return value
    if isinstance(value, Plain):
        return value.as_dict()
    if isinstance(value, Mapping):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(one) for one in value]
    return value.tolist() if hasattr(value, "tolist") else str(value)


# -- an option of a question ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class QuestionOption:
    """One thing that a question may say.

    about : one sentence. choices : the texts or numbers allowed. range : of a number. pattern : what a text matches,
    and `words` how that is put. metavar : what the command line's help calls the value. longest : characters of a
    text sent by HTTP. kind : str, int or bool.
    """

    about: str
    choices: tuple[Any, ...] = ()
    range: tuple[int, int] = (0, 0)
    pattern: str = ""
    words: str = ""
    metavar: str | None = None
    longest: int = MOST_TEXT
    kind: type = str

    def read(self, name: str, text: str) -> Any:
        """The value that a text stands for; ValueError in words for a text out of range."""
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
        """The JSON Schema of its value."""
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
    """A field of `bgfmt.analysis.questions.Question`, with what `QuestionOption` takes."""
    return field(default=usual, metadata={"about": about, **more})


# -- the fields of the answers -------------------------------------------------------------------------------


@cache
def shapes() -> dict[str, type[Plain]]:
    """Return the answers that have a name of their own in JSON Schema, TypeScript and the docs.

    They are defined in several modules; `bgfmt.analysis.questions` imports all of them.
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

    kind : "text", "whole", "number", "chance", "yes", "list", "names" (an object by names) or "shape".
    of : the type of the entries. shapes : the shapes that it may have. choices : the texts that it may be.
    """

    kind: str
    of: Any = None
    shapes: tuple[type[Plain], ...] = ()
    choices: tuple[str, ...] = ()
    nullable: bool = False


class Entry(NamedTuple):
    """A field of a shape: its type and its sentence."""

    name: str
    optional: bool
    type: Type
    about: str


def entries(shape: type[Plain]) -> list[Entry]:
    """The fields of a shape, in order."""
    out = []
    for name, path, optional, _ in shape.fields:
        hint, about = _hint(shape, path)
        kind = _type(hint)
        out.append(Entry(name, optional, kind._replace(nullable=kind.nullable and not optional), about))
    return out


def _hint(owner: Any, path: str) -> tuple[Any, str]:
    """The annotation and the sentence of the attribute at a path."""
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
    """The type that an annotation stands for."""
    origin = get_origin(hint)
    arguments = get_args(hint)
    if origin is Annotated:
        return _type(arguments[0], chance or CHANCE in hint.__metadata__)
    if origin in (Union, types.UnionType):
        several = [_type(one, chance) for one in arguments if one is not type(None)]
        shapes = tuple(shape for one in several for shape in one.shapes)
        return several[0]._replace(shapes=shapes, nullable=type(None) in arguments)
    number = Type("chance" if chance else "number")
    simple = {str: "text", Position: "text", Side: "text", bool: "yes", int: "whole", float: number.kind}
    if hint in simple:
        return Type(simple[hint])
    if origin is Literal:
        return Type("text", choices=arguments)
    if origin is Mapping:
        return Type("names", of=_type(arguments[1]))
    if origin in (list, tuple, Sequence):
        return Type("list", of=_type(arguments[0]))
    if isinstance(hint, type) and issubclass(hint, Plain):
        return Type("shape", shapes=(hint,))
    return Type("list", of=number)  # an array


def name_of(shape: type[Plain]) -> str:
    """The name of a shape in JSON Schema, TypeScript and the docs."""
    return next(name for name, one in shapes().items() if one is shape)


# -- JSON Schema ---------------------------------------------------------------------------------------------


def schema_of(shape: type[Plain]) -> Schema:
    """The JSON Schema of a shape; other shapes in it are references."""
    return {
        "type": "object",
        "description": (shape.__doc__ or "").partition("\n\n")[0],
        "properties": {one.name: _schema(one.type) | {"description": one.about} for one in entries(shape)},
        "required": [one.name for one in entries(shape) if not one.optional],
    }


def ref(name: str) -> Schema:
    """A reference to a schema, by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def _schema(of: Type) -> Schema:
    if of.kind == "shape":
        several: list[Schema] = [*(ref(name_of(one)) for one in of.shapes), *[{"type": "null"}] * of.nullable]
        return several[0] if len(several) == 1 else {"anyOf": several}
    if of.kind == "list":
        out: Schema = {"type": "array", "items": _schema(of.of)}
    elif of.kind == "names":
        out = {"type": "object", "additionalProperties": _schema(of.of)}
    else:
        out = {"type": {"text": "string", "whole": "integer", "yes": "boolean"}.get(of.kind, "number")}
    if of.choices:
        out["enum"] = [*of.choices, *[None] * of.nullable]
    return {**out, "type": [out["type"], "null"]} if of.nullable else out
