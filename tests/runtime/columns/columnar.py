"""Runs a columnar operator in subtasks, epoch by epoch, without a job around it."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from firesteel.common.metrics import MetricGroup
from firesteel.common.time import MAX_WATERMARK, MIN_WATERMARK
from firesteel.functions.epoch import EpochFacts
from firesteel.runtime.batch import Batch
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.operator import Epoch, Operator, OperatorContext
from firesteel.runtime.output import Output
from firesteel.state.arrangements.hashing import hash_columns, key_groups
from firesteel.state.arrangements.live import LiveArrangements
from firesteel.state.keys.groups import key_group_range
from firesteel.state.live.durable import StateAddress
from tests.state.arrangements.memory_store import MemoryStore

GROUPS = 16

Step = pa.RecordBatch | ColumnBatch | int | None | tuple[int, ColumnBatch]
"""Rows, a watermark, None: the input is idle; or rows with the input at which they come."""


class Received:
    """What an operator sends."""

    def __init__(self) -> None:
        self.sent: list[ColumnBatch | int | None] = []

    def receive(self, batch: Batch) -> None:
        assert isinstance(batch, ColumnBatch)
        assert len(batch)
        self.sent.append(batch)

    def receive_watermark(self, watermark: int | None) -> None:
        self.sent.append(watermark)


@dataclass
class Subtask:
    """One subtask: the operator, its arrangements, and what it sends."""

    operator: Operator[ColumnBatch]
    arrangements: LiveArrangements
    metrics: MetricGroup
    received: Received


@dataclass
class Harness:
    """An operator in some subtasks.

    `keys` are the places of the columns by which rows find their subtask, `second_keys` those of the second input.
    """

    make: Callable[[], Operator[ColumnBatch]]
    keys: Sequence[int] = ()
    parallelism: int = 1
    number: int = 0
    """The last committed epoch."""
    late: int = 0
    store: MemoryStore = field(default_factory=MemoryStore)
    subtasks: list[Subtask] = field(default_factory=list)
    states: list[Any] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    wakeups: list[int | None] = field(default_factory=list)
    second_keys: Sequence[int] = ()

    def renew(self, parallelism: int | None = None) -> None:
        """Go on in new processes, with another parallelism if one is given."""
        if parallelism is not None and parallelism != self.parallelism:
            self.parallelism = parallelism
            self.marks = [min(self.marks)] * parallelism if self.marks else []
        self.subtasks = []

    def epoch(self, *steps: Step, final: bool = False, lost: bool = False, now: int = 0) -> list[list[Any]]:
        """Run an epoch; return what each subtask sent: rows as tuples with their kind, and watermarks."""
        if not self.subtasks:
            self.subtasks = [self._open(place) for place in range(self.parallelism)]
        facts = EpochFacts(self.number + 1, "a", now, final, steady_time=now)
        for place, subtask in enumerate(self.subtasks):
            subtask.received.sent = []
            subtask.arrangements.begin(self.store, self._address(place), self.number, {}, now)
            mark = self.marks[place] if self.marks else MIN_WATERMARK
            own, others = self._states_of(place)
            subtask.operator.begin_epoch(Epoch(facts, mark, own, others))
            subtask.operator.announce()
            subtask.operator.advance_processing_time(now)
        for step in [*steps, *([MAX_WATERMARK] if final else [])]:
            self._feed(step)
        reports = []
        for place, subtask in enumerate(self.subtasks):
            if final:
                subtask.operator.finish()
            reports.append(subtask.operator.end_epoch())
            subtask.arrangements.end(self.store, self._address(place), self.number + 1, "a")
        late = [
            reading.numbers[0] for subtask in self.subtasks for reading in subtask.metrics.take().values()
        ]
        self.store.commit(not lost)
        sent = [self._plain(subtask.received.sent) for subtask in self.subtasks]
        if not lost:
            self.number += 1
            self.late += int(sum(late))
            self.states = [report.operator_state for report in reports]
            self.wakeups = [report.next_wakeup for report in reports]
            self.marks = [subtask.operator.watermark for subtask in self.subtasks]
        return sent

    def rows(self, *steps: Step, **options: Any) -> list[tuple[Any, ...]]:
        """Run an epoch; return the rows that were sent."""
        return [row for sent in self.epoch(*steps, **options) for row in sent if isinstance(row, tuple)]

    def _states_of(self, place: int) -> tuple[Any, list[Any]]:
        if len(self.states) <= self.parallelism:
            return (self.states[place] if place < len(self.states) else None), []
        return self.states[place], self.states[self.parallelism + place :: self.parallelism]

    def _feed(self, step: Step) -> None:
        if step is None:
            for subtask in self.subtasks:
                subtask.operator.advance_idle()
        elif isinstance(step, int):
            for subtask in self.subtasks:
                if step > subtask.operator.watermark:
                    subtask.operator.advance_watermark(step)
        else:
            port, given = step if isinstance(step, tuple) else (0, step)
            batch = given if isinstance(given, ColumnBatch) else ColumnBatch(given)
            for place, part in batch.scatter(self._targets(batch, port), self.parallelism):
                if len(part):
                    self.subtasks[place].operator.process(part, port)

    def _targets(self, batch: ColumnBatch, port: int) -> Any:
        keys = self.second_keys if port else self.keys
        if not keys or self.parallelism == 1:
            return np.zeros(len(batch), np.int64)
        hashes = hash_columns([batch.rows.column(place) for place in keys])
        return key_groups(hashes, GROUPS) * self.parallelism // GROUPS

    def _open(self, place: int) -> Subtask:
        received, metrics = Received(), MetricGroup()
        arrangements = LiveArrangements("it", {})
        context = OperatorContext(
            "job", "job", "op", "it", "it", place, self.parallelism, GROUPS, 0, {},
            Output([received]), {}, metrics=metrics, arrangements=arrangements,
        )  # fmt: skip
        operator = self.make()
        operator.open(context)
        return Subtask(operator, arrangements, metrics, received)

    def _address(self, place: int) -> StateAddress:
        groups = key_group_range(place, self.parallelism, GROUPS)
        return StateAddress("line", "op", place, groups.start, groups.stop - 1, GROUPS)

    def _plain(self, sent: list[ColumnBatch | int | None]) -> list[Any]:
        plain: list[Any] = []
        for item in sent:
            if isinstance(item, ColumnBatch):
                kinds = item.all_kinds().tolist()
                plain.extend(
                    (kind, *row.values()) for kind, row in zip(kinds, item.rows.to_pylist(), strict=True)
                )
            else:
                plain.append(item)
        return plain


def inserted(sent: Sequence[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """Return the rows that were sent, which must be inserts, with times in milliseconds."""
    assert all(row[0] == 0 for row in sent)
    return Counter(tuple(map(_milliseconds, row[1:])) for row in sent)


def _milliseconds(value: Any) -> Any:
    return (value - _BEGIN) // dt.timedelta(milliseconds=1) if isinstance(value, dt.datetime) else value


_BEGIN = dt.datetime(1970, 1, 1)
