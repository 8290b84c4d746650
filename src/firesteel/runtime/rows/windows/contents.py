"""The contents of windows: all records, or their reduced or aggregated value.

Contract: the scope `windowed` is set to a key and a window before `add`, `add_all`, `get`, `clear` and `merge`. `fold`
sets it itself: it takes many records of one window at once, which is what the hot loops do. `fold` passes each pane
that is new to it to `on_new`, which registers its timers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

from firesteel.common.sealing import seal
from firesteel.functions.elements import AggregateFunction, ReduceFunction
from firesteel.runtime.failures import RAISED, user_failure
from firesteel.state.descriptors import ListStateDescriptor, ValueStateDescriptor
from firesteel.state.live.backend import KeyedStateBackend

STATE_NAME = "window-contents"

OnNew = Callable[[tuple[Any, Any]], None]


class WindowContents(ABC):
    """The contents of the windows of an operator; see the module for the contract."""

    keeps_records: bool
    """Whether the records themselves are kept, so that each window needs its own copy of a mutable record."""

    @abstractmethod
    def add(self, value: Any) -> None:
        """Add a record to the current pane."""

    @abstractmethod
    def add_all(self, values: list[Any]) -> None:
        """Add records to the current pane, in order."""

    @abstractmethod
    def get(self) -> list[Any] | None:
        """Return the contents of the current pane for the window function; None if empty. You may change them."""

    @abstractmethod
    def last(self) -> list[Any] | None:
        """Return the same without a copy, because `clear` follows."""

    @abstractmethod
    def clear(self) -> None:
        """Empty the current pane."""

    @abstractmethod
    def merge(self, target: Any, sources: list[Any]) -> None:
        """Move the contents of the windows `sources` of the current key to the window `target`."""

    @abstractmethod
    def fold(self, window: Any, keys: list[Any], values: list[Any], on_new: OnNew) -> None:
        """Add each value to the pane of its key and of `window`."""


class _Pane(dict[Any, Any]):
    """A dict from key to the contents of the window for it, read from state on the first access."""

    __slots__ = ("load",)

    def __init__(self, load: Callable[[Any], Any]) -> None:
        super().__init__()
        self.load = load

    def __missing__(self, key: Any) -> Any:
        return self.load(key)


class ListContents(WindowContents):
    """All records, in order of arrival."""

    keeps_records = True

    def __init__(self, backend: KeyedStateBackend, record_type: Any) -> None:
        self._scope = backend.windowed
        self._state = backend.list_state(ListStateDescriptor(STATE_NAME, record_type), backend.windowed)

    def add(self, value: Any) -> None:
        self._state.hold_all([value])

    def add_all(self, values: list[Any]) -> None:
        self._state.hold_all(values)

    def get(self) -> list[Any] | None:
        return self._state.get() or None

    def last(self) -> list[Any] | None:
        return self._state.held() or None

    def clear(self) -> None:
        self._state.clear()

    def merge(self, target: Any, sources: list[Any]) -> None:
        self._state.merge_namespaces(target, sources)

    def fold(self, window: Any, keys: list[Any], values: list[Any], on_new: OnNew) -> None:
        groups: dict[Any, list[Any]] = {}
        for key, value in zip(keys, values, strict=True):
            group = groups.get(key)
            if group is None:
                groups[key] = [value]
            else:
                group.append(value)
        scope, add_all = self._scope, self._state.hold_all
        for key, group in groups.items():
            # Only a read shows whether a list is new; registering a timer twice is cheaper.
            scope.current = current = (key, window)
            on_new(current)
            add_all(group)


class _SingleContents(WindowContents):
    """One value per pane, kept as a value state; None is an empty pane."""

    def __init__(self, backend: KeyedStateBackend, value_type: Any, who: str) -> None:
        self._scope = backend.windowed
        self._state = backend.value_state(ValueStateDescriptor(STATE_NAME, value_type), backend.windowed)
        self._who = who

    def add(self, value: Any) -> None:
        self._state.hold(self._fold_one(self._state.held(), iter((value,))))

    def add_all(self, values: list[Any]) -> None:
        iterator = iter(values)
        try:
            self._state.hold(self._fold_one(self._state.held(), iterator))
        except RAISED as error:
            raise user_failure(error, self._who, values, iterator) from error

    def clear(self) -> None:
        self._state.clear()

    def fold(self, window: Any, keys: list[Any], values: list[Any], on_new: OnNew) -> None:
        read = self._state.reader()
        currents: list[Any] = []

        def load(key: Any) -> Any:
            current = (key, window)
            currents.append(current)
            value = read(current)
            if value is None:
                on_new(current)
            return value

        pane = _Pane(load)
        iterator = iter(values)
        try:
            self._fold(pane, keys, iterator)
        except RAISED as error:
            raise user_failure(error, self._who, values, iterator) from error
        self._state.hold_each(currents, pane.values())

    @abstractmethod
    def _fold(self, pane: _Pane, keys: list[Any], values: Iterator[Any]) -> None:
        """Add each value to the entry of its key."""

    @abstractmethod
    def _fold_one(self, held: Any, values: Iterator[Any]) -> Any:
        """Return the contents of a pane after `values` were added to `held`."""


class ReduceContents(_SingleContents):
    """The records, reduced to one (Flink: ReducingState)."""

    keeps_records = True

    def __init__(
        self, backend: KeyedStateBackend, function: ReduceFunction, record_type: Any, who: str
    ) -> None:
        super().__init__(backend, record_type, who)
        self._reduce = function.reduce

    def _fold_one(self, reduced: Any, values: Iterator[Any]) -> Any:
        reduce = self._reduce
        for value in values:
            reduced = value if reduced is None else reduce(reduced, value)
        return reduced

    def get(self) -> list[Any] | None:
        reduced = self._state.value()
        return None if reduced is None else [reduced]

    def last(self) -> list[Any] | None:
        reduced = self._state.held()
        return None if reduced is None else [reduced]

    def merge(self, target: Any, sources: list[Any]) -> None:
        self._state.merge_namespaces(target, sources, self._reduce)

    def _fold(self, pane: _Pane, keys: list[Any], values: Iterator[Any]) -> None:
        reduce = self._reduce
        for key, value in zip(keys, values, strict=True):
            before = pane[key]
            pane[key] = value if before is None else reduce(before, value)


class AggregateContents(_SingleContents):
    """The records' accumulator; a record that is None empties it (Flink: AggregatingState)."""

    keeps_records = False

    def __init__(
        self, backend: KeyedStateBackend, function: AggregateFunction, accumulator_type: Any, who: str
    ) -> None:
        super().__init__(backend, accumulator_type, who)
        self._function = function

    def _fold_one(self, accumulator: Any, values: Iterator[Any]) -> Any:
        function = self._function
        for value in values:
            if value is None:
                accumulator = None
            else:
                if accumulator is None:
                    accumulator = function.create_accumulator()
                accumulator = function.add(value, accumulator)
        return accumulator

    def get(self) -> list[Any] | None:
        accumulator = self._state.held()
        if accumulator is None:
            return None
        result = self._function.get_result(accumulator)
        return None if result is None else [seal(result)]

    def last(self) -> list[Any] | None:
        return self.get()  # overlapping windows share the parts of a record that accumulators keep

    def merge(self, target: Any, sources: list[Any]) -> None:
        self._state.merge_namespaces(target, sources, self._function.merge)

    def _fold(self, pane: _Pane, keys: list[Any], values: Iterator[Any]) -> None:
        create, add = self._function.create_accumulator, self._function.add
        for key, value in zip(keys, values, strict=True):
            accumulator = pane[key]
            if accumulator is None:
                accumulator = create()
            pane[key] = None if value is None else add(value, accumulator)


def own_copy(contents: WindowContents) -> Callable[[Any], Any]:
    """Return a function that makes a record safe for one more window to keep."""
    return seal if contents.keeps_records else _as_it_is


def _as_it_is(value: Any) -> Any:
    return value
