"""How records become the bytes of a part file, and how the segments of a part become one file."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from firesteel.connectors.files.systems.multipart import Upload
from firesteel.connectors.files.text_lines import known_charset

if TYPE_CHECKING:
    from firesteel.common.typeinfo import TypeInformation


class Segment(NamedTuple):
    """The records of one epoch in a part: a hidden file. Merged segments have a higher `tier`.

    With an `upload`, the file names it, and its completion makes the part.
    """

    path: str
    size: int
    tier: int = 0
    upload: Upload | None = None


class PartCommit(NamedTuple):
    """A part that becomes visible as `final`, from its segments in order; and files that are no longer needed.

    One that is `alone` is compacted with no other. If several parts have become one, `counts` are the numbers of their
    segments.
    """

    final: str
    segments: tuple[Segment, ...]
    obsolete: tuple[str, ...] = ()
    alone: bool = False
    counts: tuple[int, ...] = ()


class PartWriter(ABC):
    """Writes one segment."""

    size: int = 0
    """The bytes written so far, as far as the writer knows."""

    @abstractmethod
    def write(self, values: Sequence[Any], limit: int | None) -> int:
        """Write values one by one until `size` exceeds `limit`; return how many were written, at least one."""

    @abstractmethod
    def finish(self) -> None:
        """Write buffered records; the caller closes the file."""

    def abort(self) -> None:
        """Release the writer's resources, because its file is about to be deleted; must not raise."""


class PartFormat(ABC):
    """The format of the parts of a file sink; picklable."""

    def for_type(self, type_info: TypeInformation | None) -> PartFormat:
        """Return the format for records of this type."""
        return self

    @abstractmethod
    def open(self, file: BinaryIO) -> PartWriter:
        """Return a writer of one segment."""

    @property
    def appendable(self) -> bool:
        """Whether files of this format, one after the other, are a file of it."""
        return type(self).join is PartFormat.join

    def join(self, segments: Sequence[Path], target: BinaryIO) -> None:
        """Write one file that holds the records of all segments in order."""
        for segment in segments:
            with segment.open("rb") as source:
                shutil.copyfileobj(source, target, 1 << 20)


class EncodedRows(PartFormat):
    """A function turns each record into bytes; no separators are added (Flink: Encoder).

    >>> import io
    >>> file = io.BytesIO()
    >>> EncodedRows(lambda value: b"%d;" % value).open(file).write([1, 2, 3], limit=3)
    2
    >>> file.getvalue()
    b'1;2;'
    """

    def __init__(self, encode: Callable[[Any], bytes]) -> None:
        self._encode = encode

    def open(self, file: BinaryIO) -> PartWriter:
        """Return a writer of one segment."""
        encode = self._encode
        return _EncodedWriter(file, lambda values: b"".join(map(encode, values)))


class TextLines(PartFormat):
    """Each record is a line of text, as Flink shows a value of its type (Flink: SimpleStringEncoder).

    Characters that the charset lacks become `?`, as in Java. Raises ConfigurationError for an unknown charset.
    """

    def __init__(self, charset: str = "UTF-8", type_info: TypeInformation | None = None) -> None:
        self._charset = known_charset(charset, "TextLines")
        self._type_info = type_info

    def for_type(self, type_info: TypeInformation | None) -> PartFormat:
        """Return the format for records of this type."""
        return TextLines(self._charset, type_info)

    def open(self, file: BinaryIO) -> PartWriter:
        """Return a writer of one segment."""
        to_text: Callable[[Any], str] = str if self._type_info is None else self._type_info.to_string
        charset = self._charset
        return _EncodedWriter(
            file, lambda values: ("\n".join(map(to_text, values)) + "\n").encode(charset, "replace")
        )


class _EncodedWriter(PartWriter):
    def __init__(self, file: BinaryIO, encode: Callable[[Sequence[Any]], bytes]) -> None:
        self._file = file
        self._encode = encode

    def write(self, values: Sequence[Any], limit: int | None) -> int:
        data = self._encode(values)
        if limit is None or self.size + len(data) <= limit:
            self._put(data)
            return len(values)
        for count, value in enumerate(values, 1):
            self._put(self._encode((value,)))
            if self.size > limit:
                return count
        return len(values)

    def _put(self, data: bytes) -> None:
        self._file.write(data)
        self.size += len(data)

    def finish(self) -> None:
        """Do nothing: the writer buffers nothing."""


def joined_file(final: str) -> str:
    """Return the hidden file into which the segments of a part are joined before the part becomes visible.

    >>> joined_file("out/part-1")
    'out/.part-1.joined'
    """
    directory, slash, name = final.rpartition("/")
    return f"{directory}{slash}.{name}.joined"
