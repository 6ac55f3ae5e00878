"""What is handed out: the source archive holds all of what it holds a part of, the wheel the package alone."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.conftest import ROOT

WHOLE = ("bgfmt", "docs", "plugins", "tests", "fixtures", "benchmarks")


def build(target: str, folder: Path) -> Path:
    if importlib.util.find_spec("hatchling") is None:
        if os.environ.get("BGFMT_REQUIRE_ORACLES") == "1":
            pytest.fail("hatchling is not installed")
        pytest.skip("hatchling is not installed")
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    without_compiler = {**os.environ, "CC": "none"}  # kernels are compiled in tests/jit/test_compiled.py
    done = subprocess.run(
        command, cwd=ROOT, env=without_compiler, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return next(folder.iterdir())


def sources() -> set[str]:
    """Files of the checkout that git has or would take."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a checkout")
    return {name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()}


@pytest.mark.slow
def test_the_source_archive_is_whole(tmp_path: Path) -> None:
    with tarfile.open(build("sdist", tmp_path / "sdist")) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        for folder in WHOLE:
            wanted = {name for name in sources() if name.startswith(f"{folder}/")}
            assert wanted - names == set()
            assert folder == "tests" or {n for n in names if n.startswith(f"{folder}/")} <= sources()
        archive.extractall(tmp_path, filter="data")
    (folder,) = (path for path in tmp_path.iterdir() if path.name.startswith("bgfmt-"))
    reader = subprocess.run(
        ["make", "-s"], cwd=folder / "plugins" / "c", capture_output=True, text=True, check=False
    )
    assert reader.returncode == 0, reader.stderr


@pytest.mark.slow
def test_the_wheel_is_the_package_alone(tmp_path: Path) -> None:
    with zipfile.ZipFile(build("wheel", tmp_path / "wheel")) as archive:
        folders = {name.split("/")[0] for name in archive.namelist()}
        files = {name for name in archive.namelist() if name.startswith("bgfmt/")}
    assert {name for name in folders if not name.endswith(".dist-info")} == {"bgfmt"}
    assert {name for name in sources() if name.startswith("bgfmt/")} - files == set()
