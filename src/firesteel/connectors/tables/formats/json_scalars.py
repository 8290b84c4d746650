"""Numbers and words of JSON, as texts in a block, to columns: only what JSON allows is taken."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.connectors.tables.formats.characters import characters
from firesteel.connectors.tables.formats.plain_texts import Doubtful

Chars = npt.NDArray[np.uint8]
Ends = npt.NDArray[np.int32]

_ZERO, _ONE, _NINE, _NULL, _MINUS, _POINT, _LETTERS = map(ord, "019n-.A")
_NUMBER: Final = r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$"
_WORDS: Final = pa.array(["true", "false", "null"])


@dataclass(frozen=True)
class Spans:
    """Places of values in a block, in their order: each row of `ends` says where one begins and ends.

    Two more characters are behind each.
    """

    block: pa.Buffer
    ends: Ends

    @property
    def start(self) -> Ends:
        """Where the values begin."""
        return self.ends[:, 0]

    @property
    def end(self) -> Ends:
        """Where they end: behind their last character."""
        return self.ends[:, 1]

    @cached_property
    def chars(self) -> Chars:
        """The characters of the block."""
        return np.frombuffer(self.block, np.uint8)

    @cached_property
    def texts(self) -> pa.Array:
        """The texts at these places."""
        return pieces(self.block, self.ends).take(pa.array(np.arange(0, self.ends.size, 2)))

    def only(self, chosen: npt.NDArray[np.bool_]) -> Spans:
        """Return some of the places."""
        return Spans(self.block, self.ends[chosen])


def pieces(block: pa.Buffer, ends: Ends) -> pa.Array:
    """Return the texts that places cut a block into: from the first to the second, from the second to the third, ...

    >>> pieces(pa.py_buffer(b"one, two."), np.array([0, 3, 5, 8], np.int32)).to_pylist()
    ['one', ', ', 'two']
    """
    return pa.StringArray.from_buffers(ends.size - 1, pa.py_buffer(np.ascontiguousarray(ends)), block)


def scalars(spans: Spans, kind: pa.DataType) -> pa.Array:
    """Return numbers or truth values of a type, and NULL for null.

    Raises Doubtful or ArrowInvalid for texts that are no such value, or do not fit the type.
    """
    first = spans.chars.take(spans.start)
    nulls = first == _NULL
    if not nulls.any():
        return _values(spans, first, kind)
    if not pc.all(pc.equal(spans.only(nulls).texts, "null")).as_py():
        raise Doubtful
    if nulls.all():
        return pa.nulls(len(nulls), kind)
    values = _values(spans.only(~nulls), first[~nulls], kind)
    return values.take(pa.array(np.maximum(np.cumsum(~nulls) - 1, 0), mask=nulls))


def check_scalars(spans: Spans) -> None:
    """Raise Doubtful or ArrowInvalid unless all texts are numbers or words of JSON."""
    first = spans.chars.take(spans.start)
    words = first >= _LETTERS
    if words.any():
        if not pc.all(pc.is_in(spans.only(words).texts, value_set=_WORDS)).as_py():
            raise Doubtful
        spans, first = spans.only(~words), first[~words]
    if len(first):
        _require_starts(spans, first)
        if not _are_digits(characters(spans.texts)).all():
            _floating(spans, pa.float64())


def _values(spans: Spans, first: Chars, kind: pa.DataType) -> pa.Array:
    if pa.types.is_boolean(kind):
        return truth_texts(spans.texts)
    _require_starts(spans, first)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _floating(spans, kind)
    return spans.texts.cast(kind)


def _floating(spans: Spans, kind: pa.DataType) -> pa.Array:
    # Arrow reads 1. and 1.e5 as numbers, too. No other character of a number is a letter.
    if not _are_digits(spans.chars.take(spans.end - 1)).all():
        raise Doubtful
    if (characters(spans.texts) > _NINE).any():
        require_numbers(spans.texts)
    return spans.texts.cast(kind)


def _require_starts(spans: Spans, first: Chars) -> None:
    """Raise Doubtful for numbers that begin as those of JSON do not: Arrow reads 007 and 0x1F as well."""
    special = (first - np.uint8(_ONE)) > np.uint8(_NINE - _ONE)
    if not special.any():
        return
    spans, first = spans.only(special), first[special]
    negative = first == _MINUS
    start = spans.start + negative
    digit = spans.chars.take(start)
    alone = (spans.end - start == 1) | (spans.chars.take(start + 1) == _POINT) | (digit != _ZERO)
    if not (_are_digits(digit) & alone).all():
        require_numbers(spans.texts)


def _are_digits(chars: Chars) -> npt.NDArray[np.bool_]:
    return np.asarray((chars - np.uint8(_ZERO)) <= np.uint8(_NINE - _ZERO))


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
