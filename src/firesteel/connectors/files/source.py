"""Files and directories as a source: a fixed set of files, or a directory that is watched for new ones."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Generic, Literal, TypeVar, cast

from firesteel.common.errors import ConfigurationError, ConnectorError, ProgramError
from firesteel.connectors.files.file import SourceFile
from firesteel.connectors.files.format import FileFormat
from firesteel.connectors.files.systems import Found, Status, absolute, system_of
from firesteel.functions.source import (
    Boundedness,
    DiscoveryContext,
    RecordBatches,
    Source,
    Split,
)

T = TypeVar("T")

Choose = Callable[[Sequence[str]], Sequence[str]]
"""Returns those of some paths that are read; picklable."""

SPLIT_SIZE: Final = 64 << 20
"""The bytes from which on a file is cut into parts of one size; with very large files the parts are larger."""


class FileSource(Source[T], Generic[T]):
    """Reads files, each of them once.

    `paths` are files, directories (read with everything below them, except names that start with `.` or `_`) or
    patterns such as `logs/*.gz`: on this machine's disk or one that all workers share, or URLs of an object store or
    of HDFS. With `discovery_interval` (milliseconds) the source looks for new files again and again, without end; a
    file must be complete when it appears, so move it there. `splittable=False` reads each file as one part. Raises
    ConnectorError for a path that does not exist, and for a file that is changed, shrinks or disappears while it is
    read; bytes appended after the discovery are not read. With `choose`, other files than those that it returns are not
    opened; they stay unknown, so that a later choice can have them. Source of the semantics: Flink's FileSource.
    """

    def __init__(
        self,
        paths: Sequence[str | os.PathLike[str]],
        format: FileFormat[T],
        discovery_interval: int | None = None,
        splittable: bool = True,
        split_size: int = SPLIT_SIZE,
        choose: Choose | None = None,
    ) -> None:
        if isinstance(paths, (str, os.PathLike)) or not paths:
            raise ProgramError("requires a list of at least one path", who="FileSource", got=repr(paths))
        if split_size < 1 or (discovery_interval is not None and discovery_interval < 1):
            raise ConfigurationError(
                "requires a split size and a discovery interval of at least 1",
                who="FileSource",
                got=f"{split_size} bytes and {discovery_interval} ms",
            )
        self.paths = [absolute(os.fspath(path), "FileSource") for path in paths]
        self.format = format
        self.watched = discovery_interval is not None
        if discovery_interval is not None:
            self.discovery_interval = discovery_interval
        self._split_size = split_size if splittable else None
        self._choose = choose
        self.unit: Literal["records", "bytes"] = format.unit
        self.produced_type = format.produced_type
        self.makes_exact_values = format.makes_exact_values

    @property
    def boundedness(self) -> Boundedness:
        """BOUNDED unless the source looks for new files."""
        return Boundedness.CONTINUOUS_UNBOUNDED if self.watched else Boundedness.BOUNDED

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        """Return the parts of those current files that are not known yet."""
        return self._new_splits(known, self._split_size)

    def sizes(self) -> dict[str, int]:
        """Return the bytes of each of the current files that are read, by path."""
        chosen = self._chosen(frozenset())
        return {path: (status or system_of(path).status(path)).size for path, status in chosen.items()}

    def discover(self, context: DiscoveryContext) -> Iterable[Split]:
        """Return the parts as `splits` does, but at most one part of a file per subtask: one subtask reads a file in
        order.
        """
        return self._new_splits(context.known, self._split_size, context.parallelism)

    def _new_splits(
        self, known: frozenset[str], split_size: int | None, most: int | None = None
    ) -> list[Split]:
        if known and not self.watched:
            return []
        chosen = [*self._chosen(known).items()]
        if not chosen:
            return []
        system = system_of(chosen[0][0])
        found = system.each(lambda file: self._splits_of(*file, split_size, most), chosen)
        return [split for splits in found for split in splits]

    def _chosen(self, known: frozenset[str]) -> dict[str, Status | None]:
        """Return the files that are read and whose first parts are not known yet."""
        found = {path: status for given in self.paths for path, status in self._found(given)}
        new: Sequence[str] = [path for path in sorted(found) if f"{path}@0" not in known]
        return {path: found[path] for path in (new if self._choose is None else self._choose(new))}

    def _found(self, given: str) -> Iterator[Found]:
        """Yield the files that a path stands for; a watched one that is a prefix of objects may have none yet."""
        system = system_of(given)
        try:
            yield from system.find(given)
        except FileNotFoundError:
            if not self.watched or system.has_directories:
                raise _nothing_at(given) from None

    def _splits_of(
        self, path: str, status: Status | None, split_size: int | None, most: int | None
    ) -> list[Split]:
        try:
            file = SourceFile.discover(path, status)
        except ConnectorError as error:
            if isinstance(error.__cause__, FileNotFoundError) and path not in self.paths:
                return []
            raise
        if file.size == 0:
            return []
        if split_size is not None:
            count = -(-file.size // split_size)
            split_size = -(-file.size // min(count, most or count))
        return [
            Split(f"{path}@{number}", part.start, part.end, (file, part.detail))
            for number, part in enumerate(self.format.parts(file, split_size))
        ]

    def read(self, split: Split, start: int, end: int) -> RecordBatches[T]:
        file, detail = cast("tuple[SourceFile, Any]", split.payload)
        return self.format.read(file, detail, start, end)


def _nothing_at(path: str) -> ConnectorError:
    hint = f"relative paths start at the directory of the program's start, {Path.cwd()}"
    return ConnectorError(
        "requires a file or a directory that exists",
        who="FileSource",
        got=f"the path {path}",
        hint=hint if path.startswith("/") else None,
    )
