"""Check whether GNU Backgammon would load a file and use it correctly; gnubg itself checks almost nothing.

docs/hosts/gnubg.md explains what it does with each kind of file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import bgfmt
from bgfmt.errors import BgfmtError, FormatError, format_bytes
from bgfmt.files.gnubg_folders import HOSTS
from bgfmt.formats import gnubg
from bgfmt.formats.gnubg import FOUR_GIB
from bgfmt.game.drawing import pluralize
from bgfmt.storage.source import open_regular

PURE_POINTS = 12  # with more the points of the two sides overlap

#: names of the kinds of table
KINDS = {"OS": "one-sided", "ND": "normal-distribution", "TS": "two-sided", "H": "hypergammon"}


@dataclass
class Examination:
    """What gnubg would do with a file.

    kind : "OS", "ND", "TS", "H", or "" if it is not a gnubg file.
    readable : whether bgfmt knows the format.
    slots : where it may be installed, the best first; empty when refused.
    refusals : why it must not be installed, each with what gnubg would do.
    warnings : what gnubg would do that a user may not expect.
    hosts : for each program "reads it correctly" or why not.
    verified, verdict : whether the verifier found nothing (None if it was not run), and its line.
    """

    file: str
    size: int
    kind: str = ""
    points: int = 0
    chequers: int = 0
    options: dict[str, bool] = field(default_factory=dict)
    slots: tuple[str, ...] = ()
    refusals: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    hosts: dict[str, str] = field(default_factory=dict)
    readable: bool = True
    verified: bool | None = None
    verdict: str = "not verified"

    @property
    def ok(self) -> bool:
        """Whether the file may be installed: no reason against it, and the verifier found nothing (if it ran)."""
        return not self.refusals and self.verified is not False

    @property
    def exit_code(self) -> int:
        """Exit code of the check: 0 if the file may be installed, 1 if not, 2 if it is no readable database."""
        return int(not self.ok) if self.readable else 2

    @property
    def title(self) -> str:
        """Short description of the file, such as "two-sided, 6 points x 6 chequers, cubeful"."""
        if not self.kind:
            return "not a gnubg file"
        size = f"{self.points} points x {self.chequers} chequers"
        if self.kind == "H":
            size = pluralize(self.chequers, "chequer")
        return ", ".join([f"{KINDS[self.kind]}, {size}", *(name for name, on in self.options.items() if on)])

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as plain values for JSON, with `ok` and `title`; `kind` is named as by `bgfmt info`."""
        names = "file size kind title points chequers options slots refusals warnings hosts verified verdict"
        facts = {name: getattr(self, name) for name in names.split()}
        return {"ok": self.ok} | facts | {"kind": KINDS.get(self.kind, "")}


def examine(path: str | os.PathLike[str], *, until: str | None = "recurrence") -> Examination:
    """Check how gnubg would read and use a file, and verify its numbers.

    until : the verification level to stop at: structure, digest, sense, recurrence or regenerate; None for no
    verification. OSError if the file cannot be read.
    """
    name = os.fspath(path)
    with open(open_regular(path), "rb") as file:
        head = file.read(gnubg.SIZE)
        size = os.fstat(file.fileno()).st_size
    exam = Examination(name, size, gnubg.kind_of(head))
    exam.refusals += _find_load_errors(exam, head)
    if not exam.refusals:
        exam.refusals += _find_use_errors(exam)
        _add_size(exam)
        if not exam.refusals and until is not None:
            report = bgfmt.verify(exam.file, until=until)
            exam.verified = bool(report.ok)
            exam.verdict = str(report.verdict)
            if not exam.verified:
                exam.refusals.append(f"verification: {exam.verdict}; gnubg would use the wrong numbers")
    if exam.ok:
        exam.slots = _slots(exam)
    exam.hosts = {host: _host_verdict(exam, host) for host in HOSTS}
    return exam


def _find_load_errors(exam: Examination, head: bytes) -> Iterator[str]:
    """Yield reasons why gnubg would not load the file; set the fields that the header states."""
    if not exam.kind:
        exam.readable = bgfmt.verify(exam.file, until="structure").exit_code != 2
        found = f"expected gnubg-OS-, gnubg-TS- or gnubg-H, found {format_bytes(head[:8])}"
        yield f"it has no gnubg header ({found}); gnubg ignores it; {_advise(exam.file)}"
        return
    if exam.size < gnubg.SIZE:
        yield f"it is cut short inside the header: {exam.size} of 40 bytes; gnubg ignores it"
        return
    header = gnubg.read_header(head)
    assert header is not None
    exam.points = header.points
    exam.chequers = header.chequers
    if exam.kind == "H":
        if not 1 <= header.chequers <= 3:
            yield f"its header says {header.chequers} chequers; hypergammon has 1, 2 or 3, and gnubg does not check"
        return
    if not (1 <= header.points <= 23 and 1 <= header.chequers <= 15):
        size = f"{header.points} points and {header.chequers} chequers"
        yield f"its header says {size}; gnubg takes 1 to 23 and 1 to 15 ('incomplete bearoff database')"
    if exam.kind == "TS":
        exam.options = {"cubeful": header.cubeful}
    elif exam.kind == "OS":
        exam.options = {"gammon": header.gammon, "compressed": header.compressed}


def _advise(name: str) -> str:
    """Return advice for a file that is not a gnubg file with a header."""
    try:
        with bgfmt.open(name) as db:
            if db.info().get("header") is False:
                return f"it is a {db.format.title} file without header; a copy with header is needed"
            return f"it is a {db.format.title} file: bgfmt convert makes a gnubg file of it"
    except (BgfmtError, OSError):
        return "bgfmt does not recognise it either"


def _find_use_errors(exam: Examination) -> Iterator[str]:
    """Yield reasons why gnubg would load the file and then answer wrongly or crash."""
    if exam.kind == "ND":
        yield "it holds normal distributions: gnubg loads it and crashes on first use (segmentation fault)"
    if exam.kind == "TS" and not exam.options["cubeful"]:
        yield "it is cubeless: gnubg loads it and then fails every evaluation ('assertion pbc->fCubeful failed')"
    expected = _expected_size(exam)
    size = exam.size if expected is None else expected
    if size >= FOUR_GIB:
        yield (
            f"it takes {size:,} bytes: gnubg's 32-bit offsets end at 4 GiB and would wrap without an error "
            "(two-sided tables: up to 6x12); bgfmt itself reads it"
        )
    if exam.size < size:
        sizes = f"{exam.points}x{exam.chequers} needs {size:,} bytes, found {exam.size:,}"
        yield f"it is cut short: {sizes}; gnubg would load it without an error and answer from unrelated memory"


def _expected_size(exam: Examination) -> int | None:
    """Return the size in bytes that the header implies; None for a compressed table, whose index has to be read."""
    size = gnubg.HeaderFacts(exam.kind, exam.points, exam.chequers, **exam.options).size
    return None if size is None else gnubg.SIZE + size


def _add_size(exam: Examination) -> None:
    """Open the file as bgfmt does and add what this shows: a truncated compressed table, data after the table."""
    try:
        with bgfmt.open(exam.file) as db:
            db.table  # noqa: B018 - being able to read it is all we ask here
            if db.others or db.rest:
                ignored = f"{len(db.others)} more databases and {db.rest:,} bytes of no table"
                exam.warnings.append(f"{ignored} follow; gnubg ignores them")
    except FormatError as error:
        if not exam.refusals:
            what = "gnubg would load it without an error and answer with wrong numbers"
            exam.refusals.append(f"{str(error).removeprefix(exam.file + ': ')}; {what}")


def _slots(exam: Examination) -> tuple[str, ...]:
    """Return the slots in order of preference; add what users should know about them to the warnings."""
    points = exam.points
    chequers = exam.chequers
    note = exam.warnings.append
    if exam.kind == "H":
        return (f"hyper{chequers}",)
    if exam.kind == "TS":
        note("match play uses only its cubeless values; the cubeful ones are for money")
        if points > PURE_POINTS:
            note(f"{points} points are more than a pure race; gnubg uses it for races only")
        if (points, chequers) == (6, 6):
            return "ts0", "ts"
        if points <= 6 and chequers <= 6:
            note("as gnubg_ts.bd it is never used while gnubg_ts0.bd (6x6) covers all of it")
        return "ts", "ts0"
    if not exam.options["gammon"]:
        what = (
            "gnubg estimates gammon probabilities"
            if points == 6
            else "gnubg's gammon probabilities are wrong"
        )
        note(f"it has no gammon distributions: {what}")
    if (points, chequers) == (6, 15):
        return "os0", "os"
    if points <= 6:
        note("as gnubg_os0.bd it leaves more positions to the race net than the stock 6-point table")
        note("as gnubg_os.bd it is never used while gnubg_os0.bd (6 points) covers all of it")
    else:
        note("as gnubg_os.bd it is used only for sides with a chequer beyond point 6")
    return "os", "os0"


def _host_verdict(exam: Examination, host: str) -> str:
    """Return what one program makes of the file."""
    if exam.refusals:
        return "no"
    size = exam.kind, exam.points, exam.chequers
    if host != "gnubg-nn" or size in (("OS", 6, 15), ("TS", 6, 6)):
        return "reads it correctly"
    if exam.kind == "OS":
        return "no: it reads every one-sided file as one of 6 points: wrong numbers"
    return (
        "not tried with a two-sided table that is not 6x6" if exam.kind == "TS" else "no: it has no such slot"
    )
