"""An operator that lets its input wait sends no watermark before what comes of that input."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.constructed import Field
from firesteel.common.time import MAX_WATERMARK
from firesteel.functions.columns.aggregates import GroupAggregate
from firesteel.functions.columns.sinks import Materialization
from firesteel.functions.columns.sorting import Sort, SortColumn, Top
from firesteel.functions.columns.windows import OverPartitions, PartitionFrame
from firesteel.runtime.columns.aggregates.operators import FinalAggregateOperator, GroupAggregateOperator
from firesteel.runtime.columns.materialize.operators import MaterializeOperator
from firesteel.runtime.columns.over.batch import OverPartitionsOperator
from firesteel.runtime.columns.over.changes import OverChangesOperator
from firesteel.runtime.columns.sorting import SortOperator
from firesteel.runtime.columns.top import TopOperator
from firesteel.runtime.operator import Operator
from tests.runtime.columns.columnar import Harness
from tests.runtime.columns.over.test_over_partitions import BIGINT, SUM
from tests.runtime.columns.windows.test_windows_model import INPUT, batch_of

TOTAL = Field("total", BIGINT)
OVER = OverPartitions(
    INPUT,
    RowType((*INPUT.fields, TOTAL), nullable=False),
    (0,),
    (),
    ((SUM, PartitionFrame(False, None, None)),),
)
GROUPS = GroupAggregate(INPUT, RowType((INPUT.fields[0], TOTAL), nullable=False), (0,), (SUM,))
WAITING: dict[str, Callable[[], Operator[Any]]] = {
    "over": partial(OverPartitionsOperator, OVER),
    "groups": partial(FinalAggregateOperator, GROUPS),
    "sort": partial(SortOperator, Sort(INPUT, (SortColumn(2, True, True),))),
}

ROWS = Materialization(INPUT, (0,), ())
ORDER = SortColumn(2, True, True)
CHANGING: dict[str, Callable[[], Operator[Any]]] = {
    "groups": partial(GroupAggregateOperator, GROUPS),
    "materialization": partial(MaterializeOperator, ROWS),
    "top": partial(TopOperator, Top(INPUT, (ORDER,), 0, 9, retracts=True)),
    "over by values": partial(OverChangesOperator, OVER),
}


@pytest.mark.parametrize("name", WAITING)
def test_rows_come_before_the_only_watermark(name: str) -> None:
    harness = Harness(WAITING[name], (0,))
    assert harness.epoch(batch_of([("a", 1, 5)]), 7) == [[]]
    if name != "groups":  # they are no state: their job takes its input in one epoch
        harness.renew()
    assert harness.epoch(batch_of([("b", 8, 5)]), 9) == [[]]
    (sent,) = harness.epoch(batch_of([("c", 10, 6)]), final=True)
    *rows, last = sent
    assert len([row for row in rows if isinstance(row, tuple)]) == len(rows) == 3
    assert last == MAX_WATERMARK


@pytest.mark.parametrize("name", CHANGING)
def test_in_streaming_mode_changes_come_before_the_watermark(name: str) -> None:
    harness = Harness(CHANGING[name], (0,))
    (sent,) = harness.epoch(batch_of([("a", 1, 5)]), 7)
    assert [isinstance(item, tuple) for item in sent] == [True, False]
    assert sent[1] == 7
    (sent,) = harness.epoch(batch_of([("b", 8, 5)]), 9, None)
    assert sent[0] == 7
    assert [isinstance(item, tuple) for item in sent[1:]] == [True, False, False]
    assert sent[2:] == [9, None]
    (sent,) = harness.epoch(batch_of([("c", 10, 6)]), final=True)
    assert [isinstance(item, tuple) for item in sent] == [False, True, False]
    assert (sent[0], sent[2]) == (9, MAX_WATERMARK)


def test_in_streaming_mode_each_epoch_begins_with_the_watermark_of_the_last() -> None:
    harness = Harness(partial(GroupAggregateOperator, GROUPS), (0,))
    (sent,) = harness.epoch(batch_of([("a", 1, 5)]), 7)
    assert [item for item in sent if isinstance(item, int)] == [7]
    (sent,) = harness.epoch()
    assert sent == [7]
