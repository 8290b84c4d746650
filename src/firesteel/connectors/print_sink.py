"""A sink that prints records on the driver's standard output or error."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from firesteel.common.errors import OutputClosedError
from firesteel.functions.sink import Committer, DeliveryGuarantee, Sink, SinkWriter, WriterContext

if TYPE_CHECKING:
    from firesteel.common.typeinfo import TypeInformation

_CHUNK = 1 << 16


class PrintedLines(NamedTuple):
    """What one subtask prints in one epoch, or a part of it: whole lines of text. `writer` and `number`
    identify it.
    """

    writer: str
    number: int
    text: str


class PrintSink(Sink[Any]):
    """Prints each record on a line of its own, when its epoch commits, on the driver.

    A value looks as Flink prints it, by its type. With more than one subtask each line begins with the subtask
    (`2> `), with an identifier also with that (`name:2> `, `name> `). Standard output and error cannot be taken
    back: lines of the epoch during whose commit the driver crashed can be printed again, so the guarantee is
    at-least-once. A character that the stream's encoding lacks becomes `?`, as in Java. Raises OutputClosedError, which
    ends the job, if nobody reads the stream any more. Source of the format: Flink's PrintSinkOutputWriter.

    >>> PrintSink().create_committer().commit([PrintedLines("writer", 0, "1> a\\n")])
    1> a
    """

    guarantee = DeliveryGuarantee.AT_LEAST_ONCE

    def __init__(
        self, identifier: str = "", to_stderr: bool = False, type_info: TypeInformation | None = None
    ) -> None:
        self._identifier = identifier
        self._to_stderr = to_stderr
        self._type_info = type_info

    def for_type(self, type_info: TypeInformation | None) -> Sink[Any]:
        """The same sink with the records' type, unless it was given one."""
        if self._type_info is not None or type_info is None:
            return self
        return PrintSink(self._identifier, self._to_stderr, type_info)

    def create_writer(self, context: WriterContext) -> SinkWriter[Any]:
        name = f"{context.operator_id}/{context.subtask}/{context.attempt}"
        return _Writer(line_prefix(self._identifier, context), name, text_of(self._type_info))

    def create_committer(self) -> Committer:
        return PrintCommitter(self._to_stderr)


def line_prefix(identifier: str, context: WriterContext) -> str:
    """Return what each line of a subtask begins with: the identifier, and the subtask if there are several."""
    prefix = identifier
    if context.parallelism > 1:
        prefix += f"{':' if prefix else ''}{context.subtask + 1}"
    return f"{prefix}> " if prefix else ""


def text_of(type_info: TypeInformation | None) -> Callable[[Any], str]:
    """The function that shows a value of this type as Flink does; Python's `str` for untyped values."""
    return str if type_info is None else type_info.to_print_string


class _Writer(SinkWriter[Any]):
    def __init__(self, prefix: str, name: str, to_text: Callable[[Any], str]) -> None:
        self._prefix = prefix
        self._name = name
        self._to_text = to_text
        self._chunks: list[str] = []
        self._lines: list[str] = []
        self._size = 0

    def write(self, values: Sequence[Any], timestamps: Sequence[int | None] | None) -> None:
        prefix = self._prefix
        lines = [f"{prefix}{text}\n" for text in map(self._to_text, values)]
        self._lines.extend(lines)
        self._size += sum(map(len, lines))
        if self._size >= _CHUNK:
            self._cut()

    def _cut(self) -> None:
        if self._lines:
            self._chunks.append("".join(self._lines))
        self._lines = []
        self._size = 0

    def prepare_commit(self) -> Sequence[PrintedLines]:
        self._cut()
        return [PrintedLines(self._name, number, text) for number, text in enumerate(self._chunks)]


def _print(text: str, stream: TextIO) -> None:
    try:
        stream.write(text)
    except UnicodeEncodeError:
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "replace").decode(encoding))


def _silence(stream: TextIO) -> None:
    """Lead what is still written to a closed pipe nowhere: Python flushes the stream once more at its end."""
    with contextlib.suppress(OSError), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


class PrintCommitter(Committer):
    """Remembers what it printed in the last commit, so that a commit repeated in the same process prints nothing."""

    def __init__(self, to_stderr: bool) -> None:
        self._to_stderr = to_stderr
        self._printed: set[tuple[str, int]] = set()

    def commit(self, committables: Sequence[PrintedLines]) -> None:
        stream: TextIO = sys.stderr if self._to_stderr else sys.stdout
        try:
            for lines in committables:
                if (lines.writer, lines.number) not in self._printed:
                    _print(lines.text, stream)
            stream.flush()
        except BrokenPipeError:
            _silence(stream)
            name = "standard error" if self._to_stderr else "standard output"
            raise OutputClosedError(f"requires a reader of {name}", got="a closed pipe") from None
        if committables:
            self._printed = {(lines.writer, lines.number) for lines in committables}
