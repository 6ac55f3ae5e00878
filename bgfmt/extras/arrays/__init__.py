"""Queries of many positions at once, as NumPy arrays: plays, cube actions and races.

Their names are those of `bgfmt.analysis`, by the entry points `bgfmt.names`.
"""
