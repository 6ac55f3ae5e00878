"""Write the reference from the docstrings and the commands' help: `python docs/make_reference.py [FOLDER]`.

The folder is docs/reference, unless another is given. A public name without a docstring is an error.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import sys
import types
from pathlib import Path
from typing import Any

import bgfmt

REFERENCE = Path(__file__).parent / "reference"
#: the modules a page describes beside the front door, in this order
MODULES = (
    "analysis", "annotate", "errors", "formats", "identifiers", "matches", "met", "moves", "orders", "solver",
    "storage", "tables",
)  # fmt: skip
WIDE = 100


class Undocumented(Exception):
    """A public name without a docstring."""


def _doc(name: str, thing: Any) -> str:
    text = inspect.getdoc(thing) or ""
    if not text or text.startswith(f"{getattr(thing, '__name__', '')}("):
        raise Undocumented(name)
    return text


class _Bare(str):
    """An annotation, shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _signature(thing: Any) -> str:
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""

    def bare(annotation: Any) -> Any:
        return _Bare(annotation) if isinstance(annotation, str) else annotation

    parameters = [p.replace(annotation=bare(p.annotation)) for p in found.parameters.values()]
    return str(found.replace(parameters=parameters, return_annotation=bare(found.return_annotation)))


def _head(name: str, thing: Any) -> str:
    """A name with its signature, a parameter a line where it is long."""
    text = name + _signature(thing)
    if len(text) <= WIDE:
        return text
    shown = _signature(thing)
    end = shown.rindex(")")
    pieces = _parted(shown[1:end])
    return "\n".join([f"{name}(", *(f"    {piece}," for piece in pieces), f"){shown[end + 1 :]}"])


def _parted(text: str) -> list[str]:
    """The parameters of a signature: parted at the commas outside all brackets."""
    pieces, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            pieces.append(text[begin:at].strip())
            begin = at + 1
    return [*pieces, text[begin:].strip()]


def _block(text: str, language: str = "") -> list[str]:
    return [f"```{language}", *text.splitlines(), "```", ""]


def _class(name: str, thing: type) -> list[str]:
    short = f"class {name.rsplit('.', maxsplit=1)[-1]}"
    bare = (
        issubclass(thing, BaseException)
        or enum.Enum in thing.__mro__
        or getattr(thing, "_is_protocol", False)
    )
    lines = [
        f"### {name}",
        "",
        *_block(short if bare else _head(short, thing)),
        *_block(_doc(name, thing), "text"),
    ]
    own = {f.name for f in dataclasses.fields(thing)} if dataclasses.is_dataclass(thing) else set()
    for key, value in vars(thing).items():
        if key.startswith("_") or key in own:
            continue
        inner = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        if not inspect.isfunction(inner):
            continue
        doc = inspect.getdoc(getattr(thing, key)) or ""
        if not doc:
            raise Undocumented(f"{name}.{key}")
        shown = key if isinstance(value, property) else f"{key}{_signature(inner)}"
        lines += [f"* `{shown}`: {' '.join(doc.split(chr(10) + chr(10))[0].split())}"]
    return [*lines, ""]


def _entry(name: str, thing: Any) -> list[str]:
    if inspect.isclass(thing):
        return _class(name, thing)
    if callable(thing):
        return [
            f"### {name}",
            "",
            *_block(_head(name.rsplit(".", maxsplit=1)[-1], thing)),
            *_block(_doc(name, thing), "text"),
        ]
    return []


def _public(module: types.ModuleType) -> list[str]:
    names = getattr(module, "__all__", None)
    if names is None:
        names = [
            n
            for n, v in vars(module).items()
            if not n.startswith("_") and getattr(v, "__module__", None) == module.__name__
        ]
    return sorted(names, key=str.lower)


def python_page() -> str:
    """The page of the Python API."""
    lines = ["# Python reference", "", "Made from the docstrings by `python docs/make_reference.py`.", ""]
    lines += [
        "`import bgfmt` is enough for every name below; `import bgfmt.met` and the like work as well.",
        "",
    ]
    lines += ["## bgfmt", "", *_block(_doc("bgfmt", bgfmt), "text")]
    for name in sorted(bgfmt.__all__, key=str.lower):
        thing = getattr(bgfmt, name)
        if not isinstance(thing, types.ModuleType):
            lines += _entry(f"bgfmt.{name}", thing)
    for name in MODULES:
        module = getattr(bgfmt, name)
        lines += [f"## bgfmt.{name}", "", *_block(_doc(name, module), "text")]
        for inner in _public(module):
            thing = getattr(module, inner)
            if not isinstance(thing, types.ModuleType):
                lines += _entry(f"bgfmt.{name}.{inner}", thing)
    return "\n".join(lines).rstrip() + "\n"


def commands_page() -> str:
    """The page of the commands: the help of each."""
    import click

    from bgfmt.cli import cli

    lines = ["# Command reference", "", "The help of every command, as `bgfmt COMMAND --help` prints it.", ""]

    def add(command: click.Command, path: str, parent: click.Context | None) -> None:
        context = click.Context(
            command, info_name=path.rsplit(" ", maxsplit=1)[-1], parent=parent, **settings
        )
        lines.extend([f"## {path}", "", "```text", command.get_help(context), "```", ""])
        if isinstance(command, click.Group):
            for name in command.list_commands(context):
                inner = command.get_command(context, name)
                if inner is not None and not inner.hidden:
                    add(inner, f"{path} {name}", context)

    settings: dict[str, Any] = {"terminal_width": 100, **cli.context_settings}
    top = click.Context(cli, info_name="bgfmt", **settings)
    for name in cli.list_commands(top):
        found = cli.get_command(top, name)
        if found is not None:
            add(found, f"bgfmt {name}", top)
    return "\n".join(lines).rstrip() + "\n"


PAGES = {"python.md": python_page, "commands.md": commands_page}


def main(folder: Path = REFERENCE) -> None:
    """Write all pages into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in PAGES.items():
        (folder / name).write_text(make(), encoding="utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
