"""Messages that say how rows of a database change, as Rows of their kinds (Java: org.apache.flink.formats.json).

PyFlink has none of these classes; tables have them as the formats `debezium-json`, `canal-json` and `maxwell-json`. A
message may say several changes, so that they are read with `KafkaSourceBuilder.set_deserializer`.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Iterator
from decimal import Decimal
from itertools import zip_longest
from typing import Any, Final

import msgspec

from firesteel.common.errors import TypeMismatchError
from firesteel.common.serialization import SerializationSchema
from firesteel.common.typeinfo import RowTypeInfo, TypeInformation
from firesteel.common.types import Row, RowKind
from firesteel.connectors.kafka.source.deserializing import ConsumerRecord, KafkaRecordDeserializationSchema
from firesteel.datastream.formats.row_types import require_row_type
from firesteel.formats.json import JSON, from_json, to_json
from firesteel.formats.json_decoding import NO_JSON

__all__ = [
    "CanalJsonDeserializationSchema",
    "CanalJsonSerializationSchema",
    "DebeziumJsonDeserializationSchema",
    "DebeziumJsonSerializationSchema",
    "MaxwellJsonDeserializationSchema",
    "MaxwellJsonSerializationSchema",
]

_SHOWN: Final = 200
_PARSER: Final = msgspec.json.Decoder(float_hook=Decimal)
_ADDED: Final = (RowKind.INSERT, RowKind.UPDATE_AFTER)

Fields = dict[str, Any]


class _ChangesDeserializationSchema(KafkaRecordDeserializationSchema):
    """Reads the changes of messages as Rows of a type; an update is the row before it, and then the one after it.

    Fields are read as by `JsonRowDeserializationSchema`. A message without a value has no rows. One that says no change
    raises TypeMismatchError. Raises ProgramError for what is no row type.
    """

    def __init__(self, row_type: RowTypeInfo) -> None:
        self._row_type = require_row_type(row_type, type(self).__name__)
        self._convert: Callable[[Any], Row] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_convert": None}

    def get_produced_type(self) -> TypeInformation:
        """Return the row type."""
        return self._row_type

    def deserialize(self, record: ConsumerRecord) -> Iterator[Row]:
        """Yield the rows of a record's value."""
        if record.value:
            yield from self.changes(record.value)

    def changes(self, message: bytes) -> Iterator[Row]:
        """Yield the rows of a message."""
        try:
            found = _PARSER.decode(message)
            if not isinstance(found, dict):
                raise TypeMismatchError("requires a JSON object", who="JSON", got=repr(found))
            yield from self._changes(found)
        except (*NO_JSON, KeyError, TypeError, AttributeError, ValueError) as error:
            raise TypeMismatchError(
                "requires messages that say a change",
                who=type(self).__name__,
                got=f"{message[:_SHOWN]!r} ({type(error).__name__}: {error})",
            ) from error

    @abstractmethod
    def _changes(self, message: Fields) -> Iterator[Row]:
        """Yield the rows of a message. What it raises means that it says no change."""

    def _row(self, kind: RowKind, fields: Fields) -> Row:
        if self._convert is None:
            self._convert = from_json(self._row_type.schema())
        if not isinstance(fields, dict):
            raise TypeError(f"a row of kind {kind.name} is {fields!r}")
        row = self._convert(fields)
        row.set_row_kind(kind)
        return row

    def _updated(self, before: Fields, after: Fields) -> Iterator[Row]:
        yield self._row(RowKind.UPDATE_BEFORE, before)
        yield self._row(RowKind.UPDATE_AFTER, after)

    def _said(self, word: str, new: Fields, old: Fields | None) -> Iterator[Row]:
        """Yield the rows of a message that has a row, and what of it has changed."""
        match word.lower():
            case "insert":
                yield self._row(RowKind.INSERT, new)
            case "delete":
                yield self._row(RowKind.DELETE, new)
            case "update":
                if old is None:
                    raise TypeError("'old' is null")
                yield from self._updated({**new, **old}, new)
            case _:
                raise ValueError(f"the type {word!r} is none of insert, update and delete")


class DebeziumJsonDeserializationSchema(_ChangesDeserializationSchema):
    """Reads messages of Debezium: rows `before` and `after`, and `op`.

    With `schema_include`, messages have their schema, too, and these fields in `payload`. Tables of PostgreSQL need
    REPLICA IDENTITY FULL. A message without a value has no rows, and one that says no change raises TypeMismatchError.

    >>> from firesteel.common import Types
    >>> schema = DebeziumJsonDeserializationSchema(Types.ROW_NAMED(["id"], [Types.INT()]))
    >>> list(schema.changes(b'{"before": null, "after": {"id": 7}, "op": "c"}'))
    [Row(id=7)]
    """

    def __init__(self, row_type: RowTypeInfo, *, schema_include: bool = False) -> None:
        super().__init__(row_type)
        self._schema_include = schema_include

    def _changes(self, message: Fields) -> Iterator[Row]:
        found = message["payload"] if self._schema_include else message
        match found["op"]:
            case "c" | "r":
                yield self._row(RowKind.INSERT, found["after"])
            case "d":
                yield self._row(RowKind.DELETE, found["before"])
            case "u":
                yield from self._updated(found["before"], found["after"])
            case other:
                raise ValueError(f"the op {other!r} is none of c, r, u and d")


class CanalJsonDeserializationSchema(_ChangesDeserializationSchema):
    """Reads messages of Canal: rows as `data`, what has changed of each as `old`, and `type`.

    `database_include` and `table_include` are regular expressions; messages of others have no rows. A message
    without a value has none either, and one that says no change raises TypeMismatchError.

    >>> from firesteel.common import Types
    >>> schema = CanalJsonDeserializationSchema(Types.ROW_NAMED(["id"], [Types.INT()]))
    >>> list(schema.changes(b'{"data": [{"id": "7"}, {"id": "8"}], "type": "INSERT"}'))
    [Row(id=7), Row(id=8)]
    """

    def __init__(
        self, row_type: RowTypeInfo, *, database_include: str | None = None, table_include: str | None = None
    ) -> None:
        super().__init__(row_type)
        given = {"database": database_include, "table": table_include}
        self._only = {name: re.compile(text) for name, text in given.items() if text is not None}

    def _changes(self, message: Fields) -> Iterator[Row]:
        if not all(pattern.fullmatch(message[name]) for name, pattern in self._only.items()):
            return
        word = message["type"]
        if word == "CREATE":  # the message of a new table has no rows
            return
        rows, olds = message["data"], message.get("old") or []
        # As in Flink, a column has an old value in all rows of a message if it has one in any of them.
        named = dict.fromkeys(name for old in olds for name in old)
        for new, old in zip_longest(rows, olds[: len(rows)]):
            yield from self._said(word, new, None if old is None else {**named, **old})


class MaxwellJsonDeserializationSchema(_ChangesDeserializationSchema):
    """Reads messages of Maxwell: a row as `data`, what has changed of it as `old`, and `type`.

    A message without a value has no rows, and one that says no change raises TypeMismatchError.

    >>> from firesteel.common import Types
    >>> schema = MaxwellJsonDeserializationSchema(Types.ROW_NAMED(["id", "n"], [Types.INT(), Types.INT()]))
    >>> list(schema.changes(b'{"data": {"id": 7, "n": 2}, "old": {"n": 1}, "type": "update"}'))
    [Row(id=7, n=1), Row(id=7, n=2)]
    """

    def _changes(self, message: Fields) -> Iterator[Row]:
        yield from self._said(message["type"], message["data"], message.get("old"))


class _ChangesSerializationSchema(SerializationSchema):
    """Writes each Row of a type as a message, by its kind: one that comes, or one that goes, as Flink's formats do."""

    def __init__(self, row_type: RowTypeInfo) -> None:
        self._row_type = require_row_type(row_type, type(self).__name__)
        self._convert: Callable[[Any], Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_convert": None}

    def serialize(self, value: Row) -> bytes:
        """Return the message of a row. Raises TypeMismatchError for a value that is not of the row type."""
        if self._convert is None:
            coerce, convert = self._row_type.compile_coercer(), to_json(self._row_type.schema())
            self._convert = lambda row: convert(coerce(row))
        kind = value.get_row_kind() if isinstance(value, Row) else RowKind.INSERT
        return JSON.encode(self._message(self._convert(value), kind in _ADDED))

    @abstractmethod
    def _message(self, row: Any, added: bool) -> Fields:
        """Return the message of a row that is added, or goes."""


class DebeziumJsonSerializationSchema(_ChangesSerializationSchema):
    """Writes rows as messages of Debezium; raises TypeMismatchError for a value that is not of the row type.

    >>> from firesteel.common import Types
    >>> DebeziumJsonSerializationSchema(Types.ROW_NAMED(["id"], [Types.INT()])).serialize(Row(7))
    b'{"before":null,"after":{"id":7},"op":"c"}'
    """

    def _message(self, row: Any, added: bool) -> Fields:
        if added:
            return {"before": None, "after": row, "op": "c"}
        return {"before": row, "after": None, "op": "d"}


class CanalJsonSerializationSchema(_ChangesSerializationSchema):
    """Writes rows as messages of Canal; raises TypeMismatchError for a value that is not of the row type.

    >>> from firesteel.common import Types
    >>> CanalJsonSerializationSchema(Types.ROW_NAMED(["id"], [Types.INT()])).serialize(Row(7))
    b'{"data":[{"id":7}],"type":"INSERT"}'
    """

    def _message(self, row: Any, added: bool) -> Fields:
        return {"data": [row], "type": "INSERT" if added else "DELETE"}


class MaxwellJsonSerializationSchema(_ChangesSerializationSchema):
    """Writes rows as messages of Maxwell; raises TypeMismatchError for a value that is not of the row type.

    >>> from firesteel.common import Types
    >>> MaxwellJsonSerializationSchema(Types.ROW_NAMED(["id"], [Types.INT()])).serialize(Row(7))
    b'{"data":{"id":7},"type":"insert"}'
    """

    def _message(self, row: Any, added: bool) -> Fields:
        return {"data": row, "type": "insert" if added else "delete"}
