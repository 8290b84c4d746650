"""Reads neighbouring row groups of a Parquet file as columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from firesteel.common.errors import ConnectorError
from firesteel.connectors.files.file import SourceFile
from firesteel.connectors.files.row_filters import sifted
from firesteel.connectors.files.row_groups import chunks_of, may_have
from firesteel.connectors.files.systems import ChangedError
from firesteel.functions.columns.pushdowns import Condition

_FEWEST: Final = 4096
"""A batch has so many rows however long they are."""

_BATCH_BYTES: Final = 32 << 20
"""About so many bytes of columns are decoded at once: a batch of long rows has fewer of them."""

_LENGTH_BYTES: Final = 4
"""What Parquet takes for the length of a text that is not coded."""


class PartReader:
    """Goes through a part of a file once: `groups` are its row groups, positions are its rows.

    Batches have up to `size` rows, the columns of `schema`, and their types (without a schema: those of the file). Of a
    `condition`, row groups whose statistics rule it out are passed over, and so are most other rows that do not meet
    it. Raises ConnectorError for a file that is not Parquet or lacks a column.
    """

    def __init__(
        self,
        file: SourceFile,
        groups: Sequence[int],
        schema: pa.Schema | None,
        size: int,
        condition: Condition | None,
    ) -> None:
        self._parquet = opened(file)
        self._schema = schema
        self._size = size
        names = self._parquet.schema_arrow.names
        self._names: list[str] = names if schema is None else schema.names
        missing = [name for name in self._names if name not in names]
        if missing:
            self._parquet.close()
            raise ConnectorError(
                f"requires the columns {', '.join(missing)}",
                who=f"file {file.path}",
                got=f"the columns {', '.join(names)}",
            )
        coded = [] if schema is None or not groups else self._coded(schema, groups[0])
        if coded:
            metadata = self._parquet.metadata
            self._parquet.close()
            self._parquet = opened(file, metadata, coded)
        self._condition = condition
        self._batches = self._positioned(groups)
        self._held: tuple[int, pa.RecordBatch] | None = None
        self.at_end = False

    def _coded(self, schema: pa.Schema, group: int) -> list[str]:
        """Return the columns of texts that are stored as numbers of a dictionary, which is how they are read quickly.

        Their texts take less than the lengths alone would.
        """
        texts = {field.name for field in schema if pa.types.is_string(field.type)}
        texts &= {field.name for field in self._parquet.schema_arrow if pa.types.is_string(field.type)}
        chunks = chunks_of(self._parquet.metadata.row_group(group), list(texts))
        return [
            chunk.path_in_schema
            for chunk in chunks
            if chunk.total_uncompressed_size < _LENGTH_BYTES * chunk.num_values
        ]

    def _leaves(self) -> list[str]:
        """Return the names of what is read: of a column of rows, those of the fields that the schema has."""
        if self._schema is None:
            return self._names
        return [leaf for field in self._schema for leaf in _leaves(field)]

    def _positioned(self, groups: Sequence[int]) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Yield the batches of row groups, each with the position of its first row."""
        position, metadata = 0, self._parquet.metadata
        for wanted, run in groupby(groups, lambda group: may_have(metadata, group, self._condition)):
            numbers = list(run)
            rows = sum(metadata.row_group(group).num_rows for group in numbers)
            if wanted:
                first = position
                most = _fitting(metadata.row_group(numbers[0]), self._names, self._size)
                for batch in self._parquet.iter_batches(most, row_groups=numbers, columns=self._leaves()):
                    yield first, batch
                    first += batch.num_rows
            position += rows

    def batches(self, start: int, end: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a range."""
        gathered = _Gathered(self._size)
        for batch in self._range(start, end):
            rows = batch if self._condition is None else sifted(batch, self._condition)
            for piece in self._converted(rows):
                yield from gathered.with_(piece)
        yield from gathered.rest()

    def _range(self, start: int, end: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a range as the file has them."""
        while True:
            found = self._held or next(self._batches, None)
            self._held = None
            if found is None:
                self.at_end = True
                return
            position, batch = found
            kept = min(batch.num_rows, max(end - position, 0))
            skipped = max(start - position, 0)
            if kept < batch.num_rows:
                self._held = (position + kept, batch.slice(kept))
            if skipped < kept:
                yield batch.slice(skipped, kept - skipped)
            if position + batch.num_rows >= end:
                return

    def _converted(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        if self._schema is None:
            yield batch
            return
        for piece in _short(batch):
            columns = [piece.column(field.name).cast(field.type) for field in self._schema]
            yield pa.RecordBatch.from_arrays(columns, schema=self._schema)

    def close(self) -> None:
        self._parquet.close()


class _Gathered:
    """Joins neighbouring small batches; one that is large passes as it is."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._batches: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    def with_(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Yield the batches that are large enough, now that there is another one."""
        if self._rows + batch.num_rows > self._most:
            yield from self.rest()
        self._batches.append(batch)
        self._rows += batch.num_rows
        self._bytes += batch.nbytes
        if 2 * self._rows > self._most or 2 * self._bytes > _BATCH_BYTES:
            yield from self.rest()

    def rest(self) -> Iterator[pa.RecordBatch]:
        """Yield what is left."""
        batches, self._batches = self._batches, []
        if self._rows:
            yield batches[0] if len(batches) == 1 else pa.concat_batches(batches)
        self._rows = self._bytes = 0


def opened(file: SourceFile, metadata: Any = None, coded: Sequence[str] = ()) -> Any:
    """Open a file, of which `metadata` may be known; columns that are `coded` are read as dictionaries."""
    source = file.seekable()
    try:
        # The ranges of columns that are near each other are asked for at once, where asking takes long.
        near = source == file.path
        return pq.ParquetFile(source, metadata=metadata, pre_buffer=not near, read_dictionary=list(coded))
    except (ChangedError, FileNotFoundError):
        raise file.changed("other content") from None
    except (pa.ArrowException, OSError) as error:
        raise unreadable(file, error) from error


def unreadable(file: SourceFile, error: Exception) -> ConnectorError:
    """Return the error of a file that is no Parquet file, or damaged."""
    return ConnectorError("requires a Parquet file that is whole", who=f"file {file.path}", got=str(error))


def _short(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """Yield a batch in pieces that are not too large when the texts of dictionaries are written out."""
    coded = [column.dictionary for column in batch.columns if pa.types.is_dictionary(column.type)]
    longest = sum(pc.max(pc.binary_length(texts)).as_py() or 0 for texts in coded)
    rows = max(_FEWEST, _BATCH_BYTES // max(longest, 1))
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


def _leaves(field: pa.Field) -> Iterator[str]:
    if not pa.types.is_struct(field.type):
        yield field.name
        return
    for inner in field.type:
        yield from (f"{field.name}.{leaf}" for leaf in _leaves(inner))


def _fitting(group: Any, columns: Sequence[str], most: int) -> int:
    """Return how many rows like those of a group a batch has: `most`, or fewer if they are long."""
    size = sum(chunk.total_uncompressed_size for chunk in chunks_of(group, columns))
    fitting: int = _BATCH_BYTES * group.num_rows // max(size, 1)
    return min(most, max(_FEWEST, fitting))
