"""bgfmt-ts: bytes that are not the writer's are told, although the numbers are right."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import numpy as np
import pytest

import bgfmt
from bgfmt import solver
from bgfmt.extras.compressed import canonical, kernels_records, layout, model, writer
from bgfmt.extras.compressed.layout import Classes
from bgfmt.storage import Source
from bgfmt.tables.two_sided import StoredEquities
from tests.support.packing import of, packed, resealed, sealed_parts, unpacked

KINDS = ("two-sided", "cubeless", "two-sided-gammons", "two-sided-jacoby")


@cache
def solve(kind: str) -> StoredEquities:
    if kind == "cubeless":
        return solver.two_sided(5, 3).cubeless()
    if kind == "two-sided":
        return solver.two_sided(5, 3)
    with TemporaryDirectory() as folder:
        bgfmt.solve(kind, 2, 15, Path(folder, "x.npz"))
        with bgfmt.open(Path(folder, "x.npz")) as db:
            found: Any = db.table
            return cast(StoredEquities, replace(found, equities=np.array(found.equities), carried=()))


@pytest.fixture(params=KINDS)
def table(request: pytest.FixtureRequest) -> StoredEquities:
    return solve(request.param)


def judge(data: bytes, folder: Path) -> tuple[int, list[str]]:
    """The exit code of the verifier, and its notes."""
    path = folder / "x.bgts"
    path.write_bytes(data)
    report = bgfmt.verify(path)
    return report.exit_code, report.notes


def test_a_sound_file_has_no_note(table: StoredEquities, tmp_path: Path) -> None:
    assert judge(packed(table), tmp_path) == (0, [])


@pytest.mark.slow
def test_every_altered_byte_is_told(table: StoredEquities, tmp_path: Path) -> None:
    """A bit of a byte in every part of the file, its checksum made anew: damage, or a note."""
    sound = packed(table)
    rng = np.random.default_rng(3)
    parts = sealed_parts(sound)
    some = [parts[k] for k in sorted({*range(4), *rng.integers(0, len(parts), 15).tolist()})]
    places = {int(rng.integers(start, end - 4)) for start, end in some if end - 4 > start}
    places |= {*range(8, 64, 5), *rng.integers(64, len(sound), 12).tolist()}
    checksums = {at for _, end in parts for at in range(end - 4, end)}
    for at in sorted(places - checksums):
        damaged = bytearray(sound)
        damaged[at] ^= 1 << int(rng.integers(8))
        code, notes = judge(resealed(sound, bytes(damaged)), tmp_path)
        assert code in (1, 2) or notes, at


def test_positions_in_another_order_are_told(
    table: StoredEquities, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(writer, "weakest_first", lambda equities: np.arange(equities.shape[0]))
        data = packed(table)
    code, (note,) = judge(data, tmp_path)
    assert code == 0
    order_at = layout.read_shape(Source.from_bytes(data), 0).parts["order"].offset
    assert note.startswith(
        f"the field order carried along: byte {order_at:,}: expected what bgfmt's writer writes"
    )


def test_other_classes_are_told(
    table: StoredEquities, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = model.default_classes()
    frequencies = own.frequencies.copy()
    frequencies[9, layout.MIDDLE] -= 1
    frequencies[9, layout.ESCAPE] += 1
    with monkeypatch.context() as patch:
        patch.setattr(model, "default_classes", lambda: Classes(own.shifts, frequencies))
        data = packed(table)
    code, notes = judge(data, tmp_path)
    assert code == 0
    assert notes[0].startswith("the field classes carried along: byte 64: ")


def test_another_size_of_blocks_is_told(
    table: StoredEquities, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(layout, "BLOCK", 16)
        data = packed(table)
    code, notes = judge(data, tmp_path)
    assert code == 0
    assert any(note.startswith("the field block carried along: byte 13: ") for note in notes)


def test_facts_in_other_words_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = bgfmt.load(Path("fixtures/golden/gnubg/ts_03x03.bd"))
    with monkeypatch.context() as patch:
        own = writer.facts_of
        patch.setattr(writer, "facts_of", lambda table: own(table).replace(b": ", b":  "))
        data = packed(table)  # type: ignore[arg-type]
    code, (note,) = judge(data, tmp_path)
    assert code == 0
    assert note.startswith("the field facts carried along: ")


@pytest.mark.slow
@pytest.mark.parametrize("how", ["plain blocks", "other classes", "escapes"])
def test_blocks_coded_otherwise_are_told(
    how: str, table: StoredEquities, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks that decode to the same numbers and are longer."""
    encode = kernels_records.encode

    def encode_longer(stored: Any, predicted: Any, factors: Any, block: int, edges: Any, *parts: Any) -> Any:
        frequencies, *others = parts
        if how == "plain blocks":
            frequencies = frequencies.copy()
            frequencies[:, : layout.ESCAPE] = 0  # as if no residual had a symbol
        elif how == "other classes":
            edges = np.append(edges[1:], 1e9)
        else:
            frequencies = frequencies.copy()
            frequencies[:, [layout.MIDDLE - 1, layout.MIDDLE + 1]] = 0  # as if these residuals had no symbol
        return encode(stored, predicted, factors, block, edges, frequencies, *others)

    own = packed(table)
    with monkeypatch.context() as patch:
        patch.setattr(kernels_records, "encode", encode_longer)
        data = packed(table)
    assert data != own
    assert np.array_equal(np.asarray(unpacked(data).equities), np.asarray(table.equities))
    code, notes = judge(data, tmp_path)
    assert code == 0
    assert any(note.startswith("the strips carried along: ") for note in notes)


def test_other_factors_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a table that is small: a larger one is not written again."""
    one = solver.two_sided(6, 3)
    with monkeypatch.context() as patch:
        fit = model.fit
        patch.setattr(model, "fit", lambda tile, seed: fit(tile, seed + 1))
        data = packed(one)
    code, (note,) = judge(data, tmp_path)
    assert code == 0
    assert note.startswith("the strips carried along: ")
    monkeypatch.setattr(canonical, "MAX_REWRITTEN_POSITIONS", 10)
    assert judge(data, tmp_path) == (0, [])


@pytest.mark.slow
def test_strips_of_several_tiles_are_compared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An altered bit of a plain block's class, which nothing reads, in the middle one of nine tiles."""
    monkeypatch.setattr(layout, "MAX_GROUP_ROWS", 30)
    numbers = np.random.default_rng(1).integers(0, 65536, (84, 84, 4))
    data = packed(of(6, 3, numbers))
    reader: Any = unpacked(data).equities.reader  # type: ignore[attr-defined]
    assert reader.shape.groups == 3
    reader.segments(np.array([40]), 1)
    at = int(reader._begins[40, 1])
    damaged = bytearray(data)
    damaged[at] ^= 4
    damaged_reader: Any = unpacked(resealed(data, bytes(damaged))).equities.reader  # type: ignore[attr-defined]
    damaged_reader.check_all()
    (fault,) = canonical.find_differences(damaged_reader, unpacked(data))
    assert (fault.offset, fault.rule, fault.carried) == (at, "the strips", True)
