"""Make the documents a site with search: `python docs/make_site.py [FOLDER]`, for which `pip install '.[docs]'`.

The pages and what they link to are copied as they lie in the checkout, the reference is written among them, and
mkdocs makes the site in build/site, or in the folder. A link that leads nowhere is an error.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "build" / "site"
BEHIND = "---\nsearch:\n  boost: 0.4\n---\n"  # lists of everything come behind the pages that explain it
LINK = re.compile(r"\[([^]]*)\]\((?!https?:|#)([^)#\s]+)([^)\s]*)\)")


def pages() -> list[Path]:
    """Every page of the site, from the root of the checkout."""
    names = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "fixtures/vectors/README.md")
    found = [ROOT / name for name in names]
    found += [page for page in (ROOT / "docs").rglob("*.md") if "reference" not in page.parts]
    found += (ROOT / "plugins").glob("*/README.md")
    return sorted(path.relative_to(ROOT) for path in found)


def gather(folder: Path) -> None:
    """Copy the pages and the files that they link to; one to a folder leads to its README, else it is plain text."""
    for page in pages():

        def linked(match: re.Match[str], home: Path = page.parent) -> str:
            target = (ROOT / home / match[2]).resolve()
            name = match[2]
            if target.is_dir():
                target, name = target / "README.md", f"{name.rstrip('/')}/README.md"
                if not target.exists():
                    return match[1]
            if target.is_file() and target.suffix != ".md":
                copy = folder / target.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(target, copy)
            return f"[{match[1]}]({name}{match[3]})"

        text = (ROOT / page).read_text(encoding="utf-8")
        (folder / page).parent.mkdir(parents=True, exist_ok=True)
        (folder / page).write_text(LINK.sub(linked, text), encoding="utf-8")
    where = importlib.util.spec_from_file_location("make_reference", ROOT / "docs/make_reference.py")
    assert where is not None
    assert where.loader is not None
    reference = importlib.util.module_from_spec(where)
    where.loader.exec_module(reference)
    reference.main(folder / "docs" / "reference")
    for page in (folder / "CHANGELOG.md", folder / "docs/json.md", *folder.glob("docs/reference/*.md")):
        page.write_text(BEHIND + page.read_text(encoding="utf-8"), encoding="utf-8")


def expanded(nav: list[Any], folder: Path) -> list[Any]:
    """The table of contents with the pages that are meant by `*` and are named nowhere else in it."""
    named = re.findall(r"'([^']+\.md)'", repr(nav))

    def entry(one: Any) -> list[Any]:
        if isinstance(one, dict):
            return [{title: [x for inner in part for x in entry(inner)] for title, part in one.items()}]
        found = sorted(
            path.relative_to(folder).as_posix() for path in folder.glob(one.replace("*", "**/*.md"))
        )
        return [path for path in found if path not in named] if "*" in one else [one]

    return [x for one in nav for x in entry(one)]


def main(site: Path = SITE) -> None:
    """Build the site; SystemExit where a page or a link is missing."""
    import yaml

    folder = ROOT / "build" / "docs" if site == SITE else site.with_name("pages")
    shutil.rmtree(folder, ignore_errors=True)
    gather(folder)
    configured = yaml.safe_load((ROOT / "docs/mkdocs.yml").read_text(encoding="utf-8"))
    configured |= {"nav": expanded(configured["nav"], folder), "docs_dir": str(folder), "site_dir": str(site)}
    config = folder.with_name("mkdocs.yml")
    config.write_text(yaml.safe_dump(configured, sort_keys=False), encoding="utf-8")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(config)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{done.stderr}the site was not built")


if __name__ == "__main__":
    main(*(Path(name).resolve() for name in sys.argv[1:]))
