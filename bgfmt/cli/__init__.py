"""Command line: one module for each command, imported when the command is called.

Answers go to stdout, progress and errors to stderr. Exit codes: 0 success, 1 a finding or a position not covered,
2 misuse or an unreadable file, 130 interrupted. No error ends in a traceback.
"""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
import threading
import warnings
from contextlib import suppress
from typing import Any

import click

from bgfmt import __version__, errors, jit
from bgfmt.cli import options
from bgfmt.cli.sections import OTHER, SECTIONS, section_of
from bgfmt.cli.terminal import Progress, say
from bgfmt.errors import BgfmtError, NotCoveredError, VerificationError
from bgfmt.tables.registry import installed_names

GROUP = "bgfmt.commands"


class Commands(options.Group):
    """Group of the commands of the entry points `bgfmt.commands`; each is imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(installed_names(GROUP))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by section, with whole descriptions."""
        listed: dict[str, list[tuple[str, str]]] = {title: [] for title in (*SECTIONS, OTHER)}
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None and not command.hidden:
                listed[section_of(command)].append((name, command.get_short_help_str(limit=200)))
        for title, rows in listed.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return options.load_command(GROUP, cmd_name)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:  # click would write an empty line before it says so
            raise click.Abort from None


EPILOG = """\b
Examples:
  bgfmt cube "0 1 0 0 1 / 0 1 1"
  bgfmt COMMAND --help
The documents are in docs/ of the source; docs/index.md lists them."""


@click.group(
    cls=Commands,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="bgfmt", message="%(prog)s %(version)s")
def cli() -> None:
    """Read, write, convert, verify and regenerate backgammon bearoff databases."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and end the process; every error becomes one line on stderr and an exit code."""
    # NumPy's warnings, of values in a damaged file that are not numbers
    warnings.simplefilter("ignore", RuntimeWarning)
    sys.unraisablehook = _interrupt_again
    errors.end_lost = _end_lost
    try:
        # read here and not as an option: loading a command may already compile
        quiet = "--quiet" in (sys.argv if arguments is None else arguments)
        with jit.watching(Progress("bgfmt", always=True, quiet=quiet).compiling):
            code = run(arguments)
    except KeyboardInterrupt:  # a second one, while the first was reported
        code = 130
    with suppress(ValueError):  # not in the main thread
        # the work is done; nothing may interrupt Python's own exit
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    if code == 130:
        os._exit(code)  # Python itself may end by the signal, without an exit code
    gc.freeze()  # Python's exit need not search the objects of Numba and NumPy for what it could free
    sys.exit(code)


def _end_lost(name: str) -> None:
    """End the process after a mapped file was cut short; nothing but system calls is safe here."""
    text = f"bgfmt: {name or 'a mapped file'}: truncated, or its disk failed, while it was read\n"
    os.write(2, text.encode(errors="backslashreplace"))
    os._exit(2)


def _interrupt_again(what: sys.UnraisableHookArgs) -> None:
    """Repeat an interrupt that came where Python drops exceptions, such as in a finalizer, a moment later."""
    if issubclass(what.exc_type, KeyboardInterrupt):
        threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()
    else:
        sys.__unraisablehook__(what)


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; with `--json` an error is JSON on stdout as well."""
    stream: Any
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        with suppress(AttributeError, ValueError):  # not of a terminal or file, or read from already
            stream.reconfigure(errors="backslashreplace")  # so that any text is read, and shown everywhere
    words = sys.argv[1:] if arguments is None else arguments
    # an XGID without its word begins as an option does
    arguments = [re.sub(r"^(?=-[-A-Oa-o]{19,29}:)", "XGID=", word) for word in words]
    code, error = _run(arguments)
    if error is not None:
        if "--json" in arguments:
            with suppress(OSError):
                options.echo_json({"error": options.error_fields(error)})
        with suppress(OSError):
            say(f"bgfmt: {options.message_of(error)}", err=True)
    return code


def _call(arguments: list[str]) -> int:
    """Call the command and return its exit code; a group without a command prints its help."""
    colour = False if os.environ.get("NO_COLOR") else None
    code: Any = 0
    try:
        code = cli.main(arguments, prog_name="bgfmt", standalone_mode=False, color=colour)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "")
    sys.stdout.flush()
    return code if isinstance(code, int) else 0


def _run(arguments: list[str]) -> tuple[int, Exception | None]:
    """Run the command and return its exit code and the error to report, if any."""
    if sys.stdout is None:
        return 2, click.ClickException("standard output is closed")
    try:
        return _call(arguments), None
    except click.exceptions.Exit as error:
        return error.exit_code, None
    except (click.Abort, KeyboardInterrupt):
        return 130, click.ClickException("interrupted")
    except click.ClickException as error:
        message = error.format_message()
        if not isinstance(error, click.UsageError):
            return 2, click.ClickException(message)
        return 2, click.UsageError(message + (f" (see {error.ctx.command_path} --help)" if error.ctx else ""))
    except (NotCoveredError, VerificationError) as error:
        return 1, error
    except BgfmtError as error:
        return 2, error
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader of our output has gone
        return 0, None
    except OSError as error:
        return 2, error
    except SystemExit:  # click's own way out when the reader of our output has gone
        return 0, None
    except MemoryError:
        return 2, click.ClickException("not enough memory")
