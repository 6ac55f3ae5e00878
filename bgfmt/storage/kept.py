"""Pages of files on web servers, kept in a folder from one process to the next.

The folder holds a folder for each address and size of page: `facts.json`, which says the file's size and what tells
a replaced one, and a file for each page. What it holds may be removed at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import time
from pathlib import Path

from bgfmt.storage.chunks import Folder
from bgfmt.storage.system import PathLike

FACTS = "facts.json"
VARIABLE = "BGFMT_CACHE"
TRUSTED = 3600.0  # seconds for which a file is taken not to have been replaced; every answer says so, too
MOST = 4 << 30  # bytes of all pages; beyond it the oldest files go


class KeptPages:
    """The pages of one address. What cannot be read or written is as if it were not there.

    size, mark : of the file, and what tells a replaced one, as they were when somebody looked.
    """

    def __init__(self, folder: PathLike, url: str, page_bytes: int) -> None:
        name = hashlib.sha256(f"{page_bytes} {url}".encode()).hexdigest()[:32]
        self.root, self.folder, self.page_bytes = Path(folder), Path(folder) / name, page_bytes
        self._files = Folder(self.folder)
        self.size, self.mark = 0, ""

    @classmethod
    def of(cls, folder: PathLike | None, url: str, page_bytes: int) -> KeptPages | None:
        """The pages of an address in a folder, by default that of the environment variable BGFMT_CACHE, else none."""
        chosen = os.environ.get(VARIABLE) if folder is None else folder
        return cls(chosen, url, page_bytes) if chosen else None

    def fresh(self) -> bool:
        """Whether size and mark are known, and were looked at not long ago."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            path = self.folder / FACTS
            facts = json.loads(path.read_bytes())
            self.size, self.mark = int(facts["size"]), str(facts["mark"])
            return 0 <= time.time() - path.stat().st_mtime < TRUSTED
        return False

    def settle(self, size: int, mark: str) -> None:
        """Say what the file is now; pages of another are let go."""
        known = (self.size, self.mark)
        if known != (size, mark):
            self.forget()
        self.size, self.mark = size, mark
        with contextlib.suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._files.write(FACTS, [json.dumps({"size": size, "mark": mark}).encode()])
        self._bound()

    def forget(self) -> None:
        """Let all pages go."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def read(self, page: int) -> bytes | None:
        """A page, None where it is not there."""
        with contextlib.suppress(OSError):
            data = (self.folder / str(page)).read_bytes()
            if len(data) == min(self.page_bytes, self.size - page * self.page_bytes):
                return data
        return None

    def write(self, page: int, data: bytes) -> None:
        """Keep a page."""
        with contextlib.suppress(OSError):
            self._files.write(str(page), [data])

    def _bound(self) -> None:
        """Where there are more bytes than `MOST`, let the oldest go until three quarters of that are left."""
        found: list[tuple[float, int, Path]] = []
        with contextlib.suppress(OSError):
            for file in self.root.glob("*/[0-9]*"):
                status = file.stat()
                found.append((status.st_mtime, status.st_size, file))
        left = sum(size for _, size, _ in found)
        if left <= MOST:
            return
        for _, size, file in sorted(found):
            if left <= MOST * 3 // 4:
                return
            with contextlib.suppress(OSError):
                file.unlink()
            left -= size
