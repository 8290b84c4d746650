"""Every handle equals a plain dict of lists, dicts and values, whatever is done and wherever epochs end."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.functions.windows import TimeWindow
from firesteel.state.descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from firesteel.state.keys.groups import StateKey, state_key, state_key_bytes
from firesteel.state.live import maps
from firesteel.state.live.place import Scope
from tests.state.memory import MemoryStore

USER_KEYS = ["a", "b", "a\0", "a\0\1", "", 1, -1, 2**70, (1, "x"), 1.0, True, "ä", "\ud800"]
MAP_KEYS = ["x", "y", "x\0", 1, 2, 1.0, (1, 2), None]
WINDOWS = [TimeWindow(0, 10), TimeWindow(10, 20), TimeWindow(-10, 10)]
KEYS = st.one_of(
    st.sampled_from(USER_KEYS).map(state_key),
    st.sampled_from(["a", "a\0\1"]),
    st.sampled_from([1, -3]),
)
NUMBERS = st.integers(-3, 3)


class Mean:
    def create_accumulator(self) -> list[int]:
        return [0, 0]

    def add(self, value: int, accumulator: list[int]) -> list[int]:
        accumulator[0] += value
        accumulator[1] += 1
        return accumulator

    def get_result(self, accumulator: list[int]) -> float:
        return accumulator[0] / accumulator[1]

    def merge(self, one: list[int], two: list[int]) -> list[int]:
        return [one[0] + two[0], one[1] + two[1]]


class Run:
    """A store, its handles of one scope, and the model: `current` -> what each state holds."""

    def __init__(self, scope: str) -> None:
        self.scope_name = scope
        self.store = MemoryStore(max_parallelism=4, cache_limit=0)
        self.values: dict[Any, int] = {}
        self.lists: dict[Any, list[int]] = {}
        self.maps: dict[Any, dict[bytes, tuple[Any, Any]]] = {}
        self.sums: dict[Any, int] = {}
        self.means: dict[Any, list[int]] = {}
        self.committed = self._copy()
        self.bind()
        self.current: Any = "a" if scope == "keyed" else ("a", WINDOWS[0])

    def bind(self) -> None:
        backend = self.store.backend
        self.scope: Scope = getattr(backend, self.scope_name)
        self.value = backend.value_state(ValueStateDescriptor("value"), self.scope)
        self.list = backend.list_state(ListStateDescriptor("list"), self.scope)
        self.map = backend.map_state(MapStateDescriptor("map"), self.scope)
        self.sum = backend.reducing_state(ReducingStateDescriptor("sum", lambda a, b: a + b), self.scope)
        self.mean = backend.aggregating_state(AggregatingStateDescriptor("mean", Mean()), self.scope)

    def _copy(self) -> Any:
        lists = {key: list(items) for key, items in self.lists.items()}
        maps = {key: dict(items) for key, items in self.maps.items()}
        means = {key: list(items) for key, items in self.means.items()}
        return dict(self.values), lists, maps, dict(self.sums), means

    def epoch(self, keep: bool) -> None:
        self.store.next_epoch(keep)
        self.committed = self._copy()

    def crash(self) -> None:
        self.store.restart()
        self.bind()
        self.values, self.lists, self.maps, self.sums, self.means = self.committed
        self.committed = self._copy()

    def check(self) -> None:
        current = self.scope.current = self.current
        assert self.value.value() == self.values.get(current)
        assert list(self.list.get()) == list(self.list) == self.lists.get(current, [])
        assert self.sum.get() == self.sums.get(current)
        mean = self.means.get(current)
        assert self.mean.get() == (mean and mean[0] / mean[1])
        expected = [entry for _, entry in sorted(self.maps.get(current, {}).items())]
        assert repr(list(self.map.items())) == repr(expected)
        assert repr(list(self.map)) == repr([key for key, _ in expected])
        assert list(self.map.values()) == [value for _, value in expected]
        assert self.map.is_empty() == (not expected)

    def apply(self, operation: str, number: int, map_key: Any) -> None:
        current = self.scope.current = self.current
        entry = state_key_bytes(state_key(map_key))
        model = self.maps.setdefault(current, {})
        match operation:
            case "update":
                self.value.update(number)
                self.values[current] = number
            case "update none" | "clear value":
                self.value.clear() if operation == "clear value" else self.value.update(None)
                self.values.pop(current, None)
            case "count":
                self.value.update((self.value.value() or 0) + 1)
                self.values[current] = self.values.get(current, 0) + 1
            case "append":
                self.list.add(number)
                self.lists.setdefault(current, []).append(number)
            case "extend":
                self.list.add_all([number, number])
                self.lists.setdefault(current, []).extend([number, number])
            case "replace":
                self.list.update([number] * abs(number))
                self.lists[current] = [number] * abs(number)
            case "clear list":
                self.list.clear()
                self.lists.pop(current, None)
            case "put":
                self.map[map_key] = number
                model[entry] = map_key, number
            case "put none":
                self.map.put_all({map_key: None})
                model[entry] = map_key, None
            case "get":
                assert self.map.get(map_key) == self.map[map_key] == model.get(entry, (None, None))[1]
                assert self.map.contains(map_key) == (map_key in self.map) == (entry in model)
            case "remove":
                del self.map[map_key]
                model.pop(entry, None)
            case "drain":
                for key in self.map:
                    self.map.remove(key)
                model.clear()
            case "clear map":
                self.map.clear()
                model.clear()
            case "add":
                self.sum.add(number)
                self.sums[current] = self.sums.get(current, 0) + number
                self.mean.add(number)
                total, count = self.means.get(current, [0, 0])
                self.means[current] = [total + number, count + 1]
            case "clear sum":
                self.sum.clear()
                self.mean.add(None)
                self.sums.pop(current, None)
                self.means.pop(current, None)
            case "merge":
                self._merge()
            case "check":
                self.check()

    def _merge(self) -> None:
        if self.scope_name == "keyed":
            return
        key, target = self.current
        sources = [window for window in WINDOWS if window != target]
        self.list.merge_namespaces(target, sources)
        self.sum.merge_namespaces(target, sources)
        self.mean.merge_namespaces(target, sources)
        self.value.merge_namespaces(target, sources, lambda one, two: one + two)
        for source in sources:
            if (key, source) in self.lists:
                self.lists.setdefault(self.current, []).extend(self.lists.pop((key, source)))
            for sums in (self.sums, self.values):
                if (key, source) in sums:
                    sums[self.current] = sums.get(self.current, 0) + sums.pop((key, source))
            if (key, source) in self.means:
                moved = self.means.pop((key, source))
                mean = self.means.setdefault(self.current, [0, 0])
                self.means[self.current] = [mean[0] + moved[0], mean[1] + moved[1]]


OPERATIONS = [
    "update", "update none", "clear value", "count", "append", "extend", "replace", "clear list", "put", "put none",
    "get", "remove", "drain", "clear map", "add", "clear sum", "merge", "check",
]  # fmt: skip
STEPS = st.one_of(
    st.tuples(st.sampled_from(OPERATIONS), NUMBERS, st.sampled_from(MAP_KEYS)),
    st.tuples(
        st.sampled_from(["append", "put", "count", "add", "check"]), NUMBERS, st.sampled_from(MAP_KEYS)
    ),
    st.tuples(st.just("key"), st.integers(0, 1), st.sampled_from(WINDOWS[:2])),
    st.tuples(st.just("epoch"), st.booleans(), st.just(None)),
    st.tuples(st.just("epoch"), st.just(True), st.just(None)),
    st.tuples(st.sampled_from(["crash", "relax", "spill"]), st.just(None), st.just(None)),
)


@pytest.mark.parametrize("scope", ["keyed", "windowed"])
@given(keys=st.tuples(KEYS, KEYS), steps=st.lists(STEPS, min_size=30, max_size=80))
@settings(max_examples=200)
def test_handles_equal_plain_collections(
    scope: str, keys: tuple[StateKey, StateKey], steps: list[tuple[str, Any, Any]]
) -> None:
    run = Run(scope)
    touched = {run.current}
    for step, first, second in steps:
        if step == "key":
            run.current = keys[first] if scope == "keyed" else (keys[first], second)
            touched.add(run.current)
        elif step == "epoch":
            run.epoch(first)
        elif step == "crash":
            run.crash()
        elif step in ("relax", "spill"):
            getattr(run.store.backend, step)()
        else:
            run.apply(step, first, second)
    for restart in (False, True):
        run.epoch(keep=True)
        if restart:
            run.crash()
        for current in touched:
            run.current = current
            run.check()


@given(keys=st.tuples(KEYS, KEYS), steps=st.lists(STEPS, min_size=30, max_size=60))
def test_large_maps_are_iterated_without_being_kept(
    keys: tuple[StateKey, StateKey], steps: list[tuple[str, Any, Any]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maps, "_WHOLE_MAP", 1)
        test_handles_equal_plain_collections.hypothesis.inner_test("keyed", keys, steps)


def test_a_list_got_is_the_callers_own() -> None:
    run = Run("keyed")
    run.scope.current = "a"
    run.list.add_all([3, 1, 2])
    run.list.get().sort()
    assert run.list.get() == [3, 1, 2]
    run.epoch(keep=True)
    run.list.get().clear()
    assert run.list.get() == [3, 1, 2]


def test_adding_to_a_list_does_not_read_it() -> None:
    run = Run("keyed")
    run.scope.current = "a"
    run.list.add_all(range(2000))
    run.epoch(keep=False)
    run.list.add(2000)
    run.list.add(2001)
    changes = run.store.next_epoch(keep=False)
    assert (run.store.reader.gets, run.store.reader.scans, len(changes)) == (0, 0, 1)
    assert run.list.get() == list(range(2002))


def test_a_key_is_read_once_and_written_once_an_epoch() -> None:
    run = Run("keyed")
    for _ in range(3):
        for _ in range(100):
            run.scope.current = "a"
            run.value.update((run.value.value() or 0) + 1)
            run.map.put("x", run.value.value())
            run.map.get("y")
        assert run.store.reader.gets == 2
        assert len(run.store.next_epoch(keep=False)) == 2
    assert run.value.value() == 300


def test_kept_entries_are_not_read_again() -> None:
    run = Run("keyed")
    run.scope.current = "a"
    run.value.update(1)
    run.list.get()
    run.list.add(1)
    run.map.put("x", 1)
    list(run.map)
    run.epoch(keep=True)
    assert (run.value.value(), run.list.get(), list(run.map.items())) == (1, [1], [("x", 1)])
    assert (run.store.reader.gets, run.store.reader.scans) == (0, 0)
    assert run.store.commit() == []


def test_a_window_that_comes_and_goes_within_an_epoch_leaves_no_trace() -> None:
    run = Run("windowed")
    run.scope.current = ("a", WINDOWS[0])
    for _ in range(2):
        run.value.update((run.value.value() or 0) + 1)
        run.sum.add(1)
        run.list.add(1)
        assert run.list.get() == [1]
        list(run.map)
        run.map.put("x", 1)
        for handle in (run.value, run.sum, run.list, run.map):
            handle.clear()
    assert run.store.next_epoch() == []
    assert run.store.backend.cached_entries == 0


def test_the_map_may_change_while_it_is_iterated() -> None:
    run = Run("keyed")
    run.scope.current = "a"
    run.map.put_all([("a", 1), ("b", 2), ("c", 3)])
    seen = []
    for key, value in run.map.items():
        seen.append((key, value))
        run.map.remove("b")
        run.map.put("d", 4)
    assert seen == [("a", 1), ("c", 3)]
    assert list(run.map.items()) == [("a", 1), ("c", 3), ("d", 4)]


def test_a_large_map_may_be_cleared_while_it_is_iterated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(maps, "_WHOLE_MAP", 1)
    run = Run("keyed")
    run.scope.current = "a"
    run.map.put_all([("a", 1), ("b", 2), ("c", 3)])
    run.epoch(keep=False)
    run.map.put("d", 4)
    entries = run.map.items()
    assert next(entries) == ("a", 1)
    run.map.clear()
    assert list(entries) == []


def test_a_map_that_was_cleared_is_empty_after_a_restart() -> None:
    run = Run("keyed")
    run.scope.current = "a"
    for load in (False, True):
        run.map.put_all({"x": 1, "y": 2})
        run.epoch(keep=not load)
        if load:
            list(run.map)
        run.map.clear()
        run.map.put("y", 3)
        run.epoch(keep=False)
        assert list(run.map.items()) == [("y", 3)]
