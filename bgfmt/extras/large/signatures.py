"""First bytes of the description of a store of chunks; see `bgfmt.formats.signatures`."""

from __future__ import annotations

from bgfmt.formats.signatures import Signature

SIGNATURES = {"zarr": Signature(rb"\{")}
