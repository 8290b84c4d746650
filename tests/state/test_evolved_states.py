"""A declaration of new types converts what a state holds, of every kind of state, or names what does not fit."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from firesteel.common import Row, Types
from firesteel.common.errors import FiresteelError, StateEvolutionRequired, StateMismatchError
from firesteel.common.time import Time
from firesteel.common.typeinfo import TypeInformation
from firesteel.functions.windows import TimeWindow
from firesteel.state.descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    ValueStateDescriptor,
)
from firesteel.state.keys.groups import state_key
from firesteel.state.live.backend import KeyedStateBackend
from firesteel.state.ttl import StateTtlConfig
from firesteel.state.values.catalog import StateCatalog, merge_schemas
from firesteel.state.values.conversion import compare_types
from firesteel.state.values.evolution import converter, migrate_schemas
from firesteel.state.values.schemas import type_text
from tests.state.memory import MemoryStore

TTL = 10


def evolve(store: MemoryStore, declare: Callable[[KeyedStateBackend], Any]) -> tuple[Any, list[str]]:
    """Do what control does: convert what a declaration asks for until nothing is left; the handle, and what it took."""
    converted = []
    while True:
        store.restart()
        try:
            return declare(store.backend), converted
        except StateEvolutionRequired as error:
            asked = pickle.loads(pickle.dumps(error))
            converted.append(asked.path)
            change = pickle.loads(pickle.dumps(converter(asked.recorded, asked.declared, store.now)))
            entries = {
                key: change.convert(key, value) if key.startswith(change.prefix) else value
                for key, value in store.entries.items()
            }
            store.entries = {key: value for key, value in entries.items() if value is not None}
            store.schemas = migrate_schemas(store.schemas, asked.path, asked.declared)


class Total:
    def create_accumulator(self) -> int:
        return 0

    def add(self, value: int, accumulator: int) -> int:
        return accumulator + value

    def get_result(self, accumulator: int) -> int:
        return accumulator

    def merge(self, one: int, other: int) -> int:
        return one + other


WINDOW = TimeWindow(0, 10)


def expiring(descriptor: Any, ttl: int | None) -> Any:
    if ttl is not None:
        config = StateTtlConfig.new_builder(Time.milliseconds(ttl)).build()
        descriptor.enable_time_to_live(config)
    return descriptor


class Handles:
    """One state of each kind, in both scopes, of one type of value."""

    def __init__(
        self, backend: KeyedStateBackend, kind: TypeInformation | None, ttl: int | None = None
    ) -> None:
        def plus(one: Any, other: Any) -> Any:
            return one + other

        self.backend = backend
        self.keyed = [
            backend.value_state(expiring(ValueStateDescriptor("value", kind), ttl)),
            backend.list_state(expiring(ListStateDescriptor("list", kind), ttl)),
            backend.map_state(expiring(MapStateDescriptor("map", Types.STRING(), kind), ttl)),
            backend.reducing_state(expiring(ReducingStateDescriptor("reducing", plus, kind), ttl)),
            backend.aggregating_state(
                expiring(AggregatingStateDescriptor("aggregating", Total(), kind), ttl)
            ),
        ]
        contents = ValueStateDescriptor("window-contents", kind)
        self.contents = backend.value_state(expiring(contents, ttl), backend.windowed)
        self.broadcast = backend.broadcast_state(MapStateDescriptor("rules", Types.STRING(), kind))

    def at(self, key: Any) -> None:
        self.backend.keyed.current = state_key(key)
        self.backend.windowed.current = (state_key(key), WINDOW)

    def write(self, key: Any, number: int) -> None:
        self.at(key)
        value, items, entries, reducing, aggregating = self.keyed
        value.update(number)
        items.add_all([number, number + 1])
        entries.put("x", number)
        entries.put("none", None)
        reducing.add(number)
        aggregating.add(number)
        self.contents.update(number)
        self.broadcast.put("limit", number)

    def read(self, key: Any) -> list[Any]:
        self.at(key)
        value, items, entries, reducing, aggregating = self.keyed
        return [
            value.value(), items.get(), list(entries.items()), reducing.get(), aggregating.get(), self.contents.value(),
        ]  # fmt: skip


def holding(number: Any) -> list[Any]:
    return [number, [number, number + 1], [("none", None), ("x", number)], number, number, number]


EMPTY: list[Any] = [None, [], [], None, None, None]
STATES = [
    "keyed:value", "keyed:list", "keyed:map", "keyed:reducing", "keyed:aggregating", "windowed:window-contents",
]  # fmt: skip
KEYS = ["a", 5, ("a", 1.5)]


def filled(kind: TypeInformation | None, ttl: int | None = None) -> MemoryStore:
    store = MemoryStore()
    store.now = 1000
    store.begin(keep=False)
    handles = Handles(store.backend, kind, ttl)
    for number, key in enumerate(KEYS):
        handles.write(key, number)
    store.next_epoch()
    return store


@pytest.mark.parametrize(
    ("old", "new", "form"),
    [
        (Types.INT(), Types.LONG(), int),
        (Types.INT(), Types.DOUBLE(), float),
        (Types.LONG(), Types.BIG_DEC(), Decimal),
        (None, Types.LONG(), int),
        (Types.LONG(), None, int),
    ],
)
def test_every_kind_of_state_is_converted(
    old: TypeInformation | None, new: TypeInformation | None, form: type
) -> None:
    store = filled(old)
    handles, converted = evolve(store, lambda backend: Handles(backend, new))
    assert converted == [*STATES, "broadcast:rules"]
    for number, key in enumerate(KEYS):
        found = handles.read(key)
        assert found == holding(number)
        assert type(found[0]) is type(found[1][0]) is form
        assert handles.broadcast.get("limit") == len(KEYS) - 1
    handles.write("new", 9)
    store.next_epoch(keep=False)
    assert handles.read("new") == holding(9)
    assert evolve(store, lambda backend: Handles(backend, new))[1] == []


def test_a_time_to_live_switched_on_begins_with_the_conversion() -> None:
    store = filled(Types.INT())
    store.now = 5000
    handles, converted = evolve(store, lambda backend: Handles(backend, Types.LONG(), TTL))
    assert converted[:-1] == STATES
    for now, expected in ((5000 + TTL - 1, holding(1)), (5000 + TTL, EMPTY)):
        store.now = now
        store.next_epoch(keep=False)
        assert handles.read(5) == expected


def test_a_time_to_live_switched_off_leaves_what_is_not_over() -> None:
    store = filled(Types.INT(), TTL)
    store.restart()
    handles = Handles(store.backend, Types.INT(), TTL)
    store.now += TTL - 1
    store.next_epoch(keep=False)
    handles.write("late", 7)
    handles.at("a")
    handles.keyed[1].add(70)
    store.next_epoch(keep=False)
    store.now += 1
    handles, converted = evolve(store, lambda backend: Handles(backend, Types.INT()))
    assert converted == STATES
    store.now += 100 * TTL
    store.next_epoch(keep=False)
    assert handles.read("a") == [None, [70], [], None, None, None]
    assert handles.read(5) == EMPTY
    assert handles.read("late") == holding(7)


def test_what_is_over_stays_over_when_only_the_type_changes() -> None:
    store = filled(Types.INT(), TTL)
    store.now += TTL - 1
    handles, _ = evolve(store, lambda backend: Handles(backend, Types.LONG(), TTL))
    assert handles.read("a") == holding(0)
    store.now += 1
    store.next_epoch(keep=False)
    assert handles.read("a") == EMPTY


PERSON = Types.ROW_NAMED(["name", "age"], [Types.STRING(), Types.INT()])


@pytest.mark.parametrize(
    ("value", "new", "expected"),
    [
        (("a", 1), Types.TUPLE([Types.STRING(), Types.LONG()]), ("a", 1)),
        (["a", 1], Types.TUPLE([Types.STRING(), Types.LONG()]), ("a", 1)),
        ({"name": "a", "age": 1}, PERSON, Row(name="a", age=1)),
        (Row(age=1, name="a"), PERSON, Row(name="a", age=1)),
        (Row("a", 1), PERSON, Row(name="a", age=1)),
        ({"a": [1]}, Types.MAP(Types.STRING(), Types.LIST(Types.INT())), {"a": [1]}),
        (3, Types.DOUBLE(), 3.0),
    ],
)
def test_an_untyped_value_gets_a_type_it_fits(value: Any, new: TypeInformation, expected: Any) -> None:
    store = with_value(value)
    handle, converted = evolve(store, lambda backend: backend.value_state(ValueStateDescriptor("x", new)))
    store.backend.keyed.current = "a"
    assert (converted, handle.value()) == (["keyed:x"], expected)


@pytest.mark.parametrize(
    ("value", "new"),
    [
        (1.5, Types.INT()),
        ("a", Types.INT()),
        (2**40, Types.INT()),
        (("a", 1, 2), Types.TUPLE([Types.STRING(), Types.LONG()])),
        ({"name": "a", "age": 1, "city": "b"}, PERSON),
        (Row(name="a", age=1, city="b"), PERSON),
        ([1, 2.5], Types.LIST(Types.INT())),
        ({"a": 1.5}, Types.MAP(Types.STRING(), Types.INT())),
    ],
)
def test_an_untyped_value_that_does_not_fit_is_named(value: Any, new: TypeInformation) -> None:
    store = with_value(value)
    with pytest.raises(StateMismatchError) as caught:
        evolve(store, lambda backend: backend.value_state(ValueStateDescriptor("x", new)))
    message = str(caught.value)
    assert message.startswith(
        "the value of state 'x' at key 'a' was saved as ValueState<PICKLED>, and cannot become ValueState<"
    )
    assert f"ValueState<{type_text(new.schema())}>; got " in message


def with_value(value: Any) -> MemoryStore:
    store = MemoryStore()
    handle = store.backend.value_state(ValueStateDescriptor("x"))
    store.backend.keyed.current = "a"
    handle.update(value)
    store.next_epoch()
    return store


def test_an_entry_that_cannot_be_converted_is_named_by_its_map_key() -> None:
    store = MemoryStore()
    keyed = store.backend.map_state(MapStateDescriptor("m", Types.STRING()), store.backend.windowed)
    rules = store.backend.broadcast_state(MapStateDescriptor("r", Types.STRING()))
    store.backend.windowed.current = (5, WINDOW)
    keyed.put("x", "text")
    rules.put("y", "text")
    store.next_epoch()

    def declare(backend: KeyedStateBackend) -> Any:
        return backend.map_state(MapStateDescriptor("m", Types.STRING(), Types.INT()), backend.windowed)

    with pytest.raises(FiresteelError, match=r"the value of state 'm' at key 5, map key 'x' was saved"):
        evolve(store, declare)
    with pytest.raises(FiresteelError, match=r"the value of state 'r', map key 'y' was saved"):
        evolve(
            store,
            lambda backend: backend.broadcast_state(MapStateDescriptor("r", Types.STRING(), Types.INT())),
        )


def test_what_a_conversion_will_do_is_said_in_full() -> None:
    old = Types.ROW_NAMED(["a", "b", "c"], [Types.INT(), Types.STRING(), Types.LIST(Types.INT())])
    new = Types.ROW_NAMED(["c", "a", "d"], [Types.LIST(Types.LONG()), Types.INT(), Types.DOUBLE()])
    store = MemoryStore()
    store.backend.value_state(ValueStateDescriptor("x", old))
    store.next_epoch()
    store.restart()
    with pytest.raises(StateEvolutionRequired) as caught:
        store.backend.value_state(expiring(ValueStateDescriptor("x", new), 5))
    assert str(caught.value) == (
        "state 'x' was saved as ValueState<ROW<a INT, b STRING, c LIST<INT>>>; got a descriptor for "
        "ValueState<ROW<c LIST<BIGINT>, a INT, d DOUBLE>> with a TTL of 5 ms\n"
        "  hint: it is converted before the job continues: value.c[]: INT becomes LONG; value.d: DOUBLE is new; "
        "value.b: STRING is gone; it expires from now on"
    ).replace("BIGINT", "LONG")
    assert (caught.value.path, caught.value.recorded["kind"]) == ("keyed:x", "value")


def test_a_row_without_names_is_taken_by_position() -> None:
    old, new = Types.ROW([Types.INT(), Types.STRING()]), PERSON_SWAPPED
    comparison = compare_types(old.schema(), new.schema())
    assert comparison.convert is not None
    assert comparison.convert(Row(f0=1, f1="a")) == Row(age=1, name="a", city=None)
    assert comparison.changes == [
        "value.f0 is called age",
        "value.f1 is called name",
        "value.city: STRING is new",
    ]


PERSON_SWAPPED = Types.ROW_NAMED(["age", "name", "city"], [Types.INT(), Types.STRING(), Types.STRING()])


def test_the_newest_time_to_live_is_recorded() -> None:
    store = filled(Types.INT(), TTL)
    assert store.schemas["keyed:value"]["ttl"]["ms"] == TTL
    recorded = store.schemas
    store.restart()
    Handles(store.backend, Types.INT(), 3 * TTL)
    declared = store.backend.schemas()
    assert declared["keyed:list"]["ttl"]["ms"] == 3 * TTL
    not_yet_declared = recorded
    for reports in ([declared, not_yet_declared], [not_yet_declared, declared]):
        assert merge_schemas([recorded, *reports], "p") == declared


def test_a_time_to_live_of_which_no_length_was_recorded_is_no_obstacle() -> None:
    catalog = StateCatalog()
    recorded = {"id": 3, "scope": "keyed", "name": "x", "kind": "value", "type": None, "ttl": True}
    catalog.restore({"keyed:x": recorded})
    ttl = {"ms": 5, "update": "OnCreateAndWrite", "visibility": "NeverReturnExpired", "cleanup": True}
    assert catalog.declare("keyed", "x", "value", {"type": None, "ttl": True}) == 3
    assert catalog.declare("keyed", "x", "value", {"type": None, "ttl": ttl}) == 3
    assert catalog.schemas() == {"keyed:x": {**recorded, "ttl": ttl}}
