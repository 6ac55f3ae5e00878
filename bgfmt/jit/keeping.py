"""Numba's cache of a function, made safe: checksums, all sources in the stamp, no failure that reaches us.

Beside each overload lies its image. An overload whose image is missing is compiled again, so that both are there.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

from bgfmt.jit import emitting, images, sources

caching: Any = import_module("numba.core.caching")
_SUM = 16  # bytes of checksum at the end of a kept file


class Files(caching.IndexDataCacheFile):  # type: ignore[misc]
    def save(self, key: Any, data: Any) -> None:
        super().save(key, (key, data))

    def load(self, key: Any) -> Any:
        kept = super().load(key)
        return kept[1] if kept is not None and kept[0] == key else None

    def _load_index(self) -> dict[Any, Any]:
        try:
            return cast(dict[Any, Any], self._open(self._index_path))
        except OSError:
            return {}

    def _save_index(self, overloads: dict[Any, Any]) -> None:
        self._seal(self._index_path, overloads)

    def _load_data(self, name: str) -> Any:
        return self._open(self._data_path(name))

    def _save_data(self, name: str, data: Any) -> None:
        self._seal(self._data_path(name), data)

    def _sum(self, data: bytes) -> bytes:
        made_from = repr((self._version, self._source_stamp)).encode()
        return hashlib.blake2b(data + made_from, digest_size=_SUM).digest()

    def _seal(self, path: str, value: Any) -> None:
        data = self._dump(value)
        with self._open_for_write(path) as file:
            file.write(data + self._sum(data))

    def _open(self, path: str) -> Any:
        """What a file holds; OSError (to numba: no such file) unless it is whole and made from these sources."""
        with open(path, "rb") as file:
            data = file.read()
        if self._sum(data[:-_SUM]) != data[-_SUM:]:
            raise OSError(f"{path} is damaged or was made from other sources")
        return pickle.loads(data[:-_SUM])


class Keeper(caching.FunctionCache):  # type: ignore[misc]
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._function = function
        stamp = self._impl.locator.get_source_stamp(), sources.stamp(function)
        self._cache_file = Files(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            kinds = emitting.kinds_of(sig.args if hasattr(sig, "args") else sig)
            if kinds is not None and images.possible() and images.kept(self._function, kinds) is None:
                return None
            return super().load_overload(sig, target_context)
        except Exception:  # whatever is wrong with what is kept, compiling is right
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with contextlib.suppress(Exception):  # a full or read-only disk
            super().save_overload(sig, data)
            kinds = emitting.kinds_of(data.signature.args)
            if kinds is not None and images.possible():
                image = emitting.image(data, kinds, self._function)
                with self._cache_file._open_for_write(
                    images.place(self._function, kinds, self._cache_path)
                ) as file:
                    file.write(images.sealed(self._function, kinds, image))
