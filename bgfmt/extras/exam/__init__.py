"""Exams of engines: their plays, cube actions and equities judged by exact numbers; and `bgfmt check-labels`."""
