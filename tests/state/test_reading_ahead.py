"""Values are read together once they are seen to be read one by one; what is read is the same."""

from __future__ import annotations

import pytest

from firesteel.state.descriptors import ValueStateDescriptor
from firesteel.state.live import handles
from tests.state.memory import MemoryStore

BLOCK = 100


def counting(store, keys):
    """Count each key, a block at a time, as an operator does it; return the counts."""
    count = store.backend.value_state(ValueStateDescriptor("count"))
    counts = []
    for start in range(0, len(keys), BLOCK):
        block = keys[start : start + BLOCK]
        store.backend.expect(block)
        for key in block:
            store.backend.keyed.current = key
            counts.append((count.value() or 0) + 1)
            count.update(counts[-1])
    return counts


def test_values_of_many_keys_are_read_together():
    store = MemoryStore(cache_limit=10**6)
    keys = list(range(2000))
    assert counting(store, keys) == [1] * 2000
    store.next_epoch(keep=False)
    assert counting(store, keys) == [2] * 2000
    assert store.reader.gets <= 300
    assert store.reader.batches > 10


def test_keys_that_are_known_are_not_read():
    store = MemoryStore(cache_limit=10**6)
    counting(store, list(range(2000)))
    store.next_epoch()
    assert counting(store, list(range(2000))) == [2] * 2000
    assert (store.reader.gets, store.reader.batches) == (0, 0)


def test_a_state_that_is_hardly_read_is_not_read_ahead():
    store = MemoryStore(cache_limit=10**6)
    count = store.backend.value_state(ValueStateDescriptor("count"))
    for block in range(20):
        keys = list(range(block * BLOCK, (block + 1) * BLOCK))
        store.backend.expect(keys)
        store.backend.keyed.current = keys[0]
        assert count.value() is None
    assert (store.reader.gets, store.reader.batches) == (20, 0)


def test_strings_and_other_keys_are_read_ahead_too():
    store = MemoryStore(cache_limit=10**6)
    for keys in ([f"key-{number}" for number in range(500)], [b"\x0b%d" % number for number in range(500)]):
        assert counting(store, keys) == [1] * 500
        store.next_epoch(keep=False)
        assert counting(store, keys) == [2] * 500
        assert store.reader.batches > 0


def test_large_values_are_not_all_read_ahead():
    store = MemoryStore(cache_limit=10**6)
    held = store.backend.value_state(ValueStateDescriptor("held"))
    for key in range(300):
        store.backend.keyed.current = key
        held.update(bytes(100_000))
    store.next_epoch(keep=False)
    for key in range(100):
        store.backend.keyed.current = key
        assert held.value() == bytes(100_000)
    store.backend.expect(list(range(100, 300)))
    assert store.reader.batches == 1
    assert 100 < store.backend.cached_entries <= 150


@pytest.mark.parametrize("most", [1 << 17, 100])
def test_keys_that_have_lost_their_values_are_remembered_if_they_are_few(most, monkeypatch):
    monkeypatch.setattr(handles, "_REMEMBERED", most)
    store = MemoryStore(cache_limit=10**6)
    keys = list(range(2000))
    counting(store, keys)
    store.next_epoch()
    count = store.backend.value_state(ValueStateDescriptor("count"))
    for key in keys:
        store.backend.keyed.current = key
        count.clear()
    store.next_epoch()
    assert counting(store, keys) == [1] * 2000
    assert (store.reader.gets + store.reader.batches > 0) == (most == 100)
