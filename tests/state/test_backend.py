from __future__ import annotations

import json
from typing import Any

import pytest

from firesteel.common.errors import (
    ProgramError,
    StateEvolutionRequired,
    StateMismatchError,
    TypeMismatchError,
)
from firesteel.common.typeinfo import Types
from firesteel.common.types import Row
from firesteel.functions.windows import TimeWindow
from firesteel.state.descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from firesteel.state.keys.groups import key_group
from firesteel.state.live.state_kinds import kind_of
from firesteel.state.values.catalog import StateCatalog, merge_schemas
from tests.state.expiring import config, expiring
from tests.state.memory import MemoryStore


def test_the_same_name_gives_the_same_handle() -> None:
    backend = MemoryStore().backend
    handle = backend.value_state(ValueStateDescriptor("x", Types.LONG()))
    assert backend.value_state(ValueStateDescriptor("x", Types.LONG())) is handle
    windowed = backend.value_state(ValueStateDescriptor("x", Types.LONG()), backend.windowed)
    assert windowed is not handle
    assert windowed.state_id != handle.state_id


def test_the_same_name_with_another_kind_or_type_is_refused() -> None:
    backend = MemoryStore().backend
    backend.value_state(ValueStateDescriptor("x", Types.LONG()))
    with pytest.raises(
        ProgramError, match=r"state 'x' is already in use as ValueState<LONG>; got .*ListState<LONG>"
    ):
        backend.list_state(ListStateDescriptor("x", Types.LONG()))
    with pytest.raises(ProgramError, match="state 'x' is already in use"):
        backend.value_state(ValueStateDescriptor("x", Types.STRING()))


def test_what_is_no_descriptor_of_keyed_state_is_refused() -> None:
    assert kind_of(ReducingStateDescriptor("x", max)).name == "reducing"
    with pytest.raises(ProgramError, match="requires a state descriptor; got a str: 'x'"):
        kind_of("x")


def test_a_declared_state_is_converted_to_the_time_to_live_it_has_then() -> None:
    store = MemoryStore()
    store.backend.value_state(ValueStateDescriptor("x"))
    store.commit()
    store.restart()
    descriptor = expiring(ValueStateDescriptor("x"), config(ttl=7))
    with pytest.raises(StateEvolutionRequired) as required:
        store.backend.value_state(descriptor)
    assert required.value.declared["ttl"]["ms"] == 7


def test_schemas_are_json_and_keep_the_ids_of_states_that_are_gone() -> None:
    store = MemoryStore()
    old = store.backend.value_state(ValueStateDescriptor("old"))
    kept = store.backend.map_state(MapStateDescriptor("kept", Types.STRING(), Types.LONG()))
    store.backend.broadcast_state(MapStateDescriptor("rules"))
    store.commit()
    store.schemas = json.loads(json.dumps(store.schemas))
    store.restart()
    new = store.backend.list_state(ListStateDescriptor("new"))
    assert (
        store.backend.map_state(MapStateDescriptor("kept", Types.STRING(), Types.LONG())).state_id
        == kept.state_id
    )
    assert len({old.state_id, kept.state_id, new.state_id}) == 3
    found = store.backend.schemas()
    assert set(found) == {"keyed:old", "keyed:kept", "keyed:new", "broadcast:rules", "timers:event"}
    assert found["keyed:old"] == {
        "id": old.state_id,
        "scope": "keyed",
        "name": "old",
        "kind": "value",
        "type": None,
    }
    assert found["keyed:kept"]["value"] == Types.LONG().schema()


def test_a_state_that_was_saved_as_something_else_is_refused_with_both() -> None:
    store = MemoryStore()
    store.backend.value_state(ValueStateDescriptor("x", Types.LONG()))
    store.backend.list_state(ListStateDescriptor("y"))
    store.commit()
    store.restart()
    with pytest.raises(StateMismatchError) as caught:
        store.backend.value_state(ValueStateDescriptor("x", Types.STRING()))
    assert "state 'x' was saved as ValueState<LONG>; got a descriptor for ValueState<STRING>" in str(
        caught.value
    )
    with pytest.raises(
        StateMismatchError, match=r"was saved as ListState<PICKLED>; got a descriptor for ValueState<PICKLED>"
    ):
        store.backend.value_state(ValueStateDescriptor("y"))


def test_subtasks_give_a_state_the_same_id_in_any_order() -> None:
    names = [f"state-{number}" for number in range(50)]
    one, two = MemoryStore(), MemoryStore()
    for name in names:
        one.backend.value_state(ValueStateDescriptor(name))
    for name in reversed(names[10:]):
        two.backend.value_state(ValueStateDescriptor(name))
    merged = merge_schemas([one.backend.schemas(), two.backend.schemas()], "p")
    assert merged == one.backend.schemas()


def test_names_whose_hashes_clash_get_ids_of_their_own_and_keep_them() -> None:
    catalog = StateCatalog()
    ids = {name: catalog.declare("keyed", name, "value", {}) for name in map(str, range(2000))}
    assert len(set(ids.values())) == 2000
    restored = StateCatalog()
    restored.restore(catalog.schemas())
    assert {name: restored.declare("keyed", name, "value", {}) for name in reversed(ids)} == ids


def test_subtasks_that_disagree_about_ids_are_found_out() -> None:
    schema = {"id": 1, "scope": "keyed", "name": "a", "kind": "value", "type": None}
    who = "process 'p' (job.py:1)"
    with pytest.raises(StateMismatchError, match="state 'keyed:b' clashes with state 'keyed:a'") as clash:
        merge_schemas([{"keyed:a": schema}, {"keyed:b": {**schema, "name": "b"}}], who)
    with pytest.raises(
        StateMismatchError, match=r"state 'a' is ValueState<PICKLED> \(id 1\) in one subtask"
    ) as ids:
        merge_schemas([{"keyed:a": schema}, {"keyed:a": {**schema, "id": 2}}], who)
    assert [str(error.value).startswith(f"{who}: state '") for error in (clash, ids)] == [True, True]


def test_state_is_not_mixed_up_between_names_scopes_and_key_groups() -> None:
    store = MemoryStore()
    backend = store.backend
    first = backend.value_state(ValueStateDescriptor("first"))
    second = backend.value_state(ValueStateDescriptor("second"))
    windowed = backend.value_state(ValueStateDescriptor("first"), backend.windowed)
    backend.keyed.current = "a"
    backend.windowed.current = ("a", TimeWindow(0, 1))
    first.update(1)
    second.update(2)
    windowed.update(3)
    changes = store.next_epoch(keep=False)
    assert (first.value(), second.value(), windowed.value()) == (1, 2, 3)
    assert {key[:2] for key, _ in changes} == {
        handle.state_id.to_bytes(2, "big") for handle in (first, second, windowed)
    }
    assert {int.from_bytes(key[2:4], "big") for key, _ in changes} == {key_group("a", 128)}


def test_typed_values_are_coerced_when_they_are_set() -> None:
    backend = MemoryStore().backend
    backend.keyed.current = "a"
    value = backend.value_state(ValueStateDescriptor("value", Types.INT()))
    value.update(1.5)
    assert value.value() == 1
    elements = backend.list_state(ListStateDescriptor("list", Types.INT()))
    elements.add_all([1.5])
    elements.add(1.5)
    assert elements.get() == [1, 1]
    entries = backend.map_state(MapStateDescriptor("map", Types.INT(), Types.INT()))
    entries.put(1.5, 2.5)
    assert list(entries.items()) == [(1, 2)]
    assert entries.contains(1.5)
    entries.put(3.0, None)
    assert entries.contains(3.0)
    total = backend.reducing_state(ReducingStateDescriptor("sum", lambda a, b: a + b / 2, Types.INT()))
    total.add(1)
    total.add(1)
    assert total.get() == 1
    with pytest.raises(TypeMismatchError):
        value.update("a")
    with pytest.raises(TypeMismatchError):
        elements.add("a")
    with pytest.raises(TypeMismatchError):
        entries.put("a", 1.0)


def test_typed_state_is_restored() -> None:
    store = MemoryStore()
    row = Types.ROW_NAMED(["name", "count"], [Types.STRING(), Types.LONG()])
    value = store.backend.value_state(ValueStateDescriptor("value", row))
    store.backend.keyed.current = "a"
    value.update(Row(name="x", count=1))
    store.next_epoch(keep=False)
    assert value.value() == Row(name="x", count=1)


def test_the_prefix_of_one_key_is_the_prefix_of_no_other() -> None:
    store = MemoryStore(max_parallelism=1)
    elements = store.backend.list_state(ListStateDescriptor("list"))
    keys = ["a", "a\0", "a\0\1", "a\0\1\0", "", "\0\1", "aa", "\ud800\0\1"]
    for key in keys:
        store.backend.keyed.current = key
        elements.add(key)
    store.next_epoch(keep=False)
    for key in keys:
        store.backend.keyed.current = key
        assert elements.get() == [key]


class Longest:
    def create_accumulator(self) -> str:
        return ""

    def add(self, value: str, accumulator: str) -> str:
        return max(value, accumulator, key=len)

    def get_result(self, accumulator: str) -> int:
        return len(accumulator)

    def merge(self, one: str, two: str) -> str:
        return self.add(one, two)


def test_accumulators_are_kept_and_results_returned() -> None:
    store = MemoryStore()
    longest = store.backend.aggregating_state(
        AggregatingStateDescriptor("longest", Longest(), Types.STRING())
    )
    store.backend.keyed.current = "a"
    assert longest.get() is None
    longest.add("abc")
    longest.add("d")
    store.next_epoch(keep=False)
    assert longest.get() == 3
    longest.clear()
    assert longest.get() is None


def test_broadcast_state_is_one_map_whatever_the_key() -> None:
    store = MemoryStore()
    backend = store.backend
    rules = backend.get_broadcast_state(MapStateDescriptor("rules", Types.STRING(), Types.INT()))
    rules.put_all({"a": 1, "b": 2})
    backend.keyed.current = "k"
    rules["c"] = 3
    del rules["b"]
    changes = store.next_epoch(keep=False)
    assert [(key[2:4], value is None) for key, value in changes] == [
        (b"\xff\xff", False),
        (b"\xff\xff", True),
        (b"\xff\xff", False),
    ]
    view = rules.to_read_only_broadcast_state()
    assert (view.get("a"), view["c"], view.get("b"), "c" in view) == (1, 3, None, True)
    assert (list(view.items()), list(view), list(view.values())) == ([("a", 1), ("c", 3)], ["a", "c"], [1, 3])
    assert not view.is_empty()
    assert not hasattr(view, "put")
    view.clear()
    assert rules.is_empty()


def test_clean_entries_are_dropped_beyond_the_limit_and_read_again() -> None:
    store = MemoryStore(cache_limit=10)
    backend = store.backend
    value = backend.value_state(ValueStateDescriptor("value"))
    entries = backend.map_state(MapStateDescriptor("map"))
    elements = backend.list_state(ListStateDescriptor("list"))

    def each(action: Any) -> None:
        for key in range(100):
            backend.keyed.current = key
            action(key)

    def fill(key: int) -> None:
        value.update(key)
        entries.put_all((number, key) for number in range(3))
        elements.add(key)
        elements.get()

    each(fill)
    for _ in range(20):
        backend.relax()
    assert len(store.next_epoch(keep=True)) == 500
    for _ in range(20):
        backend.relax()
    assert backend.cached_entries <= 10
    each(lambda key: elements.add(key))
    each(lambda _: backend.relax())
    seen: list[Any] = []
    each(lambda key: seen.append((value.value(), entries.get(2), elements.get())))
    assert seen == [(key, key, [key, key]) for key in range(100)]


def test_a_large_map_that_was_read_is_dropped_again() -> None:
    store = MemoryStore(cache_limit=10)
    entries = store.backend.map_state(MapStateDescriptor("map"))
    store.backend.keyed.current = "a"
    entries.put_all((number, number) for number in range(100))
    store.next_epoch(keep=False)
    assert len(list(entries)) == 100
    assert store.backend.cached_entries == 100
    store.backend.relax()
    assert store.backend.cached_entries == 0


def test_keyed_state_without_a_current_key_is_refused() -> None:
    backend = MemoryStore().backend
    value = backend.value_state(ValueStateDescriptor("value"))
    windowed = backend.value_state(ValueStateDescriptor("value"), backend.windowed)
    with pytest.raises(ProgramError, match="only while an element or a timer is processed"):
        value.value()
    with pytest.raises(ProgramError, match="only while an element or a timer is processed"):
        windowed.value()
    value.update(1)
    with pytest.raises(ProgramError, match="only while an element or a timer is processed"):
        list(backend.changes())
