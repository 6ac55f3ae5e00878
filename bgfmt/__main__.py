"""The command `bgfmt`, and `python -m bgfmt`."""

from __future__ import annotations

import gc
import os
import sys


def main() -> None:
    """Run the command line; an interrupt while it is loaded is one line as well."""
    gc.set_threshold(100_000, 20, 50)  # imports make many objects that stay: to search them often takes long
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # else numpy's threads wait busily for products
    try:
        from bgfmt.cli import main as command
    except KeyboardInterrupt:
        print("bgfmt: interrupted", file=sys.stderr)
        sys.exit(130)
    command()


if __name__ == "__main__":
    main()
