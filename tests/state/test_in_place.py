"""What is done in place to an object that was read from state, or put into it, changes no state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from firesteel.common import Row, Types
from firesteel.common.time import Time
from firesteel.functions.windows import TimeWindow
from firesteel.state.descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)
from firesteel.state.ttl import StateTtlConfig
from tests.state.memory import MemoryStore

WINDOW = TimeWindow(0, 10)
ROW = Types.ROW_NAMED(["n", "seen"], [Types.INT(), Types.LIST(Types.INT())])
TTL = StateTtlConfig.new_builder(Time.hours(1)).build()


@dataclass
class Basket:
    """An object of the program."""

    items: list[Any] = field(default_factory=list)


class Gather:
    """An aggregate that hands out its accumulator as the result."""

    def create_accumulator(self) -> list[Any]:
        return []

    def add(self, value: Any, accumulator: list[Any]) -> list[Any]:
        accumulator.append(value)
        return accumulator

    def get_result(self, accumulator: list[Any]) -> list[Any]:
        return accumulator

    def merge(self, one: list[Any], two: list[Any]) -> list[Any]:
        return one + two


OBJECTS: dict[str, tuple[Callable[[], Any], Any]] = {
    "list": (lambda: [1, [2]], None),
    "dict": (lambda: {"a": 1, "b": [2]}, None),
    "set": (lambda: {1, 2}, None),
    "bytearray": (lambda: bytearray(b"ab"), None),
    "tuple": (lambda: (1, [2]), None),
    "object": (lambda: Basket([1, 2]), None),
    "row": (lambda: Row(n=1, seen=[2]), None),
    "typed row": (lambda: Row(n=1, seen=[2]), ROW),
    "typed list": (lambda: [[1], [2]], Types.LIST(Types.LIST(Types.INT()))),
    "typed map": (lambda: {"a": [1]}, Types.MAP(Types.STRING(), Types.LIST(Types.INT()))),
    "typed tuple": (lambda: (1, [2]), Types.TUPLE([Types.INT(), Types.LIST(Types.INT())])),
}


def spoil(value: Any) -> None:
    """Change an object in place, at its top and in its depth."""
    if isinstance(value, Basket):
        value.items.append("spoilt")
    elif isinstance(value, Row):
        value.seen.append(99)
        value["n"] = 99
    elif isinstance(value, dict):
        for part in value.values():
            spoil(part)
        value["spoilt"] = [99]
    elif isinstance(value, tuple):
        spoil(value[1])
    elif isinstance(value, list):
        for part in value:
            spoil(part)
        value.append([99])
    elif isinstance(value, set):
        value.add(99)
    elif isinstance(value, bytearray):
        value.extend(b"spoilt")


class States:
    """One state of a kind, with what puts an object into it and what reads it."""

    def __init__(self, kind: str, type_info: Any, scope: str, expires: bool) -> None:
        self.store = MemoryStore(max_parallelism=4)
        self.kind, self._type, self._scope, self._expires = kind, type_info, scope, expires
        self._bind()

    def _bind(self) -> None:
        backend, made = self.store.backend, self._descriptor()
        if self._expires:
            made.enable_time_to_live(TTL)
        scope = getattr(backend, self._scope)
        scope.current = "a" if self._scope == "keyed" else ("a", WINDOW)
        self.handle: Any = {
            "value": backend.value_state,
            "list": backend.list_state,
            "map": backend.map_state,
            "reducing": backend.reducing_state,
            "aggregating": backend.aggregating_state,
        }[self.kind](made, scope)

    def _descriptor(self) -> StateDescriptor:
        if self.kind == "list":
            return ListStateDescriptor("s", self._type)
        if self.kind == "map":
            return MapStateDescriptor("s", Types.STRING(), self._type)
        if self.kind == "reducing":
            return ReducingStateDescriptor("s", lambda one, two: two, self._type)
        if self.kind == "aggregating":
            return AggregatingStateDescriptor("s", Gather(), self._type and Types.LIST(self._type))
        return ValueStateDescriptor("s", self._type)

    def put(self, value: Any) -> None:
        if self.kind == "value":
            self.handle.update(value)
        elif self.kind == "map":
            self.handle.put("k", value)
        else:
            self.handle.add(value)

    def read(self) -> list[Any]:
        """All ways in which the handle gives objects out."""
        if self.kind == "value":
            return [self.handle.value()]
        if self.kind == "map":
            return [self.handle.get("k"), *self.handle.values(), *dict(self.handle.items()).values()]
        if self.kind == "list":
            return [*self.handle.get(), *self.handle]
        return [self.handle.get()]

    def between(self, how: str) -> None:
        """What happens between one record and the next."""
        if how == "epoch":
            self.store.next_epoch()
        elif how == "restart":
            self.store.commit()
            self.store.restart()
            self._bind()
        elif how == "relax":
            self.store.backend.spill()


@pytest.mark.parametrize("between", ["record", "epoch", "restart", "relax"])
@pytest.mark.parametrize("expires", [False, True])
@pytest.mark.parametrize("scope", ["keyed", "windowed"])
@pytest.mark.parametrize("kind", ["value", "list", "map", "reducing", "aggregating"])
@pytest.mark.parametrize("what", OBJECTS)
def test_state_is_as_it_was_put_wherever_epochs_end(
    what: str, kind: str, scope: str, expires: bool, between: str
) -> None:
    make, type_info = OBJECTS[what]
    states = States(kind, type_info, scope, expires)
    given = make()
    states.put(given)
    spoil(given)
    states.between(between)
    spoil(given)
    expected = repr([make()] if kind == "aggregating" else make())
    for _ in range(2):
        for found in states.read():
            assert repr(found) == expected
            spoil(found)
        states.between(between)


@pytest.mark.parametrize("between", ["record", "epoch", "restart"])
@pytest.mark.parametrize("what", OBJECTS)
def test_broadcast_state_is_as_it_was_put(what: str, between: str) -> None:
    make, type_info = OBJECTS[what]
    store = MemoryStore(max_parallelism=4)
    descriptor = MapStateDescriptor("rules", Types.STRING(), type_info)
    given = make()
    store.backend.broadcast_state(descriptor).put("k", given)
    for _ in range(2):
        spoil(given)
        if between != "record":
            store.next_epoch()
        if between == "restart":
            store.restart()
        state = store.backend.broadcast_state(descriptor)
        for view in (state, state.to_read_only_broadcast_state()):
            for found in (view.get("k"), *view.values(), *dict(view.items()).values()):
                assert repr(found) == repr(make())
                spoil(found)
