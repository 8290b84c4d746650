"""Records of Avro in messages, as rows: which of them is bad is found by halving."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import pyarrow as pa

from firesteel.common.logical_types import RowType
from firesteel.connectors.tables.formats.avro.lanes import Malformed
from firesteel.connectors.tables.formats.avro.reading import AvroReader, Unresolvable
from firesteel.connectors.tables.formats.avro.schema import AvroType, parse_schema

_KEPT: Final = 256


@lru_cache(_KEPT)
def known_schema(text: str, references: tuple[str, ...] = ()) -> AvroType:
    """Return a schema, which has been read before in most cases. Raises as `parse_schema` does."""
    return parse_schema(text, "the format avro", references)


class RowsOfAvro:
    """Reads rows of one type from records of several schemas. Not picklable."""

    def __init__(self, read: AvroType, row: RowType) -> None:
        self._read = read
        self._row = row
        self._readers: dict[AvroType, AvroReader | str] = {}

    def rows(
        self, messages: pa.Array, written: AvroType, skipped: int = 0
    ) -> pa.StructArray | tuple[int, str]:
        """Return the rows of messages, after some bytes of each; or the first one that has none, and why.

        No message is NULL.
        """
        reader = self._readers.get(written)
        if reader is None:
            reader = self._readers[written] = self._reader(written)
        return (0, reader) if isinstance(reader, str) else _decoded(reader, messages, skipped)

    def _reader(self, written: AvroType) -> AvroReader | str:
        try:
            return AvroReader(written, self._read, self._row)
        except Unresolvable as error:
            return str(error)


def _decoded(reader: AvroReader, messages: pa.Array, skipped: int) -> pa.StructArray | tuple[int, str]:
    try:
        return reader.read(messages, skipped)
    except Malformed as error:
        if len(messages) == 1:
            return 0, str(error)
    half = len(messages) // 2
    first = _decoded(reader, messages[:half], skipped)
    if isinstance(first, tuple):
        return first
    second = _decoded(reader, messages[half:], skipped)
    return (half + second[0], second[1]) if isinstance(second, tuple) else pa.concat_arrays([first, second])
