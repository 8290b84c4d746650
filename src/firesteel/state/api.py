"""The state interfaces of user functions, with PyFlink's names and meaning."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from firesteel.state.descriptors import ListStateDescriptor, MapStateDescriptor

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
IN = TypeVar("IN")
OUT = TypeVar("OUT")


class OperatorStateStore(ABC):
    """Where the state of an operator's subtask, which belongs to no key, is got from."""

    __slots__ = ()

    @abstractmethod
    def get_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        """Return a list of which each subtask has a share; the shares are cut anew when the parallelism changes."""

    @abstractmethod
    def get_union_list_state(self, state_descriptor: ListStateDescriptor) -> ListState[Any]:
        """Return a list to which each subtask adds, and of which each is given everything after a restart."""

    @abstractmethod
    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
        """Return the broadcast state of this name, made on first use."""


class State(ABC):
    """State of the current key (or of the subtask, for broadcast state)."""

    __slots__ = ()

    @abstractmethod
    def clear(self) -> None:
        """Remove what is kept for the current key."""


class ValueState(State, Generic[T]):
    """One value per key."""

    __slots__ = ()

    @abstractmethod
    def value(self) -> T | None:
        """Return the value, None if there is none."""

    @abstractmethod
    def update(self, value: T | None) -> None:
        """Set the value; None removes it (Flink: ValueState.update)."""


class AppendingState(State, Generic[IN, OUT]):
    """State that elements are added to."""

    __slots__ = ()

    @abstractmethod
    def get(self) -> OUT:
        """Return what was made of the elements added so far."""

    @abstractmethod
    def add(self, value: IN) -> None:
        """Add an element."""


class MergingState(AppendingState[IN, OUT]):
    """Appending state of which two instances can be merged, as session windows do."""

    __slots__ = ()


class ReducingState(MergingState[T, T | None], Generic[T]):
    """Elements folded into one of their kind by a reduce function; `get` is None before the first."""

    __slots__ = ()


class AggregatingState(MergingState[IN, OUT | None], Generic[IN, OUT]):
    """Elements folded into an accumulator; `get` is the function's result for it, None before the first element."""

    __slots__ = ()


class ListState(MergingState[T, Iterable[T]], Generic[T]):
    """A list of elements per key, empty at first."""

    __slots__ = ()

    @abstractmethod
    def update(self, values: Iterable[T]) -> None:
        """Put `values` in the place of all elements; no values clear the state."""

    @abstractmethod
    def add_all(self, values: Iterable[T]) -> None:
        """Add several elements, in order."""

    def __iter__(self) -> Iterator[T]:
        return iter(self.get())


class ReadOnlyBroadcastState(State, Generic[K, V]):
    """A map that every subtask holds the same copy of, for reading."""

    __slots__ = ()

    @abstractmethod
    def get(self, key: K) -> V | None:
        """Return the value of a key, None if there is none."""

    @abstractmethod
    def contains(self, key: K) -> bool:
        """Tell whether there is an entry for the key."""

    @abstractmethod
    def items(self) -> Iterable[tuple[K, V]]:
        """Return the entries, in the order of their keys' canonical bytes."""

    @abstractmethod
    def keys(self) -> Iterable[K]:
        """Return the keys, ordered as `items`."""

    @abstractmethod
    def values(self) -> Iterable[V]:
        """Return the values, ordered as `items`."""

    @abstractmethod
    def is_empty(self) -> bool:
        """Tell whether there are no entries."""

    def __getitem__(self, key: K) -> V | None:
        return self.get(key)

    def __contains__(self, key: K) -> bool:
        return self.contains(key)

    def __iter__(self) -> Iterator[K]:
        return iter(self.keys())


class BroadcastState(ReadOnlyBroadcastState[K, V]):
    """A map that every subtask holds the same copy of, if every subtask makes the same changes to it."""

    __slots__ = ()

    @abstractmethod
    def put(self, key: K, value: V) -> None:
        """Set the value of a key."""

    @abstractmethod
    def put_all(self, dict_value: Mapping[K, V] | Iterable[tuple[K, V]]) -> None:
        """Set the values of several keys, from a dict or from pairs."""

    @abstractmethod
    def remove(self, key: K) -> None:
        """Remove the entry of a key, if there is one."""

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        self.remove(key)


class MapState(State, Generic[K, V]):
    """A map per key, read and written entry by entry."""

    __slots__ = ()

    @abstractmethod
    def get(self, key: K) -> V | None:
        """Return the value of a key, None if there is none."""

    @abstractmethod
    def put(self, key: K, value: V) -> None:
        """Set the value of a key."""

    @abstractmethod
    def put_all(self, dict_value: Mapping[K, V] | Iterable[tuple[K, V]]) -> None:
        """Set the values of several keys, from a dict or from pairs."""

    @abstractmethod
    def remove(self, key: K) -> None:
        """Remove the entry of a key, if there is one."""

    @abstractmethod
    def contains(self, key: K) -> bool:
        """Tell whether there is an entry for the key."""

    @abstractmethod
    def items(self) -> Iterable[tuple[K, V]]:
        """Return the entries, in the order of their keys' canonical bytes; the map may change meanwhile."""

    @abstractmethod
    def keys(self) -> Iterable[K]:
        """Return the keys, ordered as `items`."""

    @abstractmethod
    def values(self) -> Iterable[V]:
        """Return the values, ordered as `items`."""

    @abstractmethod
    def is_empty(self) -> bool:
        """Tell whether there are no entries."""

    def __getitem__(self, key: K) -> V | None:
        return self.get(key)

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        self.remove(key)

    def __contains__(self, key: K) -> bool:
        return self.contains(key)

    def __iter__(self) -> Iterator[K]:
        return iter(self.keys())
