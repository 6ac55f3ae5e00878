"""`bgfmt formats`: what bgfmt can read and write. `bgfmt new-format`: a working package that adds a format."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import click

from bgfmt.cli import options
from bgfmt.cli.terminal import say

if TYPE_CHECKING:
    from bgfmt.formats import Format


#: the files of a package, and the templates in bgfmt/data/new-format that they are made from
FILES = {
    "pyproject.toml": "pyproject.toml.txt",
    "README.md": "README.md",
    "{module}.py": "module.py.txt",
    "tests/test_{module}.py": "test.py.txt",
}


@click.command()
@options.json_option
def formats(as_json: bool) -> None:
    """List every format: its name, what it holds, its file suffixes and its writing options."""
    from bgfmt import formats as registry

    known = registry.known()
    broken = registry.broken()
    if as_json:
        rows = [
            {
                "name": f.name,
                "title": f.title,
                "suffixes": list(f.suffixes),
                "reads": f.reads,
                "writes": f.writes,
                "kinds": f.kinds(),
                "options": {option.name: option.help for option in f.options},
            }
            for f in known.values()
        ]
        options.echo_json({"formats": rows, "broken": [{"name": b.name, "reason": b.reason} for b in broken]})
        return
    every = max((f.kinds() for f in known.values()), key=len)  # several formats hold them all
    for f in known.values():
        say(f"{f.name:<12} {f.title}  ({_named(f)})")
        say(f"{'':<12}   holds {'any table' if f.kinds() == every else ', '.join(f.kinds())}")
        for option in f.options:
            say(f"{'':<12}   -O {option.name}=...  {option.help}")
    say(f"any table: {', '.join(every)}")
    for b in broken:
        say(f"{b.name:<12} broken: {b.reason}", err=True)


def _named(form: Format[Any]) -> str:
    """The suffixes of a format, and what else to know before one is written."""
    if not form.writes:
        return "read only"
    suffixes = ", ".join(form.suffixes) or f"no suffix: --to {form.name}"
    return suffixes + ("" if form.reads else "; written only") + ("; by name only" if form.historic else "")


@click.command(name="new-format")
@click.argument("name")
@click.argument("folder", metavar="[DIR]", type=click.Path(path_type=Path), required=False)
def new_format(name: str, folder: Path | None) -> int:
    """Make a package in DIR (default: bgfmt-NAME) that adds the format NAME.

    It has an entry point, a reader, a writer, and tests that run the laws of bgfmt's own formats. It holds mean
    rolls until it is changed.

    \b
    Example:
      bgfmt new-format my-format
    """
    from bgfmt import formats as registry
    from bgfmt.errors import OutputExistsError

    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or len(name) > 16:
        raise click.BadParameter(
            f"{name[:40]!r}: small letters, digits and single hyphens, 16 at most", param_hint="NAME"
        )
    if name in registry.FORMATS.points:
        raise click.BadParameter(f"{name!r} is a format that bgfmt has", param_hint="NAME")
    folder = folder or Path(f"bgfmt-{name}")
    if folder.exists():
        raise OutputExistsError(f"{folder}: exists already", replaceable=False)
    module = "bgfmt_" + name.replace("-", "_")
    words = {"name": name, "module": module, "cls": "".join(map(str.capitalize, name.split("-")))}
    made = Path(tempfile.mkdtemp(dir=folder.absolute().parent, prefix=f".{folder.name}-"))
    try:
        for target, template in FILES.items():
            text = files("bgfmt").joinpath("data", "new-format", template).read_text("utf-8")
            path = made / target.format(**words)
            path.parent.mkdir(exist_ok=True)
            path.write_text(Template(text).substitute(words), "utf-8")
        made.chmod(0o755)
        os.rename(made, folder)
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise
    click.echo(f"{folder}: now  cd {folder} && pip install -e '.[test]' && pytest")
    return 0
