"""Without numba and without any extra: what a table says is there, all else says in a line what to install."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

OPTIONAL = (
    "numba", "llvmlite", "rich", "pyarrow", "zarr", "fsspec", "urllib3", "google_crc32c", "matplotlib", "starlette",
    "uvicorn", "distributed", "dask", "threadpoolctl", "obstore",
)  # fmt: skip
PROGRAM = f"""
import sys
for name in {OPTIONAL}:
    sys.modules[name] = None
from bgfmt.__main__ import main
main()
"""
TS, OS, POSITION = "ts_06x04.bd", "os_p04.bd", "0 1 0 1 / 0 1 1"


def bgfmt(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(autouse=True)
def without_compiled_kernels(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As in a checkout: a wheel needs no numba."""
    monkeypatch.setenv("BGFMT_KERNELS", str(tmp_path / "no library"))


@pytest.fixture(scope="module")
def folder(golden: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("plain")
    for name in (TS, OS, "hyper1.bd"):
        (made / name).write_bytes((golden / "gnubg" / name).read_bytes())
    return made


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("info", TS, OS, "hyper1.bd"),
        ("lookup", TS, POSITION),
        ("lookup", OS, "1 1 0 1"),
        ("lookup", "hyper1.bd", "1/1"),
        ("dump", TS, "--count", "3"),
        ("dump", OS, "--count", "3"),
        ("cube", TS, POSITION),
        ("cube", TS, OS, POSITION, "--json"),
        ("play", TS, POSITION, "21"),
        ("play", TS, POSITION, "all"),
        ("race", OS, "0 1 1"),
        ("race", OS, "0 1 1 / 0 1"),
        ("diff", TS, TS),
        ("formats",),
    ],
    ids=" ".join,
)
def test_a_table_answers(folder: Path, words: tuple[str, ...]) -> None:
    done = bgfmt(folder, *words)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("target", ["copy.npz", "copy.csv", "copy.sqlite", "copy.bd"])
@pytest.mark.parametrize("source", [TS, OS])
def test_a_table_is_converted(folder: Path, source: str, target: str) -> None:
    done = bgfmt(folder, "convert", source, f"{source}-{target}", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    if target == "copy.bd":
        assert (folder / f"{source}-{target}").read_bytes() == (folder / source).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "install"),
    [
        (("verify", TS), "numba"),
        (("cube", OS, POSITION), "numba"),
        (("solve", "two-sided", "2x2", "-o", "new.bd"), "numba"),
        (("solve", "two-sided", "2x2", "--store", "new.store"), "pip install 'bgfmt[large,numba]'"),
        (("solve", "two-sided", "6x13", "-o", "new.bd"), "pip install 'bgfmt[large,numba]'"),
        (("convert", TS, "new.bgts"), "needs threadpoolctl and numba: pip install 'bgfmt[large,numba]'"),
        (("solve", "two-sided", "2x2", "-o", "new.bgts"), "pip install 'bgfmt[large,numba]'"),
        (("convert", TS, "new.parquet"), "pyarrow"),
        (("info", "https://localhost/table.bd"), "urllib3"),
        (("race", OS, "0 1 1", "--plot", "chart.png"), "matplotlib"),
        (("serve", TS), "pip install 'bgfmt[serve]'"),
    ],
    ids=str,
)
def test_the_rest_says_what_to_install(folder: Path, words: tuple[str, ...], install: str) -> None:
    done = bgfmt(folder, *words)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "pip install" in done.stderr
    assert install in done.stderr
    assert not list(folder.glob("new.*"))
