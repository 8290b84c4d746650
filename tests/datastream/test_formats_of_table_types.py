"""Formats of streams that take types of tables, as in PyFlink: CSV, Parquet, ORC."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest

from firesteel.common import Configuration
from firesteel.common.errors import ConfigurationError, FiresteelError, ProgramError, RecordError
from firesteel.common.typeinfo import Types
from firesteel.common.typeinfo.decimals import BigDecimalTypeInfo
from firesteel.common.types import Row
from firesteel.common.watermark_strategy import WatermarkStrategy
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.connectors.file_system import FileSink, FileSource
from firesteel.datastream.formats.csv import CsvBulkWriters, CsvReaderFormat, CsvSchema
from firesteel.datastream.formats.orc import OrcBulkWriters
from firesteel.datastream.formats.parquet import ParquetBulkWriters, ParquetColumnarRowInputFormat
from firesteel.table import DataTypes
from firesteel.testing import executing

KIND = DataTypes.ROW([
    DataTypes.FIELD("id", DataTypes.INT()),
    DataTypes.FIELD("name", DataTypes.VARCHAR(10)),
    DataTypes.FIELD("price", DataTypes.DECIMAL(4, 1)),
    DataTypes.FIELD("day", DataTypes.DATE().bridged_to("java.sql.Date")),
    DataTypes.FIELD("at", DataTypes.TIMESTAMP(3)),
    DataTypes.FIELD("sizes", DataTypes.ARRAY(DataTypes.BIGINT())),
    DataTypes.FIELD("counts", DataTypes.MAP(DataTypes.STRING(), DataTypes.INT())),
    DataTypes.FIELD("pair", DataTypes.ROW([DataTypes.FIELD("x", DataTypes.DOUBLE())])),
])  # fmt: skip
NAMES = ["id", "name", "price", "day", "at", "sizes", "counts", "pair"]
MOMENT = dt.datetime(2024, 2, 29, 1, 2, 3, 600000)
VALUES = [(7, "tea", Decimal("1.25"), MOMENT.date(), MOMENT, [1, 2], {"a": 1}, Row(x=0.5))]
STREAM = Types.ROW_NAMED(
    NAMES,
    [
        *(Types.INT(), Types.STRING(), Types.BIG_DEC(), Types.SQL_DATE(), Types.SQL_TIMESTAMP()),
        Types.LIST(Types.LONG()),
        Types.MAP(Types.STRING(), Types.INT()),
        Types.ROW_NAMED(["x"], [Types.DOUBLE()]),
    ],
)
CSV = (
    CsvSchema.builder()
    .add_number_column("small", DataTypes.TINYINT())
    .add_number_column("price", number_type=DataTypes.DECIMAL(4, 1))
    .add_array_column("sizes", separator="#", element_type=DataTypes.INT())
    .build()
)


def files_below(directory: Path) -> list[Path]:
    return [path for path in directory.rglob("*") if path.is_file() and not path.name.startswith((".", "_"))]


def written(factory: Any, directory: Path) -> Path:
    with executing("process", parallelism=1):
        streams = StreamExecutionEnvironment.get_execution_environment()
        rows = [Row(**dict(zip(NAMES, values, strict=True))) for values in VALUES]
        sink = FileSink.for_bulk_format(str(directory), factory).build()
        streams.from_collection(rows, STREAM).sink_to(sink)
        streams.execute()
    [found] = files_below(directory)
    return found


def read(source_format: Any, path: Path, *, bulk: bool = False) -> list[Row]:
    make = FileSource.for_bulk_file_format if bulk else FileSource.for_record_stream_format
    with executing("process", parallelism=1):
        streams = StreamExecutionEnvironment.get_execution_environment()
        source = make(source_format, str(path)).build()
        stream = streams.from_source(source, WatermarkStrategy.no_watermarks(), "files")
        with stream.execute_and_collect() as rows:
            return list(rows)


def test_columns_of_csv_have_types_of_tables(tmp_path: Path):
    path = tmp_path / "in.csv"
    path.write_text("127,1.25,1#2\n-128,-0.05,3\n")
    assert read(CsvReaderFormat.for_schema(CSV), path) == [
        Row(small=127, price=Decimal("1.3"), sizes=[1, 2]),
        Row(small=-128, price=Decimal("-0.1"), sizes=[3]),
    ]


@pytest.mark.parametrize("line", ["128,1,1\n", "1,12345.6,1\n", "1,NaN,1\n", "1,1,2147483648\n"])
def test_a_field_that_does_not_fit_its_type_fails(tmp_path: Path, line: str):
    path = tmp_path / "in.csv"
    path.write_text(line)
    with pytest.raises(FiresteelError, match="requires that record 1 fits the schema"):
        read(CsvReaderFormat.for_schema(CSV), path)


def test_csv_is_written_by_types_of_tables(tmp_path: Path):
    kind = Types.ROW_NAMED(
        ["small", "price", "sizes"], [Types.BYTE(), Types.BIG_DEC(), Types.LIST(Types.INT())]
    )
    with executing("process", parallelism=1):
        streams = StreamExecutionEnvironment.get_execution_environment()
        rows = streams.from_collection([Row(small=1, price=Decimal("2.55"), sizes=[1, 2])], kind)
        rows.sink_to(FileSink.for_bulk_format(str(tmp_path), CsvBulkWriters.for_schema(CSV)).build())
        streams.execute()
    [found] = files_below(tmp_path)
    assert found.read_text() == '1,2.6,"1#2"\n'


def test_parquet_has_the_types_of_a_table(tmp_path: Path):
    path = written(ParquetBulkWriters.for_row_type(KIND), tmp_path)
    assert str(pq.read_schema(path).field("price").type) == "decimal128(4, 1)"
    [row] = read(ParquetColumnarRowInputFormat(KIND), path, bulk=True)
    assert row == Row(**dict(zip(NAMES, (*VALUES[0][:2], Decimal("1.3"), *VALUES[0][3:]), strict=True)))


@pytest.mark.parametrize(("kind", "stored"), [(None, "ZLIB"), ("snappy", "SNAPPY"), ("NONE", "UNCOMPRESSED")])
def test_orc_has_the_types_of_a_table(tmp_path: Path, kind: str | None, stored: str):
    properties = None if kind is None else Configuration().set_string("orc.compress", kind)
    path = written(OrcBulkWriters.for_row_type(KIND, properties, Configuration()), tmp_path)
    found = orc.ORCFile(path)
    assert found.compression == stored
    assert found.read().to_pylist() == [
        {
            "id": 7, "name": "tea", "price": Decimal("1.3"), "day": MOMENT.date(), "at": MOMENT,
            "sizes": [1, 2], "counts": [("a", 1)], "pair": {"x": 0.5},
        }
    ]  # fmt: skip


def test_segments_of_several_epochs_are_one_orc_file(tmp_path: Path):
    with executing("process", parallelism=1, epoch_records=2):
        streams = StreamExecutionEnvironment.get_execution_environment()
        numbers = streams.from_collection(
            [Row(n=n) for n in range(5)], Types.ROW_NAMED(["n"], [Types.LONG()])
        )
        kind = DataTypes.ROW([DataTypes.FIELD("n", DataTypes.BIGINT())])
        numbers.sink_to(FileSink.for_bulk_format(str(tmp_path), OrcBulkWriters.for_row_type(kind)).build())
        streams.execute()
    found = [orc.ORCFile(path).read().column("n").to_pylist() for path in files_below(tmp_path)]
    assert sorted(number for numbers in found for number in numbers) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("given", [DataTypes.INT(), "INT", None])
def test_rows_are_needed(given: Any):
    with pytest.raises(ProgramError, match="requires a row type"):
        OrcBulkWriters.for_row_type(given)


def test_unknown_properties_of_orc_are_refused():
    properties = Configuration().set_string("orc.stripe.size", "1")
    with pytest.raises(ConfigurationError, match=r"got orc\.stripe\.size"):
        OrcBulkWriters.for_row_type(KIND, properties)


def test_a_type_of_a_column_is_one():
    with pytest.raises(ProgramError, match="add_number_column requires a type; got str"):
        CsvSchema.builder().add_number_column("n", "INT")


def test_decimals_have_digits():
    kind = BigDecimalTypeInfo(3, 2)
    assert [kind.coerce(value) for value in ("1.005", 2, None, Decimal("-0.994"))] == [
        Decimal("1.01"), Decimal("2.00"), None, Decimal("-0.99")
    ]  # fmt: skip
    assert kind == BigDecimalTypeInfo(3, 2) != BigDecimalTypeInfo(4, 2)
    with pytest.raises(RecordError, match=r"DECIMAL\(3, 2\)"):
        kind.coerce("12.5")
