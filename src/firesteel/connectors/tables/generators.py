"""Columns of generated data: each value is a function of the row's index alone, so that ranges can be read again.

Random values come from a hash of the index and of the column's name: no generator has a state.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Indices = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

_STEP: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)
_EXACT: Final = 1 << 53
_HEX: Final = np.frombuffer(bytes(range(256)).hex().encode(), np.uint16)
"""By byte, its two hexadecimal digits."""


def seed_of(name: str) -> int:
    """Return a number for a name, always the same."""
    return zlib.crc32(name.encode())


def random_words(indices: Indices, seed: int) -> Words:
    """Return a random 64-bit number for each index: a finalised counter (SplitMix64)."""
    words = (indices.astype(np.uint64) + np.uint64(seed << 32 | 1)) * _STEP
    words = (words ^ (words >> np.uint64(30))) * _FIRST
    words = (words ^ (words >> np.uint64(27))) * _SECOND
    return words ^ (words >> np.uint64(31))


def random_fractions(indices: Indices, seed: int) -> npt.NDArray[np.float64]:
    """Return a random number of `[0, 1)` for each index."""
    return (random_words(indices, seed) >> np.uint64(11)).astype(np.float64) * 2.0**-53


class Wanted(NamedTuple):
    """The indices of rows, and the time (milliseconds) at which the job began."""

    indices: Indices
    began: int

    def each(self, count: int) -> Wanted:
        """Return `count` indices for each of these, no two of them the same."""
        within = np.arange(count, dtype=np.int64)
        return self._replace(indices=(self.indices[:, None] * count + within).reshape(-1))


class Generator(ABC):
    """Makes a column; picklable."""

    @abstractmethod
    def column(self, rows: Wanted) -> pa.Array:
        """Return the values of these rows."""


@dataclass(frozen=True)
class Sequence(Generator):
    """`start`, `start + 1`, ... by index."""

    start: int
    type: pa.DataType

    def column(self, rows: Wanted) -> pa.Array:
        """Return the numbers."""
        return pa.array(rows.indices + self.start).cast(self.type)


@dataclass(frozen=True)
class RandomWhole(Generator):
    """Whole numbers from `least` to `most`, both included, stored as 64 bits and then as `type`."""

    seed: int
    least: int
    most: int
    type: pa.DataType

    def column(self, rows: Wanted) -> pa.Array:
        """Return the numbers."""
        count = self.most - self.least + 1
        if count <= _EXACT:
            picked = (random_fractions(rows.indices, self.seed) * count).astype(np.int64)
        else:
            words = random_words(rows.indices, self.seed)
            picked = (words % np.uint64(count) if count < 1 << 64 else words).view(np.int64)
        return _stored(picked + np.int64(self.least), self.type)


def _stored(numbers: npt.NDArray[np.int64], kind: pa.DataType) -> pa.Array:
    column = pa.array(numbers)
    if pa.types.is_integer(kind):
        return column.cast(kind)
    return column.cast(pa.int32()).view(kind) if kind.bit_width == 32 else column.view(kind)


@dataclass(frozen=True)
class RandomFloat(Generator):
    """Floating-point numbers between two others."""

    seed: int
    least: float
    most: float
    type: pa.DataType

    def column(self, rows: Wanted) -> pa.Array:
        """Return the numbers."""
        part = random_fractions(rows.indices, self.seed)
        return pa.array(self.least * (1 - part) + self.most * part).cast(self.type)


@dataclass(frozen=True)
class RandomDecimal(Generator):
    """Decimal numbers between two others, cut to the digits of their type."""

    seed: int
    least: float
    most: float
    type: pa.Decimal128Type

    def column(self, rows: Wanted) -> pa.Array:
        """Return the numbers."""
        part = random_fractions(rows.indices, self.seed)
        bound = 10.0 ** (self.type.precision - self.type.scale)
        bound -= bound * 2.0**-53
        values = np.clip(self.least * (1 - part) + self.most * part, -bound, bound)
        if self.type.precision <= _PRECISE:
            whole = np.trunc(values * 10.0**self.type.scale)
            most = 10.0**self.type.precision - 1
            scaled = pa.array(np.clip(whole, -most, most).astype(np.int64)).cast(pa.decimal128(19, 0))
            return pa.array(
                pa.Array.from_buffers(pa.decimal128(19, self.type.scale), len(scaled), scaled.buffers())
            ).cast(self.type)
        texts = [f"{value:.{self.type.scale}f}" for value in values.tolist()]
        return pa.array(texts).cast(pa.decimal256(76, self.type.scale)).cast(self.type, safe=False)


_PRECISE: Final = 15


@dataclass(frozen=True)
class RandomBoolean(Generator):
    """TRUE and FALSE, as often."""

    seed: int

    def column(self, rows: Wanted) -> pa.Array:
        """Return the values."""
        return pa.array((random_words(rows.indices, self.seed) >> np.uint64(63)).astype(np.bool_))


@dataclass(frozen=True)
class RandomBytes(Generator):
    """Random bytes, or text of hexadecimal digits, of a length; with `varies`, of each length up to it."""

    seed: int
    length: int
    varies: bool
    hexadecimal: bool

    def column(self, rows: Wanted) -> pa.Array:
        """Return the values."""
        count = len(rows.indices)
        per_word = 16 if self.hexadecimal else 8
        words = -(-self.length // per_word)
        data = random_words(rows.each(words).indices, self.seed).view(np.uint8)
        if self.hexadecimal:
            data = _HEX[data].view(np.uint8)
        cut = np.ascontiguousarray(data.reshape(count, words * per_word)[:, : self.length])
        kind = pa.string() if self.hexadecimal else pa.binary()
        if not self.varies:
            offsets = np.arange(count + 1, dtype=np.int32) * self.length
            return _laid_out(kind, offsets, cut)
        lengths = 1 + (random_fractions(rows.indices, self.seed ^ 0x5A5A) * self.length).astype(np.int64)
        kept = cut[np.arange(self.length) < lengths[:, None]]
        return _laid_out(kind, np.concatenate(([0], np.cumsum(lengths))).astype(np.int32), kept)


def _laid_out(kind: pa.DataType, offsets: npt.NDArray[np.int32], data: npt.NDArray[np.uint8]) -> pa.Array:
    return pa.Array.from_buffers(kind, len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


@dataclass(frozen=True)
class PastTime(Generator):
    """Times that pass with the index at `rate` rows a second from when the job began, less up to `most_past`."""

    seed: int
    rate: float
    most_past: int
    type: pa.DataType

    def column(self, rows: Wanted) -> pa.Array:
        """Return the times."""
        times = rows.began + (rows.indices * (1000.0 / self.rate)).astype(np.int64)
        if self.most_past:
            times -= (random_fractions(rows.indices, self.seed) * self.most_past).astype(np.int64)
        if pa.types.is_date32(self.type):
            return pa.array((times // 86_400_000).astype(np.int32)).view(self.type)
        if pa.types.is_time32(self.type):
            return pa.array((times % 86_400_000).astype(np.int32)).view(self.type)
        factor = 1_000 if self.type.unit == "us" else 1_000_000
        return pa.array(times * factor).view(self.type)


@dataclass(frozen=True)
class Arrays(Generator):
    """Arrays of `length` elements."""

    element: Generator
    length: int
    type: pa.ListType

    def column(self, rows: Wanted) -> pa.Array:
        """Return the arrays."""
        offsets = pa.array(np.arange(len(rows.indices) + 1, dtype=np.int32) * self.length)
        return pa.ListArray.from_arrays(offsets, self.element.column(rows.each(self.length)), type=self.type)


@dataclass(frozen=True)
class Rows(Generator):
    """Rows of generated fields."""

    fields: tuple[Generator, ...]
    type: pa.StructType

    def column(self, rows: Wanted) -> pa.Array:
        """Return the rows."""
        columns = [field.column(rows) for field in self.fields]
        return pa.StructArray.from_arrays(columns, fields=list(self.type))


@dataclass(frozen=True)
class Nullable(Generator):
    """The values of another generator, some of which are NULL: a part `rate` of them."""

    seed: int
    rate: float
    values: Generator

    def column(self, rows: Wanted) -> pa.Array:
        """Return the values."""
        column = self.values.column(rows)
        absent = random_fractions(rows.indices, self.seed ^ 0x3C3C) < self.rate
        return column.filter(pa.array(~absent)).take(_places(absent)) if absent.any() else column


def _places(absent: npt.NDArray[np.bool_]) -> pa.Array:
    """Return, by row, the place of its value among those that are kept; NULL for those that are not."""
    return pa.array(np.cumsum(~absent) - 1, mask=absent)
