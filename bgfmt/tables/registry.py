"""Doors: what installed packages bring to bgfmt, by entry-point group and name.

bgfmt's own kinds, proofs and the like come through the same doors as those of guests. Names are read from the
packages' metadata on first use; the module behind a name is imported when that name is first asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Any, Generic, TypeVar, cast

from bgfmt.errors import MissingExtraError

T = TypeVar("T")


@cache
def _installed() -> EntryPoints:
    """The entry points of all installed packages, which are read once."""
    return cast(EntryPoints, entry_points())


class Registry(Mapping[str, T], Generic[T]):
    """What packages offer in one group, by name, in order of names.

    An entry that cannot be loaded counts as absent, so that one broken guest does not disturb the others; `broken`
    says why, by name. make : what is offered, of what an entry point names.
    """

    def __init__(self, group: str, make: Callable[[Any], T] = lambda value: cast(T, value)) -> None:
        self.group, self._make = group, make
        self.broken: dict[str, str] = {}
        self._loaded: dict[str, T] = {}

    @cached_property
    def points(self) -> dict[str, EntryPoint]:
        """The entry points of the group, by name; nothing is imported."""
        return {point.name: point for point in _installed().select(group=self.group)}

    def enter(self, name: str, value: T) -> None:
        """Add what no entry point names, such as a class that a script defines."""
        self._loaded[name] = value

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

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None

    def __iter__(self) -> Iterator[str]:
        return (name for name in sorted({*self.points, *self._loaded}) if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)
