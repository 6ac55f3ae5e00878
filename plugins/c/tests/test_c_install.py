"""The C reader as an installed library: what a packager's program finds by pkg-config and by CMake."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import bgfmt
from plugins.c.tests.conftest import GOLDEN, HERE, STRICT, compiler

CONSUMER = """cmake_minimum_required(VERSION 3.16)
project(consumer C)
find_package(bgfmt {version} REQUIRED)
add_executable(example {example})
target_link_libraries(example bgfmt::bgfmt)
"""
POSITION = "EQAAIAEAAAAAAA"
ANSWER = "win 0.5053, centered cube -0.2222\n"


def need(*programs: str) -> None:
    compiler()
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"no {program}")


def said(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        command, env=os.environ | environment, capture_output=True, text=True, check=False, cwd=HERE
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def release() -> str:
    return bgfmt.__version__.partition(".dev")[0]


@pytest.mark.slow
def test_make_install_for_pkg_config(tmp_path: Path) -> None:
    need("make", "pkg-config", "readelf")
    prefix, root = tmp_path / "prefix", tmp_path / "root"
    make = ["make", "-s", "install", f"BUILD={tmp_path / 'build'}", f"PREFIX={prefix}", "CFLAGS=-O0"]
    said(*make)
    said(*make, f"DESTDIR={root}")
    installed = {path.relative_to(prefix).as_posix() for path in prefix.rglob("*") if not path.is_dir()}
    assert installed == {
        "include/bgfmt.h",
        "lib/libbgfmt.a",
        "lib/libbgfmt.so",
        "lib/libbgfmt.so.0",
        f"lib/libbgfmt.so.{release()}",
        "lib/pkgconfig/bgfmt.pc",
    }
    staged = root / prefix.relative_to("/")
    assert {
        path.relative_to(staged).as_posix() for path in staged.rglob("*") if not path.is_dir()
    } == installed
    assert str(root) not in (staged / "lib/pkgconfig/bgfmt.pc").read_text()
    assert "SONAME" in (elf := said("readelf", "-d", prefix / "lib/libbgfmt.so"))
    assert "[libbgfmt.so.0]" in elf

    where = {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
    assert said("pkg-config", "--modversion", "bgfmt", **where).strip() == release()
    flags = said("pkg-config", "--cflags", "--libs", "bgfmt", **where).split()
    program = tmp_path / "program"
    said(compiler(), *STRICT, HERE / "examples/example.c", *flags, "-o", program)
    table = GOLDEN / "ts_06x04.bd"
    assert said(program, table, POSITION, LD_LIBRARY_PATH=str(prefix / "lib")) == ANSWER


@pytest.mark.slow
@pytest.mark.parametrize("shared", ["ON", "OFF"])
def test_cmake_package(tmp_path: Path, shared: str) -> None:
    need("cmake")
    prefix, build, consumer = tmp_path / "prefix", tmp_path / "build", tmp_path / "consumer"
    said(
        "cmake", "-S", HERE, "-B", build, f"-DCMAKE_INSTALL_PREFIX={prefix}", f"-DBUILD_SHARED_LIBS={shared}"
    )
    said("cmake", "--build", build, "--target", "install")
    assert f"Version: {release()}\n" in next(prefix.glob("lib*/**/bgfmt.pc")).read_text()
    consumer.mkdir()
    text = CONSUMER.format(version=release(), example=HERE / "examples/example.c")
    (consumer / "CMakeLists.txt").write_text(text)
    said("cmake", "-S", consumer, "-B", consumer / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
    said("cmake", "--build", consumer / "build")
    assert said(consumer / "build/example", GOLDEN / "ts_06x04.bd", POSITION) == ANSWER
