"""Keys in bulk are what they are one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from firesteel.functions.windows import WINDOW_CODEC, CountWindow, GlobalWindow, TimeWindow
from firesteel.runtime.rows.keying import Targets
from firesteel.state.keys.composite import WindowedComposer, compose_keyed
from firesteel.state.keys.groups import key_group, key_groups, state_key, subtask_of
from firesteel.state.live.ordering import in_composite_order

INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([0, 1, -1, 2**63 - 1, -(2**63)])
LARGE = st.integers(-(2**70), 2**70)
OTHERS = st.text() | st.tuples(st.integers(), st.text()).map(state_key) | st.booleans().map(state_key)
KEYS = st.lists(INTEGERS, min_size=1) | st.lists(LARGE) | st.lists(st.text()) | st.lists(INTEGERS | OTHERS)
TIMES = st.integers(-(2**62), 2**62) | st.integers(-5, 5)
TIME_WINDOWS = st.builds(TimeWindow, TIMES, TIMES)
SPACES = TIME_WINDOWS | st.builds(CountWindow, TIMES) | st.just(GlobalWindow.get())


@given(KEYS, st.sampled_from([1, 2, 128, 32768]))
def test_key_groups(keys, max_parallelism):
    assert key_groups(keys, max_parallelism) == [key_group(key, max_parallelism) for key in keys]


@given(KEYS, st.sampled_from([1, 4, 128]))
def test_composite_keys_and_their_order(keys, max_parallelism):
    assert_in_order(set(keys), compose_keyed(7, max_parallelism), max_parallelism)


@given(
    KEYS.flatmap(lambda keys: st.lists(st.tuples(st.sampled_from(keys or [1]), SPACES))),
    st.sampled_from([1, 4, 128]),
)
def test_composite_keys_with_windows_and_their_order(currents, max_parallelism):
    compose = WindowedComposer(7, max_parallelism, WINDOW_CODEC)
    assert compose.all_of(currents) == list(map(compose, currents))
    assert_in_order(set(currents), compose, max_parallelism)


@given(st.lists(st.tuples(INTEGERS, TIME_WINDOWS)))
def test_integer_keys_in_time_windows_are_in_order(currents):
    assert_in_order(set(currents), WindowedComposer(7, 128, WINDOW_CODEC), 128)


def assert_in_order(currents, compose, max_parallelism):
    found = [
        pair
        for composites, batch in in_composite_order(currents, compose, 7, max_parallelism)
        for pair in zip(composites, batch, strict=True)
    ]
    assert found == sorted((compose(current), current) for current in currents)


@given(st.lists(KEYS), st.integers(1, 5))
def test_targets_are_the_owners_of_the_key_groups(batches, parallelism):
    targets = Targets(parallelism, 128)
    for keys in batches:
        assert targets.of(keys) == [subtask_of(key_group(key, 128), parallelism, 128) for key in keys]
