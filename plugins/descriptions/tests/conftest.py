"""The tests of the descriptions ask for programs as those of the package do."""

from tests.conftest import oracle

__all__ = ["oracle"]
