"""The file system of this machine, which all machines with workers share if there are several."""

from __future__ import annotations

import glob
import os
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from firesteel.common.errors import ConnectorError
from firesteel.connectors.files.systems.system import (
    ByteStream,
    FileSystem,
    Found,
    Status,
    Written,
    is_hidden,
)


class LocalFiles(FileSystem):
    """Files whose names and contents are flushed to the disk."""

    renames = True

    def find(self, path: str) -> Iterator[Found]:
        """Yield the files that a path stands for."""
        if Path(path).is_file():
            yield Found(path)
        elif Path(path).is_dir():
            yield from _below(path)
        else:
            matches = sorted(glob.iglob(path)) if glob.has_magic(path) else []  # noqa: PTH207 - a pattern may be absolute
            if not matches and not (glob.has_magic(path) and Path(path).parent.is_dir()):
                raise FileNotFoundError(path)
            for match in matches:
                if not is_hidden(Path(match).name):
                    yield from self.find(match)

    def folders(self, path: str) -> list[str]:
        """Return the names of the directories in a directory, sorted."""
        root = Path(path)
        return sorted(entry.name for entry in root.iterdir() if entry.is_dir()) if root.is_dir() else []

    def status(self, path: str) -> Status:
        """Return a file's status."""
        found = Path(path).stat()
        return Status(found.st_size, found.st_mtime_ns)

    def open(self, path: str, position: int, status: Status | None = None) -> ByteStream:
        """Open a file's bytes from a position."""
        handle = Path(path).open("rb", buffering=0)  # noqa: SIM115 - close() closes it
        handle.seek(position)
        return handle

    def seekable(self, path: str, status: Status) -> str:
        """Return the path."""
        return path

    def make_directory(self, path: str) -> None:
        """Create a directory with its parents, durably."""
        make_directory(Path(path))

    def create(self, path: str, final: str | None = None) -> BinaryIO:
        """Create a new file."""
        return Path(path).open("xb")

    def finish(self, file: BinaryIO) -> Written:
        """Flush a file to the disk and close it."""
        sync_file(file)
        size = file.tell()
        file.close()
        return Written(file.name, size)

    def abandon(self, file: BinaryIO) -> None:
        """Close a file and remove it."""
        with suppress(OSError):  # what could not be written may not be flushed either
            file.close()
        Path(file.name).unlink(missing_ok=True)

    def sync(self, directories: Iterable[str]) -> None:
        """Flush the names in directories to the disk."""
        for directory in directories:
            sync_directory(Path(directory))

    def missing(self, paths: Sequence[str]) -> list[str]:
        """Return those of the paths at which there is no file."""
        return [path for path in paths if not Path(path).exists()]

    def remove(self, paths: Iterable[str]) -> None:
        """Remove files that may already be gone."""
        for path in paths:
            Path(path).unlink(missing_ok=True)

    def move(self, source: str, target: str) -> None:
        """Rename a file."""
        Path(source).rename(target)

    def replace(self, path: str, data: bytes) -> None:
        """Write a hidden file and rename it."""
        target = Path(path)
        make_directory(target.parent)
        hidden = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
        try:
            with hidden.open("xb") as file:
                file.write(data)
                sync_file(file)
            hidden.rename(target)
        except OSError as error:
            hidden.unlink(missing_ok=True)
            raise ConnectorError("cannot be written", who=path, got=str(error)) from error
        sync_directory(target.parent)

    def below(self, directory: str) -> Iterator[Found]:
        """Yield all files below a directory."""
        for folder, _, names in os.walk(directory):
            yield from (Found(os.path.join(folder, name)) for name in names)  # noqa: PTH118 - quick

    @contextmanager
    def local_copies(self, paths: Sequence[str]) -> Iterator[Sequence[Path]]:
        """Return the files themselves."""
        yield [Path(path) for path in paths]


def _below(directory: str) -> Iterator[Found]:
    try:
        with os.scandir(directory) as entries:
            found = [entry for entry in entries if not is_hidden(entry.name)]
    except OSError as error:
        raise ConnectorError(
            "requires a directory that can be read", who="FileSource", got=f"{directory}: {error}"
        ) from error
    for entry in found:
        if entry.is_dir():
            yield from _below(entry.path)
        elif entry.is_file():
            yield Found(entry.path)


def make_directory(path: Path) -> None:
    """Create a directory with its parents, durably."""
    missing = []
    while not path.is_dir():
        missing.append(path)
        path = path.parent
    for directory in reversed(missing):
        try:
            directory.mkdir(exist_ok=True)
        except OSError as error:
            raise ConnectorError(
                "requires a directory it can write to", who="FileSink", got=f"{directory}: {error.strerror}"
            ) from error
        sync_directory(directory.parent)


def sync_file(file: BinaryIO) -> None:
    """Flush a file to the disk."""
    file.flush()
    os.fsync(file.fileno())


def sync_directory(path: Path) -> None:
    """Flush the names in a directory to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
