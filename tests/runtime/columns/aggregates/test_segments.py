"""Sums by group, for values of any range."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from firesteel.runtime.columns.aggregates.segments import segments_of
from firesteel.state.arrangements.hashing import hash_columns

ROWS = 40_000


@pytest.mark.parametrize("count", [100, ROWS])
@pytest.mark.parametrize(
    ("least", "most"),
    [(7, 7), (-128, 127), (0, 128), (-32_769, 0), (0, 2**31 - 1), (-(2**31) - 1, 5), (-(2**63), 2**63 - 1)],
)
def test_sums_are_those_of_64_bits_which_wrap(count: int, least: int, most: int) -> None:
    keys = pa.record_batch({"k": np.arange(count) * 31 % 1000})
    values = np.random.default_rng(1).integers(least, most, count, endpoint=True)
    values[:2] = least, most
    groups = segments_of(keys, hash_columns(keys.columns))
    expected = [
        int(values[numbers == group].sum()) for numbers in [groups.numbers] for group in range(len(groups))
    ]
    assert groups.sums(values).tolist() == expected


def test_sums_of_floating_point_numbers() -> None:
    keys = pa.record_batch({"k": np.arange(ROWS) % 7})
    groups = segments_of(keys, hash_columns(keys.columns))
    assert groups.sums(np.full(ROWS, 0.5)).tolist() == (groups.lengths / 2).tolist()
