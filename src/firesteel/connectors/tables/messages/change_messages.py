"""The formats 'debezium-json', 'canal-json' and 'maxwell-json': a message says how rows of a table changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types import RowType
from firesteel.connectors.tables.changes.formats import (
    PREFIX,
    CanalFormat,
    ChangeFormat,
    ChangeReader,
    ChangeTexts,
    DebeziumFormat,
    MaxwellFormat,
)
from firesteel.connectors.tables.column_parts import RowsToWrite
from firesteel.connectors.tables.formats.misfit import Misfit
from firesteel.connectors.tables.messages.message_format import (
    BadMessage,
    Decoded,
    MessageDecoder,
    MessageEncoder,
    MessageFormat,
    earliest,
)
from firesteel.connectors.tables.messages.message_lines import decoded_texts, json_block
from firesteel.connectors.tables.options import Options
from firesteel.functions.columns.connectors import ChangelogMode
from firesteel.functions.columns.endpoints import Kinds


class ChangeMessageFormat(MessageFormat):
    """Messages of a program that follows a database. One that is empty has no row: tombstones follow deletes."""

    mode = ChangelogMode.all()
    by_name = True

    def __init__(self, form: ChangeFormat) -> None:
        self._form = form
        self.name = form.name
        self.options = form.options
        self.metadata = {key.removeprefix(PREFIX): kind for key, kind in form.metadata.items()}

    def decoder(self, options: Options, row: RowType, metadata: Sequence[str] = ()) -> MessageDecoder:
        """Return what reads changes."""
        reader = ChangeReader(self._form.envelope(options, row, metadata), self._form.rules(options))
        return _Decoder(reader, options.full(reader.option))

    def encoder(self, options: Options, row: RowType, *, subject: str | None = None) -> MessageEncoder:
        """Return what writes changes."""
        return _Encoder(self._form.texts(options, row))


class _Decoder(MessageDecoder):
    def __init__(self, reader: ChangeReader, option: str) -> None:
        self._reader = reader
        self._option = option

    def decode(self, messages: pa.Array) -> Decoded | BadMessage:
        return decoded_texts(messages, self._option, self._reader.lenient, self._decode)

    def _decode(self, messages: pa.Array) -> Decoded | BadMessage:
        found = self._reader.read(json_block(messages))
        if isinstance(found, Misfit):
            # A message before it may be JSON that says no change.
            bad = BadMessage(found.number, messages[found.number].as_py(), found.why, self._option)
            return earliest(bad, messages, self._decode)
        changed, read = found
        numbers = (
            changed.messages if read.numbers is None else np.array(read.numbers, np.int64)[changed.messages]
        )
        return Decoded(changed.rows, changed.kinds if changed.kinds.any() else None, numbers)


class _Encoder(MessageEncoder):
    def __init__(self, texts: ChangeTexts) -> None:
        self._texts = texts

    def encode(self, rows: pa.RecordBatch, kinds: Kinds | None = None) -> pa.Array:
        return self._texts(RowsToWrite(rows, kinds)).cast(pa.binary())


CHANGE_MESSAGE_FORMATS: Final = tuple(
    map(ChangeMessageFormat, (DebeziumFormat(), CanalFormat(), MaxwellFormat()))
)
"""The formats of changes."""
