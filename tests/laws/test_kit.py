"""`bgfmt new-format`: the package it makes installs, and its tests, which run the laws from outside, pass."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bgfmt.cli import run
from tests.conftest import ROOT


@pytest.mark.slow
def test_a_new_format_passes_its_tests_out_of_the_box(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["new-format", "my-2nd-format"]) == 0
    package, site = tmp_path / "bgfmt-my-2nd-format", tmp_path / "site"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "-q",
        "--no-build-isolation",
        "--no-deps",
        "--target",
        str(site),
    ]
    subprocess.run([*pip, str(package)], check=True)
    paths = [str(site), str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider"],
        cwd=package,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert "3 passed" in done.stdout
    line = next(part for part in (package / "README.md").read_text().split("`") if "bgfmt convert" in part)
    table = ROOT / "fixtures/golden/gnubg/os_p02.bd"
    command = [sys.executable, "-m", "bgfmt", *line.replace("TABLE.bd", str(table)).split()[1:]]
    subprocess.run(command, cwd=package, env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)}, check=True)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("csv", "'csv' is the name of a format of bgfmt already"),
        ("My Format", "small letters, digits and single hyphens"),
        ("a" * 17, "at most 16"),
        ("here", "bgfmt-here: exists already"),
    ],
)
def test_refusals(
    name: str,
    reason: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bgfmt-here").mkdir()
    assert run(["new-format", name]) == 2
    assert reason in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["bgfmt-here"]


@pytest.mark.slow
def test_the_tables_that_a_wheel_tries_formats_with() -> None:
    from tests.laws.samples import solved_tables

    tables = solved_tables()
    assert {table.kind for table in tables.values()} == {
        "one-sided",
        "two-sided",
        "normal-distribution",
        "mean-rolls",
    }
    assert all(table.check() is None for table in tables.values())
