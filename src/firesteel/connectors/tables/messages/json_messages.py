"""The format 'json': a message is a JSON object, or an array of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types import RowType
from firesteel.connectors.tables.column_parts import RowsToWrite
from firesteel.connectors.tables.file_formats import JsonFormat, json_rules, rules_to_write_json
from firesteel.connectors.tables.formats.json_columns import JsonColumns
from firesteel.connectors.tables.formats.json_exact import JsonRules
from firesteel.connectors.tables.formats.json_texts import JsonWriting, json_lines
from firesteel.connectors.tables.formats.misfit import Misfit
from firesteel.connectors.tables.formats.numbered import Numbered
from firesteel.connectors.tables.messages.message_format import (
    BadMessage,
    Decoded,
    MessageDecoder,
    MessageEncoder,
    MessageFormat,
)
from firesteel.connectors.tables.messages.message_lines import decoded_texts, json_block
from firesteel.connectors.tables.options import Options
from firesteel.functions.columns.endpoints import Kinds

_LENIENT: Final = "json.ignore-parse-errors"


class JsonMessageFormat(MessageFormat):
    """Objects of JSON. As in Flink, an array has a row for each of its objects, and a message without bytes none."""

    name = JsonFormat.name
    by_name = True
    options = JsonFormat.options

    def decoder(self, options: Options, row: RowType, metadata: Sequence[str] = ()) -> MessageDecoder:
        """Return what reads rows."""
        return JsonDecoder(row, json_rules(options), options.full(_LENIENT))

    def encoder(self, options: Options, row: RowType, *, subject: str | None = None) -> MessageEncoder:
        """Return what writes rows."""
        return JsonEncoder(row, rules_to_write_json(options))


class JsonDecoder(MessageDecoder):
    """Objects of JSON; `option` is the one that skips what is none."""

    def __init__(self, row: RowType, rules: JsonRules, option: str) -> None:
        self._row = row
        self._rules = rules
        self._option = option
        self._columns: JsonColumns | None = JsonColumns(row, rules)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_columns": None}

    def decode(self, messages: pa.Array) -> Decoded | BadMessage:
        """Return the rows of messages."""
        return decoded_texts(messages, self._option, self._rules.lenient, self._decode)

    def _decode(self, messages: pa.Array) -> Decoded | BadMessage:
        if self._columns is None:
            self._columns = JsonColumns(self._row, self._rules)
        found = self._columns.numbered(json_block(messages))
        if isinstance(found, Misfit):
            return BadMessage(found.number, messages[found.number].as_py(), found.why, self._option)
        if isinstance(found, Numbered):
            return Decoded(found.rows, None, np.array(found.records, np.int64))
        return Decoded(found)


class JsonEncoder(MessageEncoder):
    """Objects of JSON. Raises UnsupportedError for a type that JSON lacks."""

    def __init__(self, row: RowType, writing: JsonWriting) -> None:
        self._row = row
        self._writing = writing
        self.encode(RowsToWrite.none(row).rows)

    def encode(self, rows: pa.RecordBatch, kinds: Kinds | None = None) -> pa.Array:
        """Return an object for each row."""
        return json_lines(rows, self._row, self._writing, "").cast(pa.binary())
