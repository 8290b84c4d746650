from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.checkpoint.log import ManifestLog
from firesteel.checkpoint.manifest import Manifest, OperatorSnapshot
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.recovery import catch_up, read_at
from firesteel.checkpoint.runs import write_run
from firesteel.common.errors import FencedError, StateCorruptedError
from firesteel.state.disk.copy import Reader, WorkingStore, close_working_stores, open_working_store
from firesteel.state.keys.groups import key_group_range
from firesteel.state.live.durable import RunRef

MAX_PARALLELISM = 8
BROADCAST = 0xFFFF
Change = tuple[int, int, int]  # state id, key group, key


def encode(change: Change) -> bytes:
    state, group, key = change
    return state.to_bytes(2, "big") + group.to_bytes(2, "big") + bytes([key])


@dataclass
class Job:
    """Writes epochs as tasks and driver do, and knows what the state must be."""

    directory: Path
    epoch: int = 0
    expected: dict[bytes, bytes] = field(default_factory=dict)
    last_runs: dict[tuple[int, int], RunRef] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.storage = Storage.of(self.directory / "state")
        self.log = ManifestLog.open_or_create(self.storage, MAX_PARALLELISM)

    def commit(self, parallelism: int, changes: dict[Change, bytes | None]) -> None:
        self.epoch += 1
        self.last_runs = {}
        for subtask in range(parallelism):
            groups = key_group_range(subtask, parallelism, MAX_PARALLELISM)
            mine = {encode(c): value for c, value in changes.items() if c[1] in groups or c[1] == BROADCAST}
            run = write_run(
                self.storage,
                f"runs/{self.epoch}-{subtask}.run",
                sorted(mine.items()),
                epoch=self.epoch,
                operator="op",
                subtask=subtask,
                first_group=groups[0],
                last_group=groups[-1],
            )
            if run is not None:
                self.last_runs[groups[0], groups[-1]] = run
        snapshot = OperatorSnapshot("op", parallelism, [], [], {}, list(self.last_runs.values()))
        self.log.append(
            Manifest("job", self.epoch, MAX_PARALLELISM, {"op": snapshot}, {}, {}, 0, False, 0, "1")
        )
        for change, value in changes.items():
            if value is None:
                self.expected.pop(encode(change), None)
            else:
                self.expected[encode(change)] = value

    def expected_of(self, groups: range) -> list[tuple[bytes, bytes]]:
        numbers = {group.to_bytes(2, "big") for group in [*groups, BROADCAST]}
        return sorted(entry for entry in self.expected.items() if entry[0][2:4] in numbers)

    def copy(self, machine: int, subtask: int, groups: range) -> WorkingStore:
        directory = self.directory / f"machine-{machine}" / str(subtask)
        return open_working_store(directory, "job", groups[0], groups[-1])

    def read(self, machine: int, parallelism: int, subtask: int) -> list[tuple[bytes, bytes]]:
        groups = key_group_range(subtask, parallelism, MAX_PARALLELISM)
        bounds = (groups[0], groups[-1])
        store = self.copy(machine, subtask, groups)
        with read_at(store, self.storage, "op", bounds, self.epoch, self.last_runs.get(bounds)) as reader:
            return list(reader.scan(b""))


CHANGES = st.dictionaries(
    st.tuples(st.integers(0, 1), st.integers(0, 7) | st.just(BROADCAST), st.integers(0, 3)),
    st.none() | st.binary(max_size=3),
    max_size=10,
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("commit"), st.integers(1, 4), CHANGES),
        st.tuples(st.just("read"), st.integers(0, 1), st.integers(1, 4)),
        st.tuples(st.just("lose"), st.integers(0, 1), st.none()),
    ),
    min_size=4,
    max_size=20,
)


@settings(max_examples=40)
@given(steps=STEPS)
def test_any_machine_at_any_parallelism_reads_the_committed_state(steps: list[tuple[Any, Any, Any]]) -> None:
    with TemporaryDirectory() as directory:
        job = Job(Path(directory))
        for kind, argument, more in [*steps, ("read", 0, 3), ("read", 1, 1)]:
            if kind == "commit":
                job.commit(argument, more)
            elif kind == "lose":
                shutil.rmtree(job.directory / f"machine-{argument}", ignore_errors=True)
            else:
                for subtask in range(more):
                    expected = job.expected_of(key_group_range(subtask, more, MAX_PARALLELISM))
                    assert job.read(argument, more, subtask) == expected
        close_working_stores(job.directory)


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return Job(tmp_path)


ALL = range(MAX_PARALLELISM)
BOUNDS = (0, MAX_PARALLELISM - 1)


def test_the_run_passed_along_is_all_that_is_read(job: Job) -> None:
    job.commit(1, {(0, 0, 0): b"1"})
    job.read(0, 1, 0)
    job.commit(1, {(0, 0, 0): b"2"})
    job.storage.delete("manifests/000000000001")
    job.storage.delete("manifests/000000000002")
    assert job.read(0, 1, 0) == [(encode((0, 0, 0)), b"2")]


def test_a_damaged_run_stops_recovery_where_it_is(job: Job) -> None:
    for epoch in range(1, 6):
        job.commit(1, {(0, 0, 0): b"%d" % epoch})
    damaged = job.log.layers("op", 2, 3)[0].runs[0]
    job.storage.put(damaged.path, b"damaged")
    store = job.copy(0, 0, ALL)
    with pytest.raises(StateCorruptedError, match=damaged.path):
        catch_up(store, job.storage, "op", BOUNDS, 5, None)
    assert store.version == 2


def test_a_driver_that_is_behind_is_told(job: Job) -> None:
    for epoch in range(1, 4):
        job.commit(1, {(0, 0, 0): b"%d" % epoch})
    job.read(0, 1, 0)
    with pytest.raises(FencedError, match="is at epoch 3, while this driver is at epoch 2"):
        read_at(job.copy(0, 0, ALL), job.storage, "op", BOUNDS, 2, None)


def test_a_copy_ahead_of_a_history_that_was_cut_starts_over(job: Job) -> None:
    for epoch in range(1, 4):
        job.commit(1, {(0, 0, epoch): b"x"})
    job.read(0, 1, 0)
    job.storage.delete("manifests/000000000003")
    with read_at(job.copy(0, 0, ALL), job.storage, "op", BOUNDS, 2, None) as reader:
        assert (reader.version, len(list(reader.scan(b"")))) == (2, 2)


def test_another_process_that_overtakes_is_noticed(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    job.commit(1, {(0, 0, 0): b"1"})
    store = job.copy(0, 0, ALL)
    read = store.read

    def overtaken() -> Reader:
        store.apply(2, [])
        return read()

    monkeypatch.setattr(store, "read", overtaken)
    with pytest.raises(FencedError):
        read_at(store, job.storage, "op", BOUNDS, 1, None)
