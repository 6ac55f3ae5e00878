"""The C reader compiled, as a library and as programs under the sanitizers; what its tests share."""

from __future__ import annotations

import base64
import ctypes as ct
import math
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).resolve().parent.parent
GOLDEN = HERE.parent.parent / "fixtures" / "golden" / "gnubg"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-ffp-contract=off"]
SANITIZE = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
SIDE = np.dtype([("bearoff", "<u2", 32), ("gammon", "<u2", 32), ("moments", "<f4", 4)])
OPEN, UNKNOWN, HEADER, SHORT, CORRUPT, POSITION, ID, NOT_COVERED, KIND = 2, 4, 5, 6, 8, 9, 10, 11, 12
ONE_SIDED, NORMAL, TWO_SIDED, HYPERGAMMON = 1, 2, 3, 4


def compiler() -> str:
    found = shutil.which(os.environ.get("CC", "cc"))
    if found is None:
        if os.environ.get("BGFMT_REQUIRE_ORACLES") == "1":
            pytest.fail("no C compiler")
        pytest.skip("no C compiler")
    return found


@pytest.fixture(scope="session")
def build(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compiles a program (or, without `main`, the shared library) strictly; returns its path."""
    cc, folder = compiler(), tmp_path_factory.mktemp("c")

    def compiled(main: str | None, *flags: str) -> Path:
        out = folder / (
            Path(main).stem + "".join(f for f in flags if f[:2] in ("-D", "-U")) if main else "libbgfmt.so"
        )
        if not out.exists():
            sources = [str(HERE / "bgfmt.c")] + ([str(HERE / main)] if main else [])
            how = flags or ("-O2",)
            shared = [] if main else ["-shared", "-fPIC"]
            command = [cc, *STRICT, *how, *shared, "-I", str(HERE), *sources, "-o", str(out), "-lm"]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        return out

    return compiled


@pytest.fixture(scope="session")
def lib(build: Callable[..., Path]) -> ct.CDLL:
    library = ct.CDLL(str(build(None)))
    library.bgfmt_strerror.restype = ct.c_char_p
    library.bgfmt_close.argtypes = [ct.c_void_p]
    library.bgfmt_lookup_id.argtypes = [ct.c_void_p, ct.c_char_p, ct.POINTER(Answer)]
    library.bgfmt_lookup_numbers.argtypes = [ct.c_void_p, ct.c_uint64, ct.c_uint64, ct.POINTER(Answer)]
    side = [ct.c_char_p, ct.c_size_t]
    library.bgfmt_lookup.argtypes = [ct.c_void_p, *side, *side, ct.POINTER(Answer)]
    library.bgfmt_lookup_side_number.argtypes = [ct.c_void_p, ct.c_uint64, ct.c_void_p]
    library.bgfmt_equities_many.argtypes = [ct.c_void_p, ct.c_size_t, ct.c_void_p, ct.c_void_p, ct.c_void_p]
    return library


@pytest.fixture(scope="session")
def dump(build: Callable[..., Path]) -> Callable[..., tuple[bytes, str]]:
    """Every answer of a file, from a program that runs under AddressSanitizer and UBSan; else its status."""
    program = build("tests/dump.c", *SANITIZE)

    def run(path: Path, *layout: int) -> tuple[bytes, str]:
        done = subprocess.run([program, path, *map(str, layout)], capture_output=True, check=False)
        assert done.returncode in (0, 2), done.stderr.decode()[:2000]
        return done.stdout, done.stderr.decode().strip()

    return run


def status_of(reply: tuple[bytes, str]) -> int:
    return int(reply[1].split()[0]) if reply[1] else 0


class Answer(ct.Structure):
    _fields_ = [
        ("us", ct.c_uint64),
        ("them", ct.c_uint64),
        ("kind", ct.c_int32),
        ("n_equities", ct.c_int32),
        ("equities", ct.c_float * 4),
        ("n_outcomes", ct.c_int32),
        ("outcomes", ct.c_float * 5),
    ]


def opened(lib: ct.CDLL, path: Path) -> ct.c_void_p:
    db = ct.c_void_p()
    assert lib.bgfmt_open(os.fsencode(path), ct.byref(db)) == 0
    return db


def identifier(us: bytes, them: bytes) -> str:
    """gnubg's Position ID of 25 counts a side."""
    bits = "".join("1" * n + "0" for n in them + us).ljust(80, "0")
    return base64.b64encode(int(bits[::-1], 2).to_bytes(10, "little")).decode()[:14]


def count(points: int, chequers: int) -> int:
    return math.comb(points + chequers, points)
