"""All drawing on the terminal: progress of long work, on stderr and only where someone watches."""

from __future__ import annotations

import sys
import time
from types import TracebackType


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
        self.first: int | None = None
        self.shown = False

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self.first is None:
            self.first = done
        if self.silent or (now - self.last < self.every and done < total) or now - self.begin < 0.5:
            return
        self.last, self.shown = now, True
        rate = (done - self.first) / max(now - self.begin, 1e-9)
        left = (total - done) / rate if rate > 0 else 0.0
        share = 100 * done / total if total else 100.0
        text = f"{self.what}: {share:5.1f} %  {_short(rate)}{self.unit}/s  {clock(left)} left"
        end = "" if self.live else "\n"
        print(f"\r{text:<78}" if self.live else text, end=end, file=sys.stderr, flush=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None
    ) -> None:
        if self.shown and self.live:
            print(f"\r{'':78}\r", end="", file=sys.stderr, flush=True)


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
