"""Every block of a plugin's README is run, in a copy of the plugin's folder, with the real program."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import GOLDEN, ROOT, find_program
from tests.support import docblocks
from tests.support.docblocks import Reader

NEEDS = {
    "bgsage": ("py:bgsage",),
    "c": ("cc",),
    "checker": ("cc",),
    "gnubg-external": ("gnubg",),
    "gnubg-python": ("gnubg",),
    "gnubg-slots": ("gnubg",),
    "j": ("jconsole",),
    "js": ("node",),
    "pygnubg": ("py:gnubg",),
}
READMES = sorted((ROOT / "plugins").glob("*/README.md"))


def test_every_plugin_shows_something() -> None:
    assert {path.parent.name for path in READMES} == set(NEEDS)
    for path in READMES:
        assert docblocks.blocks(path), path
        assert "\n```\n$" not in path.read_text(), f"{path}: a block of commands that is not run"


@pytest.mark.slow
@pytest.mark.parametrize("path", READMES, ids=lambda path: path.parent.name)
def test_readme(path: Path, tmp_path: Path, oracle: Callable[[str], str]) -> None:
    plugin = path.parent.name
    for need in NEEDS[plugin]:
        oracle(need)
    if plugin == "gnubg-slots":
        if not Path("/var/lib/gnubg").is_dir():
            pytest.skip("not Debian's gnubg")
        if subprocess.run(["unshare", "-rm", "true"], capture_output=True, check=False).returncode:
            pytest.skip("private mounts are switched off here")

    def prepare(reader: Reader) -> None:
        shutil.copytree(
            path.parent,
            tmp_path / "plugins" / plugin,
            ignore=shutil.ignore_patterns("build", "__pycache__", "tests"),
        )
        (tmp_path / "fixtures").symlink_to(ROOT / "fixtures")
        reader.here = tmp_path / "plugins" / plugin
        shutil.copy(GOLDEN / "gnubg/os_p06.bd", reader.here / "gnubg_os0.bd")
        shutil.copy(GOLDEN / "gnubg/ts_06x04.bd", reader.here / "gnubg_ts0.bd")
        for name in ("gnubg", "jconsole"):
            found = find_program(name)
            if found:
                (reader.folder / "bin" / name).symlink_to(found)
        # the packages of this environment, for programs with a Python of their own and scripts run in the folder
        reader.environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), *sys.path]))
        del reader.environment["XDG_DATA_HOME"]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            reader.replaced["1234"] = str(free.getsockname()[1])

    assert docblocks.check(path, tmp_path, prepare) > 0
