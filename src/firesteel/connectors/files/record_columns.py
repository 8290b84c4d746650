"""Records as columns of part files, whatever format writes the columns."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO, Final, Protocol

import pyarrow as pa

from firesteel.common.errors import TypeMismatchError
from firesteel.common.typeinfo import RowTypeInfo
from firesteel.common.types import Row
from firesteel.connectors.files.parts import PartWriter

ROW_GROUP: Final = 1 << 16
"""How many rows are written together."""


def row_cells(row_type: RowTypeInfo) -> Callable[[Any], list[Any]]:
    """Return the function from a row of a type to the values of its columns, as pyarrow takes them."""
    coerce = row_type.compile_coercer()
    return lambda value: [*map(_arrow_value, coerce(value))]


def _arrow_value(value: Any) -> Any:
    """Return the value in the form that pyarrow takes: names and values for a row within a row, pairs for a map."""
    if isinstance(value, Row):
        return {name: _arrow_value(item) for name, item in value.as_dict().items()}
    if isinstance(value, dict):
        return [(key, _arrow_value(item)) for key, item in value.items()]
    if isinstance(value, list):
        return [_arrow_value(item) for item in value]
    return value


class BatchWriter(Protocol):
    """What writes record batches into a file."""

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write a batch."""

    def close(self) -> None:
        """Write the end of the file."""


class RecordWriter(PartWriter):
    """Writes values, of which `cells` makes those of the columns, as pyarrow takes them, by a `writer` of batches."""

    def __init__(
        self,
        file: BinaryIO,
        schema: pa.Schema,
        cells: Callable[[Any], Sequence[Any]],
        writer: BatchWriter,
    ) -> None:
        self._file = file
        self._cells = cells
        self._schema = schema
        self._writer = writer
        self._rows: list[Any] = []

    def write(self, values: Sequence[Any], limit: int | None) -> int:
        del limit
        self._rows.extend(map(self._cells, values))
        if len(self._rows) >= ROW_GROUP:
            self._write_group()
        return len(values)

    def _write_group(self) -> None:
        rows, self._rows = self._rows, []
        try:
            columns = [
                pa.array(column, field.type)
                for column, field in zip(zip(*rows, strict=True), self._schema, strict=True)
            ]
        except (pa.ArrowException, TypeError, OverflowError) as error:
            raise TypeMismatchError(
                "requires rows that fit its type",
                who="the writer of columns",
                got=f"{error} in rows such as {rows[0]!r}",
            ) from error
        self._writer.write_batch(pa.record_batch(columns, schema=self._schema))
        self.size = self._file.tell()

    def finish(self) -> None:
        if self._rows:
            self._write_group()
        self._writer.close()

    def abort(self) -> None:
        with contextlib.suppress(OSError):
            self._writer.close()
