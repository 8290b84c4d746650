"""The totals of a key without rows expire, as in Flink's cleanup of idle keys."""

from __future__ import annotations

import pytest

from firesteel.common.logical_types import BigIntType, RowType
from firesteel.common.logical_types.constructed import Field
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.functions.columns.windows import OverAggregate, OverFrame
from firesteel.runtime.columns.over.operator import OverAggregateOperator
from tests.runtime.columns.columnar import Harness
from tests.runtime.columns.windows.test_windows_model import INPUT, batch_of

BIGINT = BigIntType()
OUTPUT = RowType((*INPUT.fields, Field("n", BIGINT)), nullable=False)
COUNT = Aggregation("COUNT", (), (), BIGINT, "COUNT(*)")


@pytest.mark.parametrize("rows", [True, False])
def test_totals_start_again_when_the_last_row_of_a_key_is_too_long_ago(rows: bool) -> None:
    over = OverAggregate(INPUT, OUTPUT, (0,), 1, True, OverFrame(rows, None), (COUNT,), time_to_live=100)
    harness = Harness(lambda: OverAggregateOperator(over), (0,))
    counts = [
        harness.rows(batch_of([("a", time, 1)]), time, now=now)[0][-1]
        for time, now in ((1, 1_000), (2, 1_060), (3, 1_120), (4, 1_220), (5, 1_300))
    ]
    assert counts == [1, 2, 3, 1, 2]
