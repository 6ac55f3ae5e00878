"""Queries of many positions at once, as NumPy arrays: plays, cube actions and races.

They are public as names of `bgfmt.analysis`: `cube_actions`, `judge_many`, `rank_many`, `race_many` and others, see
the entry points `bgfmt.names` in pyproject.toml.
"""
