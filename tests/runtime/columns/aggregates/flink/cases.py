"""What Flink is asked about aggregates: a history of rows, and calls of functions."""

from __future__ import annotations

from typing import Any, NamedTuple

COLUMNS = {
    "k": "STRING",
    "s": "STRING",
    "n": "BIGINT",
    "i": "INT",
    "ti": "TINYINT",
    "d": "DECIMAL(10, 2)",
    "w": "DECIMAL(38, 2)",
    "f": "DOUBLE",
    "fl": "FLOAT",
    "b": "BOOLEAN",
    "t": "TIMESTAMP(3)",
    "dt": "DATE",
    "c": "BOOLEAN",
}
"""The columns and their types; `c` is a condition for FILTER."""

_BIG = "90000000000000000000000000000000000.25"
HISTORY: list[tuple[int, bool, list[Any]]] = [
    (
        1,
        True,
        ["x", "b", 5, 3, 100, "1.10", _BIG, 0.5, 0.5, True, "2024-01-01 00:00:01.500", "2024-01-01", True],
    ),
    (
        2,
        True,
        ["x", "a", -7, 3, 100, "2.25", _BIG, 2.5, 0.25, False, "2024-01-01 00:00:00", "2023-05-01", False],
    ),
    (3, True, ["y", None, None, None, None, None, None, None, None, None, None, None, None]),
    (
        4,
        True,
        [None, "z", 1, 1, 1, "1.00", "1.00", 1.0, 1.0, True, "1969-12-31 23:59:59", "1969-12-31", True],
    ),
    (
        5,
        True,
        ["x", "b", 2**63 - 1, 2**31 - 1, 127, "99999999.99", "0.01", 1e3, 3.5, True, None, None, None],
    ),
    (6, True, ["z", "q", 4, 4, 4, "4.00", "4.00", 4.0, 4.0, True, "2024-01-01 00:00:04", "2024-01-04", True]),
    (2, True, ["x", "c", 11, 8, 5, "2.25", _BIG, 2.5, 0.25, True, "2025-01-01 00:00:00", "2025-05-01", True]),
    (1, False, []),
    (6, False, []),
    (
        7,
        True,
        [
            "y",
            "w",
            -3,
            -3,
            -3,
            "-3.33",
            "-3.33",
            -3.0,
            -3.0,
            False,
            "2020-02-02 00:00:00",
            "2020-02-02",
            False,
        ],
    ),
    (
        5,
        True,
        ["y", "w", 6, 6, 6, "6.67", "6.67", 6.0, 6.0, False, "2020-02-02 00:00:00", "2020-02-02", True],
    ),
    (
        8,
        True,
        ["x", "c", 11, 8, 5, "2.25", "0.02", 2.75, 0.75, False, "2025-01-01 00:00:00", "2025-05-01", False],
    ),
    (
        9,
        True,
        ["x", "d", 12, 9, 6, "2.26", "0.03", 3.75, 0.5, True, "2025-01-01 00:00:00", "2025-05-01", True],
    ),
    (
        4,
        True,
        [None, "z", 1, 1, 1, "1.00", "1.00", 1.0, 1.0, True, "1969-12-31 23:59:59", "1969-12-31", True],
    ),
    (10, True, ["x", None, None, 1, None, "0.01", None, -0.25, None, True, None, "2024-02-29", None]),
]
"""In order: the number of a row, whether it is there from now on, and its values."""


class Case(NamedTuple):
    """A call: its function, its columns, and the words around them."""

    function: str
    columns: tuple[str, ...] = ()
    distinct: bool = False
    filter: bool = False
    text: str | None = None

    @property
    def sql(self) -> str:
        """Return the call as SQL."""
        arguments = ", ".join(self.columns) or "*"
        text = self.text or f"{self.function}({'DISTINCT ' if self.distinct else ''}{arguments})"
        return f"{text} FILTER (WHERE c)" if self.filter else text


_NUMBERS = ("n", "i", "ti", "d", "w", "f", "fl")
_OF_NUMBERS = ("SUM", "AVG", "VAR_POP", "VAR_SAMP", "STDDEV_POP", "STDDEV_SAMP")
_FIRST_AND_LAST = ("FIRST_VALUE", "LAST_VALUE")
CASES = [
    Case("COUNT"),
    Case("COUNT", filter=True),
    *(Case("COUNT", (column,)) for column in COLUMNS if column != "k"),
    *(Case(function, (column,)) for function in _OF_NUMBERS for column in _NUMBERS),
    *(
        Case(function, (column,))
        for function in ("MIN", "MAX")
        for column in COLUMNS
        if column not in ("k", "c")
    ),
    *(
        Case(function, (column,))
        for function in _FIRST_AND_LAST
        for column in ("s", "n", "d", "b", "t", "dt")
    ),
    *(Case("COUNT", (column,), distinct=True) for column in ("s", "n", "d", "f", "b", "t", "dt")),
    *(
        Case(function, (column,), distinct=True)
        for function in ("SUM", "AVG")
        for column in ("n", "i", "d", "f")
    ),
    *(
        Case(function, ("n",), filter=True)
        for function in ("SUM", "AVG", "MIN", "MAX", "FIRST_VALUE", "LAST_VALUE")
    ),
    *(Case(function, ("s",), distinct=True, filter=True) for function in ("COUNT", "MIN", "MAX")),
    Case("SUM", ("d",), distinct=True, filter=True),
    Case("LISTAGG", ("s",)),
    Case("LISTAGG", ("s",), filter=True),
    Case("LISTAGG", ("s",), distinct=True),
    Case("COLLECT", ("s",)),
    Case("COLLECT", ("i",)),
    Case("COLLECT", ("s",), distinct=True),
    Case("ARRAY_AGG", ("s",)),
    Case("ARRAY_AGG", ("d",)),
    Case("ARRAY_AGG", ("i",), filter=True),
    Case("ARRAY_AGG", ("s",), distinct=True),
    Case("JSON_ARRAYAGG_NULL_ON_NULL", ("s",), text="JSON_ARRAYAGG(s NULL ON NULL)"),
    Case("JSON_ARRAYAGG_ABSENT_ON_NULL", ("s",), text="JSON_ARRAYAGG(s)"),
    Case("JSON_ARRAYAGG_ABSENT_ON_NULL", ("i",), text="JSON_ARRAYAGG(i)"),
]
