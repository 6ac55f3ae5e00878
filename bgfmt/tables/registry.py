"""Entry points: what installed packages register with bgfmt, by group and name.

bgfmt's own kinds, proofs and so on are entry points like those of plugins. Names are read from the packages'
metadata on first use; the module behind a name is imported when that name is first used. The metadata are
parsed here because `importlib.metadata` takes longer to import than a look-up takes.
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

from bgfmt.errors import CapabilityError, MissingExtraError

__all__ = ["EntryPoint", "Registry", "entry_points", "installed_names"]


T = TypeVar("T")


class EntryPoint(NamedTuple):
    """An entry point: its name, and what it refers to, ``module`` or ``module:attribute``."""

    name: str
    value: str

    def load(self) -> Any:
        """Import and return the object that `value` refers to; raises what importing it raises."""
        module, _, attribute = self.value.partition(":")
        return getattr(import_module(module), attribute) if attribute else import_module(module)

    def explain(self, error: Exception) -> str:
        """Return why the entry point does not load, given what `load` raised.

        If bgfmt itself has no such module or attribute, its metadata are those of another version.
        """
        reason = f"{type(error).__name__}: {error}"
        absent = isinstance(error, AttributeError) or str(getattr(error, "name", None)).startswith("bgfmt.")
        if absent and self.value.startswith("bgfmt."):
            reason += (
                "; bgfmt was installed from other code: install it again (in a checkout: pip install -e .)"
            )
        return reason

    def is_installed(self) -> bool:
        """Return whether the package of the module is present; False in an installation without that extra."""
        from importlib.util import find_spec

        package = self.value.partition(":")[0].rpartition(".")[0]
        try:
            return not package or find_spec(package) is not None
        except ModuleNotFoundError as error:  # a package around it, or one that these import
            return not f"{package}.".startswith(f"{error.name}.")
        except Exception:  # a plugin may fail in any way; loading it says how
            return True


def entry_points(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group, by name; of equal names bgfmt's own, else the first on `sys.path`."""
    return _installed()[group]


def installed_names(group: str) -> list[str]:
    """Return the names of those entry points of a group whose packages are installed."""
    return [name for name, point in entry_points(group).items() if point.is_installed()]


@cache
def _installed() -> dict[str, dict[str, EntryPoint]]:
    files: dict[str, str] = {}
    for folder in sys.path:
        for file in sorted(glob(f"{escape(folder or os.curdir)}/*-info/entry_points.txt")):
            package = os.path.basename(os.path.dirname(file)).partition("-")[0].lower()
            files.setdefault(package, file)  # an older version farther down the path does not count
    found: dict[str, dict[str, EntryPoint]] = defaultdict(dict)
    for package in sorted(files, key=lambda package: package != "bgfmt"):
        with open(files[package], encoding="utf-8", errors="replace") as lines:
            group = ""
            for line in map(str.strip, lines):
                name, equals, value = (part.strip() for part in line.partition("="))
                if line.startswith("["):
                    group = line.strip("[]")
                elif equals and not line.startswith(("#", ";")):
                    found[group].setdefault(name, EntryPoint(name, value.partition("[")[0].strip()))
    return found


class Registry(Mapping[str, T], Generic[T]):
    """Objects that packages register in an entry-point group, by name, sorted by name.

    An entry that cannot be loaded counts as absent, so that one broken plugin does not disturb the others;
    `broken` holds the reasons, by name. make : converts what an entry point names to the registered object.
    """

    def __init__(self, group: str, make: Callable[[Any], T] = lambda value: cast(T, value)) -> None:
        self.group = group
        self._make = make
        self.broken: dict[str, str] = {}
        self._loaded: dict[str, T] = {}

    @property
    def points(self) -> dict[str, EntryPoint]:
        """The entry points of the group, by name; nothing is imported."""
        return entry_points(self.group)

    @property
    def entered(self) -> tuple[str, ...]:
        """The names that were added by `enter` and that no entry point has."""
        return tuple(name for name in self._loaded if name not in self.points)

    def enter(self, name: str, value: T) -> None:
        """Add an object under a name that no entry point has, such as a class that a script defines."""
        self._loaded[name] = value

    def remove(self, name: str) -> None:
        """Remove an object added by `enter`; KeyError if there is none of that name."""
        del self._loaded[name]

    def __getitem__(self, name: str) -> T:
        if name not in self._loaded:
            if name in self.broken or name not in self.points:
                raise KeyError(name)
            try:
                self._loaded[name] = self._make(self.points[name].load())
            except MissingExtraError:  # the user can install it
                raise
            except Exception as error:  # a plugin may fail in any way
                if self.points[name].is_installed():
                    self.broken[name] = self.points[name].explain(error)
                raise KeyError(name) from error
        return self._loaded[name]

    def first(self, refusal: str) -> T:
        """Return the first object, by name, that loads; CapabilityError if none does.

        refusal : the beginning of the error's message, followed by why each entry point is broken.
        """
        found = next(iter(self.values()), None)
        if found is None:
            raise CapabilityError("; ".join([refusal, *self.broken.values()]))
        return found

    def __iter__(self) -> Iterator[str]:
        return (name for name in sorted({*self.points, *self._loaded}) if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
