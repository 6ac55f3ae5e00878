"""The command line: one verb a module, each loaded when it is called.

Answers go to stdout, progress and errors to stderr. Exit codes: 0 fine, 1 a finding or a position not covered,
2 misuse or an unreadable file, 130 interrupted. No error ends in a traceback.
"""

from __future__ import annotations

import _thread
import gc
import os
import signal
import sys
import threading
import warnings
from contextlib import suppress
from importlib import import_module
from typing import Any

import click

from bgfmt import __version__

#: verb -> where its click command lives
COMMANDS = {
    "info": "bgfmt.cli.info:info",
    "lookup": "bgfmt.cli.lookup:lookup",
    "dump": "bgfmt.cli.dump:dump",
    "convert": "bgfmt.cli.convert:convert",
    "formats": "bgfmt.cli.formats:formats",
    "solve": "bgfmt.cli.solve:solve",
    "verify": "bgfmt.cli.verify:verify",
    "repair": "bgfmt.cli.repair:repair",
    "diff": "bgfmt.cli.diff:diff",
    "race": "bgfmt.cli.race:race",
    "cube": "bgfmt.cli.cube:cube",
    "play": "bgfmt.cli.play:play",
    "study": "bgfmt.extras.lab.commands.study:study",
    "gnubg": "bgfmt.extras.hosts.commands.gnubg:gnubg",
    "gnubg-external": "bgfmt.extras.hosts.commands.gnubg_external:gnubg_external",
    "matches": "bgfmt.extras.matches.commands.matches:matches",
    "annotate": "bgfmt.extras.matches.commands.annotate:annotate",
    "judge": "bgfmt.extras.matches.commands.judge:judge",
    "engine": "bgfmt.extras.lab.commands.engine:engine",
    "ubgi": "bgfmt.extras.hosts.commands.ubgi:ubgi",
    "serve": "bgfmt.extras.serve.commands.serve:serve",
    "site": "bgfmt.extras.serve.commands.site:site",
}
GROUP = "bgfmt.commands"


class Verbs(click.Group):
    """Loads a verb's module when it is asked for; guests' verbs come from the entry points `bgfmt.commands`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        from importlib.metadata import entry_points

        return list(COMMANDS) + sorted(e.name for e in entry_points(group=GROUP) if e.name not in COMMANDS)

    def invoke(self, ctx: click.Context) -> Any:
        from bgfmt.cli.terminal import telling_of_compiling

        try:
            with telling_of_compiling():
                return super().invoke(ctx)
        except KeyboardInterrupt:  # click would write an empty line before it says so
            raise click.Abort from None

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        where = COMMANDS.get(cmd_name)
        if where is not None:
            module, _, name = where.partition(":")
            return getattr(import_module(module), name)  # type: ignore[no-any-return]
        from importlib.metadata import entry_points

        for entry in entry_points(group=GROUP):
            if entry.name == cmd_name:
                return _guest(entry)
        return None


def _missing(reason: str) -> click.Command:
    """What stands for a command that does not load: it is in the list, and says why when it is called."""

    def say(**_: Any) -> None:
        raise click.ClickException(reason)

    unread = {"ignore_unknown_options": True, "help_option_names": []}
    return click.Command(
        None,
        callback=say,
        params=[click.Argument(["words"], nargs=-1)],
        short_help=reason,
        context_settings=unread,
    )


def _guest(entry: Any) -> click.Command:
    try:
        command = entry.load()
    except Exception as error:  # a guest may fail in any way; it is named, not fatal
        reason = f"{type(error).__name__}: {error}"
        return _missing(f"the guest command {entry.name!r} does not load: {reason}")
    return command  # type: ignore[no-any-return]


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="bgfmt", message="%(prog)s %(version)s")
def cli() -> None:
    """Read, write, convert, verify and regenerate backgammon bearoff databases."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line; every error becomes one line on stderr and an exit code."""
    warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's, of numbers that are none in a damaged file
    # Importing makes objects that stay: to look through them often takes long.
    gc.set_threshold(100_000, 20, 50)
    sys.unraisablehook = _unraisable
    try:
        code = run(arguments)
    except KeyboardInterrupt:  # a second one, or one after the work was done
        code = 130
    if code == 130:
        exec("")  # Python ends by the signal, not with a code, if the last text executed so was interrupted
    with suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # nothing is left to interrupt but Python's own exit
    gc.freeze()  # which then does not look through all of Numba for what could be freed
    sys.exit(code)


def _unraisable(what: sys.UnraisableHookArgs) -> None:
    """An interrupt that came where none can be raised, such as in a finalizer, comes again a moment later."""
    if issubclass(what.exc_type, KeyboardInterrupt):
        threading.Timer(0.01, _interrupt).start()
    else:
        sys.__unraisablehook__(what)


def _interrupt() -> None:
    """Interrupt the main thread, also where it waits for the system."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; with `--json` an error is JSON on stdout as well."""
    code, error = _prepared() or _run(arguments)
    if error is not None:
        from bgfmt.cli import options

        if "--json" in (sys.argv[1:] if arguments is None else arguments):
            with suppress(OSError):
                options.echo_json({"error": options.as_error(error)})
        with suppress(OSError):
            click.echo(f"bgfmt: {options.message_of(error)}", err=True)
    return code


def _prepared() -> tuple[int, Exception] | None:
    """Make the standard streams take any text; what to say where there is no standard output."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    return None if sys.stdout is not None else (2, click.ClickException("standard output is closed"))


def _run(arguments: list[str] | None) -> tuple[int, Exception | None]:
    """The exit code, and what is to be said of an error."""
    from bgfmt.errors import BgfmtError, NotCoveredError, VerificationError

    try:
        code = cli.main(arguments, prog_name="bgfmt", standalone_mode=False)
        sys.stdout.flush()
        return (code if isinstance(code, int) else 0), None
    except click.exceptions.NoArgsIsHelpError as asked:
        click.echo(asked.ctx.get_help() if asked.ctx else "")
        return 0, None
    except click.exceptions.Exit as error:
        return error.exit_code, None
    except (click.Abort, KeyboardInterrupt):
        return 130, click.ClickException("interrupted")
    except click.ClickException as error:
        usage = (
            f" (see {error.ctx.command_path} --help)"
            if isinstance(error, click.UsageError) and error.ctx
            else ""
        )
        kind = click.UsageError if isinstance(error, click.UsageError) else click.ClickException
        return 2, kind(error.format_message() + usage)
    except (NotCoveredError, VerificationError) as error:
        return 1, error
    except BgfmtError as error:
        return 2, error
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # whoever read us has gone
        return 0, None
    except OSError as error:
        return 2, error
    except SystemExit:  # click's own way out when whoever read us has gone
        return 0, None
    except MemoryError:
        return 2, click.ClickException("not enough memory")
