"""Write the tables of bytes into the pages of formats: `python docs/make_bytes.py`.

A table stands between ``bytes:begin FORMAT.NAME`` and ``bytes:end``, where NAME is a key of the format's
`structures`, or of `STRUCTURES` in the module of a match file format. A test compares it.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

from construct import Struct

from bgfmt import formats
from bgfmt.formats.structures import byte_table
from bgfmt.tables.registry import Registry

PAGES = Path(__file__).resolve().parent / "formats"
_MARKED = re.compile(r"(<!-- bytes:begin (\S+) -->\n).*?(?=<!-- bytes:end -->)", re.DOTALL)


def declared() -> dict[str, Struct]:
    """Return the structures of all formats, by the names in the marks."""
    found = {name: form.structures for name, form in formats.all_formats().items()}
    readers: Registry[ModuleType] = Registry("bgfmt.matches")
    found |= {name: getattr(reader, "STRUCTURES", {}) for name, reader in readers.items()}
    return {f"{name}.{key}": struct for name, structs in found.items() for key, struct in structs.items()}


def shown(text: str) -> list[str]:
    """Return the names of the structures that a page shows."""
    return [name for _, name in _MARKED.findall(text)]


def filled(text: str) -> str:
    """Return the text of a page with its tables made anew."""
    structs = declared()
    return _MARKED.sub(lambda match: f"{match[1]}\n{byte_table(structs[match[2]])}\n\n", text)


def main() -> None:
    """Write the tables into the pages."""
    for page in sorted(PAGES.glob("*.md")):
        before = page.read_text(encoding="utf-8")
        after = filled(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(page.name)


if __name__ == "__main__":
    main()
