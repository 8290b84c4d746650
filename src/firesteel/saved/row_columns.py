"""The rows of a state as columns of a table.

============ ==================================================== ==============================================
column       of                                                   holds
============ ==================================================== ==============================================
key          all but broadcast state                              the key
namespace    all but broadcast state                              the window, null if there is none (`windows`)
position     lists                                                the place of the element, from 0
map_key      maps, broadcast state                                the key of the entry
timestamp    timers                                               when the timer is due (milliseconds)
value        all but timers                                       the value, element or accumulator
last_access  state with a time to live                            when it was last touched (milliseconds)
============ ==================================================== ==============================================

Keys, map keys or values without a type have two columns: `value` shows them as text, and `value_raw` holds the stored
bytes (`load_object` reads them).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, Final, NamedTuple

import pyarrow as pa

from firesteel.checkpoint.runs import BATCH
from firesteel.common.errors import ProgramError, StateMismatchError, TypeMismatchError
from firesteel.common.typeinfo import TypeInformation, from_schema
from firesteel.saved.columns import (
    KeyColumn,
    TypeSchema,
    arrow_type,
    is_untyped,
    object_text,
    stored_text,
    to_column,
)
from firesteel.saved.entries import StoredRow, value_decoder, value_type
from firesteel.saved.windows import WINDOW, window_column
from firesteel.state.keys.groups import StateKey, state_key_bytes, user_key
from firesteel.state.values.schemas import Schema, type_text

RAW: Final = "_raw"
_KEYS_KEPT: Final = 1 << 12


class Column(NamedTuple):
    """One column: its name, its type, and what it holds of a row."""

    name: str
    type: pa.DataType
    of: Callable[[StoredRow], Any]


class RowTypes(NamedTuple):
    """The types in which keys, map keys and values are shown; None for the recorded type.

    A type of any object (`Types.PICKLED_BYTE_ARRAY()`) means text and the stored bytes.
    """

    key: TypeInformation | None = None
    map_key: TypeInformation | None = None
    value: TypeInformation | None = None


class RowColumns:
    """Turns the rows of one state into columns. Raises ProgramError for a type in which its values cannot be shown."""

    def __init__(self, schema: Schema, types: RowTypes, who: str) -> None:
        self._who = who
        self._schema = schema
        columns: list[Column] = []
        if schema["scope"] != "broadcast":
            columns += self._keys("key", types.key, lambda row: row.key)
            columns.append(Column("namespace", WINDOW, lambda row: window_column(row.namespace)))
        columns += self._place(types)
        if schema["kind"] != "timers":
            columns += self._values(types.value)
        if schema.get("ttl"):
            columns.append(Column("last_access", pa.int64(), lambda row: row.stamp))
        self.columns = columns

    @property
    def arrow_schema(self) -> pa.Schema:
        """The columns' names and types."""
        return pa.schema([(column.name, column.type) for column in self.columns])

    def batches(self, rows: Iterable[StoredRow]) -> Iterator[pa.RecordBatch]:
        """Yield rows as batches. Raises StateMismatchError, which names a key or value that its column cannot hold."""
        schema, iterator = self.arrow_schema, iter(rows)
        while chunk := list(islice(iterator, BATCH)):
            arrays = [pa.array(self._column(column, chunk), column.type) for column in self.columns]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def record(self, row: StoredRow) -> dict[str, Any]:
        """Return one row by the names of the columns, without the raw columns."""
        return {
            column.name: self._column(column, [row])[0]
            for column in self.columns
            if not column.name.endswith(RAW)
        }

    def _column(self, column: Column, rows: list[StoredRow]) -> list[Any]:
        done: list[Any] = []
        try:
            done.extend(map(column.of, rows))
        except TypeMismatchError as error:
            row = rows[len(done)]
            at = "" if row.key is None else f" at key {user_key(row.key)!r}"
            raise StateMismatchError(
                f"does not fit its column: {'' if error.who is None else error.who + ' '}{error.requirement}",
                who=f"the {column.name} of {self._who}{at}",
                got=error.got,
                hint=f"read it with {column.name}_type=Types.PICKLED_BYTE_ARRAY(), as text and the bytes stored",
            ) from error
        return done

    def _place(self, types: RowTypes) -> list[Column]:
        kind = self._schema["kind"]
        if kind == "list":
            return [Column("position", pa.int64(), lambda row: row.place)]
        if kind == "timers":
            return [Column("timestamp", pa.int64(), lambda row: row.place)]
        if kind not in ("map", "broadcast"):
            return []
        recorded = self._schema["key"]
        declared = None if recorded is None else from_schema(recorded)
        return self._keys("map_key", types.map_key or declared, lambda row: row.place)

    def _keys(
        self, name: str, type_info: TypeInformation | None, key_of: Callable[[StoredRow], StateKey | None]
    ) -> list[Column]:
        column = KeyColumn(type_info)
        shown = lru_cache(_KEYS_KEPT)(column.of)
        columns = [Column(name, arrow_type(column.schema), lambda row: shown(key_of(row)))]
        if column.schema is None:
            columns.append(Column(name + RAW, pa.binary(), lambda row: _bytes_of(key_of(row))))
        return columns

    def _values(self, wanted: TypeInformation | None) -> list[Column]:
        recorded = value_type(self._schema)
        decode = value_decoder(recorded, self._who)
        if wanted is None and not is_untyped(recorded):
            return [Column("value", arrow_type(recorded), _shown(decode, to_column(recorded)))]
        if wanted is None or wanted.is_pickled:
            return _stored(recorded, decode)
        if not is_untyped(recorded):
            raise ProgramError(
                f"has values of type {type_text(recorded)}",
                who=self._who,
                got=f"value_type={wanted}",
                hint="leave value_type out, and cast the column",
            )
        coerce, convert = wanted.compile_coercer(), to_column(wanted.schema())

        def typed(data: bytes) -> Any:
            value = decode(data)
            return None if value is None else coerce(value)

        return [Column("value", arrow_type(wanted.schema()), _shown(typed, convert))]


def _shown(
    decode: Callable[[bytes], Any], convert: Callable[[Any], Any] | None
) -> Callable[[StoredRow], Any]:
    def of(row: StoredRow) -> Any:
        value = decode(row.value)
        return value if value is None or convert is None else convert(value)

    return of


def _stored(recorded: TypeSchema, decode: Callable[[bytes], Any]) -> list[Column]:
    def text(row: StoredRow) -> str | None:
        if not row.value:
            return None
        return stored_text(row.value) if is_untyped(recorded) else object_text(decode(row.value))

    return [Column("value", pa.string(), text), Column("value" + RAW, pa.binary(), lambda row: row.value)]


def _bytes_of(key: StateKey | None) -> bytes | None:
    return None if key is None else state_key_bytes(key)
