"""Sections of `bgfmt --help`, and the section of each command."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

__all__ = ["OTHER", "SECTIONS", "section", "section_of"]

C = TypeVar("C", bound=click.Command)

#: titles, in the order of the help
SECTIONS = ("Query", "Files", "Solve and verify", "Matches", "Engines", "Services")
OTHER = "Other"


def section(title: str) -> Callable[[C], C]:
    """Return a decorator that sets the section of `bgfmt --help` in which a command is listed."""

    def decorate(command: C) -> C:
        command.section_title = title  # type: ignore[attr-defined]
        return command

    return decorate


def section_of(command: click.Command) -> str:
    """Return the title of the help section of a command; `OTHER` for a plugin's command that names none."""
    title = getattr(command, "section_title", OTHER)
    return title if title in SECTIONS else OTHER
