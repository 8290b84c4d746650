"""Types and constants in the kernel's SQL.

The kernel holds TIME and intervals as numbers, and TIMESTAMP_LTZ as a timestamp of UTC; see
`firesteel.runtime.columns.kernel.forms`.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any, Final

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import (
    ArrayType,
    DateType,
    DecimalType,
    LocalZonedTimestampType,
    LogicalType,
    LogicalTypeRoot,
    MapType,
    MultisetType,
    RowType,
    StructuredType,
    TimestampType,
)
from firesteel.common.logical_types.columns import to_column

_R = LogicalTypeRoot
_PLAIN: Final = {
    **dict.fromkeys((_R.CHAR, _R.VARCHAR, _R.VARIANT), "VARCHAR"),
    **dict.fromkeys((_R.BINARY, _R.VARBINARY, _R.RAW, _R.BITMAP), "BLOB"),
    _R.BOOLEAN: "BOOLEAN",
    _R.TINYINT: "TINYINT",
    _R.SMALLINT: "SMALLINT",
    _R.INTEGER: "INTEGER",
    _R.BIGINT: "BIGINT",
    _R.FLOAT: "FLOAT",
    _R.DOUBLE: "DOUBLE",
    _R.DATE: "DATE",
    _R.TIME_WITHOUT_TIME_ZONE: "INTEGER",
    _R.INTERVAL_YEAR_MONTH: "INTEGER",
    _R.INTERVAL_DAY_TIME: "BIGINT",
    _R.NULL: '"NULL"',
}


def kernel_type(data_type: LogicalType) -> str:
    """Return the kernel's name of a type. Raises UnsupportedError for types that it cannot hold.

    >>> from firesteel.common.logical_types import parse_type
    >>> kernel_type(parse_type("ROW<a TIME, b ARRAY<DECIMAL(5, 2)>>"))
    'STRUCT("a" INTEGER, "b" DECIMAL(5, 2)[])'
    """
    if data_type.root in _PLAIN:
        return _PLAIN[data_type.root]
    if isinstance(data_type, DecimalType):
        return f"DECIMAL({data_type.precision}, {data_type.scale})"
    if isinstance(data_type, TimestampType | LocalZonedTimestampType):
        return "TIMESTAMP" if data_type.precision <= 6 else "TIMESTAMP_NS"
    if isinstance(data_type, ArrayType):
        return f"{kernel_type(data_type.element)}[]"
    if isinstance(data_type, MapType):
        return f"MAP({kernel_type(data_type.key)}, {kernel_type(data_type.value)})"
    if isinstance(data_type, MultisetType):
        return f"MAP({kernel_type(data_type.element)}, INTEGER)"
    named = data_type.attributes if isinstance(data_type, StructuredType) else ()
    named = data_type.fields if isinstance(data_type, RowType) else named
    if named:
        fields = (f"{identifier(field.name)} {kernel_type(field.type)}" for field in named)
        return f"STRUCT({', '.join(fields)})"
    raise UnsupportedError("cannot be computed with", who=f"type {data_type}")


def identifier(name: str) -> str:
    """Return a name in double quotes."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def quoted(text: str) -> str:
    """Return a text as a constant of the kernel.

    >>> quoted("it's")
    "'it''s'"
    """
    parts = text.replace("'", "''").split("\0")
    if len(parts) == 1:
        return f"'{parts[0]}'"
    return f"({' || chr(0) || '.join(quoted(part) for part in parts)})"


def constant_text(value: Any, data_type: LogicalType) -> str:
    """Return a value, as `firesteel.common.logical_types.columns` takes it, as a constant of the kernel."""
    kind = kernel_type(data_type)
    if value is None:
        return f"CAST(NULL AS {kind})"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if kind == "VARCHAR":
        return quoted(value)
    if kind == "BLOB":
        return "'" + "".join(f"\\x{byte:02X}" for byte in value) + "'::BLOB"
    if isinstance(data_type, DateType):
        return f"DATE '{value.isoformat()}'"
    if data_type.children:
        raise UnsupportedError("cannot be a constant", who=f"type {data_type}")
    if isinstance(value, int | float | Decimal):
        return f"CAST({value:f} AS {kind})" if isinstance(value, Decimal) else f"CAST('{value!r}' AS {kind})"
    return _stored(value, data_type, kind)


def _stored(value: Any, data_type: LogicalType, kind: str) -> str:
    """Return a time or an interval by the number that a column of it stores."""
    if isinstance(value, dt.timedelta):
        return f"CAST({value // dt.timedelta(milliseconds=1)} AS BIGINT)"
    column = to_column([value], data_type, "constant")
    number = column.view("int32" if column.type.bit_width == 32 else "int64")[0].as_py()
    match kind:
        case "TIMESTAMP":
            return f"make_timestamp({number})"
        case "TIMESTAMP_NS":
            return f"make_timestamp_ns({number})"
    return f"CAST({number} AS {kind})"
