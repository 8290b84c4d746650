"""OVER in BATCH mode gives what a look at each row's partition gives, whatever the epochs and the parallelism."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.common.logical_types import BigIntType, DoubleType, LogicalType, RowType
from firesteel.common.logical_types.constructed import Field
from firesteel.functions.columns.aggregates import Aggregation
from firesteel.functions.columns.sorting import SortColumn
from firesteel.functions.columns.windows import OverPartitions, PartitionFrame
from firesteel.runtime.columns.over.batch import OverPartitionsOperator
from firesteel.runtime.columns.over.partitions import Partitions
from tests.runtime.columns.columnar import Harness
from tests.runtime.columns.windows.test_windows_model import INPUT, batch_of, plain

BIGINT = BigIntType()
SUM = Aggregation("SUM", (2,), (BIGINT,), BIGINT, "SUM(v)")
FRAMES = [
    PartitionFrame(True, None, 0),
    PartitionFrame(True, -2, 0),
    PartitionFrame(True, -2, 1),
    PartitionFrame(True, -3, -1),
    PartitionFrame(True, 1, 2),
    PartitionFrame(True, 0, None),
    PartitionFrame(False, None, 0),
    PartitionFrame(False, None, None),
    PartitionFrame(False, 0, None),
    PartitionFrame(False, -3, 0),
    PartitionFrame(False, -3, 2),
    PartitionFrame(False, -4, -2),
]

rows = st.lists(
    st.tuples(st.sampled_from(["a", "b", None]), st.integers(0, 6), st.none() | st.integers(-5, 5)),
    max_size=8,
)
Row = tuple[Any, int, int | None]


def place_of(row: Row, order: SortColumn) -> tuple[int, int]:
    """Return what a row is sorted by: NULL apart from values, values by size."""
    value = row[2]
    if value is None:
        return (0 if order.nulls_first else 2), 0
    return 1, value if order.ascending else -value


def inside(partition: list[Row], at: int, frame: PartitionFrame, order: SortColumn) -> list[Row]:
    """Return the rows of a frame; `partition` is sorted."""
    if frame.rows:
        low = 0 if frame.lower is None else at + int(frame.lower)
        high = len(partition) if frame.upper is None else at + int(frame.upper)
        return [row for place, row in enumerate(partition) if low <= place <= high]
    kind, value = place_of(partition[at], order)
    found = []
    for row in partition:
        mine, other = place_of(row, order)
        if frame.lower is not None and (mine < kind or (mine == kind == 1 and other < value + frame.lower)):
            continue
        if frame.upper is not None and (mine > kind or (mine == kind == 1 and other > value + frame.upper)):
            continue
        found.append(row)
    return found


@pytest.mark.parametrize("frame", FRAMES, ids=str)
@given(st.lists(rows, min_size=1, max_size=4), st.integers(1, 3), st.booleans(), st.booleans())
@settings(max_examples=12)
def test_each_row_has_the_sum_of_its_frame(
    frame: PartitionFrame, epochs: list[list[Row]], parallelism: int, ascending: bool, nulls_first: bool
) -> None:
    order = SortColumn(2, ascending, nulls_first)
    output = RowType((*INPUT.fields, Field("total", BIGINT)), nullable=False)
    what = OverPartitions(INPUT, output, (0,), (order,), ((SUM, frame),))
    harness = Harness(lambda: OverPartitionsOperator(what), (0,), parallelism)
    for epoch in epochs:
        assert harness.rows(*([batch_of(epoch)] if epoch else [])) == []
    expected = Counter[Any]()
    for key in ("a", "b", None):
        mine = [row for epoch in epochs for row in epoch if row[0] == key]
        partition = sorted(mine, key=lambda row: place_of(row, order))
        for at, row in enumerate(partition):
            values = [one[2] for one in inside(partition, at, frame, order) if one[2] is not None]
            expected[*row, sum(values) if values else None] += 1
    found = plain(harness.rows(final=True))
    if frame.rows:  # rows that are equal in the order may be in any
        assert Counter(row[:3] for row in found.elements()) == Counter(row[:3] for row in expected.elements())
    if not frame.rows or len({row[1:] for row in expected}) == len({row[2] for row in expected}):
        assert found == expected


def ranked(name: str, kind: LogicalType, *arguments: int) -> list[Any]:
    call = Aggregation(name, arguments, tuple(BIGINT for _ in arguments), kind, name)
    output = RowType((*INPUT.fields, Field("r", kind)), nullable=False)
    order = (SortColumn(2, False, False),)
    what = OverPartitions(
        INPUT, output, (0,), order, ((call, PartitionFrame(name == "ROW_NUMBER", None, 0)),)
    )
    given = [("a", 1, 5), ("a", 2, None), ("a", 3, 5), ("b", 4, 1), ("a", 5, 9), ("a", 6, 2)]
    found = Harness(lambda: OverPartitionsOperator(what), (0,), 2).rows(batch_of(given), final=True)
    return [row[4] for row in sorted(found, key=lambda row: row[2])]


def test_ranks_follow_the_order() -> None:
    assert ranked("ROW_NUMBER", BIGINT) == [2, 5, 3, 1, 1, 4]
    assert ranked("RANK", BIGINT) == [2, 5, 2, 1, 1, 4]
    assert ranked("DENSE_RANK", BIGINT) == [2, 4, 2, 1, 1, 3]
    assert ranked("PERCENT_RANK", DoubleType()) == [0.25, 1.0, 0.25, 0.0, 0.0, 0.75]
    assert ranked("CUME_DIST", DoubleType()) == [0.6, 1.0, 0.6, 1.0, 0.2, 0.8]
    assert ranked("LEAD", BIGINT, 2) == [5, None, 2, None, 5, None]
    assert ranked("LAG", BIGINT, 2) == [9, 2, 5, None, None, 5]


def test_watermarks_come_after_all_rows() -> None:
    output = RowType((*INPUT.fields, Field("total", BIGINT)), nullable=False)
    what = OverPartitions(INPUT, output, (0,), (), ((SUM, PartitionFrame(False, None, None)),))
    harness = Harness(lambda: OverPartitionsOperator(what), (0,))
    assert harness.epoch(batch_of([("a", 1, 5)]), 7) == [[]]
    (sent,) = harness.epoch(batch_of([("a", 2, 6)]), final=True)
    assert [row[-1] for row in sent[:-1]] == [11, 11]
    assert isinstance(sent[-1], int)


@pytest.mark.parametrize("ascending", [True, False])
def test_a_range_of_decimal_numbers_with_many_digits(ascending: bool) -> None:
    values = [Decimal(f"100000000000000000000000{end}") for end in ("0.00", "0.50", "1.20", "9.00")]
    column = pa.array([*(values if ascending else reversed(values)), None], pa.decimal128(38, 2))
    rows = pa.record_batch([column], names=["d"])
    partitions = Partitions(np.zeros(5, np.int64), rows, [SortColumn(0, ascending, nulls_first=False)])
    frames = partitions.frames(PartitionFrame(False, Decimal("-0.7"), 0))
    places = list(zip(frames.starts.tolist(), frames.ends.tolist(), strict=True))
    assert places == (
        [(0, 0), (0, 1), (1, 2), (3, 3), (4, 4)] if ascending else [(0, 0), (1, 1), (1, 2), (2, 3), (4, 4)]
    )
