"""Which row groups of a Parquet file can have rows that meet a condition, by the statistics in its footer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from firesteel.functions.columns.pushdowns import Condition, Extent, may_hold

_CODED_BITS: Final = 20
"""Texts that are not coded take more: the length of each takes 32 bits."""

_MANY: Final = 4096
"""Texts beside which a short dictionary and headers are little."""


def may_have(metadata: Any, group: int, condition: Condition | None) -> bool:
    """Return whether a row group can have rows for which a condition is TRUE; `metadata` is the file's.

    Columns without statistics can have any value.
    """
    if condition is None:
        return True
    described = metadata.row_group(group)
    places = _places(described)

    def extent(column: str) -> Extent | None:
        return _extent(described, places[column]) if column in places else None

    return may_hold(condition, extent)


def extents_of(metadata: Any, group: int, columns: Sequence[str]) -> list[Extent | None]:
    """Return what the statistics of a row group say of some columns."""
    described = metadata.row_group(group)
    places = _places(described)
    return [_extent(described, places[column]) if column in places else None for column in columns]


def chunks_of(group: Any, columns: Sequence[str]) -> Iterator[Any]:
    """Yield what a row group has of some columns."""
    chunks = (group.column(place) for place in range(group.num_columns))
    return (chunk for chunk in chunks if _is_in(chunk.path_in_schema, columns))


def _is_in(leaf: str, columns: Sequence[str]) -> bool:
    return any(leaf == column or leaf.startswith(f"{column}.") for column in columns)


def _places(described: Any) -> dict[str, int]:
    return {described.column(place).path_in_schema: place for place in range(described.num_columns)}


def _extent(described: Any, place: int) -> Extent | None:
    chunk = described.column(place)
    known = chunk.statistics
    if known is None:
        return None
    nulls = known.null_count if known.has_null_count else None
    if not known.has_min_max:
        return Extent(described.num_rows, nulls=nulls)
    distinct = 1 if known.min == known.max else _different_texts(chunk)
    return Extent(described.num_rows, known.min, known.max, nulls, distinct)


def _different_texts(chunk: Any) -> int | None:
    """Return about how many different texts a column of many has, by the bits of their numbers in a dictionary.

    Numbers with less than a bit each are those of long runs, and say nothing; nor do those of other values, of which
    bounds say more.
    """
    if chunk.physical_type != "BYTE_ARRAY" or chunk.num_values < _MANY:
        return None
    bits = 8 * chunk.total_uncompressed_size // chunk.num_values
    return min(1 << bits, chunk.num_values) if 0 < bits <= _CODED_BITS else None
