"""Blocks of whole CSV records: a line end within quotes does not end a record."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from firesteel.connectors.files.lines import LineReader
from firesteel.connectors.files.systems import ByteStream
from firesteel.connectors.tables.formats.csv_fields import CsvRules, records

_LF = 10
_CR = 13


class RecordReader(LineReader):
    """Cuts a file into blocks of whole records; it must begin at the beginning of the file.

    Positions are bytes, as for lines; a record belongs to the range of its first byte.
    """

    def __init__(self, stream: ByteStream, rules: CsvRules, block: int) -> None:
        super().__init__(stream, 0, block, block)
        self._rules = rules
        self._marks = [mark.encode() for mark in (rules.quote, rules.escape) if mark is not None]

    def skip_to(self, start: int) -> None:
        """Skip to the first record at or after `start`."""
        for _ in self.blocks(start):
            pass

    def _cut(self, limit: int) -> int:
        data = self._data
        if not any(mark in data for mark in self._marks):
            return super()._cut(limit)
        ends = record_ends(data, self._rules, self._ended)
        if not len(ends):
            return len(data) if self._ended else 0
        after = int(np.searchsorted(ends, limit))
        if after < len(ends):
            return int(ends[after])
        return len(data) if self._ended else int(ends[-1])


def record_ends(data: bytes, rules: CsvRules, at_end: bool) -> npt.NDArray[np.int64]:
    """Return where the records end that are whole; the data begin with a record.

    >>> record_ends(b'1,"a\\nb"\\n2,"c', CsvRules(), False).tolist()
    [8]
    """
    if rules.escape is None and rules.quote is not None and rules.quote.isascii():
        quick = _quick_ends(data, rules.delimiter, rules.quote)
        if quick is not None:
            return quick
    return _exact_ends(data, rules, at_end)


def _quick_ends(data: bytes, delimiter: str, quote: str) -> npt.NDArray[np.int64] | None:
    """Return the ends if each quote stands at an edge of a field, or is doubled; else None."""
    chars = np.frombuffer(data, np.uint8)
    returns = np.flatnonzero(chars == _CR)
    if len(returns) and (returns[-1] + 1 == len(chars) or (chars[returns + 1] != _LF).any()):
        return None
    quotes = np.flatnonzero(chars == ord(quote))
    padded = np.concatenate(([_LF], chars, [_LF])).astype(np.uint8)
    edges = (padded == _LF) | (padded == _CR) | (padded == ord(delimiter)) | (padded == ord(quote))
    opening, closing = quotes[0::2], quotes[1::2]
    if not (edges[opening].all() and edges[closing + 2].all()):
        return None
    feeds = np.flatnonzero(chars == _LF)
    ends: npt.NDArray[np.int64] = feeds[np.searchsorted(quotes, feeds) % 2 == 0] + 1
    return ends


def _exact_ends(data: bytes, rules: CsvRules, at_end: bool) -> npt.NDArray[np.int64]:
    ends = [record.end for record in records(data.decode("latin-1"), _bytewise(rules))]
    return np.array(ends if at_end else ends[:-1], np.int64)


def _bytewise(rules: CsvRules) -> CsvRules:
    """Return rules whose marks are bytes: one that is not ASCII stands for its first byte."""
    marks = (rules.delimiter, rules.quote, rules.escape)
    first = [None if mark is None else mark.encode()[:1].decode("latin-1") for mark in marks]
    return replace(rules, delimiter=first[0] or ",", quote=first[1], escape=first[2])


def has_plain_quotes(block: bytes, rules: CsvRules) -> bool:
    """Return whether every quote in a block is at an edge of a field, or doubled."""
    if rules.quote is None or rules.quote.encode() not in block:
        return True
    return _quick_ends(block, rules.delimiter, rules.quote) is not None
