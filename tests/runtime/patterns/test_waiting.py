"""Events wait for their time, in memory and in state, and come in the order of time and arrival."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.runtime.patterns import waiting
from firesteel.runtime.patterns.waiting import WaitingEvents
from tests.runtime.patterns.lives import Life

STEPS = st.lists(
    st.one_of(
        st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), min_size=1, max_size=6),
        st.integers(0, 30),
        st.just("epoch"),
    ),
    max_size=25,
)


@given(STEPS, st.sampled_from([1, 3, 1 << 16]))
@settings(max_examples=150, deadline=None)
def test_as_a_list_that_is_sorted(steps, most):
    before, waiting._MOST = waiting._MOST, most
    try:
        life, model, arrived = Life(WaitingEvents), [], 0
        for step in [*steps, 30]:
            if step == "epoch":
                life.epoch()
            elif isinstance(step, int):
                found = [event for due in life.part.due(step) for event in zip(*due, strict=True)]
                assert found == sorted(
                    [event for event in model if event[0] <= step], key=lambda event: event[0]
                )
                model = [event for event in model if event[0] > step]
                due = life.part.next_due()
                assert (due is None) == (not model)
            else:
                events = [(time, key, arrived + place) for place, (time, key) in enumerate(step)]
                arrived += len(events)
                model += events
                life.part.add(*map(list, zip(*events, strict=True)))
        life.epoch()
        assert life.entries == {}
    finally:
        waiting._MOST = before
