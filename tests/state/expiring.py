"""A store of states with a time to live, beside a model that keeps every value with the time of its last access."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from firesteel.common.time import Time
from firesteel.common.typeinfo import Types
from firesteel.functions.windows import TimeWindow
from firesteel.state.descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from firesteel.state.keys.groups import state_key, state_key_bytes
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


def config(
    update: Update = WRITE, visibility: Visibility = NEVER, ttl: int = TTL, *, cleaned: bool = True
) -> StateTtlConfig:
    builder = StateTtlConfig.new_builder(Time.milliseconds(ttl))
    builder.set_update_type(update).set_state_visibility(visibility)
    return (builder if cleaned else builder.disable_cleanup_in_background()).build()


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
