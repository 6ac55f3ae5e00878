"""Coverage-guided fuzzing of every reader, to be left running where atheris is installed.

    pip install atheris
    python -m tests.fuzz.atheris_readers fixtures/golden/gnubg fixtures/golden/jfile fixtures/matches

Any exception that is no BgfmtError is a find; libFuzzer's own options (-max_total_time=3600) apply.
"""

from __future__ import annotations

import sys

from tests.fuzz.mutations import walk
from tests.matches.mutate import one


def every_reader(data: bytes) -> None:
    """The bytes as a database and as a match."""
    walk(data)
    one(data)


def main() -> None:
    """Hand the process to libFuzzer."""
    import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]

    atheris.instrument_all()
    atheris.Setup(sys.argv, lambda data: every_reader(bytes(data)))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
