"""The probe page's files, and the page with the addresses of its files filled in."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

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
