"""Columns come back from their packed form as they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.state.arrangements.packing import WORTH, form_of, packed, unpacked

TYPES = [
    pa.int64(),
    pa.timestamp("us"),
    pa.timestamp("ms", "UTC"),
    pa.duration("ms"),
    pa.int32(),
    pa.float64(),
]
LEAST, MOST = -(1 << 63), (1 << 63) - 1
EDGES = [0, 255, 256, (1 << 16) - 1, 1 << 16, (1 << 32) - 1, 1 << 32, MOST]

number = st.integers(LEAST, MOST) | st.sampled_from(EDGES) | st.sampled_from([LEAST + edge for edge in EDGES])


@given(st.lists(number | st.none(), max_size=8), st.integers(0, 3))
def test_numbers_come_back(values: list[int | None], start: int) -> None:
    rows = pa.RecordBatch.from_arrays(
        [pa.array(values, pa.int64()).view(kind) for kind in TYPES[:4]], names=list("abcd")
    ).slice(start)
    rows = rows.append_column("t", pa.array(map(str, range(len(rows))), pa.string()))
    form = form_of([rows])
    found = unpacked(packed(rows, form), form, rows.schema)
    found.validate(full=True)
    assert found.equals(rows)
    assert found.schema == rows.schema


@pytest.mark.parametrize(
    ("values", "width"),
    [
        ([7, 7], 0),
        ([-1, 254], 1),
        ([-1, 255], 2),
        ([0, 65536], 4),
        ([LEAST, LEAST + (1 << 32) - 1], 4),
        ([0, 1 << 32], 8),
        ([LEAST, MOST], 8),
        ([1, None], 8),
    ],
)
def test_numbers_take_the_bytes_that_they_need(values: list[Any], width: int) -> None:
    rows = pa.RecordBatch.from_pydict({"n": pa.array(values, pa.int64())})
    assert form_of([rows.slice(0, 1), rows.slice(1), rows.slice(2)])[0] == width


def test_blocks_of_many_rows_are_packed() -> None:
    rows = pa.RecordBatch.from_pydict({"n": np.arange(WORTH), "t": ["a"] * WORTH})
    kinds = (np.arange(WORTH) % 4).astype(np.int8)
    _, data = ColumnBatch(rows, kinds).encode()
    assert len(data) < 9 * WORTH
    found = ColumnBatch.decode(memoryview(data))
    assert found.rows.equals(rows)
    assert found.all_kinds().tolist() == kinds.tolist()
