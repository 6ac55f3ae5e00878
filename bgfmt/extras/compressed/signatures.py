"""First bytes of compressed two-sided tables; see `bgfmt.formats.signatures`."""

from __future__ import annotations

from bgfmt.formats.signatures import Signature

SIGNATURES = {"bgfmt-ts": Signature(rb"bgfmt-ts", (".bgts",))}
