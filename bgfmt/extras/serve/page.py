"""The probe page: its files, its HTML with their addresses filled in, and a folder of it with tables.

For a complete site, missing tables are solved, and large ones are split into files that free web hosts accept.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from bgfmt import jit
from bgfmt.cli.terminal import Progress
from bgfmt.errors import CapabilityError, OutputExistsError, TruncatedError
from bgfmt.extras.folders import new_folder, recover_folder
from bgfmt.extras.large.stores import remove
from bgfmt.extras.serve.holdings import Holding, Holdings, legible
from bgfmt.files.convert import convert
from bgfmt.files.solve import solve_table
from bgfmt.formats.gnubg import SIZE, read_header
from bgfmt.met import load
from bgfmt.met import names as met_names
from bgfmt.storage import is_url, system
from bgfmt.tables import OneSided, TwoSided, of_kind

FOLDER = Path(__file__).resolve().parent / "web"
METS = FOLDER.parents[2] / "data" / "met"
CHECKOUT = FOLDER.parents[3] / "plugins" / "js"
#: those of plugins/js; a wheel carries them beside the page's own
READER = (
    "bgfmt.js",
    "ask.js",
    "races.js",
    "packed.js",
    "calculate.js",
    "estimate.js",
    "match.js",
    "insight.js",
)
TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'{connect}; "
    "base-uri 'none'; form-action 'none'"
)
POLICY_HEADER = POLICY.format(connect="") + "; frame-ancestors 'none'"
SITE = FOLDER / "site"  # what only a static folder has
INSTALLED = "; manifest-src 'self'; worker-src 'self'"
MODULE = '<link rel="modulepreload" href="assets/{digest}/{name}">\n'
START = "start.js"  # loaded by itself, before all modules
#: modules that not every visit needs
LATER = ("packed.js", "calculate.js", "estimate.js", "match.js", "insight.js", "calculator.js", "worker.js")
#: a comment in lines of its own: a sixth of what the first answer fetches
COMMENT = re.compile(rb"^[ \t]*(?://[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)\n", re.MULTILINE)
#: what plugins/js takes of a match equity table
MET_FIELDS = ("name", "digest", "even", "pre", "post")
#: how files begin that are not gnubg's and that the page reads: compressed tables, bgsage's
READ = (b"bgfmt-ts", b"RAEB")
#: parts begin at a multiple of it, as the reader's pages do, and overlap by it, so that every record lies in one
PART_OVERLAP_BYTES = 64 << 10
DEFAULT_PART_BYTES = 100_000_000  # a size of parts that most hosts take
COPY_BYTES = 8 << 20
MET = "Kazaross-XG2.xml"
Told = Callable[[int, int], None]  # how many bytes are done, of how many
TABLES = ".tables"  # what is made lies in OUT.tables until the site is there


@cache
def assets() -> dict[str, bytes]:
    """Return the page's scripts and style sheet by name, without comments."""
    files = [file for file in sorted(FOLDER.iterdir()) if file.suffix in TYPES]
    files += [CHECKOUT / name for name in READER if not (FOLDER / name).exists()]
    return {file.name: COMMENT.sub(b"", file.read_bytes()) for file in files}


@cache
def digest() -> str:
    """Return one hash of all scripts and style sheets of the page, which is part of their path.

    So a new version has new addresses, and modules can import each other by relative names.
    """
    return hashlib.sha256(repr(sorted(assets().items())).encode()).hexdigest()[:16]


def html(mode: str, *, title: str = "", connect: tuple[str, ...] = ()) -> bytes:
    """Return the HTML of the page.

    mode : "serve" (the page of `bgfmt serve`) or "site" (static files). connect : origins of tables on other servers.
    """
    policy = links = ""
    if mode == "site":
        allowed = POLICY.format(connect="".join(f" {origin}" for origin in connect)) + INSTALLED
        policy = f'<meta http-equiv="Content-Security-Policy" content="{escape(allowed)}">\n'
        modules = [name for name in assets() if name.endswith(".js") and name not in (START, *LATER)]
        links = (SITE / "links.html").read_text("utf-8")
        links += "".join(MODULE.format(digest=digest(), name=name) for name in modules)
    before = f"{escape(title)} · " if title else ""
    marks = {"MODE": mode, "TITLE": before, "POLICY": policy, "LINKS": links, "DIGEST": digest()}
    return fill(FOLDER / "index.html", marks).encode()


def fill(path: Path, marks: Mapping[str, str]) -> str:
    """Return the text of a file in which each mark @NAME@ is replaced by the text of that name."""
    return re.sub("@([A-Z]+)@", lambda mark: marks[mark[1]], path.read_text("utf-8"))


# -- the page and tables as a folder of files that any web server can send -------------------------------


@dataclass(frozen=True)
class Link:
    """A table on another server."""

    name: str
    url: str

    @classmethod
    def parse(cls, text: str) -> Link:
        """Parse the option `NAME=URL`, a table on another server; CapabilityError for any other text."""
        name, _, url = text.partition("=")
        parts = urlsplit(url)
        if not name or parts.scheme not in ("http", "https") or not parts.hostname:
            raise CapabilityError(f"a link must be NAME=URL with an http or https address, not {text!r}")
        if parts.username is not None:
            raise CapabilityError("a link must not have a user and a password, as everyone can see it")
        return cls(legible(name), legible(url))


def check(out: str | os.PathLike[str], force: bool) -> Path:
    """Return the folder to write as a path; OutputExistsError or CapabilityError if it cannot be written or replaced.

    force : replace an existing site.
    """
    target = Path(out)
    recover_folder(target)
    if os.path.lexists(target) and not force:
        raise OutputExistsError(f"{target}: exists already")
    if os.path.lexists(target) and not target.is_dir():
        raise CapabilityError(f"{target}: is not a folder")
    if target.is_dir() and any(target.iterdir()) and not (target / "site.json").is_file():
        raise CapabilityError(f"{target}: the folder is not a site, so it is not replaced")
    return target


def write(
    out: str | os.PathLike[str],
    databases: Sequence[str],
    links: Iterable[Link] = (),
    *,
    title: str = "",
    force: bool = False,
    part: int | None = None,
    met: bool = False,
    progress: Told = lambda done, total: None,
) -> int:
    """Write the folder of a site atomically and return its size in bytes.

    Parameters
    ----------
    out : the folder. databases : paths of the tables to copy. links : tables on other servers.
    title : heading of the page.
    force : replace an existing site.
    part : split larger tables into files of at most this many bytes.
    met : include a match equity table.
    progress : called with the bytes done and their total.

    Raises
    ------
    OutputExistsError : for an existing `out` without `force`.
    FormatError, OSError : for a file that is no table.
    """
    target = check(out, force)
    links = list(links)
    title = legible(title)
    if not databases and not links:
        raise CapabilityError("a site needs at least one table or link")
    far = [text for text in databases if is_url(text)]
    if far:
        raise CapabilityError(
            f"{far[0]}: a table on another server is not copied; link to it: --link NAME=URL"
        )
    with Holdings.open(databases) as holdings:
        names = [one.name for one in (*holdings, *links)]
        if twice := [name for name in names if names.count(name) > 1]:
            raise CapabilityError(f"two tables have the name {twice[0]!r}")
        for one in holdings:
            _check_readable(one)
        with new_folder(target) as made, system.report_errors_as(target):
            _write_page(made, holdings, links, title, part, progress)
            if met:
                (made / "met").mkdir()
                shutil.copyfile(METS / MET, made / "met" / MET)
            _write_installable(made, title)
    return sum(one.stat().st_size for one in target.rglob("*") if one.is_file())


def _check_readable(held: Holding) -> None:
    """Raise CapabilityError for a table that the page's reader, plugins/js, does not read."""
    first = held.database.source.bytes(0, min(SIZE, held.database.source.size))
    if first.startswith(READ):
        return
    head = read_header(first)
    if head is None or head.kind == "H":
        raise CapabilityError(
            f"{held.name}: the page cannot read this table ({held.database.format.name}); it reads one-sided and "
            "two-sided databases of gnubg's with their header, .bgts files and bgsage's: `bgfmt convert` writes a "
            ".bd file, and `bgfmt serve` answers from every table"
        )


def _write_page(
    made: Path, holdings: Holdings, links: list[Link], title: str, part: int | None, progress: Told
) -> None:
    addresses = [urlsplit(link.url) for link in links]
    origins = tuple(sorted({f"{one.scheme}://{one.netloc}" for one in addresses}))
    (made / "index.html").write_bytes(html("site", title=title, connect=origins))
    folder = made / "assets" / digest()
    folder.mkdir(parents=True)
    for name, data in assets().items():
        (folder / name).write_bytes(data)
    entries = []
    (made / "tables").mkdir()
    for held in holdings:
        source = Path(held.database.source.path or held.database.name)
        if part is not None and held.size > part:
            entries.append(held.entry(None) | cut(source, made / "tables", held.name, part, progress))
        else:
            shutil.copyfile(source, made / "tables" / held.name)
            entries.append(held.entry(f"tables/{quote(held.name)}"))
    # what a linked table is, the page finds out by opening it
    told = "title format kind points chequers positions size max_error fingerprint sha256"
    unknown = dict.fromkeys(told.split())
    entries += [{"name": link.name, **unknown, "url": link.url} for link in links]
    mets = [load(name) for name in met_names()]
    said = {"title": title, "mets": [met.name for met in mets], "tables": entries}
    (made / "site.json").write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", "utf-8")
    values = [{name: getattr(met, name) for name in MET_FIELDS} for met in mets]
    (made / "mets.json").write_text(json.dumps(values), "utf-8")


def _write_installable(made: Path, title: str) -> None:
    """Write what a browser needs to install the page, and to show it offline."""
    (made / "icon.svg").write_bytes((SITE / "icon.svg").read_bytes())
    names = {
        "NAME": f"{title} · Bearoff tablebase" if title else "Bearoff tablebase",
        "SHORT": title[:24] or "Bearoff",
    }
    marks = {key: json.dumps(name, ensure_ascii=False)[1:-1] for key, name in names.items()}
    (made / "manifest.webmanifest").write_text(fill(SITE / "manifest.webmanifest", marks), "utf-8")
    shell = ["index.html", "site.json", "mets.json", "manifest.webmanifest", "icon.svg"]
    shell += [f"assets/{digest()}/{name}" for name in assets()]
    every = hashlib.sha256(b"".join((made / one).read_bytes() for one in shell)).hexdigest()
    shell[0] = "./"  # as which the page is asked for
    marks = {"DIGEST": every[:16], "FILES": json.dumps(shell)}
    (made / "sw.js").write_text(fill(SITE / "sw.js", marks), "utf-8")


def part_size(most: int) -> int:
    """Return the size in bytes of the parts of a table: at most `most`, a multiple of the bytes that two parts share.

    CapabilityError if `most` is too small.
    """
    if most < 2 * PART_OVERLAP_BYTES:
        raise CapabilityError(f"parts must have at least {2 * PART_OVERLAP_BYTES:,} bytes, not {most:,}")
    return most - most % PART_OVERLAP_BYTES


def cut(source: Path, folder: Path, name: str, most: int, progress: Told) -> dict[str, Any]:
    """Split a file into parts NAME.000, NAME.001, ... of `most` bytes in a folder; neighbours overlap.

    Returns the entry for `site.json`: `parts` with address, offset and size, and the SHA-256 of the file.
    """
    size = source.stat().st_size
    parts = list[dict[str, Any]]()
    with open(source, "rb") as file, system.report_errors_as(folder):
        for k, start in enumerate(range(0, size, most - PART_OVERLAP_BYTES)):
            part = folder / f"{name}.{k:03}"
            left = min(most, size - start)
            parts.append({"url": f"tables/{quote(part.name)}", "at": start, "size": left})
            file.seek(start)
            with open(part, "wb") as out:
                while left:
                    piece = file.read(min(COPY_BYTES, left))
                    if not piece:
                        raise TruncatedError(str(source), size, file.tell())
                    left -= out.write(piece)
                    progress(file.tell(), size)
        file.seek(0)
        return {"parts": parts, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


# -- the complete table, and what goes with it ----------------------------------------------------------


#: points and chequers of the two-sided table; chequers of a small one, from which the first answers come with the
#: fewest bytes; points of the one-sided table of races outside the home boards
COMPLETE = (6, 15, 6, 10)


def tables(given: list[str], folder: Path) -> list[str]:
    """Return the files of a complete site: those given, and further ones that are solved into `folder` if missing.

    A complete site has two-sided tables of 6 points up to 15 chequers and one-sided ones up to 10 points.
    """
    home, most, few, far = COMPLETE
    with Holdings.open(given) as holdings:
        here = [held.table for held in holdings if held.table.points >= home]
        two = [t.chequers for t in of_kind(here, TwoSided) if not t.exact and t.equities.shape[2] == 4]
        one = of_kind(here, OneSided)
        there = {
            f"{home}x{most}.bgts": max(two, default=0) >= most,
            "gnubg_ts0.bd": any(few <= chequers < most for chequers in two),
            "gnubg_os0.bd": any(t.gammon is not None for t in one),
            f"bgfmt_os{far}.bd": any(t.points >= far for t in one),
        }
    missing = [folder / name for name, found in there.items() if not found]
    for path in missing:
        if path.exists():
            continue
        folder.mkdir(exist_ok=True)
        if path.suffix == ".bgts":
            _solve_two_sided(path, home, most)
        elif path.name == "gnubg_ts0.bd":
            _solve_table(path, "two-sided", home, few)
        elif path.name == "gnubg_os0.bd":
            _solve_table(path, "one-sided", home, 15)
        else:
            _solve_table(path, "one-sided", far, 15, compressed=False, gammon=False)
    return [*given, *map(str, missing)]


@contextmanager
def _making(what: str) -> Iterator[Progress]:
    with Progress(what, always=True) as progress, jit.watching(progress.compiling):
        yield progress


def _solve_two_sided(path: Path, points: int, chequers: int) -> None:
    """Solve a two-sided table into a store, which an interrupted run continues, and compress it."""
    store = path.with_suffix(".store")
    with _making("solving") as progress:
        solve_table("two-sided", points, chequers, store=store, resume=store.exists(), progress=progress)
    with _making("packing") as progress:
        convert(store, path, progress=progress)
    remove(str(store))


def _solve_table(path: Path, what: str, points: int, chequers: int, **options: Any) -> None:
    with _making("solving") as progress:
        solve_table(what, points, chequers, path, progress=progress, **options)
