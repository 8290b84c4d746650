"""Files of Avro, split anywhere: a range means the blocks that begin in it."""

from __future__ import annotations

import io
import json
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeVar

from firesteel.common.errors import ConnectorError, TypeMismatchError
from firesteel.connectors.files.avro_container import (
    BLOCK,
    Block,
    Container,
    Header,
    read_blocks,
    read_header,
)
from firesteel.connectors.files.file import SourceFile
from firesteel.connectors.files.format import FileFormat, Part
from firesteel.connectors.files.parts import PartFormat, PartWriter
from firesteel.functions.source import RecordBatches

T = TypeVar("T")


class AvroFormat(FileFormat[T]):
    """Reads blocks; positions are bytes of the file."""

    unit: Literal["records", "bytes"] = "bytes"

    @abstractmethod
    def decode(self, file: SourceFile, header: Header, block: Block) -> list[T]:
        """Return the records of a block."""

    def parts(self, file: SourceFile, size: int | None) -> Iterable[Part]:
        """Return ranges of bytes."""
        step = size or max(file.size, 1)
        return [Part(low, min(low + step, file.size)) for low in range(0, file.size, step)]

    def read(self, file: SourceFile, detail: Any, start: int, end: int) -> RecordBatches[T]:
        """Yield the records of the blocks of a range."""
        header = read_header(file)
        for block in read_blocks(file, header, start, end):
            yield self.decode(file, header, block)
        return None


class AvroRecords(AvroFormat[dict[str, Any]]):
    """Each record is a dictionary, with the fields of a schema by which it is read (Avro: schema resolution)."""

    def __init__(self, schema: str) -> None:
        self._schema = schema

    def decode(self, file: SourceFile, header: Header, block: Block) -> list[dict[str, Any]]:
        """Return the records of a block. Raises ConnectorError if they cannot be read by the schema."""
        import fastavro
        from fastavro.read import SchemaResolutionError

        written = fastavro.parse_schema(json.loads(header.schema))
        read = fastavro.parse_schema(json.loads(self._schema))
        read = named_as(read, written)
        data = io.BytesIO(block.data)
        try:
            return [fastavro.schemaless_reader(data, written, read) for _ in range(block.count)]  # type: ignore[misc]
        except (SchemaResolutionError, EOFError, ValueError, IndexError, LookupError) as error:
            raise unreadable(file, block, error) from error


def named_as(read: Any, written: Any) -> Any:
    """Return the schema to read with, under the name of the other: a record counts by its fields, not by its name."""
    if isinstance(read, dict) and isinstance(written, dict) and "name" in written:
        return {**read, "name": written["name"]}
    return read


def unreadable(file: SourceFile, block: Block, error: Exception) -> ConnectorError:
    """Return the error for a block whose records cannot be read."""
    return ConnectorError(
        "requires records that can be read by the schema that is asked for",
        who=f"file {file.path}",
        got=f"{str(error) or type(error).__name__} (in the block at byte {block.position})",
    )


class AvroRecordParts(PartFormat):
    """Dictionaries as part files of Avro."""

    def __init__(self, schema: str, codec: str = "null") -> None:
        self._container = Container(schema, codec)

    def open(self, file: BinaryIO) -> PartWriter:
        """Return a writer of one segment."""
        return _RecordWriter(file, self._container)

    def join(self, segments: Sequence[Path], target: BinaryIO) -> None:
        """Write one file with the records of all segments."""
        self._container.join(segments, target)


class BlockWriter(PartWriter):
    """Collects records until they are a block."""

    def __init__(self, file: BinaryIO, container: Container) -> None:
        self._file = file
        self._container = container
        self._sync = container.begin(file)
        self._held: list[bytes] = []
        self._count = 0
        self._bytes = 0

    def add(self, count: int, data: bytes) -> None:
        """Write so many records."""
        self._held.append(data)
        self._count += count
        self._bytes += len(data)
        if self._bytes >= BLOCK:
            self._write()

    def _write(self) -> None:
        self._container.block(self._file, self._sync, self._count, b"".join(self._held))
        self._held, self._count, self._bytes = [], 0, 0
        self.size = self._file.tell()

    def finish(self) -> None:
        if self._count:
            self._write()


class _RecordWriter(BlockWriter):
    def __init__(self, file: BinaryIO, container: Container) -> None:
        import fastavro

        super().__init__(file, container)
        self._schema = fastavro.parse_schema(json.loads(container.schema))
        self._write_record = fastavro.schemaless_writer

    def write(self, values: Sequence[Any], limit: int | None) -> int:
        for count, value in enumerate(values, 1):
            data = io.BytesIO()
            try:
                self._write_record(data, self._schema, value)
            except (TypeError, ValueError, AttributeError, KeyError, OverflowError) as error:
                raise TypeMismatchError(
                    "requires records that fit its schema", who="the Avro writer", got=f"{value!r} ({error})"
                ) from error
            self.add(1, data.getvalue())
            if limit is not None and self.size > limit:
                return count
        return len(values)
