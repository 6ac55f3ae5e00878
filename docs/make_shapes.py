"""Write the shapes of questions and answers into the documents: `python docs/make_shapes.py`.

Generated text stands between ``shapes:begin NAME`` and ``shapes:end`` in `FILES`; a test compares it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from bgfmt.analysis.questions import MET, STATE, options, specific_options
from bgfmt.analysis.shapes import Plain
from bgfmt.extras.serve import shapes

# -- Markdown ------------------------------------------------------------------------------------------------


def markdown(shape: type[Plain]) -> str:
    """A shape as a table of docs/json.md; those of whole answers have the text of the question, too."""
    rows = ["| field | type | meaning |", "| --- | --- | --- |"]
    if shapes.name_of(shape) in (
        "SideRace",
        "TwoRaces",
        "CubeAnswer",
        "MatchCubeAnswer",
        "ScoresAnswer",
        "PlayAnswer",
    ):
        rows.append("| `asked`? | `string` | As typed or sent; not in a part of another answer |")
    for one in shapes.entries(shape):
        about = one.about.removesuffix(".")  # a single sentence in a table needs none
        rows.append(f"| `{one.name}`{'?' * one.optional} | `{_words(one.type)}` | {about} |")
    return "\n".join(rows)


def _title(shape: type[Plain]) -> str:
    """The heading of a shape on docs/json.md, such as `Match cube`."""
    words = re.findall("[A-Z][a-z]*", shapes.name_of(shape).removesuffix("Answer").removeprefix("Ranked"))
    return shape.TITLE or " ".join(words).capitalize()


def _words(of: shapes.Type) -> str:
    if of.kind == "shape":
        text = " or ".join(map(_title, of.shapes))
    elif of.of:
        text = f"[{_words(of.of)}]" if of.kind == "list" else f"{{{_words(of.of)}}}"
    else:
        text = of.kind
    return text + " or null" * of.nullable


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
        kind = _JS.get(full) or _JS.get(one.name) or _typed(one.type)
        optional = one.optional and full not in _JS
        lines += [f"  /** {one.about} */", f"  {one.name}{'?' * optional}: {kind};"]
    return "\n".join([*lines, "}"])


def _typed(of: shapes.Type) -> str:
    if of.kind == "shape":
        text = " | ".join(map(shapes.name_of, of.shapes))
    elif of.of:
        text = f"{_typed(of.of)}[]" if of.kind == "list" else f"Record<string, {_typed(of.of)}>"
    elif of.choices:
        text = " | ".join(f'"{choice}"' for choice in of.choices)
    else:
        text = of.kind if of.kind in ("string", "boolean") else "number"
    return text + " | null" * of.nullable


# -- the files -----------------------------------------------------------------------------------------------

FILES = ("docs/json.md", "docs/ask.md", "docs/web/serve.md", "plugins/js/ask.d.ts")
_MARKED = re.compile(
    r"^(?P<begin>(?:<!--|//) shapes:begin (?P<name>\w+)[^\n]*\n).*?(?=^(?:<!--|//) shapes:end)", re.M | re.S
)


def texts() -> dict[str, str]:
    """The generated texts, by the name that stands in their marks."""
    return {
        **{name: markdown(shape) for name, shape in shapes.SHAPES.items()},
        "options": option_table((*STATE, *MET, *specific_options("cube"), *specific_options("play"))),
        "parameters": option_table([name for name in options() if name != "position"], http=True),
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
