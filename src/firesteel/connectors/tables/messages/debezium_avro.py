"""The format 'debezium-avro-confluent': messages of Debezium as Avro (Flink: DebeziumAvroFormatFactory)."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.logical_types import STRING, Field, RowType
from firesteel.common.logical_types.arrow import to_arrow
from firesteel.common.types import RowKind
from firesteel.connectors.tables.changes.debezium import DebeziumEnvelope
from firesteel.connectors.tables.changes.messages import Messages
from firesteel.connectors.tables.messages.avro_messages import timestamp_mapping
from firesteel.connectors.tables.messages.confluent import RegistryOptions, require_subject
from firesteel.connectors.tables.messages.confluent_avro import (
    AvroMessages,
    AvroRecords,
    avro_registry,
)
from firesteel.connectors.tables.messages.message_format import (
    BadMessage,
    Decoded,
    MessageDecoder,
    MessageEncoder,
    MessageFormat,
    moved,
)
from firesteel.connectors.tables.messages.message_lines import present
from firesteel.connectors.tables.options import Options
from firesteel.functions.columns.connectors import ChangelogMode
from firesteel.functions.columns.endpoints import Kinds

_NAME: Final = "debezium-avro-confluent"
_GONE: Final = (RowKind.UPDATE_BEFORE.value, RowKind.DELETE.value)


class DebeziumAvroFormat(MessageFormat):
    """Changes with the row before and after, and ids of schemas. One that is empty has no row: it follows a delete."""

    name = _NAME
    options = (*RegistryOptions(_NAME).all, timestamp_mapping(_NAME))
    mode = ChangelogMode.all()
    metadata = MappingProxyType(
        {name: known.type for name, known in DebeziumEnvelope.known.items() if name != "schema"}
    )

    def decoder(self, options: Options, row: RowType, metadata: Sequence[str] = ()) -> MessageDecoder:
        """Return what reads changes."""
        envelope = DebeziumEnvelope(row, metadata)
        message = envelope.message.copy(nullable=True)
        found, schema = avro_registry(options, _NAME, message, None)
        return _Decoder(envelope, AvroMessages(found, schema, message))

    def encoder(self, options: Options, row: RowType, *, subject: str | None = None) -> MessageEncoder:
        """Return what writes changes: an update is written as a delete and an insert, as in Flink."""
        nullable = row.copy(nullable=True)
        message = RowType((Field("before", nullable), Field("after", nullable), Field("op", STRING)))
        found, schema = avro_registry(options, _NAME, message, subject)
        require_subject(found, options, _NAME)
        return _Encoder(row, AvroRecords(found, schema, message))


class _Decoder(MessageDecoder):
    def __init__(self, envelope: DebeziumEnvelope, messages: AvroMessages) -> None:
        self._envelope = envelope
        self._messages = messages

    def decode(self, messages: pa.Array) -> Decoded | BadMessage:
        filled = pc.if_else(pc.equal(pc.binary_length(messages), 0), None, messages)
        given, places = present(filled)
        found = self._messages.read(given)
        return moved(found if isinstance(found, BadMessage) else self._changes(given, found), places)

    def _changes(self, messages: pa.Array, read: pa.RecordBatch) -> Decoded | BadMessage:
        changed = self._envelope.changes(Messages(read, b""))
        if changed.wrong is not None:
            index = changed.wrong.place
            return BadMessage(index, messages[index].as_py(), changed.wrong.why)
        return Decoded(changed.rows, changed.kinds if changed.kinds.any() else None, changed.messages)


class _Encoder(MessageEncoder):
    def __init__(self, row: RowType, records: AvroRecords) -> None:
        self._row = to_arrow(row)
        self._records = records

    def encode(self, rows: pa.RecordBatch, kinds: Kinds | None = None) -> pa.Array:
        gone = np.isin(kinds, _GONE) if kinds is not None else np.zeros(rows.num_rows, np.bool_)
        before, after = (
            pa.StructArray.from_arrays(rows.columns, fields=list(self._row), mask=pa.array(mask))
            for mask in (~gone, gone)
        )
        op = pc.if_else(pa.array(gone), "d", "c")
        return self._records.write(pa.RecordBatch.from_arrays([before, after, op], ["before", "after", "op"]))
