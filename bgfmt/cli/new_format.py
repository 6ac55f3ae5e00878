"""`bgfmt new-format`: a working package that adds a format, to begin one's own from."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from importlib.resources import files
from pathlib import Path
from string import Template

import click

#: the files of a package, and the templates in bgfmt/data/new-format that they are made from
FILES = {
    "pyproject.toml": "pyproject.toml.txt",
    "README.md": "README.md",
    "{module}.py": "module.py.txt",
    "tests/test_{module}.py": "test.py.txt",
}


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
    from bgfmt import formats
    from bgfmt.errors import OutputExistsError

    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or len(name) > 16:
        raise click.BadParameter(
            f"{name[:40]!r}: small letters, digits and single hyphens, 16 at most", param_hint="NAME"
        )
    if name in formats.FORMATS.points:
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
