"""Lines of text (Flink: TextLineInputFormat)."""

from __future__ import annotations

import codecs

from firesteel.common.errors import ConfigurationError
from firesteel.common.typeinfo import Types
from firesteel.connectors.files.file import SourceFile
from firesteel.connectors.files.format import LineFormat
from firesteel.connectors.files.lines import BLOCK, LineReader, split_lines
from firesteel.connectors.files.systems import ByteStream

_ASCII = bytes(range(128))
_STATEFUL = ("utf_7", "hz", "iso2022")


class TextLineFormat(LineFormat[str]):
    """Each line is a record: a str without its end (`\\n`, `\\r\\n` or `\\r`).

    Malformed bytes become U+FFFD, as with Java's reader. In a charset whose line ends cannot be found by bytes (UTF-16,
    say) a file is read as one part. Raises ConfigurationError for an unknown charset.
    """

    produced_type = Types.STRING()
    makes_exact_values = True

    def __init__(self, charset: str = "UTF-8") -> None:
        self.charset = known_charset(charset, "TextLineFormat")
        self._bytewise = _is_bytewise(self.charset)

    def seekable(self, file: SourceFile) -> bool:
        """Return whether the file can be read from any position."""
        return self._bytewise and not file.compressed

    def open(self, file: SourceFile) -> LineReader:
        """Return a reader at the beginning; it reads UTF-8 if the charset's line ends cannot be found by bytes."""
        stream = file.open()
        return LineReader(stream if self._bytewise else _Recoded(stream, self.charset), 0)

    def decode(self, file: SourceFile, block: bytes, position: int) -> list[str]:
        """Return the lines of a block."""
        return split_lines(block.decode(self.charset if self._bytewise else "utf-8", "replace"))


def known_charset(charset: str, who: str) -> str:
    """Return Python's name of a charset. Raises ConfigurationError if there is none."""
    try:
        return codecs.lookup(charset).name
    except LookupError as error:
        raise ConfigurationError(
            "requires a charset that exists",
            who=who,
            got=repr(charset),
            hint="such as 'UTF-8' or 'ISO-8859-1'",
        ) from error


def _is_bytewise(charset: str) -> bool:
    if charset.replace("-", "_").startswith(_STATEFUL):
        return False
    return _ASCII.decode("ascii").encode(charset, "replace") == _ASCII


class _Recoded:
    """A stream in any charset, converted to UTF-8."""

    def __init__(self, stream: ByteStream, charset: str) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder(charset)("replace")
        self._ended = False

    def read(self, size: int = BLOCK, /) -> bytes:
        while not self._ended:
            data = self._stream.read(size)
            self._ended = not data
            if text := self._decoder.decode(data, final=self._ended):
                return text.encode("utf-8", "replace")
        return b""

    def close(self) -> None:
        self._stream.close()
