"""Rows in the order of their times, as Flink's RowTimeSortOperator emits them."""

from __future__ import annotations

import random
from functools import partial

import pyarrow as pa
import pytest

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import RowType, parse_type
from firesteel.functions.columns.sorting import SortColumn, TemporalSort
from firesteel.runtime.columns.temporal_sort import TemporalSortOperator
from tests.runtime.columns.columnar import Harness


def row_type() -> RowType:
    parsed = parse_type("ROW<v BIGINT, ts TIMESTAMP(3)> NOT NULL")
    assert isinstance(parsed, RowType)
    return parsed


ROW = row_type()
SCHEMA = pa.schema([("v", pa.int64()), ("ts", pa.timestamp("us"))])


def rows(*given: tuple[int | None, int | None]) -> pa.RecordBatch:
    times = [None if time is None else time * 1000 for _, time in given]
    values = [value for value, _ in given]
    return pa.RecordBatch.from_arrays(
        [pa.array(values, pa.int64()), pa.array(times, pa.int64()).view("timestamp[us]")], schema=SCHEMA
    )


def harness(*order: SortColumn, time: int | None = 1) -> Harness:
    return Harness(partial(TemporalSortOperator, TemporalSort(ROW, time, order)))


def sent(run: Harness, *steps: pa.RecordBatch | int, **options: bool) -> list[object]:
    """What comes out: values of rows, and watermarks as "w5"."""
    (found,) = run.epoch(*steps, **options)
    return [item[1] if isinstance(item, tuple) else f"w{item}" for item in found]


def test_rows_wait_for_the_watermark_and_come_in_the_order_of_their_times() -> None:
    run = harness()
    assert sent(run, rows((1, 30), (2, 10), (3, 20)), 20, rows((4, 25))) == [2, 3, "w20"]
    run.renew()
    assert sent(run, 40) == ["w20", 4, 1, "w40"]


def test_further_columns_decide_between_equal_times_and_then_the_arrival() -> None:
    run = harness(SortColumn(0, False, False))
    assert sent(run, rows((1, 5), (None, 5), (9, 5), (3, 4)), 5) == [3, 9, 1, None, "w5"]
    stable = harness()
    assert sent(stable, rows((2, 5), (1, 5)), rows((0, 5)), 5) == [2, 1, 0, "w5"]


def test_a_row_is_late_if_a_later_one_or_one_of_its_time_has_come_out() -> None:
    run = harness()
    assert sent(run, rows((1, 10)), 20) == [1, "w20"]
    assert sent(run, rows((2, 10), (3, 11), (4, 15)), 30) == ["w20", 3, 4, "w30"]
    assert run.late == 1
    assert sent(run, rows((5, 15), (6, 16)), final=True) == ["w30", 6, f"w{(1 << 63) - 1}"]
    assert run.late == 2


def test_in_processing_time_the_rows_of_an_epoch_are_sorted() -> None:
    run = harness(SortColumn(0, True, True), time=None)
    assert sent(run, rows((3, None), (1, None)), rows((2, None))) == [1, 2, 3]
    assert sent(run, rows((0, None))) == [0]


def test_null_is_no_time() -> None:
    with pytest.raises(ProgramError, match="'ts' is NULL"):
        sent(harness(), rows((1, None)))


@pytest.mark.parametrize("seed", range(5))
def test_one_epoch_and_many_give_the_same_rows(seed: int) -> None:
    chance = random.Random(seed)
    steps: list[pa.RecordBatch | int] = []
    mark = 0
    for _ in range(40):
        steps.append(rows(*[(chance.randrange(5), chance.randrange(mark, mark + 30)) for _ in range(3)]))
        if chance.random() < 0.5:
            mark += chance.randrange(1, 12)
            steps.append(mark)
    order = SortColumn(0, True, True)
    at_once = harness(order)
    whole = [item for item in sent(at_once, *steps, final=True) if isinstance(item, int)]
    run = harness(order)
    parts: list[object] = []
    for place, step in enumerate(steps):
        parts += sent(run, step)
        if place % 5 == 0:
            run.renew()
    parts += sent(run, final=True)
    assert [item for item in parts if isinstance(item, int)] == whole
    assert run.late == at_once.late == 120 - len(whole)
