"""`bgfmt gnubg`: what gnubg would make of a file, and putting it where gnubg looks, undoably."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from bgfmt.cli import run
from bgfmt.errors import VerificationError
from bgfmt.game import board
from bgfmt.hosts.gnubg import check as gnubg_check
from bgfmt.hosts.gnubg import slots as gnubg_slots
from bgfmt.hosts.gnubg.slots import InstallError, Place


def small(golden: Path, name: str) -> Path:
    return golden / "gnubg" / name


@pytest.mark.parametrize(
    ("name", "slots"),
    [
        ("ts_06x04.bd", ("ts", "ts0")),
        ("os_p06.bd", ("os0", "os")),
        ("os_p04.bd", ("os", "os0")),
        ("os_p03_cg.bd", ("os", "os0")),
        ("hyper1.bd", ("hyper1",)),
    ],
)
def test_good_files_fit_slots(golden: Path, name: str, slots: tuple[str, ...]) -> None:
    found = gnubg_check.examine(small(golden, name), until="sense")
    assert found.ok
    assert found.slots == slots
    assert found.hosts["debian"] == "reads it rightly"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("ts_04x04_cubeless.bd", "it is cubeless"),
        ("os_p03_nd.bd", "normal distributions"),
        ("ts_03x03_H.bd", "no gnubg header"),
    ],
)
def test_unsuitable_files_are_refused(golden: Path, name: str, reason: str, tmp_path: Path) -> None:
    path = small(golden, name)
    found = gnubg_check.examine(path)
    assert not found.ok
    assert found.slots == ()
    assert reason in " ".join(found.refusals)
    where = gnubg_slots.place("debian", tmp_path)
    with pytest.raises(VerificationError, match=reason):
        gnubg_slots.install(path, where)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["ts_06x02.bd", "os_p04.bd", "os_p03_cg.bd", "hyper1.bd"])
@pytest.mark.parametrize("keep", [0, 3, 39, 40, 41, -1])
def test_files_cut_short_are_refused(golden: Path, name: str, keep: int, tmp_path: Path) -> None:
    path = tmp_path / "cut.bd"
    path.write_bytes(small(golden, name).read_bytes()[:keep])
    found = gnubg_check.examine(path)
    assert not found.ok
    assert found.refusals


def test_a_wrong_number_is_refused(golden: Path, tmp_path: Path) -> None:
    data = bytearray(small(golden, "ts_06x02.bd").read_bytes())
    data[3001] ^= 0x10
    path = tmp_path / "wrong.bd"
    path.write_bytes(data)
    found = gnubg_check.examine(path)
    assert found.verified is False
    assert not found.ok
    assert "verification:" in found.refusals[0]


@pytest.mark.parametrize(("points", "chequers"), [("06", "13"), ("12", "15"), ("07", "12")])
def test_more_than_four_gib_is_refused(points: str, chequers: str, tmp_path: Path) -> None:
    path = tmp_path / "huge.bd"
    n = board.count(int(points), int(chequers))
    path.write_bytes(f"gnubg-TS-{points}-{chequers}-1{'x' * 23}\n".encode())
    os.truncate(path, min(40 + 8 * n * n, 1 << 42))  # sparse
    found = gnubg_check.examine(path)
    assert "4 GiB" in found.refusals[0]
    assert not found.ok


def test_six_points_twelve_chequers_is_the_last_that_fits() -> None:
    found = gnubg_check.Examination("x", 40, "TS", 6, 12, {"cubeful": True})
    assert gnubg_check._expected_size(found) == 40 + 8 * 18564**2 < gnubg_check.FOUR_GIB


@pytest.mark.parametrize(
    "head",
    [
        b"gnubg-TS-00-06-1",
        b"gnubg-TS-24-06-1",
        b"gnubg-TS-06-16-1",
        b"gnubg-OS--3-15-1-1-0",
        b"gnubg-H7",
        b"gnubg-XX",
    ],
)
def test_impossible_headers_are_refused(head: bytes, tmp_path: Path) -> None:
    path = tmp_path / "bad.bd"
    path.write_bytes(head.ljust(39, b"x") + b"\n" + bytes(1000))
    assert not gnubg_check.examine(path).ok


# -- installing ------------------------------------------------------------------------------------------


@pytest.fixture
def where(tmp_path: Path) -> Place:
    (tmp_path / "data").mkdir()
    (tmp_path / "rest").mkdir()
    return Place("debian", tmp_path / "data", tmp_path / "rest")


def test_install_and_uninstall(golden: Path, where: Place) -> None:
    source = small(golden, "ts_06x04.bd")
    done = gnubg_slots.install(source, where, until="sense")
    assert done.path == where.rest / "gnubg_ts.bd"
    assert done.path.read_bytes() == source.read_bytes()
    assert gnubg_slots.uninstall(where) == [f"{done.path}: removed"]
    assert list(where.rest.iterdir()) == []


def test_what_was_there_comes_back(golden: Path, where: Place) -> None:
    slot = where.data / "gnubg_os0.bd"
    slot.write_bytes(b"stock")
    gnubg_slots.install(small(golden, "os_p04.bd"), where, "os0", until="sense")
    gnubg_slots.install(
        small(golden, "os_p06.bd"), where, until="sense"
    )  # over our own: the stock file stays kept
    assert slot.read_bytes() == small(golden, "os_p06.bd").read_bytes()
    gnubg_slots.uninstall(where, "gnubg_os0.bd")
    assert slot.read_bytes() == b"stock"
    assert [p.name for p in where.data.iterdir()] == ["gnubg_os0.bd"]


def test_a_file_changed_since_stays(golden: Path, where: Place) -> None:
    path = gnubg_slots.install(small(golden, "ts_06x04.bd"), where, until="sense").path
    path.write_bytes(b"someone else's")
    with pytest.raises(InstallError, match="changed since"):
        gnubg_slots.uninstall(where)
    assert path.read_bytes() == b"someone else's"
    gnubg_slots.uninstall(where, force=True)
    assert not path.exists()


def test_a_link_and_its_removal(golden: Path, where: Place) -> None:
    source = small(golden, "ts_06x04.bd")
    path = gnubg_slots.install(source, where, until="sense", link=True).path
    assert path.is_symlink()
    gnubg_slots.uninstall(where, "ts")
    assert not path.is_symlink()
    assert source.exists()


def test_wrong_slots(golden: Path, where: Place) -> None:
    with pytest.raises(InstallError, match="wrong type"):
        gnubg_slots.install(small(golden, "ts_06x04.bd"), where, "os", until="sense")
    with pytest.raises(InstallError, match="no slot 'x'"):
        gnubg_slots.install(small(golden, "ts_06x04.bd"), where, "x", until="sense")
    with pytest.raises(InstallError, match="for 6 points"):
        gnubg_slots.install(
            small(golden, "os_p04.bd"), Place("gnubg-nn", where.data, where.data), until="sense"
        )
    with pytest.raises(InstallError, match="nothing"):
        gnubg_slots.uninstall(where)


def test_gnubg_nn_gets_its_second_copy(golden: Path, where: Place) -> None:
    nn = Place("gnubg-nn", where.data, where.data)
    gnubg_slots.install(small(golden, "os_p06.bd"), nn, until="sense")
    assert {"gnubg_os0.bd", "gnubg_os.db"} <= {p.name for p in where.data.iterdir()}
    gnubg_slots.uninstall(nn)
    assert list(where.data.iterdir()) == []


def test_without_permission_it_says_what_to_do(
    golden: Path, where: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(gnubg_slots, "create", refuse)
    with pytest.raises(InstallError, match=r"needs root.*--user"):
        gnubg_slots.install(small(golden, "ts_06x04.bd"), where, until="sense")


# -- the command -----------------------------------------------------------------------------------------


def test_commands(golden: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = str(tmp_path / "bgfmt")
    source = str(small(golden, "ts_06x04.bd"))
    assert run(["gnubg", "check", source, "--until", "sense", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["slots"] == ["ts", "ts0"]
    assert run(["gnubg", "check", str(small(golden, "ts_04x04_cubeless.bd"))]) == 1
    assert "cubeless" in capsys.readouterr().out
    assert run(["gnubg", "install", source, "--dir", folder, "--host", "debian", "--until", "sense"]) == 0
    assert "start-gnubg" in capsys.readouterr().out
    assert run(["gnubg", "where", "--dir", folder, "--host", "debian", "--json"]) == 0
    slots = json.loads(capsys.readouterr().out)["slots"]
    assert slots["ts"]["by_bgfmt"]
    assert slots["ts"]["check"]["ok"]
    assert run(["gnubg", "uninstall", "ts", "--dir", folder, "--host", "debian"]) == 0
    assert run(["gnubg", "uninstall", "ts", "--dir", folder, "--host", "debian"]) == 2
    assert run(["gnubg", "install", str(small(golden, "os_p03_nd.bd")), "--dir", folder]) == 1
    assert run(["gnubg", "check", str(tmp_path / "none.bd")]) == 2


def test_where_finds_a_bad_file(golden: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "gnubg_ts.bd").write_bytes(small(golden, "ts_06x04.bd").read_bytes()[:5000])
    assert run(["gnubg", "where", "--dir", str(tmp_path), "--host", "upstream"]) == 1
    assert "cut short" in capsys.readouterr().out
