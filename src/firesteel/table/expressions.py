"""What expressions begin with, with the names of pyflink.table.expressions.

>>> print(if_then_else(col("n") > 0, lit("more"), lit("none")))
ifThenElse(greaterThan(n, 0), 'more', 'none')
"""

from __future__ import annotations

from typing import Any, Final

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import BigIntType
from firesteel.datastream.streams.node_settings import call_site
from firesteel.table.expressing.operand import given, tree_of
from firesteel.table.expressing.tree import Call, Name, Text, Value, Word
from firesteel.table.expressing.words import JsonOnNull, TimePointUnit
from firesteel.table.expression import Expression
from firesteel.table.types import DataType
from firesteel.table.udf import UserDefinedFunctionWrapper

__all__ = [
    "CURRENT_RANGE",
    "CURRENT_ROW",
    "UNBOUNDED_RANGE",
    "UNBOUNDED_ROW",
    "and_",
    "array",
    "atan2",
    "call",
    "call_sql",
    "coalesce",
    "col",
    "concat",
    "concat_ws",
    "convert_tz",
    "current_database",
    "current_date",
    "current_time",
    "current_timestamp",
    "current_watermark",
    "date_format",
    "descriptor",
    "e",
    "from_unixtime",
    "if_then_else",
    "json",
    "json_array",
    "json_array_agg",
    "json_object",
    "json_object_agg",
    "json_string",
    "lag",
    "lead",
    "lit",
    "local_time",
    "local_timestamp",
    "log",
    "map_",
    "map_from_arrays",
    "negative",
    "not_",
    "null_of",
    "or_",
    "pi",
    "rand",
    "rand_integer",
    "range_",
    "row",
    "row_interval",
    "source_watermark",
    "temporal_overlaps",
    "timestamp_diff",
    "to_date",
    "to_timestamp",
    "to_timestamp_ltz",
    "unix_timestamp",
    "uuid",
    "with_all_columns",
    "with_columns",
    "without_columns",
]

E = Expression[Any]


def _call(function: str, *arguments: Any) -> E:
    return Expression(Call(function, tuple(map(tree_of, arguments))))


UNBOUNDED_ROW: Final[E] = Expression(Word("UNBOUNDED_ROW"))
"""The beginning of a window of rows that has all before the current one."""

UNBOUNDED_RANGE: Final[E] = Expression(Word("UNBOUNDED_RANGE"))
"""The beginning of a window of times that has all before the current one."""

CURRENT_ROW: Final[E] = Expression(Word("CURRENT_ROW"))
"""The end of a window that ends with the current row."""

CURRENT_RANGE: Final[E] = Expression(Word("CURRENT_RANGE"))
"""The end of a window that ends with the rows of the current row's time."""


def col(name: str) -> E:
    """Return a column of the table that takes the expression; ``col("*")`` are all of them.

    Raises ProgramError for what is no name.
    """
    if isinstance(name, str) and name:
        return Expression(Name(name))
    raise ProgramError("requires the name of a column", who=call_site("col"), got=repr(name))


def lit(v: Any, data_type: DataType | None = None) -> E:
    """Return a constant, of a type, or of the one that its Python type stands for.

    An int is an INT, or a BIGINT if it is too big for one; a str is a CHAR of its length, a float a DOUBLE. Raises
    ProgramError for what is no constant, and for None without a type.
    """
    if data_type is not None:
        return Expression(Value(v, data_type.logical_type))
    if v is None:
        raise ProgramError(
            "requires a type for None", who=call_site("lit"), hint="lit(None, DataTypes.INT()) is a NULL"
        )
    return Expression(tree_of(v))


def range_(start: str | int, end: str | int) -> E:
    """Return the columns from one to another, by name or by place from 1; for `with_columns` and the like."""
    bounds = (Name(bound) if isinstance(bound, str) else tree_of(bound) for bound in (start, end))
    return Expression(Call("rangeTo", tuple(bounds)))


def and_(predicate0: Any, predicate1: Any, *predicates: Any) -> Expression[bool]:
    """Return whether all are true."""
    return _call("and", predicate0, predicate1, *predicates)


def or_(predicate0: Any, predicate1: Any, *predicates: Any) -> Expression[bool]:
    """Return whether one is true."""
    return _call("or", predicate0, predicate1, *predicates)


def not_(expression: Any) -> Expression[bool]:
    """Return whether the value is false; NULL for NULL."""
    return _call("not", expression)


def if_then_else(condition: Any, if_true: Any, if_false: Any) -> E:
    """Return one of two values, as a condition is true or not."""
    return _call("ifThenElse", condition, if_true, if_false)


def coalesce(*args: Any) -> E:
    """Return the first value that is not NULL."""
    return _call("COALESCE", *args)


def null_of(data_type: DataType) -> E:
    """Return NULL, of a type."""
    return Expression(Value(None, data_type.logical_type))


def with_all_columns() -> E:
    """Return all columns."""
    return Expression(Name("*"))


def with_columns(head: Any, *tails: Any) -> E:
    """Return some columns: single ones, and ranges of them."""
    return _call("withColumns", head, *tails)


def without_columns(head: Any, *tails: Any) -> E:
    """Return all columns but some: single ones, and ranges of them."""
    return _call("withoutColumns", head, *tails)


def call(f: str | UserDefinedFunctionWrapper, *args: Any) -> E:
    """Return what a function gives: one of the catalog or a built-in one by its name, or one of your own."""
    if isinstance(f, UserDefinedFunctionWrapper):
        return f(*args)
    return _call(f, *args)


def call_sql(sql_expression: str) -> E:
    """Return the value that an expression of SQL means."""
    return Expression(Text(sql_expression))


def array(head: Any, *tail: Any) -> E:
    """Return an array."""
    return _call("array", head, *tail)


def row(head: Any, *tail: Any) -> E:
    """Return a row."""
    return _call("row", head, *tail)


def map_(key: Any, value: Any, *tail: Any) -> E:
    """Return a map of keys and values, which are given in turn."""
    return _call("map", key, value, *tail)


def map_from_arrays(key: Any, value: Any) -> E:
    """Return a map of an array of keys and one of values."""
    return _call("MAP_FROM_ARRAYS", key, value)


def descriptor(*column_names: str) -> E:
    """Return names of columns, for functions that take tables."""
    return Expression(Call("DESCRIPTOR", tuple(map(Name, column_names))))


def row_interval(rows: int) -> E:
    """Return a number of rows, for windows."""
    return Expression(Value(rows, BigIntType(nullable=False)))


def current_database() -> E:
    """Return the name of the current database."""
    return _call("currentDatabase")


def current_date() -> E:
    """Return the day that it is."""
    return _call("currentDate")


def current_time() -> E:
    """Return the time of day that it is."""
    return _call("currentTime")


def current_timestamp() -> E:
    """Return the point in time that it is."""
    return _call("currentTimestamp")


def current_watermark(rowtimeAttribute: Any) -> E:  # noqa: N803 - PyFlink's name
    """Return the watermark of an event time, NULL before there is one."""
    return _call("CURRENT_WATERMARK", rowtimeAttribute)


def source_watermark() -> E:
    """Return the watermarks of the source, for a schema."""
    return _call("SOURCE_WATERMARK")


def local_time() -> E:
    """Return the time of day that it is."""
    return _call("localTime")


def local_timestamp() -> E:
    """Return day and time in the session's time zone."""
    return _call("localTimestamp")


def to_date(date_str: Any, format: Any = None) -> E:
    """Return the DATE that a text is."""
    return _call("toDate", date_str, *given(format))


def to_timestamp(timestamp_str: Any, format: Any = None) -> E:
    """Return the TIMESTAMP that a text is."""
    return _call("toTimestamp", timestamp_str, *given(format))


def to_timestamp_ltz(*args: Any) -> E:
    """Return the point in time that a number with its precision, or a text, is."""
    return _call("TO_TIMESTAMP_LTZ", *args)


def temporal_overlaps(
    left_time_point: Any, left_temporal: Any, right_time_point: Any, right_temporal: Any
) -> Expression[bool]:
    """Return whether two spans of time overlap, each with its beginning and its end or length."""
    return _call("temporalOverlaps", left_time_point, left_temporal, right_time_point, right_temporal)


def date_format(timestamp: Any, format: Any) -> Expression[str]:
    """Return a time as a text."""
    return _call("dateFormat", timestamp, format)


def timestamp_diff(time_point_unit: TimePointUnit, time_point1: Any, time_point2: Any) -> Expression[int]:
    """Return how many units of time are between two points."""
    return _call("timestampDiff", time_point_unit, time_point1, time_point2)


def convert_tz(date_str: Any, tz_from: Any, tz_to: Any) -> Expression[str]:
    """Return day and time of one time zone as those of another."""
    return _call("convertTz", date_str, tz_from, tz_to)


def from_unixtime(unixtime: Any, format: Any = None) -> Expression[str]:
    """Return seconds since 1970 as day and time in the session's time zone."""
    return _call("fromUnixtime", unixtime, *given(format))


def unix_timestamp(date_str: Any = None, format: Any = None) -> Expression[int]:
    """Return seconds since 1970: now, or of day and time in the session's time zone."""
    return _call("unixTimestamp", *given(date_str, format))


def pi() -> Expression[float]:
    """Return pi."""
    return _call("pi")


def e() -> Expression[float]:
    """Return e."""
    return _call("e")


def rand(seed: Any = None) -> Expression[float]:
    """Return a random number from 0 to 1."""
    return _call("rand", *given(seed))


def rand_integer(bound: Any, seed: Any = None) -> Expression[int]:
    """Return a random whole number from 0 to below a bound."""
    return _call("randInteger", *given(seed), bound)


def atan2(y: Any, x: Any) -> Expression[float]:
    """Return the arc tangent of a point."""
    return _call("atan2", y, x)


def negative(v: Any) -> E:
    """Return a value with the other sign."""
    return _call("minusPrefix", v)


def concat(first: Any, *others: Any) -> Expression[str]:
    """Return texts, one after the other; NULL if one is NULL."""
    return _call("concat", first, *others)


def concat_ws(separator: Any, first: Any, *others: Any) -> Expression[str]:
    """Return texts with a separator between them; those that are NULL are left out."""
    return _call("concat_ws", separator, first, *others)


def uuid() -> Expression[str]:
    """Return a random UUID."""
    return _call("uuid")


def log(v: Any, base: Any = None) -> Expression[float]:
    """Return a logarithm, the natural one without a base."""
    return _call("log", *given(base), v)


def json(value: Any) -> E:
    """Return a text of JSON as a value of `json_object` and `json_array`."""
    return _call("JSON", value)


def json_string(value: Any) -> Expression[str]:
    """Return a value as a text of JSON."""
    return _call("JSON_STRING", value)


def json_object(on_null: JsonOnNull = JsonOnNull.NULL, *args: Any) -> Expression[str]:
    """Return an object of JSON of keys and values, which are given in turn."""
    return _call("JSON_OBJECT", on_null, *args)


def json_object_agg(on_null: JsonOnNull, key_expr: Any, value_expr: Any) -> Expression[str]:
    """Return an object of JSON of the keys and values of a group."""
    return _call(f"JSON_OBJECTAGG_{on_null.name}_ON_NULL", key_expr, value_expr)


def json_array(on_null: JsonOnNull = JsonOnNull.ABSENT, *args: Any) -> Expression[str]:
    """Return an array of JSON."""
    return _call("JSON_ARRAY", on_null, *args)


def json_array_agg(on_null: JsonOnNull, item_expr: Any) -> Expression[str]:
    """Return an array of JSON of the values of a group."""
    return _call(f"JSON_ARRAYAGG_{on_null.name}_ON_NULL", item_expr)


def lag(expr: Any, offset: Any = 1, default: Any = None) -> E:
    """Return the value of an earlier row of a window."""
    return _call("lag", expr, offset, *given(default))


def lead(expr: Any, offset: Any = 1, default: Any = None) -> E:
    """Return the value of a later row of a window."""
    return _call("lead", expr, offset, *given(default))
