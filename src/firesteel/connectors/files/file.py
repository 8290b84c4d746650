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
from typing import Any, Final, Protocol

import pyarrow as pa
import xxhash

from firesteel.common.errors import ConnectorError

_FINGERPRINTED: Final = 4096
_UNREADABLE: Final = frozenset({".deflate", ".zip", ".lz4", ".lzo", ".snappy", ".z", ".7z", ".rar"})
_COMPRESSED: Final = frozenset({".gz", ".gzip", ".bz2", ".xz", ".zst"})


class ByteStream(Protocol):
    """A stream of bytes that is read once, in order."""

    def read(self, size: int, /) -> bytes:
        """Return up to `size` next bytes; empty only at the end."""

    def close(self) -> None:
        """Release the file."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file as it was at its discovery; picklable.

    `modified` is its modification time in nanoseconds, `fingerprint` the hash of its first and last few kilobytes. A
    file that only grew is read up to `size`. A file that changed in another way raises ConnectorError when it is
    opened.
    """

    path: str
    size: int
    modified: int
    fingerprint: int

    @staticmethod
    def discover(path: str) -> SourceFile:
        """Return the file as it is now."""
        with _naming(path):
            status = Path(path).stat()
            return SourceFile(path, status.st_size, status.st_mtime_ns, _fingerprint(path, status.st_size))

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
            status = Path(self.path).stat()
            if status.st_size == self.size and status.st_mtime_ns == self.modified:
                return
            if status.st_size < self.size:
                raise self._changed(f"it shrank from {self.size} to {status.st_size} bytes")
            if _fingerprint(self.path, self.size) != self.fingerprint:
                raise self._changed("other content")

    def open(self) -> ByteStream:
        """Open the file's bytes from their beginning, decompressed, up to the size at its discovery."""
        self.check()
        with _naming(self.path):
            plain = PlainStream(self, 0)
            suffix = Path(self.path).suffix.lower() if self.compressed else ""
            if not suffix:
                return plain
            return _Decompressed(self, plain, suffix)

    def open_at(self, position: int) -> ByteStream:
        """Open the bytes of an uncompressed file from `position`."""
        self.check()
        with _naming(self.path):
            return PlainStream(self, position)

    def _changed(self, got: str) -> ConnectorError:
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
        self._handle = Path(file.path).open("rb", buffering=0)  # noqa: SIM115 - close() closes it
        self._handle.seek(position)

    def read(self, size: int = -1, /) -> bytes:
        """Return up to `size` next bytes. Raises ConnectorError if the file ends too early."""
        wanted = self._left if size < 0 else min(size, self._left)
        if wanted <= 0:
            return b""
        data = self._handle.read(wanted)
        if not data:
            raise self._file._changed(f"it shrank, {self._left} bytes are missing")
        self._left -= len(data)
        return data

    def close(self) -> None:
        """Close the file."""
        self._handle.close()

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return self._handle.closed


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


def _fingerprint(path: str, size: int) -> int:
    with Path(path).open("rb") as handle:
        head = handle.read(min(size, _FINGERPRINTED))
        handle.seek(max(0, size - _FINGERPRINTED))
        return xxhash.xxh3_64_intdigest(head + handle.read(min(size, _FINGERPRINTED)))


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
