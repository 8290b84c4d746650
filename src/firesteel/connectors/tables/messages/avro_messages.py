"""The format 'avro': a message is a record of Avro, without its schema (Flink: AvroFormatFactory)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import pyarrow as pa

from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.connectors.tables.column_parts import RowsToWrite
from firesteel.connectors.tables.formats.avro.derived import schema_of_row
from firesteel.connectors.tables.formats.avro.json_encoding import JsonTranscoder, NoRecordError
from firesteel.connectors.tables.formats.avro.schema import require_fastavro
from firesteel.connectors.tables.formats.avro.writing import AvroWriter
from firesteel.connectors.tables.messages.avro_rows import RowsOfAvro, known_schema
from firesteel.connectors.tables.messages.message_format import (
    BadMessage,
    Decoded,
    MessageDecoder,
    MessageEncoder,
    MessageFormat,
    moved,
)
from firesteel.connectors.tables.messages.message_lines import present
from firesteel.connectors.tables.options import DefaultOption, Listed, Options, choice, truth
from firesteel.functions.columns.endpoints import Kinds

_NAME: Final = "avro"
_KEPT: Final = 256


_ENCODING: Final = choice(
    "avro.encoding",
    *("binary", "json"),
    about="How messages are encoded; `json` is Avro's own JSON, which is slower. For files it changes nothing.",
).by_default("binary")
_FAST: Final = truth(
    "avro.open.fastread", "Changes nothing: Flink's faster way of reading, which reads the same."
)


def timestamp_mapping(form: str) -> DefaultOption[bool]:
    """Return the option of a format that says what a TIMESTAMP is."""
    return truth(
        f"{form}.timestamp_mapping.legacy",
        "Whether a TIMESTAMP is what Avro calls a timestamp. With `false` it is a local-timestamp, and "
        "TIMESTAMP_LTZ is a timestamp.",
    ).by_default("true")


OPTIONS: Final[Listed] = (timestamp_mapping(_NAME), _ENCODING, _FAST)
"""The options of the format avro, of messages and of files."""


class AvroMessageFormat(MessageFormat):
    """Records that were written with the schema that the table has, as those of Flink's format are."""

    name = _NAME
    options = OPTIONS

    def decoder(self, options: Options, row: RowType, metadata: Sequence[str] = ()) -> MessageDecoder:
        """Return what reads rows."""
        decoder = _Decoder(row, schema := _schema(options, row))
        return _JsonDecoder(decoder, schema) if _is_json(options) else decoder

    def encoder(self, options: Options, row: RowType, *, subject: str | None = None) -> MessageEncoder:
        """Return what writes rows."""
        encoder = _Encoder(row, schema := _schema(options, row))
        return _JsonEncoder(encoder, schema) if _is_json(options) else encoder


def _schema(options: Options, row: RowType) -> str:
    require_fastavro(f"the format {_NAME!r}")
    options.get(_FAST)
    return schema_of_row(row, is_legacy(options, _NAME))


def _is_json(options: Options) -> bool:
    return options.get(_ENCODING) == "json"


def is_legacy(options: Options, form: str) -> bool:
    """Return whether TIMESTAMP is what Avro calls a timestamp, as by default in Flink."""
    return options.get(timestamp_mapping(form))


class _Decoder(MessageDecoder):
    def __init__(self, row: RowType, schema: str) -> None:
        self._row = row
        self._schema = schema
        self._rows: RowsOfAvro | None = self._new_rows()

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_rows": None}

    def _new_rows(self) -> RowsOfAvro:
        return RowsOfAvro(known_schema(self._schema), self._row)

    def decode(self, messages: pa.Array) -> Decoded | BadMessage:
        if self._rows is None:
            self._rows = self._new_rows()
        given, places = present(messages)
        found = self._rows.rows(given, known_schema(self._schema))
        if isinstance(found, tuple):
            return moved(BadMessage(found[0], given[found[0]].as_py(), found[1]), places)
        return Decoded(as_rows(found, self._row), None, places)


def as_rows(found: pa.StructArray, row: RowType) -> pa.RecordBatch:
    """Return the columns of rows."""
    return pa.RecordBatch.from_arrays(found.flatten(), schema=to_arrow_schema(row))


class _Encoder(MessageEncoder):
    def __init__(self, row: RowType, schema: str) -> None:
        self._row = row
        self._schema = schema
        self._writer: AvroWriter | None = None
        self.encode(RowsToWrite.none(row).rows)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_writer": None}

    def encode(self, rows: pa.RecordBatch, kinds: Kinds | None = None) -> pa.Array:
        if self._writer is None:
            self._writer = AvroWriter(known_schema(self._schema), self._row)
        return self._writer.write(rows)


@lru_cache(_KEPT)
def _transcoder(schema: str) -> JsonTranscoder:
    return JsonTranscoder(schema, known_schema(schema))


@dataclass(frozen=True)
class _JsonDecoder(MessageDecoder):
    """Reads Avro's JSON encoding, record by record."""

    binary: _Decoder
    schema: str

    def decode(self, messages: pa.Array) -> Decoded | BadMessage:
        transcoder = _transcoder(self.schema)
        given, places = present(messages)
        found: list[bytes] = []
        for message in given.to_pylist():
            try:
                found.append(transcoder.to_binary(message))
            except NoRecordError as error:
                return moved(BadMessage(len(found), message, str(error)), places)
        return moved(self.binary.decode(pa.array(found, pa.binary())), places)


@dataclass(frozen=True)
class _JsonEncoder(MessageEncoder):
    """Writes Avro's JSON encoding, record by record."""

    binary: _Encoder
    schema: str

    def encode(self, rows: pa.RecordBatch, kinds: Kinds | None = None) -> pa.Array:
        transcoder = _transcoder(self.schema)
        records = self.binary.encode(rows, kinds).to_pylist()
        return pa.array([transcoder.to_json(record) for record in records], pa.binary())
