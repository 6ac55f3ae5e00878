"""The corpus of broken files: each is refused in one line that names it, at opening or when it is walked."""

from __future__ import annotations

from pathlib import Path

import pytest

import bgfmt
from bgfmt.cli import run
from bgfmt.errors import BgfmtError
from tests.conftest import FIXTURES

BROKEN = sorted((FIXTURES / "broken").iterdir())


@pytest.mark.parametrize("path", BROKEN, ids=lambda p: p.name)
def test_refused_in_one_line(path: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(BgfmtError) as caught, bgfmt.open(path) as db:
        for _ in db.table.blocks():
            pass
    assert str(path) in str(caught.value)
    for arguments in (["dump", str(path)], ["convert", str(path), str(tmp_path / "out.bd")]):
        assert run(arguments) == 2
        _, err = capsys.readouterr()
        assert err.startswith("bgfmt: ")
        assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_the_corpus_is_there() -> None:
    assert len(BROKEN) >= 15
