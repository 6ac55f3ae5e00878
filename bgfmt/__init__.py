"""bgfmt: read, write, convert, verify and regenerate backgammon bearoff databases."""

__version__ = "0.1.0"
