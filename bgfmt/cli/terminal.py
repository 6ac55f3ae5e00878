"""Output on the terminal: lines wrapped at words, colour, and the progress of long work.

Nothing is wrapped or coloured unless the stream is a terminal; `bgfmt.cli.run` honours NO_COLOR. Everything that may
be written while a progress line is shown is written by `say`, which ends that line first.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import textwrap
import time
from pathlib import Path
from typing import Any, ClassVar

import click

from bgfmt.storage.system import UNITS, format_size

__all__ = ["LABEL", "SILENT_SECONDS", "Progress", "clock", "echo_made", "say"]


SILENT_SECONDS = 0.5  # seconds of work before its progress is shown
LABEL = re.compile(r" *\S+( \S+)? {2,}")  # label at the beginning of a line


def say(text: str = "", *, err: bool = False, **style: Any) -> None:
    """Write lines to stdout, or stderr with `err`; on a terminal they are wrapped at words with a hanging indent.

    style : as for `click.style`, such as ``fg="red"``.
    """
    Progress.end()
    if (sys.stderr if err else sys.stdout).isatty():
        width = shutil.get_terminal_size().columns
        text = "\n".join(_wrap(line, width) if len(line) > width else line for line in text.split("\n"))
    click.secho(text, err=err, **style)


def _wrap(line: str, width: int) -> str:
    """Wrap a line at words; continuation lines are indented to the text after its label."""
    label = LABEL.match(line)
    hang = " " * (len(label[0]) if label else 2 + len(line) - len(line.lstrip()))
    return textwrap.fill(line, width, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False)


class Progress:
    """Progress of long work, shown as a bar on a terminal. Call it with (done, total); also a context manager.

    unit : what is counted. always : if stderr is no terminal, write a plain line every ten seconds, with rate and
    time left; otherwise nothing is written there. quiet : write nothing at all.
    """

    #: the bar that is shown on the terminal now
    bar: ClassVar[Any] = None

    def __init__(self, what: str, unit: str = "", *, always: bool = False, quiet: bool = False) -> None:
        self.what = what
        self.unit = unit
        self.live = sys.stderr.isatty()
        self.silent = quiet or not (self.live or always)
        self.begin = self.last = time.monotonic()
        self.first: tuple[int, float] | None = None  # (amount done, time) at the first call
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
        """Format the percentage done, the rate and the time left."""
        before, began = self.first or (0, now)
        text = f"{100 * done / total if total else 100.0:5.1f} %"
        if done > before and now - began >= 0.5:  # otherwise no meaningful rate yet
            rate = (done - before) / (now - began)
            text += f"  {_short(rate)}{self.unit}/s  {clock((total - done) / rate)} left"
        return text

    def compiling(self) -> None:
        """Report, once, that kernels are being compiled, which happens only the first time on a machine."""
        if not self.silent and not self.announced:
            self.announced = True
            say(f"{self.what}: compiling, once", err=True)

    @classmethod
    def end(cls) -> None:
        """Close the line of the progress bar that is shown on the terminal, if there is one."""
        if cls.bar is not None:
            cls.bar.render_finish()
            cls.bar = None

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        Progress.end()


def _short(number: float) -> str:
    """Format a number with a decimal prefix, such as 1.9 G."""
    return next(
        (f"{number / unit:.1f} {name[0]}" for unit, name in UNITS if number >= unit), f"{number:.0f} "
    )


def clock(seconds: float) -> str:
    """Format a duration as minutes:seconds or hours:minutes:seconds."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def echo_made(path: str, began: float, checksum: str = "") -> None:
    """Print on stderr what was written: its size, the time that it took, and its checksum.

    began : time of the start by `time.monotonic`. checksum : that of a store; of a file the SHA-256 is computed.
    """
    import hashlib  # which takes as long as an answer from a table

    seconds = time.monotonic() - began
    facts = [f"written in {clock(seconds)}" if seconds >= 60 else f"written in {seconds:.1f} s"]
    if os.path.isfile(path):
        with open(path, "rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        facts += [format_size(os.path.getsize(path)), f"SHA-256 {digest}"]
    elif os.path.isdir(path):
        facts.append(
            format_size(sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file()))
        )
    facts += [f"checksum {checksum}"] * bool(checksum)
    say(f"{path}: {', '.join(facts)}", err=True)
