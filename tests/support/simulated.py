"""Tables made on Numba's simulator of a CUDA device, held against those of the processor; run by test_device.py."""

import numpy as np

from bgfmt import solver
from bgfmt.extras.large.chunks import ChunkStore
from bgfmt.extras.large.tiles import TileSolve, grid_of


def same(points: int, chequers: int, columns: int, side: int | None, path: str) -> bool:
    grid = grid_of(points, chequers, columns=columns, side=side, chunk=side)
    making = TileSolve(path, "equities", grid, device="cuda")
    for tile in grid.tiles():
        making.make(tile)
    order = solver.layers.pip_order(points, chequers).numbers
    wanted = np.asarray(solver.two_sided(points, chequers, cubeful=columns == 4).equities)[order][:, order]
    found = np.zeros((grid.chunks * grid.chunk,) * 2 + (columns,), np.uint16)
    for a, b in np.ndindex(grid.chunks, grid.chunks):
        part, _ = ChunkStore(path).read_chunk("equities", (a, b, 0), "<u2", (grid.chunk, grid.chunk, columns))
        found[a * grid.chunk :, b * grid.chunk :][: grid.chunk, : grid.chunk] = part
    return np.array_equal(found[: grid.n, : grid.n], wanted)


if __name__ == "__main__":
    import tempfile

    sizes = [(p, c, 4, None) for p in range(1, 5) for c in range(1, 5) if p + c < 7]
    sizes += [(3, 3, 4, 8), (2, 4, 4, 8), (4, 2, 1, 8), (3, 2, 1, None)]
    with tempfile.TemporaryDirectory() as folder:
        for k, size in enumerate(sizes):
            assert same(*size, f"{folder}/{k}"), size
    print(len(sizes), "same")
