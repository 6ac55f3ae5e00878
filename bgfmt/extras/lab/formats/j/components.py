"""The nouns of a J component file that holds no table bgfmt knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bgfmt.errors import NotCoveredError
from bgfmt.tables.base import ArrayRule, Listing, Table


@dataclass(frozen=True, eq=False, kw_only=True)
class Components(Table):
    """The components of a J file: `nouns` decodes component k on demand. It has no positions."""

    kind: ClassVar[str] = "components"
    columns = ()
    nouns: Listing

    @classmethod
    def rules(cls, points: int, chequers: int) -> tuple[ArrayRule, ...]:
        return ()

    @property
    def entries(self) -> int:
        return len(self.nouns)

    @property
    def listing(self) -> Listing:
        return self.nouns

    def covers(self, *_: Any, **__: Any) -> str | None:
        return f"a {self.kind} file holds no positions to look up"

    def number(self, *_: Any, **__: Any) -> Any:
        raise NotCoveredError(f"a {self.kind} file holds no positions to look up")

    covers_side = covers
    asked = lookup = lookup_many = entry_numbers = number

    def values(self, numbers: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.zeros((len(numbers), 0))
