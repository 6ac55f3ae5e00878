"""Recurrences of the verifier, which share no arithmetic with the solver."""
