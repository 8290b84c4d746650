"""The interface of file formats to a file source, and the readers that wait in a worker for the next range."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, Literal, NamedTuple, Protocol, TypeVar

from firesteel.connectors.files.file import SourceFile
from firesteel.connectors.files.lines import BLOCK, LineReader
from firesteel.functions.columns.pushdowns import Condition
from firesteel.functions.columns.statistics import TableStatistics
from firesteel.functions.source import END_OF_SPLIT, RecordBatches

if TYPE_CHECKING:
    from firesteel.common.typeinfo import TypeInformation

T = TypeVar("T")

_LINE: Final = 4096
"""Bytes that are read beyond a range, for the rest of its last line."""

_SAMPLE: Final = 1 << 16
"""Bytes of a file that are looked at for the length of its lines."""

_RATIO: Final = 4
"""How much longer a compressed text is taken to be than its file."""


class Part(NamedTuple):
    """A part of a file: `[start, end)` in the format's unit, and the details that the format needs to find it."""

    start: int
    end: int | None
    detail: Any = None


class FileFormat(ABC, Generic[T]):
    """How to split a file and how to read ranges of it; picklable."""

    unit: Literal["records", "bytes"] = "records"
    produced_type: TypeInformation | None = None
    makes_exact_values: bool = False
    """See `Source.makes_exact_values`."""

    @abstractmethod
    def parts(self, file: SourceFile, size: int | None) -> Iterable[Part]:
        """Cut a file into parts of about `size` bytes to be read in parallel; None means a single part (driver)."""

    @abstractmethod
    def read(self, file: SourceFile, detail: Any, start: int, end: int) -> RecordBatches[T]:
        """Yield the records of `[start, end)` of the part with this detail (worker)."""

    def filtered(self, condition: Condition) -> FileFormat[T] | None:
        """Return a format that may pass over records for which a condition is not TRUE; None if there is none.

        Parts and positions are the same.
        """
        del condition
        return None

    def statistics(self, sizes: Mapping[str, int], columns: Sequence[str]) -> TableStatistics | None:
        """Return what is known of the records of files of these sizes, and of columns (``a``, ``a.b``) of them.

        None if it is nothing (driver).
        """
        del sizes, columns
        return None


class LineFormat(FileFormat[T]):
    """A format in which every record is a line: plain files can be read from anywhere.

    Positions are bytes, counted after decompression. A compressed file is one part without a known end.
    """

    unit: Literal["records", "bytes"] = "bytes"
    block: int = BLOCK
    """About how many bytes are decoded at once."""
    feeds_only: bool = False
    """Whether a `\\r` ends no line."""

    @abstractmethod
    def decode(self, file: SourceFile, block: bytes, position: int) -> list[T]:
        """Return the records of a block of whole lines that starts at `position`."""

    def open(self, file: SourceFile) -> LineReader:
        """Return a reader at the beginning of a file that must be read from its beginning."""
        return LineReader(file.open(), 0, self.block, self.block, feeds_only=self.feeds_only)

    def reading(self) -> tuple[Hashable, ...]:
        """Return what the readers of equal formats have in common: one can go on where the other has stopped."""
        return (type(self),)

    def seekable(self, file: SourceFile) -> bool:
        """Return whether the file can be read from any position."""
        return not file.compressed

    def parts(self, file: SourceFile, size: int | None) -> Iterable[Part]:
        if not self.seekable(file):
            return [Part(0, None)]
        step = size or max(file.size, 1)
        return [Part(low, min(low + step, file.size)) for low in range(0, file.size, step)]

    def read(self, file: SourceFile, detail: Any, start: int, end: int) -> RecordBatches[T]:
        if not self.seekable(file):
            return (yield from self._read_on(file, start, end))
        before = max(start - 1, 0)
        stream, wanted = file.open_at(before), end - before + _LINE
        reader = LineReader(stream, before, wanted, self.block, feeds_only=self.feeds_only)
        try:
            reader.skip_to(start)
            yield from self._batches(file, reader, end)
        finally:
            reader.close()
        return None

    def statistics(self, sizes: Mapping[str, int], columns: Sequence[str]) -> TableStatistics | None:
        """Return the number of lines if all are as long as those at the beginning of the largest file.

        Source: Flink's CsvFormatStatisticsReportUtil, which looks at the first hundred lines.
        """
        size = sum(sizes.values())
        if not size:
            return TableStatistics(0, 0)
        file = SourceFile.discover(max(sizes, key=sizes.__getitem__))
        stream = file.open()
        try:
            sample = stream.read(_SAMPLE)
        finally:
            stream.close()
        text = size * _RATIO if file.compressed else size
        return TableStatistics(text * max(sample.count(b"\n"), 1) / max(len(sample), 1), size)

    def _read_on(self, file: SourceFile, start: int, end: int) -> RecordBatches[T]:
        key = ("lines", *self.reading(), file)
        reader = WAITING.take(key, start)
        if reader is None:
            reader = self.open(file)
            try:
                reader.skip_to(start)
            except BaseException:
                reader.close()
                raise
        with WAITING.keeping(key, end, reader) as kept:
            yield from self._batches(file, reader, end)
            kept.keep = not reader.at_end
        return END_OF_SPLIT if reader.at_end else None

    def _batches(self, file: SourceFile, reader: LineReader, end: int) -> Iterator[list[T]]:
        position = reader.position
        for block in reader.blocks(end):
            yield self.decode(file, block, position)
            position += len(block)


class Closeable(Protocol):
    """An object that holds a file open."""

    def close(self) -> None:
        """Release the file."""


class _Keeping:
    """Stores a reader if its range has been read to its end, and closes it otherwise."""

    def __init__(self, cache: WaitingReaders, key: tuple[Any, ...], position: int, reader: Closeable) -> None:
        self._cache = cache
        self._key = key
        self._position = position
        self._reader = reader
        self.keep = False

    def __enter__(self) -> _Keeping:
        return self

    def __exit__(self, *_: object) -> None:
        if self.keep:
            self._cache.put(self._key, self._position, self._reader)
        else:
            self._reader.close()


class WaitingReaders:
    """The open readers of one worker process by file and position, so that an epoch resumes where the last one stopped.

    This only saves time: a reader that is not here is opened again and skips everything before its range. The least
    recently used readers are closed.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._readers: OrderedDict[tuple[Any, ...], Any] = OrderedDict()

    def __len__(self) -> int:
        return len(self._readers)

    def take(self, key: tuple[Any, ...], position: int) -> Any:
        """Remove and return the reader of this file at `position`, or None."""
        return self._readers.pop((*key, position), None)

    def put(self, key: tuple[Any, ...], position: int, reader: Closeable) -> None:
        """Store a reader for the range that starts at `position`."""
        older = self._readers.pop((*key, position), None)
        if older is not None:
            older.close()
        self._readers[(*key, position)] = reader
        while len(self._readers) > self._limit:
            _, oldest = self._readers.popitem(last=False)
            oldest.close()

    def keeping(self, key: tuple[Any, ...], position: int, reader: Closeable) -> _Keeping:
        """Return a context that stores `reader` here at its end if its `keep` was set, and closes it otherwise."""
        return _Keeping(self, key, position, reader)

    def clear(self) -> None:
        """Close all readers."""
        while self._readers:
            self._readers.popitem()[1].close()


WAITING: Final = WaitingReaders(32)
"""The waiting readers of this process."""
