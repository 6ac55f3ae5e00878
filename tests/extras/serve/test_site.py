"""`bgfmt site`: a folder that appears whole or not at all, with relative addresses alone."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bgfmt
from bgfmt.cli import run
from bgfmt.errors import BgfmtError
from bgfmt.extras.serve import page
from bgfmt.tables import bounds
from tests.conftest import GOLDEN, ROOT
from tests.support.range_server import serving
from tests.support.serving import served

TS, OS = GOLDEN / "gnubg/ts_06x04.bd", GOLDEN / "gnubg/os_p06.bd"


def test_a_site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "site"
    words = [
        "site",
        str(out),
        str(TS),
        f"other.bd={OS}",
        "--link",
        "far.bd=https://a.example:8443/x/far.bd",
        "--title",
        "A & B",
    ]
    assert run(words) == 0
    html = (out / "index.html").read_text()
    assert "<title>A &amp; B · Bearoff tablebase</title>" in html
    assert "connect-src &#x27;self&#x27; https://a.example:8443;" in html
    assert "frame-ancestors" not in html  # a browser complains of it in a meta
    assert 'content="site"' in html
    for address in re.findall(r'(?:src|href)="([^"]+)"', html):
        assert not address.startswith("/")
        assert address.startswith("data:") or (out / address).is_file(), address
    said = json.loads((out / "site.json").read_text())
    assert said["title"] == "A & B"
    assert [(one["name"], one["url"]) for one in said["tables"]] == [
        (TS.name, f"tables/{TS.name}"),
        ("other.bd", "tables/other.bd"),
        ("far.bd", "https://a.example:8443/x/far.bd"),
    ]
    assert said["tables"][0]["max_error"]["centered"] == bounds.stored_error(6, 4)[2]
    assert (out / "tables/other.bd").read_bytes() == OS.read_bytes()
    assert {p.name for p in (out / "assets" / page.digest()).iterdir()} == set(page.assets())
    assert sorted(p.name for p in tmp_path.iterdir()) == ["site"]
    capsys.readouterr()
    assert run(words) == 2
    assert "exists already" in capsys.readouterr().err
    assert run([*words[:3], "--force"]) == 0
    assert not (out / "tables/other.bd").exists()


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["nowhere.bd"],
        [str(TS), "--link", "x"],
        [str(TS), "--link", "x=ftp://a/b"],
        [str(TS), "--link", f"{TS.name}=https://a/b"],
        ["http://127.0.0.1:1/x.bd"],
    ],
)
def test_sites_that_cannot_be(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["site", str(tmp_path / "site"), *words]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["t.npz", "t.parquet", "t.sqlite", "hyper1.bd", "headerless.bd"])
def test_tables_that_the_page_cannot_read_are_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "in" / name
    path.parent.mkdir()
    if name in ("hyper1.bd", "headerless.bd"):
        source = GOLDEN / "gnubg" / {"hyper1.bd": "hyper1.bd", "headerless.bd": "ts_03x03_H.bd"}[name]
        path.write_bytes(source.read_bytes())
    else:
        assert run(["convert", str(TS), str(path)]) == 0
    capsys.readouterr()
    assert run(["site", str(tmp_path / "site"), str(OS), str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(f"{name}: .*(convert|unknown|--as|layout)", line), line
    assert not (tmp_path / "site").exists()


def test_a_table_in_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed, out = tmp_path / "t.bgts", tmp_path / "site"
    assert run(["convert", str(TS), str(packed)]) == 0
    assert run(["site", str(out), str(packed), str(OS), "--part", "132K"]) == 0
    for entry, file in zip(json.loads((out / "site.json").read_text())["tables"], (packed, OS), strict=True):
        whole = file.read_bytes()
        assert entry["url"] is None
        parts = [(out / one["url"]).read_bytes() for one in entry["parts"]]
        assert b"".join(part[:65536] for part in parts) == whole  # head -qc 65536
        assert entry["sha256"] == hashlib.sha256(whole).hexdigest()
        for one, part, after in zip(entry["parts"], parts, parts[1:], strict=False):
            assert whole[one["at"] :].startswith(part)
            assert len(part) == one["size"] <= 131072
            assert part[65536:] == after[:65536]  # what lies over an end is there in one piece
    capsys.readouterr()
    assert run(["site", str(tmp_path / "other"), "--complete", "--part", "5K"]) == 2
    assert "parts must have at least 131,072 bytes" in capsys.readouterr().err
    assert not list(tmp_path.glob("other*"))


def test_a_page_without_a_network(tmp_path: Path) -> None:
    page.write(tmp_path / "site", [str(TS)], title="A & B")
    worker = (tmp_path / "site/sw.js").read_text()
    files = json.loads(re.findall(r"^const FILES = (.*);$", worker, re.M)[0])
    there = {
        f.relative_to(tmp_path / "site").as_posix() for f in (tmp_path / "site").rglob("*") if f.is_file()
    }
    assert {"./", *files} == {"./", *there} - {"sw.js", "index.html", f"tables/{TS.name}"}
    manifest = json.loads((tmp_path / "site/manifest.webmanifest").read_text())
    assert manifest["name"].startswith("A & B")
    assert (tmp_path / "site" / manifest["icons"][0]["src"]).is_file()
    page.write(tmp_path / "site", [str(OS)], title="A & B", force=True)
    assert (tmp_path / "site/sw.js").read_text() != worker  # so that a browser looks for what is new


def test_a_complete_site_goes_on_where_it_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(page, "COMPLETE", (3, 3, 2, 4))
    words = ["site", str(tmp_path / "site"), "--complete", "--part", "132K"]
    made = page._solve_two_sided

    def packing(path: Path, *how: Any) -> None:
        made(path, *how)
        raise KeyboardInterrupt

    monkeypatch.setattr(page, "_solve_two_sided", packing)
    assert run(words) == 130
    assert "the same command continues" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["site.tables"]
    assert [file.name for file in (tmp_path / "site.tables").iterdir()] == ["3x3.bgts"]

    def again(*asked: Any) -> None:
        pytest.fail("made again")

    monkeypatch.setattr(page, "_solve_two_sided", again)
    assert run(words) == 0
    assert [file.name for file in tmp_path.iterdir()] == ["site"]
    tables = json.loads((tmp_path / "site/site.json").read_text())["tables"]
    assert [one["name"] for one in tables] == ["3x3.bgts", "gnubg_ts0.bd", "gnubg_os0.bd", "bgfmt_os4.bd"]
    assert (tmp_path / "site/met/Kazaross-XG2.xml").is_file()
    with (
        bgfmt.open(tmp_path / "site/tables/3x3.bgts") as ours,
        bgfmt.open(GOLDEN / "gnubg/ts_03x03.bd") as gnubg,
    ):
        assert np.array_equal(ours.table.equities[:], gnubg.table.equities[:])


def test_nothing_is_left_of_a_site_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site/kept.txt").write_text("kept")
    (tmp_path / "site/site.json").write_text("{}")  # else it would be no site, and refused

    def fail(*words: object) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("shutil.copyfile", fail)
    with pytest.raises(OSError, match="full"):
        page.write(tmp_path / "site", [str(TS)], force=True)
    assert [p.name for p in tmp_path.iterdir()] == ["site"]
    assert (tmp_path / "site/kept.txt").read_text() == "kept"


def test_a_link_shows_no_password() -> None:
    with pytest.raises(BgfmtError) as refused:
        page.Link.parse("x=https://me:secret@a.example/x.bd")
    assert "secret" not in str(refused.value)


@pytest.mark.slow
def test_a_table_far_away_is_served(tmp_path: Path) -> None:
    from tests.support.serving import Client

    with serving(TS) as far, served("--settle", "0", far.url) as near:
        client = Client(near)
        assert client.json("/v1/tables")["tables"][0]["url"] is None
        found = client.json("/v1/lookup", position="0,1,0,0,1/0,1,1")
        assert (found["table"], found["answers"][0]["position_number"]) == (TS.name, 3374)
        client.error(f"/tables/{TS.name}", 404, "no_such_table")


def test_proxies_in_the_docs_are_of_the_right_form() -> None:
    """The examples that nginx 1.22 and Caddy 2.6 accept: blocks that close, directives that end."""
    text = (ROOT / "docs/web/serve.md").read_text()
    (nginx,) = re.findall(r"```nginx\n(.*?)```", text, re.S)
    (caddy,) = re.findall(r"```caddy\n(.*?)```", text, re.S)
    for block in (nginx, caddy):
        depth = 0
        for line in block.splitlines():
            depth += line.count("{") - line.count("}")
            assert depth >= 0
        assert depth == 0
    for line in filter(None, map(str.strip, nginx.splitlines())):
        assert re.fullmatch(r"[a-z_]+( [^;{}]+)?(;| \{)|\}", line), line
    for line in filter(None, map(str.strip, caddy.splitlines())):
        assert re.fullmatch(r"[a-z0-9._-]+( [^{}]+)?( \{)?|\}", line), line


def test_the_site_needs_no_server_packages(tmp_path: Path) -> None:
    code = f"import sys; from bgfmt.cli import run; assert run(['site', {str(tmp_path / 's')!r}, {str(TS)!r}]) == 0; "
    code += "assert not {'starlette', 'uvicorn', 'urllib3'} & sys.modules.keys()"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, cwd=ROOT)
