"""file(1) and shared-mime-info name files as bgfmt does, by what `make.py` makes of the registry."""

from __future__ import annotations

import importlib.util
import os
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest

from bgfmt import formats
from bgfmt.errors import BgfmtError
from bgfmt.formats import Format
from bgfmt.storage import Source
from tests.conftest import FIXTURES, GOLDEN, ROOT

HERE = ROOT / "plugins/descriptions"
SPACE = "{http://www.freedesktop.org/standards/shared-mime-info}"
FILES = [path for path in sorted(GOLDEN.rglob("*")) if path.suffix in (".bd", ".ijf")]
FILES += [FIXTURES / "match/score_3x2.bgm"]


@cache
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make", HERE / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def form_of(path: Path) -> Format:
    """What bgfmt takes a file for, one without header by its size and its numbers."""
    source = Source.from_bytes(path.read_bytes(), path.name)
    try:
        return formats.recognise(source)
    except BgfmtError:
        ((form, _),) = formats.guesses(source)
        return form


def said(program: str, *files: Path, options: tuple[str, ...] = ()) -> list[str]:
    """What `file` says of each."""
    command = [program, "-b", *options, "-m", str(HERE / "bearoff.magic"), *map(str, files)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.slow
def test_the_files_are_those_that_the_command_makes() -> None:
    for name, text in maker().made().items():
        assert (HERE / name).read_text(encoding="utf-8") == text, "python plugins/descriptions/make.py"


def test_file_names_every_golden_file_as_bgfmt_does(oracle: Callable[[str], str]) -> None:
    names = {path: form_of(path) for path in FILES}
    assert said(oracle("file"), *FILES) == [f"{form.title} ({form.name})" for form in names.values()]


def test_file_names_every_format(oracle: Callable[[str], str], tmp_path: Path) -> None:
    """Its name and its type, by the beginning that the format itself recognises; a whole file of 2001 by its size."""
    made, expected = [], []
    for name, examples in maker().EXAMPLES.items():
        for k, example in enumerate(examples):
            made.append(tmp_path / f"{name}-{k}")
            made[-1].write_bytes(example.ljust(512, b"\0"))
            if name == "gnubg-2001":
                os.truncate(made[-1], 5180448)
            expected.append(form_of(made[-1]))
            assert expected[-1].name == name
    assert said(oracle("file"), *made) == [f"{form.title} ({form.name})" for form in expected]
    types = said(oracle("file"), *made, options=("--mime-type",))
    assert types == [f"application/x-{form.name}" for form in expected]


@pytest.mark.slow
@pytest.mark.parametrize(
    "begin",
    [
        b"\0\0\0\x20ftypisom\0\0\2\0isomiso2avc1mp41",  # MPEG-4
        b"\xff" * 64,
        b"\xff\xff" + bytes(62),
        b"gnubg, a program",
        bytes(64),
        b"\x7fELF\2\1\1",
    ],
)
def test_other_files_are_not_named(oracle: Callable[[str], str], tmp_path: Path, begin: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(begin.ljust(600, b"\0"))
    assert not any(form.title in said(oracle("file"), path)[0] for form in formats.all_formats().values())
    with pytest.raises(BgfmtError):
        formats.recognise(Source.from_bytes(path.read_bytes(), "other"))


def holds(match: ElementTree.Element, data: bytes) -> bool:
    """Whether a match of shared-mime-info, and one of those inside it, does."""
    at = int(match.attrib["offset"])
    value = match.attrib["value"].encode().decode("unicode_escape").encode("latin-1")
    inside = list(match)
    return data[at : at + len(value)] == value and (not inside or any(holds(one, data) for one in inside))


def test_types_of_shared_mime_info() -> None:
    """Exactly one type for every golden file with a header."""
    types = ElementTree.parse(HERE / "bearoff.xml").getroot().findall(f"{SPACE}mime-type")
    for path in FILES:
        if path.stem.endswith("H"):
            continue
        data = path.read_bytes()[:600]
        found = [
            one.attrib["type"]
            for one in types
            if any(holds(match, data) for match in one.findall(f"{SPACE}magic/{SPACE}match"))
        ]
        assert found == [f"application/x-{form_of(path).name}"], path.name


def test_the_real_data_base_takes_the_types(oracle: Callable[[str], str], tmp_path: Path) -> None:
    folder = tmp_path / "mime"
    (folder / "packages").mkdir(parents=True)
    (folder / "packages/bearoff.xml").write_text((HERE / "bearoff.xml").read_text())
    command = [oracle("update-mime-database"), str(folder)]
    environment = os.environ | {"XDG_DATA_HOME": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    signs = (folder / "magic").read_bytes()
    for name in maker().EXAMPLES:
        assert f"application/x-{name}]".encode() in signs
        assert (folder / f"application/x-{name}.xml").exists()
