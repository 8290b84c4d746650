"""Keys are looked at once their times have come, whatever is in memory and what is stored."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.common.time import MAX_WATERMARK
from firesteel.runtime.patterns import reminders
from firesteel.runtime.patterns.reminders import Reminders
from tests.runtime.patterns.lives import Life

STEPS = st.lists(
    st.one_of(
        st.lists(st.tuples(st.integers(0, 90), st.integers(0, 9)), min_size=1, max_size=6),
        st.integers(0, 90),
        st.sampled_from(["epoch", "anew"]),
    ),
    max_size=25,
)


@given(STEPS, st.sampled_from([1, 3, 1 << 16]))
@settings(max_examples=150, deadline=None)
def test_each_key_comes_once_its_time_has_come(steps, most):
    before, reminders._MOST = reminders._MOST, most
    try:
        life = Life(lambda backend: Reminders(backend, 40))
        model = defaultdict(set)
        for step in [*steps, 100]:
            if isinstance(step, str):
                life.epoch(numbered_anew=step == "anew")
            elif isinstance(step, int):
                found = defaultdict(set)
                for time, keys in life.part.due(step):
                    found[time].update(keys)
                assert found == {time: keys for time, keys in model.items() if time <= step}
                model = defaultdict(set, {time: keys for time, keys in model.items() if time > step})
            else:
                for time, key in step:
                    life.part.add(rounded := life.part.rounded(time), key)
                    model[rounded].add(key)
        life.epoch()
        assert life.entries == {}
    finally:
        reminders._MOST = before


def test_keys_that_are_added_while_others_come_come_too():
    life = Life(lambda backend: Reminders(backend, 8))
    life.part.add(1, "a")
    found = []
    for time, keys in life.part.due(5):
        found += keys
        if time < 7:
            life.part.add(time + 2, "b")
    assert found == ["a", "b", "b"]
    assert [*life.part.due(7)] == [(7, ["b"])]


@pytest.mark.parametrize(
    ("within", "time", "rounded"),
    [(80, 1, 10), (80, 10, 10), (80, -3, 0), (3, 7, 7), (1 << 40, MAX_WATERMARK - 1, MAX_WATERMARK)],
)
def test_times_are_rounded_up_to_a_part_of_the_window(within, time, rounded):
    assert Life(lambda backend: Reminders(backend, within)).part.rounded(time) == rounded
