"""Compiled loops of the solver: functions of arrays and integers."""
