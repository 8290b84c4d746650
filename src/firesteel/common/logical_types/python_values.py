"""Python values from columns of a type (Flink: the default conversions to the Table API's external classes).

==================== =================================================================================
type                 Python
==================== =================================================================================
TIME                 datetime.time
TIMESTAMP            datetime.datetime without zone; digits after the sixth are cut off
TIMESTAMP_LTZ        firesteel.common.Instant, or a datetime in a zone that you choose
INTERVAL YEAR, MONTH an int: months
INTERVAL DAY, ...    datetime.timedelta
ARRAY, MAP, MULTISET list, dict, dict from value to count
ROW, STRUCTURED      Row with the names of the fields
RAW                  the object
VARIANT              str: JSON
BITMAP               bytes: Roaring's portable format
==================== =================================================================================
"""

from __future__ import annotations

import datetime as dt
import pickle
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, Final

import pyarrow as pa

from firesteel.common.logical_types.constructed import ArrayType, MapType, MultisetType, RowType
from firesteel.common.logical_types.logical_type import LogicalType
from firesteel.common.logical_types.numbers import IntType
from firesteel.common.logical_types.special import DistinctType, RawType, StructuredType
from firesteel.common.logical_types.temporal import LocalZonedTimestampType, TimestampType
from firesteel.common.time import Instant
from firesteel.common.types import Row, make_row

_NANOS: Final = {"us": 1_000, "ns": 1}
_SECOND: Final = 1_000_000_000


MakeRow = Callable[[list[str], list[Any]], Row]
"""Makes a row of names and values."""


def from_column(
    column: pa.Array, data_type: LogicalType, zone: dt.tzinfo | None = None, make: MakeRow = make_row
) -> list[Any]:
    """Return the values of a column that has the Arrow type of `data_type`; NULL is None.

    Values of TIMESTAMP_LTZ are Instants; with `zone` they are datetimes of that zone. `make` makes the rows.

    >>> from firesteel.common.logical_types import parse_type
    >>> from firesteel.common.logical_types.columns import to_column
    >>> row = parse_type("ROW<n INT, tags ARRAY<STRING>>")
    >>> from_column(to_column([(1, ["a", None]), None], row, "r"), row)
    [Row(n=1, tags=['a', None]), None]
    """
    while isinstance(data_type, DistinctType):
        data_type = data_type.source
    if isinstance(data_type, RowType | StructuredType):
        return _rows(column, data_type, zone, make)
    if isinstance(data_type, ArrayType):
        elements = from_column(column.values, data_type.element, zone, make)
        return [None if part is None else elements[part] for part in _slices(column)]
    if isinstance(data_type, MapType | MultisetType):
        key, value = data_type.children if isinstance(data_type, MapType) else (data_type.element, IntType())
        keys = from_column(column.keys, key, zone, make)
        items = from_column(column.items, value, zone, make)
        pairs = list(zip(keys, items, strict=True))
        return [None if part is None else dict(pairs[part]) for part in _slices(column)]
    if isinstance(data_type, RawType):
        return [None if data is None else pickle.loads(data) for data in column.to_pylist()]
    if isinstance(data_type, LocalZonedTimestampType):
        return list(_instants(column, zone))
    if isinstance(data_type, TimestampType):
        column = column.cast(pa.timestamp("us"), safe=False)
    return list(column.to_pylist())


def _rows(
    column: pa.Array, data_type: RowType | StructuredType, zone: dt.tzinfo | None, make: MakeRow
) -> list[Any]:
    fields = data_type.fields if isinstance(data_type, RowType) else data_type.attributes
    names = [field.name for field in fields]
    columns = [from_column(column.field(place), field.type, zone, make) for place, field in enumerate(fields)]
    rows = zip(*columns, strict=True) if columns else iter([()] * len(column))
    return [
        make(names, list(values)) if valid else None
        for valid, values in zip(column.is_valid().to_pylist(), rows, strict=True)
    ]


def _slices(column: pa.Array) -> Iterator[slice | None]:
    """Yield where the elements of each list or map are; None for those that are NULL."""
    offsets = column.offsets.to_pylist()
    for valid, (start, end) in zip(column.is_valid().to_pylist(), pairwise(offsets), strict=True):
        yield slice(start, end) if valid else None


def _instants(column: pa.Array, zone: dt.tzinfo | None) -> Iterator[Instant | dt.datetime | None]:
    nanos = _NANOS[column.type.unit]
    for value in column.cast(pa.int64()).to_pylist():
        if value is None:
            yield None
        else:
            instant = Instant(*divmod(value * nanos, _SECOND))
            yield instant if zone is None else in_zone(instant, zone)


def in_zone(instant: Instant, zone: dt.tzinfo) -> dt.datetime:
    """Return the instant as a datetime of a zone; digits after the sixth are cut off.

    >>> in_zone(Instant.of_epoch_milli(1), dt.UTC)
    datetime.datetime(1970, 1, 1, 0, 0, 0, 1000, tzinfo=datetime.timezone.utc)
    """
    since = dt.timedelta(seconds=instant.seconds, microseconds=instant.nanos // 1000)
    return (dt.datetime(1970, 1, 1, tzinfo=dt.UTC) + since).astimezone(zone)
