"""Aggregates whose subtasks wander between processes, lose attempts and change their parallelism stay right."""

from __future__ import annotations

from collections import Counter
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings

from firesteel.common.logical_types import BigIntType
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.common.types import RowKind
from firesteel.runtime.columns.aggregates.operators import GroupAggregateOperator, LocalAggregateOperator
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.operator import Epoch, Operator, OperatorReport
from firesteel.runtime.plan import Plan
from tests.recovery.wandering_jobs import KEYS, WanderingJob, plan_of, steps
from tests.runtime.columns.aggregates.harness import Table, aggregate, call, row_of

pytestmark = pytest.mark.usefixtures("machine")

INPUT = row_of(BigIntType(), BigIntType())
SPEC = aggregate(
    INPUT,
    [0],
    call(INPUT, "COUNT"),
    call(INPUT, "SUM", 1),
    call(INPUT, "MAX", 1),
    call(INPUT, "COUNT", 1, distinct=True),
    call(INPUT, "COLLECT", 1),
    call(INPUT, "LAST_VALUE", 1),
    retracts=True,
)


class Feed(Operator[ColumnBatch]):
    """Emits the changes that the test gives for the epoch."""

    changes: ClassVar[list[tuple[int, int, int]]] = []

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._left = True

    def process(self, batch: ColumnBatch, port: int) -> None:
        raise AssertionError

    def pump(self) -> bool:
        mine = [
            change for change in self.changes if change[1] % self.context.parallelism == self.context.subtask
        ]
        if self._left and mine:
            kinds, keys, values = (np.array(column, np.int64) for column in zip(*mine, strict=True))
            rows = pa.RecordBatch.from_arrays(
                [pa.array(keys), pa.array(values)], schema=to_arrow_schema(INPUT)
            )
            self.output.emit(ColumnBatch(rows, kinds.astype(np.int8)))
        self._left = False
        return False


class Collect(Operator[ColumnBatch]):
    """Reports the changes that it gets."""

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self._got: list[ColumnBatch] = []

    def process(self, batch: ColumnBatch, port: int) -> None:
        self._got.append(ColumnBatch.decode(memoryview(batch.encode()[1])))

    def end_epoch(self) -> OperatorReport:
        return OperatorReport(committables=[self._got])


class AggregateJob(WanderingJob):
    """A job of an aggregate in two phases, and the values of each key."""

    def __init__(self, directory: str, seed: int) -> None:
        super().__init__(directory, seed)
        self.order: dict[int, list[int]] = {}
        self.table = Table(1)

    def plan(self) -> Plan:
        local = partial(LocalAggregateOperator, SPEC)
        together = partial(GroupAggregateOperator, SPEC, partial=True)
        return plan_of(self.parallelism, (Feed, 0), (local, 0), (together, 1), (Collect, 2), key="k0")

    def work(self, keys: list[int], *, lost: bool = False) -> None:
        """Add a value for each key, and take back every third one that is there."""
        changes = []
        order = {key: [*values] for key, values in self.order.items()}
        for place, key in enumerate(keys):
            values = order.setdefault(key, [])
            if values and place % 3 == 2:
                changes.append((RowKind.DELETE.value, key, values.pop(0)))
            else:
                values.append((self.tries + place) % 4)
                changes.append((RowKind.INSERT.value, key, values[-1]))
        Feed.changes = changes
        if not lost:
            self.order = order
        self.epoch(keys, lost=lost)

    def check(self, committed: list[Any]) -> None:
        changes = [batch for batches in committed for batch in batches]
        self.table.apply([batch for batch in changes if batch.kinds is not None and batch.kinds[0] in (1, 3)])
        self.table.apply([batch for batch in changes if batch.kinds is None or batch.kinds[0] not in (1, 3)])
        expected = {(key,): _row(key, values) for key, values in self.order.items() if values}
        assert self.table.rows == expected


def _row(key: int, values: list[int]) -> tuple[Any, ...]:
    contents = tuple(sorted(Counter(values).items()))
    return key, len(values), sum(values), max(values), len({*values}), contents, values[-1]


@given(steps)
@settings(max_examples=15, deadline=None)
def test_aggregates_are_those_of_the_committed_history(given: list[Any]) -> None:
    with TemporaryDirectory() as directory:
        job = AggregateJob(directory, len(given))
        job.follow(given)
        job.work([0, KEYS - 1])
