"""Golden J files for the tests: where they are, nouns from their JSON form, and the real J."""

from __future__ import annotations

import csv
import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np

from bgfmt.formats.j import noun as jn
from bgfmt.formats.j.container import Container
from bgfmt.formats.j.noun import E3, JType, Noun
from tests.conftest import GOLDEN

JFILES = GOLDEN / "jfile"
#: files that reading refuses, and the word its message has
DAMAGED = {
    "dir_wrong_order.ijf": "inside the file",
    "shorter.ijf": "cut short",
    "version_unknown.ijf": "1718235190",
}
FILES = sorted(JFILES.rglob("*.ijf"))
GOOD = [path for path in FILES if path.name not in DAMAGED]


def table(name: str) -> list[dict[str, str]]:
    """The rows of a golden tab-separated file."""
    with (JFILES / name).open(newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def contents() -> dict[str, Any]:
    """What each golden file holds, as an independent reader saw it."""
    found: dict[str, Any] = json.loads((JFILES / "contents.json").read_text())
    return found


def container(path: Path) -> Container:
    return Container(memoryview(path.read_bytes()), path.name)


def from_json(said: dict[str, Any]) -> Noun:
    """A noun from its JSON form."""
    kind, shape = JType[said["type"].upper()], tuple(said["shape"])
    if kind is JType.BOX:
        return Noun(kind, shape, tuple(from_json(item) for item in said["items"]))
    if kind is JType.LITERAL:
        data: Any = np.frombuffer(bytes.fromhex(said["hex"]), np.uint8)
    elif kind is JType.FLOAT:
        data = np.array([float.fromhex(x) for x in said["hexfloat"]])
    else:
        data = np.array(said["values"], E3.atom(kind))
    return Noun(kind, shape, data.reshape(shape))


def as_golden(noun: Noun) -> dict[str, Any]:
    """The short form in which contents.json gives nouns of more than 2000 atoms."""
    flat = noun.data.reshape(-1)
    plain = flat.astype("<i8" if flat.dtype.kind == "i" else "<f8")
    return {
        "first": flat[:5].tolist(),
        "last": flat[-3:].tolist(),
        "sha256_of_values_as_little_endian_64_bit": hashlib.sha256(plain.tobytes()).hexdigest(),
        "shape": list(noun.shape),
        "type": noun.type.name.lower(),
    }


def run_j(jconsole: str, folder: Path, script: str) -> Noun:
    """Run a J script whose noun `answer` is the result; it comes back in J's own bytes."""
    out = folder / "answer.bin"
    out.unlink(missing_ok=True)
    file = folder / "script.ijs"
    file.write_text(f"{script}\n(3!:1 answer) 1!:2 <'{out}'\nexit 0\n")
    with file.open("rb"):
        subprocess.run(
            [jconsole, str(file)], stdin=subprocess.DEVNULL, capture_output=True, timeout=800, check=True
        )
    assert out.exists(), "the J script failed"
    return jn.decode(memoryview(out.read_bytes()))
