"""gnubg's formats: golden files come back byte for byte, and their layouts convert into each other."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bgfmt
from bgfmt import Position, Side, formats
from bgfmt.errors import CapabilityError, FormatError, HeaderError, TruncatedError, UnknownFormatError
from bgfmt.formats.gnubg import one_sided
from bgfmt.formats.gnubg.family import COMPARED_SIDES, one_roll
from bgfmt.formats.gnubg.pairs import GnubgTwoSided
from bgfmt.storage import Source, open_source
from tests.conftest import GOLDEN

FILES = sorted((GOLDEN / "gnubg").glob("*.bd"))


def same(a: Path, b: Path) -> bool:
    return a.read_bytes() == b.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_plain_copy_is_byte_for_byte(path: Path, tmp_path: Path) -> None:
    bgfmt.convert(path, tmp_path / "copy.bd")
    assert same(path, tmp_path / "copy.bd")


@pytest.mark.slow
@pytest.mark.parametrize("path", [p for p in FILES if "concat" not in p.stem], ids=lambda p: p.stem)
def test_through_memory_and_npz(path: Path, tmp_path: Path) -> None:
    """The numbers alone, carried through another file, give the very bytes again."""
    with bgfmt.open(path) as db:
        name, packed = db.format.name, db.info().get("compressed")
        headed = db.info()["header"]
    bgfmt.convert(path, tmp_path / "t.npz")
    options = {"header": headed} | ({} if packed is None else {"compressed": packed})
    bgfmt.convert(tmp_path / "t.npz", tmp_path / "t.bd", to=name, **options)
    assert same(path, tmp_path / "t.bd")
    bgfmt.convert(tmp_path / "t.npz", tmp_path / "s.bd", to=name)  # the archive remembers the layout
    assert same(path, tmp_path / "s.bd")
    bgfmt.save(bgfmt.load(path), tmp_path / "u.bd", format=name)
    assert same(path, tmp_path / "u.bd")


@pytest.mark.parametrize("points", ["os_p01", "os_p02", "os_p03"])
def test_compressed_and_uncompressed_are_each_others(points: str, golden: Path, tmp_path: Path) -> None:
    folder = golden / "gnubg"
    for packed, plain in (("", "_c"), ("_g", "_cg")):
        a, b = folder / f"{points}{packed}.bd", folder / f"{points}{plain}.bd"
        bgfmt.convert(a, tmp_path / "x.bd", compressed=False, force=True)
        assert same(b, tmp_path / "x.bd")
        bgfmt.convert(b, tmp_path / "x.bd", compressed=True, force=True)
        assert same(a, tmp_path / "x.bd")
    with pytest.raises(CapabilityError, match=r"lost.*gammon"):
        bgfmt.convert(folder / f"{points}.bd", tmp_path / "y.bd", gammon=False)
    lost = bgfmt.convert(folder / f"{points}.bd", tmp_path / "y.bd", gammon=False, lossy=True)
    assert lost == ["the gammon distributions are dropped"]
    assert same(folder / f"{points}_g.bd", tmp_path / "y.bd")


@pytest.mark.parametrize(
    ("large", "small", "size"),
    [
        ("os_p06", "os_p04", {"points": 4}),
        ("os_p03", "os_p02", {"points": 2}),
        ("os_p04_nd", "os_p03_nd", {"points": 3}),
        ("ts_06x04", "ts_06x03", {"chequers": 3}),
        ("ts_06x04", "ts_04x04", {"points": 4}),
        ("ts_06x04", "ts_05x03", {"points": 5, "chequers": 3}),
        ("ts_06x04_cubeless", "ts_04x04_cubeless", {"points": 4}),
    ],
)
def test_a_smaller_table_is_a_corner(
    large: str, small: str, size: dict[str, int], golden: Path, tmp_path: Path
) -> None:
    bgfmt.convert(golden / "gnubg" / f"{large}.bd", tmp_path / "cut.bd", **size)
    assert same(golden / "gnubg" / f"{small}.bd", tmp_path / "cut.bd")


def test_cubeful_to_cubeless(golden: Path, tmp_path: Path) -> None:
    with pytest.raises(CapabilityError, match="cubeful equities are dropped"):
        bgfmt.convert(golden / "gnubg/ts_06x04.bd", tmp_path / "c.bd", cubeful=False)
    bgfmt.convert(golden / "gnubg/ts_06x04.bd", tmp_path / "c.bd", cubeful=False, lossy=True)
    assert same(golden / "gnubg/ts_06x04_cubeless.bd", tmp_path / "c.bd")
    with pytest.raises(CapabilityError, match="solve"):
        bgfmt.convert(tmp_path / "c.bd", tmp_path / "d.bd", cubeful=True)


@pytest.mark.parametrize("name", ["os_p03_H", "os_p03_cH", "os_p03_cgH", "os_p03_ndH", "ts_03x03_H"])
def test_headerless_files_are_known_by_size_and_content(name: str, golden: Path, tmp_path: Path) -> None:
    headed = golden / "gnubg" / f"{name.removesuffix('H').removesuffix('_')}.bd"
    bgfmt.convert(golden / "gnubg" / f"{name}.bd", tmp_path / "h.bd", header=True)
    assert same(headed, tmp_path / "h.bd")
    bgfmt.convert(headed, tmp_path / "n.bd", header=False)
    assert same(golden / "gnubg" / f"{name}.bd", tmp_path / "n.bd")


def test_content_tells_two_tables_of_one_size_apart(golden: Path, tmp_path: Path) -> None:
    """4x2 and 2x4 have as many positions; what one roll bears off tells which a file without header is."""
    bgfmt.convert(golden / "gnubg/ts_04x02.bd", tmp_path / "n.bd", header=False)
    with bgfmt.open(tmp_path / "n.bd") as db:
        assert (db.table.points, db.table.chequers) == (4, 2)
    with bgfmt.open(tmp_path / "n.bd", format="gnubg-ts", points=4, chequers=2) as db:
        assert db.table.points == 4
    with bgfmt.open(tmp_path / "n.bd", format="gnubg-ts:points=4") as db:
        assert db.table.chequers == 2


def test_one_roll_tells_all_sizes_apart() -> None:
    """Tables of one length, up to 40 GB, differ in what one roll bears off, but for 1x2 and 2x1."""
    tables: dict[tuple[object, ...], list[tuple[int, int]]] = {}
    for facts in GnubgTwoSided().canonical_headers():
        size = facts.size
        assert size is not None
        if size < 40 << 30:
            firsts = (one_roll(k, facts.points) for k in range(1, min(facts.shape[0], COMPARED_SIDES)))
            tables.setdefault((size, facts.cubeful, *firsts), []).append((facts.points, facts.chequers))
    assert [sizes for sizes in tables.values() if len(sizes) > 1] == [[(1, 2), (2, 1)]] * 2


@pytest.mark.slow
@pytest.mark.parametrize("size", ["1x3", "12x2", "13x1", "13x2", "14x2", "16x2", "23x1", "24x1"])
@pytest.mark.parametrize("options", [[], ["-C"]])
def test_headerless_files_of_any_number_of_points(
    size: str, options: list[str], oracle: Callable[[str], str], tmp_path: Path
) -> None:
    program, path = oracle("makebearoff"), tmp_path / "t.bd"
    subprocess.run([program, "-t", size, "-H", *options, "-f", path], check=True, capture_output=True)
    with bgfmt.open(path) as db:
        assert (f"{db.table.points}x{db.table.chequers}", db.info()["cubeful"]) == (size, not options)
        assert db.info()["header"] is False


def test_headerless_file_that_fits_two_tables_must_be_described(golden: Path, tmp_path: Path) -> None:
    """1x2 and 2x1 are the same numbers: every side comes off in one roll."""
    bgfmt.convert(golden / "gnubg/ts_01x02.bd", tmp_path / "n.bd", header=False)
    with pytest.raises(UnknownFormatError, match=r"points=1,chequers=2.*points=2,chequers=1") as caught:
        bgfmt.open(tmp_path / "n.bd")
    assert len(caught.value.readings) == 2
    for spelled in caught.value.readings:
        with bgfmt.open(tmp_path / "n.bd", format=spelled) as db:
            assert db.table.positions == 3
    lost = bgfmt.convert(
        tmp_path / "n.bd", tmp_path / "h.bd", format="gnubg-ts", points=1, chequers=2, header=True
    )
    assert (lost, same(tmp_path / "h.bd", golden / "gnubg/ts_01x02.bd")) == ([], True)


@pytest.mark.parametrize(
    "described",
    [
        {"points": -1},
        {"points": 99},
        {"points": "many"},
        {"chequers": 4},
        {"points": 2, "gammon": 7},
        {"colour": 1},
    ],
)
def test_a_description_that_no_file_has(described: dict[str, object], golden: Path) -> None:
    with pytest.raises(CapabilityError):
        bgfmt.open(golden / "gnubg/os_p03_H.bd", format="gnubg-os", **described)


def test_a_wrong_description_is_refused(golden: Path) -> None:
    with pytest.raises(FormatError, match="described so, the table takes"):
        bgfmt.open(golden / "gnubg/os_p03_cH.bd", format="gnubg-os", points=2, compressed=False)


def test_twenty_four_points(tmp_path: Path) -> None:
    """makebearoff writes 24 points; gnubg's own reader refuses them, and `info` says so."""
    n = 25
    rows = np.zeros((n, n, 4), "<u2")
    (tmp_path / "t.bd").write_bytes(b"gnubg-TS-24-01-1" + b"x" * 23 + b"\n" + rows.tobytes())
    with bgfmt.open(tmp_path / "t.bd") as db:
        assert db.table.points == 24
        assert not db.info()["gnubg_reads"]


@pytest.mark.parametrize("points", [25, 26, 30])
def test_a_sound_file_of_too_many_points_is_not_called_damaged(points: int, tmp_path: Path) -> None:
    path = tmp_path / "large.bd"
    header = f"gnubg-TS-{points}-01-1".ljust(39, "x").encode() + b"\n"
    path.write_bytes(header + bytes((points + 1) ** 2 * 8))
    with pytest.raises(UnknownFormatError, match=f"of {points} points; gnubg reads at most 23 points"):
        bgfmt.open(path)
    report = bgfmt.verify(path)
    assert (report.status, report.exit_code) == ("not readable", 2)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(HeaderError, match="points at byte 9"):
        bgfmt.open(path)


def test_a_database_pickles(golden: Path) -> None:
    import pickle

    with bgfmt.open(golden / "gnubg/concat_os_p02_ts_03x03.bd", part=1) as db:
        again = pickle.loads(pickle.dumps(db))
        assert str(again) == str(db)
        again.close()
    with pytest.raises(TypeError, match="only a database in a file can be pickled"):
        from bgfmt.files.database import read_source

        pickle.dumps(read_source(Source.from_bytes((golden / "gnubg/ts_03x03.bd").read_bytes())))


def test_two_databases_in_one_file(golden: Path, tmp_path: Path) -> None:
    both = golden / "gnubg/concat_os_p02_ts_03x03.bd"
    for part, name in enumerate(["os_p02", "ts_03x03"]):
        bgfmt.convert(both, tmp_path / f"{part}.bd", part=part)
        assert same(golden / "gnubg" / f"{name}.bd", tmp_path / f"{part}.bd")
    with bgfmt.open(both) as db:
        assert db.info()["parts"] == 2


def test_old_eight_byte_index(golden: Path, tmp_path: Path) -> None:
    """Gammonless files made before March 2009 have eight bytes an entry and the same header."""
    now = (golden / "gnubg/os_p03_g.bd").read_bytes()
    n = 816
    entries = np.frombuffer(now, "u1", n * 6, 40).reshape(n, 6)
    old = now[:40] + np.pad(entries, ((0, 0), (0, 2))).tobytes() + now[40 + n * 6 :]
    (tmp_path / "old.bd").write_bytes(old)
    with bgfmt.open(tmp_path / "old.bd") as db, bgfmt.open(golden / "gnubg/os_p03_g.bd") as new:
        assert np.array_equal(np.asarray(db.table.bearoff), np.asarray(new.table.bearoff))
        assert not db.info()["gnubg_reads"]
    bgfmt.convert(tmp_path / "old.bd", tmp_path / "copy.bd")
    assert (tmp_path / "copy.bd").read_bytes() == old


@pytest.mark.parametrize(
    ("header", "points", "chequers"),
    [(b"gnubg-OS- 3-15-1-1-0", 3, 15), (b"gnubg_OS_03_15_7_2_0", 3, 15), (b"gnubg-OS-3--15-1-1-0", 3, 15)],
)
def test_headers_are_read_as_liberally_as_gnubg_reads_them(
    header: bytes, points: int, chequers: int, golden: Path, tmp_path: Path
) -> None:
    data = (golden / "gnubg/os_p03.bd").read_bytes()
    (tmp_path / "odd.bd").write_bytes(header + b"?" * 20 + data[40:])
    with bgfmt.open(tmp_path / "odd.bd") as db:
        assert (db.table.points, db.table.chequers) == (points, chequers)
    bgfmt.convert(tmp_path / "odd.bd", tmp_path / "same.bd")
    assert same(tmp_path / "odd.bd", tmp_path / "same.bd")
    bgfmt.convert(tmp_path / "odd.bd", tmp_path / "c.bd", compressed=False)
    assert same(tmp_path / "c.bd", golden / "gnubg/os_p03_c.bd")


@pytest.mark.slow
@pytest.mark.parametrize("path", [p for p in FILES if p.stat().st_size < 20000], ids=lambda p: p.stem)
def test_every_truncation_is_refused_or_another_whole_table(path: Path) -> None:
    """A prefix of a golden file never opens as that table; sampled lengths, all of the short ones."""
    data = path.read_bytes()
    if path.stem.startswith("concat"):
        data = data[:2452]
    headed = data.startswith(b"gnubg")
    for size in sorted({*range(min(len(data), 100)), *range(0, len(data), 41), len(data) - 1}):
        try:
            source = Source.from_bytes(data[:size])
            from bgfmt.files.database import read_source

            read_source(source)
        except FormatError as error:
            assert "\n" not in str(error)
            if headed and size >= 40:
                assert isinstance(error, (TruncatedError, HeaderError))
            continue
        assert not headed, f"{path.name} cut to {size} bytes was accepted"


def _lookup_everything(data: bytes) -> None:
    from bgfmt.files.database import read_source

    db = read_source(Source.from_bytes(data))
    for _, block in db.table.blocks(1 << 16):
        for rows in block.values():
            assert len(rows)


@pytest.mark.slow
@settings(max_examples=300)
@given(data=st.data())
def test_mutated_files_give_a_table_or_an_error_of_ours(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from([p for p in FILES if p.stat().st_size < 20000]))
    raw = bytearray(path.read_bytes())
    near = st.integers(0, min(len(raw), 80) - 1)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.one_of(near, st.integers(0, len(raw) - 1)))
        raw[place] = data.draw(st.one_of(st.integers(0, 255), st.sampled_from(b"0123456789-+ x")))
    try:
        _lookup_everything(bytes(raw))
    except bgfmt.BgfmtError as error:
        assert str(error)
        assert "\n" not in str(error)


@settings(max_examples=200)
@given(
    st.binary(max_size=600),
    st.sampled_from([b"", b"gnubg-OS-", b"gnubg-TS-", b"gnubg-H", b"RAEB", b"PK\x03\x04"]),
)
def test_any_bytes_give_a_table_or_an_error_of_ours(rest: bytes, start: bytes) -> None:
    try:
        _lookup_everything(start + rest)
    except bgfmt.BgfmtError as error:
        assert "\n" not in str(error)


def test_a_header_that_promises_fifteen_chequers_over_a_kilobyte(tmp_path: Path) -> None:
    (tmp_path / "liar.bd").write_bytes(b"gnubg-TS-06-15-1" + b"x" * 23 + b"\n" + bytes(1000))
    with pytest.raises(TruncatedError, match="23,556,653,608"):
        bgfmt.open(tmp_path / "liar.bd")


def dumped(text: str) -> list[list[float]]:
    """The rows of numbers of a bearoffdump output."""
    return [[float(x) for x in re.findall(r"[-+]?\d+\.\d+", line)] for line in text.splitlines()]


def test_two_sided_lookup_prints_as_bearoffdump(oracle: Callable[[str], str], golden: Path) -> None:
    program, path = oracle("bearoffdump"), golden / "gnubg/ts_06x04.bd"
    rng = np.random.default_rng(5)
    with bgfmt.open(path) as db:
        n = db.table.positions
        for number in rng.integers(1, n * n, 40):
            run = subprocess.run(
                [program, "-n", str(number), str(path)], capture_output=True, text=True, check=True
            )
            found = re.findall(r": ([-+]\d\.\d{4})", run.stdout)
            us, them = divmod(int(number), n)
            eq = db.lookup(Position(Side.from_number(us, 6), Side.from_number(them, 6)))
            ours = [f"{x:+7.4f}" for x in (eq.cubeless, eq.owned, eq.centered, eq.opponent)]
            assert [x.strip() for x in ours] == found


def test_one_sided_lookup_prints_as_bearoffdump(oracle: Callable[[str], str], golden: Path) -> None:
    program, path = oracle("bearoffdump"), golden / "gnubg/os_p06.bd"
    rng = np.random.default_rng(6)
    with bgfmt.open(path) as db:
        for _ in range(25):
            us, them = (int(x) for x in rng.integers(1, 39000, 2))
            run = subprocess.run(
                [program, "-n", str(us * 54264 + them), str(path)], capture_output=True, text=True, check=True
            )
            race, other = (db.lookup(Side.from_number(k, 6)) for k in (us, them))
            text = run.stdout
            for name, ours in (
                (
                    "Mean",
                    [race.mean_rolls, other.mean_rolls, race.gammon_mean_rolls, other.gammon_mean_rolls],
                ),
                ("Std dev", [race.std_rolls, other.std_rolls, race.gammon_std_rolls, other.gammon_std_rolls]),
                ("EPC", [race.epc, other.epc]),
                ("Wastage", [race.wastage, other.wastage]),
            ):
                line = re.search(rf"^{name}\t(.*)$", text, re.M)
                assert line is not None
                assert [f"{x:7.3f}".strip() for x in ours] == line.group(1).split()
            for row in re.findall(r"^ +(\d+)\t +([\d.]+)\t +([\d.]+)\t", text, re.M):
                assert f"{100 * race.bearoff[int(row[0])]:.3f}" == row[1]
                assert f"{100 * other.bearoff[int(row[0])]:.3f}" == row[2]


@pytest.mark.slow
def test_a_file_of_the_real_makebearoff(oracle: Callable[[str], str], tmp_path: Path) -> None:
    """A size that no fixture has, made now, converted to its own format and through the other layout."""
    program = oracle("makebearoff")
    for arguments in (["-o", "4", "-c"], ["-o", "4"], ["-o", "4", "-n"], ["-t", "3x5"], ["-t", "3x5", "-C"]):
        made = tmp_path / "made.bd"
        subprocess.run([program, *arguments, "-f", str(made)], check=True, capture_output=True)
        bgfmt.convert(made, tmp_path / "copy.bd", force=True)
        assert same(made, tmp_path / "copy.bd"), arguments


def test_recognition_is_unambiguous() -> None:
    for path in FILES:
        with open_source(path) as source:
            head = formats.Head(path.name, source.size, bytes(source.buffer[:512]))
            claims = [f.name for f in formats.all_formats().values() if f.recognise(head)]
        assert len(claims) == (0 if path.stem.endswith("H") else 1), (path, claims)


def test_golden_files_are_the_registered_ones() -> None:
    text = (GOLDEN / "gnubg/SOURCES.tsv").read_text().splitlines()[1:]
    sums = {line.split("\t")[0]: line.split("\t")[3] for line in text}
    for path in FILES:
        assert hashlib.sha256(path.read_bytes()).hexdigest() == sums[path.name]


def test_threads_that_read_different_blocks_get_their_own(golden: Path) -> None:
    class Shared(one_sided.CompressedRows):
        """Rows of which another thread reads the first block whenever one was read."""

        def __setattr__(self, name: str, value: Any) -> None:
            super().__setattr__(name, (0, 1, self.pick(np.arange(1))) if name == "_last" and value else value)

    with open_source(golden / "gnubg" / "os_p02.bd") as source:
        rows = Shared(source, 40, 136, entry=8, gammon=True)
        assert np.array_equal(rows.block(5, 9), rows.pick(np.arange(5, 9)))


def test_facts_of_a_plugins_format_have_no_bounds(golden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    form = type(formats.get("gnubg-ts"))
    monkeypatch.setattr(form, "headerless", {**form.headerless, "version": int})
    with pytest.raises(CapabilityError, match="version must be a number from 1 to"):
        bgfmt.open(golden / "gnubg/ts_03x03_H.bd", format="gnubg-ts", version="new")
