"""Parameters: question marks in a statement, in the place of which values are written as SQL."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from firesteel.common.logical_types.logical_type import escaped_text
from firesteel.dbapi.errors import InterfaceError, ProgrammingError
from firesteel.sql.lexer import tokens


def with_values(statement: str, values: Sequence[Any]) -> str:
    """Return a statement with values in the place of its question marks; those in strings and comments are not meant.

    Raises ProgrammingError if there are more or fewer values, InterfaceError for a value that has no literal.

    >>> with_values("SELECT ?, '?' FROM t WHERE name = ?", [1, "O'Hara"])
    "SELECT 1, '?' FROM t WHERE name = 'O''Hara'"
    """
    places = [token for token in tokens(statement) if token.text == "?"]
    if len(places) != len(values):
        raise ProgrammingError(f"the statement requires {len(places)} parameters; got {len(values)}")
    parts, end = [], 0
    for place, value in zip(places, values, strict=True):
        parts += [statement[end : place.start], literal(value)]
        end = place.end
    return "".join([*parts, statement[end:]])


def literal(value: Any) -> str:
    """Return a value as SQL. Raises InterfaceError for one that has no literal.

    >>> literal(dt.datetime(2020, 1, 2, 3, 4, 5)), literal(b"a"), literal([1, None])
    ("TIMESTAMP '2020-01-02 03:04:05.000000'", "X'61'", 'ARRAY[1, NULL]')
    """
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).upper()
        case int() | Decimal():
            return f"{value:f}" if isinstance(value, Decimal) else str(value)
        case float():
            return f"CAST('{value!r}' AS DOUBLE)"
        case str():
            return escaped_text(value)
        case bytes() | bytearray():
            return f"X'{value.hex()}'"
        case dt.datetime() if value.tzinfo is None:
            return f"TIMESTAMP '{value:%Y-%m-%d %H:%M:%S.%f}'"
        case dt.datetime():
            return f"TO_TIMESTAMP_LTZ({int(value.timestamp() * 1000)}, 3)"
        case dt.date():
            return f"DATE '{value.isoformat()}'"
        case dt.time():
            return f"TIME '{value:%H:%M:%S}'"
        case list() | tuple():
            return f"ARRAY[{', '.join(map(literal, value))}]"
    raise InterfaceError(f"a parameter requires a value of SQL; got {type(value).__name__}")
