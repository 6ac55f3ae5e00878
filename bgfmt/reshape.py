"""Old names of what lives in bgfmt.tables now; to be removed."""

# mypy: implicit-reexport
from typing import Any

from bgfmt.tables import MeanRolls, NormalOneSided, OneSided
from bgfmt.tables.base import KEPT  # noqa: F401


def cut(table: Any, points: int | None = None, chequers: int | None = None) -> Any:
    return table.cut(points, chequers)


def cubeless(table: Any) -> Any:
    return table.cubeless()


def to_normal(table: Any) -> Any:
    return table.to_normal()


def to_mean_rolls(table: Any) -> Any:
    return table.to_mean_rolls()


COARSER: dict[Any, Any] = {
    (OneSided, NormalOneSided): (
        to_normal, "the distributions are replaced by their means and standard deviations",
    ),
    (OneSided, MeanRolls): (to_mean_rolls, "only the mean rolls of each distribution are kept"),
    (NormalOneSided, MeanRolls): (
        to_mean_rolls, "only the mean rolls are kept, not the deviations or gammons",
    ),
}  # fmt: skip
