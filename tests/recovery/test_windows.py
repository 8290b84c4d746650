"""Windows over columns through lost attempts, other processes, rescaling and compaction, with real storage."""

from __future__ import annotations

from collections import Counter
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.common.logical_types import BigIntType, Field, RowType, TimestampType
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.functions.columns.windows import WindowAggregate, WindowAssignment, WindowShape
from firesteel.runtime.batch import Batch
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.windows.aggregate import SlicingAggregateOperator
from firesteel.runtime.columns.windows.session_operators import SessionAggregateOperator
from firesteel.runtime.columns.windows.whole_operator import WholeAggregateOperator
from firesteel.runtime.operator import Epoch, Operator, OperatorContext, OperatorReport
from firesteel.runtime.output import Output
from firesteel.runtime.plan import Plan
from tests.recovery.wandering_jobs import Feed, WanderingJob, plan_of, steps
from tests.runtime.columns.windows.model import Sessions, Windows, model_of

pytestmark = pytest.mark.usefixtures("machine")

BIGINT, TIME = BigIntType(), TimestampType(3)
ROW = RowType((Field("key", BIGINT), Field("at", TIME)), nullable=False)
RESULT = RowType(
    tuple(map(Field, ("key", "n", "first", "end"), (BIGINT, BIGINT, TIME, TIME))), nullable=False
)
PER_EPOCH = 10
"""All rows of epoch e have the time 10 e; at its end the watermark is 15 less."""


def aggregate(shape: WindowShape, *, distinct: bool = False) -> WindowAggregate:
    call = Aggregation("COUNT", (1,), (TIME,), BIGINT, "COUNT(at)", distinct=distinct)
    return WindowAggregate(ROW, RESULT, (0,), WindowAssignment(shape, time=1), (call,), ("start", "end"))


class Reporting(Operator[ColumnBatch]):
    """Gives its rows the time of their epoch, sends its own watermark, and reports what it sends."""

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        self.output = Output([self])

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self.sent: list[tuple[int, ...]] = []

    def receive(self, batch: Batch) -> None:
        assert isinstance(batch, ColumnBatch)
        columns = [batch.rows.column(place).cast(pa.int64()).to_pylist() for place in range(4)]
        self.sent += [
            (key, n, start // 1000, end // 1000) for key, n, start, end in zip(*columns, strict=True)
        ]

    def receive_watermark(self, watermark: int | None) -> None:
        """Nobody asks for it."""

    def process(self, batch: ColumnBatch, port: int) -> None:
        stamps = pa.array([self.epoch * PER_EPOCH * 1000] * len(batch), pa.timestamp("us"))
        rows = pa.RecordBatch.from_arrays([batch.rows.column("key"), stamps], names=["key", "at"])
        super().process(ColumnBatch(rows), port)  # type: ignore[safe-super]

    def end_epoch(self) -> OperatorReport:
        self.advance_watermark(self.epoch * PER_EPOCH - 15)
        super().end_epoch()
        return OperatorReport(committables=[self.sent])


SHAPES = {
    "hop": WindowShape("hop", 40, 20),
    "cumulate": WindowShape("cumulate", 60, 20),
    "session": WindowShape("session", 12, 12),
    "whole": WindowShape("hop", 40, 20),
}


class Hopping(Reporting, SlicingAggregateOperator):
    def __init__(self) -> None:
        super().__init__(aggregate(SHAPES["hop"]))


class Cumulating(Reporting, SlicingAggregateOperator):
    def __init__(self) -> None:
        super().__init__(aggregate(SHAPES["cumulate"]))


class InSessions(Reporting, SessionAggregateOperator):
    def __init__(self) -> None:
        super().__init__(aggregate(SHAPES["session"]))


class Whole(Reporting, WholeAggregateOperator):
    def __init__(self) -> None:
        super().__init__(aggregate(SHAPES["whole"], distinct=True))


OPERATORS = {"hop": Hopping, "cumulate": Cumulating, "session": InSessions, "whole": Whole}


class WindowJob(WanderingJob):
    """Compares what each committed epoch sends with the model."""

    def __init__(self, directory: str, seed: int, name: str) -> None:
        self.name = name
        super().__init__(directory, seed)
        self.windows: Windows | Sessions = model_of(SHAPES[name])
        self.seen = Counter[int]()

    def plan(self) -> Plan:
        return plan_of(self.parallelism, (Feed, 0), (OPERATORS[self.name], 1))

    def check(self, committed: list[Any]) -> None:
        sent = Counter(row for rows in committed for row in rows)
        number = self.journal.last.epoch
        for key, count in (self.model - self.seen).items():
            for _ in range(count):
                self.windows.row(key, number * PER_EPOCH, number)
        self.seen = self.model.copy()
        self.windows.results.clear()
        self.windows.advance(number * PER_EPOCH - 15)
        assert sent == Counter(
            (key, len(set(values)) if self.name == "whole" else len(values), start, end)
            for key, start, end, values in self.windows.results
        )


@pytest.mark.parametrize("name", OPERATORS)
@given(steps, st.integers(0, 1000))
@settings(max_examples=8)
def test_committed_epochs_send_what_windows_hold(name: str, given: list[Any], seed: int) -> None:
    with TemporaryDirectory() as directory:
        job = WindowJob(directory, seed, name)
        job.follow(given)
        for _ in range(6):
            job.epoch([0])
