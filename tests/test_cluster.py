"""Solves through a store of chunks: the same bytes by threads and by Dask's workers, whoever ends meanwhile."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bgfmt
from bgfmt import solver
from bgfmt.cluster import DaskWorkers
from bgfmt.errors import BgfmtError, CapabilityError, ClusterError, CorruptError, ScratchError, TruncatedError
from bgfmt.game.board import Position
from bgfmt.solver.job import job
from bgfmt.solver.stored import Making
from bgfmt.solver.tiles import grid_of
from bgfmt.solving_stored import plan_stored, solve_stored
from bgfmt.storage import chunks
from bgfmt.storage.chunks import ChunkStore
from bgfmt.workers import ThreadWorkers

BGFMT = [sys.executable, "-m", "bgfmt"]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Files of one machine's threads, in memory."""
    folder = tmp_path_factory.mktemp("made")
    found = {}
    for size in ("6x5", "6x7"):
        points, chequers = map(int, size.split("x"))
        found[size] = bgfmt.solve("two-sided", points, chequers, folder / f"{size}.bd")
    return found


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole store of 5x4."""
    path = tmp_path_factory.mktemp("store") / "s"
    solve_stored("two-sided", 5, 4, store=path)
    return path


@pytest.fixture
def copied(store: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(store, tmp_path / "copy"))


# -- tiles: the same numbers, from what they say they need -----------------------------------------------


@settings(max_examples=12, deadline=None)
@given(
    size=st.sampled_from([(1, 5), (2, 1), (3, 3), (6, 4), (5, 3), (12, 2), (9, 3)]),
    columns=st.sampled_from([1, 4]),
    chunk=st.sampled_from([8, 16, 40]),
    chunks_a_side=st.integers(1, 4),
    workers=st.integers(1, 3),
)
def test_any_grid_gives_the_same_numbers(
    size: tuple[int, int],
    columns: int,
    chunk: int,
    chunks_a_side: int,
    workers: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    path = tmp_path_factory.mktemp("grid") / "s"
    grid = grid_of(*size, columns=columns, side=chunk * chunks_a_side, chunk=chunk)
    making = Making(str(path), "equities", grid)
    with ThreadWorkers(workers) as threads:
        done = list(threads.run(making.make, grid.tiles(), grid.after))
    assert (sum(t.read for t in done), sum(t.written for t in done)) == grid.moved
    store = ChunkStore(path)
    found = np.zeros((grid.n, grid.n, columns), np.uint16)
    for a, b in np.ndindex(grid.chunks, grid.chunks):
        part = store.get("equities", (a, b, 0), "<u2", (chunk, chunk, columns))
        to = found[a * chunk : (a + 1) * chunk, b * chunk : (b + 1) * chunk]
        to[...] = part[: to.shape[0], : to.shape[1]]
    order = solver.layers.pip_order(*size).numbers
    wanted = solver.two_sided(*size, cubeful=columns == 4).equities
    assert np.array_equal(found, np.asarray(wanted)[order][:, order])


def test_a_tile_reads_and_writes_what_it_says(tmp_path: Path) -> None:
    """Chunks that a tile does not need are taken away before it is made."""
    grid = grid_of(6, 4, columns=4, side=64, chunk=32)
    making = Making(str(tmp_path / "s"), "equities", grid)
    for tile in grid.tiles():
        made = making.make(tile)
        assert made.read == sum(strip.bytes for strip in grid.needs(tile))
        assert made.written == sum(strip.bytes for strip in grid.gives(tile))
    for tile in grid.tiles():
        kept = {at for strip in grid.needs(tile) for at in grid.chunks_of(strip)}
        given = {at for strip in grid.gives(tile) for at in grid.chunks_of(strip)}
        assert not kept & given
        alone = tmp_path / "alone"
        for at in kept:
            to = alone / f"equities/c.{at[0]}.{at[1]}.0"
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(tmp_path / f"s/equities/c.{at[0]}.{at[1]}.0", to)
        Making(str(alone), "equities", grid).make(tile)
        for a, b in given:
            name = f"equities/c.{a}.{b}.0"
            assert (alone / name).read_bytes() == (tmp_path / "s" / name).read_bytes()
        shutil.rmtree(alone)


def test_every_tile_stands_behind_what_it_needs() -> None:
    grid = grid_of(6, 8, columns=4, workers=4)
    seen: set[tuple[int, int]] = set()
    given: set[tuple[int, int]] = set()
    for tile in grid.tiles():
        assert seen.issuperset(grid.after(tile))
        assert given.issuperset(at for s in grid.needs(tile) for at in grid.chunks_of(s))
        seen.add(tile)
        given |= {at for s in grid.gives(tile) for at in grid.chunks_of(s)}
    assert len(given) == grid.chunks**2


def test_memory_is_bounded_by_what_is_said() -> None:
    made = job("two-sided", 7, 12)
    plan = plan_stored(made, workers=2)
    assert 2 * plan.memory < 4_100_000_000
    assert plan_stored(made, workers=2, memory=1_500_000_000).memory <= 1_500_000_000
    with pytest.raises(bgfmt.errors.SolverError, match=r"needs 0\.\d+ GB a worker, not 0\.10 GB"):
        plan_stored(made, workers=2, memory=100_000_000)


# -- the store -------------------------------------------------------------------------------------------


def test_crc32c_is_the_published_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """RFC 3720, appendix B.4; and the kernel against the library over every small length."""
    rng = np.random.default_rng(1)
    data = rng.integers(0, 256, 3000, dtype=np.uint8)
    known = {
        b"123456789": 0xE3069283,
        bytes(32): 0x8A9136AA,
        b"\xff" * 32: 0x62A8AB43,
        bytes(range(32)): 0x46DD794E,
    }
    fast = {n: chunks.crc32c(data[:n]) for n in [*range(40), 2999, 3000]}
    monkeypatch.setattr(chunks, "_installed", lambda: None)
    assert {n: chunks.crc32c(data[:n]) for n in fast} == fast
    for text, total in known.items():
        assert chunks.crc32c(np.frombuffer(text, np.uint8)) == total
    assert chunks.crc32c(data[3:999]) == chunks.crc32c(data[3:999].copy())


def test_a_store_is_a_table_like_any_other(store: Path, tmp_path: Path) -> None:
    wanted = solver.two_sided(5, 4)
    with bgfmt.open(store) as db:
        table = db.table
        assert np.array_equal(np.asarray(table.arrays()["equities"]), wanted.equities)
        rng = np.random.default_rng(2)
        us, them = rng.integers(0, table.positions, (2, 500))
        assert np.array_equal(table.lookup_many(us, them), wanted.lookup_many(us, them))
        place = Position.parse("0 1 1 0 0 0 / 1 0 0 2 0 0")
        assert db.lookup(place) == wanted.lookup(place)
        assert table.cut(chequers=3).check() is None
    bgfmt.convert(store, tmp_path / "a.bd", to="gnubg-ts")
    bgfmt.solve("two-sided", 5, 4, tmp_path / "b.bd")
    assert digest(tmp_path / "a.bd") == digest(tmp_path / "b.bd")
    assert bgfmt.verify(store).verdict.startswith("proved")


def test_zarr_opens_it(store: Path) -> None:
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(str(store), mode="r")
    numbers, equities = group["numbers"][:], group["equities"]
    wanted = np.asarray(solver.two_sided(5, 4).equities)
    assert equities.metadata.codecs[1].to_dict()["name"] == "crc32c"
    assert np.array_equal(equities[:], wanted[numbers][:, numbers])


def test_what_fsspec_reaches() -> None:
    pytest.importorskip("fsspec")
    address = "memory://bgfmt-test/s"
    solve_stored("two-sided", 4, 3, store=address)
    with bgfmt.open(address) as db:
        assert np.array_equal(np.asarray(db.table.arrays()["equities"]), solver.two_sided(4, 3).equities)


def chunk_files(store: Path) -> list[Path]:
    return sorted(path for path in (store / "equities").glob("c.*"))


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_flipped_bit_is_found(
    data: st.DataObject, store: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    copy = Path(shutil.copytree(store, tmp_path_factory.mktemp("flip") / "s"))
    file = data.draw(st.sampled_from([*chunk_files(copy), copy / "numbers/c.0"]))
    content = bytearray(file.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    file.write_bytes(content)
    report = bgfmt.verify(copy)
    assert report.exit_code == 1
    assert file.relative_to(copy).as_posix() in str(report.as_dict())


@pytest.mark.parametrize("name", ["zarr.json", "equities/zarr.json", "numbers/zarr.json"])
def test_every_byte_of_a_description_is_accounted_for(copied: Path, name: str) -> None:
    file = copied / name
    sound = file.read_bytes()
    for at in range(len(sound)):
        file.write_bytes(sound[:at] + bytes([sound[at] ^ 1 << at % 7]) + sound[at + 1 :])
        with contextlib.suppress(BgfmtError):
            assert next(iter(bgfmt.open(copied).audit()), None) is not None, at
    for odd in (sound + b" ", sound[:-1], sound.replace(b'"gnubg"', b'"other"')):
        if odd != sound:
            file.write_bytes(odd)
            assert bgfmt.verify(copied).exit_code == 1
    file.write_bytes(sound)
    assert bgfmt.verify(copied).exit_code == 0
    (copied / "equities/c.9").write_bytes(b"foreign")
    report = bgfmt.verify(copied)
    assert report.exit_code == 1
    assert "equities/c.9" in str(report.as_dict())


def reseal(file: Path, change: Any) -> None:
    """Change the numbers of a chunk and put its checksum right."""
    content = bytearray(file.read_bytes())
    change(content)
    content[-4:] = chunks.crc32c(np.frombuffer(content[:-4], np.uint8)).to_bytes(4, "little")
    file.write_bytes(content)


def test_a_wrong_number_is_found_under_a_right_checksum(copied: Path) -> None:
    def change(content: bytearray) -> None:
        content[8 * 130] ^= 4

    reseal(chunk_files(copied)[0], change)
    report = bgfmt.verify(copied)
    assert report.exit_code == 1
    assert any(f.rule is bgfmt.verifier.Rule.ENTRY for f in report.findings)


def test_chunks_cannot_change_places(tmp_path: Path) -> None:
    solve_stored("two-sided", 6, 5, store=tmp_path / "s")
    a, b = tmp_path / "s/equities/c.0.1.0", tmp_path / "s/equities/c.1.0.0"
    first, second = a.read_bytes(), b.read_bytes()
    assert first != second
    a.write_bytes(second)
    b.write_bytes(first)
    assert "sum of the chunks" in str(bgfmt.verify(tmp_path / "s").as_dict())


def test_half_a_store_is_not_read(copied: Path, tmp_path: Path) -> None:
    gone = chunk_files(copied)[-1]
    content = gone.read_bytes()
    gone.unlink()
    with pytest.raises(TruncatedError, match="store"):
        bgfmt.open(copied)
    gone.write_bytes(content[:-1])
    with pytest.raises(TruncatedError):
        bgfmt.open(copied)
    gone.write_bytes(content)
    said = json.loads((copied / "zarr.json").read_text())
    said["attributes"]["bgfmt"]["state"] = "solving"
    (copied / "zarr.json").write_text(json.dumps(said))
    with pytest.raises(TruncatedError, match="still being solved"):
        bgfmt.open(copied)


def test_while_it_is_solved_zarr_sees_no_equities(tmp_path: Path) -> None:
    grid = grid_of(5, 4, columns=4)
    seen = []

    def look(done: int, total: int) -> None:
        seen.append((tmp_path / "s/equities/zarr.json").exists())
        with pytest.raises(TruncatedError):
            bgfmt.open(tmp_path / "s")

    solve_stored("two-sided", 5, 4, store=tmp_path / "s", progress=look)
    assert seen == [False] * len(grid.tiles())


def test_a_damaged_chunk_is_an_error_where_it_is_asked_for(copied: Path) -> None:
    file = chunk_files(copied)[0]
    content = bytearray(file.read_bytes())
    content[100] ^= 1
    file.write_bytes(content)
    with (
        bgfmt.open(copied) as db,
        pytest.raises(CorruptError, match=r"c\.0\.0\.0: byte \d+: expected the CRC-32C"),
    ):
        db.table.lookup_many(np.arange(20), np.arange(20))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_any_description_is_an_answer(
    data: st.DataObject, store: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    copy = tmp_path_factory.mktemp("described") / "s"
    shutil.copytree(store, copy)
    text = json.loads((copy / "zarr.json").read_text())
    said = text["attributes"]["bgfmt"]
    field = data.draw(st.sampled_from(sorted(said)))
    said[field] = data.draw(st.sampled_from([None, 0, -1, 1, 2, 5, 1e9, "x", [], {}, True, 10**12]))
    (copy / "zarr.json").write_text(json.dumps(text))
    try:
        with bgfmt.open(copy) as db:
            assert np.asarray(db.table.equities[0, 0]).shape == (4,)
    except bgfmt.BgfmtError as error:
        assert "\n" not in str(error)


# -- going on --------------------------------------------------------------------------------------------


def test_going_on_makes_what_is_gone_or_damaged(tmp_path: Path, made: dict[str, Path]) -> None:
    path = tmp_path / "s"
    solve_stored("two-sided", 6, 5, store=path)
    said = json.loads((path / "zarr.json").read_text())
    said["attributes"]["bgfmt"] |= {"state": "solving", "sum": ""}
    (path / "zarr.json").write_text(json.dumps(said))
    files = chunk_files(path)
    files[1].unlink()
    files[5].write_bytes(files[5].read_bytes()[:99])
    content = bytearray(files[7].read_bytes())
    content[50] ^= 8
    files[7].write_bytes(content)
    with pytest.raises(ScratchError) as caught:
        solve_stored("two-sided", 6, 5, tmp_path / "o.bd", store=path)
    assert caught.value.state == "unfinished"
    with pytest.raises(ScratchError, match="another table"):
        solve_stored("two-sided", 6, 4, store=path, resume=True)
    solved = solve_stored("two-sided", 6, 5, tmp_path / "o.bd", store=path, resume=True)
    assert 0 < solved.made <= 3 < solved.found
    assert digest(tmp_path / "o.bd") == digest(made["6x5"])


def test_other_folders_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "letter").write_text("dear")
    with pytest.raises(bgfmt.errors.OutputExistsError):
        solve_stored("two-sided", 3, 2, store=tmp_path / "s")
    with pytest.raises(CapabilityError):
        solve_stored("one-sided", 3, 2, store=tmp_path / "t")
    solve_stored("two-sided", 3, 2, tmp_path / "o.bd", memory=400_000_000)
    assert sorted(os.listdir(tmp_path)) == ["o.bd", "s"]


# -- Dask ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two() -> Iterator[DaskWorkers]:
    """A local cluster that several tests use, through its scheduler's address."""
    pytest.importorskip("distributed")
    with DaskWorkers("local:2") as workers:
        yield workers


def address_of(workers: DaskWorkers) -> str:
    return str(workers._client.scheduler.address)


def test_a_cluster_makes_the_same_bytes(two: DaskWorkers, tmp_path: Path, made: dict[str, Path]) -> None:
    path = tmp_path / "s"
    solved = solve_stored("two-sided", 6, 7, tmp_path / "o.bd", store=path, cluster=address_of(two))
    assert digest(tmp_path / "o.bd") == digest(made["6x7"])
    assert (solved.read, solved.written) == solved.grid.moved


def test_workers_may_be_killed(two: DaskWorkers, tmp_path: Path, made: dict[str, Path]) -> None:
    rng, killed = random.Random(3), []

    def kill(done: int, total: int) -> None:
        if rng.random() < 0.4 and len(killed) < 4:
            pids = [nanny.pid for nanny in two.local.workers.values() if nanny.pid]
            if pids:
                killed.append(rng.choice(pids))
                os.kill(killed[-1], signal.SIGKILL)

    solve_stored("two-sided", 6, 7, tmp_path / "o.bd", cluster=address_of(two), progress=kill)
    assert killed
    assert digest(tmp_path / "o.bd") == digest(made["6x7"])


def test_the_scheduler_and_all_may_be_killed(tmp_path: Path, made: dict[str, Path]) -> None:
    """With local:N the scheduler lives in the command's own process."""
    command = [*BGFMT, "solve", "two-sided", "6x7", "--cluster", "local:1", "--store", "s", "-o", "o.bd"]
    begun = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.DEVNULL)
    while begun.poll() is None and len(list((tmp_path / "s").rglob("c.*0"))) < 30:
        time.sleep(0.01)
    begun.send_signal(signal.SIGKILL)
    assert begun.wait() == -signal.SIGKILL
    assert not (tmp_path / "o.bd").exists()
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.returncode == 2
    assert again.stderr.count("\n") == 1
    assert "--resume" in again.stderr
    gone_on = subprocess.run(
        [*command, "--resume"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert gone_on.returncode == 0, gone_on.stderr
    assert digest(tmp_path / "o.bd") == digest(made["6x7"])


def test_a_scheduler_of_its_own(tmp_path: Path, made: dict[str, Path]) -> None:
    """`dask scheduler` and `dask worker` as processes; the commands solve and verify there."""
    pytest.importorskip("distributed")
    from .cluster_kills import scheduled

    def bgfmt_(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*BGFMT, *words], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300
        )

    with scheduled(1) as (address, _):
        done = bgfmt_("solve", "two-sided", "6x5", "--cluster", address, "--store", "s", "-o", "o.bd")
        assert done.returncode == 0, done.stderr
        assert digest(tmp_path / "o.bd") == digest(made["6x5"])
        done = bgfmt_("verify", "s", "o.bd", "--cluster", address)
        assert (done.returncode, done.stdout.count("proved")) == (0, 2), done.stderr


def test_no_cluster_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(CapabilityError, match=r"local:N or the address"):
        solve_stored("two-sided", 3, 2, store=tmp_path / "s", cluster="somewhere")
    pytest.importorskip("distributed")
    from bgfmt import cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "ANSWERING", 0.5)
        with pytest.raises(ClusterError, match="no cluster"):
            solve_stored("two-sided", 3, 2, store=tmp_path / "s", cluster="tcp://127.0.0.1:9")
    assert not (tmp_path / "s").exists()


def test_nothing_is_imported_without_the_option(tmp_path: Path) -> None:
    code = (
        "import sys, bgfmt; from bgfmt import solving_stored; from bgfmt.solving_stored import solve_stored;"
        f"s = {str(tmp_path / 's')!r}; solve_stored('two-sided', 3, 3, store=s); bgfmt.open(s);"
        "names = 'dask distributed zarr numba_cuda numba.cuda cuda fsspec'.split();"
        "print([m for m in names if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# -- verifying on a cluster ------------------------------------------------------------------------------


def test_verify_by_workers(two: DaskWorkers, copied: Path, made: dict[str, Path], tmp_path: Path) -> None:
    address = address_of(two)
    for path in (copied, made["6x5"]):
        assert bgfmt.verify(path, cluster=address).verdict == bgfmt.verify(path).verdict
    wrong = tmp_path / "wrong.bd"
    content = bytearray(made["6x5"].read_bytes())
    content[40 + 8 * 462 * 77 + 8 * 30] ^= 1
    wrong.write_bytes(content)
    here, there = bgfmt.verify(wrong), bgfmt.verify(wrong, cluster=address)
    assert there.exit_code == 1
    assert [f.entry for f in there.findings] == [f.entry for f in here.findings]

    def change(content: bytearray) -> None:
        content[8 * 130] ^= 4

    reseal(chunk_files(copied)[0], change)
    here, there = bgfmt.verify(copied), bgfmt.verify(copied, cluster=address)
    assert there.exit_code == here.exit_code == 1
    assert [f.entry for f in there.findings] == [f.entry for f in here.findings]
    content = bytearray(chunk_files(copied)[0].read_bytes())
    content[9] ^= 1
    chunk_files(copied)[0].write_bytes(content)
    here = bgfmt.verify(copied)
    with pytest.MonkeyPatch.context() as patch:  # the workers add up, not this process
        patch.delattr("bgfmt.formats.zarr.chunk_fault")
        there = bgfmt.verify(copied, cluster=address)
    assert there.exit_code == 1
    assert "c.0.0.0" in str(there.as_dict())
    assert [f.field for f in there.findings] == [f.field for f in here.findings]
    one_sided = bgfmt.solve("one-sided", 3, 3, tmp_path / "o.bd")
    with pytest.raises(CapabilityError, match="not checked by a cluster"):
        bgfmt.verify(one_sided, cluster=address)


def test_bands_checked_apart_find_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bgfmt.verifier.recurrence import two_sided as recurrence

    monkeypatch.setattr(recurrence, "BAND_BYTES", 1)
    solve_stored("two-sided", 5, 4, store=tmp_path / "s")
    reseal(chunk_files(tmp_path / "s")[0], lambda content: content.__setitem__(8 * 200, content[8 * 200] ^ 4))
    with bgfmt.open(tmp_path / "s") as db:
        parts = recurrence.bands(db.table)
        assert len(parts) > 2
        whole = recurrence.check(db.table, threads=2)
        first, *others = (recurrence.check(db.table, only=[band]) for band in parts)
        apart = first.joined(others)
    assert apart.failing == whole.failing > 0
    assert np.array_equal(apart.numbers, whole.numbers)
    assert np.array_equal(apart.histogram, whole.histogram)


# -- a device --------------------------------------------------------------------------------------------


def test_the_simulator_of_a_device_gives_the_same_numbers() -> None:
    """All sizes up to 4x4 and some in several tiles, in a process of its own: the simulator is chosen at import."""
    pytest.importorskip("numba.cuda")
    environment = os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("simulated.py"))],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["20", "same"]


def test_without_a_device_it_is_one_line(tmp_path: Path) -> None:
    device = pytest.importorskip("numba.cuda")
    if device.is_available():
        pytest.skip("there is a device here")
    with pytest.raises(CapabilityError, match="no CUDA device"):
        solve_stored("two-sided", 3, 2, tmp_path / "o.bd", device="cuda")
    assert not list(tmp_path.iterdir())


# -- the documents ---------------------------------------------------------------------------------------


def test_the_table_of_costs_is_the_models() -> None:
    from bgfmt import met
    from bgfmt.solver import costs

    page = (Path(__file__).parents[1] / "docs" / "cluster.md").read_text(encoding="utf-8")
    assert "\n".join(costs.lines(met.load())) in page


def test_what_the_page_says_of_growth() -> None:
    from bgfmt.solver.plan import results_a_position

    a, b = (grid_of(p, 15, columns=4, side=2048, chunk=512) for p in (6, 8))
    work = b.n**2 * results_a_position(8, 15) / (a.n**2 * results_a_position(6, 15))
    assert round(b.n**2 / a.n**2) == 82
    assert round(work) == 110
    span = int(max(b.spans[1])) / int(max(a.spans[1]))
    assert round(span) == 8
    read = [grid_of(p, 15, columns=4, workers=2, memory=16 * 10**9).moved[0] for p in (6, 8)]
    assert round(read[1] / read[0], -2) == 2400
