"""The order of words."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from firesteel.state.arrangements.columns import Numbers
from firesteel.state.arrangements.hashing import Words
from firesteel.state.arrangements.sorting import order_by, sorted_words

NEAR = st.integers(0, 15) | st.integers(2**64 - 16, 2**64 - 1) | st.integers(0, 2**64 - 1)


def check(leading: Numbers, words: Words) -> None:
    order, ordered = order_by(leading, words)
    assert order.tolist() == np.lexsort((words, leading)).tolist()
    assert ordered.tolist() == words[order].tolist()


@given(st.lists(NEAR, max_size=200))
def test_order_is_stable_and_ascending(values: list[int]) -> None:
    words = np.array(values, np.uint64)
    order, ordered = sorted_words(words)
    assert order.tolist() == np.argsort(words, kind="stable").tolist()
    assert ordered.tolist() == sorted(values)


@given(st.lists(st.tuples(st.integers(-3, 3), NEAR), max_size=200))
def test_leading_values_come_first(rows: list[tuple[int, int]]) -> None:
    leading = np.array([first for first, _ in rows], np.int64)
    words = np.array([word for _, word in rows], np.uint64)
    check(leading, words)


@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), NEAR), max_size=100), st.integers(1, 3))
def test_any_number_of_leading_values(rows: list[tuple[int, int]], times: int) -> None:
    leading = np.array([first for first, _ in rows] * times, np.int64)
    words = np.array([word for _, word in rows] * times, np.uint64)[::-1]
    check(leading, words)


def test_many_leading_values() -> None:
    leading = np.arange(1000)[::-1] // 2
    words = np.arange(1000, dtype=np.uint64)[::-1]
    check(leading, words)
