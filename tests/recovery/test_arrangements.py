"""Operators with arrangements: subtasks wander between processes, attempts are lost, the parallelism changes."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import cloudpickle
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.checkpoint.attach import CheckpointedState
from firesteel.checkpoint.compaction import merge
from firesteel.checkpoint.log import ManifestLog
from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import StateMismatchError
from firesteel.control.clock import Moment
from firesteel.control.journal import Journal
from firesteel.control.maintenance import Maintenance, MaintenancePolicy
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.keying import KeyColumnsEdge
from firesteel.runtime.operator import Epoch, Operator, OperatorContext, OperatorReport
from firesteel.runtime.outbox import Row
from firesteel.runtime.plan import Distribution, EdgeSpec, EpochPlan, OperatorSpec, Plan, TaskReport
from firesteel.runtime.task import Worker, read_results, run_task
from firesteel.state.arrangements import shelf
from firesteel.state.arrangements.layout import Kind, Layout

GROUPS = 16
KEYS = 7
COUNTS = Layout(pa.schema([("key", pa.int64()), ("count", pa.int64())]), ("key",))
ODD = Layout(pa.schema([("key", pa.int64())]), ("key",))
RECENT = Layout(pa.schema([("epoch", pa.int64()), ("key", pa.int64())]), ("key",), leading="epoch")
FRESH = Layout(pa.schema([("key", pa.int64())]), ("key",), Kind.MULTISET, time_to_live=25)
PASSED_MS = 10
"""The time from epoch to epoch."""

RECORDS = Layout(pa.schema([("key", pa.int64()), ("record", pa.int64())]), ("key",), Kind.MULTISET)

pytestmark = pytest.mark.usefixtures("machine")


@pytest.fixture(autouse=True, scope="module")
def _no_flush() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        patch.setattr(shelf, "IN_MEMORY", 100)
        yield


class Feed(Operator[ColumnBatch]):
    """Emits the keys that the test gives for the epoch."""

    keys: ClassVar[list[int]] = []

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._left = True

    def process(self, batch: ColumnBatch, port: int) -> None:
        raise AssertionError

    def pump(self) -> bool:
        if self._left:
            mine = self.keys[self.context.subtask :: self.context.parallelism]
            rows = pa.RecordBatch.from_pydict({"key": pa.array(mine, pa.int64())})
            self.output.emit(ColumnBatch(rows))
        self._left = False
        return False


class Count(Operator[ColumnBatch]):
    """Counts the records of each key, and keeps the records: key k's n-th record is n; reports all that it has.

    It also keeps the keys with an odd count, those of the last three epochs, and those of the last 25 ms.
    """

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        assert context.arrangements is not None
        self.counts = context.arrangements.declare("counts", COUNTS)
        self.records = context.arrangements.declare("records", RECORDS)
        self.odd = context.arrangements.declare("odd", ODD)
        self.recent = context.arrangements.declare("recent", RECENT)
        self.fresh = context.arrangements.declare("fresh", FRESH)

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self.number = epoch.facts.number
        self.recent.drop_up_to(self.number - 3)

    def process(self, batch: ColumnBatch, port: int) -> None:
        keys, times = np.unique(batch.rows["key"].to_numpy(), return_counts=True)
        asked = pa.RecordBatch.from_pydict({"key": keys})
        before = np.zeros(len(keys), np.int64)
        found = self.counts.get(asked)
        before[found.keys] = found.rows["count"].to_numpy()
        self.counts.put(pa.RecordBatch.from_pydict({"key": keys, "count": before + times}))
        numbers = [
            first + place for first, count in zip(before, times, strict=True) for place in range(count)
        ]
        rows = {"key": np.repeat(keys, times), "record": np.array(numbers, np.int64)}
        self.records.put(pa.RecordBatch.from_pydict(rows))
        self.odd.change(asked, np.where((before + times) % 2, 1, -1))
        numbers_of = np.full(len(keys), self.number)
        self.recent.put(pa.RecordBatch.from_pydict({"epoch": numbers_of, "key": keys}))
        self.fresh.put(asked)

    def end_epoch(self) -> OperatorReport:
        counts, odd, recent, fresh = (
            [row for batch in kept.rows() for row in batch.to_pylist()]
            for kept in (self.counts, self.odd, self.recent, self.fresh)
        )
        found = self.records.of(pa.RecordBatch.from_pydict({"key": np.arange(KEYS)}))
        records = list(zip(found.rows.to_pylist(), found.weights.tolist(), strict=True))
        return OperatorReport(committables=[(counts, records, odd, recent, fresh)])


def plan_of(parallelism: int, count: type[Operator[Any]] = Count) -> Plan:
    operators = tuple(
        OperatorSpec(
            index, name * 32, kind.__name__, kind.__name__, "op", index, parallelism, GROUPS,
            cloudpickle.dumps(kind), None, keyed=False, stateful=False, ports=index,
        )
        for index, (name, kind) in enumerate([("a", Feed), ("b", count)])
    )  # fmt: skip
    functions = cloudpickle.dumps(KeyColumnsEdge(("key",), parallelism, GROUPS))
    edge = EdgeSpec(
        0,
        0,
        1,
        0,
        Distribution.HASH,
        parallelism,
        parallelism,
        GROUPS,
        local=False,
        who="e",
        functions=functions,
    )
    return Plan("job", GROUPS, operators, (edge,))


class Job:
    """A job whose tasks run in several processes, and the number of records of each key."""

    def __init__(self, directory: str, seed: int) -> None:
        self.url = directory
        self.shared = seed % 3 > 0
        self.storage = Storage.of(directory)
        self.random = random.Random(seed)
        self.journal = Journal(
            ManifestLog.open_or_create(self.storage, GROUPS), self.storage, plan_of(1), retained=2
        )
        self.journal.recover()
        policy = MaintenancePolicy(compact_every=3, collect_every=3, inline=True)
        self.maintenance = Maintenance(self.storage, Merger(self.storage), policy)  # type: ignore[arg-type]
        self.processes = [self.process() for _ in range(3)]
        self.parallelism = 1
        self.model = Counter[int]()
        self.epochs: list[list[int]] = []
        self.tries = 0

    def process(self) -> tuple[Worker, CheckpointedState]:
        return Worker(), CheckpointedState(self.url, shared=self.shared)

    def epoch(self, keys: list[int], *, lost: bool = False, plan: Plan | None = None) -> None:
        self.tries += 1
        plan = plan or plan_of(self.parallelism)
        self.journal.go_on_with(plan)
        epoch = self.journal.next_epoch("driver", f"{self.tries}", 1, self.now(), False, {})
        Feed.keys = keys
        reports = self.run(plan, epoch)
        if lost:
            return
        compaction = self.maintenance.take_compaction(epoch.facts.lineage)
        self.journal.commit(epoch, [report for task in reports for report in task.subtasks], {}, compaction)
        self.maintenance.after_epoch(self.journal.last)  # type: ignore[arg-type]
        self.model.update(keys)
        self.epochs.append(keys)
        self.check(reports)

    def now(self) -> Moment:
        return Moment(PASSED_MS * len(self.epochs), 0)

    def run(self, plan: Plan, epoch: EpochPlan) -> list[TaskReport]:
        rows: list[Row] = []
        for level, width in enumerate(plan.levels):
            ordered, rows = sorted(rows, key=lambda row: (row[3], row[2])), []
            for subtask in range(width):
                mine = [row for row in ordered if row[0] == subtask]
                for again in (True, False) if self.random.random() < 0.2 else (False,):
                    facts = replace(epoch.facts, attempt=f"{epoch.facts.attempt}-{again}")
                    task = plan, replace(epoch, facts=facts), level, subtask, mine
                    made = [*run_task(*task, *self.random.choice(self.processes))]
                rows += made
        return read_results(rows)

    def check(self, reports: list[TaskReport]) -> None:
        counts, records = Counter[int](), Counter[tuple[int, int]]()
        odd, recent, fresh = Counter[Any](), Counter[Any](), Counter[Any]()
        for task in reports:
            for report in task.subtasks:
                for found, kept, *others in report.committables:
                    for known, rows in zip((odd, recent, fresh), others, strict=True):
                        known.update(tuple(row.values()) for row in rows)
                    counts.update({row["key"]: row["count"] for row in found})
                    records.update({(row["key"], row["record"]): weight for row, weight in kept})
        assert counts == self.model
        assert records == Counter(
            (key, number) for key, count in self.model.items() for number in range(count)
        )
        last = [*enumerate(self.epochs, 1)][-3:]
        assert odd == Counter((key,) for key, count in self.model.items() if count % 2)
        assert recent == Counter({(number, key) for number, keys in last for key in keys})
        assert fresh == Counter({(key,) for _, keys in last for key in keys})


class Merger:
    """Merges in this process."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def merge(self, task: Any) -> Any:
        return merge(self._storage, task)


keys = st.lists(st.integers(0, KEYS - 1), max_size=12)
steps = st.lists(
    st.tuples(st.just("epoch"), keys)
    | st.tuples(st.just("lost"), keys)
    | st.tuples(st.just("process"), st.integers(0, 2))
    | st.tuples(st.just("rescale"), st.integers(1, 3)),
    max_size=16,
)


@given(steps, st.integers(0, 1000))
@settings(max_examples=60)
def test_arrangements_are_those_of_the_committed_history(given: list[Any], seed: int) -> None:
    with TemporaryDirectory() as directory:
        job = Job(directory, seed)
        for step, value in given:
            if step == "process":
                job.processes[value] = job.process()
            elif step == "rescale":
                job.parallelism = value
            else:
                job.epoch(value, lost=step == "lost")
        job.epoch([0])


def test_a_long_history_of_few_keys_is_compacted(tmp_path: Path) -> None:
    job = Job(str(tmp_path), 1)
    for number in range(40):
        job.parallelism = 1 + number % 3
        job.epoch([number % KEYS, number % 2])
    assert len([*job.storage.list("runs")]) < 60


@pytest.mark.parametrize("seed", range(3))
def test_changes_that_were_merged_meanwhile_are_not_added_twice(tmp_path: Path, seed: int) -> None:
    job = Job(str(tmp_path), seed)
    job.parallelism = 2
    for number in range(30):
        job.epoch([number % KEYS, number % 3], lost=number % 5 == 4)


class Other(Count):
    """Declares its arrangement with another column."""

    def open(self, context: OperatorContext) -> None:
        assert context.arrangements is not None
        context.arrangements.declare("counts", replace(COUNTS, rows=RECORDS.rows))


def test_another_layout_is_refused(tmp_path: Path) -> None:
    job = Job(str(tmp_path), 1)
    job.epoch([1])
    job.processes = [job.process()]
    with pytest.raises(StateMismatchError, match=r"arrangement 'counts'.*must have the columns"):
        job.epoch([1], plan=plan_of(1, Other))


class Patient(Count):
    """Keeps rows longer."""

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        assert context.arrangements is not None
        context.arrangements.declare("more", replace(FRESH, time_to_live=PASSED_MS))


class MorePatient(Count):
    def open(self, context: OperatorContext) -> None:
        super().open(context)
        assert context.arrangements is not None
        context.arrangements.declare("more", replace(FRESH, time_to_live=2 * PASSED_MS))


class Eternal(Count):
    def open(self, context: OperatorContext) -> None:
        super().open(context)
        assert context.arrangements is not None
        context.arrangements.declare("more", replace(FRESH, time_to_live=None))


def test_only_the_length_of_life_may_change(tmp_path: Path) -> None:
    job = Job(str(tmp_path), 1)
    job.epoch([1], plan=plan_of(1, Patient))
    job.processes = [job.process()]
    job.epoch([1], plan=plan_of(1, MorePatient))
    job.processes = [job.process()]
    with pytest.raises(StateMismatchError, match="arrangement 'more'"):
        job.epoch([1], plan=plan_of(1, Eternal))


@pytest.mark.parametrize("parallelism", [1, 2])
def test_what_was_deleted_stays_so_for_a_process_that_missed_a_merge_of_everything(
    tmp_path: Path, parallelism: int
) -> None:
    job = Job(str(tmp_path), 1)
    job.parallelism = parallelism
    first, second, _ = job.processes
    for number in range(12):
        job.processes = [first if number % 5 == 0 else second]
        job.epoch([number % KEYS, 0, (number + 1) % KEYS])
