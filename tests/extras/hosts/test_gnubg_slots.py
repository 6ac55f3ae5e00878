"""`bgfmt gnubg`: what gnubg would make of a file, and putting it where gnubg looks, undoably."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path

import pytest

from bgfmt.cli import run
from bgfmt.errors import VerificationError
from bgfmt.extras.hosts.gnubg import check as gnubg_check
from bgfmt.extras.hosts.gnubg import folder as installed_files
from bgfmt.extras.hosts.gnubg import places
from bgfmt.extras.hosts.gnubg import slots as gnubg_slots
from bgfmt.extras.hosts.gnubg.places import Place
from bgfmt.files import gnubg_folders as folders
from bgfmt.files.gnubg_folders import InstallError
from bgfmt.game import board
from tests.support.crash import listing


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
    assert found.hosts["debian"] == "reads it correctly"


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
    where = places.place("debian", tmp_path)
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


@pytest.mark.slow
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
    assert (
        gnubg_slots.install(source, where, until="sense", link=True).path == path
    )  # there is nothing left to do
    assert path.is_symlink()
    gnubg_slots.uninstall(where, "ts")
    assert not path.is_symlink()
    assert source.exists()


def test_wrong_slots(golden: Path, where: Place) -> None:
    with pytest.raises(InstallError, match="wrong type"):
        gnubg_slots.install(small(golden, "ts_06x04.bd"), where, "os", until="sense")
    with pytest.raises(InstallError, match="no slot 'x'"):
        gnubg_slots.install(small(golden, "ts_06x04.bd"), where, "x", until="sense")
    with pytest.raises(InstallError, match="one of 6 points"):
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
    golden: Path, where: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(installed_files.storage, "create", refuse)
    source = small(golden, "ts_06x04.bd")
    with pytest.raises(PermissionError, match="Permission denied"):
        gnubg_slots.install(source, where, until="sense")
    monkeypatch.setattr(folders, "DEBIAN_STATE", where.rest)
    monkeypatch.setattr(folders, "DEBIAN_DATA", where.data)
    assert run(["gnubg", "install", str(source), "--host", "debian", "--until", "sense"]) == 2
    assert re.search(r"use sudo.*--user", capsys.readouterr().err)
    assert list(where.rest.iterdir()) == []


# -- a record that somebody else wrote ----------------------------------------------------------

ENTRY = {"installed": ["0" * 64], "kept": ""}
NAMES = [
    "../victim",
    "/etc/victim",
    "sub/victim",
    "..",
    ".",
    "",
    "a\\b",
    "C:victim",
    "victim\0",
    "victim",
    7,
    None,
]


def bad_records() -> list[object]:
    """Records that bgfmt never writes."""
    kept = [{"gnubg_ts.bd": ENTRY | {"kept": name}} for name in NAMES if name != ""]
    names = [{name: ENTRY} for name in NAMES if isinstance(name, str)]
    other = [
        [],
        7,
        {"gnubg_ts.bd": []},
        {"gnubg_ts.bd": {}},
        {"gnubg_ts.bd": ENTRY | {"size": 1}},
        {"gnubg_ts.bd": ENTRY | {"installed": 5}},
        {"gnubg_ts.bd": ENTRY | {"kept": ["gnubg_ts.bd.before-bgfmt"]}},
        {"gnubg_ts.bd": ENTRY | {"kept": "gnubg_os.bd.before-bgfmt"}},
        {"gnubg_ts.bd": ENTRY | {"kept": "gnubg_ts0.bd"}},
    ]
    return [*kept, *names, *other]


@pytest.mark.slow
@pytest.mark.parametrize("record", bad_records(), ids=lambda record: json.dumps(record)[:40])
def test_names_in_a_record_are_checked(
    golden: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], record: object
) -> None:
    (tmp_path / "victim").write_bytes(b"precious")
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    for name in ("victim", "sub/victim", "gnubg_ts.bd", "gnubg_ts0.bd"):
        (folder / name).write_bytes(b"precious")
    (folder / ".bgfmt-installed.json").write_text(json.dumps(record))
    before = listing(tmp_path)
    where = ["--dir", str(folder), "--host", "debian"]
    for asked in (
        ["uninstall", "--force", *where],
        ["uninstall", "ts", *where],
        ["install", str(small(golden, "ts_06x04.bd")), "--until", "digest", *where],
        ["where", *where],
    ):
        capsys.readouterr()
        if asked[0] == "install":
            run(["gnubg", *asked])  # may fill the private folder with links; nothing that was there changes
        else:
            assert run(["gnubg", *asked]) == 2
            err = capsys.readouterr().err
            assert err.count("\n") == 1, err
            assert ".bgfmt-installed.json" in err
    after = listing(tmp_path)
    assert {name: after.get(name) for name in before} == before


def test_odd_files_where_the_record_lies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / ".bgfmt-installed.json"
    where = ["--dir", str(tmp_path), "--host", "debian"]
    for make in (
        lambda: os.mkfifo(record),
        lambda: record.symlink_to("/dev/zero"),
        record.mkdir,
        lambda: record.write_bytes(b"[" * 100_000),
        lambda: record.write_bytes(b" " * (2 << 20)),
        lambda: record.write_bytes(b"\xff"),
    ):
        make()
        for verb in ("where", "uninstall"):
            assert run(["gnubg", verb, *where]) == 2
            assert capsys.readouterr().err.count("\n") == 1
        record.rmdir() if record.is_dir() else record.unlink()


def test_a_copy_cut_short_is_removed_by_the_next_install(golden: Path, where: Place) -> None:
    (where.rest / ".gnubg_os.bd.bgfmt-new").write_bytes(b"gnubg-OS-06-")
    gnubg_slots.install(small(golden, "ts_06x04.bd"), where, until="digest")
    assert set(listing(where.rest)) == {"gnubg_ts.bd", ".bgfmt-installed.json"}


def test_a_file_that_replaced_the_installed_one_is_kept(golden: Path, where: Place) -> None:
    """Somebody else writes into the slot, and the file is installed again."""
    slot = where.rest / "gnubg_ts.bd"
    slot.write_bytes(b"stock")
    gnubg_slots.install(small(golden, "ts_06x04.bd"), where, until="digest")
    slot.write_bytes(b"newcomer")
    gnubg_slots.install(small(golden, "ts_06x04.bd"), where, until="digest")
    held = {path.name: path.read_bytes() for path in where.rest.iterdir()}
    assert held["gnubg_ts.bd.before-bgfmt-2"] == b"newcomer"
    assert held["gnubg_ts.bd.before-bgfmt"] == b"stock"
    assert held["gnubg_ts.bd"] == small(golden, "ts_06x04.bd").read_bytes()


def test_an_uninstall_cut_short_is_completed(golden: Path, where: Place) -> None:
    """The file from before is back, the record not yet written: what is there now stays."""
    slot = where.rest / "gnubg_ts.bd"
    slot.write_bytes(b"stock")
    gnubg_slots.install(small(golden, "ts_06x04.bd"), where, until="digest")
    slot.with_name("gnubg_ts.bd.before-bgfmt").rename(slot)
    (line,) = gnubg_slots.uninstall(where)
    assert "back already" in line
    assert listing(where.rest) == {"gnubg_ts.bd": b"stock"}


def test_an_uninstall_removes_the_second_name_of_the_file_from_before(golden: Path, where: Place) -> None:
    """An install that is killed before its last rename leaves two names of that file."""
    slot = where.rest / "gnubg_ts.bd"
    slot.write_bytes(b"stock")
    gnubg_slots.install(small(golden, "ts_06x04.bd"), where, until="digest")
    slot.unlink()
    os.link(slot.with_name("gnubg_ts.bd.before-bgfmt"), slot)
    gnubg_slots.uninstall(where)
    assert listing(where.rest) == {"gnubg_ts.bd": b"stock"}


def test_a_pipe_in_a_slot_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "gnubg_ts.bd")
    assert run(["gnubg", "check", str(tmp_path / "gnubg_ts.bd")]) == 2
    assert run(["gnubg", "where", "--dir", str(tmp_path), "--host", "upstream"]) == 2
    assert capsys.readouterr().err.count("not a regular file") == 2


def test_two_at_once(golden: Path, where: Place) -> None:
    with installed_files.lock_folder(where.rest), pytest.raises(InstallError, match="another process"):
        gnubg_slots.install(small(golden, "ts_06x04.bd"), where, until="sense")
    assert list(where.rest.iterdir()) == []


def test_a_changed_file_is_kept_twice(golden: Path, where: Place) -> None:
    """Installed over a stranger's file, changed by somebody, installed again: nothing of it is lost."""
    slot = where.rest / "gnubg_ts.bd"
    slot.write_bytes(b"first")
    gnubg_slots.install(small(golden, "ts_06x04.bd"), where, until="digest")
    slot.write_bytes(b"second")
    gnubg_slots.install(small(golden, "ts_04x04.bd"), where, until="digest")
    slot.write_bytes(b"third")
    lines = gnubg_slots.uninstall(where, force=True)
    assert slot.read_bytes() == b"second"
    assert sorted(path.read_bytes() for path in where.rest.iterdir()) == [b"first", b"second", b"third"]
    assert "gnubg_ts.bd.before-bgfmt" in lines[0]


def test_file_systems_without_links(golden: Path, where: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    link = os.link

    def refuse(source: object, *more: object, **how: object) -> None:
        if str(source).startswith(
            "/proc/self/fd/"
        ):  # a file without a name, which such a system does not have
            return link(source, *more, **how)  # type: ignore[arg-type]
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    slot = where.rest / "gnubg_ts.bd"
    slot.write_bytes(b"stock")
    gnubg_slots.install(small(golden, "ts_06x04.bd"), where, until="digest")
    gnubg_slots.uninstall(where)
    assert slot.read_bytes() == b"stock"


def test_a_private_folder_without_links(
    golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system refuses links, what the program needs is copied, folders too."""
    data = tmp_path / "data"
    (data / "sounds").mkdir(parents=True)
    (data / "sounds" / "roll.wav").write_bytes(b"roll")
    (data / "gnubg.weights").write_bytes(b"weights")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(1314, "a required privilege is not held by the client")

    monkeypatch.setattr(folders, "own_folders", lambda host: (data, data))
    monkeypatch.setattr(Path, "symlink_to", refuse)
    where = places.place("upstream", tmp_path / "own")
    gnubg_slots.install(small(golden, "ts_06x04.bd"), where, until="digest")
    assert (where.data / "sounds" / "roll.wav").read_bytes() == b"roll"
    assert (where.data / "gnubg.weights").read_bytes() == b"weights"
    assert {path.name for path in where.data.iterdir()} == {
        "sounds", "gnubg.weights", "gnubg_ts.bd", "start-gnubg", ".bgfmt-installed.json"
    }  # fmt: skip


# -- where other systems look --------------------------------------------------------------------------------


def test_windows(golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    for name in ("ProgramFiles", "ProgramW6432", "ProgramFiles(x86)", "SystemDrive", "GNUBG_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    monkeypatch.setenv("PATH", "")
    program = tmp_path / "Program Files" / "gnubg"
    program.mkdir(parents=True)
    monkeypatch.setenv("ProgramFiles", str(program.parent))
    assert folders.detect() == "upstream"
    place = places.place()
    assert (place.data, place.rest, place.private) == (program, program, False)
    assert place.path("os0") == program / "gnubg_os0.bd"
    assert places.place(user=True).data == tmp_path / "local" / "bgfmt" / "upstream"
    # a program on PATH is asked first: its own folder holds its data
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / "gnubg-cli.exe").touch(0o755)
    monkeypatch.setenv("PATHEXT", ".exe")
    monkeypatch.setenv("PATH", str(other))
    assert places.place().rest == other
    done = gnubg_slots.install(small(golden, "ts_06x04.bd"), places.place(), until="digest")
    assert done.path == other / "gnubg_ts.bd"
    assert not done.start


def test_macos(golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    cellar, prefix = tmp_path / "Cellar" / "gnubg" / "1.08", tmp_path / "homebrew"
    for folder in (cellar / "bin", cellar / "share" / "gnubg", prefix / "bin"):
        folder.mkdir(parents=True)
    (cellar / "bin" / "gnubg").touch(0o755)
    (prefix / "bin" / "gnubg").symlink_to(cellar / "bin" / "gnubg")
    monkeypatch.setenv("PATH", str(prefix / "bin"))
    assert folders.detect() == "upstream"
    assert places.place().data == cellar / "share" / "gnubg"
    private = places.place(user=True)
    assert private.data == tmp_path / "Library" / "Application Support" / "bgfmt" / "upstream"
    done = gnubg_slots.install(small(golden, "ts_06x04.bd"), private, until="digest")
    script = private.data / "start-gnubg"
    assert done.start == [str(script)]
    assert "-P" in script.read_text()
    with script.open() as before:  # which the next install replaces as a whole
        gnubg_slots.install(small(golden, "os_p06.bd"), private, until="digest")
        assert not os.path.samestat(os.fstat(before.fileno()), script.stat())
    assert script.stat().st_mode & 0o777 == 0o755
    # not on PATH: the package managers' prefixes are looked through
    monkeypatch.setenv("PATH", "")
    monkeypatch.setitem(folders.PREFIXES, "darwin", (str(tmp_path / "none"), str(cellar)))
    assert places.place().data == cellar / "share" / "gnubg"


def test_without_any_gnubg_it_says_so(
    golden: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(folders, "DEBIAN_STATE", tmp_path / "none")
    monkeypatch.setattr(folders, "DEBIAN_DATA", tmp_path / "none")
    source = str(small(golden, "ts_06x04.bd"))
    assert run(["gnubg", "install", source, "--host", "debian", "--until", "digest"]) == 2
    assert "no such folder; is gnubg 1.07 of Debian and Ubuntu installed?" in capsys.readouterr().err


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


@pytest.mark.parametrize(
    "content", [b"", b"three words only\n", b"gnubg-XX\n" * 9], ids=["empty", "text", "kind"]
)
def test_what_is_no_database_is_not_readable(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit code 2, as of `verify`; a database that must not be installed has 1."""
    path, folder = tmp_path / "x.bd", tmp_path / "slots"
    path.write_bytes(content)
    assert run(["verify", str(path)]) == 2
    assert run(["gnubg", "check", str(path)]) == 2
    assert run(["gnubg", "install", str(path), "--dir", str(folder)]) == 2
    assert "not installed: " in capsys.readouterr().err
    assert not folder.exists()


def test_where_finds_a_bad_file(golden: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "gnubg_ts.bd").write_bytes(small(golden, "ts_06x04.bd").read_bytes()[:5000])
    assert run(["gnubg", "where", "--dir", str(tmp_path), "--host", "upstream"]) == 1
    assert "cut short" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "undo"),
    [
        (["--host", "upstream", "--dir", "{}/a folder"], "ts0 --host upstream --dir '{}/a folder'"),
        (["--host", "upstream", "--user"], "ts0 --host upstream --user"),
    ],
)
def test_the_hint_undoes_what_was_done(
    options: list[str],
    undo: str,
    golden: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    (tmp_path / "a folder").mkdir()
    given = [word.format(tmp_path) for word in options]
    assert run(["gnubg", "install", str(golden / "gnubg/ts_06x04.bd"), "--slot", "ts0", *given]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f"  undo with: bgfmt gnubg uninstall {undo.format(tmp_path)}"
    assert run(shlex.split(last.partition("bgfmt ")[2])) == 0
    assert "removed" in capsys.readouterr().out
