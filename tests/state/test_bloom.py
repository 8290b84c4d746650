"""The Bloom filter itself: it never misses a key, and it is seldom wrong about others."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from firesteel.state.disk.bloom import Bloom, Shape

KEYS = st.sets(st.binary(max_size=20), max_size=60)


def some_keys(count: int, seed: int) -> list[bytes]:
    draw = random.Random(seed)
    return [draw.randbytes(13) for _ in range(count)]


@given(steps=st.lists(KEYS | st.none(), max_size=6))
def test_it_may_have_every_key_that_was_added(steps: list[set[bytes] | None]) -> None:
    shape = Shape.for_keys(1)
    memory = bytearray(Shape(shape.bits, 7).size)
    bloom = Bloom(memory, shape)
    added: set[bytes] = set()
    for keys in steps:
        if keys is None:
            bloom = Bloom(memory, bloom.shape.larger)
        else:
            assert bloom.add(keys) <= len(keys)
            added |= keys
        assert bloom.may_have(added).all()
        assert set(bloom.possible(list(added))) == added


def test_it_has_few_keys_that_were_not_added() -> None:
    shape = Shape.for_keys(1000)
    memory = bytearray(Shape(shape.bits, 3).size)
    for keys in (some_keys(shape.capacity, 1), some_keys(4 * shape.capacity, 2)):
        bloom = Bloom(memory, shape)
        added = bloom.add(keys)
        assert 0.97 * len(keys) < added <= len(keys)
        absent = some_keys(20_000, 3)
        assert bloom.may_have(absent).mean() < 0.05
        assert len(bloom.possible(absent)) < 1000
        shape = shape.larger


def test_keys_that_are_there_are_not_counted_again() -> None:
    shape = Shape.for_keys(1000)
    bloom = Bloom(bytearray(shape.size), shape)
    keys = some_keys(500, 1)
    assert bloom.add(keys) > 490
    assert bloom.add(keys) == 0


def test_when_nearly_all_keys_are_there_it_is_not_asked_for_a_while() -> None:
    shape = Shape.for_keys(1000)
    bloom = Bloom(bytearray(shape.size), shape)
    present, absent = some_keys(500, 1), some_keys(500, 2)
    bloom.add(present)
    assert bloom.possible(present) is present
    assert all(bloom.possible(absent) is absent for _ in range(15))
    assert len(bloom.possible(absent)) < 50


def test_few_keys_are_not_looked_up() -> None:
    shape = Shape.for_keys(1000)
    bloom = Bloom(bytearray(shape.size), shape)
    absent = some_keys(10, 1)
    assert bloom.possible(absent) is absent
