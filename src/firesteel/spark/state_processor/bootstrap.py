"""The new states of an operator in a savepoint, each from a DataFrame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema

from firesteel.common.errors import ProgramError
from firesteel.common.typeinfo import TypeInformation
from firesteel.functions.windows import WINDOW_CODEC
from firesteel.saved.columns import TypeSchema
from firesteel.saved.row_writing import RowWriter, Written
from firesteel.state.descriptors import (
    AggregatingStateDescriptor,
    ListStateDescriptor,
    MapStateDescriptor,
    ReducingStateDescriptor,
    StateDescriptor,
    ValueStateDescriptor,
)
from firesteel.state.values.expiry import ttl_schema
from firesteel.state.values.schemas import Schema

_KINDS = {
    ValueStateDescriptor: "value",
    ListStateDescriptor: "list",
    MapStateDescriptor: "map",
    ReducingStateDescriptor: "reducing",
    AggregatingStateDescriptor: "aggregating",
}


@dataclass(frozen=True)
class StateSource:
    """One state and its DataFrame: its declaration, still without an id, and its columns."""

    scope: str
    name: str
    declared: Schema
    frame: DataFrame
    columns: pa.Schema

    @property
    def path(self) -> str:
        """Its key among the states of an operator."""
        return f"{self.scope}:{self.name}"

    @property
    def who(self) -> str:
        """The state's name, for messages."""
        return f"state '{self.name}'"


class StateBootstrapTransformation:
    """The states of one operator, each from a DataFrame (Flink: StateBootstrapTransformation).

    Pass the descriptor that the program uses for a state, so that types and time to live are the same. The columns are
    those that `SavepointReader` shows (see `firesteel.saved.row_columns`): `key`, and `namespace` if there are windows;
    `value`, with `position` for lists and `map_key` for maps. The value of an aggregating state is the accumulator.
    Other columns are ignored.

    `key_type` is the type of the program's keys: without it the column's values are the keys, whole numbers as int,
    structs with the fields f0, f1, ... as tuples and others as rows. Methods raise ProgramError for columns that are
    missing or do not fit the type, and return this object.
    """

    def __init__(self, key_type: TypeInformation | None = None) -> None:
        untyped = key_type is None or key_type.is_pickled
        self._key_type: TypeSchema = None if key_type is None or untyped else key_type.schema()
        self._sources: dict[str, StateSource] = {}

    @property
    def key_type(self) -> TypeSchema:
        """The type of keys; None if the columns determine it."""
        return self._key_type

    @property
    def sources(self) -> list[StateSource]:
        """The states."""
        return list(self._sources.values())

    def with_state(self, descriptor: StateDescriptor, frame: DataFrame) -> Self:
        """Set a keyed state, by a value, list, map, reducing or aggregating state descriptor."""
        return self._add("keyed", descriptor.name, _declared(descriptor), frame)

    def with_window_state(self, descriptor: StateDescriptor, frame: DataFrame) -> Self:
        """Set a state by key and window; `firesteel.saved.windows` describes the column."""
        return self._add("windowed", descriptor.name, _declared(descriptor), frame)

    def with_broadcast_state(self, descriptor: MapStateDescriptor, frame: DataFrame) -> Self:
        """Set a broadcast state, from the columns map_key and value."""
        declared = {**_declared(descriptor), "kind": "broadcast"}
        return self._add("broadcast", descriptor.name, declared, frame)

    def with_timers(self, domain: str, frame: DataFrame) -> Self:
        """Set the timers of "event" or "processing" time, from the columns key, timestamp (milliseconds) and, for
        timers of windows, namespace.
        """
        if domain not in ("event", "processing"):
            raise ProgramError('requires "event" or "processing"', who="with_timers", got=repr(domain))
        return self._add("timers", domain, {"kind": "timers"}, frame)

    def _add(self, scope: str, name: str, declared: Schema, frame: DataFrame) -> Self:
        known = {"scope": scope, "name": name, "id": 0, **declared}
        wanted = _wanted(frame.columns)
        source = StateSource(scope, name, declared, frame.select(wanted), _columns(frame, wanted))
        written = Written(known, self._key_type, 1, 0)
        RowWriter(written, source.columns, WINDOW_CODEC, source.who)  # raises for wrong columns
        if source.path in self._sources:
            raise ProgramError("requires one DataFrame", who=source.who, got="a second one")
        self._sources[source.path] = source
        return self


_COLUMNS = (
    "key", "key_raw", "namespace", "position", "map_key", "map_key_raw", "timestamp", "value", "value_raw",
    "last_access",
)  # fmt: skip


def _wanted(columns: list[str]) -> list[str]:
    return [column for column in columns if column in _COLUMNS]


def _columns(frame: DataFrame, wanted: list[str]) -> pa.Schema:
    return to_arrow_schema(frame.select(wanted).schema)


def _declared(descriptor: StateDescriptor) -> Schema:
    kind = next((kind for known, kind in _KINDS.items() if isinstance(descriptor, known)), None)
    if kind is None:
        raise ProgramError("requires a state descriptor", who="with_state", got=repr(descriptor))
    declared: dict[str, Any] = {"kind": kind}
    if isinstance(descriptor, MapStateDescriptor):
        declared["key"], declared["value"] = map(
            _schema_of, (descriptor.key_type_info, descriptor.value_type_info)
        )
    elif isinstance(descriptor, ListStateDescriptor):
        declared["type"] = _schema_of(descriptor.elem_type_info)
    else:
        declared["type"] = _schema_of(descriptor.type_info)
    if descriptor.ttl_config is not None:
        declared["ttl"] = ttl_schema(descriptor.ttl_config)
    return declared


def _schema_of(type_info: TypeInformation | None) -> TypeSchema:
    return None if type_info is None or type_info.is_pickled else type_info.schema()
