"""Python values go into columns and come back; what does not fit is refused with column, place and value."""

from __future__ import annotations

import datetime as dt
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest

from firesteel.common import Instant, Row
from firesteel.common.errors import TypeMismatchError
from firesteel.common.logical_types import (
    DecimalType,
    DistinctType,
    Field,
    IntType,
    ObjectIdentifier,
    RawType,
    RowType,
    StructuredType,
    parse_type,
)
from firesteel.common.logical_types.arrow import to_arrow
from firesteel.common.logical_types.columns import to_column
from firesteel.common.logical_types.python_values import from_column
from firesteel.common.logical_types.text import cast_to_string

TOKYO = ZoneInfo("Asia/Tokyo")

KEPT: list[tuple[str, list[Any]]] = [
    ("BOOLEAN", [True, False, None]),
    ("TINYINT", [-128, 127, None]),
    ("SMALLINT", [-32768, 32767]),
    ("INT", [-(2**31), 2**31 - 1]),
    ("BIGINT", [-(2**63), 2**63 - 1]),
    ("FLOAT", [0.5, float("inf"), -0.0]),
    ("DOUBLE", [0.1, 1e308, 5e-324, None]),
    ("DECIMAL(5, 2)", [Decimal("-999.99"), Decimal("0.00"), None]),
    ("DECIMAL(38, 0)", [Decimal(10**38 - 1)]),
    ("CHAR(2)", ["ab", "ü€", "😀x", None]),
    ("VARCHAR(3)", ["", "abc"]),
    ("STRING", ["a" * 1000, ""]),
    ("BINARY(2)", [b"\x00\xff"]),
    ("BYTES", [b"", b"abc", None]),
    ("DATE", [dt.date(1, 1, 1), dt.date(9999, 12, 31), None]),
    ("TIME(0)", [dt.time(0), dt.time(23, 59, 59, 999_000), None]),
    ("TIMESTAMP(3)", [dt.datetime(1, 1, 1), dt.datetime(1969, 12, 31, 23, 59, 59, 999_000), None]),
    ("TIMESTAMP(6)", [dt.datetime(9999, 12, 31, 23, 59, 59, 999_999)]),
    ("TIMESTAMP(9)", [dt.datetime(2020, 1, 1, 0, 0, 0, 1)]),
    ("TIMESTAMP_LTZ(3)", [Instant(-1, 999_000_000), None]),
    ("TIMESTAMP_LTZ(9)", [Instant(1_600_000_000, 123_456_789)]),
    ("INTERVAL MONTH", [-14, 0]),
    ("INTERVAL DAY TO SECOND(3)", [dt.timedelta(days=-1, milliseconds=1), dt.timedelta(0), None]),
    ("ARRAY<INT>", [[1, None], [], None]),
    ("ARRAY<ARRAY<STRING>>", [[["a"], []], [None]]),
    ("MAP<STRING, INT>", [{"a": 1, "b": None}, {}, None]),
    ("MULTISET<STRING>", [{"a": 2}, {}]),
    ("ROW<a INT, b ROW<c STRING>>", [Row(a=1, b=Row(c="x")), Row(a=None, b=None), None]),
    ("ROW<a INT NOT NULL>", [Row(a=1), None]),
    ("ARRAY<ROW<a MAP<INT, DATE>>>", [[Row(a={1: dt.date(2020, 1, 1)}), None], None]),
    ("NULL", [None, None]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "values"), KEPT, ids=[text for text, _ in KEPT])
def test_values_come_back_as_they_were(text: str, values: list[Any]) -> None:
    data_type = parse_type(text)
    column = to_column(values, data_type, "c")
    assert column.type == to_arrow(data_type)
    column.validate(full=True)
    assert repr(from_column(column, data_type)) == repr(values)
    assert from_column(column[1:], data_type) == from_column(column, data_type)[1:]


@pytest.mark.parametrize("text", [text for text, _ in KEPT])
def test_no_values_are_a_column_too(text: str) -> None:
    assert from_column(to_column([], parse_type(text), "c"), parse_type(text)) == []


CHANGED: list[tuple[str, Any, Any]] = [
    ("DECIMAL(5, 2)", Decimal("1.005"), Decimal("1.01")),
    ("DECIMAL(5, 2)", Decimal("-1.005"), Decimal("-1.01")),
    ("DECIMAL(5, 2)", 7, Decimal("7.00")),
    ("DECIMAL(5, 2)", Decimal("1000"), None),
    ("DECIMAL(5, 2)", Decimal("999.995"), None),
    ("DECIMAL(3, 3)", Decimal("0.1"), Decimal("0.100")),
    ("DECIMAL(3, 3)", Decimal("1"), None),
    ("DOUBLE", 1, 1.0),
    ("DOUBLE", np.float32(0.5), 0.5),
    ("BIGINT", np.int64(5), 5),
    ("BOOLEAN", np.bool_(True), True),
    ("FLOAT", 0.1, 0.10000000149011612),
    ("FLOAT", 1e300, float("inf")),
    ("BYTES", bytearray(b"ab"), b"ab"),
    ("TIME(0)", dt.time(1, 2, 3, 456_789), dt.time(1, 2, 3, 456_000)),
    (
        "TIMESTAMP(3)",
        dt.datetime(1969, 12, 31, 23, 59, 59, 999_999),
        dt.datetime(1969, 12, 31, 23, 59, 59, 999_000),
    ),
    ("TIMESTAMP_LTZ(6)", Instant(0, 1_999), Instant(0, 1_000)),
    ("TIMESTAMP_LTZ(3)", dt.datetime(1970, 1, 1, tzinfo=TOKYO), Instant(-9 * 3600, 0)),
    ("INTERVAL SECOND(3)", dt.timedelta(microseconds=-1), dt.timedelta(milliseconds=-1)),
    ("ARRAY<INT>", (1, 2), [1, 2]),
    ("ARRAY<INT>", np.array([1, 2]), [1, 2]),
    ("ROW<a INT, b STRING>", (1, "x"), Row(a=1, b="x")),
    ("ROW<a INT, b STRING>", [1, "x"], Row(a=1, b="x")),
    ("ROW<a INT, b STRING>", {"b": "x"}, Row(a=None, b="x")),
    ("ROW<a INT, b STRING>", Row(1, "x"), Row(a=1, b="x")),
    ("ROW<a INT, b STRING>", Row(b="x", a=1), Row(a=1, b="x")),
]


@pytest.mark.parametrize(("text", "value", "stored"), CHANGED)
def test_values_are_converted_as_flink_converts_them(text: str, value: Any, stored: Any) -> None:
    data_type = parse_type(text)
    assert from_column(to_column([None, value], data_type, "c"), data_type) == [None, stored]


DECIMALS: list[tuple[str, int, int, str | None]] = json.loads(
    (Path(__file__).parent / "flink" / "decimals.json").read_text("utf-8")
)


@pytest.mark.parametrize(("value", "precision", "scale", "answer"), DECIMALS)
def test_decimals_are_rounded_as_flink_rounds_them(
    value: str, precision: int, scale: int, answer: str | None
) -> None:
    data_type = DecimalType(precision, scale)
    column = to_column([Decimal(value)], data_type, "c")
    assert cast_to_string(column, data_type).to_pylist() == [answer]


REFUSED: list[tuple[str, Any, str]] = [
    ("TINYINT", 128, "a value of TINYINT; got int: 128 (value 1)"),
    ("BIGINT", 2**63, "a value of BIGINT; got int: 9223372036854775808"),
    ("INT", True, "a whole number; got bool: True"),
    ("INT", 1.5, "a whole number; got float: 1.5"),
    ("INT", "1", "a whole number; got str: '1'"),
    ("BOOLEAN", 1, "True or False; got int: 1"),
    ("DOUBLE", "1", "a number; got str"),
    ("STRING", b"a", "a str; got bytes"),
    ("STRING", "\ud800", "a value of STRING; got str"),
    ("CHAR(2)", "abc", "exactly 2 characters; got str: 'abc' (value 1)"),
    ("VARCHAR(2)", "abc", "at most 2 characters; got str: 'abc' (value 1)"),
    ("VARBINARY(2)", b"abc", "at most 2 bytes; got bytes: b'abc'"),
    ("DECIMAL(5, 2)", 1.5, "a finite decimal.Decimal; got float: 1.5"),
    ("DECIMAL(5, 2)", Decimal("NaN"), "a finite decimal.Decimal; got Decimal: Decimal('NaN')"),
    ("DATE", dt.datetime(2020, 1, 1), "a datetime.date; got datetime"),
    ("TIMESTAMP(3)", dt.date(2020, 1, 1), "a datetime.datetime; got date"),
    ("TIMESTAMP(9)", dt.datetime(2263, 1, 1), "a value of TIMESTAMP(9); got"),
    ("TIMESTAMP_LTZ(3)", 5, "a firesteel.common.Instant or a datetime.datetime; got int: 5"),
    ("TIMESTAMP_LTZ(3)", dt.datetime(1, 1, 1, tzinfo=TOKYO), "a value of TIMESTAMP_LTZ(3); got datetime"),
    ("TIME(0)", "12:00", "a datetime.time; got str"),
    ("INTERVAL DAY", 5, "a datetime.timedelta; got int"),
    ("ARRAY<INT>", "ab", "a list; got str"),
    ("MAP<INT, INT>", [1], "a dict; got list"),
    ("ROW<a INT, b INT>", (1,), "a row of 2 fields; got tuple: (1,) (value 1)"),
    ("ROW<a INT, b INT>", 5, "a row of 2 fields; got int: 5"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value", "message"), REFUSED)
def test_a_value_that_does_not_fit_is_refused(text: str, value: Any, message: str) -> None:
    with pytest.raises(TypeMismatchError, match=re.escape(message)) as caught:
        to_column([None, value], parse_type(text), "price")
    assert "column 'price' of type" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "value", "column"),
    [
        ("ROW<a INT, b ROW<c STRING>>", (1, ("x", )), None),
        ("ROW<a INT, b ROW<c STRING>>", (1, (5, )), "column 'r.b.c' of type STRING"),
        ("ARRAY<INT NOT NULL>", [None], "column 'r[]' of type INT NOT NULL requires a value"),
        ("MAP<STRING, INT>", {None: 1}, "column 'r key' of type STRING NOT NULL requires a value"),
        ("MAP<STRING, INT NOT NULL>", {"a": None}, "column 'r value' of type INT NOT NULL requires a value"),
        ("ROW<a INT NOT NULL>", (None,), "column 'r.a' of type INT NOT NULL requires a value"),
        ("INT NOT NULL", None, "column 'r' of type INT NOT NULL requires a value; got NoneType: None (value 0)"),
    ],
)  # fmt: skip
def test_errors_name_the_place_within_a_value(text: str, value: Any, column: str | None) -> None:
    if column is None:
        to_column([value], parse_type(text), "r")
        return
    with pytest.raises(TypeMismatchError, match=re.escape(column)):
        to_column([value], parse_type(text), "r")


def test_a_field_that_is_not_null_may_be_absent_with_its_row_only() -> None:
    data_type = parse_type("ROW<a INT NOT NULL>")
    with pytest.raises(TypeMismatchError, match=r"'r\.a'.*\(value 1\)"):
        to_column([None, (None,)], data_type, "r")


def test_a_datetime_without_a_zone_is_of_the_sessions_zone() -> None:
    data_type = parse_type("TIMESTAMP_LTZ(3)")
    column = to_column([dt.datetime(1970, 1, 1, 9)], data_type, "c", TOKYO)
    assert from_column(column, data_type) == [Instant(0, 0)]
    assert from_column(column, data_type, TOKYO) == [dt.datetime(1970, 1, 1, 9, tzinfo=TOKYO)]


class Point:
    """An object with attributes."""

    def __init__(self, x: int) -> None:
        self.x = x


def test_objects_are_rows_or_raw_values() -> None:
    row = RowType((Field("x", IntType()),))
    assert from_column(to_column([Point(1)], row, "c"), row) == [Row(x=1)]
    structured = StructuredType((Field("x", IntType()),), "shop.Point")
    assert from_column(to_column([Point(1)], structured, "c"), structured) == [Row(x=1)]
    raw = RawType("builtins.complex", "pickle")
    assert from_column(to_column([1j, None], raw, "c"), raw) == [1j, None]


def test_a_distinct_type_has_the_values_of_its_source() -> None:
    money = DistinctType(ObjectIdentifier("c", "d", "Money"), parse_type("DECIMAL(5, 2)"), nullable=False)
    assert from_column(to_column([Decimal("1.50")], money, "c"), money) == [Decimal("1.50")]
    with pytest.raises(TypeMismatchError, match="requires a value"):
        to_column([None], money, "c")


def test_a_row_may_have_no_fields() -> None:
    data_type = parse_type("ROW<>")
    back = from_column(to_column([Row(), None], data_type, "c"), data_type)
    assert (len(back[0]), back[1]) == (0, None)


def test_numpy_and_pyarrow_compute_on_the_columns() -> None:
    at = to_column([dt.datetime(2020, 1, 1)], parse_type("TIMESTAMP(3)"), "at")
    assert at.to_numpy().dtype == np.dtype("datetime64[us]")
    step = to_column([dt.timedelta(seconds=1)], parse_type("INTERVAL SECOND(3)"), "step")
    assert pa.compute.add(at, step).to_pylist() == [dt.datetime(2020, 1, 1, 0, 0, 1)]
