"""BKG's arithmetic, compiled.

A board is int64 (2, 26): the side that moves, then the other, each by its own numbering, 0 the chequers off, 1 to 24
the points, 25 the bar.
"""
