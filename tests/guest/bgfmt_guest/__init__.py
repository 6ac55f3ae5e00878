"""A guest of bgfmt: one more format and one more command."""
