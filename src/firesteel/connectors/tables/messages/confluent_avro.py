"""The format 'avro-confluent': records of Avro with the ids of their schemas (Flink: RegistryAvroFormatFactory)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import ConfigurationError
from firesteel.common.logical_types import RowType
from firesteel.connectors.schema_registry.client import UnknownSchemaError, registered_schema
from firesteel.connectors.schema_registry.wire_format import HEADER
from firesteel.connectors.tables.column_parts import RowsToWrite
from firesteel.connectors.tables.formats.avro.derived import schema_of_row
from firesteel.connectors.tables.formats.avro.row_types import row_of_schema
from firesteel.connectors.tables.formats.avro.schema import AvroType, require_fastavro
from firesteel.connectors.tables.formats.avro.writing import AvroWriter
from firesteel.connectors.tables.messages.avro_messages import as_rows, is_legacy, timestamp_mapping
from firesteel.connectors.tables.messages.avro_rows import RowsOfAvro, known_schema
from firesteel.connectors.tables.messages.confluent import (
    Registry,
    RegistryOptions,
    registry,
    require_subject,
    schema_ids,
)
from firesteel.connectors.tables.messages.message_format import (
    BadMessage,
    Decoded,
    MessageDecoder,
    MessageEncoder,
    MessageFormat,
    Places,
    moved,
)
from firesteel.connectors.tables.messages.message_lines import present
from firesteel.connectors.tables.options import Options
from firesteel.functions.columns.endpoints import Kinds

_NAME: Final = "avro-confluent"
_AVRO: Final = "AVRO"


class ConfluentAvroFormat(MessageFormat):
    """Records with any schemas that the registry knows and that fit the table's, or the one that an option gives."""

    name = _NAME
    options = (*RegistryOptions(_NAME).all, timestamp_mapping(_NAME))

    def decoder(self, options: Options, row: RowType, metadata: Sequence[str] = ()) -> MessageDecoder:
        """Return what reads rows."""
        found, schema = avro_registry(options, _NAME, row, None)
        return _Decoder(AvroMessages(found, schema, row))

    def encoder(self, options: Options, row: RowType, *, subject: str | None = None) -> MessageEncoder:
        """Return what writes rows."""
        found, schema = avro_registry(options, _NAME, row, subject)
        require_subject(found, options, _NAME)
        return _Encoder(AvroRecords(found, schema, row))


def avro_registry(options: Options, form: str, row: RowType, subject: str | None) -> tuple[Registry, str]:
    """Return the registry, and the schema of rows.

    Raises ConfigurationError for a schema that is given and has another type of rows.
    """
    require_fastavro(f"the format {form!r}")
    found = registry(options, form, subject)
    legacy = is_legacy(options, form)
    if found.schema is None:
        return found, schema_of_row(row, legacy)
    given = row_of_schema(known_schema(found.schema), legacy)
    if given.copy(nullable=row.nullable) != row:
        raise ConfigurationError(
            f"requires a schema of Avro with the table's columns as the option '{options.full(form)}.schema'",
            who=f"the format {form!r}",
            got=str(given),
            hint=f"the table has {row}",
        )
    return found, found.schema


class AvroMessages:
    """Reads messages whose schemas are in a registry, as rows of a type that has a schema. Picklable."""

    def __init__(self, found: Registry, schema: str, row: RowType) -> None:
        self._registry = found
        self._schema = schema
        self._row = row
        self._rows: RowsOfAvro | None = None

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_rows": None}

    def read(self, messages: pa.Array) -> pa.RecordBatch | BadMessage:
        """Return the row of each message, none of which is NULL, or the first that has none."""
        ids = schema_ids(messages)
        if isinstance(ids, BadMessage):
            before = self.read(messages[: ids.index]) if ids.index else ids
            return before if isinstance(before, BadMessage) else ids
        parts: list[pa.Array] = []
        places: list[Places] = []
        bad: list[BadMessage] = []
        for number in np.unique(ids).tolist():
            chosen = np.flatnonzero(ids == number)
            some = messages if len(chosen) == len(messages) else messages.take(pa.array(chosen))
            found = self._of_schema(some, number)
            if isinstance(found, tuple):
                index = int(chosen[found[0]])
                bad.append(BadMessage(index, messages[index].as_py(), found[1]))
            else:
                parts.append(found)
                places.append(chosen)
        if bad:
            return min(bad, key=lambda one: one.index)
        return as_rows(_together(parts, places, self._row), self._row)

    def _of_schema(self, messages: pa.Array, number: int) -> pa.StructArray | tuple[int, str]:
        if self._rows is None:
            self._rows = RowsOfAvro(known_schema(self._schema), self._row)
        try:
            written = self._written(number)
        except UnknownSchemaError as error:
            return 0, f"its schema {number} is unknown: {error}"
        if isinstance(written, str):
            return 0, written
        return self._rows.rows(messages, written, HEADER)

    def _written(self, number: int) -> AvroType | str:
        known = registered_schema(self._registry.settings, number)
        if known.kind != _AVRO:
            return f"its schema {number} is one of {known.kind}, not of Avro"
        return known_schema(known.text, tuple(reference.text for reference in known.references))


def _together(parts: Sequence[pa.Array], places: Sequence[Places], row: RowType) -> pa.StructArray:
    if not parts:
        return pa.StructArray.from_arrays(
            RowsToWrite.none(row).rows.columns, fields=list(RowsToWrite.none(row).rows.schema)
        )
    if len(parts) == 1:
        return parts[0]
    order = np.argsort(np.concatenate(places), kind="stable")
    return pa.concat_arrays(parts).take(pa.array(order))


class _Decoder(MessageDecoder):
    def __init__(self, messages: AvroMessages) -> None:
        self._messages = messages

    def decode(self, messages: pa.Array) -> Decoded | BadMessage:
        given, places = present(messages)
        found = self._messages.read(given)
        return moved(found if isinstance(found, BadMessage) else Decoded(found), places)


class AvroRecords:
    """Writes rows as messages with the id of their schema. Picklable."""

    def __init__(self, found: Registry, schema: str, row: RowType) -> None:
        self._registry = found
        self._schema = schema
        self._row = row
        self._writer: AvroWriter | None = None
        self._header = b""
        AvroWriter(known_schema(schema), row).write(RowsToWrite.none(row).rows)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_writer": None}

    def write(self, rows: pa.RecordBatch) -> pa.Array:
        """Return the message of each row."""
        if self._writer is None:
            self._header = self._registry.header(self._schema, _AVRO)
            self._writer = AvroWriter(known_schema(self._schema), self._row)
        data = self._writer.write(rows)
        return pc.binary_join_element_wise(
            pa.scalar(self._header, pa.binary()), data, pa.scalar(b"", pa.binary())
        )


class _Encoder(MessageEncoder):
    def __init__(self, records: AvroRecords) -> None:
        self._records = records

    def encode(self, rows: pa.RecordBatch, kinds: Kinds | None = None) -> pa.Array:
        return self._records.write(rows)
