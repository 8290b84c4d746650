"""Operators with arrangements: subtasks wander between processes, attempts are lost, the parallelism changes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from firesteel.common.errors import StateMismatchError
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.operator import Epoch, Operator, OperatorContext, OperatorReport
from firesteel.runtime.plan import Plan
from firesteel.state.arrangements import shelf
from firesteel.state.arrangements.layout import Kind, Layout
from tests.recovery.wandering_jobs import KEYS, PASSED_MS, Feed, WanderingJob, plan_of, steps

COUNTS = Layout(pa.schema([("key", pa.int64()), ("count", pa.int64())]), ("key",))
ODD = Layout(pa.schema([("key", pa.int64())]), ("key",))
RECENT = Layout(pa.schema([("epoch", pa.int64()), ("key", pa.int64())]), ("key",), leading="epoch")
FRESH = Layout(pa.schema([("key", pa.int64())]), ("key",), Kind.MULTISET, time_to_live=25)
RECORDS = Layout(pa.schema([("key", pa.int64()), ("record", pa.int64())]), ("key",), Kind.MULTISET)

pytestmark = pytest.mark.usefixtures("machine")


@pytest.fixture(autouse=True, scope="module")
def _no_flush() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        patch.setattr(shelf, "IN_MEMORY", 100)
        yield


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


class CountJob(WanderingJob):
    """Compares all that the operator has with the model."""

    def __init__(self, directory: str, seed: int, operator: type[Operator[Any]] = Count) -> None:
        self.operator = operator
        super().__init__(directory, seed)

    def plan(self) -> Plan:
        return plan_of(self.parallelism, (Feed, 0), (self.operator, 1))

    def check(self, committed: list[Any]) -> None:
        counts, records = Counter[int](), Counter[tuple[int, int]]()
        odd, recent, fresh = Counter[Any](), Counter[Any](), Counter[Any]()
        for found, kept, *others in committed:
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


LOST_BETWEEN = [("epoch", []), ("rescale", 3), ("lost", []), ("rescale", 1), ("epoch", [0]), ("rescale", 3)]
"""An attempt of an epoch that changed nothing, and then the same epoch at another parallelism."""


@given(steps, st.integers(0, 1000))
@example(LOST_BETWEEN, 0)
@settings(max_examples=60)
def test_arrangements_are_those_of_the_committed_history(given: list[Any], seed: int) -> None:
    with TemporaryDirectory() as directory:
        job = CountJob(directory, seed)
        job.follow(given)
        job.epoch([0])


def test_a_long_history_of_few_keys_is_compacted(tmp_path: Path) -> None:
    job = CountJob(str(tmp_path), 1)
    for number in range(40):
        job.parallelism = 1 + number % 3
        job.epoch([number % KEYS, number % 2])
    assert len([*job.storage.list("runs")]) < 60


@pytest.mark.parametrize("seed", range(3))
def test_changes_that_were_merged_meanwhile_are_not_added_twice(tmp_path: Path, seed: int) -> None:
    job = CountJob(str(tmp_path), seed)
    job.parallelism = 2
    for number in range(30):
        job.epoch([number % KEYS, number % 3], lost=number % 5 == 4)


class Other(Count):
    """Declares its arrangement with another column."""

    def open(self, context: OperatorContext) -> None:
        assert context.arrangements is not None
        context.arrangements.declare("counts", replace(COUNTS, rows=RECORDS.rows))


def test_another_layout_is_refused(tmp_path: Path) -> None:
    job = CountJob(str(tmp_path), 1)
    job.epoch([1])
    job.processes = [job.process()]
    job.operator = Other
    with pytest.raises(StateMismatchError, match=r"arrangement 'counts'.*must have the columns"):
        job.epoch([1])


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
    job = CountJob(str(tmp_path), 1)
    job.operator = Patient
    job.epoch([1])
    job.processes = [job.process()]
    job.operator = MorePatient
    job.epoch([1])
    job.processes = [job.process()]
    job.operator = Eternal
    with pytest.raises(StateMismatchError, match="arrangement 'more'"):
        job.epoch([1])


@pytest.mark.parametrize("parallelism", [1, 2])
def test_what_was_deleted_stays_so_for_a_process_that_missed_a_merge_of_everything(
    tmp_path: Path, parallelism: int
) -> None:
    job = CountJob(str(tmp_path), 1)
    job.parallelism = parallelism
    first, second, _ = job.processes
    for number in range(12):
        job.processes = [first if number % 5 == 0 else second]
        job.epoch([number % KEYS, 0, (number + 1) % KEYS])
