"""What a solve will take, said before it starts: time, memory, disk. The coefficients are measurements."""

from __future__ import annotations

from dataclasses import dataclass

from bgfmt.solver.machine import available_memory

LANES = (
    1.6e10  # int16 maxima a second on one core, measured in tiles of a store and in squares of a whole table
)
START_SECONDS = 0.7  # interpreter, numpy, numba and the compiled code from its cache
INTERPRETER_BYTES = 150_000_000


@dataclass(frozen=True)
class Plan:
    """An estimate: `seconds` of an otherwise idle machine; bytes of `memory`, of the `output` file, of `scratch`."""

    what: str
    positions: int
    seconds: float
    memory: int
    output: int
    scratch: int = 0

    def __str__(self) -> str:
        return (
            f"{self.what}: {self.positions:,} positions, about {self.seconds:.1f} s, "
            f"{self.memory / 1e9:.2f} GB of memory, {self.output / 1e9:.3f} GB for the file"
            + (f" and {self.scratch / 1e9:.3f} GB of scratch" if self.scratch else "")
        )

    @property
    def fits(self) -> bool:
        """Whether the memory is there now (True where the system does not say)."""
        available = available_memory()
        return available is None or self.memory <= available


def results_a_position(points: int, chequers: int) -> int:
    """About how many (roll, result) pairs a position has on average; measured within a tenth."""
    return int(21 + 2.2 * (points - 1) * (chequers - 1)) if chequers > 1 else 21
