"""Write the shapes of questions and answers into the documents: `python docs/make_shapes.py`.

Generated text stands between ``shapes:begin NAME`` and ``shapes:end`` in `FILES`; a test compares it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from bgfmt.analysis.questions import MET, STATE, options, specific_options
from bgfmt.analysis.shapes import Plain
from bgfmt.extras.serve import shapes

# -- Markdown ------------------------------------------------------------------------------------------------


#: shapes in the order of docs/json.md
_PAGE = (
    "Origin",
    "TwoRaces",
    "SideRace",
    "Estimate",
    "CubeAnswer",
    "CubeAction",
    "Insight",
    "MatchCubeAnswer",
    "Choices",
    "Losses",
    "Met",
    "ScoresAnswer",
    "Cell",
    "PlayAnswer",
    "RankedRoll",
    "RankedPlay",
)
#: shapes of whole answers, which have `asked` too
_WHOLE = ("SideRace", "TwoRaces", "CubeAnswer", "MatchCubeAnswer", "ScoresAnswer", "PlayAnswer")
#: heading of docs/json.md for the fields of most answers: `asked`, `position`, an origin
_COMMON = "Common fields"


def markdown(shape: type[Plain]) -> str:
    """A shape as a table of docs/json.md; fields described above on the page only refer to that place.

    Neighbours of the same type and description share a row.
    """
    described: list[tuple[list[str], str, str]] = []
    repeated: dict[tuple[str, str], list[str]] = {}
    if shapes.name_of(shape) in _WHOLE:
        repeated[_COMMON, ""] = ["`asked`?"]
    for one in shapes.entries(shape):
        name = f"`{one.name}`{'?' * one.optional}"
        heading, kind = _described(shape, one)
        if heading:
            repeated.setdefault((heading, kind), []).append(name)
        else:
            about = one.about.removesuffix(".")  # a single sentence in a table needs none
            if described and described[-1][1:] == (_words(one.schema), about):
                described[-1][0].append(name)
            else:
                described.append(([name], _words(one.schema), about))
    rows = ["| field | type | meaning |", "| --- | --- | --- |"]
    rows += [f"| {', '.join(names)} | `{kind}` | {about} |" for names, kind, about in described]
    for (heading, kind), names in repeated.items():
        link = f"[{heading}](#{heading.lower().replace(' ', '-')})"
        rows.append(f"| {', '.join(names)} |{f' `{kind}`' * bool(kind)} | See {link} |")
    return "\n".join(rows)


def _described(shape: type[Plain], field: shapes.Entry) -> tuple[str, str]:
    """The heading under which a field is described above on docs/json.md, and its type if it differs from there.

    A field that may be missing is never null.
    """
    if field.name == "position" and _words(field.schema) == "string":
        return _COMMON, ""
    names = _PAGE[: _PAGE.index(shapes.name_of(shape))]
    for before in (shapes.SHAPES[name] for name in names):
        for other in shapes.entries(before):
            if (other.name, other.about) == (field.name, field.about):
                kind = _words(field.schema)
                there = _words(other.schema)
                there = there.removesuffix(" or null") if field.optional else there
                return _title(before), "" if kind == there else kind
    return "", ""


def _title(shape: type[Plain]) -> str:
    """The heading of a shape on docs/json.md, such as `Match cube`."""
    name = shapes.name_of(shape)
    if name == "Origin":
        return _COMMON
    words = re.findall("[A-Z][a-z]*", name.removesuffix("Answer").removeprefix("Ranked"))
    return shape.TITLE or " ".join(words).capitalize()


def _split(of: shapes.Schema) -> tuple[list[str], str, bool]:
    """The names of the shapes in a schema, the type of another one, and whether it may be null."""
    several = of.get("anyOf", [of])
    names = [one["$ref"].rpartition("/")[2] for one in several if "$ref" in one]
    kinds = [of["type"]] if isinstance(of.get("type"), str) else [*of.get("type", ())]
    return names, kinds[0] if kinds else "", {"type": "null"} in several or "null" in kinds


def _words(of: shapes.Schema) -> str:
    names, kind, nullable = _split(of)
    if names:
        text = " or ".join(_title(shapes.SHAPES[name]) for name in names)
    elif kind == "array":
        text = f"[{_words(of['items'])}]"
    elif kind == "object":
        text = f"{{{_words(of['additionalProperties'])}}}"
    else:
        text = "probability" if "maximum" in of else kind
    return text + " or null" * nullable


def option_table(names: Iterable[str], *, http: bool = False) -> str:
    """Options of a question as a table: of the command line, or of HTTP."""
    rows = [f"| {'parameter' if http else 'option'} | meaning |", "| --- | --- |"]
    for name in names:
        one, switch = options()[name], name.replace("_", "-")
        choices = " ".join(["", *[f"`{choice}`," for choice in one.choices]]).rstrip(",") * (one.kind is str)
        if http:
            spelled = f"`{name}`{' `true`, `false`' * (one.kind is bool)}{choices}"
        elif one.kind is bool:
            spelled = f"`--{switch}`, `--no-{switch}`"
        else:
            value = "" if choices else f" {one.metavar or 'N'}".replace("|", " or ")
            spelled = f"`--{switch}{value}`{choices}"
        rows.append(f"| {spelled} | {one.about.removesuffix('.')} |")
    return "\n".join(rows)


# -- TypeScript ----------------------------------------------------------------------------------------------

#: what answers of plugins/js can only be
_JS = {
    "source": '"two-sided" | "two-sided-gammons" | "two-sided-jacoby" | "one-sided" | "calculation" | "estimate"',
    "max_error": "Record<string, number>",
    "CubeAction.error": "number",
    "measure": "string",
    "label": "1 | 2 | 3 | 4 | 5",
    "RankedPlay.value": "number",
    "RankedPlay.loss": "number",
    "ProbeQuestion.table": "null",
    "SideRace.std_rolls": "number",
    "ProbeAnswer.not_covered": 'Partial<Record<"cube" | "race" | "play", string>>',
    "ProbeAnswer.cube": "CubeAnswer | null",
    "Estimate.approximate": "true",
}


def typescript(shape: type[Plain]) -> str:
    """A shape as an interface, as the answers of plugins/js have it."""
    name = shapes.name_of(shape)
    lines = [f"/** {(shape.__doc__ or '').partition(chr(10))[0]} */", f"export interface {name} {{"]
    for one in shapes.entries(shape):
        full = f"{name}.{one.name}"
        kind = _JS.get(full) or _JS.get(one.name) or _typed(one.schema)
        optional = one.optional and full not in _JS
        lines += [f"  /** {one.about} */", f"  {one.name}{'?' * optional}: {kind};"]
    return "\n".join([*lines, "}"])


def _typed(of: shapes.Schema) -> str:
    names, kind, nullable = _split(of)
    if names:
        text = " | ".join(names)
    elif kind == "array":
        text = f"{_typed(of['items'])}[]"
    elif kind == "object":
        text = f"Record<string, {_typed(of['additionalProperties'])}>"
    elif "enum" in of:
        text = " | ".join(f'"{choice}"' for choice in of["enum"] if choice is not None)
    else:
        text = kind if kind in ("string", "boolean") else "number"
    return text + " | null" * nullable


# -- the files -----------------------------------------------------------------------------------------------

FILES = ("docs/json.md", "docs/ask.md", "docs/web/serve.md", "plugins/js/ask.d.ts")
_MARKED = re.compile(
    r"^(?P<begin>(?:<!--|//) shapes:begin (?P<name>\w+)[^\n]*\n).*?(?=^(?:<!--|//) shapes:end)", re.M | re.S
)


@cache
def texts() -> dict[str, str]:
    """The generated texts, by the name that stands in their marks."""
    commands = (*STATE, *MET, *specific_options("cube"), *specific_options("play"))
    return {
        **{name: markdown(shapes.SHAPES[name]) for name in _PAGE},
        "options": option_table(commands),
        "parameters": option_table(
            [name for name in options() if name not in ("position", *commands)], http=True
        ),
        "typescript": "\n\n".join(map(typescript, shapes.SHAPES.values())),
    }


def filled(text: str) -> str:
    """The text of a file with what stands between its marks made anew."""

    def fill(match: re.Match[str]) -> str:
        apart = "\n" if match["begin"].startswith("<") else ""
        return f"{match['begin']}{apart}{texts()[match['name']]}\n{apart}"

    return _MARKED.sub(fill, text)


def main() -> None:
    """Write the generated texts into their files."""
    for name in FILES:
        path = Path(__file__).resolve().parents[1] / name
        before = path.read_text(encoding="utf-8")
        if filled(before) != before:
            path.write_text(filled(before), encoding="utf-8")
            print(name)


if __name__ == "__main__":
    main()
