"""Coverage-guided fuzzing of one reader, to be left running where atheris is installed.

    pip install atheris
    python -m tests.fuzz.atheris_readers databases -max_total_time=3600 -max_len=8192

The names are those of `tests.fuzz.readers`; sound inputs are put into a folder of their own to begin with. Any
exception that is no BgfmtError is a find; what follows the name are libFuzzer's own options.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path


def compiled() -> list[str]:
    """Modules of kernels, which Numba compiles from their own bytecode: none that counts branches."""
    root = Path(__file__).resolve().parents[2]
    modules = (path for path in (root / "bgfmt").rglob("*.py") if "bgfmt.jit" in path.read_text("utf-8"))
    return [".".join(path.relative_to(root).with_suffix("").parts) for path in modules]


def main() -> None:
    """Hand the process to libFuzzer."""
    import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]

    with atheris.instrument_imports(include=["bgfmt"], exclude=compiled()):
        from tests.fuzz.readers import READERS, all_readers

        reader = (READERS if sys.argv[1] in READERS else all_readers())[sys.argv[1]]
        sound = reader.seeds()
        for data in sound:
            reader.read(data)  # modules that are imported when first needed are counted too
    folder = tempfile.mkdtemp(prefix="corpus-")
    for number, data in enumerate(sound):
        Path(folder, str(number)).write_bytes(data)
    atheris.Setup([sys.argv[0], *sys.argv[2:], folder], lambda data: reader.read(bytes(data)))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
