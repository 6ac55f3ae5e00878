"""The probe page: its files, its text with their addresses filled in, and a folder of it with tables."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from urllib.parse import quote, urlsplit

from bgfmt.errors import CapabilityError, OutputExistsError
from bgfmt.extras.serve.holdings import Holdings
from bgfmt.storage import is_url, system
from bgfmt.storage.publish import new_folder, settle

FOLDER = Path(__file__).resolve().parent / "web"
CHECKOUT = FOLDER.parents[3] / "plugins" / "js"
READER = ("bgfmt.js", "ask.js")  # those of plugins/js; a wheel carries them beside the page's own
OWN = (
    "app.js",
    "board.js",
    "chart.js",
    "dom.js",
    "limits.js",
    "sections.js",
    "source.js",
    "state.js",
    "style.css",
)
TYPES = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'{connect}; "
    "base-uri 'none'; form-action 'none'"
)
POLICY_HEADER = POLICY.format(connect="") + "; frame-ancestors 'none'"


@cache
def assets() -> dict[str, bytes]:
    """The page's scripts and style sheet by name."""
    found = {name: (FOLDER / name).read_bytes() for name in OWN}
    for name in READER:
        packed = FOLDER / name
        found[name] = (packed if packed.exists() else CHECKOUT / name).read_bytes()
    return found


@cache
def digest() -> str:
    """One hash over all assets, for their address: modules then import each other by relative names."""
    made = hashlib.sha256()
    for name, data in sorted(assets().items()):
        made.update(name.encode() + b"\0" + data)
    return made.hexdigest()[:16]


def media_type(name: str) -> str:
    """The type of an asset."""
    return TYPES[Path(name).suffix]


def html(mode: str, *, title: str = "", connect: tuple[str, ...] = ()) -> bytes:
    """The page: mode "serve" or "site"; `connect` are origins of tables that lie elsewhere."""
    from html import escape

    text = (FOLDER / "index.html").read_text("utf-8")
    text = text.replace('content="serve"', f'content="{mode}"').replace("assets/", f"assets/{digest()}/")
    if title:
        text = text.replace("<title>Bearoff", f"<title>{escape(title)} · Bearoff")
    if mode == "site":
        policy = POLICY.format(connect="".join(f" {origin}" for origin in connect))
        meta = f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">'
        text = text.replace('<meta charset="utf-8">', f'<meta charset="utf-8">\n{meta}')
        text = _without(text, "<noscript>", "</noscript>")
    return text.encode()


def _without(text: str, start: str, end: str) -> str:
    """A static folder has no API to name where there is no JavaScript."""
    first, last = text.index(start), text.index(end) + len(end)
    said = '<p class="notice">This page needs JavaScript. Its tables are in the folder tables/.</p>'
    return f"{text[:first]}<noscript>{said}</noscript>{text[last:]}"


# -- the page and tables as a folder of files that any web server can send -------------------------------


@dataclass(frozen=True)
class Link:
    """A table that lies elsewhere."""

    name: str
    url: str

    @classmethod
    def parse(cls, text: str) -> Link:
        """NAME=URL."""
        name, _, url = text.partition("=")
        parts = urlsplit(url)
        if not name or parts.scheme not in ("http", "https") or not parts.hostname:
            raise CapabilityError(f"a link is NAME=URL with an http or https address, not {text!r}")
        if parts.username is not None:
            raise CapabilityError("a link for everyone to see cannot hold a user and password")
        return cls(name, url)

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        parts = urlsplit(self.url)
        host = parts.hostname or ""
        shown = f"[{host}]" if ":" in host else host
        return f"{parts.scheme}://{shown}" + (f":{parts.port}" if parts.port else "")


@dataclass(frozen=True)
class Written:
    """What was written: number of tables listed, bytes of the folder."""

    tables: int
    size: int


def write(
    out: str | os.PathLike[str],
    databases: Sequence[str],
    links: Iterable[Link] = (),
    *,
    title: str = "",
    force: bool = False,
) -> Written:
    """Write the folder; it appears whole or not at all.

    Raises
    ------
    OutputExistsError for an existing `out` without `force`; FormatError or OSError for a table that is none.
    """
    target, links = Path(out), list(links)
    settle(target)
    if os.path.lexists(target) and not force:
        raise OutputExistsError(f"{target}: exists already")
    if os.path.lexists(target) and not target.is_dir():
        raise CapabilityError(f"{target}: is not a folder")
    if target.is_dir() and any(target.iterdir()) and not (target / "site.json").is_file():
        raise CapabilityError(f"{target}: is no site, and is not replaced by one")
    if not databases and not links:
        raise CapabilityError("a site needs a table, or a link to one")
    far = [text for text in databases if is_url(text)]
    if far:
        raise CapabilityError(f"{far[0]}: a table that lies elsewhere is linked (NAME=URL), not copied")
    with Holdings.open(databases) as holdings:
        taken = {one.name for one in holdings}
        for link in links:
            if link.name in taken:
                raise CapabilityError(f"two tables are called {link.name!r}")
            taken.add(link.name)
        with new_folder(target, force=True) as made, system.said_of(target):
            _fill(made, holdings, databases, links, title)
    size = sum(one.stat().st_size for one in target.rglob("*") if one.is_file())
    return Written(len(databases) + len(links), size)


def _fill(made: Path, holdings: Holdings, databases: Sequence[str], links: list[Link], title: str) -> None:
    origins = tuple(sorted({link.origin for link in links}))
    (made / "index.html").write_bytes(html("site", title=title, connect=origins))
    folder = made / "assets" / digest()
    folder.mkdir(parents=True)
    for name, data in assets().items():
        (folder / name).write_bytes(data)
    entries = []
    if len(holdings):
        (made / "tables").mkdir()
    for held in holdings:
        shutil.copyfile(held.database.source.path or held.database.name, made / "tables" / held.name)
        entries.append(held.entry(f"tables/{quote(held.name)}"))
    entries += [_linked(link) for link in links]
    text = json.dumps({"title": title, "tables": entries}, indent=1, ensure_ascii=False)
    (made / "site.json").write_text(text + "\n", "utf-8")


def _linked(link: Link) -> dict[str, object]:
    """The entry of a linked table: what it is, the page finds out by opening it."""
    unknown = (
        "title",
        "format",
        "kind",
        "points",
        "chequers",
        "positions",
        "size",
        "max_error",
        "fingerprint",
        "sha256",
    )
    return {"name": link.name, **dict.fromkeys(unknown), "url": link.url}
