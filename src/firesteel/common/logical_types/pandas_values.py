"""Series of pandas from columns of a type, and back (PyFlink: pyflink.table.utils).

Values are as PyFlink has them: dates are objects, times with a zone are in a zone that is given, a ROW is a DataFrame,
and NULL is what pandas has for it in a Series of that class: NaN makes floating point numbers of integers.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow
from firesteel.common.logical_types.constructed import RowType
from firesteel.common.logical_types.logical_type import LogicalType
from firesteel.common.logical_types.temporal import LocalZonedTimestampType

if TYPE_CHECKING:
    import pandas as pd


def to_series(column: pa.Array, kind: LogicalType, zone: dt.tzinfo) -> pd.Series[Any] | pd.DataFrame:
    """Return a column as a Series, or a ROW as a DataFrame with a column for each of its fields.

    >>> from firesteel.common.logical_types import parse_type
    >>> to_series(pa.array([1, 2]), parse_type("BIGINT"), dt.UTC).sum()
    np.int64(3)
    """
    if isinstance(kind, RowType):
        import pandas as pd

        parts = {
            field.name: to_series(part, field.type, zone)
            for field, part in zip(kind.fields, column.flatten(), strict=True)
        }
        return pd.DataFrame(parts)
    series: pd.Series[Any] = column.to_pandas(date_as_object=True)
    return series.dt.tz_convert(zone) if isinstance(kind, LocalZonedTimestampType) else series


def from_series(series: pd.Series[Any] | pd.DataFrame, kind: LogicalType, zone: dt.tzinfo) -> pa.Array:
    """Return a Series, or for a ROW a DataFrame, as a column; a time without a zone is one of `zone`.

    Raises ArrowException, TypeError or ValueError for values that do not fit.
    """
    import pandas as pd

    if isinstance(series, pd.DataFrame):
        return _struct(series, kind, zone)
    to = to_arrow(kind)
    if pa.types.is_timestamp(to):
        series = pd.to_datetime(series)
        if to.tz is not None and series.dt.tz is None:
            series = series.dt.tz_localize(zone)
    if pa.types.is_nested(to):
        return pa.array(series.to_list(), to)
    column = pa.Array.from_pandas(series, mask=series.isna().to_numpy(), type=to)
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def _struct(frame: pd.DataFrame, kind: LogicalType, zone: dt.tzinfo) -> pa.Array:
    if not isinstance(kind, RowType) or len(frame.columns) != len(kind.fields):
        raise ValueError(f"a DataFrame of {len(frame.columns)} columns")
    parts = [from_series(frame.iloc[:, place], field.type, zone) for place, field in enumerate(kind.fields)]
    return pa.StructArray.from_arrays(parts, fields=[*to_arrow(kind)])
