"""Operator list state: lists of a subtask rather than of a key, redistributed when the parallelism changes.

A list is a plain Python list in memory. At the end of each epoch its elements are encoded one by one into the manifest
(`OperatorLists`), so the driver can redistribute them without their classes.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import msgspec

from firesteel.common.errors import ProgramError, StateMismatchError
from firesteel.state.api import BroadcastState, ListState, OperatorStateStore
from firesteel.state.descriptors import ListStateDescriptor, MapStateDescriptor
from firesteel.state.values.codecs import ValueCodec
from firesteel.state.values.schemas import type_text


class ListMode(enum.Enum):
    """How the elements of a list are distributed after a restart (Flink: OperatorStateHandle.Mode)."""

    SPLIT = "split"
    UNION = "union"


_VERSION_SIZE: Final = 16

_GETTERS: Final = {ListMode.SPLIT: "get_list_state()", ListMode.UNION: "get_union_list_state()"}


class ListSnapshot(msgspec.Struct, frozen=True):
    """The encoded elements of one list of one subtask; `schema` is that of their type, None if it is not declared.

    A snapshot that a subtask gets may hold the elements of all subtasks (union). `kept`, a start and an end, is then
    the part that this subtask saves until it clears or updates the list; None means all elements.
    """

    mode: ListMode
    schema: dict[str, Any] | None
    elements: list[bytes]
    kept: tuple[int, int] | None = None

    @property
    def kept_range(self) -> tuple[int, int]:
        """The start and the end of the part that this subtask saves."""
        return (0, len(self.elements)) if self.kept is None else self.kept


class OperatorLists(msgspec.Struct, frozen=True):
    """All lists of one subtask after an epoch, by name.

    `version` names the contents, so a live instance that has missed epochs can see whether its lists are still these;
    None if no instance wrote them, because they have been redistributed.
    """

    lists: dict[str, ListSnapshot]
    version: str | None


class OperatorList(ListState[Any]):
    """A list of one subtask.

    Every subtask has all elements of a restored union list, but saves only the elements that it wrote itself until it
    clears or updates the list. Otherwise each restart would multiply the state by the parallelism.
    """

    __slots__ = ("_codec", "_coerce", "_elements", "_kept", "_restored")

    def __init__(self, codec: ValueCodec, restored: ListSnapshot | None) -> None:
        self._codec = codec
        self._coerce = codec.coerce
        self._elements = [] if restored is None else list(map(codec.decode, restored.elements))
        self._restored = len(self._elements)
        self._kept = (0, 0) if restored is None else restored.kept_range

    def get(self) -> list[Any]:
        """Return the elements, as a new list."""
        return self._elements[:]

    def add(self, value: Any) -> None:
        """Add an element."""
        self._elements.append(value if self._coerce is None else self._coerce(value))

    def add_all(self, values: Iterable[Any]) -> None:
        """Add several elements."""
        self._elements += list(values) if self._coerce is None else list(map(self._coerce, values))

    def update(self, values: Iterable[Any]) -> None:
        """Replace all elements with `values`."""
        values = list(values)
        self.clear()
        self.add_all(values)

    def clear(self) -> None:
        """Remove all elements."""
        self._elements, self._restored, self._kept = [], 0, (0, 0)

    def encoded(self) -> list[bytes]:
        """Return the elements that this subtask saves, encoded."""
        start, end = self._kept
        return list(self._codec.encode_all(self._elements[start:end] + self._elements[self._restored :]))


class _Declared(NamedTuple):
    mode: ListMode
    schema: dict[str, Any] | None
    handle: OperatorList


class OperatorListStore(OperatorStateStore):
    """The lists of one subtask, as they were `restored`.

    Its errors name the list; the caller adds the operator. A restored list that the program does not use is saved
    again unchanged, as in Flink: a program that uses it again finds it.
    """

    def __init__(self, restored: OperatorLists | None) -> None:
        self._restored = {} if restored is None else restored.lists
        self._declared: dict[str, _Declared] = {}

    def get_list_state(self, state_descriptor: ListStateDescriptor) -> OperatorList:
        """Return the list of this name."""
        return self._list(state_descriptor, ListMode.SPLIT)

    def get_union_list_state(self, state_descriptor: ListStateDescriptor) -> OperatorList:
        """Return the union list of this name."""
        return self._list(state_descriptor, ListMode.UNION)

    def get_broadcast_state(self, state_descriptor: MapStateDescriptor) -> BroadcastState[Any, Any]:
        """Raise an error: broadcast state belongs to the contexts of broadcast process functions."""
        raise ProgramError(
            "requires broadcast state to be got from the context of a broadcast process function",
            got=f"get_broadcast_state() of an operator state store, for '{state_descriptor.get_name()}'",
            hint="connect(stream.broadcast(descriptor)), and ctx.get_broadcast_state(descriptor) in the function",
        )

    def snapshot(self) -> OperatorLists:
        """Return the snapshot of all lists. Raises SerializationError if an element cannot be saved."""
        lists = {
            name: _own(snapshot) for name, snapshot in self._restored.items() if name not in self._declared
        }
        for name, (mode, schema, handle) in self._declared.items():
            lists[name] = ListSnapshot(mode, schema, handle.encoded())
        return OperatorLists(
            lists, blake2b(msgspec.msgpack.encode(lists), digest_size=_VERSION_SIZE).hexdigest()
        )

    def _list(self, descriptor: ListStateDescriptor, mode: ListMode) -> OperatorList:
        if not isinstance(descriptor, ListStateDescriptor):
            raise ProgramError(f"requires a ListStateDescriptor for {_GETTERS[mode]}", got=repr(descriptor))
        name, who = descriptor.get_name(), f"list state '{descriptor.get_name()}'"
        codec = ValueCodec(descriptor.elem_type_info, who)
        known, restored = self._declared.get(name), self._restored.get(name)
        if known is None:
            if restored is not None and (restored.mode, restored.schema) != (mode, codec.schema):
                raise StateMismatchError(
                    f"was saved as {_described(restored.mode, restored.schema)}",
                    who=who,
                    got=_described(mode, codec.schema),
                    hint="declare it as it was saved, or give the new state another name",
                )
            known = self._declared[name] = _Declared(mode, codec.schema, OperatorList(codec, restored))
        elif known[:2] != (mode, codec.schema):
            raise ProgramError(
                f"is already in use as {_described(known.mode, known.schema)}",
                who=who,
                got=_described(mode, codec.schema),
                hint="give each state of an operator its own name",
            )
        return known.handle


def _own(snapshot: ListSnapshot) -> ListSnapshot:
    start, end = snapshot.kept_range
    return ListSnapshot(snapshot.mode, snapshot.schema, snapshot.elements[start:end])


def _described(mode: ListMode, schema: dict[str, Any] | None) -> str:
    kind = "a list" if mode is ListMode.SPLIT else "a union list"
    return f"{kind} of {type_text(schema)}"
