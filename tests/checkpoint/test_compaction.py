"""Compaction beside a model: whatever is merged, and whenever that is adopted, every copy reads the same state."""

from __future__ import annotations

import math
import os
import random
import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.checkpoint.compaction import merge_tasks, to_merge
from firesteel.checkpoint.manifest import Layer
from firesteel.checkpoint.objects import Storage
from firesteel.common import Types
from firesteel.common.errors import StateCorruptedError
from firesteel.control.maintenance import MaintenancePolicy
from firesteel.state.keys.groups import key_group_range
from firesteel.state.live.durable import RunRef
from firesteel.state.values.chunks import join_elements, split_elements
from firesteel.state.values.codecs import ValueCodec
from firesteel.state.values.evolution import converter
from firesteel.state.values.expiry import ExpiryRule
from tests.checkpoint.histories import (
    BROADCAST,
    GROUPS,
    Driver,
    Entries,
    encode,
    in_groups,
    read_copy,
    read_whole,
)

OPERATORS = ("a", "b")
EVERYWHERE = range(GROUPS)


@pytest.fixture(autouse=True, scope="module")
def _no_flush() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


PLACES = st.tuples(st.integers(0, 1), st.integers(0, GROUPS - 1) | st.just(BROADCAST), st.integers(0, 2))
CHANGES = st.dictionaries(PLACES, st.none() | st.binary(max_size=3), max_size=8)
COMMIT = st.tuples(
    st.just("commit"),
    st.integers(1, 5),
    st.fixed_dictionaries({}, optional=dict.fromkeys(OPERATORS, CHANGES)),
)
MERGE = st.tuples(st.just("merge"), st.integers(1, 5), st.none() | st.integers(1, 9))
ADOPT = st.tuples(st.just("adopt"), st.none(), st.none())
STEPS = st.lists(st.one_of(COMMIT, COMMIT, MERGE, ADOPT), min_size=6, max_size=24)


@settings(max_examples=40)
@given(STEPS, st.randoms(use_true_random=False))
def test_every_copy_reads_the_model_at_every_epoch(steps, rng):
    with TemporaryDirectory() as directory:
        driver = Driver(Storage.of(directory), OPERATORS)
        made = adopted = None
        for kind, parallelism, what in steps:
            if kind == "commit":
                driver.commit(what, parallelism, adopted)
                adopted = None
            elif kind == "merge" and made is None and driver.epoch > driver_compacted(driver):
                made = driver.merged(what, parallelism=parallelism)
            elif kind == "adopt":
                made, adopted = None, made or adopted
        for epoch in range(1, driver.epoch + 1):
            for operator in OPERATORS:
                assert read_whole(driver.storage, operator, epoch) == driver.models[epoch][operator]
        for _ in range(4):
            check_some_copy(driver, rng)


def driver_compacted(driver: Driver) -> int:
    return 0 if driver.journal.last is None else driver.last.compacted


def check_some_copy(driver: Driver, rng: random.Random) -> None:
    """A copy of some subtask, that reads at some epochs and sleeps in between."""
    if not driver.epoch:
        return
    parallelism = rng.randint(1, 5)
    groups = key_group_range(rng.randrange(parallelism), parallelism, GROUPS)
    operator = rng.choice(OPERATORS)
    epochs = sorted(rng.sample(range(1, driver.epoch + 1), rng.randint(1, min(4, driver.epoch))))
    expected = [in_groups(driver.models[epoch][operator], groups) for epoch in epochs]
    assert read_copy(driver.storage, operator, epochs, groups) == expected


# What expires. A value is its stamp and some bytes; a chunk of a list is several of those.

TTL = 10
RULES = (ExpiryRule(0, TTL, in_chunks=False), ExpiryRule(1, TTL, in_chunks=True))


def stamped(now: int, text: bytes = b"x") -> bytes:
    return struct.pack(">q", now) + text


def live(entries: Entries, now: int) -> Entries:
    """What of a state is to be seen at `now`."""
    found = {}
    for key, value in entries.items():
        if key[:2] == b"\0\1":
            elements = [element for element in split_elements(value) if element[:8] > stamped(now - TTL, b"")]
            if elements:
                found[key] = join_elements(elements)
        elif value[:8] > stamped(now - TTL, b""):
            found[key] = value
    return found


AGES = st.lists(st.integers(0, TTL + 5), min_size=1, max_size=3)
TTL_STEPS = st.lists(
    st.tuples(
        st.integers(0, 7),
        st.dictionaries(PLACES.filter(lambda place: place[1] != BROADCAST), st.none() | AGES, max_size=6),
        st.none() | st.integers(1, 6),
        st.integers(1, 3),
    ),
    min_size=3,
    max_size=12,
)


@settings(max_examples=40)
@given(TTL_STEPS)
def test_what_has_expired_leaves_and_nothing_else_does(steps):
    with TemporaryDirectory() as directory:
        driver = Driver(Storage.of(directory))
        driver.now = 100
        for later, ages, count, parallelism in steps:
            driver.now += later
            driver.commit(
                {"a": {place: old(place, found, driver.now) for place, found in ages.items()}}, parallelism
            )
            if count is not None:
                driver.commit({}, 1, driver.merged(count, parallelism=parallelism, rules=RULES))
            shown = read_whole(driver.storage, "a", driver.epoch)
            assert live(shown, driver.now) == live(driver.models[driver.epoch]["a"], driver.now)
        driver.commit({}, 1, driver.merged(99, rules=RULES))
        merged = read_whole(driver.storage, "a", driver.epoch)
        assert merged == live(driver.models[driver.epoch]["a"], driver.now)
        [layer] = driver.last.layers.get("a", []) or [Layer(0, 0, True, [])]
        assert layer.whole
        assert sum(run.entries for run in layer.runs) == len(merged)


def old(place: tuple[int, int, int], ages: list[int] | None, now: int) -> bytes | None:
    if ages is None:
        return None
    elements = [stamped(now - age, b"%d" % age) for age in ages]
    return join_elements(elements) if place[0] == 1 else elements[0]


def test_an_entry_that_expires_in_a_merge_of_changes_hides_an_older_one():
    with TemporaryDirectory() as directory:
        driver = Driver(Storage.of(directory))
        driver.now = 100
        driver.commit({"a": {(0, 1, number): stamped(100, b"base" * 50) for number in range(90)}})
        driver.commit({"a": {(0, 1, 0): stamped(95)}})  # a clock that went back: it expires first
        driver.now = 106
        driver.commit({}, 1, driver.merged(1, rules=RULES))
        assert encode((0, 1, 0)) not in read_whole(driver.storage, "a", driver.epoch)
        assert len(read_whole(driver.storage, "a", driver.epoch)) == 89


NUMBERS = st.dictionaries(
    st.tuples(st.integers(0, 1), st.integers(0, GROUPS - 1), st.integers(0, 2)),
    st.none() | st.integers(-(2**31), 2**31 - 1),
    max_size=8,
)


@settings(max_examples=15)
@given(st.lists(st.tuples(NUMBERS, st.integers(1, 3)), min_size=1, max_size=6), st.integers(1, 5))
def test_a_merge_with_a_converter_converts_that_state_and_no_other(epochs, parallelism):
    int_codec, double_codec = ValueCodec(Types.INT(), "n"), ValueCodec(Types.DOUBLE(), "n")
    schema = {"id": 1, "scope": "keyed", "name": "n", "kind": "value", "type": {"type": "INT"}}
    convert = converter(schema, {**schema, "type": {"type": "DOUBLE"}}, 0)
    assert not convert.keeps_bytes
    with TemporaryDirectory() as directory:
        driver = Driver(Storage.of(directory))
        for numbers, width in epochs:
            encoded = {
                place: None if value is None else int_codec.encode(value) for place, value in numbers.items()
            }
            driver.commit({"a": encoded}, width)
        before = driver.models[driver.epoch]["a"]
        driver.commit({}, 1, driver.merged(99, parallelism=parallelism, converters=(convert,)))
        assert read_whole(driver.storage, "a", driver.epoch) == {
            key: double_codec.encode(int_codec.decode(value)) if key[:2] == b"\0\1" else value
            for key, value in before.items()
        }


# How much work it is.


def test_a_constant_rate_of_changes_costs_little_for_ever():
    with TemporaryDirectory() as directory:
        driver = Driver(Storage.of(directory), retained=3, policy=MaintenancePolicy(10, 10, inline=True))
        rng, written, most = random.Random(1), 0, 0
        for epoch in range(1, 2001):
            changes = {(0, rng.randrange(GROUPS), rng.randrange(300)): b"%d" % epoch for _ in range(5)}
            driver.commit({"a": changes})
            written += sum(run.size for run in driver.last.operators["a"].runs)
            if epoch % 10 == 1:
                most = max(most, len(driver.last.layers.get("a", [])))
        state = driver.models[driver.epoch]["a"]
        assert read_whole(driver.storage, "a", driver.epoch) == state
        assert read_copy(driver.storage, "a", [driver.epoch], EVERYWHERE) == [state]
        ratio = math.log2(2000)
        assert most <= ratio
        assert driver.merger.written <= ratio * written
        files = driver.storage.entries("runs")
        assert len(files) <= 40
        assert len(driver.storage.list("manifests")) <= 30
        assert max(file.size for file in driver.storage.entries("manifests")) < 20_000


@settings(max_examples=50)
@given(st.lists(st.integers(0, 1000), max_size=60))
def test_the_number_of_layers_is_logarithmic_whatever_their_sizes(sizes):
    layers: list[Layer] = []
    for number, size in enumerate(sizes, 1):
        layers.append(Layer(number, number, False, [ref(size)]))
        while count := to_merge(layers):
            merged = ref(sum(layer.size for layer in layers[-count:]))
            layers[-count:] = [Layer(layers[-count].first, number, count == len(layers), [merged])]
        found = [layer.size for layer in layers]
        assert all(older > 2 * newer for older, newer in pairwise(found))
        assert len(layers) <= 2 + math.log2(max(1, sum(sizes)))
        assert [layer.first for layer in layers[1:]] == [layer.last + 1 for layer in layers[:-1]]


SIZES = st.lists(st.integers(0, 9) | st.integers(0, 100_000), min_size=1, max_size=40)


@given(st.lists(SIZES, max_size=30))
def test_a_merge_after_many_epochs_leaves_few_layers_whatever_their_sizes(stretches):
    layers: list[Layer] = []
    written = rewritten = 0
    for number, sizes in enumerate(stretches, 1):
        layers += [Layer(number, number, False, [ref(size)]) for size in sizes]
        written += sum(sizes)
        if count := to_merge(layers):
            merged = sum(layer.size for layer in layers[-count:])
            layers[-count:] = [Layer(layers[-count].first, number, count == len(layers), [ref(merged)])]
            rewritten += merged
        assert len(layers) <= 2 + math.log(1 + written, 3)
        assert rewritten <= written * (1 + math.log(1 + written, 1.5))


def test_a_small_epoch_after_a_large_one_does_not_stop_a_merge():
    """As when windows fire once a minute: the epochs between have little."""
    minute = [5_000, *[10] * 19]
    assert to_merge([Layer(n, n, False, [ref(size)]) for n, size in enumerate(minute * 5, 1)]) == 100


def ref(size: int) -> RunRef:
    return RunRef("", 1, size, "", 0, "", 0, 0, 0)


def test_a_merge_is_cut_into_ranges_that_cover_all_key_groups_once():
    for parallelism in range(1, 12):
        layer = Layer(1, 1, False, [ref(10)])
        tasks = merge_tasks(
            "a", [layer, layer], 2, max_parallelism=8, parallelism=parallelism, epoch=9, now=0
        )
        assert [group for task in tasks for group in range(task.first_group, task.last_group + 1)] == [
            *range(8)
        ]
    large = Layer(1, 1, False, [ref(100 << 20)])
    assert len(merge_tasks("a", [large], 1, max_parallelism=128, parallelism=1, epoch=9, now=0)) == 7


def test_a_damaged_run_fails_its_merge_by_name(tmp_path: Path):
    driver = Driver(Storage.of(tmp_path))
    driver.commit({"a": {(0, 0, 0): b"1"}})
    driver.commit({"a": {(0, 0, 1): b"2"}})
    [path, _] = driver.storage.list("runs")
    driver.storage.put(path, b"damaged")
    with pytest.raises(StateCorruptedError, match=path):
        driver.merged(2)
