"""Doors: what installed packages bring to bgfmt, by entry-point group and name.

bgfmt's own kinds, proofs and the like come through the same doors as those of guests. Names are read from the
packages' metadata on first use; the module behind a name is imported when that name is first asked for. Metadata are
read here, since `importlib.metadata` takes longer to import than a look-up takes.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from glob import escape, glob
from importlib import import_module
from typing import Any, Generic, NamedTuple, TypeVar, cast

from bgfmt.errors import MissingExtraError

T = TypeVar("T")


class Door(NamedTuple):
    """An entry point: its name, and what lies behind it, ``module`` or ``module:attribute``."""

    name: str
    value: str

    def load(self) -> Any:
        """What lies behind it; the errors are those of importing it."""
        module, _, attribute = self.value.partition(":")
        return getattr(import_module(module), attribute) if attribute else import_module(module)


def doors(group: str) -> dict[str, Door]:
    """What installed packages bring in a group, by name; of equal names bgfmt's own, else the first on the path."""
    return _installed()[group]


@cache
def _installed() -> dict[str, dict[str, Door]]:
    files: dict[str, str] = {}
    for folder in sys.path:
        for file in sorted(glob(f"{escape(folder or os.curdir)}/*-info/entry_points.txt")):
            package = os.path.basename(os.path.dirname(file)).partition("-")[0].lower()
            files.setdefault(package, file)  # an older version farther down the path does not count
    found: dict[str, dict[str, Door]] = defaultdict(dict)
    for package in sorted(files, key=lambda package: package != "bgfmt"):
        with open(files[package], encoding="utf-8", errors="replace") as lines:
            group = ""
            for line in map(str.strip, lines):
                name, equals, value = (part.strip() for part in line.partition("="))
                if line.startswith("["):
                    group = line.strip("[]")
                elif equals and not line.startswith(("#", ";")):
                    found[group].setdefault(name, Door(name, value.partition("[")[0].strip()))
    return found


class Registry(Mapping[str, T], Generic[T]):
    """What packages offer in one group, by name, in order of names.

    An entry that cannot be loaded counts as absent, so that one broken guest does not disturb the others; `broken`
    says why, by name. make : what is offered, of what an entry point names.
    """

    def __init__(self, group: str, make: Callable[[Any], T] = lambda value: cast(T, value)) -> None:
        self.group = group
        self._make = make
        self.broken: dict[str, str] = {}
        self._loaded: dict[str, T] = {}

    @property
    def points(self) -> dict[str, Door]:
        """The entry points of the group, by name; nothing is imported."""
        return doors(self.group)

    @property
    def entered(self) -> tuple[str, ...]:
        """The names that no entry point has: those added by `enter`."""
        return tuple(name for name in self._loaded if name not in self.points)

    def enter(self, name: str, value: T) -> None:
        """Add what no entry point names, such as a class that a script defines."""
        self._loaded[name] = value

    def remove(self, name: str) -> None:
        """Remove what `enter` added; KeyError where there is none."""
        del self._loaded[name]

    def __getitem__(self, name: str) -> T:
        if name not in self._loaded:
            if name in self.broken or name not in self.points:
                raise KeyError(name)
            try:
                self._loaded[name] = self._make(self.points[name].load())
            except MissingExtraError:  # the user can install it
                raise
            except Exception as error:  # a guest may fail in any way
                self.broken[name] = f"{type(error).__name__}: {error}"
                raise KeyError(name) from error
        return self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in sorted({*self.points, *self._loaded}) if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
