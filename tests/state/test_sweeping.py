"""What has expired leaves the stored state with the epochs that follow, whoever never reads it again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from firesteel.state.descriptors import ListStateDescriptor, MapStateDescriptor, ValueStateDescriptor
from firesteel.state.keys.groups import state_key
from firesteel.state.live import sweeping
from tests.state.expiring import RETURN, config, expiring
from tests.state.memory import MemoryStore

TTL = 10
NEW_KEYS = 50
EPOCHS = 100


def write_value(store: MemoryStore, cleaned: bool) -> Callable[[int], None]:
    ttl = config(ttl=TTL, cleaned=cleaned)
    value = store.backend.value_state(expiring(ValueStateDescriptor("value"), ttl))
    return lambda number: value.update(number)


def write_list(store: MemoryStore, cleaned: bool) -> Callable[[int], None]:
    ttl = config(ttl=TTL, cleaned=cleaned)
    elements = store.backend.list_state(expiring(ListStateDescriptor("list"), ttl))
    return lambda number: elements.add(number)


def write_map(store: MemoryStore, cleaned: bool) -> Callable[[int], None]:
    entries = store.backend.map_state(
        expiring(MapStateDescriptor("map", None, None), config(ttl=TTL, cleaned=cleaned))
    )
    return lambda number: entries.put(number, number)


WRITERS = [write_value, write_list, write_map]


def stored_after(
    write: Callable[[MemoryStore, bool], Callable[[int], None]], *, cleaned: bool, live_for: int
) -> int:
    """Each epoch, at a time of its own, writes keys that no other epoch knows; return how many are stored in the end.

    An instance lives for `live_for` epochs.
    """
    store = MemoryStore()
    put = write(store, cleaned)
    for epoch in range(EPOCHS):
        if epoch % live_for == 0:
            store.restart()
            put = write(store, cleaned)
        for number in range(epoch * NEW_KEYS, (epoch + 1) * NEW_KEYS):
            store.backend.keyed.current = state_key(number)
            put(number)
        store.now += 1
        store.next_epoch()
    return len(store.entries)


@pytest.mark.parametrize("live_for", [EPOCHS, 10, 2])
@pytest.mark.parametrize("write", WRITERS)
def test_what_is_stored_is_bounded_by_what_lives(
    write: Any, live_for: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "LEAST", sweeping.PER_CHANGE * NEW_KEYS)
    living = TTL * NEW_KEYS
    assert stored_after(write, cleaned=True, live_for=live_for) < 3 * living
    assert stored_after(write, cleaned=False, live_for=live_for) == EPOCHS * NEW_KEYS


def filled(states: int) -> tuple[MemoryStore, list[Any]]:
    store = MemoryStore()
    values = [
        store.backend.value_state(expiring(ValueStateDescriptor(f"value {number}"), config(ttl=TTL)))
        for number in range(states)
    ]
    for key in range(20):
        store.backend.keyed.current = state_key(key)
        for value in values:
            value.update(key)
    store.next_epoch()
    return store, values


def test_a_state_that_returns_what_has_expired_keeps_it_until_it_is_read():
    store = MemoryStore()
    value = store.backend.value_state(
        expiring(ValueStateDescriptor("value"), config(visibility=RETURN, ttl=TTL))
    )
    for key in (1, 2, 3):
        store.backend.keyed.current = state_key(key)
        value.update(key)
        store.now += 5 * TTL
        store.next_epoch(keep=False)
    assert [value.value(), value.value()] == [3, None]
    store.next_epoch()
    assert len(store.entries) == 2


def test_an_epoch_that_changes_nothing_looks_at_nothing():
    store, _ = filled(1)
    store.now += 2 * TTL
    store.next_epoch()
    scans = store.reader.scans
    assert store.next_epoch() == []
    assert (len(store.entries), scans) == (20, 0)


def test_what_an_epoch_writes_wins_over_what_it_sweeps_away():
    store, values = filled(2)
    store.now += 2 * TTL
    store.next_epoch()
    for key in (3, 4):
        store.backend.keyed.current = state_key(key)
        values[0].update(-key)
    changes = store.next_epoch()
    assert sum(value is not None for _, value in changes) == 2
    for _ in range(3):  # the sweep begins anywhere
        store.backend.keyed.current = state_key(3)
        values[0].update(-3)
        store.next_epoch()
    assert len(store.entries) == 2


def test_asking_twice_for_the_changes_gives_the_same():
    store, values = filled(2)
    store.now += 2 * TTL
    store.next_epoch()
    values[0].update(1)
    assert list(store.backend.changes()) == list(store.backend.changes())
