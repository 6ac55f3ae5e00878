"""Read files of labels (.csv, .jsonl, .parquet) and recognise their columns."""

from __future__ import annotations

import csv
import importlib
import json
import os
from collections.abc import Iterator
from typing import Any

from bgfmt.errors import FormatError
from bgfmt.extras.foreign import load_json, open_text
from bgfmt.extras.frames.arrow import import_parquet
from bgfmt.game.drawing import printable
from bgfmt.storage.source import open_regular
from bgfmt.tables import EQUITY_COLUMNS

#: {role of a column: its usual names, in lower-case letters and digits}
NAMES = {
    "position": "position pos id positionid xgid gnubgid board",
    "win": "win pwin w winchance wins chance",
    "lose": "lose plose l losechance loss",
    "win_gammon": "wingammon wing gammon pwingammon wg gammonwin",
    "win_backgammon": "winbackgammon winbg backgammon wbg",
    "lose_gammon": "losegammon loseg plosegammon lg gammonloss",
    "lose_backgammon": "losebackgammon losebg lbg",
    "cubeless": "cubeless equity eq cubelessequity value",
    "owned": "owned ownedcube", "centered": "centered cubeful cubefulequity centeredcube nodoubleequity",
    "opponent": "opponent opponentcube", "no_double": "nodouble nd", "double_take": "doubletake dt", "mwc": "mwc",
    "error": "error",
}  # fmt: skip
CHANCES = ("win", "win_gammon", "win_backgammon", "lose_gammon", "lose_backgammon")
MONEY = ("win", *EQUITY_COLUMNS)  # exact values for money
MATCH = ("no_double", "double_take", "mwc")
MAX_COLUMNS = 1_000
MAX_TEXT = 8_000  # characters of a value
ROWS_A_BYTE = 2  # most rows of a Parquet file for each of its bytes, plus `FREE_ROWS`
FREE_ROWS = 10_000
MAX_UNPACKED = 64 << 20  # bytes that any Parquet file may unpack to
MAX_RATIO = 60  # further bytes for each byte of the file
TEXT_TYPES = ("string", "large_string")
NUMBER_TYPES = ("int", "uint", "halffloat", "float", "double", "bool", "null")  # how their names begin
BATCH = 4_096  # rows of a Parquet file at a time
Row = dict[str, Any]


def read_rows(path: str) -> list[Row]:
    """Read the rows of a .csv, .jsonl (.json, .ndjson) or .parquet file of labels.

    Values are strings, numbers or None; nested ones are converted to JSON text. Chequer counts in columns `us_1`,
    ..., `them_6`, as bgfmt's own tables have them, are joined into a column `position`.

    Raises
    ------
    FormatError : if the file has no rows or cannot be parsed.
    OSError : if it is not a regular file.
    """
    try:
        if path.endswith((".parquet", ".pq")):
            rows = list(_parquet_rows(path))
        elif path.endswith((".jsonl", ".json", ".ndjson")):
            rows = list(_json_rows(path))
        else:
            rows = _csv_rows(path)
    except (ValueError, csv.Error) as error:
        raise FormatError(f"{path}: is not a file of labels ({printable(error, 100)})") from None
    if not rows:
        raise FormatError(f"{path}: not a file of labels: the first row has no column names")
    if "position" not in rows[0] and "us_1" in rows[0]:  # columns of a table that bgfmt exported
        for row in rows:
            sides = ([str(row[name]) for name in row if name.startswith(side)] for side in ("us_", "them_"))
            row["position"] = " / ".join(map(" ".join, sides))
    return rows


def _csv_rows(path: str) -> list[Row]:
    """Return the rows of a file separated by commas, semicolons or tabs; ValueError if it is malformed."""
    with open_text(path, encoding="utf-8-sig") as file:
        first = file.readline()
        file.seek(0)
        table = csv.DictReader(file, delimiter=max(",;\t", key=first.count), strict=True)
        names = [name for name in table.fieldnames or () if name]
        if len(table.fieldnames or ()) > MAX_COLUMNS:
            raise ValueError(f"more than {MAX_COLUMNS:,} columns")
        if len(names) > len(set(names)):
            raise ValueError("two columns have the same name")
        rows = []
        for number, row in enumerate(table, 1):
            if any(row.pop(None, None) or ()):  # type: ignore[call-overload]
                raise ValueError(f"row {number} has more values than there are columns")
            rows.append(row)
    return rows


def _json_rows(path: str) -> Iterator[Row]:
    """Yield the objects of a file with one JSON object a line; ValueError for anything else."""
    with open_text(path, encoding="utf-8-sig") as file:
        for line in file:
            if not line.strip():
                continue
            row = load_json(line)
            if not isinstance(row, dict):
                raise ValueError("a line must be a JSON object")
            if len(row) > MAX_COLUMNS:
                raise ValueError(f"more than {MAX_COLUMNS:,} columns")
            yield {
                name: json.dumps(value) if isinstance(value, (list, dict)) else value
                for name, value in row.items()
            }


def _parquet_rows(path: str) -> Iterator[Row]:
    """Yield the rows of a Parquet file, string and number columns only.

    ValueError if it is malformed or unpacks to far more than the size of the file.
    """
    parquet, _ = import_parquet()
    compute = importlib.import_module("pyarrow.compute")
    with open(open_regular(path), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        try:
            fields = parquet.read_schema(file)
            texts = [field.name for field in fields if str(field.type) in TEXT_TYPES]
            numbers = [field.name for field in fields if str(field.type).startswith(NUMBER_TYPES)]
            if len(texts) + len(numbers) > MAX_COLUMNS or len(set(fields.names)) < len(fields.names):
                raise ValueError(f"more than {MAX_COLUMNS:,} columns, or two of the same name")
            held = parquet.ParquetFile(file, read_dictionary=texts)
            meta = held.metadata
            unpacked = sum(meta.row_group(k).total_byte_size for k in range(meta.num_row_groups))
            if meta.num_rows > FREE_ROWS + ROWS_A_BYTE * size or unpacked > MAX_UNPACKED + MAX_RATIO * size:
                raise ValueError(f"{meta.num_rows:,} rows of {unpacked:,} bytes in a file of {size:,} bytes")
            count = 0
            for batch in held.iter_batches(BATCH, columns=texts + numbers):
                count += batch.num_rows
                dictionaries = [batch.column(name).dictionary for name in texts]
                longest = [compute.max(compute.binary_length(one)).as_py() or 0 for one in dictionaries]
                if count > meta.num_rows or max(longest, default=0) > MAX_TEXT:
                    raise ValueError(
                        f"more rows than its metadata states, or a text of more than {MAX_TEXT:,} characters"
                    )
                yield from batch.to_pylist()
        except ValueError:  # also those of pyarrow
            raise
        except Exception as error:  # it raises errors of many kinds for damaged files
            raise ValueError(f"{type(error).__name__}: {error}") from None


def columns_of(rows: list[Row], mapped: dict[str, str]) -> dict[str, str]:
    """Return which column of a label file has which role: {role: name of the column}.

    A role is a name in `NAMES`, such as "position" or "win". Columns are recognised by their usual names; `mapped`
    ({role: name}) assigns some explicitly. FormatError if `mapped` names an unknown role or column, or if the file
    has no column of positions or none of values.
    """
    given = {name: None for row in rows for name in row if isinstance(name, str)}
    for role, name in mapped.items():
        if role not in NAMES:
            raise FormatError(f"{role}={name}: unknown column (known: {', '.join(NAMES)})")
        if name not in given:
            raise FormatError(f"{role}={name}: no column {name!r}")
    found = dict(mapped)
    for name in given:
        plain = "".join(c for c in name.lower() if c.isalnum())
        role = next((role for role, names in NAMES.items() if plain in names.split()), "")
        if role and name not in mapped.values():
            found.setdefault(role, name)
    if "position" not in found:
        there = printable(", ".join(map(repr, given)), 400)
        raise FormatError(f"no column of positions in {there}; give it by --column position=NAME")
    if not set(found) & {*CHANCES, *MONEY, *MATCH}:
        raise FormatError("no column of probabilities or equities; give them by --column win=NAME")
    return found
