"""States with a time to live equal a model that keeps every value with the time of its last access."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.common.errors import ProgramError, StateEvolutionRequired
from firesteel.common.time import Time
from firesteel.common.typeinfo import Types
from firesteel.functions.windows import TimeWindow
from firesteel.state import map_handles
from firesteel.state.descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)
from firesteel.state.expiry import ExpiryRule, expiry_rule
from firesteel.state.keys import state_key, state_key_bytes
from firesteel.state.list_handles import join_elements
from firesteel.state.ttl import StateTtlConfig
from tests.state.memory import MemoryStore

TTL = 10
Update = StateTtlConfig.UpdateType
Visibility = StateTtlConfig.StateVisibility
UPDATES = list(Update)
VISIBILITIES = list(Visibility)
NEVER, RETURN = Visibility.NeverReturnExpired, Visibility.ReturnExpiredIfNotCleanedUp
WRITE, READ = Update.OnCreateAndWrite, Update.OnReadAndWrite

WINDOWS = [TimeWindow(0, 10), TimeWindow(10, 20), TimeWindow(20, 30)]
MAP_KEYS = ["x", "y", 1, (1, 2)]
Pair = tuple[Any, int]


class Mean:
    def create_accumulator(self) -> tuple[int, int]:
        return 0, 0

    def add(self, value: int, accumulator: tuple[int, int]) -> tuple[int, int]:
        return accumulator[0] + value, accumulator[1] + 1

    def get_result(self, accumulator: tuple[int, int]) -> float:
        return accumulator[0] / accumulator[1]

    def merge(self, one: tuple[int, int], two: tuple[int, int]) -> tuple[int, int]:
        return one[0] + two[0], one[1] + two[1]


def plus(one: int, two: int) -> int:
    return one + two


def config(update: Update = WRITE, visibility: Visibility = NEVER, ttl: int = TTL) -> StateTtlConfig:
    builder = StateTtlConfig.new_builder(Time.milliseconds(ttl))
    return builder.set_update_type(update).set_state_visibility(visibility).build()


def expiring(descriptor: Any, ttl_config: StateTtlConfig) -> Any:
    descriptor.enable_time_to_live(ttl_config)
    return descriptor


class Model:
    """What every state of every key holds, by Flink's rules, with nothing removed before Flink would."""

    def __init__(self, ttl_config: StateTtlConfig) -> None:
        self.update_type = ttl_config.get_update_type()
        self.returns = ttl_config.get_state_visibility() is RETURN
        self.now = 0
        self.single: dict[str, dict[Any, Pair]] = {"value": {}, "sum": {}, "mean": {}}
        self.lists: dict[Any, list[Pair]] = {}
        self.maps: dict[Any, dict[bytes, tuple[Any, Pair]]] = {}

    def copy(self) -> Any:
        return (
            {name: dict(values) for name, values in self.single.items()},
            {current: list(items) for current, items in self.lists.items()},
            {current: dict(entries) for current, entries in self.maps.items()},
        )

    def lives(self, pair: Pair) -> bool:
        return self.update_type is Update.Disabled or pair[1] + TTL > self.now

    def read(self, pair: Pair | None) -> tuple[bool, Any, Pair | None]:
        """Whether it is seen, what is seen, and what is there afterwards."""
        if pair is None:
            return False, None, None
        if not self.lives(pair):
            return (True, pair[0], None) if self.returns else (False, None, None)
        return True, pair[0], (pair[0], self.now) if self.update_type is READ else pair

    def read_single(self, name: str, current: Any) -> Any:
        _, value, after = self.read(self.single[name].pop(current, None))
        if after is not None:
            self.single[name][current] = after
        return value

    def read_list(self, current: Any) -> list[Any]:
        kept = self.lists.pop(current, [])
        live = [pair for pair in kept if self.lives(pair)]
        if live:
            refreshed = [(value, self.now) for value, _ in live]
            self.lists[current] = refreshed if self.update_type is READ else kept
        return [value for value, _ in (kept if self.returns else live)]

    def read_entry(self, current: Any, key: Any) -> tuple[bool, Any]:
        entries = self.maps.setdefault(current, {})
        found = entries.pop(state_key_bytes(state_key(key)), None)
        seen, value, after = self.read(None if found is None else found[1])
        if after is not None:
            entries[state_key_bytes(state_key(key))] = key, after
        return seen, value

    def read_map(self, current: Any) -> list[tuple[Any, Any]]:
        entries = sorted(self.maps.get(current, {}).items())
        read = [(key, *self.read_entry(current, key)) for _, (key, _) in entries]
        return [(key, value) for key, seen, value in read if seen]

    def is_empty(self, current: Any) -> bool:
        pairs = [pair for _, pair in self.maps.get(current, {}).values()]
        return not any(self.returns or self.lives(pair) for pair in pairs)

    def visible(self, pair: Pair) -> bool:
        return self.returns or self.lives(pair)

    def fold(self, function: Callable[[Any, Any], Any], one: Pair, two: Pair) -> Pair:
        seen = [pair[0] for pair in (one, two) if self.visible(pair)]
        if not seen:
            return one
        return (function(*seen) if len(seen) == 2 else seen[0]), self.now

    def add(self, number: int, current: Any) -> None:
        sums, means = self.single["sum"], self.single["mean"]
        new = number, self.now
        sums[current] = self.fold(plus, sums[current], new) if current in sums else new
        total, count = means[current][0] if current in means and self.visible(means[current]) else (0, 0)
        means[current] = (total + number, count + 1), self.now

    def merge(self, key: Any, target: Any, sources: list[Any]) -> None:
        moved = [pair for source in sources for pair in self.lists.pop((key, source), [])]
        if moved:
            self.lists.setdefault((key, target), []).extend(moved)
        for name, function in (("value", plus), ("sum", plus), ("mean", Mean().merge)):
            pairs = self.single[name]
            found = [pairs.pop((key, source)) for source in sources if (key, source) in pairs]
            merged = None
            for pair in found:
                merged = pair if merged is None else self.fold(function, merged, pair)
            if merged is not None:
                present = pairs.get((key, target))
                pairs[key, target] = merged if present is None else self.fold(function, present, merged)


class Run:
    """A store with its handles, and the model."""

    def __init__(self, scope: str, ttl_config: StateTtlConfig, typed: bool) -> None:
        self.scope_name = scope
        self.config = ttl_config
        self.type = Types.LONG() if typed else None
        self.store = MemoryStore(max_parallelism=4, cache_limit=0)
        self.model = Model(ttl_config)
        self.committed = self.model.copy()
        self.current: Any = "a" if scope == "keyed" else ("a", WINDOWS[0])
        self.bind()

    def bind(self) -> None:
        backend, ttl_config, kind = self.store.backend, self.config, self.type
        self.scope = getattr(backend, self.scope_name)
        pair = None if kind is None else Types.TUPLE([kind, kind])
        self.value = backend.value_state(
            expiring(ValueStateDescriptor("value", kind), ttl_config), self.scope
        )
        self.list = backend.list_state(expiring(ListStateDescriptor("list", kind), ttl_config), self.scope)
        self.map = backend.map_state(expiring(MapStateDescriptor("map", None, kind), ttl_config), self.scope)
        self.sum = backend.reducing_state(
            expiring(ReducingStateDescriptor("sum", plus, kind), ttl_config), self.scope
        )
        self.mean = backend.aggregating_state(
            expiring(AggregatingStateDescriptor("mean", Mean(), pair), ttl_config), self.scope
        )

    def epoch(self, keep: bool, passed: int) -> None:
        self.store.now += passed
        self.model.now += passed
        self.store.next_epoch(keep)
        self.committed = self.model.copy()

    def crash(self) -> None:
        self.store.restart()
        self.bind()
        self.model.single, self.model.lists, self.model.maps = self.committed
        self.committed = self.model.copy()

    def apply(self, operation: str, number: int, key: Any) -> None:
        model = self.model
        current = self.scope.current = self.current
        entry, new = state_key_bytes(state_key(key)), (number, model.now)
        match operation:
            case "update":
                self.value.update(number)
                model.single["value"][current] = new
            case "update none":
                self.value.update(None)
                model.single["value"].pop(current, None)
            case "value":
                assert self.value.value() == model.read_single("value", current)
            case "append":
                self.list.add(number)
                model.lists.setdefault(current, []).append(new)
            case "extend":
                self.list.add_all([number, number])
                model.lists.setdefault(current, []).extend([new, new])
            case "replace":
                self.list.update([number] * abs(number))
                model.lists[current] = [new] * abs(number)
            case "list":
                assert self.list.get() == model.read_list(current)
            case "put" | "put none":
                value = number if operation == "put" else None
                self.map.put(key, value)
                model.maps.setdefault(current, {})[entry] = key, (value, model.now)
            case "get":
                assert self.map.get(key) == model.read_entry(current, key)[1]
            case "contains":
                assert self.map.contains(key) == model.read_entry(current, key)[0]
            case "remove":
                self.map.remove(key)
                model.maps.setdefault(current, {}).pop(entry, None)
            case "items":
                assert list(self.map.items()) == model.read_map(current)
            case "is empty":
                assert self.map.is_empty() == model.is_empty(current)
            case "add":
                self.sum.add(number)
                self.mean.add(number)
                model.add(number, current)
            case "sum":
                assert self.sum.get() == model.read_single("sum", current)
                mean = model.read_single("mean", current)
                assert self.mean.get() == (None if mean is None else mean[0] / mean[1])
            case "clear":
                self._clear()
            case "merge" if self.scope_name == "windowed":
                self._merge()

    def check(self) -> None:
        for operation in ("is empty", "items", "is empty", "value", "list", "sum"):
            self.apply(operation, 0, None)

    def _clear(self) -> None:
        for handle in (self.value, self.list, self.map, self.sum, self.mean):
            handle.clear()
        for held in (*self.model.single.values(), self.model.lists, self.model.maps):
            held.pop(self.current, None)

    def _merge(self) -> None:
        key, target = self.current
        sources = [window for window in WINDOWS if window != target]
        self.list.merge_namespaces(target, sources)
        self.sum.merge_namespaces(target, sources)
        self.mean.merge_namespaces(target, sources)
        self.value.merge_namespaces(target, sources, plus)
        self.model.merge(key, target, sources)


OPERATIONS = [
    "update", "update none", "value", "append", "extend", "replace", "list", "put", "put none", "get", "contains",
    "remove", "items", "is empty", "add", "sum", "clear", "merge",
]  # fmt: skip
STEPS = st.one_of(
    st.tuples(st.sampled_from(OPERATIONS), st.integers(-3, 3), st.sampled_from(MAP_KEYS)),
    st.tuples(
        st.sampled_from(["append", "put", "update", "add"]), st.integers(-3, 3), st.sampled_from(MAP_KEYS)
    ),
    st.tuples(st.just("key"), st.sampled_from(["a", "b"]), st.sampled_from(WINDOWS)),
    st.tuples(st.just("epoch"), st.booleans(), st.sampled_from([0, 1, 4, 5, 9, 10, 11])),
    st.tuples(st.sampled_from(["crash", "relax", "spill"]), st.none(), st.none()),
)


def play(run: Run, steps: list[tuple[str, Any, Any]]) -> None:
    touched = {run.current: None}
    for step, first, second in steps:
        if step == "key":
            run.current = first if run.scope_name == "keyed" else (first, second)
            touched[run.current] = None
        elif step == "epoch":
            run.epoch(first, second)
        elif step == "crash":
            run.crash()
        elif step in ("relax", "spill"):
            getattr(run.store.backend, step)()
        else:
            run.apply(step, first, second)
    for passed in (0, TTL // 2, TTL):
        for current in touched:
            run.current = current
            run.check()
        run.epoch(keep=bool(passed), passed=passed)


@pytest.mark.parametrize("scope", ["keyed", "windowed"])
@pytest.mark.parametrize("visibility", VISIBILITIES, ids=lambda item: item.name)
@pytest.mark.parametrize("update", UPDATES, ids=lambda item: item.name)
@given(typed=st.booleans(), steps=st.lists(STEPS, min_size=20, max_size=80))
@settings(max_examples=25)
def test_state_expires_as_in_flink(
    update: Update, visibility: Visibility, scope: str, typed: bool, steps: list[tuple[str, Any, Any]]
) -> None:
    play(Run(scope, config(update, visibility), typed), steps)


@given(
    update=st.sampled_from(UPDATES),
    visibility=st.sampled_from(VISIBILITIES),
    steps=st.lists(STEPS, min_size=20, max_size=60),
)
def test_large_maps_expire_without_being_kept(
    update: Update, visibility: Visibility, steps: list[tuple[str, Any, Any]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(map_handles, "_WHOLE_MAP", 1)
        play(Run("keyed", config(update, visibility), typed=False), steps)


class CleanedRun(Run):
    """A store that is rebuilt from time to time from what compaction made of it."""

    def epoch(self, keep: bool, passed: int) -> None:
        before = self.store.now
        self.store.now += passed
        self.model.now += passed
        self.store.commit()
        if not keep:
            self.clean(before)
        self.store.begin(keep)
        self.committed = self.model.copy()

    def clean(self, now: int) -> None:
        rules = {rule.prefix: rule for rule in map(expiry_rule, self.store.schemas.values()) if rule}
        assert len(rules) == 5
        for key, value in list(self.store.entries.items()):
            kept = rules[key[:2]].kept(value, now)
            if kept is None:
                del self.store.entries[key]
            else:
                self.store.entries[key] = kept


@pytest.mark.parametrize("scope", ["keyed", "windowed"])
@given(
    update=st.sampled_from([WRITE, READ]),
    typed=st.booleans(),
    steps=st.lists(STEPS, min_size=20, max_size=80),
)
@settings(max_examples=50)
def test_no_read_tells_what_compaction_removed(
    update: Update, scope: str, typed: bool, steps: list[tuple[str, Any, Any]]
) -> None:
    play(CleanedRun(scope, config(update), typed), steps)


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
    run = Run("keyed", config(), typed=False)
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
