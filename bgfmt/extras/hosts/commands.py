"""The commands `bgfmt gnubg` (GNU Backgammon's slots for bearoff files), `gnubg-external` and `ubgi` (protocols)."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import click

from bgfmt.cli import asking, options
from bgfmt.cli.sections import section
from bgfmt.cli.verify import LEVELS
from bgfmt.extras import engines
from bgfmt.extras.hosts import conformance
from bgfmt.extras.hosts.conformance import V01, V02
from bgfmt.extras.hosts.gnubg import check as gnubg_check
from bgfmt.extras.hosts.gnubg import places
from bgfmt.extras.hosts.gnubg import slots as gnubg_slots
from bgfmt.extras.options import address_options, choice_option, number_option
from bgfmt.files import gnubg_folders
from bgfmt.files.gnubg_folders import HOSTS, SLOTS
from bgfmt.game.drawing import printable

F = TypeVar("F", bound=Callable[..., Any])


def _where_options(function: F) -> F:
    """Add the options `--user`, `--dir` and `--host` to a command, the parameters of `_place`."""
    hosts = click.Choice(list(HOSTS))
    folder = click.Path(file_okay=False)
    host = click.option(
        "--host", type=hosts, help="Program to check for (default: the one found on this machine)."
    )
    here = click.option(
        "--dir", "folder", metavar="DIR", type=folder, help="Use this folder instead of the program's."
    )
    user = click.option("--user", is_flag=True, help="Use a private folder of yours; needs no root.")
    return user(here(host(function)))


def _until_option(default: str) -> Callable[[F], F]:
    """Return the option `--until` with a default."""
    return choice_option("--until", among=LEVELS, default=default, help="Last level of the verification.")


@section("Engines")
@click.group(cls=options.Group, context_settings={"help_option_names": ["-h", "--help"]})
def gnubg() -> None:
    """Check, install and list bearoff files where GNU Backgammon looks for them.

    \b
    Slots (names of the files that gnubg looks for):
      os0 gnubg_os0.bd   ts0 gnubg_ts0.bd   os gnubg_os.bd   ts gnubg_ts.bd   hyper1..3 hyperN.bd

    \b
    Hosts (builds of gnubg, for --host), and how each finds its folder:
      debian     version 1.07: /usr/share/gnubg or /var/lib/gnubg
      upstream   version 1.08: the option -P DIR of gnubg
      pypi       the variable GNUBG_DATA_DIR
      gnubg-nn   the variable GNUBGHOME
    """


@gnubg.command()
@click.argument("file", type=click.Path())
@_until_option("recurrence")
@options.json_option
def check(file: str, until: str, as_json: bool) -> int:
    """Check whether gnubg would read FILE and use it correctly.

    gnubg itself checks almost nothing. Exit code 0: safe to install; 1: not safe, with the reasons; 2: not readable.

    \b
    Example:
      bgfmt gnubg check ts_3x10.bd
    """
    examination = gnubg_check.examine(file, until=until)
    if as_json:
        options.echo_json(examination.as_dict())
        return examination.exit_code
    click.echo(f"{file}: {examination.title}")
    rows = [("refused", reason) for reason in examination.refusals]
    if examination.slots:
        rows.append(("slot", ", or ".join(SLOTS[slot] for slot in examination.slots)))
    rows += [("verified", examination.verdict), *(("note", note) for note in examination.warnings)]
    rows += [(host, f"{verdict} ({HOSTS[host]})") for host, verdict in examination.hosts.items()]
    for label, text in rows:
        click.echo(f"  {label:<9} {text}")
    return examination.exit_code


@gnubg.command()
@click.argument("file", type=click.Path())
@click.option("--slot", metavar="SLOT", help="Slot to install into (default: the best fit).")
@_where_options
@click.option("--link", is_flag=True, help="Install a link instead of a copy.")
@_until_option("recurrence")
@options.json_option
def install(file: str, slot: str | None, link: bool, until: str, as_json: bool, **where: Any) -> int:
    """Verify FILE, then install it in gnubg's folder.

    The copy gets the name that gnubg looks for. `uninstall` undoes it.

    \b
    Examples:
      sudo bgfmt gnubg install ts_6x8.bd
      bgfmt gnubg install ts_6x8.bd --user
    """
    with _hints(where):
        done = gnubg_slots.install(file, _place(**where), slot, until=until, link=link)
    if as_json:
        options.echo_json(done.as_dict())
        return 0
    click.echo(f"installed {done.path} ({done.examination.title}; {done.examination.verdict})")
    if done.replaced:
        click.echo(f"  the previous file is kept as {done.replaced}")
    for note in done.examination.warnings:
        click.echo(f"  note: {note}")
    for command in done.start:
        click.echo(f"  start with: {command}")
    options_of_place = {"--host": where["host"], "--dir": where["folder"]}
    words = [word for option in options_of_place.items() if option[1] for word in option]
    undo = shlex.join(["bgfmt", "gnubg", "uninstall", done.slot, *words, *["--user"] * where["user"]])
    click.echo(f"  undo with: {undo}")
    return 0


@gnubg.command()
@click.argument("slot", required=False)
@_where_options
@click.option("--force", is_flag=True, help="Uninstall even if the file has been changed since.")
def uninstall(slot: str | None, force: bool, **where: Any) -> int:
    """Remove an installed file and restore the previous one.

    Without SLOT this is done in every slot.

    \b
    Example:
      bgfmt gnubg uninstall ts
    """
    with _hints(where):
        lines = gnubg_slots.uninstall(_place(**where), slot, force=force)
    for line in lines:
        click.echo(printable(line, 1000))
    return 0


@gnubg.command(name="where")
@_where_options
@_until_option("digest")
@options.json_option
def list_slots(until: str, as_json: bool, **where: Any) -> int:
    """List the file in each slot and say whether gnubg can use it.

    Exit code 1: gnubg would misread one of them.

    \b
    Example:
      bgfmt gnubg where
    """
    place = _place(**where)
    exit_code = 0
    slots = dict[str, Any]()
    lines = [HOSTS[place.host]]
    for slot, path, exam, ours in gnubg_slots.examine_slots(place, until=until):
        wrong = exam is not None and slot not in (exam.slots or (slot,))
        if wrong or not (exam is None or exam.ok):
            exit_code = 1
        facts = {"path": str(path), "by_bgfmt": ours, "wrong_slot": wrong}
        slots[slot] = facts | {"check": exam and exam.as_dict()}
        what = "none" if exam is None else f"{exam.title}{' (put there by bgfmt)' if ours else ''}"
        lines.append(f"  {slot:<7} {path}: {what}")
        if wrong:
            lines.append("          wrong type for this slot: gnubg ignores it")
        if exam is not None:
            lines += [f"          wrong: {reason}" for reason in exam.refusals]
            lines.append(f"          {exam.verdict}")
    start = gnubg_slots.how_to_start(place)
    lines += [f"  start with: {command}" for command in start]
    if as_json:
        options.echo_json({"host": place.host, "start": start, "slots": slots})
    else:
        click.echo("\n".join(lines))
    return exit_code


@contextlib.contextmanager
def _hints(where: dict[str, Any]) -> Iterator[None]:
    """Add to an error the option that helps."""
    try:
        yield
    except PermissionError as error:
        private = where["folder"] or where["user"]
        hint = "" if private else "; use sudo, or --user for a private folder without root"
        raise click.ClickException(f"{error.filename}: {error.strerror}{hint}") from None
    except gnubg_folders.InstallError as error:
        hint = " (--force uninstalls it)" if "has been changed since" in str(error) else ""
        raise click.ClickException(f"{error}{hint}") from None


def _place(host: str | None, folder: str | None, user: bool) -> places.Place:
    """Return the place that the options name; UsageError if they contradict each other."""
    if folder is not None and user:
        raise click.UsageError("--dir and --user exclude each other")
    return places.place(host, folder, user=user)


_engine_option = click.option(
    "--engine", metavar="NAME[:KEY=VALUE,...]",
    help="Answer with an engine (bkg) instead of tables; its own options follow the name.",
)  # fmt: skip


@contextlib.contextmanager
def _open_decider(
    engine: str | None, databases: tuple[str, ...], described: str | None, **how: Any
) -> Iterator[tuple[engines.Decider, Sequence[str]]]:
    """Return a context manager of what answers, and of lines about it: an engine, or an adviser of the databases.

    engine : the value of `--engine`. how : options of the adviser.
    """
    if engine is None:
        with asking.open_library(list(databases), described, None, guard=True) as library:
            yield asking.engine_adviser(library, **how), library.lines()
    elif databases:
        raise click.UsageError(f"--engine takes no tables; remove {databases[0]}")
    else:
        name, _, rest = engine.partition(":")
        yield engines.EngineDecider(engines.create(name, engines.parse_options(rest.split(",")))), ()


@section("Engines")
@click.command(name="gnubg-external")
@click.argument("databases", nargs=-1, type=click.Path(), metavar="[DB...]")
@address_options(1234)
@click.option("--resign", is_flag=True, help="Resign games that a two-sided table gives as certainly lost.")
@choice_option(
    "--fallback", among=("rule", "gnubg"), default="rule",
    help="What plays if no table covers the position: a simple rule, or the gnubg Python package.",
)  # fmt: skip
@number_option(
    "--connections", least=1, default=2000,
    help="Maximum number of connections; beyond it the one idle longest is closed.",
)  # fmt: skip
@_engine_option
@click.option("--verbose", is_flag=True, help="Print every query and answer on stderr.")
@asking.engine_options
@options.as_option
def gnubg_external(
    databases: tuple[str, ...], port: int, host: str, resign: bool, fallback: str, connections: int,
    engine: str | None, verbose: bool, described: str | None, **calculation: Any,
) -> int:  # fmt: skip
    """Serve gnubg's `set player 0 external 127.0.0.1:PORT`: play by the best of DB... that covers a position.

    DB are files or folders; the default is BGFMT_DB, else gnubg's installed databases, else the default tables.
    Ends on Ctrl-C or SIGTERM. With --engine an engine such as bkg plays instead.

    \b
    Example:
      bgfmt gnubg-external --port 1234 gnubg_ts0.bd gnubg_os0.bd
    """
    from bgfmt.analysis.advisor import Outside
    from bgfmt.extras.hosts.external import GnubgEngine, Player
    from bgfmt.extras.hosts.server import THREADS, Server

    log = (lambda text: click.echo(text, err=True)) if verbose else None
    outside: Outside = "rule" if fallback == "rule" or engine is not None else GnubgEngine()
    # engines and the gnubg package answer in the main thread alone
    threads = THREADS if outside == "rule" and engine is None else 0
    with _open_decider(engine, databases, described, outside=outside, **calculation) as (decider, lines):
        player = Player(decider, resign=resign)
        server = Server(player, host, port, connections=connections, log=log, threads=threads)
        server.run(lambda at: click.echo("\n".join([*lines, f"listening on {host}:{at}"]), err=True))
    click.echo("stopped", err=True)
    return 0


@section("Engines")
@click.command()
@click.argument("databases", nargs=-1, type=click.Path(), metavar="[DB...]")
@_engine_option
@click.option(
    "--check", metavar="COMMAND", help="Run the conformance tests against another engine and list what fails."
)
@click.option(
    "--protocol",
    type=click.Choice(["auto", V01, V02]),
    default="auto",
    help="Version of UBGI (default: as in the controller's commands, or as the checked engine names it).",
)
@asking.engine_options
@options.as_option
def ubgi(
    databases: tuple[str, ...], engine: str | None, check: str | None, protocol: str, described: str | None,
    **calculation: Any,
) -> int:  # fmt: skip
    """Answer commands of UBGI 0.1 and 0.2 (best play, cube action) from the tables DB...; refuse the rest.

    DB are files or folders; the default is BGFMT_DB, else gnubg's installed databases, else the default tables. At a
    match score the answer is exact for that score if a table solved for it covers the position, or if the position
    can be calculated exactly. With --engine an engine such as bkg answers instead.

    \b
    Example:
      printf 'ubgi\\nposition gnubgid tw8AANg7AAAAAA\\ndice 2 1\\ngo role chequer\\nquit\\n' | bgfmt ubgi t.bd
    """
    if check is not None:
        return _check_engine(check, () if protocol == "auto" else (protocol,))
    from bgfmt.extras.hosts.ubgi import Engine

    how: dict[str, Any] = {} if protocol == "auto" else {"version": protocol, "fixed": True}

    def write(line: str) -> None:
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    with _open_decider(engine, databases, described, **calculation) as (decider, _):
        Engine(decider, (engine or "").partition(":")[0], **how).run(sys.stdin.buffer, write)
    return 0


def _check_engine(command: str, versions: Sequence[str]) -> int:
    """Print how an engine answers the corpora of these versions; return 1 where it fails a case."""
    outcomes = conformance.check(command, versions)
    for version, level in sorted({(one.case.version, one.case.level) for one in outcomes}):
        cases = [one for one in outcomes if (one.case.version, one.case.level) == (version, level)]
        for one in cases:
            why = f": {printable(one.why)}" if one.why else ""
            click.echo(f"{one.verdict:8} level {level}  {one.case.name}{why}")
        verdicts = Counter(one.verdict for one in cases)
        click.echo(
            f"UBGI {version}, level {level}: {verdicts['ok']} of {len(cases)} ok, {verdicts['refused']} refused, "
            f"{verdicts['failed']} failed"
        )
    return int(any(one.verdict == "failed" for one in outcomes))
