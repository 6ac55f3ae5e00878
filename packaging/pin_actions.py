"""Pin the actions of the workflows by commit: `uses: NAME@v4` becomes `uses: NAME@COMMIT # v4`.

    python packaging/pin_actions.py            look every tag up by `git ls-remote` and write the commits
    python packaging/pin_actions.py --check    fail where an action is not pinned; look nothing up

A tag can be moved to other code, a commit cannot. Run it again to follow the tags named in the comments.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILES = [*sorted((ROOT / ".github/workflows").glob("*.yml")), ROOT / "action.yml"]
USES = re.compile(r"(\buses: )([\w.-]+/[\w.-]+)((?:/[\w.-]+)*)@([\w./-]+)(?: # ([\w./-]+))?$", re.MULTILINE)
COMMIT = re.compile(r"[0-9a-f]{40}")


@cache
def find_commit(repository: str, name: str) -> str:
    """Return the commit of a tag or branch of a repository on GitHub; SystemExit where there is none."""
    address = f"https://github.com/{repository}"
    command = [
        "git",
        "ls-remote",
        address,
        f"refs/tags/{name}^{{}}",
        f"refs/tags/{name}",
        f"refs/heads/{name}",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = {reference: commit for commit, reference in map(str.split, done.stdout.splitlines())}
    # An annotated tag is an object of its own; ^{} names the commit that it stands for.
    for reference in (f"refs/tags/{name}^{{}}", f"refs/tags/{name}", f"refs/heads/{name}"):
        if reference in found:
            return found[reference]
    raise SystemExit(f"{repository}@{name}: no such tag or branch ({done.stderr.strip() or 'not found'})")


def pin(text: str, find: Callable[[str, str], str] = find_commit) -> str:
    """Return the text of a workflow with every action pinned to the commit that its tag has now."""

    def replace(match: re.Match[str]) -> str:
        uses, repository, folder, version, comment = match.groups()
        name = comment or version
        if COMMIT.fullmatch(version) and comment is None:
            return match[0]
        return f"{uses}{repository}{folder}@{find(repository, name)} # {name}"

    return USES.sub(replace, text)


def list_unpinned(text: str) -> list[str]:
    """Return the actions of a workflow that a tag or branch names."""
    return [match[0] for match in USES.finditer(text) if not COMMIT.fullmatch(match[4])]


def main() -> None:
    """Check or rewrite the workflows."""
    parser = argparse.ArgumentParser(description="Pin the actions of the workflows by commit.")
    parser.add_argument("--check", action="store_true", help="fail where an action is not pinned")
    options = parser.parse_args()
    unpinned = []
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        if options.check:
            unpinned += [f"{path.relative_to(ROOT)}: {action}" for action in list_unpinned(text)]
        else:
            path.write_text(pin(text), encoding="utf-8")
    if unpinned:
        sys.exit("\n".join(unpinned))


if __name__ == "__main__":
    main()
