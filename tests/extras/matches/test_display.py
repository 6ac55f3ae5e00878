"""What notebooks show of annotated matches."""

from __future__ import annotations

from typing import Any

from bgfmt.extras.matches.annotate import annotate
from tests.conftest import FIXTURES, GOLDEN
from tests.game.test_display import drawn


def test_annotated_matches_are_a_page_in_a_frame() -> None:
    judged: Any = annotate([FIXTURES / "matches/gnubg107-beaver.sgf"], [GOLDEN / "gnubg/os_p06.bd"], limit=0)
    (frame,) = [one for one in drawn(judged._repr_html_()) if one.tag == "iframe"]
    assert frame.get("srcdoc", "").startswith("<!DOCTYPE html>")
