"""`bgfmt gnubg`: GNU Backgammon's slots for bearoff files; `gnubg-external` and `ubgi`: programs that ask bgfmt."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from bgfmt.cli import asking, options
from bgfmt.files.gnubg_folders import HOSTS, SLOTS
from bgfmt.game.drawing import printable

if TYPE_CHECKING:
    from bgfmt.analysis.engines import Decider

F = TypeVar("F", bound=Callable[..., Any])
RUNGS = ("structure", "digest", "sense", "recurrence", "regenerate")


def _where_options(function: F) -> F:
    for option in (
        click.option("--user", is_flag=True, help="A private folder of yours; needs no root."),
        click.option(
            "--dir", "folder", metavar="DIR", type=click.Path(file_okay=False), help="This folder instead."
        ),
        click.option(
            "--host", type=click.Choice(list(HOSTS)), help="Which program (default: the one found here)."
        ),
    ):
        function = option(function)
    return function


def _until_option(default: str) -> Callable[[F], F]:
    return click.option(
        "--until",
        type=click.Choice(RUNGS),
        default=default,
        show_default=True,
        help="How far the verification goes.",
    )


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def gnubg() -> None:
    """Check, install and list bearoff files where GNU Backgammon looks for them.

    \b
    Slots: os0 gnubg_os0.bd   ts0 gnubg_ts0.bd   os gnubg_os.bd   ts gnubg_ts.bd   hyper1..3 hyperN.bd
    Hosts: debian (1.07), upstream (1.08, -P DIR), pypi (GNUBG_DATA_DIR), gnubg-nn (GNUBGHOME)
    """


@gnubg.command()
@click.argument("file", type=click.Path())
@_until_option("recurrence")
@options.json_option
def check(file: str, until: str, as_json: bool) -> int:
    """Would gnubg read FILE, and rightly? gnubg itself checks almost nothing.

    Exit code 0: it may be installed; 1: it must not, with the reasons; 2: it is not readable at all.

    \b
    Example:
      bgfmt gnubg check ts_3x10.bd
    """
    from bgfmt.extras.hosts.gnubg import check as gnubg_check

    examination = gnubg_check.examine(file, until=until)
    if as_json:
        options.echo_json(examination.as_dict())
        return examination.exit_code
    click.echo(f"{file}: {examination.title}")
    _tell(examination)
    return examination.exit_code


def _tell(examination: Any) -> None:
    for reason in examination.refusals:
        click.echo(f"  refused   {reason}")
    if examination.slots:
        click.echo(f"  slot      {', or '.join(SLOTS[slot] for slot in examination.slots)}")
    click.echo(f"  verified  {examination.verdict}")
    for note in examination.warnings:
        click.echo(f"  note      {note}")
    for host, verdict in examination.hosts.items():
        click.echo(f"  {host:<9} {verdict} ({HOSTS[host]})")


@gnubg.command()
@click.argument("file", type=click.Path())
@click.option("--slot", metavar="SLOT", help="Into which slot (default: the one it fits best).")
@_where_options
@click.option("--link", is_flag=True, help="Put a link there instead of a copy.")
@_until_option("recurrence")
@options.json_option
def install(
    file: str,
    slot: str | None,
    folder: str | None,
    user: bool,
    host: str | None,
    link: bool,
    until: str,
    as_json: bool,
) -> int:
    """Verify FILE, then put it where gnubg looks, under the right name. `uninstall` undoes it.

    \b
    Examples:
      sudo bgfmt gnubg install ts_6x8.bd
      bgfmt gnubg install ts_6x8.bd --user
    """
    from bgfmt.extras.hosts.gnubg import slots as gnubg_slots

    where = _place(host, folder, user)
    with _hints(folder, user):
        done = gnubg_slots.install(file, where, slot, until=until, link=link)
    _tell_finished(done.finished)
    if as_json:
        options.echo_json(done.as_dict())
        return 0
    click.echo(f"installed {done.path} ({done.examination.title}; {done.examination.verdict})")
    if done.replaced:
        click.echo(f"  the file from before is kept as {done.replaced}")
    for note in done.examination.warnings:
        click.echo(f"  note: {note}")
    for command in done.start:
        click.echo(f"  start with: {command}")
    options_text = f"--dir {folder}" if folder else ("--user" if user else "")
    click.echo(f"  undo with: bgfmt gnubg uninstall {done.slot} {options_text}".rstrip())
    return 0


@gnubg.command()
@click.argument("slot", required=False)
@_where_options
@click.option("--force", is_flag=True, help="Even if the file has been changed since.")
def uninstall(slot: str | None, folder: str | None, user: bool, host: str | None, force: bool) -> int:
    """Take out what `install` has put in, and put back what was there before. Without SLOT: everything.

    \b
    Example:
      bgfmt gnubg uninstall ts
    """
    from bgfmt.extras.hosts.gnubg import slots as gnubg_slots

    with _hints(folder, user):
        lines = gnubg_slots.uninstall(_place(host, folder, user), slot, force=force)
    for line in lines:
        click.echo(printable(line, 1000))
    return 0


@gnubg.command()
@_where_options
@_until_option("digest")
@options.json_option
def where(folder: str | None, user: bool, host: str | None, until: str, as_json: bool) -> int:
    """What lies in each slot now, with verdicts. Exit code 1 when gnubg would misread one of them.

    \b
    Example:
      bgfmt gnubg where
    """
    from bgfmt.extras.hosts.gnubg import slots as gnubg_slots

    place = _place(host, folder, user)
    waiting = _finish(place)
    rows = list(gnubg_slots.installed(place, until=until))
    bad = waiting or any(
        examination is not None and (not examination.ok or _wrong_slot(slot, examination))
        for slot, _, examination, _ in rows
    )
    if as_json:
        options.echo_json(
            {
                "host": place.host,
                "start": gnubg_slots.how_to_start(place),
                "slots": {
                    slot: {
                        "path": str(path),
                        "by_bgfmt": ours,
                        "wrong_slot": examination is not None and _wrong_slot(slot, examination),
                        "check": examination.as_dict() if examination else None,
                    }
                    for slot, path, examination, ours in rows
                },
            }
        )
        return int(bad)
    click.echo(HOSTS[place.host])
    for slot, path, examination, ours in rows:
        if examination is None:
            click.echo(f"  {slot:<7} {path}: none")
            continue
        click.echo(f"  {slot:<7} {path}: {examination.title}{' (put there by bgfmt)' if ours else ''}")
        if _wrong_slot(slot, examination):
            click.echo("          wrong type for this slot: gnubg ignores it")
        for reason in examination.refusals:
            click.echo(f"          wrong: {reason}")
        if examination.verified:
            click.echo(f"          {examination.verdict}")
    for command in gnubg_slots.how_to_start(place):
        click.echo(f"  start with: {command}")
    return int(bad)


def _finish(place: Any) -> bool:
    """Settle what a killed process left; whether something is left because this user may not."""
    from bgfmt.extras.hosts.gnubg import slots as gnubg_slots

    try:
        _tell_finished(gnubg_slots.finish(place))
    except gnubg_slots.NotAllowedError as error:
        click.echo(
            f"bgfmt: {printable(error)}; an install that was cut short waits there for root (sudo)", err=True
        )
        return True
    return False


def _tell_finished(lines: list[str]) -> None:
    for line in lines:
        click.echo(f"bgfmt: {printable(line, 1000)}", err=True)


@contextlib.contextmanager
def _hints(folder: str | None, user: bool) -> Iterator[None]:
    """Add to a refusal which option helps."""
    from bgfmt.extras.hosts.gnubg import slots as gnubg_slots

    try:
        yield
    except gnubg_slots.NotAllowedError as error:
        hint = (
            "" if folder or user else "; that needs root (sudo), or --user for a private folder without root"
        )
        raise click.ClickException(f"{error}{hint}") from None
    except gnubg_slots.InstallError as error:
        hint = " (--force takes it out)" if "has been changed since" in str(error) else ""
        raise click.ClickException(f"{error}{hint}") from None


def _wrong_slot(slot: str, examination: Any) -> bool:
    return bool(examination.slots) and slot not in examination.slots


def _place(host: str | None, folder: str | None, user: bool) -> Any:
    from bgfmt.extras.hosts.gnubg import slots as gnubg_slots

    if folder is not None and user:
        raise click.UsageError("--dir and --user name two different folders; choose one")
    return gnubg_slots.place(host, folder, user=user)


def _engine_option(function: F) -> F:
    """`--engine NAME[:KEY=VALUE,...]`: ask an engine in place of tables."""
    text = "Ask an engine (bkg) in place of tables; its own options behind the name."
    return click.option("--engine", metavar="NAME[:KEY=VALUE,...]", help=text)(function)


def _engine_of(text: str, databases: Sequence[str]) -> Decider:
    """The engine of an `--engine` value, as hosts ask it."""
    from bgfmt.analysis import engines

    if databases:
        raise click.UsageError(f"--engine answers without tables: leave out {databases[0]}")
    name, _, rest = text.partition(":")
    pairs = [item for item in rest.split(",") if item]
    bad = next((item for item in pairs if "=" not in item), None)
    if bad is not None:
        raise click.UsageError(f"{bad!r}: an option is KEY=VALUE")
    return engines.EngineDecider(engines.create(name, dict(item.split("=", 1) for item in pairs)))


@click.command(name="gnubg-external")
@click.argument("databases", nargs=-1, type=click.Path(), metavar="[DB...]")
@options.address_options(1234)
@click.option("--resign", is_flag=True, help="Resign games that a two-sided table gives as certainly lost.")
@click.option(
    "--fallback",
    type=click.Choice(["rule", "gnubg"]),
    default="rule",
    show_default=True,
    help="Who plays where no table reaches: a plain rule, or the gnubg Python package.",
)
@click.option(
    "--connections",
    type=click.IntRange(1),
    default=2000,
    show_default=True,
    help="At most this many at once; beyond, the one silent longest gives way.",
)
@_engine_option
@click.option("--verbose", is_flag=True, help="Tell every question and answer on stderr.")
@asking.engine_options
@options.as_option
def gnubg_external(
    databases: tuple[str, ...],
    port: int,
    host: str,
    resign: bool,
    fallback: str,
    connections: int,
    engine: str | None,
    verbose: bool,
    described: str | None,
    **calculation: Any,
) -> int:
    """Play for gnubg's `set player 0 external 127.0.0.1:PORT`, from the best of DB... that covers a position.

    DB are files or folders; without any, BGFMT_DB, what gnubg has installed, or the default tables. Ends on Ctrl-C or
    SIGTERM. With --engine an engine such as bkg plays in their place.

    \b
    Example:
      bgfmt gnubg-external --port 1234 gnubg_ts0.bd gnubg_os0.bd
    """
    from bgfmt.analysis.advisor import Outside
    from bgfmt.extras.hosts.external import Player
    from bgfmt.extras.hosts.server import THREADS, Limits, Server

    log = (lambda text: click.echo(text, err=True)) if verbose else None

    def serve(decider: Decider, threads: int = 0, first: Sequence[str] = ()) -> None:
        player = Player(decider, resign=resign)
        server = Server(player, host, port, limits=Limits(connections=connections), log=log, threads=threads)
        server.run(lambda at: click.echo("\n".join([*first, f"listening on {host}:{at}"]), err=True))

    if engine is not None:
        serve(_engine_of(engine, databases))
        click.echo("stopped", err=True)
        return 0
    outside: Outside = "rule"
    if fallback == "gnubg":
        from bgfmt.extras.hosts.external import GnubgEngine

        outside = GnubgEngine()
    with asking.opened(list(databases), described, None, guard=True) as library:
        # the gnubg package answers in the main thread alone
        serve(
            asking.engine_adviser(library, outside=outside, **calculation),
            THREADS if outside == "rule" else 0,
            library.lines(),
        )
    click.echo("stopped", err=True)
    return 0


@click.command()
@click.argument("databases", nargs=-1, type=click.Path(), metavar="[DB...]")
@_engine_option
@asking.engine_options
@options.as_option
def ubgi(databases: tuple[str, ...], engine: str | None, described: str | None, **calculation: Any) -> int:
    """Speak UBGI (handshake, best play, cube action) from the tables DB...; refuse what they do not cover.

    DB are files or folders; without any, BGFMT_DB, what gnubg has installed, or the default tables. In a match the
    answers are exact for its score where a table of it or calculation on demand reaches. With --engine an engine
    such as bkg answers everything in their place.

    \b
    Example:
      printf 'ubgi\\nposition gnubgid tw8AANg7AAAAAA\\ndice 2 1\\ngo role chequer\\nquit\\n' | bgfmt ubgi t.bd
    """
    from bgfmt.extras.hosts.ubgi import Engine

    def write(line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    if engine is not None:
        Engine(_engine_of(engine, databases), engine.partition(":")[0]).run(sys.stdin.buffer, write)
        return 0
    with asking.opened(list(databases), described, None) as library:
        Engine(asking.engine_adviser(library, **calculation)).run(sys.stdin.buffer, write)
    return 0
