"""The process that takes epochs over: it does the work of who reads, and nothing depends on it."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from firesteel.checkpoint import following
from firesteel.checkpoint.following import Follower
from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import StateCorruptedError
from firesteel.queryable import copies
from firesteel.queryable.reader import StateReader
from firesteel.state.disk.copy import WorkingStore
from tests.queryable.test_read_committed import EVENTS, RECORDS, build, expected, read_whole
from tests.recovery.jobs import Watch, environment, start

SECONDS = 60
FIRST, LAST = 2, len(EVENTS) // RECORDS


@pytest.fixture
def follower(machine: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Follower]:
    follower = Follower()
    assert follower.ready(SECONDS) is not None
    monkeypatch.setattr(following, "_SOON_SECONDS", SECONDS)
    yield follower
    follower.close()


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """At which epochs the copy was when this process came to it."""
    found: list[int] = []
    read_at = copies.read_at

    def noted(store: WorkingStore, *arguments: object) -> object:
        found.append(store.version)
        return read_at(store, *arguments)

    monkeypatch.setattr(copies, "read_at", noted)
    return found


def read_each_epoch(
    directory: Path, follower: Follower, before: Callable[[int], None] = lambda _: None
) -> StateReader:
    """Run a job, and read its state after each epoch from the second on; return the reader."""
    readers: list[StateReader] = []

    def act(_: object, stats: object) -> None:
        if stats.epoch == FIRST:
            readers.append(StateReader(str(directory / "state"), follower=follower))
        if readers:
            before(stats.epoch)
            snapshot = readers[0].snapshot("count")
            assert snapshot.epoch == stats.epoch
            assert read_whole(snapshot) == (expected(stats.epoch),) * 2

    watch = Watch(act)
    with environment(directory, epoch_records=RECORDS, parallelism=2, listener=watch) as env:
        build(env, lambda _: None)
        start(env, watch).wait(120)
    return readers[0]


def test_what_epochs_changed_is_there_when_who_reads_comes(
    tmp_path: Path, follower: Follower, versions: list[int]
):
    read_each_epoch(tmp_path, follower).close()
    assert versions == [0, *range(FIRST + 1, LAST + 1)]  # all of the state is taken over by who reads


def test_who_reads_does_not_need_the_process(tmp_path: Path, follower: Follower, versions: list[int]):
    pid = follower.ready(0)

    def kill(epoch: int) -> None:
        if epoch == 10:
            os.kill(pid, signal.SIGKILL)
        if epoch == 20:
            assert follower.ready(SECONDS) not in (None, pid)

    read_each_epoch(tmp_path, follower, kill).close()
    own = [
        version for epoch, version in zip(range(FIRST, LAST + 1), versions, strict=True) if epoch != version
    ]
    assert own[:2] == [0, 9]
    assert set(own[2:]) <= set(range(10, 19))


def test_who_reads_does_not_wait_for_the_process(
    tmp_path: Path, follower: Follower, versions: list[int], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(following, "_SOON_SECONDS", 0.01)
    pid = follower.ready(0)

    def halt(epoch: int) -> None:
        if epoch == 10:
            os.kill(pid, signal.SIGSTOP)
        if epoch == 20:
            os.kill(pid, signal.SIGCONT)
            monkeypatch.setattr(following, "_SOON_SECONDS", SECONDS)
            assert follower.ready(SECONDS) == pid

    read_each_epoch(tmp_path, follower, halt).close()
    met = dict(zip(range(FIRST, LAST + 1), versions, strict=True))
    assert [met[epoch] for epoch in range(10, 20)] == list(range(9, 19))
    assert [met[epoch] for epoch in range(20, LAST + 1)] == list(range(20, LAST + 1))


def test_between_two_steps_the_process_has_no_file_of_a_copy_open(tmp_path: Path, follower: Follower):
    read_each_epoch(tmp_path, follower).close()
    place = Path(f"/proc/{follower.ready(0)}")
    opened = [str(link.readlink()) for link in (place / "fd").iterdir()]
    assert [path for path in opened if path.startswith(str(tmp_path))] == []
    assert str(tmp_path) not in (place / "maps").read_text()


def test_a_damaged_file_is_reported_to_who_reads(tmp_path: Path, follower: Follower):
    def damage(epoch: int) -> None:
        if epoch == 10:
            storage = Storage.of(str(tmp_path / "state"))
            for entry in storage.entries("runs"):
                if f"{epoch:012d}-" in entry.path:
                    (tmp_path / "state" / entry.path).write_bytes(b"nonsense")

    with pytest.raises(StateCorruptedError, match="damaged"):
        read_each_epoch(tmp_path, follower, damage)
    assert follower.ready(0) is not None


def test_it_ends_with_the_process_that_has_started_it(tmp_path: Path):
    program = (
        "import os, signal\n"
        "from firesteel.checkpoint.following import Follower\n"
        f"print(Follower().ready({SECONDS}), flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert ended(int(killed.stdout))


def ended(pid: int) -> bool:
    """Whether a process ends that is no child of this one."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], SECONDS)[0])
    finally:
        os.close(descriptor)
