"""A hash of columns that is the same on every machine, in every process and after every upgrade.

Key groups and the order of rows in an arrangement depend on these hashes, and both are written into checkpoints. So the
hash of a value must never change: it is defined here by arithmetic on 64-bit words, and not by a library's hash table.

A value becomes words: a number or time one word, a decimal two, a text or binary its bytes in words of eight (little
endian, the last one padded with zeros) after its length, a list the hashes of its elements after its length. A map is
the list of its entries in the order of the hashes of their keys, so that equal maps have equal hashes. Each word is
mixed into the hash with the finaliser of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number
Generators, 2014). Equal values have equal hashes: all NaNs are one value, NULL is a value of its own, and 0.0 and -0.0
differ, as they do in Flink's binary rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from xxhash import xxh3_64_intdigest

Words = npt.NDArray[np.uint64]

LONGEST: Final = 128
"""Bytes of a text above which its hash is taken by xxh3, one call for each text, instead of word by word."""

_MANY: Final = 1 << 12
_SAMPLE: Final = 256
_FEW: Final = 32
"""Different texts among the first ones of many, for which it pays to look for equal ones first."""

_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)
_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)
_NULL: Final = np.uint64(0x6E756C6C6E756C6C)
_NAN: Final = np.uint64(0x7FF8000000000000)
_WORD: Final = 8
_MASKS: Final = np.array([(1 << 8 * size) - 1 for size in range(_WORD)] + [2**64 - 1], np.uint64)
"""By number of bytes, the mask of a word's first bytes."""


def hash_columns(columns: Sequence[pa.Array], before: Words | None = None) -> Words:
    """Return the hash of each row of some columns of equal length; the order of the columns matters.

    `before` is the hash of the columns before them, if there are some. Raises TypeError for a column of another type.

    >>> [hex(value) for value in hash_columns([pa.array([1, 2]), pa.array(["a", None])])]
    ['0x7e8819161feb5e1e', '0xda49fef3a80919c9']
    """
    hashes = np.zeros(len(columns[0]) if columns else 0, np.uint64) if before is None else before.copy()
    for column in columns:
        for words in _words(column):
            _mix_in(hashes, words)
    return hashes


def key_groups(hashes: Words, max_parallelism: int) -> npt.NDArray[np.int64]:
    """Return the key group of each hash. Groups rise with hashes, so rows sorted by hash are sorted by group, too.

    >>> key_groups(np.array([0, 2**63, 2**64 - 1], np.uint64), 128).tolist()
    [0, 64, 127]
    """
    return ((hashes >> np.uint64(32)) * np.uint64(max_parallelism) >> np.uint64(32)).astype(np.int64)


def first_hash(group: int, max_parallelism: int) -> int:
    """Return the smallest hash of a key group; for the group after the last one, 2 ** 64.

    >>> first_hash(64, 128) == 2**63, first_hash(128, 128) == 2**64
    (True, True)
    """
    return -(-(group << 32) // max_parallelism) << 32


def _mix_in(hashes: Words, words: Words) -> None:
    """Replace each hash by one that depends on the word, too."""
    hashes ^= words
    hashes += _GOLDEN
    hashes ^= hashes >> np.uint64(30)
    hashes *= _FIRST
    hashes ^= hashes >> np.uint64(27)
    hashes *= _SECOND
    hashes ^= hashes >> np.uint64(31)


def _words(column: pa.Array) -> Iterable[Words]:
    """Yield the words of a column's values: for each position of a word in the value, the words of all rows."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        yield from _words(column.dictionary_decode())
    elif pa.types.is_struct(kind):
        yield _with_nulls(np.zeros(len(column), np.uint64), column)
        for child in column.flatten():
            yield from _words(child)
    elif pa.types.is_null(kind):
        yield np.full(len(column), _NULL)
    elif pa.types.is_list(kind) or pa.types.is_map(kind):
        yield _with_nulls(_list_hashes(column), column)
    elif _is_text(kind):
        yield _with_nulls(_text_hashes(column), column)
    elif pa.types.is_decimal128(kind):
        words = _fixed(column, np.dtype("<u8"), 2).astype(np.uint64).reshape(-1, 2)
        yield _with_nulls(words[:, 0].copy(), column)
        yield _with_nulls(words[:, 1].copy(), column)
    else:
        yield _with_nulls(_number_words(column), column)


def _is_text(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
    )


def _with_nulls(words: Words, column: pa.Array) -> Words:
    if column.null_count:
        words[np.asarray(column.is_null())] = _NULL
    return words


def _number_words(column: pa.Array) -> Words:
    """Return numbers, times and booleans as words; the result is a copy."""
    kind = column.type
    if pa.types.is_boolean(kind):
        return np.asarray(pc.fill_null(column, False)).astype(np.uint64)
    if pa.types.is_floating(kind):
        values = _fixed(column, np.dtype(kind.to_pandas_dtype())).astype(np.float64)
        words = values.view(np.uint64)
        words[np.isnan(values)] = _NAN
        return words
    if pa.types.is_integer(kind):
        return _fixed(column, np.dtype(kind.to_pandas_dtype())).astype(np.int64).view(np.uint64)
    if pa.types.is_temporal(kind) and kind.bit_width in (32, 64):
        return _fixed(column, np.dtype(f"i{kind.bit_width // 8}")).astype(np.int64).view(np.uint64)
    raise TypeError(f"values of type {kind} cannot be keys")


def _fixed(column: pa.Array, dtype: npt.DTypeLike, each: int = 1) -> npt.NDArray[Any]:
    """Return the data of a column of fixed width; at nulls it is arbitrary."""
    data = column.buffers()[1]
    if data is None:
        return np.zeros(len(column) * each, dtype)
    return np.frombuffer(data, dtype)[column.offset * each : (column.offset + len(column)) * each]


def _text_hashes(column: pa.Array) -> Words:
    """Return the hash of each text; of few that are there again and again each is hashed once."""
    if len(column) < _MANY or pc.count_distinct(column.slice(0, _SAMPLE)).as_py() > _FEW:
        return _each_text_hash(column)
    coded = column.dictionary_encode()
    words = _each_text_hash(coded.dictionary)
    places = coded.indices.fill_null(0).to_numpy()
    return words[places] if len(words) else np.zeros(len(column), np.uint64)


def _each_text_hash(column: pa.Array) -> Words:
    large = pa.types.is_large_string(column.type) or pa.types.is_large_binary(column.type)
    _, offsets, data = column.buffers()
    ends = _offsets(offsets, large)[column.offset : column.offset + len(column) + 1]
    starts, lengths = ends[:-1], ends[1:] - ends[:-1]
    hashes = np.zeros(len(column), np.uint64)
    _mix_in(hashes, lengths.view(np.uint64))
    if data is None or not len(column):
        return hashes
    _mix_in_bytes(hashes, starts, lengths, data)
    return hashes


class Spans(NamedTuple):
    """The elements of lists: those of list i are `lengths[i]` elements of `values` from `starts[i]` on."""

    values: pa.Array
    starts: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]


def spans(column: pa.Array) -> Spans:
    """Return the elements of a column of lists, or the entries of one of maps in the order of the hashes of their keys.

    NULL has none.
    """
    offsets = column.offsets.to_numpy(zero_copy_only=False).astype(np.int64)
    starts, lengths = offsets[:-1], np.diff(offsets)
    if column.null_count:
        lengths = np.where(np.asarray(column.is_valid()), lengths, 0)
    if not pa.types.is_map(column.type):
        return Spans(column.values, starts, lengths)
    ends = np.cumsum(lengths)
    places = np.repeat(starts - (ends - lengths), lengths) + np.arange(lengths.sum())
    entries = column.values.take(pa.array(places))
    order = np.lexsort((hash_columns([entries.field(0)]), np.repeat(np.arange(len(column)), lengths)))
    return Spans(entries.take(pa.array(order)), ends - lengths, lengths)


def _list_hashes(column: pa.Array) -> Words:
    values, starts, lengths = spans(column)
    hashes = np.zeros(len(column), np.uint64)
    _mix_in(hashes, lengths.view(np.uint64))
    elements = hash_columns([values])
    left, place = np.flatnonzero(lengths), 0
    while len(left):
        mixed = hashes[left]
        _mix_in(mixed, elements[starts[left] + place])
        hashes[left] = mixed
        place += 1
        left = left[lengths[left] > place]
    return hashes


def _offsets(data: pa.Buffer, large: bool) -> npt.NDArray[np.int64]:
    return np.frombuffer(data, np.int64) if large else np.frombuffer(data, np.int32).astype(np.int64)


def _mix_in_bytes(
    hashes: Words, starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64], data: pa.Buffer
) -> None:
    """Mix in the bytes of each text: the short ones all together, word by word, the long ones one by one."""
    short = lengths <= LONGEST
    for row in np.flatnonzero(~short):
        start = starts[row]
        hashes[row] = xxh3_64_intdigest(data[start : start + lengths[row]])
    left = np.flatnonzero(short & (lengths > 0))
    every_word = _words_at_every_byte(data)
    place = 0
    while len(left):
        rest = lengths[left] - place
        words = every_word[starts[left] + place] & _MASKS[np.minimum(rest, _WORD)]
        mixed = hashes[left]
        _mix_in(mixed, words)
        hashes[left] = mixed
        left = left[rest > _WORD]
        place += _WORD


def _words_at_every_byte(data: pa.Buffer) -> Words:
    """Return the word that begins at each byte of some data, as if zeros followed the data."""
    padded = np.zeros(data.size + _WORD, np.uint8)
    padded[: data.size] = np.frombuffer(data, np.uint8)
    return np.ndarray((data.size + 1,), np.dtype("<u8"), padded, strides=(1,))
