"""Files of Avro: a header with the schema, and blocks of records, each with a mark behind it (Avro 1.12)."""

from __future__ import annotations

import bz2
import json
import lzma
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

import pyarrow as pa

from firesteel.common.errors import ConnectorError
from firesteel.connectors.files.file import SourceFile

CODECS: Final = ("null", "deflate", "snappy", "bzip2", "xz", "zstandard")
"""How blocks may be compressed."""

BLOCK: Final = 64_000
"""About how many bytes of records a block has, as in Java's library."""

_MAGIC: Final = b"Obj\x01"
_SYNC: Final = 16
_AHEAD: Final = 1 << 16
_CHECKSUM: Final = 4


class Header(NamedTuple):
    """What stands at the beginning of a file: `size` are its bytes, `sync` is the mark behind each block."""

    schema: str
    codec: str
    sync: bytes
    size: int


@dataclass(frozen=True)
class Block:
    """The records of a block, one after the other, and where in the file it begins."""

    position: int
    count: int
    data: bytes


class _Bytes:
    """Reads a stream by exact numbers of bytes; `position` is where it is in the file."""

    def __init__(self, read: Callable[[int], bytes], position: int) -> None:
        self._read = read
        self._held = b""
        self.position = position

    def _fill(self, size: int) -> bool:
        while len(self._held) < size:
            more = self._read(max(size - len(self._held), _AHEAD))
            if not more:
                return False
            self._held += more
        return True

    def take(self, size: int) -> bytes:
        """Return the next bytes. Raises EOFError if there are fewer."""
        if size < 0 or not self._fill(size):
            raise EOFError("it ends within a block")
        found, self._held = self._held[:size], self._held[size:]
        self.position += size
        return found

    def long(self) -> int:
        """Return the next whole number."""
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value >> 1 ^ -(value & 1)

    def at_end(self) -> bool:
        """Return whether there are no more bytes."""
        return not self._fill(1)

    def skip_past(self, mark: bytes) -> bool:
        """Move behind the next mark; return whether there is one."""
        while True:
            place = self._held.find(mark)
            if place >= 0:
                self.take(place + len(mark))
                return True
            kept = max(len(self._held) - len(mark) + 1, 0)
            self.take(kept)
            if not self._fill(len(self._held) + 1):
                return False


def read_header(file: SourceFile) -> Header:
    """Return the header of a file. Raises ConnectorError if it is not one of Avro."""
    stream = file.open_at(0)
    try:
        return _header(_Bytes(stream.read, 0))
    except (EOFError, ValueError, KeyError) as error:
        raise _damaged(file, 0, error) from error
    finally:
        stream.close()


def _header(data: _Bytes) -> Header:
    if data.take(len(_MAGIC)) != _MAGIC:
        raise ValueError("it does not begin as a file of Avro does")
    metadata: dict[str, bytes] = {}
    while count := data.long():
        if count < 0:
            data.long()
        for _ in range(abs(count)):
            key = data.take(data.long()).decode()
            metadata[key] = data.take(data.long())
    codec = metadata.get("avro.codec", b"null").decode()
    if codec not in CODECS:
        raise ValueError(f"its codec is {codec!r}, and none of {', '.join(CODECS)}")
    return Header(metadata["avro.schema"].decode(), codec, data.take(_SYNC), data.position)


def read_blocks(file: SourceFile, header: Header, start: int, end: int) -> Iterator[Block]:
    """Yield the blocks that begin in `[start, end)`. Raises ConnectorError for a file that is damaged."""
    first = max(start, header.size)
    stream = file.open_at(first - _SYNC)
    data = _Bytes(stream.read, first - _SYNC)
    try:
        if not data.skip_past(header.sync):
            return
        while data.position < end and not data.at_end():
            position = data.position
            count, size = data.long(), data.long()
            block = _decompressed(header.codec, data.take(size))
            if data.take(_SYNC) != header.sync:
                raise ValueError("there is no mark behind a block")
            yield Block(position, count, block)
    except (EOFError, ValueError, OSError, zlib.error, lzma.LZMAError) as error:
        raise _damaged(file, data.position, error) from error
    finally:
        stream.close()


def _damaged(file: SourceFile, position: int, error: Exception) -> ConnectorError:
    return ConnectorError(
        "requires a file of Avro that is whole", who=f"file {file.path}", got=f"{error} (at byte {position})"
    )


def _decompressed(codec: str, data: bytes) -> bytes:
    if codec == "null":
        return data
    if codec == "deflate":
        return zlib.decompress(data, -zlib.MAX_WBITS)
    if codec == "snappy":
        return _unsnapped(data)
    if codec == "bzip2":
        return bz2.decompress(data)
    if codec == "xz":
        return lzma.decompress(data)
    return bytes(pa.CompressedInputStream(pa.BufferReader(data), "zstd").read())


def _unsnapped(data: bytes) -> bytes:
    """Return what Snappy compressed: its length is before it, and a checksum behind."""
    packed, checksum = data[:-_CHECKSUM], data[-_CHECKSUM:]
    size = shift = 0
    for byte in packed:
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            break
    found = pa.decompress(packed, size, "snappy", asbytes=True)
    if zlib.crc32(found) != int.from_bytes(checksum, "big"):
        raise ValueError("a block has another checksum")
    return bytes(found)


def _compressed(codec: str, data: bytes) -> bytes:
    if codec == "null":
        return data
    if codec == "deflate":
        packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        return packer.compress(data) + packer.flush()
    if codec == "snappy":
        packed: bytes = pa.compress(data, "snappy", asbytes=True)
        return packed + zlib.crc32(data).to_bytes(_CHECKSUM, "big")
    if codec == "bzip2":
        return bz2.compress(data)
    if codec == "xz":
        return lzma.compress(data)
    found: bytes = pa.compress(data, "zstd", asbytes=True)
    return found


@dataclass(frozen=True)
class Container:
    """Writes files with a schema."""

    schema: str
    codec: str

    def begin(self, file: BinaryIO) -> bytes:
        """Write the header; return the mark of the file."""
        sync = os.urandom(_SYNC)
        metadata = {"avro.schema": json.dumps(json.loads(self.schema)), "avro.codec": self.codec}
        entries = b"".join(_text(key) + _text(value) for key, value in metadata.items())
        file.write(_MAGIC + long(len(metadata)) + entries + b"\x00" + sync)
        return sync

    def block(self, file: BinaryIO, sync: bytes, count: int, data: bytes) -> None:
        """Write a block of records."""
        packed = _compressed(self.codec, data)
        file.write(long(count) + long(len(packed)) + packed + sync)

    def join(self, segments: Sequence[Path], target: BinaryIO) -> None:
        """Write one file with the blocks of others that have the same schema."""
        sync = self.begin(target)
        for segment in segments:
            with segment.open("rb") as source:
                data = _Bytes(source.read, 0)
                header = _header(data)
                while not data.at_end():
                    count, size = data.long(), data.long()
                    packed = data.take(size)
                    data.take(_SYNC)
                    if header.codec == self.codec:
                        target.write(long(count) + long(size) + packed + sync)
                    else:
                        self.block(target, sync, count, _decompressed(header.codec, packed))


def long(number: int) -> bytes:
    """Return a whole number that is not negative, as Avro writes it.

    >>> long(1), long(64)
    (b'\\x02', b'\\x80\\x01')
    """
    left, data = 2 * number, bytearray()
    while left > 0x7F:
        data.append(left & 0x7F | 0x80)
        left >>= 7
    return bytes([*data, left])


def _text(text: str) -> bytes:
    data = text.encode()
    return long(len(data)) + data


def without_fields(schema: Any) -> Any:
    """Return a schema that reads any record of another, or null if that has it, and passes over all fields.

    Raises ValueError for a schema that is not one of records.

    >>> without_fields(["null", {"type": "record", "name": "r", "fields": [{"name": "n", "type": "int"}]}])
    ['null', {'type': 'record', 'name': 'r', 'fields': []}]
    """
    if isinstance(schema, list):
        return [part if part == "null" else without_fields(part) for part in schema]
    if not isinstance(schema, dict) or schema.get("type") != "record":
        raise ValueError("its schema is not one of records")
    return {"type": "record", "name": schema["name"], "fields": []}
