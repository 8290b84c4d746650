"""The order of words."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from firesteel.state.arrangements.sorting import order_by, order_of

NEAR = st.integers(0, 15) | st.integers(2**64 - 16, 2**64 - 1) | st.integers(0, 2**64 - 1)


@given(st.lists(NEAR, max_size=200))
def test_order_is_stable_and_ascending(values: list[int]) -> None:
    words = np.array(values, np.uint64)
    assert order_of(words).tolist() == np.argsort(words, kind="stable").tolist()


@given(st.lists(st.tuples(st.integers(-3, 3), NEAR), max_size=200))
def test_leading_values_come_first(rows: list[tuple[int, int]]) -> None:
    leading = np.array([first for first, _ in rows], np.int64)
    words = np.array([word for _, word in rows], np.uint64)
    assert order_by(leading, words).tolist() == np.lexsort((words, leading)).tolist()


@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), NEAR), max_size=100), st.integers(1, 3))
def test_any_number_of_leading_values(rows: list[tuple[int, int]], times: int) -> None:
    leading = np.array([first for first, _ in rows] * times, np.int64)
    words = np.array([word for _, word in rows] * times, np.uint64)[::-1]
    assert order_by(leading, words).tolist() == np.lexsort((words, leading)).tolist()


def test_many_leading_values() -> None:
    leading = np.arange(1000)[::-1] // 2
    words = np.arange(1000, dtype=np.uint64)[::-1]
    assert order_by(leading, words).tolist() == np.lexsort((words, leading)).tolist()
