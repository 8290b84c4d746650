"""Values have the texts that real Flink gives them: in CAST, in `TableResult.print`, in the `print` connector.

`flink/values.json` holds Flink's answers; `flink/ask_values.py` asked. The values here are those of its expressions, in
the same order.
"""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from firesteel.common import Instant
from firesteel.common.logical_types import RawType, RowType, parse_type
from firesteel.common.logical_types.columns import to_column
from firesteel.common.logical_types.text import cast_to_string, cells, printed_rows

NOON = dt.datetime(2020, 1, 1, 12, 34)
VALUES: dict[str, list[Any]] = {
    "BOOLEAN": [True, False, None],
    "TINYINT": [-128],
    "INT": [-(2**31), 0],
    "BIGINT": [2**63 - 1],
    "DECIMAL(10, 3)": [Decimal(1), Decimal("-0.005"), Decimal(0)],
    "DECIMAL(38, 18)": [Decimal("1e-18"), Decimal("12345678901234567890.5")],
    "DECIMAL(38, 0)": [Decimal(10**38 - 1)],
    "FLOAT": [0.1, 16777216.0, 1e-5, 3.4028234663852886e38, -0.0],
    "DOUBLE": [
        1.0, 1e7, 9999999.999, 0.00099, 0.001, 5e-324, 1.7976931348623157e308, -0.0,
        float("nan"), float("inf"), float("-inf"), 123456.789, 0.1 + 0.2,
    ],
    "STRING": ["a", "", "it's", "ü€😀", None],
    "CHAR(5)": ["ab   "],
    "VARCHAR(2)": ["ab"],
    "BYTES": [b"", b"\x00\xff\x7f\x80", b"ab"],
    "DATE": [dt.date(2020, 1, 31), dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1969, 12, 31)],
    "TIME(0)": [dt.time(0), dt.time(23, 59, 59)],
    "TIME(3)": [dt.time(12, 34, 56, 789_000), dt.time(12, 34, 56), dt.time(12, 34, 56, 780_000)],
    "TIMESTAMP(0)": [dt.datetime(2020, 1, 1)],
    "TIMESTAMP(3)": [
        dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 12, 34, 56, 120_000),
        dt.datetime(1969, 12, 31, 23, 59, 59, 999_000),
    ],
    "TIMESTAMP(6)": [
        dt.datetime(2020, 1, 1, 12, 34, 56, 123_000), dt.datetime(1, 1, 1, 0, 0, 0, 1),
        dt.datetime(9999, 12, 31, 23, 59, 59, 999_999),
    ],
    "TIMESTAMP(9)": [None, NOON, dt.datetime(2020, 1, 1, 12, 34, 56, 100_000)],
    "TIMESTAMP_LTZ(0)": [Instant(1577880000, 0)],
    "TIMESTAMP_LTZ(3)": [Instant(1577880000, 120_000_000), Instant(-1, 999_000_000), None],
    "TIMESTAMP_LTZ(9)": [Instant(1593606896, 123_456_789)],
    "INTERVAL YEAR(4) TO MONTH": [14, -14, 11, 119_999],
    "INTERVAL YEAR": [36],
    "INTERVAL MONTH": [14],
    "INTERVAL DAY TO SECOND(3)": [
        dt.timedelta(days=1, hours=2, minutes=3, seconds=4, milliseconds=5),
        -dt.timedelta(days=1, hours=2, minutes=3, seconds=4, milliseconds=5),
        dt.timedelta(0), dt.timedelta(days=100) - dt.timedelta(milliseconds=1),
    ],
    "INTERVAL DAY": [dt.timedelta(days=3)],
    "INTERVAL HOUR": [dt.timedelta(hours=30)],
    "INTERVAL SECOND(3)": [dt.timedelta(milliseconds=1500), dt.timedelta(milliseconds=-1)],
    "ARRAY<INT>": [[1, None, 3], None],
    "ARRAY<STRING>": [["a", "b c", None, ""]],
    "ARRAY<DOUBLE>": [[1.0, 1e10]],
    "ARRAY<ARRAY<INT>>": [[[1, 2], [3]]],
    "ARRAY<BOOLEAN>": [[True, False, None]],
    "ARRAY<BYTES>": [[b"ab"]],
    "ARRAY<TIMESTAMP(3)>": [[NOON]],
    "ARRAY<TIMESTAMP_LTZ(3)>": [[Instant(1577880000, 120_000_000)]],
    "ARRAY<DECIMAL(5, 2)>": [[Decimal(1)]],
    "ARRAY<DATE>": [[dt.date(2020, 1, 31)]],
    "ARRAY<TIME(0)>": [[dt.time(12, 34)]],
    "ARRAY<FLOAT>": [[0.1]],
    "MAP<STRING, INT>": [{"k": 1}, {"k": None}, None],
    "MAP<INT, ARRAY<STRING>>": [{1: ["a", "b"]}],
    "ROW<`a` INT, `b` STRING>": [(1, "x"), (None, "")],
    "ROW<`a` DOUBLE, `b` ROW<`c` TIMESTAMP(3), `d` BOOLEAN, `e` BYTES>>": [
        (1, (dt.datetime(2020, 1, 1), True, b"a")),
    ],
    "ROW<`a` ARRAY<INT>, `b` MAP<STRING, DATE>>": [([1], {"k": dt.date(2020, 1, 31)})],
}  # fmt: skip
NANOS = Instant(1577882096, 123_456_789)
"""The first TIMESTAMP(9), for which Python's datetime has no digits."""

ANSWERS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "flink" / "values.json").read_text("utf-8")
)
CASES = [
    pytest.param(answer, value, id=f"{answer['type']}-{answer['expression']}")
    for kind, values in VALUES.items()
    for answer, value in zip([one for one in ANSWERS if one["type"] == kind], values, strict=True)
]


PRINTED = [case for case in CASES if "INTERVAL" not in str(case.id)]
"""Flink's DDL has no columns of intervals that a connector could print."""
IN_TOKYO = [case for case in CASES if "TO_TIMESTAMP_LTZ" in str(case.id)]
"""Points in time that do not depend on the session's zone themselves."""


def column_of(answer: dict[str, Any], value: Any) -> Any:
    """A column of the one value."""
    data_type = parse_type(answer["type"])
    if "123456789' AS TIMESTAMP(9)) AS TIMESTAMP(9)" in answer["expression"]:
        return to_column([NANOS], parse_type("TIMESTAMP_LTZ(9)"), "c").cast("timestamp[ns]")
    return to_column([value], data_type, "c")


def test_every_value_was_asked_about() -> None:
    assert [answer["type"] for answer in ANSWERS] == [kind for kind, values in VALUES.items() for _ in values]


@pytest.mark.parametrize(("answer", "value"), CASES)
def test_cast_to_string_is_flinks(answer: dict[str, Any], value: Any) -> None:
    data_type = parse_type(answer["type"])
    column = column_of(answer, value)
    texts = cast_to_string(column, data_type).to_pylist()
    assert ["<NULL>" if text is None else text for text in texts] == [answer["string"]]


@pytest.mark.parametrize(("answer", "value"), CASES)
def test_the_cell_of_a_table_is_flinks(answer: dict[str, Any], value: Any) -> None:
    data_type = parse_type(answer["type"])
    column = column_of(answer, value)
    assert cells(column, data_type) == [answer["cell"]]


@pytest.mark.parametrize(("answer", "value"), PRINTED)
def test_the_line_of_the_print_connector_is_flinks(answer: dict[str, Any], value: Any) -> None:
    row = RowType.of({"v": parse_type(answer["type"])})
    column = pa.StructArray.from_arrays([column_of(answer, value)], ["v"])
    assert printed_rows(column, row, ["+I"]) == [answer["printed"]]


@pytest.mark.parametrize(("answer", "value"), IN_TOKYO)
def test_points_in_time_are_shown_in_the_sessions_zone(answer: dict[str, Any], value: Any) -> None:
    data_type = parse_type(answer["type"])
    column = column_of(answer, value)
    assert cast_to_string(column, data_type, "Asia/Tokyo").to_pylist() == [answer["string_in_tokyo"]]
    assert cells(column, data_type, "Asia/Tokyo") == [answer["cell_in_tokyo"]]


def test_the_kind_of_a_row_is_printed_before_it() -> None:
    row = RowType.of({"a": parse_type("INT"), "b": parse_type("ROW<c INT>")})
    column = to_column([(1, (2,)), (1, None)], row, "r")
    assert printed_rows(column, row, ["-U", "+U"]) == ["-U[1, +I[2]]", "+U[1, null]"]


def test_the_text_of_a_raw_value_is_that_of_the_object() -> None:
    raw = RawType("builtins.complex", "pickle")
    column = to_column([1j, None], raw, "c")
    assert cast_to_string(column, raw).to_pylist() == ["1j", None]
    assert cells(column, raw, "UTC") == ["1j", "<NULL>"]
