from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.common.errors import ProgramError, SerializationError
from firesteel.connectors.collection import CollectionSource
from firesteel.connectors.datagen import DataGeneratorSource
from firesteel.connectors.number_sequence import NumberSequenceSource
from firesteel.functions.source import UNLIMITED, Boundedness, DiscoveryContext, Source, Split

NONE = frozenset[str]()


def values(source: Source, split: Split, start: int, end: int) -> list:
    return [value for batch in source.read(split, start, end) for value in batch]


def everything(source: Source, parallelism: int = 1) -> list:
    splits = list(source.discover(DiscoveryContext(NONE, parallelism, 0)))
    return [value for split in splits for value in values(source, split, split.start, split.end)]


@given(st.integers(0, 3500), st.integers(0, 3500), st.integers(0, 3500))
def test_collection_ranges(size: int, a: int, b: int) -> None:
    start, end = sorted((min(a, size), min(b, size)))
    source = CollectionSource(range(size))
    [split] = source.splits(NONE)
    assert (split.start, split.end) == (0, size)
    assert values(source, split, start, end) == list(range(start, end))
    assert source.splits(frozenset({split.id})) == []


def test_collection_is_a_copy_each_time() -> None:
    given = [{"a": 1}]
    source = CollectionSource(given)
    given[0]["a"] = 2
    [split] = source.splits(NONE)
    [record] = values(source, split, 0, 1)
    record["a"] = 3
    assert values(source, split, 0, 1) == [{"a": 1}]


def test_collection_names_what_cannot_be_serialised() -> None:
    with pytest.raises(SerializationError, match=r"CollectionSource requires values.*got lock at index 2"):
        CollectionSource([1, 2, threading.Lock()])


@given(st.integers(-50, 50), st.integers(0, 100), st.integers(1, 12))
def test_number_sequence_is_inclusive_and_ordered_in_each_split(
    start: int, more: int, parallelism: int
) -> None:
    source = NumberSequenceSource(start, start + more)
    assert everything(source, parallelism) == list(range(start, start + more + 1))
    splits = list(source.discover(DiscoveryContext(NONE, parallelism, 0)))
    assert len(splits) == min(parallelism, more + 1)
    assert len({split.id for split in splits}) == len(splits)
    assert source.discover(DiscoveryContext(frozenset({splits[0].id}), 99, 0)) == []


def test_number_sequence_over_all_longs() -> None:
    source = NumberSequenceSource(-(2**63), 2**63 - 1)
    splits = list(source.splits(NONE))
    assert len(splits) == 64
    assert values(source, splits[0], 0, 2) == [-(2**63), -(2**63) + 1]


def test_number_sequence_backwards() -> None:
    with pytest.raises(ProgramError, match="requires start <= end; got start 2 and end 1"):
        NumberSequenceSource(2, 1)


@given(st.integers(0, 60), st.integers(1, 7))
def test_generator_deals_indices_round(count: int, parallelism: int) -> None:
    source = DataGeneratorSource(lambda index: index, count)
    assert source.boundedness is Boundedness.BOUNDED
    assert sorted(everything(source, parallelism)) == list(range(count))


def test_generator_without_end() -> None:
    source = DataGeneratorSource(str)
    [first, second] = source.discover(DiscoveryContext(NONE, 2, 0))
    assert source.boundedness is Boundedness.CONTINUOUS_UNBOUNDED
    assert source.available(first, 5, 0) == UNLIMITED
    assert values(source, second, 1000, 1002) == ["2001", "2003"]


@given(st.integers(1, 5), st.floats(0.1, 5000), st.lists(st.integers(0, 5000), min_size=1, max_size=8))
def test_generator_keeps_its_rate(parallelism: int, rate: float, steps: list[int]) -> None:
    source = DataGeneratorSource(str, records_per_second=rate)
    splits = list(source.discover(DiscoveryContext(NONE, parallelism, 1_000_000)))
    positions = [0] * parallelism
    now = 1_000_000
    for step in [0, *steps]:
        positions = [
            source.available(split, position, now) for split, position in zip(splits, positions, strict=True)
        ]
        assert sum(positions) == 1 + int((now - 1_000_000) * rate / 1000)
        now += step


def test_generator_does_not_make_up_for_a_pause() -> None:
    [split] = DataGeneratorSource(str, records_per_second=10).splits(NONE)
    restarted = DataGeneratorSource(str, records_per_second=10)
    assert restarted.available(split, 500, 60_000) == 501
    assert restarted.available(split, 501, 61_000) == 511
    assert restarted.available(split, 511, 60_000) == 511


def test_generator_rate_ends_at_the_count() -> None:
    source = DataGeneratorSource(str, count=3, records_per_second=1)
    [split] = source.splits(NONE)
    assert [source.available(split, 0, now) for now in (0, 1000, 9000)] == [1, 2, 3]


@pytest.mark.parametrize(("count", "rate"), [(-1, None), (None, 0), (None, -1.0), (None, float("nan"))])
def test_generator_options(count: int | None, rate: float | None) -> None:
    with pytest.raises(ProgramError, match="DataGeneratorSource requires a"):
        DataGeneratorSource(str, count, rate)
