"""The partitions of a table of files: directories `key=value`, one within the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from urllib.parse import unquote

import pyarrow as pa
from xxhash import xxh3_64_hexdigest

from firesteel.common.errors import ConnectorError
from firesteel.common.logical_types import Field, LogicalType, RowType
from firesteel.common.logical_types.arrow import to_arrow, to_arrow_schema
from firesteel.connectors.files.systems import absolute, joined, system_of
from firesteel.functions.columns.pushdowns import Partition, PartitionChoice


class FilePartitions:
    """Partitions by columns of these types, in the order of their directories; NULL is the directory `default`.

    Without `choices` all of them are read; with some, those that all of them choose. Raises ConnectorError for a file
    that is in no directory of a column, and for a value that is none of its type.
    """

    def __init__(
        self, types: Mapping[str, LogicalType], default: str, choices: Sequence[PartitionChoice] = ()
    ) -> None:
        self._types = dict(types)
        self._default = default
        self._choices = tuple(choices)
        self.mark = [xxh3_64_hexdigest(repr(self._choices).encode())] if choices else []
        """What tells these choices from others; nothing if there are none."""
        self._known: dict[PurePosixPath, bool] = {}

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_known": {}}

    def __bool__(self) -> bool:
        return bool(self._types)

    def chosen(self, choice: PartitionChoice) -> FilePartitions:
        """Return those of the partitions that a choice has."""
        return FilePartitions(self._types, self._default, [*self._choices, choice])

    def value(self, column: str, path: str) -> pa.Scalar:
        """Return the value of a column for a file."""
        return self._value(column, PurePosixPath(path).parent, f"file {path}")

    def of_files(self, paths: Sequence[str]) -> Sequence[str]:
        """Return those files that are in partitions that are read."""
        if not self._choices:
            return paths
        folders = {path: PurePosixPath(path).parent for path in paths}
        unknown = [folder for folder in dict.fromkeys(folders.values()) if folder not in self._known]
        self._known |= zip(unknown, self._are_read(unknown), strict=True)
        return [path for path in paths if self._known[folders[path]]]

    def below(self, path: str) -> list[Partition]:
        """Return the partitions that there are in a directory, and that are read, by name."""
        return self.among(_folders(absolute(path, "the partitioned table"), [*self._types]))

    def among(self, paths: Iterable[str]) -> list[Partition]:
        """Return those partitions that are read of those in these directories."""
        folders = [PurePosixPath(path) for path in paths]
        read = self._are_read(folders)
        return [
            {column: self._text(column, folder) for column in self._types}
            for folder, is_read in zip(folders, read, strict=True)
            if is_read
        ]

    def _are_read(self, folders: Sequence[PurePosixPath]) -> list[bool]:
        found = [True] * len(folders)
        if folders:
            for choice in self._choices:
                values = self._values(choice.columns, folders)
                found = [one and other for one, other in zip(found, choice(values), strict=True)]
        return found

    def _values(self, columns: Sequence[str], folders: Sequence[PurePosixPath]) -> pa.RecordBatch:
        row = RowType(tuple(Field(column, self._types[column]) for column in columns), nullable=False)
        arrays = [
            pa.array(
                [self._value(column, folder, f"directory {folder}").as_py() for folder in folders],
                to_arrow(self._types[column]),
            )
            for column in columns
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=to_arrow_schema(row))

    def _value(self, column: str, folder: PurePosixPath, who: str) -> pa.Scalar:
        text, kind = self._text(column, folder), self._types[column]
        if text is None:
            return pa.scalar(None, to_arrow(kind))
        try:
            return pa.scalar(text).cast(to_arrow(kind))
        except pa.ArrowInvalid as error:
            raise ConnectorError(
                f"requires a value of type {kind} for the partition {column!r}", who=who, got=repr(text)
            ) from error

    def _text(self, column: str, folder: PurePosixPath) -> str | None:
        """Return the value of a column as a directory's name has it; None is NULL."""
        for part in reversed(folder.parts):
            key, found, value = part.partition("=")
            if found and unquote(key) == column:
                text = unquote(value)
                return None if text == self._default else text
        raise ConnectorError(
            f"requires a directory '{column}=...' in the path of each file",
            who="the partitioned table",
            got=str(folder),
        )


def _folders(root: str, columns: Sequence[str]) -> Iterator[str]:
    """Yield the directories of partitions below one, as far as they are there."""
    if not columns:
        yield root
        return
    for name in system_of(root).folders(root):
        key, found, _ = name.partition("=")
        if found and unquote(key) == columns[0]:
            yield from _folders(joined(root, name), columns[1:])
