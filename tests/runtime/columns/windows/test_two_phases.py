"""Windows whose rows are added up before the exchange give what they give without that."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.common.logical_types import BigIntType
from firesteel.common.metrics import MetricGroup
from firesteel.common.time import MAX_WATERMARK
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.functions.columns.windows import WindowAggregate, WindowShape
from firesteel.runtime.batch import Batch
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.windows.choosing import (
    has_two_phases,
    local_window_operator,
    window_aggregate_operator,
)
from firesteel.runtime.operator import Epoch, Operator, OperatorContext, OperatorReport
from firesteel.runtime.output import Output
from tests.runtime.columns.columnar import Harness
from tests.runtime.columns.windows.model import aggregated, model_of
from tests.runtime.columns.windows.test_windows_model import SHAPES, aggregate, batch_of, epochs, feed, plain


class Both(Operator[ColumnBatch]):
    """The two phases, one behind the other in one subtask; `sent` are the rows that go from one to the other."""

    def __init__(self, given: WindowAggregate) -> None:
        self.local = local_window_operator(given)
        self.rest = window_aggregate_operator(given, partial=True)
        self.sent = 0

    def open(self, context: OperatorContext) -> None:
        super().open(context)
        self.local.open(replace(context, output=Output([self]), metrics=MetricGroup(), arrangements=None))
        self.rest.open(context)

    def receive(self, batch: Batch) -> None:
        assert isinstance(batch, ColumnBatch)
        self.sent += len(batch)
        self.rest.process(batch, 0)

    def receive_watermark(self, watermark: int | None) -> None:
        if watermark is None:
            self.rest.advance_idle()
        elif watermark > self.rest.watermark:
            self.rest.advance_watermark(watermark)

    def begin_epoch(self, epoch: Epoch) -> None:
        super().begin_epoch(epoch)
        self.local.begin_epoch(epoch)
        self.rest.begin_epoch(epoch)

    def announce(self) -> None:
        self.rest.announce()
        self.local.announce()

    def process(self, batch: ColumnBatch, port: int) -> None:
        self.local.process(batch, port)

    def advance_watermark(self, watermark: int) -> None:
        self.watermark = watermark
        self.local.advance_watermark(watermark)

    def advance_idle(self) -> None:
        self.local.advance_idle()

    def finish(self) -> None:
        self.local.finish()
        self.rest.finish()

    def end_epoch(self) -> OperatorReport:
        self.local.end_epoch()
        assert self.rest.watermark == self.watermark
        return self.rest.end_epoch()


@pytest.mark.parametrize("keys", [(0,), ()], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@given(epochs, st.integers(1, 3), st.randoms(use_true_random=False))
@settings(max_examples=15)
def test_two_phases_are_one(
    shape: WindowShape, keys: tuple[int, ...], given: list[Any], parallelism: int, random: Any
) -> None:
    model = model_of(shape)
    harness = Harness(lambda: Both(aggregate(shape, keys)), keys, parallelism if keys else 1)
    seen = Counter[tuple[Any, ...]]()
    for steps in [*given, [MAX_WATERMARK]]:
        if not keys:
            steps = [
                [(None, time, value) for _, time, value in one] if isinstance(one, list) else one
                for one in steps
            ]
        batches = feed(model, steps)
        if random.random() < 0.2:
            harness.epoch(*batches, lost=True)
        if random.random() < 0.2:
            harness.renew(random.randint(1, 3) if keys else None)
        seen += plain(harness.rows(*batches))
        expected = aggregated(model.results)
        assert seen == (expected if keys else Counter({row[1:]: count for row, count in expected.items()}))
    assert harness.late == model.late


@pytest.mark.parametrize("shape", [WindowShape("hop", 12, 4), WindowShape("session", 5, 5)], ids=str)
def test_rows_of_a_window_travel_as_one(shape: WindowShape) -> None:
    harness = Harness(lambda: Both(aggregate(shape)), (0,))
    rows = [("ab"[place % 2], place % 4, place) for place in range(200)]
    harness.epoch(batch_of(rows[:100]), -5, batch_of(rows[100:]))
    (subtask,) = harness.subtasks
    assert isinstance(subtask.operator, Both)
    assert subtask.operator.sent == 2


@pytest.mark.parametrize("function", ["FIRST_VALUE", "LAST_VALUE"])
def test_values_that_depend_on_the_order_of_rows_have_one_phase(function: str) -> None:
    given = aggregate(SHAPES[0])
    kind = BigIntType()
    call = Aggregation(function, (2,), (kind,), kind, f"{function}(v)")
    assert has_two_phases(given)
    assert not has_two_phases(replace(given, aggregations=(*given.aggregations[:2], call)))


def test_windows_of_the_clock_have_one_phase() -> None:
    given = aggregate(SHAPES[0])
    assert not has_two_phases(replace(given, window=replace(given.window, event_time=False)))
