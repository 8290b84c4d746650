"""Lines of JSON that all have the same form, as one program writes them: columns without a parser.

The first line of a block says what form its lines have: which keys, in which order, with text in quotes or a number
behind each. Then the quotes of all lines are found in one go, and what lies between them is compared with the form,
column by column. Whatever differs, a line, an escape, a NULL instead of a text, is Doubtful, and the block is read in
another way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.logical_types import LogicalTypeRoot
from firesteel.connectors.tables.formats.plain_texts import Doubtful

Places = npt.NDArray[np.int64]

_R = LogicalTypeRoot
_QUOTE, _ZERO, _NINE, _NULL, _SPACE = map(ord, '"09n ')
_BEFORE_TEXT: Final = re.compile(rb": ?")
_BEFORE_KEY: Final = re.compile(rb", ?")
_SCALAR: Final = re.compile(rb"(: ?)[^,:\s\[\]{}]+(, ?|\})")
_NUMBER: Final = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$"


@dataclass(frozen=True)
class Form:
    """The fields of a line: for each its key, and what is between the quote after the key and the next key.

    `text` is whether a text follows; `before` is what is between key and value, `after` what is behind the value.
    """

    key: bytes
    text: bool
    before: bytes
    after: bytes


def form_of(line: bytes) -> list[Form]:
    """Return the form of a line without its end; raise Doubtful for one that is not flat.

    >>> [(field.key, field.text, field.after) for field in form_of(b'{"a": "x", "n": 1}')]
    [(b'a', True, b', '), (b'n', False, b'}')]
    """
    parts = line.split(b'"')
    if len(parts) < 3 or len(parts) % 2 == 0 or parts[0] != b"{":
        raise Doubtful
    fields: list[Form] = []
    place = 1
    while place < len(parts):
        key, gap = parts[place], parts[place + 1]
        if _BEFORE_TEXT.fullmatch(gap) and place + 3 < len(parts):
            after = parts[place + 3]
            fields.append(Form(key, True, gap, after))
            place += 4
        else:
            found = _SCALAR.fullmatch(gap)
            if found is None:
                raise Doubtful
            fields.append(Form(key, False, found[1], found[2]))
            place += 2
    ends = [field.after for field in fields]
    if ends[-1] != b"}" or not all(_BEFORE_KEY.fullmatch(end) for end in ends[:-1]):
        raise Doubtful
    if len({field.key for field in fields}) < len(fields):
        raise Doubtful
    return fields


class UniformBlock:
    """A block of lines of one form; raises Doubtful for any other block.

    `column` returns the values of a key as texts, or as numbers and truth values by their types.
    """

    def __init__(self, block: bytes) -> None:
        if b"\\" in block or not block.endswith(b"\n"):
            raise Doubtful
        self._chars = np.frombuffer(block, np.uint8)
        self._data = pa.py_buffer(block)
        if not block.isascii():
            block.decode()
        self._form = form_of(block[: block.index(b"\n")])
        self.count = np.count_nonzero(self._chars < _SPACE)
        quotes = np.flatnonzero(self._chars == _QUOTE)
        width = sum(4 if field.text else 2 for field in self._form)
        if len(quotes) != width * self.count:
            raise Doubtful
        columns = quotes.reshape(self.count, width).T.copy()
        # A line begins before its first quote; where each is, there must be one of the characters below space.
        ends = np.append(columns[0, 1:] - len("\n{"), len(block) - 1)
        self._require(ends, b"\n")
        self._spans = self._checked(columns, np.append(0, ends[:-1] + 1), ends)

    def column(self, key: bytes, kind: pa.DataType, *, text: bool) -> pa.Array:
        """Return the values of a key; NULL where no line has it. Raises Doubtful for values of another kind."""
        found = self._spans.get(key)
        if found is None:
            return pa.nulls(self.count, kind)
        is_text, start, end = found
        if is_text != text:
            raise Doubtful
        values = self._texts(start, end)
        return values if text else self._scalars(values, start, end, kind)

    def check_others(self, keys: set[bytes]) -> None:
        """Raise Doubtful if a value that is not read is none of JSON."""
        for key, (is_text, start, end) in self._spans.items():
            if key not in keys and not is_text:
                self._scalars(self._texts(start, end), start, end, pa.float64())

    def _checked(
        self, quotes: Places, starts: Places, ends: Places
    ) -> dict[bytes, tuple[bool, Places, Places]]:
        """Return whether the value of each key is a text, and where it is in each line; all else is as in the form."""
        self._require(starts, b"{")
        self._require_distance(quotes[0] - starts, 1)
        spans: dict[bytes, tuple[bool, Places, Places]] = {}
        place = 0
        for field in self._form:
            opened, closed = quotes[place], quotes[place + 1]
            self._require_distance(closed - opened, len(field.key) + 1)
            self._require(opened + 1, field.key)
            self._require(closed + 1, field.before)
            start = closed + 1 + len(field.before)
            place += 2
            if field.text:
                self._require_distance(quotes[place] - start, 0)
                start, value_end = quotes[place] + 1, quotes[place + 1]
                behind = value_end + 1
                place += 2
                following = quotes[place] if place < len(quotes) else ends
                self._require_distance(following - behind, len(field.after))
            else:
                following = quotes[place] if place < len(quotes) else ends
                value_end = behind = following - len(field.after)
                if not (value_end > start).all():
                    raise Doubtful
            self._require(behind, field.after)
            spans[field.key] = (field.text, start, value_end)
        return spans

    def _require(self, places: Places, text: bytes) -> None:
        for step, char in enumerate(text):
            if not (self._chars[step:].take(places) == char).all():
                raise Doubtful

    def _require_distance(self, distances: Places, expected: int) -> None:
        if not (distances == expected).all():
            raise Doubtful

    def _texts(self, start: Places, end: Places) -> pa.Array:
        """Return the texts between places: every other one of those that the places cut the block into."""
        offsets = np.empty(2 * self.count, np.int32)
        offsets[0::2], offsets[1::2] = start, end
        pieces = pa.StringArray.from_buffers(2 * self.count - 1, pa.py_buffer(offsets), self._data)
        return pieces.take(pa.array(np.arange(0, 2 * self.count - 1, 2)))

    def _scalars(self, texts: pa.Array, start: Places, end: Places, kind: pa.DataType) -> pa.Array:
        first = self._chars[start]
        nulls = first == _NULL
        if nulls.any():
            present = np.flatnonzero(~nulls)
            if not pc.all(pc.equal(texts.filter(pa.array(nulls)), "null")).as_py():
                raise Doubtful
            texts = pc.if_else(pa.array(nulls), pa.scalar(None, pa.string()), texts)
            start, end, first = start[present], end[present], first[present]
        if pa.types.is_boolean(kind):
            return truth_texts(texts)
        last = self._chars[end - 1]
        digits = (first >= _ZERO) & (first <= _NINE)
        if not ((last >= _ZERO) & (last <= _NINE)).all():
            raise Doubtful
        second = self._chars[start + 1]
        doubtful = ~digits | ((first == _ZERO) & (second >= _ZERO) & (second <= _NINE))
        floating = pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        # Arrow reads 1.e5 as a number, too; only what is between the ends can have such a point.
        if doubtful.any() or (floating and _has_exponent(texts)):
            require_numbers(texts)
        return texts.cast(kind)


def _has_exponent(texts: pa.Array) -> bool:
    """Return whether a text may have an e: no other character of a number is a letter."""
    _, offsets, data = texts.buffers()
    ends = np.frombuffer(offsets, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return bool((np.frombuffer(data, np.uint8)[ends[0] : ends[-1]] > _NINE).any())


def require_numbers(texts: pa.Array) -> None:
    """Raise Doubtful unless all texts are numbers as JSON has them."""
    if not pc.all(pc.match_substring_regex(texts, _NUMBER), min_count=0).as_py():
        raise Doubtful


def truth_texts(texts: pa.Array) -> pa.Array:
    """Return the truth values of texts. Raises Doubtful for texts that are neither true nor false."""
    truths = pc.equal(texts, "true")
    if not pc.all(pc.or_(truths, pc.equal(texts, "false")), min_count=0).as_py():
        raise Doubtful
    return truths
