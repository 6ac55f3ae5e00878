"""Where the solver changes its ways, read anew at each solve, so that a test may lower them."""

#: two-sided tables of more pairs are made through a scratch file
HELD_PAIRS = 30_000_000
#: one-sided waves of fewer positions are not divided among workers
SMALL_WAVE = 6000
#: positions of undivided waves that one call of a kernel does, which bounds how long it takes
MOST_TOGETHER = 60_000
