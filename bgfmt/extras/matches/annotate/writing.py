"""Reports into files."""

from __future__ import annotations

import json
import os
from pathlib import Path

from bgfmt import storage
from bgfmt.extras.matches.annotate import page, text
from bgfmt.extras.matches.annotate.files import Annotated
from bgfmt.extras.matches.annotate.report import WORST, Report

ENDINGS = {".sgf": "sgf", ".html": "html", ".htm": "html", ".json": "json", ".txt": "text", "": "text"}
SUFFIXES = {"sgf": ".sgf", "html": ".html", "json": ".json", "text": ".txt"}


def form_of(path: str) -> str | None:
    """What to write into a file, by its ending: "sgf", "html", "json", "text", or None where none is written so."""
    return ENDINGS.get(os.path.splitext(path)[1].lower())


def content(report: Report, form: str, worst: int = WORST) -> bytes:
    """A report as "html", "json" or "text"."""
    if form == "json":
        return (json.dumps(report.as_dict(worst), indent=2, ensure_ascii=False) + "\n").encode(
            "utf-8", "backslashreplace"
        )
    written = page.page(report, most=worst) if form == "html" else text.text(report, most=worst)
    return written.encode("utf-8", "backslashreplace")


class Names:
    """A folder with a file for each match file, made when the first is written."""

    def __init__(self, folder: str, form: str, *, force: bool = False) -> None:
        self.folder, self.form, self.force = Path(folder), form, force
        self._taken: set[str] = set()

    def write(self, done: Annotated, worst: int = WORST) -> None:
        """Write one file's reports under its name; where two bear one name, the later gets a number."""
        self.folder.mkdir(parents=True, exist_ok=True)
        stem, suffix = Path(done.path).stem, SUFFIXES[self.form]
        name, count = stem + suffix, 1
        while name.lower() in self._taken:
            count += 1
            name = f"{stem}-{count}{suffix}"
        self._taken.add(name.lower())
        data = done.sgf() if self.form == "sgf" else content(Report(done.reports), self.form, worst)
        with storage.create(self.folder / name, force=self.force) as sink:
            sink.write(data)
