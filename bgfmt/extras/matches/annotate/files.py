"""Files and folders of matches: find, read and judge them, and write them back with comments."""

from __future__ import annotations

import csv
import io
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from bgfmt import storage
from bgfmt.analysis.sources import Progress
from bgfmt.errors import BgfmtError, FormatError, UnknownFormatError
from bgfmt.extras import matches
from bgfmt.extras.matches.annotate import page, text
from bgfmt.extras.matches.annotate.judging import Judge, Judgement
from bgfmt.extras.matches.annotate.report import WORST, MatchReport, Report, Total, Unread, judge_match
from bgfmt.extras.matches.sgf import Note, cube_record, luck_record, play_record, with_comments, write_sgf
from bgfmt.game.drawing import printable
from bgfmt.game.identifiers import position_id
from bgfmt.storage import PathLike

#: names by which files in a folder are known to be meant as matches
SUFFIXES = frozenset([".mat", ".sgf", ".xg", ".bgf", ".ogxm", ".ogxma", ".ogxms", ".gvab", ".gam"])


@dataclass
class Annotated:
    """A file that was read: its bytes, and the reports of its matches."""

    path: str
    data: bytes
    reports: list[MatchReport] = field(default_factory=list)

    def sgf(self) -> bytes:
        """Return the file as .sgf with a comment at every judged decision; other formats are converted.

        With judgements of `Judge(records=True)`, gnubg's analysis records are added unless the file has its own. No
        other byte of an .sgf file is changed.
        """
        if not any(report.match.format == "sgf" for report in self.reports):
            return b"".join(write_sgf(report.match, _notes(report)) for report in self.reports)
        by_node: dict[int, Note] = {}
        for report in self.reports:
            for (game, record), note in _notes(report).items():
                at = report.match.games[game].records[record].at
                if at in by_node:  # a roll that implies a take
                    note.lines = by_node[at].lines + note.lines
                by_node[at] = note
        return with_comments(self.data, by_node)


def _notes(report: MatchReport) -> dict[tuple[int, int], Note]:
    """Return what is added to a match, by index of the game and of the record in it."""
    notes = defaultdict[tuple[int, int], Note](Note)
    for one in report.judgements:
        decision = one.decision
        note = notes[decision.game, decision.record]
        note.lines.append(f"{text.line(one)} [{position_id(decision.state.position)}]")
        note.analysis += _record(one)
        if one.play and one.ranking and one.luck is not None:
            note.luck = luck_record(decision.player, one.luck)
    return notes


def _record(one: Judgement) -> bytes:
    decision = one.decision
    skill = one.class_gnubg
    if one.play and one.ranking:
        return play_record(decision.player, one.ranking, one.method, skill)
    if decision.kind == "beaver" or one.cube is None or one.cubeless is None:
        return b""
    lost, won = one.ends or (-1.0, 1.0)
    rolling, taken = (lost + (won - lost) * (number + 1) / 2 for number in one.cube[:2])
    on_roll = decision.kind == "no double"
    return cube_record(rolling, taken, one.cubeless, one.method, skill, on_roll=on_roll)


def annotate_file(path: PathLike, judge: Judge) -> Annotated:
    """Judge all matches of a file in any format that `bgfmt.matches` reads; FormatError if it holds none."""
    folder, name = map(printable, os.path.split(os.fspath(path)))
    data = matches.content(path)
    several = matches.read(data, name)
    if not several:
        raise FormatError(f"{name}: no match in it")
    judge.advisor.sources.results.forget()  # so that neither the order nor the sharing of files matters
    where = {"file": name, "folder": folder}
    reports = [judge_match(one, judge, number=k, **where) for k, one in enumerate(several, 1)]
    return Annotated(os.fspath(path), data, reports)


class Found(NamedTuple):
    """A file to read; `asked` is True if the user named it or its suffix is that of a match."""

    path: str
    asked: bool


def find(paths: Iterable[PathLike]) -> Iterator[Found]:
    """Yield the files of these paths: files themselves, all files in folders and their subfolders, sorted by name."""
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


#: what becomes of a file: judged, not read and why, or None where it is no match and was not named
Outcome = Annotated | Unread | None


def outcome_of(one: Found, judge: Judge) -> Outcome:
    """Judge all matches of a file; return its reports, or an `Unread` with the reason if it cannot be read.

    None is returned if the file is no match and was not named by the user.
    """
    try:
        return annotate_file(one.path, judge)
    except (BgfmtError, OSError) as error:
        if isinstance(error, UnknownFormatError) and not one.asked:
            return None
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        name = printable(os.path.basename(one.path))
        why = printable(" ".join(reason.split()).removeprefix(f"{name}: "), 400)
        return Unread(printable(one.path), why, type(error).__name__)


def annotate_all(found: Sequence[Found], judge: Judge, report: Report) -> Iterator[Annotated]:
    """Judge files one after another, add them to `report`, and yield those that could be read.

    Files in a folder that are no matches are counted and ignored, unless their suffix is that of a match.
    """
    outcomes = (outcome_of(one, judge) for one in found)
    yield from add_outcomes(outcomes, len(found), report)


def add_outcomes(
    outcomes: Iterable[Outcome], total: int, report: Report, *, progress: Progress | None = None
) -> Iterator[Annotated]:
    """Add the results of judging files (`outcome_of`) to `report`, and yield the files that were judged.

    total : number of files. progress : called with (files done, files in all).
    """
    for place, outcome in enumerate(outcomes, 1):
        if outcome is None:
            report.passed += 1
        elif isinstance(outcome, Unread):
            report.unread.append(outcome)
        else:
            report.matches += outcome.reports
            yield outcome
        if progress is not None:
            progress(place, total)


def annotate(paths: PathLike | Sequence[PathLike], tables: Any = None, **options: Any) -> Report:
    """Judge files and folders of matches and return the report.

    tables, options : as for `Judge`.
    """
    several = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    report = Report()
    with Judge(tables, **options) as judge:
        for _ in annotate_all(list(find(several)), judge, report):
            pass
    return report


# -- reports into files -------------------------------------------------------------------------------


ENDING = {"sgf": ".sgf", "html": ".html", "json": ".json", "text": ".txt", "csv": ".csv", "sums": ".csv"}
ENDINGS = {ending: form for form, ending in reversed(ENDING.items())} | {".htm": "html", "": "text"}


def form_of(path: str) -> str | None:
    """Return the form of report for a file's suffix: "sgf", "html", "json", "text" or "csv"; None for any other."""
    return ENDINGS.get(os.path.splitext(path)[1].lower())


def content(report: Report, form: str, worst: int = WORST) -> bytes:
    """Format a report as the content of a file.

    form : "html", "json", "text", "csv" with a row for each decision, or "sums", a CSV of totals. worst : number of
    worst errors to show.
    """
    words = {
        "html": lambda: page.page(report, most=worst),
        "json": lambda: json.dumps(report.as_dict(worst), indent=2, ensure_ascii=False) + "\n",
        "text": lambda: text.text(report, most=worst),
        "csv": lambda: _csv(_decisions(report)),
        "sums": lambda: _csv(_sums(report)),
    }
    return words[form]().encode("utf-8", "backslashreplace")


def _csv(rows: Iterable[dict[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in rows:
        if not out.tell():
            writer.writerow(row)
        writer.writerow(map(_cell, row.values()))
    return out.getvalue()


def _cell(value: Any) -> Any:
    """Return a value for a CSV cell; text that a spreadsheet would take for a formula gets an apostrophe."""
    if isinstance(value, (list, dict)):
        return json.dumps(value)
    if isinstance(value, str):
        return "'" + printable(value) if value[:1] in ("=", "+", "-", "@") else printable(value)
    return value


def _decisions(report: Report) -> Iterator[dict[str, Any]]:
    for one in report.matches:
        match = {"file": one.file, "date": one.match.date, "event": one.match.event}
        yield from (match | judged.as_dict() for judged in one.judgements)


def _sums(report: Report) -> Iterator[dict[str, Any]]:
    """Yield a row for each player of each game, match and folder, and of all matches."""

    def rows(of: str, totals: Iterable[Total], **more: Any) -> Iterator[dict[str, Any]]:
        facts = {"of": of, "folder": "", "file": "", "date": "", "event": "", "game": None} | more
        yield from (facts | total.as_dict() for total in totals)

    for one in report.matches:
        match = {"folder": one.folder, "file": one.file, "date": one.match.date, "event": one.match.event}
        for game, totals in one.games:
            yield from rows("game", totals, **match, game=game.number)
        yield from rows("match", one.totals, **match)
    for folder, totals in report.folders.items():
        yield from rows("folder", totals, folder=folder)
    yield from rows("all", report.totals)


def write_folder(
    each: Iterable[Annotated], folder: PathLike, form: str, worst: int, *, force: bool = False, page: str = ""
) -> int:
    """Write a report of each file into a folder, under the file's name, and return how many were written.

    The folder is created with the first file. A second file of the same name gets a number.

    form, worst : as for `content`; the form "sgf" too. force : overwrite files. page : address of a page of `bgfmt
    serve` for links.
    """
    taken: set[str] = set()
    for annotated in each:
        Path(folder).mkdir(parents=True, exist_ok=True)
        stem = Path(annotated.path).stem
        names = (f"{stem}-{k}{ENDING[form]}" if k > 1 else stem + ENDING[form] for k in count(1))
        name = next(name for name in names if name.lower() not in taken)
        taken.add(name.lower())
        report = Report(annotated.reports, page=page)
        data = annotated.sgf() if form == "sgf" else content(report, form, worst)
        with storage.create(Path(folder) / name, force=force) as sink:
            sink.write(data)
    return len(taken)
