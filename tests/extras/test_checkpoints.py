"""Rows kept beside an output: there and back, a torn end, a changed byte anywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from bgfmt.errors import ScratchError
from bgfmt.extras.checkpoints import RowFile, read_rows

ROWS = ["[0, 0.5]", "[1, 0.25]", '{"name": "Zoë"}']


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    with RowFile(tmp_path / "rows", "of something") as rows:
        for row in ROWS:
            rows.add(row)
    return tmp_path / "rows"


def test_another_run_goes_on(kept: Path) -> None:
    with RowFile(kept, "of something") as rows:
        assert rows.rows == ROWS
        rows.add("[3]")
    assert read_rows(kept, "of something") == [*ROWS, "[3]"]
    with RowFile(kept, "of something", anew=True) as rows:
        assert rows.rows == []


def test_rows_of_something_else_are_refused_and_dropped_where_asked(kept: Path) -> None:
    with pytest.raises(ScratchError, match="expected rows of 'of another'") as caught:
        RowFile(kept, "of another")
    assert caught.value.state == "foreign"
    with RowFile(kept, "of another", anew=True) as rows:
        assert rows.rows == []
    assert read_rows(kept, "of another") == []


def test_a_torn_end_is_cut_off(kept: Path) -> None:
    """Every length that a kill may leave gives whole rows, and those that are whole are all there."""
    whole = kept.read_bytes()
    head = whole.index(b"\n") + 1
    for size in range(head, len(whole) + 1):
        kept.write_bytes(whole[:size])
        rows = read_rows(kept, "of something")
        assert rows == ROWS[: len(rows)]
        assert len(rows) >= whole[head:size].count(b"\n")
    with RowFile(kept, "of something") as rows_file:
        assert rows_file.rows == ROWS
    assert kept.read_bytes() == whole


def test_every_flipped_bit_is_found(kept: Path) -> None:
    """It is an error, or at the end, where a break of lines may be gone, as if the last rows had not been written."""
    whole = kept.read_bytes()
    last = whole[:-1].rindex(b"\n")
    for at in range(len(whole)):
        for bit in range(8):
            kept.write_bytes(whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :])
            if at >= last:
                rows = read_rows(kept, "of something")
                assert rows == ROWS[: len(rows)]
                assert len(rows) == 2 - (at == last)
            else:
                with pytest.raises(ScratchError):
                    read_rows(kept, "of something")
