"""`bgfmt gnubg`: GNU Backgammon's own slots for bearoff files."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import click

from bgfmt.cli import options
from bgfmt.game.text import printable

F = TypeVar("F", bound=Callable[..., Any])
HOSTS = ("debian", "upstream", "pypi", "gnubg-nn")
SLOTS = ("os0", "ts0", "os", "ts", "hyper1", "hyper2", "hyper3")
RUNGS = ("structure", "digest", "sense", "recurrence", "regenerate")


def _where_options(function: F) -> F:
    for option in (
        click.option("--user", is_flag=True, help="A private folder of yours; needs no root."),
        click.option(
            "--dir", "folder", metavar="DIR", type=click.Path(file_okay=False), help="This folder instead."
        ),
        click.option("--host", type=click.Choice(HOSTS), help="Which program (default: the one found here)."),
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

    found = gnubg_check.examine(file, until=until)
    if as_json:
        options.echo_json(found.as_dict())
        return found.exit_code
    click.echo(f"{file}: {found.title}")
    _tell(found)
    return found.exit_code


def _tell(found: Any) -> None:
    from bgfmt.files.gnubg_folders import HOSTS as NAMES
    from bgfmt.files.gnubg_folders import SLOTS as FILES

    for reason in found.refusals:
        click.echo(f"  refused   {reason}")
    if found.slots:
        click.echo(f"  slot      {', or '.join(FILES[slot] for slot in found.slots)}")
    click.echo(f"  verified  {found.verdict}")
    for note in found.warnings:
        click.echo(f"  note      {note}")
    for host, verdict in found.hosts.items():
        click.echo(f"  {host:<9} {verdict} ({NAMES[host]})")


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
    from bgfmt.files import gnubg_folders as folders

    place = _place(host, folder, user)
    waiting = _finish(place)
    rows = list(gnubg_slots.installed(place, until=until))
    bad = waiting or any(
        found is not None and (not found.ok or _wrong_slot(slot, found)) for slot, _, found, _ in rows
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
                        "wrong_slot": found is not None and _wrong_slot(slot, found),
                        "check": found.as_dict() if found else None,
                    }
                    for slot, path, found, ours in rows
                },
            }
        )
        return int(bad)
    click.echo(folders.HOSTS[place.host])
    for slot, path, found, ours in rows:
        if found is None:
            click.echo(f"  {slot:<7} {path}: none")
            continue
        click.echo(f"  {slot:<7} {path}: {found.title}{' (put there by bgfmt)' if ours else ''}")
        if _wrong_slot(slot, found):
            click.echo("          wrong type for this slot: gnubg ignores it")
        for reason in found.refusals:
            click.echo(f"          wrong: {reason}")
        if found.verified:
            click.echo(f"          {found.verdict}")
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


def _wrong_slot(slot: str, found: Any) -> bool:
    return bool(found.slots) and slot not in found.slots


def _place(host: str | None, folder: str | None, user: bool) -> Any:
    from bgfmt.extras.hosts.gnubg import slots as gnubg_slots

    if folder is not None and user:
        raise click.UsageError("--dir and --user name two different folders; choose one")
    return gnubg_slots.place(host, folder, user=user)
