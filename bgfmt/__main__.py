"""The command `bgfmt`, and `python -m bgfmt`."""

from __future__ import annotations

import gc
import os


def main() -> None:
    """Run the command line; an interrupt while it is loaded is one line as well."""
    try:
        gc.set_threshold(
            100_000, 20, 50
        )  # imports make many objects that stay: to search them often takes long
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # else numpy's threads wait busily for products
        from bgfmt.cli import main as command

        command()
    except KeyboardInterrupt:
        os.write(2, b"bgfmt: interrupted\n")
        os._exit(130)  # a second interrupt can't break an exit in order


if __name__ == "__main__":
    main()
