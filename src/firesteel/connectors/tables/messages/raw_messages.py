"""The format 'raw': a message is one value, as its bytes (Flink: RawFormatDeserializationSchema)."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import LogicalType, LogicalTypeRoot, RowType
from firesteel.common.logical_types.arrow import to_arrow, to_arrow_schema
from firesteel.connectors.tables.messages.message_format import (
    BadMessage,
    Decoded,
    MessageDecoder,
    MessageEncoder,
    MessageFormat,
)
from firesteel.connectors.tables.options import Options, choice, text
from firesteel.functions.columns.endpoints import Kinds

_R = LogicalTypeRoot
_BIG: Final = "big-endian"
_CHARSET: Final = text("raw.charset", "How text is encoded.", "a charset that Python knows").by_default(
    "UTF-8"
)
_ENDIANNESS: Final = choice(
    "raw.endianness", _BIG, "little-endian", about="Which byte of a number comes first."
).by_default(_BIG)
_TEXTS: Final = (_R.CHAR, _R.VARCHAR)
_BYTES: Final = (_R.BINARY, _R.VARBINARY, _R.RAW)
_NUMBERS: Final = {
    _R.BOOLEAN: "u1",
    _R.TINYINT: "i1",
    _R.SMALLINT: "i2",
    _R.INTEGER: "i4",
    _R.BIGINT: "i8",
    _R.FLOAT: "f4",
    _R.DOUBLE: "f8",
}
"""By type, the numpy type of its bytes."""


class RawFormat(MessageFormat):
    """A table with one column, of text, bytes, or a number of fixed size. NULL is a message without a value."""

    name = "raw"
    options = (_CHARSET, _ENDIANNESS)

    def decoder(self, options: Options, row: RowType, metadata: Sequence[str] = ()) -> MessageDecoder:
        """Return what reads values."""
        return _Decoder(*self._settings(options, row))

    def encoder(self, options: Options, row: RowType, *, subject: str | None = None) -> MessageEncoder:
        """Return what writes values."""
        return _Encoder(*self._settings(options, row))

    @staticmethod
    def _settings(options: Options, row: RowType) -> tuple[RowType, str, bool]:
        if len(row.fields) != 1:
            raise UnsupportedError(
                "is only for tables with one physical column", who="the format 'raw'", got=str(row)
            )
        kind = row.fields[0].type
        if kind.root not in (*_TEXTS, *_BYTES, *_NUMBERS):
            raise UnsupportedError("is not supported by the format raw", who=f"the type {kind}")
        charset = options.get(_CHARSET)
        try:
            known = codecs.lookup(charset).name
        except LookupError as error:
            raise options.wrong(_CHARSET.key, _CHARSET.what) from error
        big = options.get(_ENDIANNESS) == _BIG
        return row, known, big


class _Decoder(MessageDecoder):
    def __init__(self, row: RowType, charset: str, big: bool) -> None:
        self._schema = to_arrow_schema(row)
        self._kind = row.fields[0].type
        self._charset = charset
        self._dtype = _dtype(self._kind, big)

    def decode(self, messages: pa.Array) -> Decoded | BadMessage:
        if self._dtype is None:
            column = messages if self._kind.root in _BYTES else self._texts(messages)
        else:
            lengths = pc.binary_length(messages)
            wrong = pc.index(pc.not_equal(lengths, self._dtype.itemsize), True).as_py()
            if wrong >= 0:
                why = f"{lengths[wrong]} bytes where {self._kind} has {self._dtype.itemsize}"
                return BadMessage(wrong, messages[wrong].as_py(), why)
            column = self._numbers(messages)
        return Decoded(pa.RecordBatch.from_arrays([column], schema=self._schema))

    def _texts(self, messages: pa.Array) -> pa.Array:
        if self._charset == "utf-8":
            try:
                return messages.cast(pa.string())
            except pa.ArrowInvalid:
                pass  # bytes that are no text: each becomes U+FFFD below
        return _each(messages, lambda message: message.decode(self._charset, "replace"), pa.string())

    def _numbers(self, messages: pa.Array) -> pa.Array:
        assert self._dtype is not None
        together = b"".join(messages.drop_null().to_pylist())
        values = np.frombuffer(together, self._dtype).astype(self._dtype.newbyteorder("="))
        column = pa.array(values)
        if self._kind.root is _R.BOOLEAN:
            column = pc.not_equal(column, pa.scalar(0, pa.uint8()))
        if not messages.null_count:
            return column
        there = messages.is_valid().to_numpy(zero_copy_only=False)
        return column.take(pa.array(np.maximum(np.cumsum(there) - 1, 0), mask=~there))


class _Encoder(MessageEncoder):
    def __init__(self, row: RowType, charset: str, big: bool) -> None:
        self._kind = row.fields[0].type
        self._charset = charset
        self._dtype = _dtype(self._kind, big)

    def encode(self, rows: pa.RecordBatch, kinds: Kinds | None = None) -> pa.Array:
        column = rows.column(0)
        if self._dtype is not None:
            return self._numbers(column)
        if self._kind.root in _BYTES or self._charset == "utf-8":
            return column.cast(pa.binary())
        return _each(column, lambda value: value.encode(self._charset, "replace"), pa.binary())

    def _numbers(self, column: pa.Array) -> pa.Array:
        assert self._dtype is not None
        there = column.is_valid()
        native = to_arrow(self._kind).to_pandas_dtype()
        zero = pa.scalar(0, pa.int8()).cast(column.type)
        filled = column.fill_null(zero).to_numpy(zero_copy_only=False)
        data = pa.py_buffer(filled.astype(native).astype(self._dtype).tobytes())
        fixed = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(self._dtype.itemsize), len(column), [None, data]
        )
        return pc.if_else(there, fixed.cast(pa.binary()), None)


def _dtype(kind: LogicalType, big: bool) -> np.dtype[np.generic] | None:
    code = _NUMBERS.get(kind.root)
    return None if code is None else np.dtype(f"{'>' if big else '<'}{code}")


def _each(column: pa.Array, convert: Callable[[Any], object], kind: pa.DataType) -> pa.Array:
    return pa.array([None if value is None else convert(value) for value in column.to_pylist()], kind)
