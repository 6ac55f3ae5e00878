"""`python -m bgfmt` is the command line."""

from bgfmt.cli import main

main()
