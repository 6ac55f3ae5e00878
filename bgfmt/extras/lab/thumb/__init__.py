"""Rules of thumb for the race, as BKG and the players of its time used them; one module for each family.

`racing` : winning chances W and V from two distributions of rolls, and the distributions of a home board.
`doubling` : doubling, redoubling and taking by W. The adjusted count is `acount` of `bgfmt.extras.lab.study.counts`.

H. J. Berliner, "BKG, a program that plays backgammon", Carnegie-Mellon University, 1977. Every function takes arrays
as well as single numbers: counts are (..., points), the ace point first, and sides broadcast against each other, so
that ``counts[:, None]`` against ``counts[None, :]`` covers every pair.
"""
