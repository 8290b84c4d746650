"""Keys in bulk are what they are one by one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from firesteel.runtime.rows.keying import Targets
from firesteel.state.keys.composite import compose_keyed
from firesteel.state.keys.groups import key_group, key_groups, state_key, subtask_of
from firesteel.state.live.ordering import in_composite_order

INTEGERS = st.integers(-(2**63), 2**63 - 1) | st.sampled_from([0, 1, -1, 2**63 - 1, -(2**63)])
LARGE = st.integers(-(2**70), 2**70)
OTHERS = st.text() | st.tuples(st.integers(), st.text()).map(state_key) | st.booleans().map(state_key)
KEYS = st.lists(INTEGERS, min_size=1) | st.lists(LARGE) | st.lists(st.text()) | st.lists(INTEGERS | OTHERS)


@given(KEYS, st.sampled_from([1, 2, 128, 32768]))
def test_key_groups(keys, max_parallelism):
    assert key_groups(keys, max_parallelism) == [key_group(key, max_parallelism) for key in keys]


@given(KEYS, st.sampled_from([1, 4, 128]))
def test_composite_keys_and_their_order(keys, max_parallelism):
    compose = compose_keyed(7, max_parallelism)
    distinct = {compose(key): key for key in keys}
    found = [
        pair
        for composites, currents in in_composite_order(set(keys), compose, 7, max_parallelism)
        for pair in zip(composites, currents, strict=True)
    ]
    assert found == sorted(distinct.items())


@given(st.lists(KEYS), st.integers(1, 5))
def test_targets_are_the_owners_of_the_key_groups(batches, parallelism):
    targets = Targets(parallelism, 128)
    for keys in batches:
        assert targets.of(keys) == [subtask_of(key_group(key, 128), parallelism, 128) for key in keys]
