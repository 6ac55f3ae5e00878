"""All drawing on the terminal: lines wrapped at words, colour, and the progress of long work.

Nothing is wrapped or coloured where the stream is no terminal; NO_COLOR is honoured by `bgfmt.cli.run`. Everything
that may be written while a progress line stands is written by `say`, which ends that line first.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import click

SILENT_SECONDS = 0.5  # seconds of work before its progress is shown
LABEL = re.compile(r" *\S+( \S+)? {2,}")  # with which the text of a line begins
UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def say(text: str = "", *, err: bool = False, **style: Any) -> None:
    """Write lines to stdout, or stderr with `err`; on a terminal they are wrapped at words, below their first one.

    style : as of `click.style`, such as ``fg="red"``.
    """
    Progress.end()
    if (sys.stderr if err else sys.stdout).isatty():
        width = shutil.get_terminal_size().columns
        text = "\n".join(_wrap(line, width) if len(line) > width else line for line in text.split("\n"))
    click.secho(text, err=err, **style)


def _wrap(line: str, width: int) -> str:
    label = LABEL.match(line)
    hang = " " * (len(label[0]) if label else 2 + len(line) - len(line.lstrip()))
    return textwrap.fill(line, width, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False)


class Progress:
    """The progress of long work, as a bar on a terminal. Call it with (done, total); a context manager.

    unit : what is counted. always : where stderr is no terminal, write a plain line every ten seconds, with the rate
    and the time that is left; else nothing is written there. quiet : write nothing anywhere.
    """

    #: the bar that stands on the terminal now
    bar: ClassVar[Any] = None

    def __init__(self, what: str, unit: str = "", *, always: bool = False, quiet: bool = False) -> None:
        self.what = what
        self.unit = unit
        self.live = sys.stderr.isatty()
        self.silent = quiet or not (self.live or always)
        self.begin = self.last = time.monotonic()
        self.first: tuple[int, float] | None = None  # how much was done when counting began, and when
        self.announced = False

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self.first is None:
            self.first = done, now
        every = 0.1 if self.live else 10.0
        if self.silent or (now - self.last < every and done < total) or now - self.begin < SILENT_SECONDS:
            return
        self.last = now
        if not self.live:
            click.echo(f"{self.what}: {self._rate(done, total, now)}", err=True)
            return
        bar = Progress.bar
        if bar is None or bar.length != total or done < bar.pos:
            Progress.end()
            label = textwrap.shorten(self.what, max(12, shutil.get_terminal_size().columns - 64))
            bar = Progress.bar = click.progressbar(length=total, label=label, file=sys.stderr)
        bar.update(done - bar.pos)
        if done >= total:
            Progress.end()

    def _rate(self, done: int, total: int, now: float) -> str:
        before, began = self.first or (0, now)
        text = f"{100 * done / total if total else 100.0:5.1f} %"
        if done > before and now - began >= 0.5:  # else there is no rate to speak of
            rate = (done - before) / (now - began)
            text += f"  {_short(rate)}{self.unit}/s  {clock((total - done) / rate)} left"
        return text

    def compiling(self) -> None:
        """Say, once, that kernels are being compiled, which happens the first time on a machine only."""
        if not self.silent and not self.announced:
            self.announced = True
            say(f"{self.what}: compiling, once", err=True)

    @classmethod
    def end(cls) -> None:
        """End the line of the bar that stands on the terminal."""
        if cls.bar is not None:
            cls.bar.render_finish()
            cls.bar = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        Progress.end()


@contextlib.contextmanager
def announce_compilation() -> Iterator[None]:
    """Inside, the first kernel that has to be compiled is announced on a terminal, unless something else does."""
    if not sys.stderr.isatty():
        yield
        return
    from bgfmt import jit

    with jit.watching(Progress("bgfmt").compiling):
        yield


def _short(number: float) -> str:
    return next(
        (f"{number / unit:.1f} {name[0]}" for unit, name in UNITS if number >= unit), f"{number:.0f} "
    )


def clock(seconds: float) -> str:
    """A duration as minutes:seconds or hours:minutes:seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def size(number: float) -> str:
    """A number of bytes in the unit that gives it one to three digits before the point.

    >>> size(1_923_262_512_345), size(40)
    ('1.9 TB', '40 bytes')
    """
    return next((f"{number / unit:.1f} {name}" for unit, name in UNITS if number >= unit), f"{number} bytes")


def echo_made(path: str, began: float, checksum: str = "") -> None:
    """Say on stderr what was made: its size, the seconds since `began`, a file's SHA-256 or a store's `checksum`."""
    import hashlib  # which takes as long as an answer from a table

    seconds = time.monotonic() - began
    facts = [f"made in {clock(seconds)}" if seconds >= 60 else f"made in {seconds:.1f} s"]
    if os.path.isfile(path):
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        facts += [size(os.path.getsize(path)), f"SHA-256 {digest}"]
    elif os.path.isdir(path):
        facts.append(size(sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file())))
    facts += [f"sum {checksum}"] * bool(checksum)
    say(f"{path}: {', '.join(facts)}", err=True)
