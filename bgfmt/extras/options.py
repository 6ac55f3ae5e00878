"""Options that the commands of several extras share."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from bgfmt.cli.options import combine

__all__ = ["address_options", "check_host_name", "choice_option", "number_option", "resume_option"]


class FloatRange(click.FloatRange):
    """A range of floats that does not include NaN."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number; click.BadParameter for one outside the range, or NaN."""
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


F = TypeVar("F", bound=Callable[..., Any])

resume_option = click.option(
    "--resume", is_flag=True, help="Continue what an interrupted run left (the default)."
)


def number_option(*names: str, least: float, most: float | None = None, **more: Any) -> Callable[[F], F]:
    """Return a click option that takes a number from `least` to `most` (no upper limit if None).

    It is an integer unless one of the limits or the default is a float. names, more : as for `click.option`.
    """
    whole = float not in map(type, (least, most, more.get("default")))
    kind: Any = click.IntRange if whole else FloatRange
    return click.option(*names, type=kind(least, most), show_default="default" in more, **more)


def choice_option(*names: str, among: Iterable[str], **more: Any) -> Callable[[F], F]:
    """Return a click option that takes one of the words `among`; names and `more` are as for `click.option`."""
    return click.option(*names, type=click.Choice([*among]), show_default="default" in more, **more)


def address_options(port: int) -> Callable[[F], F]:
    """Return a decorator that adds the options `--host` and `--port` of a service to a command.

    port : the default port. The default host is this machine itself.
    """
    host: dict[str, Any] = {"default": "127.0.0.1", "callback": check_host_name}
    ports = click.IntRange(0, 65535)
    return combine(
        click.option("--host", show_default=True, help="Address to listen on.", **host),
        click.option("--port", type=ports, default=port, show_default=True, help="Port; 0 picks a free one."),
    )


def check_host_name(_: click.Context, option: click.Parameter, value: Any) -> Any:
    """Return the value of an option for one or more host names, unchanged; it is the callback of the option.

    click.BadParameter for a name that is empty or has blanks, control characters or characters beyond ASCII.
    """
    for name in (value,) if isinstance(value, str) else value:
        if not re.fullmatch(r"[!-~]+", name):
            raise click.BadParameter(f"{name!r} is not a valid host name or address", param=option)
    return value
