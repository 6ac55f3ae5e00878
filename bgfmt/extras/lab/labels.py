"""Label race positions for training engines: exact equities where they are cheap, rollouts elsewhere.

Finished labels are stored in a part file beside the output, one JSON line each, from which an interrupted run
continues.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from bgfmt import storage
from bgfmt.analysis import ondemand
from bgfmt.analysis.advisor import Advisor
from bgfmt.analysis.solving import MONEY
from bgfmt.errors import BgfmtError, FormatError, NotCoveredError, PositionError
from bgfmt.extras.checkpoints import RowFile
from bgfmt.extras.foreign import load_json_rows
from bgfmt.extras.frames.arrow import pyarrow
from bgfmt.extras.races.rollouts import Oracle
from bgfmt.game.state import GameState
from bgfmt.solver.workers import ThreadWorkers

VALUES = ("cubeless", "owned", "centered", "opponent", "no_double", "double_take")
COLUMNS = (
    "position", "source", "play_outs", *(name for value in VALUES for name in (value, f"{value}_error")), "error",
)  # fmt: skip
FORMS = (".jsonl", ".csv", ".parquet")
Label = dict[str, Any]
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Settings:
    """How positions are labelled; for `seed`, `error` and `seconds` see `bgfmt.analysis.play_out`.

    limit : up to this many pairs of boards times cube states a position is solved exactly.
    """

    seed: int = 1
    error: float | None = None
    seconds: float | None = None
    limit: int = 400_000


def read_positions(lines: Iterable[str], *, separated: bool) -> list[str]:
    """Return the positions in the lines of a text file, as text.

    separated : False for a position on each line; True for comma-separated values with a column `position` or,
    without a header, positions in the first column. FormatError if a header has no such column.
    """
    if not separated:
        return [line.strip() for line in lines if line.strip()]
    try:
        head, *rows = [row for row in csv.reader(lines) if row] or [["position"]]
    except csv.Error as error:
        raise FormatError(f"no positions separated by commas ({error})") from None
    if "position" not in head:
        try:
            GameState.parse(head[0])
        except PositionError:
            raise FormatError(f"no column `position`; the columns are {', '.join(head)}") from None
        head, rows = ["position"], [head, *rows]
    at = head.index("position")
    return [row[at] for row in rows if len(row) > at]


def label(text: str, place: int, oracle: Oracle, advisor: Advisor, settings: Settings) -> Label:
    """Return the label of one position (its equities or match winning probabilities), or its error.

    Parameters
    ----------
    text : the position as an identifier.
    place : its index in the list, from which the seed of its dice is derived.
    oracle : rolls out positions beyond the limit.
    advisor : supplies the match score.

    Returns
    -------
    {column of `COLUMNS`: value}; only `position` and `error` if the position is invalid or has no answer.
    """
    try:
        state = GameState.parse(text)
        score = None if state.money else advisor.score(state)
        try:
            values: dict[str, float | None]
            if score is None:
                jacoby = bool(state.jacoby)
                answer = ondemand.solve_money(state.position, jacoby=jacoby, limit=settings.limit, threads=1)
                values = {name: answer.equity(name) for name in MONEY}
            else:
                cube = ondemand.solve_match(state.position, score, limit=settings.limit, threads=1).cube
                values = {"no_double": cube.mwc.no_double, "double_take": cube.mwc.double_take}
            numbers = {name: (value, 0.0) for name, value in values.items() if value is not None}
            out: Label = {"position": text, "source": "calculation", "play_outs": 0}
        except NotCoveredError:
            played = oracle.play_out(
                state, error=settings.error, seconds=settings.seconds, seed=settings.seed + place * 0x9E3779B1,
                score=score,
            )  # fmt: skip
            found = {name: getattr(played, name) for name in VALUES}
            numbers = {name: (one.value, one.standard_error) for name, one in found.items() if one}
            out = {"position": text, "source": "rollout", "play_outs": played.play_outs}
    except BgfmtError as error:
        return {"position": text, "error": str(error)}
    for name, (value, off) in numbers.items():
        out |= {name: value, f"{name}_error": off}
    return out


def label_all(
    texts: list[str], output: str, settings: Settings, *, threads: int, force: bool = False, resume: bool = False,
    progress: Progress | None = None,
) -> int:  # fmt: skip
    """Write the labels of positions to a .jsonl, .csv or .parquet file; return how many positions have none.

    Parameters
    ----------
    texts : the positions as identifiers.
    threads : how many positions are labelled at the same time.
    force : overwrite the output and, unless `resume` is set, the labels that an interrupted run left.
    resume : continue from these labels, which happens without `force` in any case.
    progress : called with the number of positions labelled and the number of all.

    Raises
    ------
    OutputExistsError : if the output exists and `force` is not set.
    ScratchError : if the labels left are of other positions or settings.
    """
    storage.check_output(output, force=force)
    if output.endswith(".parquet"):
        pyarrow()  # fail before the work if it is missing
    names = json.dumps([asdict(settings), hashlib.sha256("\n".join(texts).encode()).hexdigest()])
    part = output + ".part"
    file = RowFile(part, names, anew=force and not resume)
    labels: dict[int, Label] = {}
    for row in load_json_rows(file.rows):
        match row:
            case [int(place), {"position": str(text)} as one] if texts[place : place + 1] == [text]:
                labels[place] = one
    if progress is not None:
        progress(len(labels), len(texts))
    own = threading.local()
    with file, Advisor([]) as advisor, ThreadWorkers(threads) as workers:

        def work(place: int) -> tuple[int, Label]:
            """Return the index and the label of one position; each thread has its own oracle."""
            if not hasattr(own, "oracle"):
                own.oracle = Oracle()
            return place, label(texts[place], place, own.oracle, advisor, settings)

        left = [place for place in range(len(texts)) if place not in labels]
        for place, one in workers.run(work, left):
            labels[place] = one
            file.add(json.dumps([place, one]))
            if progress is not None:
                progress(len(labels), len(texts))
    every = [labels[place] for place in range(len(texts))]
    with storage.create(output, force=force) as sink:
        sink.write(_bytes(every, os.path.splitext(output)[1]))
    os.remove(part)
    return sum("error" in one for one in every)


def _bytes(rows: list[Label], form: str) -> bytes:
    """Return labels as the contents of a file; `form` is one of `FORMS`."""
    if form == ".jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    if form == ".csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue().encode()
    pa = pyarrow()
    from pyarrow import parquet

    texts = dict.fromkeys(("position", "source", "error"), pa.string()) | {"play_outs": pa.int64()}
    schema = pa.schema([(name, texts.get(name, pa.float64())) for name in COLUMNS])
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.Table.from_pylist(rows, schema), sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data
