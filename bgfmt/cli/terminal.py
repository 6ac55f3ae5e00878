"""All drawing on the terminal: progress of long work, on stderr and only where someone watches."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bgfmt.solver.plan import Plan


class Progress:
    """A progress line with rate and time left. Call it with (done, total); silent unless stderr is a terminal.

    With `always`, a plain line every ten seconds is written even where stderr is no terminal.
    """

    def __init__(self, what: str, unit: str = "", *, always: bool = False) -> None:
        self.what, self.unit = what, unit
        self.live = sys.stderr.isatty()
        self.every = 0.1 if self.live else 10.0
        self.silent = not (self.live or always)
        self.begin = self.last = time.monotonic()
        self.first: tuple[int, float] | None = None  # how much was done when counting began, and when
        self.shown = self.told = False

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self.first is None:
            self.first = done, now
        if self.silent or (now - self.last < self.every and done < total) or now - self.begin < 0.5:
            return
        self.last = now
        before, began = self.first
        text = f"{100 * done / total if total else 100.0:5.1f} %"
        if done > before and now - began >= 0.5:  # else there is no rate to speak of
            rate = (done - before) / (now - began)
            text += f"  {_short(rate)}{self.unit}/s  {clock((total - done) / rate)} left"
        self._show(text)

    def compiling(self) -> None:
        """Say, once, that kernels are being compiled, which happens the first time on a machine only."""
        if not self.silent and not self.told:
            self.told = True
            self._show("compiling, once")

    def _show(self, text: str) -> None:
        text = f"{self.what}: {text}"
        self.shown = True
        print(
            f"\r{text:<78}" if self.live else text, end="" if self.live else "\n", file=sys.stderr, flush=True
        )

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        if self.shown and self.live:
            print(f"\r{'':78}\r", end="", file=sys.stderr, flush=True)


@contextlib.contextmanager
def telling_of_compiling() -> Iterator[None]:
    """Inside, the first kernel that has to be compiled is announced on a terminal, unless something else does."""
    if not sys.stderr.isatty():
        yield
        return
    from bgfmt import jit

    said: list[bool] = []

    def compiling() -> None:
        if not said:
            said.append(True)
            print("bgfmt: compiling, once", file=sys.stderr, flush=True)

    with jit.watching(compiling):
        yield


def _short(number: float) -> str:
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= size:
            return f"{number / size:.1f}{letter}"
    return f"{number:.0f} "


def clock(seconds: float) -> str:
    """A duration as minutes:seconds or hours:minutes:seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def echo_plan(plan: Plan) -> None:
    """Print what a solve would take."""
    click.echo(plan.what)
    click.echo(f"  time     about {clock(plan.seconds)} on this machine when it is idle")
    click.echo(f"  memory   {plan.memory / 1e6:,.0f} MB" + ("" if plan.fits else " (more than is free now)"))
    click.echo(f"  scratch  {plan.scratch / 1e6:,.0f} MB of disk until the table is whole")
    click.echo(f"  output   {plan.output / 1e6:,.1f} MB")
