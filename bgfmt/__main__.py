"""The command `bgfmt`, and `python -m bgfmt`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; an interrupt while it is loaded is one line as well."""
    try:
        from bgfmt.cli import main as command
    except KeyboardInterrupt:
        print("bgfmt: interrupted", file=sys.stderr)
        sys.exit(130)
    command()


if __name__ == "__main__":
    main()
