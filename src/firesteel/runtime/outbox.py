"""The rows that a task sends to later levels, held until the task's caller takes them."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import IO, Final

from firesteel.state.disk.scratch import scratch_file

Row = tuple[int, int, int, int, bytes]
"""(target, edge, channel, seq, block): a row of an exchange."""

HELD_BYTES: Final = 16 << 20
"""The most bytes of blocks held in memory. One call of a function can emit any number of records; further blocks wait
in a file.
"""


class Outbox:
    """The rows that a task sends, in order.

    Contract: `send` and `pass_on` at any time; `drain` returns the rows added since it was last called, and you must
    consume its result before you add the next row. `bytes` counts the blocks of all rows so far. Raises StateError if
    the local disk has no room for blocks that do not fit into memory.

    >>> outbox = Outbox()
    >>> outbox.send(1, 0, 0, 0, b"block")
    >>> list(outbox.drain()), list(outbox.drain()), outbox.bytes
    ([(1, 0, 0, 0, b'block')], [], 5)
    """

    __slots__ = ("_aside", "_file", "_held", "_rows", "bytes")

    def __init__(self) -> None:
        self.bytes = 0
        self._rows: list[Row] = []
        self._held = 0
        self._file: IO[bytes] | None = None
        self._aside = ExitStack()

    def send(self, target: int, edge: int, channel: int, seq: int, block: bytes) -> None:
        """Add a block."""
        self.pass_on((target, edge, channel, seq, block))

    def pass_on(self, row: Row) -> None:
        """Add a row unchanged."""
        size = len(row[4])
        self.bytes += size
        self._held += size
        self._rows.append(row)
        if self._held > HELD_BYTES:
            self._put_aside()

    def drain(self) -> Iterable[Row]:
        """Return the rows added since the last call."""
        rows, self._rows, self._held = self._rows, [], 0
        return rows if self._file is None else self._with_those_aside(self._file, rows)

    def close(self) -> None:
        """Drop the rows that were not taken."""
        self._rows = []
        self._file = None
        self._aside.close()

    def _put_aside(self) -> None:
        if self._file is None:
            self._file = self._aside.enter_context(scratch_file(1))
        for row in self._rows:
            pickle.dump(row, self._file, 5)
        self._rows, self._held = [], 0

    def _with_those_aside(self, file: IO[bytes], rows: list[Row]) -> Iterator[Row]:
        end = file.tell()
        file.seek(0)
        while file.tell() < end:
            yield pickle.load(file)
        self._file = None
        self._aside.close()
        yield from rows
