"""Timers of keys are set by the rows that set them in Flink, one row after another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.runtime.columns.over import timers
from firesteel.runtime.columns.over.timers import NO_TIMER, life_of, setting

KEYS = 3
rows = st.lists(st.tuples(st.integers(0, KEYS - 1), st.integers(-5, 80)), max_size=40)
known = st.lists(st.just(NO_TIMER) | st.integers(0, 70), min_size=KEYS, max_size=KEYS)


def one_by_one(given: list[tuple[int, int]], last: list[int], lower: int) -> list[int]:
    found: list[list[int]] = [[] for _ in last]
    for place, (key, time) in enumerate(given):
        if last[key] < time + lower + 1:
            last[key] = time + life_of(lower)
            found[key].append(place)
    return [place for places in found for place in places]


@pytest.mark.parametrize("most", [1, 1 << 62], ids=["key by key", "all keys at once"])
@given(rows, known, st.integers(0, 12))
def test_rows_set_the_timers_that_they_set_one_by_one(
    most: int, given: list[tuple[int, int]], last: list[int], lower: int
) -> None:
    codes, times = np.array(given, np.int64).reshape(-1, 2).T
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timers, "_MOST", most)
        found: Any = setting(codes, times, np.array(last), lower)
    assert found.tolist() == one_by_one(given, [*last], lower)
