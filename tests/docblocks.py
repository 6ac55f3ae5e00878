"""The code blocks of the documents, run as a reader would type them.

A page's blocks run in order in one empty folder. ```console blocks hold commands after `$ ` and what they print;
a line of `...` stands for any lines, and `...` inside a line for any text. ```python blocks of a page make one
program.
`<!-- given: gnubg_os0.bd gnubg_ts0.bd -->` names the files a page begins with.

`python -m tests.docblocks PAGE...` writes into the pages what the commands really print.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "fixtures" / "golden"
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```", re.M | re.S)
GIVEN = re.compile(r"<!-- given: (.*?) -->")
#: what a page may begin with: a file of the fixtures, or a command that makes it
FILES = {
    "gnubg_os0.bd": GOLDEN / "gnubg/os_p06.bd",
    "hyper1.bd": GOLDEN / "gnubg/hyper1.bd",
    "evening.xg": ROOT / "fixtures/matches/gv-XCu3RJ0UvDg_Tldl.xg",
    "evening.mat": ROOT / "fixtures/matches/gv-XCu3RJ0UvDg_Tldl.mat",
    "bgns.ijf": GOLDEN / "jfile/bgns.ijf",
    "gnubg_ts0.bd": "bgfmt solve two-sided 6x6 --quiet -o {target}",
}
_MADE = Path(tempfile.gettempdir()) / f"bgfmt-docs-{os.getpid()}"


@dataclass(frozen=True)
class Block:
    """A block: its language, its text, and where the text lies in the page."""

    language: str
    text: str
    start: int
    end: int

    def commands(self) -> Iterator[tuple[str, str]]:
        """(command, expected output) of a console block."""
        for piece in re.split(r"^\$ ", self.text, flags=re.M)[1:]:
            command, _, output = piece.partition("\n")
            while command.endswith("\\"):
                more, _, output = output.partition("\n")
                command += "\n" + more
            yield command, output


def blocks(page: Path) -> list[Block]:
    """The blocks of a page that can be run."""
    return [Block(m[1], m[2], m.start(2), m.end(2)) for m in BLOCK.finditer(page.read_text(encoding="utf-8"))]


class Reader:
    """A folder, a home of its own and a `bgfmt` on the path: where a reader types what a page shows."""

    def __init__(self, folder: Path, given: list[str]) -> None:
        self.folder = folder
        self.here = folder / "here"
        self.here.mkdir(parents=True)
        programs = folder / "bin"
        programs.mkdir()
        for name, run in (("bgfmt", f'"{sys.executable}" -m bgfmt'), ("python", f'"{sys.executable}"')):
            (programs / name).write_text(f'#!/bin/sh\nexec {run} "$@"\n')
            (programs / name).chmod(0o755)
        home = folder / "home"
        home.mkdir()
        self.environment = os.environ | {
            "PATH": os.pathsep.join([str(programs), os.environ["PATH"], "/usr/games"]),
            "PYTHONPATH": str(ROOT),
            "HOME": str(home),
            "XDG_DATA_HOME": str(home / "data"),
            "COLUMNS": "100",
        }
        for name in ("BGFMT_DB", "XDG_CONFIG_HOME"):
            self.environment.pop(name, None)
        for name in given:
            shutil.copy(self._made(name), self.here / name)

    def _made(self, name: str) -> Path:
        origin = FILES[name]
        if isinstance(origin, Path):
            return origin
        _MADE.mkdir(exist_ok=True)
        target = _MADE / name
        if not target.exists():
            done = self.run(origin.format(target=target))
            assert done.returncode == 0, done.stderr
        return target

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """Run a command as the shell would."""
        return subprocess.run(
            ["bash", "-c", command],
            cwd=self.here,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )


def given(page: Path) -> list[str]:
    """The files a page begins with."""
    said = GIVEN.search(page.read_text(encoding="utf-8"))
    return said[1].split() if said else ["gnubg_os0.bd"]


def agrees(printed: str, expected: str) -> bool:
    """Whether what was printed is what the page shows, `...` standing for anything."""
    if "..." not in expected:
        return printed == expected
    pattern = re.escape(expected).replace(r"\.\.\.\n", "(?s:.*?)").replace(r"\.\.\.", ".*?")
    return re.fullmatch(pattern, printed) is not None


def check(page: Path, folder: Path) -> int:
    """Run all blocks of a page; AssertionError where one prints something else. Returns how many ran."""
    reader = Reader(folder, given(page))
    program: list[str] = []
    found = blocks(page)
    for block in found:
        if block.language == "python":
            program.append(block.text)
            (reader.here / "program.py").write_text("\n".join(program))
            done = reader.run("python program.py")
            (reader.here / "program.py").unlink()
            assert done.returncode == 0, f"{page.name}: {block.text}\n{done.stderr}"
            continue
        for command, expected in block.commands():
            done = reader.run(command)
            assert agrees(done.stdout, expected), (
                f"{page.name}: $ {command}\nprints:\n{done.stdout}{done.stderr}\nthe page has:\n{expected}"
            )
    return len(found)


def fill(page: Path) -> None:
    """Write into a page what its commands print."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        reader = Reader(Path(folder), given(page))
        pieces, at = [], 0
        for block in blocks(page):
            if block.language != "console":
                continue
            out = []
            for command, expected in block.commands():
                done = reader.run(command)
                keep = "..." in expected and agrees(done.stdout, expected)
                out.append(f"$ {command}\n{expected if keep else done.stdout}")
                if done.stderr:
                    sys.stderr.write(f"{page.name}: $ {command}\n{done.stderr}")
            pieces += [text[at : block.start], "".join(out)]
            at = block.end
        page.write_text("".join(pieces) + text[at:], encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:]:
        fill(Path(name))
