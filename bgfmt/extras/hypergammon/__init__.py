"""Hypergammon: its solver, its proof, and match equity tables for it."""
