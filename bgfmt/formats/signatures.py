"""First bytes of the files of built-in formats, so that a format need not be imported to be ruled out.

An extra lists its formats in the same way, by an entry point of the group `bgfmt.signatures` that names a mapping. A
format that is in no mapping is always imported, and its `recognise` is called.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["NEVER", "SIGNATURES", "Signature"]


class Signature(NamedTuple):
    """Pattern (for `re.match`) of the first bytes of a format's files, and the suffixes of its class."""

    pattern: bytes
    suffixes: tuple[str, ...] = ()


NEVER = rb"(?!)"

SIGNATURES = {
    "bgfmt-match": Signature(rb"BGMATCH", (".bgm",)),
    "bgsage": Signature(rb"RAEB", (".db",)),
    "csv": Signature(NEVER, (".csv",)),
    "gnubg-2001": Signature(rb"\xff\xff", (".bd",)),
    "gnubg-hyper": Signature(rb"gnubg.H", (".bd",)),
    "gnubg-nd": Signature(rb"gnubg.OS", (".bd",)),
    "gnubg-os": Signature(rb"gnubg.OS", (".bd",)),
    "gnubg-ts": Signature(rb"gnubg.TS", (".bd",)),
    "jfile": Signature(rb"(?!gnubg|PK)", (".ijf",)),
    "npz": Signature(rb"PK", (".npz",)),
}
