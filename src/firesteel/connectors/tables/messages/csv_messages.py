"""The format 'csv': a message is one record."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types import RowType
from firesteel.connectors.tables.column_parts import RowsToWrite
from firesteel.connectors.tables.file_formats import CsvFormat, csv_rules
from firesteel.connectors.tables.formats.csv_columns import CsvColumns
from firesteel.connectors.tables.formats.csv_fields import CsvRules, Record, records
from firesteel.connectors.tables.formats.csv_texts import csv_lines
from firesteel.connectors.tables.formats.misfit import Misfit
from firesteel.connectors.tables.messages.message_format import (
    BadMessage,
    Decoded,
    MessageDecoder,
    MessageEncoder,
    MessageFormat,
)
from firesteel.connectors.tables.messages.message_lines import csv_block, decoded_texts
from firesteel.connectors.tables.options import Options
from firesteel.functions.columns.endpoints import Kinds

_LENIENT: Final = "csv.ignore-parse-errors"
_BLANK_LINES: Final = re.compile(r"\A(?:[ \t]*(?:\r\n|\r|\n|\Z))+")
"""What Flink passes over before a record if there may be comments."""


class CsvMessageFormat(MessageFormat):
    """Records of CSV. What follows the first record of a message does not matter, as in Flink."""

    name = CsvFormat.name
    options = CsvFormat.options

    def decoder(self, options: Options, row: RowType, metadata: Sequence[str] = ()) -> MessageDecoder:
        """Return what reads rows."""
        return _Decoder(row, csv_rules(options), options.full(_LENIENT))

    def encoder(self, options: Options, row: RowType, *, subject: str | None = None) -> MessageEncoder:
        """Return what writes rows."""
        return _Encoder(row, csv_rules(options))


class _Decoder(MessageDecoder):
    def __init__(self, row: RowType, rules: CsvRules, option: str) -> None:
        self._row = row
        self._rules = rules
        self._option = option
        self._columns: CsvColumns | None = self._new_columns()

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_columns": None}

    def _new_columns(self) -> CsvColumns:
        return CsvColumns(self._row, range(len(self._row.fields)), self._rules)

    def decode(self, messages: pa.Array) -> Decoded | BadMessage:
        return decoded_texts(messages, self._option, self._rules.lenient, self._decode)

    def _decode(self, messages: pa.Array) -> Decoded | BadMessage:
        if self._columns is None:
            self._columns = self._new_columns()
        block = csv_block(messages, self._rules.quote)
        rows = None if block is None else self._columns.read_plain(block)
        if rows is not None:
            return Decoded(rows)
        found = self._columns.read_records(self._records(messages))
        if isinstance(found, Misfit):
            return BadMessage(found.number, messages[found.number].as_py(), found.why, self._option)
        return Decoded(found.rows, None, np.array(found.records, np.int64))

    def _records(self, messages: pa.Array) -> Iterator[Record]:
        """Yield the first record of each message; one that has none is a record that cannot be read."""
        for message in messages.to_pylist():
            text = message.decode()
            if self._rules.comments:
                text = _BLANK_LINES.sub("", text)
            yield next(records(text, self._rules), Record(None, text, 0))


class _Encoder(MessageEncoder):
    def __init__(self, row: RowType, rules: CsvRules) -> None:
        self._row = row
        self._rules = rules
        self.encode(RowsToWrite.none(row).rows)

    def encode(self, rows: pa.RecordBatch, kinds: Kinds | None = None) -> pa.Array:
        return csv_lines(rows, self._row, self._rules, "").cast(pa.binary())
