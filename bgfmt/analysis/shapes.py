"""The shapes of questions and answers, as programs and people read them: JSON Schema, Markdown, TypeScript.

    python -m bgfmt.analysis.shapes        writes them into docs and plugins/js

Each comes from the classes of `bgfmt.analysis.answers` and `bgfmt.analysis.questions`, whose fields have a type and a
sentence. Generated text stands between ``shapes:begin NAME`` and ``shapes:end`` in docs/json.md, docs/ask.md,
docs/web/serve.md and plugins/js/ask.d.ts; a test compares it.
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from bgfmt.analysis import questions
from bgfmt.analysis.answers import CHANCE, MetName, Plain, RankedPlay, SideRace, SourcedAnswer
from bgfmt.analysis.approximate import TwoSidedEstimate
from bgfmt.analysis.cube import CubeAction
from bgfmt.analysis.match import Cell, Losses, MatchCube, Numbers
from bgfmt.analysis.ondemand import Grid
from bgfmt.game.board import Position, Side

ROOT = Path(__file__).resolve().parents[2]
Schema = dict[str, Any]
#: the answers that have a name of their own in JSON Schema, TypeScript and the docs
SHAPES: dict[type[Plain], str] = {
    SourcedAnswer: "Origin",
    SideRace: "SideRace",
    TwoSidedEstimate: "Estimate",
    questions.TwoRaces: "TwoRaces",
    CubeAction: "CubeAction",
    questions.CubeAnswer: "CubeAnswer",
    Numbers: "Choices",
    Losses: "Losses",
    MetName: "Met",
    questions.MatchCubeAnswer: "MatchCubeAnswer",
    Cell: "Cell",
    questions.ScoresAnswer: "ScoresAnswer",
    RankedPlay: "RankedPlay",
    questions.RankedRoll: "RankedRoll",
    questions.PlayAnswer: "PlayAnswer",
    questions.Described: "Described",
    questions.ProbeQuestion: "ProbeQuestion",
    questions.ProbeAnswer: "ProbeAnswer",
}
#: those that commands and routes give by themselves, with the text of the question beside them
ASKED = (
    SideRace,
    questions.TwoRaces,
    questions.CubeAnswer,
    questions.MatchCubeAnswer,
    questions.ScoresAnswer,
    questions.PlayAnswer,
)
_LATER = {"Grid": Grid, "MatchCube": MatchCube, "Cell": Cell, "TwoSidedEstimate": TwoSidedEstimate}


@dataclass(frozen=True)
class Type:
    """The type of a value in JSON.

    kind : "text", "whole", "number", "chance", "yes", "list", "names" (an object by names) or "shape".
    of : the type of the entries. shapes : the shapes that it may have. choices : the texts that it may be.
    """

    kind: str
    nullable: bool = False
    of: Type | None = None
    shapes: tuple[type[Plain], ...] = ()
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """A field of a shape: its type and its sentence."""

    name: str
    optional: bool
    type: Type
    about: str


def entries(shape: type[Plain]) -> tuple[Entry, ...]:
    """The fields of a shape, in order."""
    out = []
    for name, path, optional, _ in shape.fields:
        kind, about = _resolved(shape, path)
        if optional:
            kind = Type(kind.kind, False, kind.of, kind.shapes, kind.choices)
        out.append(Entry(name, optional, kind, about))
    return tuple(out)


def _resolved(owner: type[Any], path: str) -> tuple[Type, str]:
    """The type and the sentence of the attribute at a path."""
    first, _, rest = path.partition(".")
    attribute: Any = getattr(owner, first, None)
    if isinstance(attribute, property) or hasattr(attribute, "func"):
        function = attribute.fget if isinstance(attribute, property) else attribute.func
        hint = get_type_hints(function, localns=_LATER, include_extras=True)["return"]
        about = (function.__doc__ or "").partition("\n\n")[0]
    else:
        hint = get_type_hints(owner, localns=_LATER, include_extras=True)[first]
        about = next((m for m in getattr(hint, "__metadata__", ()) if m != CHANCE), "")
    if not rest:
        return _type(hint), " ".join(about.split())
    if get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    inner = [one for one in (get_args(hint) or (hint,)) if one is not type(None)]
    return _resolved(inner[0], rest)


def _type(hint: Any, *, chance: bool = False) -> Type:
    """The type that an annotation stands for."""
    if get_origin(hint) is Annotated:
        return _type(get_args(hint)[0], chance=chance or CHANCE in hint.__metadata__)
    if get_origin(hint) in (Union, types.UnionType):
        several = [_type(one, chance=chance) for one in get_args(hint) if one is not type(None)]
        first, nullable = several[0], type(None) in get_args(hint)
        return Type(
            first.kind, nullable, first.of, tuple(s for one in several for s in one.shapes), first.choices
        )
    if get_origin(hint) is Literal:
        return Type("text", choices=get_args(hint))
    plain = {str: "text", Position: "text", Side: "text", bool: "yes", int: "whole"}
    if hint in plain:
        return Type(plain[hint])
    if hint is float:
        return Type("chance" if chance else "number")
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Mapping:
        return Type("names", of=_type(arguments[1]))
    if origin in (list, tuple, Sequence):
        return Type("list", of=_type(arguments[0]))
    if isinstance(hint, type) and issubclass(hint, Plain):
        return Type("shape", shapes=(hint,))
    return Type("list", of=Type("chance" if chance else "number"))  # an array


# -- JSON Schema ---------------------------------------------------------------------------------------------


def schema_of(shape: type[Plain]) -> Schema:
    """The JSON Schema of a shape; other shapes in it are references."""
    fields = entries(shape)
    return {
        "type": "object",
        "description": (shape.__doc__ or "").partition("\n\n")[0],
        "properties": {one.name: _schema(one.type) | {"description": one.about} for one in fields},
        "required": [one.name for one in fields if not one.optional],
    }


def ref(name: str) -> Schema:
    """A reference to a schema, by its name."""
    return {"$ref": f"#/components/schemas/{name}"}


def _schema(of: Type) -> Schema:
    simple = {"text": "string", "whole": "integer", "number": "number", "chance": "number", "yes": "boolean"}
    if of.kind in simple:
        out: Schema = {"type": simple[of.kind]}
        if of.choices:
            out["enum"] = [*of.choices, *([None] if of.nullable else [])]
    elif of.kind == "shape":
        several: list[Schema] = [ref(SHAPES[one]) for one in of.shapes]
        if of.nullable:
            several.append({"type": "null"})
        return several[0] if len(several) == 1 else {"anyOf": several}
    else:
        assert of.of is not None
        inside = _schema(of.of)
        out = {"type": "array", "items": inside} if of.kind == "list" else {
            "type": "object", "additionalProperties": inside
        }  # fmt: skip
    return {**out, "type": [out["type"], "null"]} if of.nullable else out


def option_schema(name: str) -> Schema:
    """The JSON Schema of an option of a question."""
    one = questions.options()[name]
    out: Schema = {"type": {str: "string", int: "integer", bool: "boolean"}[one.kind]}
    if one.choices:
        out["enum"] = list(one.choices)
    elif one.kind is int:
        out |= {"minimum": one.least, "maximum": one.most}
    elif one.pattern:
        out["pattern"] = f"^({one.pattern})$"
    elif one.kind is str:
        out["maxLength"] = questions.MOST_TEXT
    return out


# -- Markdown ------------------------------------------------------------------------------------------------


def markdown(shape: type[Plain]) -> str:
    """A shape as a table of docs/json.md."""
    rows = ["| field | type | meaning |", "| --- | --- | --- |"]
    if shape in ASKED:
        rows.append("| `asked`? | `text` | As typed or sent; not in a part of another answer |")
    for one in entries(shape):
        rows.append(f"| `{one.name}`{'?' * one.optional} | `{_words(one.type)}` | {_cell(one.about)} |")
    return "\n".join(rows)


def _words(of: Type) -> str:
    if of.kind == "shape":
        text = " or ".join(one.TITLE or SHAPES[one] for one in of.shapes)
    elif of.of is not None:
        text = f"[{_words(of.of)}]" if of.kind == "list" else f"{{{_words(of.of)}}}"
    else:
        text = of.kind
    return text + " or null" * of.nullable


def _cell(sentence: str) -> str:
    """A sentence in a table, where a single one needs no full stop."""
    return sentence.removesuffix(".")


def option_table(names: Iterable[str], *, http: bool = False) -> str:
    """Options of a question as a table: of the command line, or of HTTP."""
    rows = [f"| {'parameter' if http else 'option'} | meaning |", "| --- | --- |"]
    for name in names:
        one = questions.options()[name]
        spelled = f"`{name}`" if http else _switch(name, one)
        if http and one.kind is bool:
            spelled += " `true`, `false`"
        elif one.choices and one.kind is str:
            spelled += " " + ", ".join(f"`{choice}`" for choice in one.choices)
        rows.append(f"| {spelled} | {_cell(one.about)} |")
    return "\n".join(rows)


def _switch(name: str, one: questions.QuestionOption) -> str:
    switch = "--" + name.replace("_", "-")
    if one.kind is bool:
        return f"`{switch}`, `--no-{switch[2:]}`"
    return (
        f"`{switch}`"
        if one.choices and one.kind is str
        else f"`{switch} {one.metavar or 'N'}`".replace("|", " or ")
    )


# -- TypeScript ----------------------------------------------------------------------------------------------

#: what answers of tables alone, which plugins/js gives, can only be
_JS = {
    "source": '"two-sided" | "one-sided"',
    "table": "string",
    "measure": "string",
    "label": "1 | 2 | 3 | 4 | 5",
}
_JS |= {"RankedPlay.value": "number", "RankedPlay.loss": "number", "ProbeQuestion.table": "null"}
_JS |= {
    "SideRace.std_rolls": "number",
    "ProbeAnswer.not_covered": 'Partial<Record<"cube" | "race" | "play", string>>',
}
_JS |= {"CubeAnswer.win": "number", "ProbeAnswer.cube": "CubeAnswer | null", "Estimate.approximate": "true"}
_NOT_JS = {"RankedPlay": {"mwc", "loss_mwc", "loss_emg"}, "PlayAnswer": {"away", "crawford", "met"}}
JS_SHAPES = [
    "Origin",
    "SideRace",
    "Estimate",
    "TwoRaces",
    "CubeAction",
    "CubeAnswer",
    "RankedPlay",
    "RankedRoll",
    "PlayAnswer",
    "Described",
    "ProbeQuestion",
    "ProbeAnswer",
]


def typescript(shape: type[Plain]) -> str:
    """A shape as an interface, as the answers of plugins/js have it."""
    name = SHAPES[shape]
    lines = [f"/** {(shape.__doc__ or '').partition(chr(10))[0]} */", f"export interface {name} {{"]
    for one in entries(shape):
        if one.name in _NOT_JS.get(name, ()):
            continue
        kind = _JS.get(f"{name}.{one.name}") or _JS.get(one.name) or _typed(one.type)
        optional = one.optional and f"{name}.{one.name}" not in _JS
        lines += [f"  /** {one.about} */", f"  {one.name}{'?' * optional}: {kind};"]
    return "\n".join([*lines, "}"])


def _typed(of: Type) -> str:
    if of.kind == "shape":
        text = " | ".join(SHAPES[one] for one in of.shapes)
    elif of.of is not None:
        text = f"{_typed(of.of)}[]" if of.kind == "list" else f"Record<string, {_typed(of.of)}>"
    elif of.choices:
        text = " | ".join(f'"{choice}"' for choice in of.choices)
    else:
        text = {"text": "string", "yes": "boolean"}.get(of.kind, "number")
    return text + " | null" * of.nullable


# -- the files -----------------------------------------------------------------------------------------------


def texts() -> dict[str, str]:
    """The generated texts, by the name that stands in their marks."""
    out = {name: markdown(shape) for shape, name in SHAPES.items()}
    out["options"] = option_table((*questions.STATE, *questions.MET))
    asked = [name for name in questions.options() if name != "position"]
    out["parameters"] = option_table(asked, http=True)
    shapes = {name: shape for shape, name in SHAPES.items()}
    out["typescript"] = "\n\n".join(typescript(shapes[name]) for name in JS_SHAPES)
    return out


FILES = ("docs/json.md", "docs/ask.md", "docs/web/serve.md", "plugins/js/ask.d.ts")
_MARKED = re.compile(
    r"^(?P<begin>(?:<!--|//) shapes:begin (?P<name>\w+)[^\n]*\n).*?(?=^(?:<!--|//) shapes:end)", re.M | re.S
)


def filled(text: str) -> str:
    """The text of a file with what stands between its marks made anew."""
    made = texts()

    def fill(match: re.Match[str]) -> str:
        apart = "\n" if match["begin"].startswith("<") else ""
        return f"{match['begin']}{apart}{made[match['name']]}\n{apart}"

    return _MARKED.sub(fill, text)


def main() -> None:
    """Write the generated texts into their files."""
    for name in FILES:
        path = ROOT / name
        before = path.read_text(encoding="utf-8")
        after = filled(before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            print(name)


if __name__ == "__main__":
    main()
