"""One thread for a multiplication of matrices: its callers are threads already, and a tile is soon done.

OpenBLAS would wake its own threads for every block of a tile, which costs more than they save.
"""

from __future__ import annotations

import threading
from typing import Any


class OneThread:
    """Holds BLAS to one thread until the last who entered has left; then it is as it was."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._controller: Any = None
        self._limit: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._controller is None:
                from threadpoolctl import ThreadpoolController  # looks through the libraries that are loaded

                self._controller = ThreadpoolController()
            if self._inside == 0:
                self._limit = self._controller.limit(limits=1, user_api="blas")
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


one_thread = OneThread()
