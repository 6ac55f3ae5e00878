"""The code blocks of the documents, run as a reader would type them.

A page's blocks run in order in one empty folder. ```console blocks hold commands after `$ ` and what they print;
further lines of a command begin with `> `; a line of `...` stands for any lines, and `...` inside a line for any
text. A command that ends in ` &` stays until the end of the page. ```python blocks of a page make one program, those
with `>>>` are doctests.
`<!-- given: gnubg_os0.bd gnubg_ts0.bd -->` names the files a page begins with.

`python -m tests.support.docblocks PAGE...` writes into the pages what the commands really print.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bgfmt.analysis import library

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "fixtures" / "golden"
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```", re.M | re.S)
GIVEN = re.compile(r"<!-- given: (.*?) -->")
#: what a page may begin with: a file of the fixtures, or a command that makes it
FILES = {
    "gnubg_os0.bd": GOLDEN / "gnubg/os_p06.bd",
    "hyper1.bd": GOLDEN / "gnubg/hyper1.bd",
    "evening.xg": ROOT / "fixtures/matches/gv-XCu3RJ0UvDg_Tldl.xg",
    "evening.mat": ROOT / "fixtures/matches/gv-XCu3RJ0UvDg_Tldl.mat",
    "monthly.mat": ROOT / "fixtures/matches/gv-5nqfGw9bWG3deTaU.mat",
    "club.mat": ROOT / "fixtures/matches/lazybg-match1.mat",
    "bearoff.py": ROOT / "docs/spec/bearoff.py",
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
            while output.startswith("> ") or command.endswith("\\"):
                more, _, output = output.partition("\n")
                command += "\n" + more.removeprefix("> ")
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
        tables = home / "data" / "bgfmt" / "tables"
        tables.mkdir(parents=True)
        library.distributions(far=True)  # made once, not for each page
        with contextlib.suppress(FileNotFoundError):  # it could not be kept
            (tables / library.FAR[0]).symlink_to((library.folder() / library.FAR[0]).resolve(strict=True))
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
        self.replaced: dict[str, str] = {}
        self._running: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *exc: object) -> None:
        for process in self._running:
            process.terminate()
            process.communicate()

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
        """Run a command as the shell would; one that ends in ` &` goes on once it says that it listens."""
        if command.endswith(" &"):
            process = subprocess.Popen(
                ["bash", "-c", f"exec {command[:-2]}"],
                cwd=self.here,
                env=self.environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
            self._running.append(process)
            ready = (b"listening", b" serves ")
            said = next((line for line in process.stdout or () if any(word in line for word in ready)), b"")
            return subprocess.CompletedProcess(command, 0 if said else 1, "", said.decode())
        first, _, rest = command.partition(" | ")
        words = plain(first)
        if words is None:
            return self._shell(command)
        done = self._inside(words)
        if rest:
            done.stdout = self._shell(rest, done.stdout).stdout
        return done

    def _shell(self, command: str, text: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", command],
            cwd=self.here,
            env=self.environment,
            input=text,
            capture_output=True,
            text=True,
            timeout=800,
            check=False,
        )

    def _inside(self, words: list[str]) -> subprocess.CompletedProcess[str]:
        """Run `bgfmt` in this process, in the reader's folder and environment."""
        from bgfmt.cli import run

        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
        before, stdin = dict(os.environ), sys.stdin
        os.environ.clear()
        os.environ.update(self.environment)
        sys.stdin = io.TextIOWrapper(io.BytesIO())
        try:
            with (
                contextlib.chdir(self.here),
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
            ):
                code = run(words)
        finally:
            sys.stdin = stdin
            os.environ.clear()
            os.environ.update(before)
        texts = []
        for stream in (out, err):
            stream.flush()
            texts.append(stream.buffer.getvalue().decode())  # type: ignore[attr-defined]
        return subprocess.CompletedProcess(words, code, *texts)


def plain(command: str) -> list[str] | None:
    """The words behind `bgfmt` of a command that needs no shell, else None."""
    if not command.startswith("bgfmt ") or re.search(r"[$`*?~\n\\]", command):
        return None
    bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", command)
    return None if re.search(r"[|<>&;()]", bare) else shlex.split(command)[1:]


def given(page: Path) -> list[str]:
    """The files a page begins with."""
    said = GIVEN.search(page.read_text(encoding="utf-8"))
    return said[1].split() if said else ["gnubg_os0.bd"]


def agrees(printed: str, expected: str) -> bool:
    """Whether what was printed is what the page shows, `...` standing for anything."""
    if "..." not in expected:
        return printed == expected
    pattern = re.escape(expected).replace("\\.\\.\\.\\\n", "(?s:.*?)").replace(r"\.\.\.", ".*?")
    return re.fullmatch(pattern, printed) is not None


def check(page: Path, folder: Path, prepare: Callable[[Reader], None] | None = None) -> int:
    """Run all blocks of a page; AssertionError where one prints something else. Returns how many ran.

    `prepare` may put more into the reader's folder, and say by `replaced` what to type in place of what the page has.
    """
    with Reader(folder, given(page)) as reader:
        if prepare is not None:
            prepare(reader)
        return _check(page, reader)


def _check(page: Path, reader: Reader) -> int:
    program: list[str] = []
    found = blocks(page)
    for block, following in itertools.zip_longest(found, found[1:]):
        if block.language == "python" and ">>>" in block.text:
            (reader.here / "session.txt").write_text(block.text)
            done = reader.run("python -m doctest session.txt")
            assert done.returncode == 0, f"{page.name}: {block.text}\n{done.stdout}{done.stderr}"
            continue
        if block.language == "python":
            program.append(block.text)
            if following is not None and following.language == "python" and ">>>" not in following.text:
                continue  # one program
            (reader.here / "program.py").write_text("\n".join(program))
            done = reader.run("python program.py")
            (reader.here / "program.py").unlink()
            assert done.returncode == 0, f"{page.name}: {block.text}\n{done.stderr}"
            continue
        for command, expected in block.commands():
            typed = command
            for old, new in reader.replaced.items():
                typed = typed.replace(old, new)
            done = reader.run(typed)
            assert agrees(done.stdout, expected), (
                f"{page.name}: $ {command}\nprints:\n{done.stdout}{done.stderr}\nthe page has:\n{expected}"
            )
    return len(found)


def fill(page: Path) -> None:
    """Write into a page what its commands print."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, Reader(Path(folder), given(page)) as reader:
        pieces: list[str] = []
        at = 0
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
