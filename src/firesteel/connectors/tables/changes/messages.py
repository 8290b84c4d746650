"""Blocks of lines with a JSON object each, as columns.

A block whose objects are plain is read as a whole by Arrow. Otherwise its halves are, and so on, so that few lines are
read one by one because of others: those that only the exact way understands.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa

from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.connectors.files.lines import feed_lines
from firesteel.connectors.tables.formats.json_arrow import ArrowLines, arrow_reads
from firesteel.connectors.tables.formats.json_exact import JsonRules, row_reader
from firesteel.connectors.tables.formats.misfit import Misfit
from firesteel.connectors.tables.formats.plain_texts import Doubtful
from firesteel.connectors.tables.formats.stored import stored_column

_FEW: Final = 16
"""Lines that are no longer cut in halves."""

_REFUSED: Final = (Doubtful, pa.ArrowInvalid, OverflowError, UnicodeDecodeError)


class Messages(NamedTuple):
    """Messages as columns, and what they were read from: a block of whole lines, or lines and their numbers."""

    columns: pa.RecordBatch
    block: bytes
    lines: list[bytes] | None = None
    numbers: list[int] | None = None

    def texts(self) -> list[bytes]:
        """Return the text of each message."""
        return feed_lines(self.block) if self.lines is None else self.lines

    def number(self, place: int) -> int:
        """Return the number of a message's line in the block."""
        return place if self.numbers is None else self.numbers[place]


class MessageReader:
    """Reads blocks of whole lines; lines that are empty are left out. Not picklable.

    With `quoted` it is expected that numbers stand in quotes. What is read does not depend on it. A message that
    `skips` says is left out need not be of the type.
    """

    def __init__(
        self, message: RowType, rules: JsonRules, *, quoted: bool, skips: Callable[[str], bool]
    ) -> None:
        self._message = message.copy(nullable=False)
        self._schema = to_arrow_schema(message)
        self._lenient = rules.lenient
        self._exact = row_reader(message, rules)
        self._skips = skips
        ways = (quoted, not quoted) if arrow_reads(message, rules) else ()
        self._ways = [ArrowLines(message, rules, quoted=way) for way in ways]

    def read(self, block: bytes) -> Messages | Misfit:
        """Return the messages of a block, or its first line that is none, unless such lines are skipped."""
        rows = self._plain(block)
        if rows is not None:
            return Messages(rows, block)
        every = feed_lines(block)
        numbers = [number for number, line in enumerate(every) if line]
        parts: list[pa.RecordBatch] = []
        kept: list[int] = []
        for found in self._parts(every, numbers):
            if isinstance(found, Misfit):
                return found
            part, places = found
            parts.append(part)
            kept += places
        columns = pa.concat_batches(parts) if parts else self._stored([])
        return Messages(columns, block, [every[number] for number in kept], kept)

    def _plain(self, block: bytes) -> pa.RecordBatch | None:
        for place, way in enumerate(self._ways):
            try:
                rows = way.read(block)
            except _REFUSED:
                continue
            if place:  # most blocks of a file are alike
                self._ways.reverse()
            return rows
        return None

    def _parts(
        self, every: Sequence[bytes], numbers: Sequence[int]
    ) -> Iterator[tuple[pa.RecordBatch, Sequence[int]] | Misfit]:
        if len(numbers) <= _FEW:
            yield self._one_by_one(every, numbers)
            return
        middle = len(numbers) // 2
        for half in (numbers[:middle], numbers[middle:]):
            rows = self._plain(b"\n".join([every[number] for number in half]))
            if rows is not None:
                yield rows, half
            else:
                yield from self._parts(every, half)

    def _one_by_one(
        self, every: Sequence[bytes], numbers: Sequence[int]
    ) -> tuple[pa.RecordBatch, Sequence[int]] | Misfit:
        rows: list[tuple[Any, ...]] = []
        kept: list[int] = []
        for number in numbers:
            text = every[number].decode("utf-8", "replace")
            try:
                if not self._skips(text):
                    rows.append(self._exact(text))
                    kept.append(number)
            except (ValueError, ArithmeticError, RecursionError) as error:
                if not self._lenient:
                    return Misfit(number, text, str(error))
        return self._stored(rows), kept

    def _stored(self, rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays(stored_column(rows, self._message).flatten(), schema=self._schema)


def names_below(text: bytes, field: str) -> set[str]:
    """Return all names of fields, however deep, within a field of a message.

    >>> sorted(names_below(b'{"old": [{"a": {"b": 1}}, {"c": null}], "d": 2}', "old"))
    ['a', 'b', 'c']
    """
    names: set[str] = set()
    waiting = [json.loads(text, strict=False).get(field)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            names.update(value)
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return names
