"""What Python workers log and print: each line says of which job it is.

A worker logs what no handler of the program takes: Python's handler of last resort is replaced by one that writes
Firesteel's lines, and a program that configures logging keeps its own. What functions print goes through a
`MarkedStream` where it needs a mark: among the lines of other jobs, in a session, and as JSON, which must have no other
lines in between.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, TextIO

from firesteel.common.log_context import LogContext, logging_for, whole_process_for
from firesteel.common.log_formats import LogFormatter, printed_line


class MarkedStream:
    """A stream that begins each line with a mark, or makes it a line of JSON; else it is the stream that it is made of.

    `logs` says how, None that lines pass as they are. A line is written when it is complete.
    """

    def __init__(self, stream: TextIO, name: str) -> None:
        self.stream = stream
        self.logs: WorkerLogs | None = None
        self._name = name
        self._begun = ""
        self._turn = threading.Lock()

    def write(self, text: str) -> int:
        """Write the lines that are complete by now."""
        logs = self.logs
        if logs is None:
            return self.stream.write(text)
        with self._turn:
            *lines, self._begun = (self._begun + text).split("\n")
            self._write(logs, lines)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts, one after the other."""
        for line in lines:
            self.write(line)

    def mark_for(self, logs: WorkerLogs | None) -> None:
        """Mark lines in this way from now on; one that was begun ends here."""
        with self._turn:
            begun, self._begun = self._begun, ""
            if begun and self.logs is not None:
                self._write(self.logs, [begun])
            self.logs = logs

    def _write(self, logs: WorkerLogs, lines: list[str]) -> None:
        form = logs.context.form or "text"
        marked = [printed_line(form, self._name, line) for line in lines]
        if marked:
            self.stream.write("".join(f"{line}\n" for line in marked))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@dataclass(frozen=True)
class WorkerLogs:
    """How a worker logs for a job. `prints`: lines that functions print get a mark."""

    context: LogContext
    prints: bool

    def at(self, epoch: int | None) -> WorkerLogs:
        """Return how it logs in an epoch."""
        return replace(self, context=replace(self.context, epoch=epoch))

    @contextmanager
    def used(self) -> Iterator[None]:
        """Log for the job in the block: all threads of this process do."""
        logging.lastResort = _last_resort
        streams = [stream for name in ("stdout", "stderr") if (stream := self._stream(name)) is not None]
        before = [stream.logs for stream in streams]
        for stream in streams:
            stream.mark_for(self if self.prints else None)
        with whole_process_for(self.context), logging_for(None):
            try:
                yield
            finally:
                for stream, logs in zip(streams, before, strict=True):
                    stream.mark_for(logs)

    def _stream(self, name: str) -> MarkedStream | None:
        """Return `sys.stdout` or `sys.stderr` as a stream with marks, None if it is none and need not be."""
        stream = getattr(sys, name)
        if isinstance(stream, MarkedStream):
            return stream
        if not self.prints:
            return None
        marked = MarkedStream(stream, name)
        setattr(sys, name, marked)
        return marked


class _LastResort(logging.StreamHandler[TextIO]):
    """Writes to the standard error of the moment; its lines have their marks already."""

    def emit(self, record: logging.LogRecord) -> None:
        stream = sys.stderr
        self.stream = stream.stream if isinstance(stream, MarkedStream) else stream
        super().emit(record)


def _handler() -> _LastResort:
    handler = _LastResort()
    handler.setLevel(logging.WARNING)
    handler.setFormatter(LogFormatter())
    return handler


_last_resort: Final = _handler()
