"""The lowest versions that pyproject.toml allows, a line each, as pip reads them: `make lowest` installs them."""

from __future__ import annotations

import tomllib
from pathlib import Path

GROUPS = ("numba", "large", "plot", "parquet", "serve", "remote", "cluster", "test")


def lowest(pyproject: Path) -> set[str]:
    """The requirements of the package and of its extras, each at the first release that its bound names."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    bounds = [*project["dependencies"], *(one for g in GROUPS for one in project["optional-dependencies"][g])]
    return {f"{name}=={version}.*" for name, _, version in (bound.partition(">=") for bound in bounds)}


if __name__ == "__main__":
    print("\n".join(sorted(lowest(Path(__file__).resolve().parents[2] / "pyproject.toml"))))
