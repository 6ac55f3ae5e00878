"""Options and arguments that several commands share, how they are parsed, and how errors are reported."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from functools import reduce
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from bgfmt import errors
from bgfmt.cli.lines import texts
from bgfmt.files.database import Database
from bgfmt.tables.registry import entry_points, installed_names

__all__ = [
    "BYTES",
    "SWITCHES",
    "Group",
    "answer_each_line",
    "as_option",
    "combine",
    "echo_json",
    "error_fields",
    "force_option",
    "hint",
    "json_option",
    "load_command",
    "message_about",
    "message_of",
    "no_option",
    "origin",
    "parse_bytes",
    "part_option",
    "plain_value",
    "quiet_option",
    "refuse_ignored",
    "style_option",
    "threads_option",
    "written_fields",
]


F = TypeVar("F", bound=Callable[..., Any])

#: options of formats that have their own switches, for yes and for no; the others are given as -O NAME=VALUE
SWITCHES = {
    "compressed": ("--compress", "--no-compress"),
    "gammon": ("--gammon", "--no-gammon"),
    "header": ("--header", "--no-header"),
    "cubeful": ("", "--cubeless"),
}


BYTES = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def combine(*added: Callable[[Any], Any]) -> Callable[[F], F]:
    """Return one decorator that adds all these options, in the order in which the help shows them."""
    return lambda function: reduce(lambda inner, option: option(inner), reversed(added), function)


class Group(click.Group):
    """Group of commands that names the nearest command where one is misspelt, lazily loaded ones included."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            name = args[0]
            if name.startswith("-"):  # an option
                raise
        near = errors.suggest_nearest(name, self.list_commands(ctx))
        raise click.UsageError(f"no command {name!r}{near}", ctx)


def load_command(group: str, name: str) -> click.Command | None:
    """Return the command of an entry point, None if it is not installed.

    If it does not load, the command returned reports the reason when it is called.
    """
    point = entry_points(group).get(name)
    if point is None or not point.is_installed():
        return None
    try:
        return point.load()  # type: ignore[no-any-return]
    except Exception as error:  # another package may fail in any way: its command is named, the others go on
        whose = "" if point.value.startswith("bgfmt.") else "plugin "
        reason = f"the {whose}command {name!r} does not load: {point.explain(error)}"

    def refuse(**_: Any) -> None:
        raise click.ClickException(reason)

    return click.Command(
        None, callback=refuse, params=[click.Argument(["words"], nargs=-1)], short_help=reason,
        context_settings={"ignore_unknown_options": True, "help_option_names": []},
    )  # fmt: skip


def no_option(switch: str, name: str, text: str) -> Callable[[F], F]:
    """Return a decorator that adds a switch to a command, which sets the option `name` to False.

    switch : its spelling, such as "--no-gammon". text : its help. The option is one of a solve or a format.
    """
    return click.option(switch, name, flag_value=False, type=bool, default=None, help=text)


# options of several commands
json_option = click.option("--json", "as_json", is_flag=True, help="Answer as JSON.")
style_option = click.option(
    "--format", "style", type=click.Choice(["text", *installed_names("bgfmt.styles")]), default="text",
    help="Print in the layout of another program; xg: as eXtreme Gammon copies it to the clipboard.",
)  # fmt: skip
force_option = click.option("--force", is_flag=True, help="Replace an existing output file.")
quiet_option = click.option(
    "--quiet", is_flag=True, help="Print no progress and no summary of what was written."
)
threads_option = click.option(
    "--threads", type=click.IntRange(1, 4096), help="Threads to use (default: all)."
)
part_option = click.option(
    "--part",
    type=click.IntRange(0),
    help="Which database to read if the file contains several, counted from 0 (default: 0).",
)
as_option = click.option(
    "--as", "described", metavar="FORMAT[:KEY=VALUE,...]",
    help="Read the file as FORMAT; if it has no header, give its size: gnubg-ts:points=6,chequers=6.",
)  # fmt: skip


def refuse_ignored(by: str, names: str) -> None:
    """Raise UsageError if the user gave an option that has no effect with another.

    by : the other option. names : the options without effect, separated by blanks.
    """
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
        if given and parameter.name in names.split():
            raise click.UsageError(f"{parameter.opts[-1]} has no effect with {by}")


def parse_bytes(_: Any, __: Any, text: str | None) -> int | None:
    """Convert a number of bytes such as 2G to an int; None stays None (callback of an option)."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)B?", text.strip().upper())
    if match is None or not float(match.group(1)):
        raise click.BadParameter(f"{text!r}: expected a number of bytes, such as 2G or 500M")
    return int(float(match.group(1)) * BYTES[match.group(2)])


def origin(db: Database) -> dict[str, Any]:
    """Return the fields that name a database as the source of answers: file name, path and maximum errors."""
    return {"table": os.path.basename(db.name), "path": db.name, "max_error": db.table.errors() or None}


def written_fields(path: str) -> dict[str, Any]:
    """Return what `bgfmt info --json` prints about a file just written."""
    import bgfmt

    try:
        with bgfmt.open(path) as made:
            return made.info()
    except errors.UnknownFormatError:  # no header
        return {"file": path, "size": os.path.getsize(path)}


def error_fields(error: BaseException) -> dict[str, str]:
    """Return an error as JSON fields: `kind`, its type, and `message`, one line."""
    return {"kind": type(error).__name__, "message": message_of(error)}


def message_of(error: BaseException) -> str:
    """Return an error's message in one line, with the option that resolves it.

    The messages of system errors begin with the file's name.
    """
    text = _name_switches(error) if isinstance(error, errors.OptionError) else str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join([*text.split(), *hint(error).split()])


def message_about(file: str, error: BaseException) -> str:
    """Return an error's message, which begins with the file's name, for commands that take several files."""
    text = message_of(error)
    return text if text.startswith(f"{file}: ") else f"{file}: {text}"


def _name_switches(error: errors.OptionError) -> str:
    """Return the message of a refused format option in terms of the options of the command line."""
    asked, other = SWITCHES.get(error.option, ("", ""))
    typed = (asked if error.value else other) or f"-O {error.option.replace('_', '-')}"
    offered = [" or ".join(filter(None, SWITCHES.get(name, (f"-O {name}",)))) for name in error.offered]
    near = errors.suggest_nearest(error.option, error.offered)
    return f"{error.format} has no option {typed}{near}; it has: {', '.join(offered) or 'none'}"


def hint(error: BaseException) -> str:
    """Return, in brackets, the command line option that resolves an error, or "" if there is none."""
    match error:
        case errors.TooMuchWorkError():
            return "(a higher --limit N calculates it)"
        case errors.BeyondMetError(extended=False):
            return "(--extend-met extends it to 64-away)"
        case errors.LossError(several=True):
            return "(--part 0, 1, ... converts one table alone; --lossy allows it)"
        case errors.LossError():
            return "(--lossy allows it)"
        case errors.OutputExistsError(replaceable=True):
            return "(--force replaces it)"
        case errors.ScratchError(state="unfinished"):
            return "(--resume continues it, --force starts again)"
        case errors.ScratchError(state="foreign" | "damaged"):
            return "(--force without --resume starts again)"
        case errors.FormatNeededError():
            return "(--to FORMAT)"
        case errors.UnknownFormatError(readings=(first, *_)):
            return f"(--as {first})"
    return ""


def answer_each_line(answer: Callable[[str], Any]) -> int:
    """Answer each line of standard input by a line of JSON, errors too; return 1 if any line had an error, else 0.

    answer : returns the answer for one line, or a list of answers; strings are printed unchanged. The lines of a
    pasted board are one text.
    """
    failed = 0
    for text in texts(sys.stdin):
        try:
            found = answer(text)
        except errors.BgfmtError as error:
            failed = 1
            found = {"asked": text, "error": error_fields(error)}
        for one in found if isinstance(found, list) else [found]:
            if isinstance(one, str):
                click.echo(one)
            else:
                echo_json(one, indent=None)
    return failed


def echo_json(value: Any, indent: int | None = 2) -> None:
    """Print a value as JSON, in one line if `indent` is None. NumPy numbers become plain ones.

    Control characters, which a terminal could interpret, are escaped.
    """
    text = json.dumps(value, indent=indent, default=plain_value, ensure_ascii=False)
    click.echo(re.sub(_OBEYED, lambda found: f"\\u{ord(found[0]):04x}", text))


_OBEYED = "[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]"


def plain_value(value: Any) -> Any:
    """Convert a value to one that JSON supports: NumPy's to Python's, answers to their fields, others to text."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "as_dict"):
        return value.as_dict()
    return str(value)
