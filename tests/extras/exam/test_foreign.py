"""Sets, answers, labels and kept rows that others made: damaged, nested, huge or no file at all."""

from __future__ import annotations

import io
import os
import threading
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bgfmt.cli import run
from bgfmt.errors import BgfmtError, FormatError
from bgfmt.extras.exam import candidates, judging, label_files, labels, making, sets


@pytest.fixture
def traps(tmp_path: Path) -> tuple[sets.Exam, bytes]:
    exam = making.load_named("traps")
    exam = exam.part(np.arange(0, len(exam), 40))
    exam.save(str(tmp_path / "s.npz"))
    return exam, (tmp_path / "s.npz").read_bytes()


def load(data: bytes, tmp_path: Path) -> sets.Exam:
    path = tmp_path / "t.npz"
    path.write_bytes(data)
    return sets.load(str(path))


@pytest.mark.slow
def test_a_set_with_any_bit_flipped_is_read_or_refused(
    traps: tuple[sets.Exam, bytes], tmp_path: Path
) -> None:
    exam, data = traps
    same = 0
    for place in range(0, 8 * len(data), 8 * len(data) // 700):
        damaged = bytearray(data)
        damaged[place // 8] ^= 1 << place % 8
        try:
            same += load(bytes(damaged), tmp_path).digest == exam.digest
        except FormatError as error:
            assert "\n" not in str(error)
    assert same < 200  # time stamps and the like


@pytest.mark.slow
def test_a_set_that_unpacks_to_far_more_than_its_size_is_refused(tmp_path: Path) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            header, {"descr": "|u1", "fortran_order": False, "shape": (1 << 28,)}
        )
        with archive.open("kind.npy", "w") as member:
            member.write(header.getvalue())
            for _ in range(256):
                member.write(bytes(1 << 20))
    with pytest.raises(FormatError, match="not a set of questions"):
        load(data.getvalue(), tmp_path)


#: a change of a sound set, and what is named
NONSENSE: dict[str, tuple[str, Any]] = {
    "us": ("us", 9), "dice": ("dice", 7), "away": ("away", (0, 3)), "owner": ("owner", 4), "cube": ("cube", 3),
    "stratum": ("stratum", 200), "beavers": ("beavers", 2), "weight": ("weight", -1.0), "error": ("error", np.nan),
    "kind": ("kind", 9), "crawford": ("crawford", 2), "ends": ("ends", np.inf),
}  # fmt: skip


@pytest.mark.parametrize("name", NONSENSE)
def test_numbers_of_a_set_that_cannot_be_are_named(
    name: str, traps: tuple[sets.Exam, bytes], tmp_path: Path
) -> None:
    """The digest is right: somebody made it so."""
    exam, _ = traps
    column, value = NONSENSE[name]
    exam.rows[column][3] = value
    exam.__dict__.pop("digest", None)
    exam.save(str(tmp_path / "n.npz"))
    with pytest.raises(FormatError, match=f"set of questions is damaged .{name}"):
        sets.load(str(tmp_path / "n.npz"))


TEXTS = {
    "nested": "[" * 100_000,
    "nested value": '{"position": ' + "[" * 100_000,
    "long number": '{"position": "1 1 / 1", "win": ' + "9" * 400 + "}",
    "long exponent": '{"position": "1 1 / 1", "win": 1e999}',
    "surrogate": '{"position": "\\ud800", "win": 1}',
    "nul": '{"position": "\\u0000", "win": 1}',
    "nested position": '{"position": ' + "[" * 300 + "]" * 300 + ', "win": 1}',
}


@pytest.mark.parametrize("name", TEXTS)
def test_odd_json_gives_a_finding_or_one_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(TEXTS[name] + "\n")
    assert run(["check-labels", str(path), "--quiet"]) in (1, 2)
    assert len(capsys.readouterr().err.splitlines()) <= 1
    (tmp_path / "answers").write_text(TEXTS[name].replace("position", "answer") + "\n")
    try:
        made = candidates.from_file(str(tmp_path / "answers"))
    except BgfmtError as error:
        assert "\n" not in str(error)
    else:
        exam = making.load_named("traps").part(np.arange(3))
        judging.collect_answers(lambda: made, exam)


def test_wide_tables_are_refused(tmp_path: Path) -> None:
    """A row of few values gets one for each column."""
    path = tmp_path / "x.csv"
    path.write_text(",".join(f"c{k}" for k in range(2_000)) + "\n" + "1\n" * 10)
    with pytest.raises(FormatError, match="more than 1,000 columns"):
        label_files.read_rows(str(path))


def test_parquet_of_far_more_rows_than_bytes_is_refused(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    count = 500_000
    index = pyarrow.array(np.zeros(count, np.int32))
    texts = pyarrow.DictionaryArray.from_arrays(index, pyarrow.array(["1 1 / 1"]))
    parquet.write_table(pyarrow.table({"position": texts, "win": np.ones(count)}), tmp_path / "x.parquet")
    with pytest.raises(FormatError, match="500,000 rows"):
        label_files.read_rows(str(tmp_path / "x.parquet"))
    long = pyarrow.table({"position": ["1" * 100_000] * 300, "win": [1.0] * 300})
    parquet.write_table(long, tmp_path / "x.parquet")
    with pytest.raises(FormatError, match="text of more than"):
        label_files.read_rows(str(tmp_path / "x.parquet"))


def _append_code(codes: list[int], command: list[str]) -> None:
    codes.append(run(command))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.parquet", "x.txt", "x.npz", "x"])
def test_a_fifo_is_refused_at_once(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / name
    os.mkfifo(path)
    commands = {
        "x.npz": [["exam", "bkg", "--set", str(path)]],
        "x": [["exam", str(path)]],
        "x.txt": [["label", str(path), "-o", str(tmp_path / "o.csv")]],
        "x.csv": [["check-labels", str(path)], ["label", str(path), "-o", str(tmp_path / "o.csv")]],
    }.get(name, [["check-labels", str(path)]])
    for command in commands:
        codes: list[int] = []
        thread = threading.Thread(target=_append_code, args=(codes, command), daemon=True)
        thread.start()
        thread.join(60)
        assert codes == [2], command
        assert len(capsys.readouterr().err.splitlines()) == 1


def test_kept_answers_that_cannot_be_are_asked_again() -> None:
    exam = making.load_named("traps").part(np.arange(40))
    play = int(np.flatnonzero(exam.kind == sets.PLAY)[0])
    equity = int(np.flatnonzero(exam.kind == sets.EQUITY)[0])
    nan = float("nan")
    assert judging.is_kept_answer([play, 0, 0, nan, nan, 0.1, ""], exam)
    assert judging.is_kept_answer([equity, 0, -1, 0.5, nan, 0.1, ""], exam)
    for row in (
        None, 5, [], [play], [play, 0, 99, nan, nan, 0.1, ""], [99, 0, 0, nan, nan, 0.1, ""],
        [play, 9, 0, nan, nan, 0.1, ""], [play, 0, 0, nan, nan, -1, ""], [play, 0, 0, nan, nan, 0.1, None],
        [equity, 0, -1, float("inf"), nan, 0.1, ""], ["0", 0, 0, nan, nan, 0.1, ""], [True, 0, 0, nan, nan, 0.1, ""],
    ):  # fmt: skip
        assert not judging.is_kept_answer(row, exam), row


def test_numbers_beyond_every_equity_are_a_finding(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(
        '{"position": "1 1 / 1", "owned": 1' + "0" * 400 + ', "owned_error": 1' + "0" * 400 + "}\n"
    )
    (found,) = labels.check(str(path)).findings
    assert found.name == "owned is not a number"
