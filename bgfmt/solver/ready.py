"""What workers of this machine have in common: imported once, by the process that they are forked from.

See `bgfmt.extras.cluster.dask_workers`. What fails here each worker does for itself.
"""

from __future__ import annotations

import contextlib
import gc
from importlib import import_module

gc.disable()  # importing makes objects that stay: to look through them often takes long, now and at the end

with contextlib.suppress(Exception):
    from bgfmt.solver.stored import Making
    from bgfmt.solver.tiles import grid_of

    Making("", "", grid_of(2, 2, columns=4)).prepare()
with contextlib.suppress(ImportError):
    import_module("distributed")
gc.freeze()
gc.enable()
