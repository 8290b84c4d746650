"""Rows found by their keys, beside a look at each pair."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.runtime.columns.joins.pairs import equal_pairs
from firesteel.runtime.columns.joins.row_index import RowIndex

FAR = 2**63 - 1


def found(mine: pa.RecordBatch, theirs: pa.RecordBatch) -> tuple[RowIndex, list[tuple[int, int]]]:
    """Return the index of some rows, and the pairs of their places and those of others that have equal keys."""
    index = RowIndex(mine, mine.num_rows)
    pairs: list[tuple[int, int]] = []
    for part in equal_pairs(index.rows, index.buckets(theirs, theirs.num_rows)):
        here, there = index.equal(theirs, part)
        pairs += zip(here.tolist(), there.tolist(), strict=True)
    return index, pairs


def check(mine: list[Any], theirs: list[Any], kind: pa.DataType) -> RowIndex:
    batches = [pa.record_batch({"k": pa.array(values, kind)}) for values in (mine, theirs)]
    index, pairs = found(*batches)
    assert sorted(pairs) == [
        (here, there)
        for here in range(len(mine))
        for there in range(len(theirs))
        if mine[here] == theirs[there]
    ]
    return index


@pytest.mark.parametrize(
    ("kind", "mine", "theirs", "exact"),
    [
        (pa.int64(), [5, 7, 5], [7, 5, 6, 4, 8], True),
        (pa.int8(), [-128, 127], [127, -128, 0], True),
        (pa.int64(), [-FAR, FAR], [FAR, -FAR, 0, FAR - 1], False),
        (pa.int64(), [FAR - 1, FAR], [-FAR - 1, FAR, 1], True),
        (pa.int64(), [-FAR - 1, -FAR], [FAR, -FAR, 1], True),
        (pa.int64(), [5, None], [None, 5], False),
        (pa.date32(), [dt.date(1995, 1, 1)], [dt.date(1995, 1, 1), dt.date(1, 1, 1)], True),
        (pa.int64(), [5, 0], [5, None, 0], True),
        (pa.date32(), [dt.date(1970, 1, 1)], [dt.date(1970, 1, 1), None], True),
        (pa.string(), ["a", "b", "a"], ["a", "c"], False),
        (pa.int64(), [], [1], False),
        (pa.int64(), [5, 2_000_000], [6, 2_000_000, 2_000_001, 0, 5], True),
        (pa.int64(), [5, 3_000_000], [6, 3_000_000, 3_000_001, 0, 5], False),
    ],
    ids=str,
)
def test_keys_are_found(kind: pa.DataType, mine: list[Any], theirs: list[Any], exact: bool) -> None:
    assert check(mine, theirs, kind).exact == exact


@given(
    mine=st.lists(st.integers(-FAR - 1, FAR)),
    theirs=st.lists(st.integers(-FAR - 1, FAR)),
    shared=st.lists(st.integers(-20, 20)),
)
def test_any_numbers_are_found(mine: list[int], theirs: list[int], shared: list[int]) -> None:
    check(mine + shared, theirs + shared, pa.int64())
    check(shared, theirs + shared, pa.int64())


def test_hashes_that_are_equal_do_not_make_keys_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    module = "firesteel.runtime.columns.joins.row_index.hash_columns"
    monkeypatch.setattr(module, lambda columns: np.zeros(len(columns[0]), np.uint64))
    check(["a", "b", "c", "a"], ["c", "a", "d"], pa.string())


def test_a_few_rows_leave_most_buckets_empty() -> None:
    keys = pa.record_batch({"k": [f"key {number}" for number in range(1000)]})
    others = pa.record_batch({"k": [f"other {number}" for number in range(10_000)]})
    index = RowIndex(keys, 1000)
    candidates = index.rows.lengths[index.buckets(others, 10_000)]
    assert np.count_nonzero(candidates) < 1500


def test_pairs_of_few_rows_that_have_a_partner_are_those_of_all_rows() -> None:
    theirs = [number % 500 for number in range(3000)]
    check([3, 7, 3], theirs, pa.int64())


def test_without_keys_all_rows_meet() -> None:
    index = RowIndex(pa.RecordBatch.from_arrays([], names=[]), 2)
    buckets = index.buckets(pa.RecordBatch.from_arrays([], names=[]), 3)
    (pairs,) = equal_pairs(index.rows, buckets)
    assert [part.tolist() for part in pairs] == [[0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2]]
