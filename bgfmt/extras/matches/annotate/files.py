"""Files and folders of matches: found, read, judged, and written back with comments."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bgfmt import storage
from bgfmt.analysis.sources import Progress
from bgfmt.errors import BgfmtError, FormatError, UnknownFormatError
from bgfmt.extras import matches
from bgfmt.extras.matches.annotate import page, text
from bgfmt.extras.matches.annotate.judging import Judge
from bgfmt.extras.matches.annotate.report import WORST, MatchReport, Report, Unread, judge_match
from bgfmt.extras.matches.sgf import with_comments, write_sgf
from bgfmt.game.drawing import printable
from bgfmt.game.identifiers import position_id

#: names by which files in a folder are known to be meant as matches
SUFFIXES = frozenset([".mat", ".sgf", ".xg", ".bgf", ".ogxm", ".ogxma", ".ogxms", ".gvab", ".gam"])
PathLike = str | os.PathLike[str]


@dataclass
class Annotated:
    """A file that was read: its bytes, and the reports of its matches."""

    path: str
    data: bytes
    reports: list[MatchReport] = field(default_factory=list)

    def sgf(self) -> bytes:
        """The file as .sgf with a comment at every judged decision; other forms are made into one.

        Of an .sgf file no other byte is changed.
        """
        if not any(report.match.format == "sgf" for report in self.reports):
            return b"".join(write_sgf(report.match, _comments(report)) for report in self.reports)
        at: dict[int, list[str]] = {}
        for report in self.reports:
            for (game, record), lines in _comments(report).items():
                at.setdefault(report.match.games[game].records[record].at, []).extend(lines)
        return with_comments(self.data, at)


def _comments(report: MatchReport) -> dict[tuple[int, int], list[str]]:
    comments: dict[tuple[int, int], list[str]] = {}
    for one in report.judgements:
        line = f"{text.line(one)} [{position_id(one.decision.state.position)}]"
        comments.setdefault((one.decision.game, one.decision.record), []).append(line)
    return comments


def annotate_file(path: PathLike, judge: Judge) -> Annotated:
    """Judge all matches of a file in any form that `bgfmt.matches` reads; FormatError where it is none."""
    name = printable(os.path.basename(os.fspath(path)))
    data = matches.content(path)
    several = matches.read(data, name)
    if not several:
        raise FormatError(f"{name}: no match in it")
    reports = [judge_match(one, judge, file=name, number=k) for k, one in enumerate(several, 1)]
    return Annotated(os.fspath(path), data, reports)


@dataclass
class Found:
    """A file to be read; `asked` where it was named itself or bears the name of a match."""

    path: str
    asked: bool


def find(paths: Iterable[PathLike]) -> Iterator[Found]:
    """The files named, and all files of folders and the folders in them, in the order of their names."""
    for path in paths:
        name = os.fspath(path)
        if not os.path.isdir(name):
            yield Found(name, True)
            continue
        for folder, inner, files in os.walk(name):
            inner[:] = sorted(one for one in inner if not one.startswith("."))
            for file in sorted(files):
                full = os.path.join(folder, file)
                if not file.startswith(".") and os.path.isfile(full):
                    yield Found(full, os.path.splitext(file)[1].lower() in SUFFIXES)


def annotate_all(
    found: Sequence[Found], judge: Judge, report: Report, *, progress: Progress | None = None
) -> Iterator[Annotated]:
    """Judge all files, one after another, into `report`; a file that cannot be read is put down there.

    Files of a folder that are no matches are passed over and counted, unless their names say that they are.
    `progress(done, total)` counts files.
    """
    for place, one in enumerate(found, 1):
        try:
            annotated = annotate_file(one.path, judge)
        except (BgfmtError, OSError) as error:
            if isinstance(error, UnknownFormatError) and not one.asked:
                report.passed += 1
            else:
                reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
                name = printable(os.path.basename(one.path))
                why = printable(" ".join(reason.split()).removeprefix(f"{name}: "), 400)
                report.unread.append(Unread(printable(one.path), why, type(error).__name__))
        else:
            report.matches += annotated.reports
            yield annotated
        if progress is not None:
            progress(place, len(found))


def annotate(paths: PathLike | Sequence[PathLike], tables: Any = None, **options: Any) -> Report:
    """Judge files and folders of matches; `tables` and `options` as `Judge` takes them."""
    several = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    report = Report()
    with Judge(tables, **options) as judge:
        for _ in annotate_all(list(find(several)), judge, report):
            pass
    return report


# -- reports into files -------------------------------------------------------------------------------


ENDINGS = {".sgf": "sgf", ".html": "html", ".htm": "html", ".json": "json", ".txt": "text", "": "text"}
ENDING = {"sgf": ".sgf", "html": ".html", "json": ".json", "text": ".txt"}


def form_of(path: str) -> str | None:
    """What to write into a file, by its ending: "sgf", "html", "json", "text", or None where none is written so."""
    return ENDINGS.get(os.path.splitext(path)[1].lower())


def content(report: Report, form: str, worst: int = WORST) -> bytes:
    """A report as "html", "json" or "text"."""
    if form == "json":
        words = json.dumps(report.as_dict(worst), indent=2, ensure_ascii=False) + "\n"
    else:
        words = (page.page if form == "html" else text.text)(report, most=worst)
    return words.encode("utf-8", "backslashreplace")


class ReportFolder:
    """A folder with a file for each match file, made when the first is written."""

    def __init__(self, folder: str, form: str, *, force: bool = False) -> None:
        self.folder, self.form, self.force = Path(folder), form, force
        self._taken: set[str] = set()

    def write(self, annotated: Annotated, worst: int = WORST) -> None:
        """Write one file's reports under its name; where two bear one name, the later gets a number."""
        self.folder.mkdir(parents=True, exist_ok=True)
        stem, suffix = Path(annotated.path).stem, ENDING[self.form]
        name, count = stem + suffix, 1
        while name.lower() in self._taken:
            count += 1
            name = f"{stem}-{count}{suffix}"
        self._taken.add(name.lower())
        data = annotated.sgf() if self.form == "sgf" else content(Report(annotated.reports), self.form, worst)
        with storage.create(self.folder / name, force=self.force) as sink:
            sink.write(data)
