"""Types survive the way through Arrow, and each kind of foreign Arrow type finds its own."""

from __future__ import annotations

import pyarrow as pa
import pytest

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import (
    STRING,
    ArrayType,
    Field,
    IntType,
    LogicalType,
    LogicalTypeRoot,
    MapType,
    RowType,
    TimestampKind,
    TimestampType,
    parse_type,
)
from firesteel.common.logical_types.arrow import (
    from_arrow_field,
    from_arrow_schema,
    to_arrow,
    to_arrow_field,
    to_arrow_schema,
)
from tests.common.logical_types.test_flink_types import NAMES, TYPES

NO_COLUMNS = {
    LogicalTypeRoot.SYMBOL, LogicalTypeRoot.DESCRIPTOR, LogicalTypeRoot.TIMESTAMP_WITH_TIME_ZONE,
}  # fmt: skip
STORED = [
    pytest.param(data_type, id=name)
    for name, data_type in zip(NAMES, TYPES, strict=True)
    if data_type.root not in NO_COLUMNS and not name.startswith(("CHAR(0)", "VARCHAR(0)", "BINARY(0)"))
]


@pytest.mark.parametrize("data_type", STORED)
def test_a_type_survives_arrow(data_type: LogicalType) -> None:
    for nested in (
        data_type,
        ArrayType(data_type),
        MapType(data_type, data_type),
        RowType((Field("x", data_type, "why"),)),
    ):
        back = from_arrow_field(to_arrow_field("c", nested))
        assert back == nested
        assert str(back) == str(nested)


@pytest.mark.parametrize("data_type", STORED)
def test_a_type_survives_arrows_messages(data_type: LogicalType) -> None:
    row = RowType((Field("a", data_type, "text"), Field("b", STRING)), nullable=False)
    buffer = to_arrow_schema(row).serialize()
    assert from_arrow_schema(pa.ipc.read_schema(buffer)) == row


def test_plain_types_need_no_metadata() -> None:
    for text in (
        "INT",
        "BIGINT NOT NULL",
        "STRING",
        "BYTES",
        "DECIMAL(5, 2)",
        "DATE",
        "TIMESTAMP(6)",
        "TIMESTAMP(9)",
    ):
        assert to_arrow_field("c", parse_type(text)).metadata is None


def test_a_time_attribute_keeps_its_kind() -> None:
    field = to_arrow_field("ts", TimestampType(3, TimestampKind.ROWTIME))
    assert str(from_arrow_field(field)) == "TIMESTAMP(3) *ROWTIME*"


@pytest.mark.parametrize("root", sorted(NO_COLUMNS, key=lambda root: root.name))
def test_a_type_that_no_column_can_have_is_refused(root: LogicalTypeRoot) -> None:
    data_type = next(data_type for data_type in TYPES if data_type.root is root)
    with pytest.raises(UnsupportedError, match="cannot be the type of a column"):
        to_arrow(data_type)


@pytest.mark.parametrize(
    ("arrow", "text"),
    [
        (pa.uint8(), "SMALLINT"),
        (pa.uint64(), "DECIMAL(20, 0)"),
        (pa.float16(), "FLOAT"),
        (pa.large_string(), "STRING"),
        (pa.dictionary(pa.int32(), pa.string()), "STRING"),
        (pa.binary(3), "BINARY(3)"),
        (pa.time64("us"), "TIME(6)"),
        (pa.time32("ms"), "TIME(3)"),
        (pa.timestamp("s"), "TIMESTAMP(0)"),
        (pa.timestamp("ns", "Europe/Berlin"), "TIMESTAMP_LTZ(9)"),
        (pa.large_list(pa.int8()), "ARRAY<TINYINT>"),
        (pa.list_(pa.int8(), 3), "ARRAY<TINYINT>"),
        (pa.map_(pa.string(), pa.int32()), "MAP<STRING NOT NULL, INT>"),
        (pa.struct([("a", pa.date64())]), "ROW<`a` DATE>"),
        (pa.duration("us"), "INTERVAL DAY(6) TO SECOND(3)"),
    ],
)
def test_a_foreign_arrow_type_has_a_type_that_holds_its_values(arrow: pa.DataType, text: str) -> None:
    assert str(from_arrow_field(pa.field("c", arrow))) == text


def test_a_foreign_arrow_type_without_counterpart_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="month_day_nano_interval"):
        from_arrow_field(pa.field("c", pa.month_day_nano_interval()))
    with pytest.raises(UnsupportedError, match=r"decimal256\(50, 2\)"):
        from_arrow_field(pa.field("c", pa.decimal256(50, 2)))


def test_maps_of_nullable_keys_are_told_from_maps_of_keys() -> None:
    nullable, plain = MapType(STRING, IntType()), MapType(STRING.copy(nullable=False), IntType())
    assert from_arrow_field(to_arrow_field("m", nullable)) == nullable
    assert from_arrow_field(to_arrow_field("m", plain)) == plain


def test_metadata_of_another_type_does_not_count() -> None:
    field = to_arrow_field("t", parse_type("CHAR(3)"))
    assert str(from_arrow_field(field.with_type(pa.int32()))) == "INT"
