"""When a state with a time to live lets go of what has expired, and what may change about its configuration."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.common.errors import ProgramError, StateEvolutionRequired
from firesteel.common.time import Time
from firesteel.common.typeinfo import Types
from firesteel.state.descriptors import (
    MapStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)
from firesteel.state.ttl import StateTtlConfig
from firesteel.state.values.chunks import join_elements
from firesteel.state.values.expiry import ExpiryRule, expiry_rule
from tests.state.expiring import (
    READ,
    RETURN,
    TTL,
    VISIBILITIES,
    WRITE,
    Run,
    Update,
    Visibility,
    config,
    expiring,
)
from tests.state.memory import MemoryStore


@given(
    stamps=st.lists(st.integers(0, 2**40), min_size=1), now=st.integers(0, 2**41), ttl=st.integers(1, 2**40)
)
def test_a_whole_column_is_compared_with_the_limit_of_a_rule(stamps: list[int], now: int, ttl: int) -> None:
    rule = ExpiryRule(state_id=7, ttl_ms=ttl, in_chunks=False)
    values = pa.array([stamp.to_bytes(8, "big") + b"value" for stamp in stamps], pa.binary())
    over = pc.less_equal(pc.binary_slice(values, 0, 8), pa.scalar(rule.limit(now), pa.binary())).to_pylist()
    assert over == [rule.is_expired(value, now) for value in values.to_pylist()]
    assert over == [stamp + ttl <= now for stamp in stamps]


def test_what_is_left_of_a_chunk_is_what_is_not_over() -> None:
    rule = ExpiryRule(state_id=7, ttl_ms=TTL, in_chunks=True)
    early, late = b"\0" * 7 + b"\5early", b"\0" * 7 + b"\6late"
    chunk = join_elements([early, late])
    assert rule.kept(chunk, 5 + TTL - 1) is chunk
    assert rule.kept(chunk, 5 + TTL) == join_elements([late])
    assert rule.kept(chunk, 6 + TTL) is None
    assert (rule.is_expired(chunk, 5 + TTL), rule.is_expired(chunk, 6 + TTL)) == (False, True)


CLEAN_UP = {
    "nothing": lambda builder: builder,
    "snapshot": lambda builder: builder.disable_cleanup_in_background().cleanup_full_snapshot(),
    "incremental": lambda builder: builder.disable_cleanup_in_background().cleanup_incrementally(10, True),
    "filter": lambda builder: builder.disable_cleanup_in_background().cleanup_in_rocksdb_compact_filter(10),
    "none": lambda builder: builder.disable_cleanup_in_background(),
}


@pytest.mark.parametrize("chosen", CLEAN_UP)
def test_compaction_cleans_up_unless_nothing_shall(chosen: str) -> None:
    ttl_config = CLEAN_UP[chosen](StateTtlConfig.new_builder(Time.milliseconds(TTL))).build()
    run = Run("keyed", ttl_config, typed=False)
    rules = {path: expiry_rule(schema) for path, schema in run.store.backend.schemas().items()}
    assert rules.pop("timers:event") is None
    for path, rule in rules.items():
        assert rule == (None if chosen == "none" else ExpiryRule(rule.state_id, TTL, path == "keyed:list"))
    assert len(rules) == 5


def filled(ttl_config: StateTtlConfig) -> Run:
    run = Run("keyed", ttl_config, typed=False)
    run.scope.current = "a"
    run.value.update(1)
    run.list.add_all([1, 2])
    run.map.put_all({"x": 1, "y": None})
    run.sum.add(1)
    run.mean.add(1)
    run.epoch(keep=False, passed=TTL - 1)
    return run


def read_all(run: Run) -> list[Any]:
    run.scope.current = "a"
    return [run.value.value(), run.list.get(), list(run.map.items()), run.sum.get(), run.mean.get()]


FULL = [1, [1, 2], [("x", 1), ("y", None)], 1, 1.0]
EMPTY: list[Any] = [None, [], [], None, None]


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("visibility", VISIBILITIES, ids=lambda item: item.name)
def test_what_a_read_finds_expired_is_removed_from_the_store(visibility: Visibility, keep: bool) -> None:
    run = filled(config(WRITE, visibility))
    assert read_all(run) == FULL
    assert run.store.commit() == []
    run.epoch(keep, passed=1)
    assert read_all(run) == (FULL if visibility is RETURN else EMPTY)
    assert read_all(run) == EMPTY
    assert {value for _, value in run.store.next_epoch(keep)} == {None}
    assert run.store.entries == {}
    assert read_all(run) == EMPTY


def test_reading_prolongs_life_and_writes_once_an_epoch() -> None:
    run = filled(config(READ))
    for _ in range(3):
        assert read_all(run) == read_all(run) == FULL
        assert len(run.store.commit()) >= 5
        run.epoch(keep=False, passed=TTL - 1)
    run.epoch(keep=False, passed=1)
    assert read_all(run) == EMPTY


def test_reading_at_the_time_of_writing_writes_nothing() -> None:
    run = Run("keyed", config(READ), typed=False)
    run.scope.current = "a"
    run.value.update(1)
    run.list.add(1)
    run.map.put("x", 1)
    run.epoch(keep=False, passed=0)
    assert (run.value.value(), run.list.get(), list(run.map)) == (1, [1], ["x"])
    assert run.store.commit() == []


def test_the_expired_of_a_long_list_are_removed_once_they_are_half_of_it() -> None:
    run = Run("keyed", config(cleaned=False), typed=False)
    run.scope.current = "a"
    sizes = []
    for number in range(6 * TTL):
        run.list.add(number)
        assert run.list.get() == list(range(max(0, number - TTL + 1), number + 1))
        sizes.append(any(value is None for _, value in run.store.next_epoch(keep=number % 2 == 0)))
        run.store.now += 1
        run.epoch(keep=True, passed=0)
    assert 3 <= sum(sizes) <= 6
    assert len(run.store.entries) <= 2 * TTL


def test_an_epoch_that_is_run_again_expires_the_same() -> None:
    run = filled(config(WRITE, RETURN))
    run.epoch(keep=False, passed=1)
    for _ in range(2):
        assert read_all(run) == FULL
        run.crash()


def test_a_state_got_within_an_epoch_goes_by_its_time() -> None:
    store = MemoryStore()
    store.now = 1000
    store.begin(keep=False)
    value = store.backend.value_state(expiring(ValueStateDescriptor("late"), config()))
    store.backend.keyed.current = "a"
    value.update(1)
    store.now = 1000 + TTL - 1
    store.next_epoch(keep=False)
    assert value.value() == 1
    store.now += 1
    store.next_epoch(keep=False)
    assert value.value() is None


def restored_as(first: StateDescriptor, second: StateDescriptor) -> None:
    store = MemoryStore()
    store.backend.value_state(first)  # type: ignore[arg-type]
    store.next_epoch()
    store.restart()
    store.backend.value_state(second)  # type: ignore[arg-type]


def test_the_time_to_live_may_change() -> None:
    short, long = config(ttl=10), config(READ, RETURN, ttl=1000)
    restored_as(expiring(ValueStateDescriptor("v"), short), expiring(ValueStateDescriptor("v"), long))
    disabled = config(Update.Disabled)
    restored_as(ValueStateDescriptor("v"), expiring(ValueStateDescriptor("v"), disabled))


def test_a_longer_time_to_live_holds_for_what_was_saved() -> None:
    run = filled(config())
    run.config = config(ttl=2 * TTL)
    run.epoch(keep=False, passed=TTL)
    run.crash()
    assert read_all(run) == FULL


def test_a_time_to_live_switched_on_or_off_asks_for_a_conversion() -> None:
    plain, other = (
        ValueStateDescriptor("v", Types.LONG()),
        expiring(ValueStateDescriptor("v", Types.LONG()), config()),
    )
    for first, second in ((plain, other), (other, plain)):
        with pytest.raises(
            StateEvolutionRequired, match=r"state 'v' was saved as .*; got a descriptor for"
        ) as caught:
            restored_as(first, second)
        assert str(caught.value).count("with a TTL") == 1


def test_one_state_has_one_time_to_live() -> None:
    backend = MemoryStore().backend
    handle = backend.value_state(expiring(ValueStateDescriptor("v"), config()))
    assert backend.value_state(expiring(ValueStateDescriptor("v"), config(ttl=5))) is handle
    with pytest.raises(ProgramError, match="state 'v' is already in use as"):
        backend.value_state(ValueStateDescriptor("v"))


def test_broadcast_state_does_not_expire() -> None:
    store = MemoryStore()
    descriptor = expiring(MapStateDescriptor("rules", Types.STRING(), Types.LONG()), config())
    rules = store.backend.broadcast_state(descriptor)
    rules.put("x", 1)
    store.now += TTL
    store.next_epoch(keep=False)
    assert rules.get("x") == 1
    assert "ttl" not in store.schemas["broadcast:rules"]
