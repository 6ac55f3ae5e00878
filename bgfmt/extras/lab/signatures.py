"""First bytes and suffixes of the files of the lab's formats; see `bgfmt.formats.signatures`."""

from __future__ import annotations

from bgfmt.formats.signatures import Signature

SIGNATURES = {
    "bkg-binary": Signature(rb"bkg-T-", (".bkb",)),
    "bkg-text": Signature(rb"bkg-bearoff ", (".bkg",)),
    "points-text": Signature(rb"bearoff-2s ", (".points",)),
}
