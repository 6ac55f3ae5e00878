"""Damaged copies: none is called good, the altered entry is named first, nothing crashes or hangs."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt import solver
from bgfmt.cli import run
from bgfmt.errors import CapabilityError
from bgfmt.formats.gnubg.family import GnubgHeader
from bgfmt.formats.j.container import Container
from bgfmt.formats.records import as_read
from bgfmt.game.board import Side
from bgfmt.tables import Table
from bgfmt.tables.hypergammon import HyperSides
from bgfmt.verifier import words
from bgfmt.verifier.findings import Finding, Rule
from tests.support import damage

FRAMES = [pytest.param(form, marks=pytest.mark.extra("frames")) for form in ("parquet", "sqlite")]
FILES = (
    "os_p02.bd", "os_p03.bd", "os_p03_c.bd", "os_p03_g.bd", "os_p03_cg.bd", "os_p03_nd.bd", "ts_03x03.bd",
    "ts_03x03_cubeless.bd", "ts_06x02.bd", "ts_05x04.bd", "ts_12x02.bd", "hyper1.bd", "concat_os_p02_ts_03x03.bd",
)  # fmt: skip


def foreign_of(golden: Path, name: str) -> bytes:
    return (golden / "gnubg" / ("ts_05x03.bd" if name.startswith("os") else "os_p03_c.bd")).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(damage.KINDS))
@pytest.mark.parametrize("name", FILES)
def test_no_damaged_copy_is_called_good(golden: Path, tmp_path: Path, name: str, kind: str) -> None:
    original = (golden / "gnubg" / name).read_bytes()
    path = tmp_path / "damaged.bd"
    path.write_bytes(damage.damaged(original, kind, FILES.index(name), foreign_of(golden, name)))
    report = bgfmt.verify(path)
    assert report.exit_code in (1, 2), report.verdict
    assert "\n" not in report.verdict
    assert report.verdict.startswith(("damaged: ", "not what it claims: ", "not readable: ", "differs from "))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ts_06x02.bd", "ts_05x04.bd", "ts_06x04_cubeless.bd", "ts_12x02.bd"])
def test_a_single_altered_entry_is_named_first(golden: Path, tmp_path: Path, name: str) -> None:
    original = (golden / "gnubg" / name).read_bytes()
    width = 2 if "cubeless" in name else 8
    path = tmp_path / "altered.bd"
    for seed in range(8):
        data = damage.damaged(original, "unit", seed, b"")
        at = next(k for k in range(len(data)) if data[k] != original[k])
        path.write_bytes(data)
        report = bgfmt.verify(path)
        assert (report.wrong, report.inherited) == (1, 0)
        finding = next(one for one in report.findings if one.rule.check == "recurrence")
        assert finding.entry == (at - 40) // width
        assert finding.offset == at - (at - 40) % width
        start = 40 + (at - 40) // width * width
        assert finding.found == np.frombuffer(data[start : start + width], "<u2").tolist()
        assert finding.expected == np.frombuffer(original[start : start + width], "<u2").tolist()
        assert words.board(finding)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["os_p03.bd", "os_p03_c.bd", "os_p03_cg.bd", "os_p04.bd"])
def test_a_single_altered_row_is_named_first(golden: Path, tmp_path: Path, name: str) -> None:
    path = tmp_path / "altered.bd"
    with bgfmt.open(golden / "gnubg" / name) as db:
        table = bgfmt.load(golden / "gnubg" / name)
        compressed = db.format.info(db.reading)["compressed"]
    rng = np.random.default_rng(5)
    for _ in range(6):
        x = int(rng.integers(1, table.positions))
        row = table.bearoff[x].copy()  # type: ignore[attr-defined]
        two = np.flatnonzero(row)[:2]
        if len(two) < 2:
            continue
        table.bearoff[x, two] += np.array([1, -1], np.int64).astype(np.uint16)  # type: ignore[attr-defined]
        bgfmt.save(table, path, format="gnubg-os", force=True, compressed=compressed)
        table.bearoff[x] = row  # type: ignore[attr-defined]
        report = bgfmt.verify(path)
        assert report.status == "damaged"
        assert (report.wrong, report.inherited) == (1, 0)
        assert report.findings[0].entry == x


@pytest.mark.slow
def test_inherited_errors_are_told_apart(tmp_path: Path) -> None:
    """An entry wrong in itself and everything computed from it: the first is named, the rest inherit."""
    from bgfmt.verifier.recurrence import plays, two_sided

    table = solver.two_sided(3, 2)
    n = table.positions
    pips, rule = plays.pips(3, 2), two_sided.PairRule(table)
    values = np.array(table.equities)
    us, them = 4, 5
    values[us, them] -= 500
    pairs = sorted(
        ((int(pips[u] + pips[t]), u, t) for u in range(n) for t in range(n)), key=lambda item: item[0]
    )
    changed = 0
    for _, u, t in pairs:
        if (u, t) != (us, them):
            out = rule.values(values, *(np.array([k]) for k in (t, u, t)))[0]
            changed += bool((values[u, t] != out).any())
            values[u, t] = out
    path = tmp_path / "inherits.bd"
    bgfmt.save(bgfmt.tables.TwoSided(points=3, chequers=2, equities=values), path, format="gnubg-ts")
    report = bgfmt.verify(path)
    assert (report.wrong, report.inherited) == (1, changed)
    assert changed > 0
    assert report.findings[0].entry == us * n + them
    assert f"{changed} inherit" in report.verdict


@pytest.mark.slow
def test_a_body_under_another_header(golden: Path, tmp_path: Path) -> None:
    six = (golden / "gnubg" / "os_p06.bd").read_bytes()
    path = tmp_path / "claims.bd"
    path.write_bytes(six.replace(b"OS-06", b"OS-05", 1))
    assert bgfmt.verify(path).exit_code == 1
    two = (golden / "gnubg" / "ts_06x03.bd").read_bytes()
    path.write_bytes(two.replace(b"TS-06-03", b"TS-06-04", 1))
    report = bgfmt.verify(path)
    assert report.status == "not what it claims"
    assert "6x3" in report.cause
    assert report.verdict.startswith(
        "not what it claims: its header promises 352,840 bytes, the file has 56,488"
    )


@pytest.mark.slow
def test_causes_are_named(golden: Path, tmp_path: Path) -> None:
    original = (golden / "gnubg" / "ts_06x03.bd").read_bytes()
    path = tmp_path / "cause.bd"
    for kind, said in (
        ("zeros", "only zeros"),
        ("bare", "bare header"),
        ("swapped_bytes", "other byte order"),
        ("cut", "cut short"),
        ("pad", "belong to no table"),
    ):
        path.write_bytes(damage.damaged(original, kind, 1, b""))
        report = bgfmt.verify(path)
        assert said in report.verdict, (kind, report.verdict)


def third_party(points: int, chequers: int, *, rounding: str, negate: str) -> np.ndarray:  # type: ignore[type-arg]
    """A two-sided table by somebody else's arithmetic."""
    from bgfmt.verifier.recurrence import plays

    starts, results = plays.plays(points, chequers)
    pips = plays.pips(points, chequers)
    n = len(pips)
    v = np.zeros((n, n, 4), np.int64)
    turned = np.zeros((n, n, 4), np.int64)
    us, them = np.divmod(np.arange(n * n), n)
    for number in np.argsort(pips[us] + pips[them], kind="stable").tolist():
        u, t = divmod(number, n)
        if u == 0 or t == 0:
            v[u, t] = 32767 if u == 0 else -32768
        else:
            total = np.zeros(4, np.int64)
            for a in range(6):
                for b in range(a + 1):
                    roll = 21 * u + a * (a + 1) // 2 + b
                    best = turned[t, results[starts[roll] : starts[roll + 1]]].max(axis=0)
                    total += best * (1 if a == b else 2)
            v[u, t] = np.floor(total / 36 + 0.5) if rounding == "nearest" else np.trunc(total / 36)
        e0, e1, e2, e3 = v[u, t].tolist()
        best_centered, best_owned = max(e2, min(32767, 2 * e3)), max(e1, min(32767, 2 * e3))
        signed = np.array([e0, e3, best_centered, best_owned])
        turned[u, t] = ~signed if negate == "complement" else np.clip(-signed, -32768, 32767)
    return (v + 32768).astype(np.uint16)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rounding", "negate"), [("nearest", "complement"), ("truncate", "plain"), ("nearest", "plain")]
)
def test_a_third_partys_arithmetic_differs_unless_a_tolerance_is_named(
    tmp_path: Path, rounding: str, negate: str
) -> None:
    equities = third_party(6, 3, rounding=rounding, negate=negate)
    path = tmp_path / "theirs.bd"
    bgfmt.save(bgfmt.tables.TwoSided(points=6, chequers=3, equities=equities), path, format="gnubg-ts")
    report = bgfmt.verify(path)
    assert (report.status, report.exit_code) == ("differs", 1), report.verdict
    assert report.verdict.startswith("differs from every known recipe: ")
    assert report.differences
    assert "likely cause" in report.verdict
    assert bgfmt.verify(path, tolerance=0.5).exit_code == 1
    within = bgfmt.verify(path, tolerance=4)
    assert (within.status, within.exit_code) == ("within tolerance", 0)


@pytest.mark.slow
def test_true_division_in_normal_files(tmp_path: Path) -> None:
    from dataclasses import replace

    from bgfmt.verifier.recurrence.one_sided import build_moments

    table = solver.one_sided(4, normal=True)
    moments = build_moments(4, 15, divide=True)
    path = tmp_path / "nd.bd"
    bgfmt.save(replace(table, moments=moments), path, format="gnubg-nd")
    report = bgfmt.verify(path)
    assert (report.status, report.exit_code, report.recipe) == ("proved", 0, "gnubg-division")
    assert any("true division" in note for note in report.notes)


@pytest.mark.slow
def test_odd_bytes(tmp_path: Path) -> None:
    path = tmp_path / "odd.bd"
    rng = np.random.default_rng(11)
    heads = [
        b"",
        b"gnubg",
        b"gnubg-OS-06",
        b"gnubg-TS-06-06-1",
        b"gnubg-H1",
        b"gnubg-OS-23-15-1-1-0",
        b"RAEB",
    ]
    for head in heads:
        for size in (0, 1, 39, 40, 41, 500, 20_000):
            path.write_bytes((head + b"x" * 40)[:40] + rng.bytes(size) if head else rng.bytes(size))
            assert run(["verify", str(path)]) in (1, 2)
    assert run(["verify", str(tmp_path)]) == 2


@pytest.mark.slow
def test_numbers_that_are_none_are_damage_without_a_warning(tmp_path: Path) -> None:
    from bgfmt import met
    from bgfmt.solver.match import match_score

    path = tmp_path / "x.bgm"
    table = match_score(3, 2, (3, 5), met.load())
    for bits in (0x7FA00000, 0x7FC00000, 0x7F800000, 0xFF7FFFFF):
        balance = np.array(table.balance)
        balance.view(np.uint32)[5, 5, 0] = bits
        bgfmt.save(replace(table, balance=balance), path, force=True)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert bgfmt.verify(path).exit_code == 1


@pytest.mark.slow
@pytest.mark.parametrize("form", FRAMES)
def test_what_a_table_says_of_itself_is_accounted_for(golden: Path, tmp_path: Path, form: str) -> None:
    """The header that a file once had, and the program that wrote the file: a wrong digit there is a finding."""
    path = tmp_path / f"x.{form}"
    bgfmt.convert(golden / "gnubg" / "os_p01_nd.bd", path, to=form)
    assert bgfmt.verify(path).exit_code == 0
    sound = path.read_bytes()
    at = sound.index(b"gnubg_header")
    header = range(sound.index(b"676e75", at), sound.index(b"676e75", at) + 80, 16)
    writer = [sound.rindex(b"bgfmt") + k for k in range(5)] if form == "parquet" else [96, 97]
    for k in (*header, *writer):
        for bit in (0, 6):
            path.write_bytes(sound[:k] + bytes([sound[k] ^ 1 << bit]) + sound[k + 1 :])
            try:
                assert bgfmt.verify(path).exit_code != 0, (k, bit)
            except bgfmt.BgfmtError as error:
                assert "\n" not in str(error)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hyper1.bd", "ts_03x03.bd", "os_p02.bd", "os_p01_nd.bd"])
@pytest.mark.parametrize("form", ["npz", *FRAMES])
def test_the_header_of_another_table_is_a_finding(golden: Path, tmp_path: Path, form: str, name: str) -> None:
    path = tmp_path / f"x.{form}"
    bgfmt.convert(golden / "gnubg" / name, path, to=form)
    report = bgfmt.verify(path)
    assert report.exit_code == 0, report.verdict
    table: Any = bgfmt.load(path)
    (header,) = (record for record in table.carried if type(record) is GnubgHeader)
    other = GnubgHeader(header.raw.replace(b"H1", b"H2").replace(b"-0", b"-1", 1))
    bgfmt.save(replace(table, carried=(other,)), path, force=True)
    report = bgfmt.verify(path)
    assert report.exit_code == 1
    assert "is that of another table" in report.verdict


@pytest.mark.parametrize("form", ["npz", *FRAMES])
def test_hypergammon_of_another_size_is_refused(golden: Path, tmp_path: Path, form: str) -> None:
    """A file of any kind of table says the size; a hypergammon table of 23 points ended in a traceback."""
    sound: Any = bgfmt.load(golden / "gnubg/hyper1.bd")
    records = np.resize(np.asarray(sound.records)[1:], (24, 24, 28))
    wrong = replace(sound, points=23, records=records, carried=())
    with pytest.raises(CapabilityError, match="hypergammon must have 25 points"):
        bgfmt.save(wrong, tmp_path / "x", format=form)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HyperSides, "check", Table.check)
        bgfmt.save(wrong, tmp_path / "x", format=form)
    with pytest.raises(bgfmt.BgfmtError, match="hypergammon must have 25 points"):
        bgfmt.open(tmp_path / "x")
    assert bgfmt.verify(tmp_path / "x").exit_code in (1, 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["os_p02.bd", "ts_03x03.bd", "hyper1.bd", "concat_os_p02_ts_03x03.bd"])
def test_a_file_twice_is_damaged(name: str, golden: Path, tmp_path: Path) -> None:
    """Each half proves; no program writes a table twice."""
    data = (golden / "gnubg" / name).read_bytes()
    path = tmp_path / "twice.bd"
    path.write_bytes(data + data)
    report = bgfmt.verify(path)
    assert (report.status, report.exit_code) == ("damaged", 1)
    assert "expected one table of each kind and size, found a second " in report.verdict
    assert any("second copy" in note for note in bgfmt.repair(path, tmp_path / "once.bd").notes)
    assert (tmp_path / "once.bd").read_bytes() == data


@pytest.mark.slow
@pytest.mark.parametrize("word", [4, 8])
def test_every_byte_behind_a_j_description_counts(word: int, golden: Path, tmp_path: Path) -> None:
    """The zeros that fill up its last word, and the blanks of the rest of its block."""
    path = tmp_path / "x.ijf"
    bgfmt.convert(golden / "gnubg/os_p01.bd", path, word=word)
    data = path.read_bytes()
    with bgfmt.open(path) as db:
        contents: Any = as_read(db.table, Container)
        assert contents is not None
        at, size = map(int, contents.entries[4])
    begin = data.rindex(b"\n", at, at + size) + 1
    assert begin < at + size
    for place in range(begin, at + size):
        for value in {0, 32, data[place] ^ 0x80} - {data[place]}:
            path.write_bytes(data[:place] + bytes([value]) + data[place + 1 :])
            assert bgfmt.verify(path).exit_code == 1, (place - begin, value)


def test_an_error_of_the_program_is_no_damage(golden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ValueError that no format raised is a fault of bgfmt or of a guest, not of the file's numbers."""

    def fails(*_: object, **__: object) -> None:
        raise ValueError("shapes do not match")

    monkeypatch.setattr("bgfmt.verifier.verification.prove", fails)
    with pytest.raises(ValueError, match="shapes do not match"):
        bgfmt.verify(golden / "gnubg" / "ts_06x02.bd")


def test_nan_is_reported_as_it_is_stored() -> None:
    """A table of floats may hold NaN, which differs from itself and reads alike."""
    sides = (Side(2), Side(1))
    nan = float("nan")
    both = Finding(
        Rule.ENTRY, entry=3, found=[nan, 1.0], expected=[nan, 0.5], field="owned, centered", sides=sides
    )
    assert words.message(both).endswith(": owned stored nan, right nan; centered stored 1.0, right 0.5")
    unnamed = Finding(Rule.ENTRY, entry=3, found=[nan, 1.0], expected=[0.0, 0.5], sides=sides)
    assert words.message(unnamed).endswith("): stored [nan, 1.0], right [0.0, 0.5]")
