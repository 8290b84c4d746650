"""A disk that is full: the job ends with an error that names the directory, and goes on when there is room."""

from __future__ import annotations

import hashlib
import logging
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from firesteel.checkpoint.log import ManifestLog
from firesteel.checkpoint.objects import STAGED, Storage
from firesteel.common.errors import StateError
from firesteel.datastream.functions import KeyedProcessFunction
from firesteel.datastream.state import ValueStateDescriptor
from firesteel.state.disk.copy import close_working_stores, open_working_store
from tests.recovery import ledger
from tests.recovery.jobs import environment, restarting

PAGE = 4096
EVENTS = 30


class Disk:
    """A small file system, of which a part is taken up."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def leave(self, size: int) -> None:
        """Take up all but `size` bytes."""
        self.free()
        total = shutil.disk_usage(self.path).free
        with (self.path / "filler").open("wb") as filler:
            filler.write(b"\0" * (total - size))

    def free(self) -> None:
        """Give back what was taken up."""
        (self.path / "filler").unlink(missing_ok=True)


@pytest.fixture
def disk(tmp_path):
    path = tmp_path / "disk"
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("needs the command mount, to make a small file system")
    if done.returncode:
        pytest.skip(f"needs the right to mount a small file system: {done.stderr.strip()}")
    yield Disk(path)
    close_working_stores(path)
    subprocess.run(["umount", "--lazy", str(path)], check=True)


@pytest.fixture
def directory(tmp_path, machine):
    yield tmp_path
    ledger.forget(str(tmp_path))


class Remember(KeyedProcessFunction):
    """Keeps what does not get smaller when it is compressed: `size` bytes for a key and an event."""

    def __init__(self, size):
        self.size = size

    def open(self, runtime_context):
        self.seen = runtime_context.get_state(ValueStateDescriptor("seen"))

    def process_element(self, value, ctx):
        seen = self.seen.value() or b""
        self.seen.update(seen + noise(value, self.size))
        yield ctx.get_current_key(), hashlib.sha256(self.seen.value()).hexdigest()


def noise(seed, size):
    return b"".join(hashlib.sha256(b"%d %d" % (seed, part)).digest() for part in range(size // 32))


def run(directory, size=6400, **more):
    """Remember 30 events under 3 keys, in epochs of 5."""
    with environment(directory, **{"epoch_records": 5, **more}) as env:
        remembered = (
            env.from_collection(range(EVENTS)).key_by(lambda value: value % 3).process(Remember(size))
        )
        remembered.sink_to(ledger.LedgerSink(str(directory)))
        env.execute()


def expected(size=6400):
    rows = []
    for key in range(3):
        seen = b""
        for value in range(key, EVENTS, 3):
            seen += noise(value, size)
            rows.append((key, hashlib.sha256(seen).hexdigest()))
    return Counter(rows)


def rows(directory):
    return Counter(ledger.rows(str(directory)))


def test_a_full_state_directory(directory, disk):
    state = disk.path / "state"
    disk.leave(300_000)
    for _ in range(2):
        with pytest.raises(StateError) as error:
            run(directory, state_dir=str(state))
        assert re.search(
            rf"{state}/\S+ cannot be written; got .*No space left.*\n.*the disk of {state}/\S+ is full",
            str(error.value),
        )
    committed = rows(directory).total()
    assert 0 < committed < EVENTS
    assert Storage.of(state).list(STAGED) == []
    disk.free()
    run(directory, state_dir=str(state))
    assert rows(directory) == expected()


def failure(directory, **more):
    """Run; return the error, None if there is none."""
    try:
        run(directory, 320, epoch_records=10, **more)
    except StateError as error:
        return error
    return None


def test_wherever_the_state_directory_is_full(tmp_path, disk, machine):
    """Each job has a page more than the one before, until one is through; all go on when there is room."""
    failed = set()
    for pages in range(500):
        state, directory = disk.path / f"state-{pages}", tmp_path / f"output-{pages}"
        directory.mkdir()
        disk.leave(pages * PAGE)
        machine("0")
        said = failure(directory, state_dir=str(state))
        disk.free()
        machine("1")
        assert failure(directory, state_dir=str(state)) is None
        assert rows(directory) == expected(320)
        ledger.forget(str(directory))
        if said is None:
            break
        failed.add(
            re.search(rf"(?:^|: ){state}/(\w+)\S* cannot be written; got .*No space left", str(said))[1]
        )
    assert failed >= {"job", "runs", "manifests"}


class MakesRoom(logging.Handler):
    """Frees a disk when it is reported to be full."""

    def __init__(self, disk):
        super().__init__()
        self.disk = disk
        self.reports = []

    def emit(self, record):
        self.reports.append(record.getMessage())
        self.disk.free()


def test_room_that_is_made_in_time_is_used_by_the_restart_strategy(directory, disk):
    log, operator = logging.getLogger("firesteel.control"), MakesRoom(disk)
    log.addHandler(operator)
    disk.leave(100_000)
    try:
        run(directory, state_dir=str(disk.path / "state"), options=restarting(3))
    finally:
        log.removeHandler(operator)
    [report] = operator.reports
    assert re.search("the job is restarted: .*No space left", report)
    assert rows(directory) == expected()


def test_a_full_directory_for_working_copies(directory, disk, monkeypatch):
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(disk.path))
    disk.leave(120_000)
    for _ in range(2):
        with pytest.raises(StateError) as error:
            run(directory)
        assert re.search(
            rf"the working copy {disk.path}/\S+ cannot be (used|made); got .*\n.*check that the .*disk has room",
            str(error.value),
        )
    assert 0 < rows(directory).total() < EVENTS
    disk.free()
    run(directory)
    assert rows(directory) == expected()


def test_wherever_the_directory_for_working_copies_is_full(directory, disk, monkeypatch):
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(disk.path))
    said = []
    for pages in range(500):
        disk.leave(pages * PAGE)
        said.append(failure(directory))
        if said[-1] is None:
            break
        assert f"{disk.path}" in str(said[-1])
    assert len(said) > 3
    log = ManifestLog.open(Storage.of(directory / "state"))
    epochs = [(epoch, log.read(epoch).finished, log.read(epoch).records) for epoch in log.epochs()]
    assert epochs == [(1, False, 10), (2, False, 10), (3, True, 10)], said
    assert rows(directory) == expected(320), said


def test_a_working_copy_is_opened_once_there_is_room(disk):
    """What could not be opened is closed, even if its error is kept, as a report of failures keeps it."""
    errors = []
    for pages in range(20):
        disk.leave(pages * PAGE)
        try:
            store = open_working_store(disk.path / "copy", "history", 0, 127)
        except StateError as error:
            errors.append(error)
    assert {str(error.__cause__) for error in errors} == {
        "[Errno 28] No space left on device",
        "mdb_txn_commit: Input/output error",
    }
    store.apply(1, [(b"key", b"value")])
    with store.read() as reader:
        assert reader.get(b"key") == b"value"


def test_a_full_directory_for_temporary_files(directory, disk, monkeypatch):
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(disk.path))
    monkeypatch.setattr("firesteel.checkpoint.runs._IN_MEMORY", 1000)
    disk.leave(PAGE)
    who = f"a temporary file in {disk.path}"
    with pytest.raises(StateError, match=f"{who} cannot be written; got .*No space left"):
        run(directory)
    disk.free()
    run(directory)
    assert rows(directory) == expected()
