"""Lines as byte ranges: any partition of a file into ranges yields each line exactly once.

A line ends with `\\n`, `\\r\\n` or `\\r` (Java: BufferedReader.readLine) or with the file, and belongs to the range of
its first byte. So the range `[start, end)` means the bytes from the first line start at or after `start` to the first
line start at or after `end`. With `feeds_only` a `\\r` ends no line, as in Flink's files of JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from firesteel.connectors.files.systems import ByteStream

BLOCK: Final = 1 << 18
_CR: Final = 13
_LF: Final = 10


def line_start(data: bytes, index: int, at_end: bool, feeds_only: bool = False) -> int:
    """Return the first line start at or after `index` (> 0), or -1 if the data ends too early to know.

    With `at_end` the data ends with its file; its end counts as a line start.

    >>> line_start(b"ab\\r\\ncd\\n", 1, False), line_start(b"ab\\r\\ncd", 5, False), line_start(b"ab\\r\\ncd", 5, True)
    (4, -1, 6)
    """
    before = data[index - 1]
    if before == _LF:
        return index
    if before == _CR and not feeds_only:
        if index == len(data):
            return index if at_end else -1
        return index + 1 if data[index] == _LF else index
    feed = data.find(b"\n", index)
    carriage = -1 if feeds_only else data.find(b"\r", index, len(data) if feed < 0 else feed)
    if carriage >= 0:
        return line_start(data, carriage + 1, at_end)
    if feed >= 0:
        return feed + 1
    return len(data) if at_end else -1


class LineReader:
    """Cuts a stream into blocks of whole lines; between calls, `position` is a line start.

    Pass as `position` the position in the file of the next byte of `stream`. Unless it is 0, it must be one byte before
    the start of reading, so that `skip_to` can see whether a line starts there. `wanted` is about how many bytes are
    needed, so that a short range does not cost a whole block, which has about `block` bytes.
    """

    def __init__(
        self,
        stream: ByteStream,
        position: int,
        wanted: int = BLOCK,
        block: int = BLOCK,
        *,
        feeds_only: bool = False,
    ) -> None:
        self.position = position
        self._feeds_only = feeds_only
        self._block = min(wanted, block)
        self._stream = stream
        self._data = b""
        self._ended = False

    @property
    def at_end(self) -> bool:
        """Whether the reader knows that it has read the last line."""
        return self._ended and not self._data

    def skip_to(self, start: int) -> None:
        """Skip to the first line start at or after `start`; unless `start` is 0, it is after `position`."""
        if start == 0:
            return
        while True:
            index = start - self.position
            if 0 < index <= len(self._data):
                found = line_start(self._data, index, self._ended, self._feeds_only)
                if found >= 0:
                    self._drop(found)
                    return
            if self._ended:
                self._drop(len(self._data))
                return
            keep = min(max(index - 1, 0), max(len(self._data) - 1, 0))
            self._drop(keep)
            self._fill(max(self._block, len(self._data)))

    def blocks(self, end: int) -> Iterator[bytes]:
        """Yield the lines that start before `end`, as blocks of whole lines with their line ends."""
        while self.position < end:
            if len(self._data) < self._block:
                self._fill(self._block)
            if not self._data:
                return
            cut = self._cut(end - self.position)
            if cut == 0:
                self._fill(max(self._block, len(self._data)))
                continue
            block = self._data[:cut]
            self._drop(cut)
            yield block

    def _cut(self, limit: int) -> int:
        """Return how many bytes of the data are whole lines that start before `limit`; 0 if that is not known yet."""
        data = self._data
        if limit <= len(data):
            found = line_start(data, limit, self._ended, self._feeds_only)
            if found >= 0:
                return found
        if self._ended:
            return len(data)
        feed = data.rfind(b"\n") + 1
        return feed if feed or self._feeds_only else data.rfind(b"\r", 0, len(data) - 1) + 1

    def _fill(self, size: int) -> None:
        if not self._ended:
            more = self._stream.read(size)
            self._data = self._data + more if self._data else more
            self._ended = not more

    def _drop(self, count: int) -> None:
        self._data = self._data[count:]
        self.position += count

    def close(self) -> None:
        """Close the stream."""
        self._stream.close()


def split_lines(text: str) -> list[str]:
    """Return the lines of a block, without their line ends.

    >>> split_lines("a\\r\\n\\nb\\rc")
    ['a', '', 'b', 'c']
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def feed_lines(block: bytes) -> list[bytes]:
    """Return the lines of a block, without their line ends, where a `\\r` alone ends no line.

    >>> feed_lines(b"a\\rb\\r\\n\\nc")
    [b'a\\rb', b'', b'c']
    """
    lines = block.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return [line.removesuffix(b"\r") for line in lines] if b"\r" in block else lines
