"""Files and directories as a source: a fixed set of files, or a directory that is watched for new ones."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Generic, Literal, TypeVar, cast
from urllib.parse import unquote, urlsplit

from firesteel.common.errors import ConfigurationError, ConnectorError, ProgramError
from firesteel.connectors.files.file import SourceFile
from firesteel.connectors.files.format import FileFormat
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
    patterns such as `logs/*.gz`; they are on this machine's disk or on one that all workers share. With
    `discovery_interval` (milliseconds) the source looks for new files again and again, without end; a file must be
    complete when it appears, so move it there. `splittable=False` reads each file as one part. Raises ConnectorError
    for a path that does not exist, and for a file that is changed, shrinks or disappears while it is read; bytes
    appended after the discovery are not read. With `choose`, other files than those that it returns are not opened;
    they stay unknown, so that a later choice can have them. Source of the semantics: Flink's FileSource.
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
        self.paths = [local_path(os.fspath(path), "FileSource") for path in paths]
        self.format = format
        self.watched = discovery_interval is not None
        if discovery_interval is not None:
            self.discovery_interval = discovery_interval
        self._split_size = split_size if splittable else None
        self._choose = choose
        self.unit: Literal["records", "bytes"] = format.unit
        self.produced_type = format.produced_type

    @property
    def boundedness(self) -> Boundedness:
        """BOUNDED unless the source looks for new files."""
        return Boundedness.CONTINUOUS_UNBOUNDED if self.watched else Boundedness.BOUNDED

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        """Return the parts of those current files that are not known yet."""
        return self._new_splits(known, self._split_size)

    def sizes(self) -> dict[str, int]:
        """Return the bytes of each of the current files that are read, by path."""
        return {path: Path(path).stat().st_size for path in self._chosen(frozenset())}

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
        return [split for path in self._chosen(known) for split in self._splits_of(path, split_size, most)]

    def _chosen(self, known: frozenset[str]) -> Sequence[str]:
        """Return the files that are read and whose first parts are not known yet."""
        found = dict.fromkeys(path for given in self.paths for path in _files(given))
        new: Sequence[str] = [path for path in sorted(found) if f"{path}@0" not in known]
        return new if self._choose is None else self._choose(new)

    def _splits_of(self, path: str, split_size: int | None, most: int | None) -> list[Split]:
        try:
            file = SourceFile.discover(path)
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


def local_path(path: str, who: str) -> str:
    """Return the absolute path of a local path or file:// URL. Raises ConnectorError for any other scheme.

    >>> local_path("file:///data/a%20b.txt", "FileSource")
    '/data/a b.txt'
    """
    if "://" not in path and not path.startswith("file:"):
        return os.path.normpath(Path(path).expanduser().absolute())
    parts = urlsplit(path)
    if parts.scheme != "file" or parts.netloc not in {"", "localhost"}:
        raise ConnectorError(
            "requires a path of a file system that is mounted on every machine",
            who=who,
            got=path,
            hint="mount the store, or write a custom source or sink for it",
        )
    return os.path.normpath(unquote(parts.path))


def _files(path: str) -> Iterator[str]:
    """Return the files that a path stands for; below directories, hidden files are left out, but not those you name."""
    if Path(path).is_file():
        yield path
    elif Path(path).is_dir():
        yield from _below(path)
    else:
        matches = sorted(glob.iglob(path)) if glob.has_magic(path) else []  # noqa: PTH207 - a pattern may be absolute
        if not matches and not _pattern_may_match_later(path):
            raise ConnectorError(
                "requires a file or a directory that exists",
                who="FileSource",
                got=f"the path {path}",
                hint=f"relative paths start at the directory of the program's start, {Path.cwd()}",
            )
        for match in matches:
            if not _hidden(Path(match).name):
                yield from _files(match)


def _pattern_may_match_later(path: str) -> bool:
    return glob.has_magic(path) and Path(path).parent.is_dir()


def _below(directory: str) -> Iterator[str]:
    try:
        with os.scandir(directory) as entries:
            found = [entry for entry in entries if not _hidden(entry.name)]
    except OSError as error:
        raise ConnectorError(
            "requires a directory that can be read", who="FileSource", got=f"{directory}: {error}"
        ) from error
    for entry in found:
        if entry.is_dir():
            yield from _below(entry.path)
        elif entry.is_file():
            yield entry.path


def _hidden(name: str) -> bool:
    return name.startswith((".", "_"))
