"""A file as a source sees it: its size and version at its discovery, and its bytes, decompressed."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import xxhash

from firesteel.common.errors import ConnectorError
from firesteel.connectors.files.systems import ByteStream, ChangedError, FileSystem, Status, system_of

_FINGERPRINTED: Final = 4096
_UNREADABLE: Final = frozenset({".deflate", ".zip", ".lz4", ".lzo", ".snappy", ".z", ".7z", ".rar"})
_COMPRESSED: Final = frozenset({".gz", ".gzip", ".bz2", ".xz", ".zst"})


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file as it was at its discovery; picklable.

    `modified` is its modification time in nanoseconds, `fingerprint` the hash of its first and last few kilobytes, or
    the version by which its file system knows it (an object's ETag). A file that only grew is read up to `size`. A file
    that changed in another way raises ConnectorError when it is opened.
    """

    path: str
    size: int
    modified: int
    fingerprint: int | str

    @staticmethod
    def discover(path: str, status: Status | None = None) -> SourceFile:
        """Return the file as it is now; `status` is what is known of it already."""
        with _naming(path):
            system = system_of(path)
            now = status or system.status(path)
            version = _fingerprint(system, path, now.size) if now.version is None else now.version
            return SourceFile(path, now.size, now.modified, version)

    @property
    def status(self) -> Status:
        """The status of the version that is read."""
        version = self.fingerprint if isinstance(self.fingerprint, str) else None
        return Status(self.size, self.modified, version)

    @property
    def compressed(self) -> bool:
        """Whether its suffix means that it is compressed. Raises ConnectorError for an unreadable compression."""
        suffix = Path(self.path).suffix.lower()
        if suffix in _UNREADABLE:
            raise ConnectorError(
                "requires files that are plain or compressed as .gz, .bz2, .xz or .zst",
                who=f"file {self.path}",
                got=f"suffix {suffix}",
            )
        return suffix in _COMPRESSED

    def check(self) -> None:
        """Raise ConnectorError if the file has changed since its discovery."""
        with _naming(self.path):
            system = system_of(self.path)
            now = system.status(self.path)
            if now == self.status:
                return
            if now.size < self.size:
                raise self.changed(f"it shrank from {self.size} to {now.size} bytes")
            version = _fingerprint(system, self.path, self.size) if now.version is None else now.version
            if version != self.fingerprint:
                raise self.changed("other content")

    def seekable(self) -> Any:
        """Return what pyarrow reads the file from, in any order; `check` it first."""
        with _naming(self.path):
            return system_of(self.path).seekable(self.path, self.status)

    def open(self) -> ByteStream:
        """Open the file's bytes from their beginning, decompressed, up to the size at its discovery."""
        self._check_unless_reading_does()
        with _naming(self.path):
            plain = PlainStream(self, 0)
            suffix = Path(self.path).suffix.lower() if self.compressed else ""
            if not suffix:
                return plain
            return _Decompressed(self, plain, suffix)

    def open_at(self, position: int) -> ByteStream:
        """Open the bytes of an uncompressed file from `position`."""
        self._check_unless_reading_does()
        with _naming(self.path):
            return PlainStream(self, position)

    def _check_unless_reading_does(self) -> None:
        # A version is part of each request: asking for it beforehand would cost one more.
        if not (self.fingerprint and isinstance(self.fingerprint, str)):
            self.check()

    def changed(self, got: str) -> ConnectorError:
        """Return the error for a file that is not as it was at its discovery."""
        return ConnectorError(
            "requires that files stay as they are while a job reads them",
            who=f"file {self.path}",
            got=got,
            hint="move finished files into the directory that is read; do not write them in place",
        )


class PlainStream:
    """The bytes of a file from a position up to the size at its discovery."""

    def __init__(self, file: SourceFile, position: int) -> None:
        self._file = file
        self._left = file.size - position
        self._handle = system_of(file.path).open(file.path, position, file.status)
        self.closed = False

    def read(self, size: int = -1, /) -> bytes:
        """Return up to `size` next bytes. Raises ConnectorError if the file ends too early."""
        wanted = self._left if size < 0 else min(size, self._left)
        if wanted <= 0:
            return b""
        try:
            data = self._handle.read(wanted)
        except ChangedError:
            raise self._file.changed("other content") from None
        except FileNotFoundError:
            raise self._file.changed("it is gone") from None
        if not data:
            raise self._file.changed(f"it shrank, {self._left} bytes are missing")
        self._left -= len(data)
        return data

    def close(self) -> None:
        """Close the file."""
        self._handle.close()
        self.closed = True


class _Decompressed:
    """The decompressed bytes of a file; any error in them is a ConnectorError that names the file."""

    def __init__(self, file: SourceFile, plain: PlainStream, suffix: str) -> None:
        self._file = file
        self._plain = plain
        self._stream: Any = _decompressor(suffix, plain)

    def read(self, size: int, /) -> bytes:
        try:
            return bytes(self._stream.read(size))
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            raise ConnectorError(
                "requires compressed data that is whole", who=f"file {self._file.path}", got=str(error)
            ) from error

    def close(self) -> None:
        self._stream.close()
        self._plain.close()


def _decompressor(suffix: str, plain: Any) -> Any:
    if suffix in {".gz", ".gzip"}:
        return gzip.GzipFile(fileobj=plain, mode="rb")
    if suffix == ".bz2":
        return bz2.BZ2File(plain)
    if suffix == ".xz":
        return lzma.LZMAFile(plain)
    return pa.CompressedInputStream(pa.PythonFile(plain, mode="r"), "zstd")


def _fingerprint(system: FileSystem, path: str, size: int) -> int:
    head = _piece(system, path, 0, size)
    tail = head if size <= _FINGERPRINTED else _piece(system, path, size - _FINGERPRINTED, size)
    return xxhash.xxh3_64_intdigest(head + tail)


def _piece(system: FileSystem, path: str, start: int, size: int) -> bytes:
    stream = system.open(path, start, Status(size, 0))
    try:
        return stream.read(min(size, _FINGERPRINTED))
    finally:
        stream.close()


@contextmanager
def _naming(path: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise ConnectorError(
            "requires a file that exists",
            who=f"file {path}",
            got="nothing at this path",
            hint=f"the path is looked up on every machine that reads it; here the directory is {Path.cwd()}",
        ) from error
    except OSError as error:
        raise ConnectorError(
            "requires a file that can be read", who=f"file {path}", got=str(error)
        ) from error
