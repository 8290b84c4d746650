"""Events wait for their time, in memory and in state, and come in the order of time and arrival."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.functions.windows import WINDOW_CODEC
from firesteel.runtime.patterns import waiting
from firesteel.runtime.patterns.waiting import WaitingEvents
from firesteel.state.live.backend import KeyedStateBackend
from tests.runtime.window_harness import DictReader

STEPS = st.lists(
    st.one_of(
        st.lists(st.tuples(st.integers(0, 30), st.integers(0, 9)), min_size=1, max_size=6),
        st.integers(0, 30),
        st.just("epoch"),
    ),
    max_size=25,
)


class Life:
    """Events that wait, on state in a dict; each epoch begins a new life."""

    def __init__(self) -> None:
        self.entries: dict[bytes, bytes] = {}
        self.schemas: dict[str, dict[str, object]] = {}
        self.number = 0
        self.begin()

    def begin(self) -> None:
        self.number += 1
        self.backend = KeyedStateBackend(16, WINDOW_CODEC)
        self.backend.restore_schemas(self.schemas)
        self.events = WaitingEvents(self.backend)
        self.backend.begin(DictReader(self.entries), keep=False)
        self.events.begin_epoch(self.number)

    def epoch(self) -> None:
        self.events.settle()
        for key, value in self.backend.changes():
            if value is None:
                self.entries.pop(key, None)
            else:
                self.entries[key] = value
        self.schemas = self.backend.schemas()
        self.begin()


@given(STEPS, st.sampled_from([1, 3, 1 << 16]))
@settings(max_examples=150, deadline=None)
def test_as_a_list_that_is_sorted(steps, most):
    before, waiting._MOST = waiting._MOST, most
    try:
        life, model, arrived = Life(), [], 0
        for step in [*steps, 30]:
            if step == "epoch":
                life.epoch()
            elif isinstance(step, int):
                found = [event for due in life.events.due(step) for event in zip(*due, strict=True)]
                assert found == sorted(
                    [event for event in model if event[0] <= step], key=lambda event: event[0]
                )
                model = [event for event in model if event[0] > step]
                due = life.events.next_due()
                assert (due is None) == (not model)
            else:
                events = [(time, key, arrived + place) for place, (time, key) in enumerate(step)]
                arrived += len(events)
                model += events
                life.events.add(*map(list, zip(*events, strict=True)))
        life.epoch()
        assert life.entries == {}
    finally:
        waiting._MOST = before
