"""TO_TIMESTAMP_LTZ has the digits of the S at the end of a constant pattern; answers are those of Flink 2.3."""

from __future__ import annotations

import pyarrow as pa
import pytest

from firesteel.common.errors import FiresteelError
from firesteel.common.logical_types import STRING, RowType
from firesteel.common.logical_types.text import cells
from tests.relational.functions.asking import bound, computed

ROW = RowType.of({"s": STRING}, nullable=False)
NONE = "<NULL>"
ANSWERS = {
    ("2023-01-01 00:00:00.1234", "'yyyy-MM-dd HH:mm:ss.SSSS'"): (4, "2023-01-01 01:00:00.1234"),
    ("2023-01-01 00:00:00.1234567", "'yyyy-MM-dd HH:mm:ss.SSSSSSS'"): (7, "2023-01-01 01:00:00.1234567"),
    ("2023-01-01 00:00:00.123456789", "'yyyy-MM-dd HH:mm:ss.SSSSSSSSS'"): (
        9,
        "2023-01-01 01:00:00.123456789",
    ),
    ("2023-01-01 00:00:00.123456", "'yyyy-MM-dd HH:mm:ss.SSSSSS', 'Asia/Tokyo'"): (
        6,
        "2022-12-31 16:00:00.123456",
    ),
    ("2023-01-01 00:00:00.123456789", "'yyyy-MM-dd HH:mm:ss.SSSSSSSSS', 'Asia/Tokyo'"): (
        9,
        "2022-12-31 16:00:00.123456789",
    ),
    ("1960-01-01 00:00:00.123456789", "'yyyy-MM-dd HH:mm:ss.SSSSSSSSS', 'Asia/Tokyo'"): (
        9,
        "1959-12-31 16:00:00.123456789",
    ),
    ("1960-01-01 00:00:00.123456789", "'yyyy-MM-dd HH:mm:ss.SSSSSSSSS'"): (
        9,
        "1960-01-01 01:00:00.123456789",
    ),
    ("2023-01-01SSSSS", "'yyyy-MM-dd''SSSSS'''"): (3, "2023-01-01 01:00:00.000"),
    ("2023-01-01 12.1234.5", "'yyyy-MM-dd ss.SSSS.S'"): (3, NONE),
    ("2023-01-01 12.1.12345", "'yyyy-MM-dd ss.S.SSSSS'"): (5, NONE),
    ("2023-01-01 00:00:00.12", "'yyyy-MM-dd HH:mm:ss.SSSSSS'"): (6, "2023-01-01 01:00:00.120000"),
    ("2023-01-01 00:00:00", "'yyyy-MM-dd HH:mm:ss.SSSSSS'"): (6, "2023-01-01 01:00:00.000000"),
    ("2023-01-01 00:00:00.123456", "'yyyy-MM-dd HH:mm:ss' || '.SSSSSS'"): (3, "2023-01-01 01:00:00.123"),
    ("2023-01-01 00:00:00.123456", "CAST(NULL AS STRING)"): (3, NONE),
    ("2023-01-01 00:00:00.123456", "'yyyy-MM-dd HH:mm:ss[.SSSSSS]'"): (3, "2023-01-01 01:00:00.123"),
    ("00:00:00.123456 2023-01-01", "'HH:mm:ss.SSSSSS yyyy-MM-dd'"): (3, "2023-01-01 01:00:00.123"),
    ("2023-01-01 00:00:00.123456789Z", "'yyyy-MM-dd HH:mm:ss.SSSSSSSSS''Z'''"): (
        3,
        "2023-01-01 01:00:00.123",
    ),
}


@pytest.mark.parametrize(("text", "pattern"), ANSWERS)
def test_a_pattern_says_how_fine_a_time_is(text: str, pattern: str) -> None:
    digits, shown = ANSWERS[text, pattern]
    expression = bound(f"TO_TIMESTAMP_LTZ(s, {pattern})", ROW)
    assert str(expression.type) == f"TIMESTAMP_LTZ({digits})"
    found = computed([expression], ROW, pa.record_batch({"s": [text]}), "Europe/Berlin").column(0)
    assert cells(found, expression.type, "Europe/Berlin") == [shown]


def test_a_second_has_nine_digits_at_most() -> None:
    with pytest.raises(FiresteelError, match="requires a pattern with nine S at most"):
        bound("TO_TIMESTAMP_LTZ(s, 'yyyy-MM-dd HH:mm:ss.SSSSSSSSSS')", ROW)
