"""Fixtures that the tests of several extras share."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support import store_making


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete store of chunks."""
    return store_making.whole(tmp_path_factory.mktemp("store") / "s")


@pytest.fixture
def copied(store: Path, tmp_path: Path) -> Path:
    """A copy of the store, to change."""
    return Path(shutil.copytree(store, tmp_path / "copy"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files to check the store against, by name."""
    return store_making.files(tmp_path_factory.mktemp("made"))
