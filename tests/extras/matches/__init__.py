"""Tests of the readers of recorded matches."""
