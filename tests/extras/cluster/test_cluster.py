"""Solves and checks by Dask's workers: the same bytes, whichever process ends meanwhile."""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import bgfmt
from bgfmt.cli import run
from bgfmt.errors import CapabilityError, ClusterError
from bgfmt.extras.cluster.dask_workers import DaskWorkers
from bgfmt.files.solve import solve_table
from tests.support.store_making import BGFMT, digest


@pytest.fixture(scope="module")
def two() -> Iterator[DaskWorkers]:
    """A local cluster that several tests use, through its scheduler's address."""
    pytest.importorskip("distributed")
    with DaskWorkers("local:2") as workers:
        yield workers


def address_of(workers: DaskWorkers) -> str:
    return str(workers._client.scheduler.address)


@pytest.mark.slow
def test_a_cluster_makes_the_same_bytes(two: DaskWorkers, tmp_path: Path, made: dict[str, Path]) -> None:
    path = tmp_path / "s"
    solved = solve_table("two-sided", 6, 7, tmp_path / "o.bd", store=path, workers=address_of(two))
    assert digest(tmp_path / "o.bd") == digest(made["6x7"])
    assert (solved.read, solved.written) == solved.grid.bytes_moved


@pytest.mark.slow
def test_workers_may_be_killed(two: DaskWorkers, tmp_path: Path, made: dict[str, Path]) -> None:
    rng, killed = random.Random(3), []

    def kill(done: int, total: int) -> None:
        if rng.random() < 0.4 and len(killed) < 4:
            pids = [nanny.pid for nanny in two.local.workers.values() if nanny.pid]
            if pids:
                killed.append(rng.choice(pids))
                os.kill(killed[-1], signal.SIGKILL)

    solve_table("two-sided", 6, 7, tmp_path / "o.bd", workers=two, progress=kill, tiles=True)
    assert killed
    assert digest(tmp_path / "o.bd") == digest(made["6x7"])


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_scheduler_of_its_own(tmp_path: Path, made: dict[str, Path]) -> None:
    """`dask scheduler` and `dask worker` as processes; the commands solve and verify there."""
    pytest.importorskip("distributed")
    from tests.support.cluster_kills import scheduled

    def bgfmt_(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*BGFMT, *words], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=800
        )

    with scheduled(1) as (address, _):
        done = bgfmt_("solve", "two-sided", "6x5", "--cluster", address, "--store", "s", "-o", "o.bd")
        assert done.returncode == 0, done.stderr
        assert digest(tmp_path / "o.bd") == digest(made["6x5"])
        done = bgfmt_("verify", "s", "o.bd")
        assert (done.returncode, done.stdout.count(": proved: ")) == (0, 2), done.stderr


def test_no_cluster_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(CapabilityError, match=r"local:N or the address"):
        solve_table("two-sided", 3, 2, store=tmp_path / "s", workers="somewhere")
    pytest.importorskip("distributed")
    from bgfmt.extras.cluster import dask_workers

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask_workers, "LISTEN_SECONDS", 0.2)
        with pytest.raises(ClusterError, match="cannot start or reach the cluster: Connection refused"):
            solve_table("two-sided", 3, 2, store=tmp_path / "s", workers="tcp://127.0.0.1:9")
    lookups: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        lookup = socket.getaddrinfo
        patch.setattr(
            socket, "getaddrinfo", lambda *words, **more: (lookups.append(words), lookup(*words, **more))[1]
        )
        with pytest.raises(ClusterError, match=r"nobody\.invalid:1: cannot start or reach the cluster: "):
            solve_table("two-sided", 3, 2, store=tmp_path / "s", workers="tcp://nobody.invalid:1")
    assert len(lookups) < 5  # a name that nobody has is not looked up again and again
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask_workers, "LISTEN_SECONDS", 0.2)
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(
            ClusterError, match="cannot start or reach the cluster: the server there is not a Dask scheduler"
        ):
            solve_table("two-sided", 3, 2, store=tmp_path / "s", workers=address)
    assert not (tmp_path / "s").exists()


@pytest.mark.slow
def test_no_worker_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither at the beginning nor later is it waited for without end."""
    distributed: Any = pytest.importorskip("distributed")
    monkeypatch.setattr("bgfmt.extras.cluster.dask_workers.START_SECONDS", 1)
    with distributed.LocalCluster(
        n_workers=0, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50
    ) as alone:
        how: Any = {"store": tmp_path / "s", "workers": alone.scheduler_address}
        with pytest.raises(ClusterError, match="no worker connected within 1 seconds"):
            solve_table("two-sided", 3, 2, **how)
        alone.scale(1)
        monkeypatch.setattr("bgfmt.extras.cluster.dask_workers.START_SECONDS", 120)
        with DaskWorkers(alone.scheduler_address) as workers:
            monkeypatch.setattr("bgfmt.extras.cluster.dask_workers.START_SECONDS", 1)
            alone.scale(0)
            with pytest.raises(ClusterError, match="no worker has been connected for 1 seconds"):
                list(workers.run(time.sleep, [600]))


@pytest.mark.parametrize("name", ["distributed", "dask"])
def test_without_dask_it_says_at_once_what_to_install(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    assert run(["solve", "two-sided", "3x2", "-o", str(tmp_path / "o.bd"), "--cluster", "local:2"]) == 2
    assert re.fullmatch(r"bgfmt: a cluster needs Dask: pip install [^\n]*\n", capsys.readouterr().err)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("bokeh", [None, object()])
def test_the_dashboard_or_what_it_lacks(bokeh: object, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("bgfmt.extras.cluster.dask_workers.find_spec", lambda name: bokeh)
    lines: list[str] = []
    with DaskWorkers("local:1", lines.append) as workers:
        assert lines == [
            workers._client.dashboard_link if bokeh else "none without bokeh: pip install 'bgfmt[cluster]'"
        ]


@pytest.mark.slow
def test_the_scheduler_knows_all_tasks_at_once(two: DaskWorkers, tmp_path: Path) -> None:
    """So that its dashboard shows how many of how many are done, each behind those that it waits for."""
    keys = list(range(200))
    release = tmp_path / "release"

    def task(key: int) -> str:
        """All but the first wait until the tasks are counted."""
        while key and not release.exists():
            time.sleep(0.01)
        return str(key)

    work = two.run(task, keys, lambda key: [key - 1] if key else [])
    first = next(work)
    while two._client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)) < 199:
        time.sleep(0.01)  # they are on their way; the timeout of all tests ends a wait in vain
    release.touch()
    assert [first, *work] == [str(key) for key in keys]


@pytest.mark.slow
def test_the_dashboard_names_what_is_done(two: DaskWorkers, tmp_path: Path) -> None:
    solve_table("two-sided", 3, 2, store=tmp_path / "s", workers=address_of(two))
    assert bgfmt.verify(tmp_path / "s").exit_code == 0
    names = two._client.run_on_scheduler(lambda dask_scheduler: set(dask_scheduler.task_prefixes))
    assert "make_tile" in names


@pytest.mark.parametrize("words", [("--cluster", ""), ("--cluster", "local:0"), ("--store", "")])
def test_an_empty_name_is_not_none(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["solve", "two-sided", "3x2", "--quiet", "-o", "o.bd", *words]) == 2
    assert not list(tmp_path.iterdir())


def test_a_worker_of_another_version_makes_nothing(
    two: DaskWorkers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bgfmt.extras.cluster.dask_workers.VERSION", "0.0.9")
    with pytest.raises(ClusterError, match=r"a worker has bgfmt .*, but needs 0\.0\.9"):
        solve_table("two-sided", 3, 2, store=tmp_path / "s", workers=address_of(two))
    assert not list(tmp_path.glob("s/equities/c.*"))


def test_a_worker_without_bgfmt_is_given_nothing(two: DaskWorkers, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask's worker ends when it is given what it cannot import."""
    distributed: Any = import_module("distributed")
    asked = distributed.Client.get_versions

    def none(client: Any, **how: Any) -> Any:
        found = asked(client, **how)
        assert found["client"]["packages"]["bgfmt"]
        next(iter(found["workers"].values()))["packages"]["bgfmt"] = None
        return found

    monkeypatch.setattr(distributed.Client, "get_versions", none)
    with pytest.raises(
        ClusterError,
        match=r"cannot start or reach the cluster: bgfmt is not installed on the worker at tcp://.*$",
    ):
        DaskWorkers(address_of(two))


def test_a_store_that_workers_do_not_see_is_one_line(two: DaskWorkers, tmp_path: Path) -> None:
    """Else each would fill one of its own."""
    from bgfmt.extras.large.tiles import TileSolve, grid_of

    making = TileSolve(str(tmp_path / "s"), "equities", grid_of(3, 2, columns=4))
    with pytest.raises(ClusterError, match="the machine of a worker, cannot see /"):
        list(two.run(making.make_tile, making.grid.tiles()))
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_disk_that_fills_up_is_one_line_and_no_loss(
    two: DaskWorkers, tmp_path: Path, made: dict[str, Path]
) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "size=30m", "tmpfs", tmp_path]
    if os.getuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("this machine mounts nothing")
    try:
        other = tmp_path / "other"

        def fill(done: int, total: int) -> None:
            if done > total // 4 and not other.exists():
                with other.open("wb") as file, contextlib.suppress(OSError):
                    while True:
                        file.write(bytes(1 << 16))

        for cluster in (None, address_of(two)):
            how: dict[str, Any] = {"store": tmp_path / "s", "workers": cluster}
            with pytest.raises((OSError, ClusterError), match="No space left") as caught:
                solve_table("two-sided", 6, 7, progress=fill, **how)
            assert "\n" not in str(caught.value)
            other.unlink()
            assert solve_table("two-sided", 6, 7, resume=True, **how).found
            bgfmt.convert(tmp_path / "s", tmp_path.parent / "o.bd", to="gnubg-ts", force=True)
            assert digest(tmp_path.parent / "o.bd") == digest(made["6x7"])
            shutil.rmtree(tmp_path / "s")
    finally:
        subprocess.run(["umount", tmp_path], check=True)


#: runs a command that hears interrupts, also where those who started the tests do not
HEAR_INTERRUPTS = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "killpg"), reason="this system has no groups of processes")
def test_an_interrupt_is_one_line(tmp_path: Path) -> None:
    """Of all the processes that it reaches, however far they have come."""
    pytest.importorskip("distributed")
    command = [*BGFMT, "solve", "two-sided", "6x10", "--quiet", "--cluster", "local:2", "-o", "o.bd"]
    with subprocess.Popen(
        [sys.executable, "-c", HEAR_INTERRUPTS, *command],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as begun:
        while not any("spawn_main" in line for line in commands_below(begun.pid)):
            time.sleep(0.01)
        time.sleep(0.5)
        os.killpg(begun.pid, signal.SIGINT)
        _, said = begun.communicate(timeout=800)
    assert begun.returncode == 130, said
    assert said.count("\n") == 1, said
    assert not (tmp_path / "o.bd").exists()


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="this system has no masks of signals")
def test_starting_workers_leaves_interrupts_as_they_were() -> None:
    """Neither blocked nor ignored for whom this process starts later; one that is ignored is not heard either."""
    from bgfmt.extras.cluster.dask_workers import _block_interrupts

    masked, handler = signal.pthread_sigmask(signal.SIG_BLOCK, ()), signal.getsignal(signal.SIGINT)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        for own in (signal.SIG_IGN, signal.default_int_handler):
            signal.signal(signal.SIGINT, own)
            heard = pytest.raises(KeyboardInterrupt) if callable(own) else contextlib.nullcontext()
            finished = False
            with heard, _block_interrupts():
                # to this thread: other tests may have left threads behind, which a signal may choose
                signal.pthread_kill(threading.get_ident(), signal.SIGINT)
                finished = True
            assert finished
            assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
            assert signal.getsignal(signal.SIGINT) is own
    finally:
        signal.signal(signal.SIGINT, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, masked)


def commands_below(pid: int) -> list[str]:
    """Command lines of the processes below one."""
    psutil: Any = import_module("psutil")
    with contextlib.suppress(psutil.Error):
        return [" ".join(p.cmdline()) for p in psutil.Process(pid).children(recursive=True)]
    return []


@pytest.mark.slow
def test_nothing_is_imported_without_the_option(tmp_path: Path) -> None:
    """Neither by a solve through a store nor by the commands that read one."""
    code = """
import os, sys
import bgfmt.cli
verbs = ["solve two-sided 3x3 --quiet --store s -o o.bd", "info s", "lookup s #5", "verify s o.bd", "diff s o.bd",
         "convert s c.bd", "solve two-sided 3x2 --quiet -o a.bd", "solve two-sided 7x12 --store t --plan", "formats"]
codes = [bgfmt.cli.run(verb.split()) for verb in verbs]
others = ("dask", "distributed", "zarr", "numba_cuda", "numba.cuda", "cuda", "fsspec", "multiprocessing.forkserver")
print([m for m in others if m in sys.modules], codes)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == f"[] {[0] * 9}"
