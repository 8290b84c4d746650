"""Watermarks that are computed of columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import Field, RowType, TimestampType
from firesteel.common.time import MAX_WATERMARK, MIN_WATERMARK
from firesteel.functions.columns.program import Formula, Program
from firesteel.functions.columns.windows import WatermarkAssignment
from firesteel.functions.epoch import EpochFacts
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.watermarks import ColumnTime, WatermarkOperator, WatermarkValues
from tests.runtime.columns.columnar import Harness

DELAY = 5
GIVEN = WatermarkAssignment(time=0, column=0, delay=DELAY)


def batch_of(times: list[int | None]) -> pa.RecordBatch:
    micros = [None if time is None else time * 1000 for time in times]
    return pa.RecordBatch.from_arrays([pa.array(micros, pa.timestamp("us"))], names=["at"])


def seen(sent: list[Any]) -> list[Any]:
    """Return what was sent, rows as their milliseconds in a list."""
    return [
        [int(np.datetime64(item[1], "ms").astype(int))] if isinstance(item, tuple) else item for item in sent
    ]


def flinks(times: list[int], interval: int) -> list[int]:
    """Return the watermark that Flink's operator has sent before each row, and before the end."""
    current = last = 0
    before = []
    for time in times:
        before.append(last)
        current = max(current, time - DELAY)
        if current - last > interval:
            last = current
    return [*before, last]


@given(st.lists(st.integers(1, 3000), min_size=1, max_size=40))
def test_no_row_can_tell_the_watermarks_from_flinks(times: list[int]) -> None:
    (sent,) = Harness(lambda: WatermarkOperator(GIVEN)).epoch(batch_of(times))
    expected = flinks(times, 200)
    watermark, place = 0, 0
    for item in seen(sent):
        if isinstance(item, list):
            assert item == [times[place]]
            due = expected[place]
            assert (times[place] <= watermark + 1) == (times[place] <= due + 1)
            assert times[place] > due + 1 or watermark == due
            place += 1
        else:
            watermark = item
    assert place == len(times)
    assert watermark == max(times) - DELAY


def test_rows_in_order_are_one_batch() -> None:
    (sent,) = Harness(lambda: WatermarkOperator(GIVEN)).epoch(batch_of([1000, 2000, 3000]))
    assert seen(sent) == [[1000], [2000], [3000], 2995]


def test_a_watermark_comes_just_before_a_row_that_it_makes_late() -> None:
    rows = batch_of([1000, 1600, 900, 1700])
    (sent,) = Harness(lambda: WatermarkOperator(GIVEN)).epoch(rows)
    assert seen(sent) == [[1000], [1600], 1595, [900], [1700], 1695]


def test_the_interval_goes_on_over_epochs_and_the_watermark_never_falls() -> None:
    harness = Harness(lambda: WatermarkOperator(GIVEN))
    assert seen(harness.epoch(batch_of([1000]))[0]) == [[1000], 995]
    harness.renew()
    assert seen(harness.epoch(batch_of([500]))[0]) == [995, [500]]
    assert seen(harness.epoch(batch_of([2000]), final=True)[0]) == [995, [2000], 1995, MAX_WATERMARK]


def test_a_value_that_is_null_does_not_count() -> None:
    assignment = WatermarkAssignment(time=0, column=1)
    rows = pa.RecordBatch.from_arrays(
        [pa.array([1, 2], pa.timestamp("ms")), pa.array([700, None], pa.timestamp("ms"))],
        names=["at", "mark"],
    )
    (sent,) = Harness(lambda: WatermarkOperator(assignment)).epoch(rows)
    assert seen(sent) == [[1], 700, [2]]


def test_a_watermark_may_be_any_expression() -> None:
    time = TimestampType(3)
    row = RowType((Field("at", time),), nullable=False)
    mark = RowType((Field("mark", time),), nullable=False)
    formula = Formula("""CASE WHEN "0" > TIMESTAMP '1970-01-01 00:00:02' THEN "0" END""", "at", time)
    assignment = WatermarkAssignment(time=0, program=Program(row, mark, (formula,)))
    (sent,) = Harness(lambda: WatermarkOperator(assignment)).epoch(batch_of([1000, 3000, 2000]))
    assert seen(sent) == [[1000], [3000], 3000, [2000]]


def test_a_time_that_is_null_is_refused() -> None:
    harness = Harness(lambda: WatermarkOperator(GIVEN))
    with pytest.raises(ProgramError, match="requires that the time attribute is not NULL"):
        harness.epoch(batch_of([1, None]))


def test_a_stream_without_rows_becomes_idle() -> None:
    assignment = WatermarkAssignment(time=0, column=0, idle_timeout=100)
    harness = Harness(lambda: WatermarkOperator(assignment))
    assert harness.epoch(batch_of([1000]), now=0)[0][-1] == 1000
    assert harness.epoch(now=50) == [[1000]]
    assert harness.epoch(now=100)[0][-1] is None
    assert harness.epoch(now=120)[0][-1] is None
    assert harness.epoch(batch_of([1010]), now=130)[0][-1] == 1010


def test_large_batches_end_with_a_watermark() -> None:
    facts = EpochFacts(1, "a", 0)
    time = ColumnTime(GIVEN, WatermarkValues(GIVEN, "it"), "it", None, facts, 200)
    segments = list(time.stamp(ColumnBatch(batch_of([*range(10, 5010)]))))
    assert [(len(batch), watermark) for batch, watermark in segments] == [(5000, 5009 - DELAY)]
    assert time.flush() is None
    assert time.state.watermark == 5009 - DELAY > MIN_WATERMARK
