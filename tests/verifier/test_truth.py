"""Exit code 0 is for a proof under a named recipe, or for a tolerance that the user named: near is not good."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt import solver
from bgfmt.cli import run
from bgfmt.errors import VerificationError
from tests.conftest import ROOT
from tests.support.node import run_node

Array = Any


def changed(path: Path, out: Path, change: Callable[[dict[str, Array]], None], format: str) -> Path:
    """A copy whose arrays were changed, written by the format as ever."""
    table = bgfmt.load(path)
    arrays = {name: np.array(rows) for name, rows in table.arrays().items()}
    change(arrays)
    bgfmt.save(replace(table, **arrays), out, format=format, force=True)
    return out


def not_good(path: Path) -> bgfmt.verifier.Report:  # type: ignore[name-defined]
    report = bgfmt.verify(path)
    assert report.exit_code == 1, report.verdict
    assert report.status in ("damaged", "differs")
    assert "consistent" not in report.verdict
    return report


# -- the other kinds -------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_units_moved_in_some_rows_of_distributions(golden: Path, tmp_path: Path) -> None:
    def change(arrays: dict[str, Array]) -> None:
        rows = arrays["bearoff"]
        able = np.flatnonzero(np.sort(rows, axis=1)[:, -2] > 400)
        for x in np.random.default_rng(2).choice(able, 60, replace=False):
            first, second = np.argsort(rows[x])[-2:]
            rows[x, first] -= 150
            rows[x, second] += 150

    not_good(changed(golden / "gnubg" / "os_p04.bd", tmp_path / "x.bd", change, "gnubg-os"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ts_06x03.bd", "ts_05x04.bd", "ts_06x04_cubeless.bd"])
@pytest.mark.parametrize("kind", ["bit 0 set", "bit 0 cleared", "a third of a per cent", "all plus one"])
def test_small_systematic_damage_of_equities(golden: Path, tmp_path: Path, name: str, kind: str) -> None:
    def change(arrays: dict[str, Array]) -> None:
        values = arrays["equities"]
        inner = values[1:, 1:]
        if kind == "bit 0 set":
            values |= 1
        elif kind == "bit 0 cleared":
            values &= 0xFFFE
        elif kind == "all plus one":
            inner[inner < 65535] += 1
        else:
            some = np.random.default_rng(4).random(inner.shape) < 0.0033
            inner[some & (inner < 65000)] += 3

    report = not_good(changed(golden / "gnubg" / name, tmp_path / "x.bd", change, "gnubg-ts"))
    assert bgfmt.verify(tmp_path / "x.bd", tolerance=0).exit_code == 1, report.verdict


@pytest.mark.slow
def test_the_lowest_bit_of_normal_distributions_stuck(golden: Path, tmp_path: Path) -> None:
    def change(arrays: dict[str, Array]) -> None:
        arrays["moments"].view(np.uint32)[...] &= 0xFFFFFFFE

    report = not_good(changed(golden / "gnubg" / "os_p04_nd.bd", tmp_path / "x.bd", change, "gnubg-nd"))
    assert report.recipe == ""


@pytest.mark.slow
def test_idle_gammon_rows_cleared_in_an_archive(golden: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.npz"

    def change(arrays: dict[str, Array]) -> None:
        arrays["gammon"][:3060] = 0

    not_good(changed(golden / "gnubg" / "os_p04.bd", path, change, "npz"))


@pytest.mark.slow
def test_mean_rolls_off_in_their_last_bit(tmp_path: Path) -> None:
    table = solver.mean_rolls(4)
    means = np.array(table.means)
    means.view(np.int64)[1:] &= ~1
    path = tmp_path / "x.npz"
    bgfmt.save(replace(table, means=means), path, format="npz")
    assert bgfmt.verify(path).exit_code == 1
    assert bgfmt.verify(path, tolerance=1e-12).status == "within tolerance"
    means = np.array(table.means)
    means[0] = -0.0
    bgfmt.save(replace(table, means=means), path, format="npz", force=True)
    assert bgfmt.verify(path).exit_code == 1


@pytest.mark.slow
@pytest.mark.parametrize("way", ["low bit", "sign of nought", "NaN", "bits of a third"])
def test_exact_tables_to_the_last_bit(tmp_path: Path, way: str) -> None:
    path = tmp_path / "x.npz"
    for table in (solver.two_sided(4, 3, recipe="exact"), solver.one_sided(3, recipe="exact")):
        for name, rows in table.arrays().items():
            values = np.array(rows)
            bits = values.reshape(-1).view(np.int64)
            if way == "low bit":
                bits[len(bits) // 2] ^= 1
            elif way == "NaN":
                values.reshape(-1)[len(bits) // 3] = np.nan
            elif way == "sign of nought":
                zeros = np.flatnonzero(values.reshape(-1) == 0)
                if not len(zeros):
                    continue
                values.reshape(-1)[zeros[len(zeros) // 2]] = -0.0
            else:
                bits[::3] &= ~1
            bgfmt.save(replace(table, **{name: values}), path, format="npz", force=True)
            report = bgfmt.verify(path)
            assert report.exit_code == 1, (way, name, report.verdict)


@pytest.mark.slow
def test_exact_tables_are_proved_without_the_solver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.npz"
    tables = [
        solver.two_sided(4, 3, recipe="exact"),
        solver.two_sided(5, 2, recipe="exact", cubeful=False),
        solver.one_sided(4, recipe="exact"),
        solver.one_sided(3, recipe="exact", gammon=False),
    ]

    def refused(*args: Any, **more: Any) -> Any:
        raise AssertionError("the verifier asked the solver")

    monkeypatch.setattr(solver, "two_sided", refused)
    monkeypatch.setattr(solver, "one_sided", refused)
    for table in tables:
        bgfmt.save(table, path, format="npz", force=True)
        report = bgfmt.verify(path)
        assert (report.status, report.recipe) == ("proved", "exact")
        assert "to the last bit" in report.verdict


# -- less than a proof -----------------------------------------------------------------------------------------


def garbage(table: Any, kind: str) -> Any:
    rng = np.random.default_rng(5)
    arrays = {}
    for name, rows in table.arrays().items():
        values = np.array(rows)
        if kind == "zeros":
            values[...] = 0
        elif kind == "constant":
            values[...] = values.reshape(-1)[len(values.reshape(-1)) // 2]
        else:
            rng.shuffle(values)
        arrays[name] = values
    return replace(table, **arrays)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["zeros", "constant", "shuffled"])
@pytest.mark.parametrize(
    "name",
    [
        "os_p04.bd",
        "os_p03_nd.bd",
        "ts_06x03.bd",
        "ts_06x04_cubeless.bd",
        "means",
        "exact",
        pytest.param("hyper1.bd", marks=pytest.mark.extra("hypergammon")),
    ],
)
def test_no_garbage_passes_even_a_quick_look(golden: Path, tmp_path: Path, name: str, kind: str) -> None:
    if name == "means":
        table: Any = solver.mean_rolls(4)
    elif name == "exact":
        table = solver.two_sided(4, 3, recipe="exact")
    else:
        table = bgfmt.load(golden / "gnubg" / name)
    path = tmp_path / "x.npz"
    bgfmt.save(garbage(table, kind), path, format="npz")
    for more in ({}, {"quick": True}, {"until": "sense"}):
        if kind == "shuffled" and more == {"until": "sense"}:
            continue
        report = bgfmt.verify(path, **more)  # type: ignore[arg-type]
        assert report.exit_code in (1, 2), (more, report.verdict)
    assert run(["verify", "--quick", str(path)]) in (1, 2)


@pytest.mark.slow
def test_a_quick_look_is_asked_for_by_name_and_says_that_it_is_no_proof(golden: Path) -> None:
    report = bgfmt.verify(golden / "gnubg" / "ts_06x04.bd", quick=True)
    assert (report.status, report.exit_code) == ("unproved", 0)
    assert "not a proof" in report.verdict
    assert {"sense", "recurrence"} <= report.seconds.keys()


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["-1", "0", "7", str(1 << 70), str(-(1 << 70))])
def test_any_whole_number_is_a_seed(golden: Path, seed: str) -> None:
    for name in ("ts_06x03.bd", "os_p03.bd", "os_p03_nd.bd", "hyper1.bd"):
        assert run(["verify", "--sample", "5", "--seed", seed, str(golden / "gnubg" / name)]) == 0


def test_what_holds_no_table_is_not_proved(golden: Path) -> None:
    report = bgfmt.verify(golden / "jfile" / "types.ijf")
    assert (report.status, report.exit_code) == ("unproved", 1)
    assert report.verdict.startswith("not proved: ")


@pytest.mark.slow
def test_the_time_is_said_before_and_the_default_proves_whatever_the_size(golden: Path) -> None:
    said: list[float] = []
    report = bgfmt.verify(golden / "gnubg" / "ts_06x03.bd", announce=said.append)
    assert report.status == "proved"
    assert len(said) == 1
    assert said[0] > 0


# -- sums, other files, reports --------------------------------------------------------------------------------


def test_the_wrong_bytes_of_a_known_size_do_not_pass_the_digests(golden: Path, tmp_path: Path) -> None:
    path = tmp_path / "x.bd"
    data = bytearray((golden / "gnubg" / "os_p06.bd").read_bytes())
    data[-3] ^= 8
    path.write_bytes(data)
    report = bgfmt.verify(path, until="digest")
    assert report.exit_code == 1
    assert "not the bytes of a published file of its size and header" in report.verdict
    assert run(["verify", "--until", "digest", str(path)]) == 1
    assert bgfmt.verify(golden / "gnubg" / "os_p06.bd", until="digest").exit_code == 0


def test_another_file_that_is_not_there_is_blamed_itself(
    golden: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = str(golden / "gnubg" / "ts_06x03.bd")
    for other, words in (
        (tmp_path / "nope.bd", "No such file"),
        (tmp_path / "noise.bd", "it begins with 'no datab'"),
    ):
        if words != "No such file":
            other.write_bytes(b"no database at all")
        assert run(["verify", "--against", str(other), good]) == 2
        said = capsys.readouterr()
        assert said.err.startswith(f"bgfmt: {other}: ")
        assert words in said.err
        assert said.err.count("\n") == 1
        assert said.out == ""
    one_sided = str(golden / "gnubg" / "os_p03.bd")
    assert run(["verify", "--against", one_sided, good]) == 2
    assert one_sided in capsys.readouterr().err


@pytest.mark.slow
def test_a_file_that_differs_from_another_is_named(golden: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.bd"
    data = bytearray((golden / "gnubg" / "ts_06x03.bd").read_bytes())
    data[40 + 8 * 3000] ^= 4
    other.write_bytes(data)
    report = bgfmt.verify(golden / "gnubg" / "ts_06x03.bd", against=other)
    assert (report.status, report.exit_code) == ("differs", 1)
    assert f"not the same as {other}" in report.verdict


@pytest.mark.slow
def test_reports_are_json_or_html_and_replace_nothing(
    golden: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.bd"
    path.write_bytes((golden / "gnubg" / "ts_06x03.bd").read_bytes())
    page, data = tmp_path / "report.html", tmp_path / "report.json"
    assert run(["verify", str(path), "--report", str(page)]) == 0
    assert page.read_text().startswith("<!doctype html>")
    assert "proved: every one of 7,056 entries" in page.read_text()
    assert run(["verify", str(path), "--report", str(data)]) == 0
    before = data.read_bytes()
    capsys.readouterr()
    assert run(["verify", str(path), "--report", str(data)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert data.read_bytes() == before
    assert run(["verify", str(path), "--report", str(data), "--force"]) == 0
    assert run(["verify", str(path), "--report", str(tmp_path / "report.bd")]) == 2
    for name in (str(path), str(tmp_path / "link.json")):
        if name.endswith("link.json"):
            (tmp_path / "link.json").symlink_to(path)
        assert run(["verify", str(path), "--report", name, "--force"]) == 2
    assert path.read_bytes() == (golden / "gnubg" / "ts_06x03.bd").read_bytes()
    assert run(["verify", str(golden / "gnubg" / "ts_03x03.bd"), "--report", str(data), "--force"]) == 0


@pytest.mark.slow
def test_a_report_fits_a_phone(golden: Path, tmp_path: Path, oracle: Callable[[str], str]) -> None:
    """Board, checksum and long verdict included; a level is called one."""
    path, page = tmp_path / "x.bd", tmp_path / "report.html"
    data = (golden / "gnubg" / "ts_06x03.bd").read_bytes()
    path.write_bytes(data[:-3] + b"\x01" + data[-2:])
    assert run(["verify", str(path), "--report", str(page)]) == 1
    text = page.read_text()
    assert "<pre>" in text
    assert "<th>level</th>" in text
    node, chromium = oracle("node"), oracle("chromium")
    oracle("npm:playwright-core")
    script = ROOT / "tests/web/report.test.mjs"
    run_node(node, script, BGFMT_REPORT=page.as_uri(), BGFMT_CHROMIUM=chromium)


# -- more than twelve points: the two sides' points overlap ----------------------------------------------------


@pytest.mark.slow
def test_tables_of_more_than_twelve_points_are_not_proved(golden: Path, tmp_path: Path) -> None:
    path = golden / "gnubg" / "ts_13x02.bd"
    report = bgfmt.verify(path)
    assert (report.status, report.exit_code, report.recipe) == ("unproved", 1, "")
    assert "no rule is known" in report.verdict
    with pytest.raises(VerificationError, match="not repairable"):
        bgfmt.repair(path, tmp_path / "mended.bd")
