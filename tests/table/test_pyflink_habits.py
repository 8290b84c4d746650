"""What PyFlink's own tests and its users' programs write: each answer is that of PyFlink 2.3."""

from __future__ import annotations

import datetime as dt
import pickle
from typing import Any

import pytest

from firesteel.common.config_options import ConfigOptions
from firesteel.common.errors import ProgramError
from firesteel.common.time import Duration
from firesteel.common.typeinfo import Types
from firesteel.common.types import Row, RowKind, result_row
from firesteel.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from firesteel.datastream import DataStream, StreamExecutionEnvironment
from firesteel.table import (
    DataTypes,
    EnvironmentSettings,
    FormatDescriptor,
    Schema,
    StreamTableEnvironment,
    TableDescriptor,
    TableEnvironment,
    TableSchema,
)
from firesteel.table.catalog import ObjectPath
from firesteel.table.expressions import col, lit, row
from firesteel.table.resolved_schema import ResolvedSchema
from firesteel.table.window import Tumble
from firesteel.testing import executing

TRIPLES = [(1, "Hi", "Hello"), (2, "Hello", "Hi")]
UNNAMED = Types.ROW([Types.INT(), Types.STRING(), Types.STRING()])
NAMED = Types.ROW_NAMED(["p", "q", "r"], [Types.INT(), Types.STRING(), Types.STRING()])


def columns(schema: ResolvedSchema) -> list[str]:
    return [f"{one.name} {one.type}".removesuffix(" NOT NULL") for one in schema.get_columns()]


# --- rows of results ---


def test_rows_of_results_print_and_compare_without_names(batch: TableEnvironment):
    table = batch.from_elements([(1, Row(2, [Row("x")]))], DataTypes.ROW([
        DataTypes.FIELD("a", DataTypes.INT()),
        DataTypes.FIELD("b", DataTypes.ROW([
            DataTypes.FIELD("c", DataTypes.INT()),
            DataTypes.FIELD("d", DataTypes.ARRAY(DataTypes.ROW([DataTypes.FIELD("e", DataTypes.STRING())]))),
        ])),
    ]))  # fmt: skip
    with table.execute().collect() as rows:
        [found] = rows
    assert repr(found) == "<Row(1, <Row(2, [<Row('x')>])>)>"
    assert found == Row(1, Row(2, [Row("x")]))
    assert found == Row(a=1, b=Row(c=2, d=[Row(e="x")]))
    assert found != Row(a=1, z=Row(c=2, d=[Row(e="x")]))
    assert found != Row.of_kind(RowKind.DELETE, 1, Row(2, [Row("x")]))
    assert (found.a, found["b"].c, found[1].d[0].e) == (1, 2, "x")
    assert found.as_dict(True) == {"a": 1, "b": {"c": 2, "d": [{"e": "x"}]}}


def test_a_row_of_a_result_can_be_pickled_and_changed():
    found = pickle.loads(pickle.dumps(result_row(["a", "b"], [1, 2], RowKind.UPDATE_AFTER)))
    found["b"] = 3
    assert (found.b, found.get_row_kind(), found.get_fields_by_names(["b", "a"])) == (
        3,
        RowKind.UPDATE_AFTER,
        [3, 1],
    )
    with pytest.raises(AttributeError):
        _ = found.c
    found.set_field_names(["c", "d"])
    assert (found.c, repr(found)) == (1, "Row(c=1, d=3)")


def test_floats_of_results_have_the_digits_that_they_need(batch: TableEnvironment):
    [found] = batch.sql_query("SELECT CAST(1.23 AS FLOAT), CAST(NULL AS FLOAT), 1.23e0").execute().collect()
    assert found == Row(1.23, None, 1.23)


# --- streams, by expressions ---


class Moment(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[0]) * 1000


def stream_of(type_info: Any, values: Any = TRIPLES) -> tuple[StreamTableEnvironment, DataStream]:
    streams = StreamExecutionEnvironment.get_execution_environment()
    streams.set_parallelism(1)
    return StreamTableEnvironment.create(streams), streams.from_collection(values, type_info)


@pytest.mark.parametrize(
    ("type_info", "fields", "expected"),
    [
        (UNNAMED, [col("a"), col("b"), col("c")], ["a INT", "b STRING", "c STRING"]),
        (NAMED, [col("a"), col("b")], ["a INT", "b STRING"]),
        (NAMED, [col("a"), col("t").rowtime], ["a INT", "t TIMESTAMP(3) *ROWTIME*"]),
        (UNNAMED, [col("f1").alias("x"), col("f0")], ["x STRING", "f0 INT"]),
        (
            NAMED,
            [col("q"), col("p").alias("z"), col("pt").proctime],
            ["q STRING", "z INT", "pt TIMESTAMP_LTZ(3) NOT NULL *PROCTIME*"],
        ),
        (NAMED, [col("q"), col("rt").rowtime.alias("moment")], ["q STRING", "moment TIMESTAMP(3) *ROWTIME*"]),
    ],
)
def test_expressions_choose_fields_of_a_stream(type_info: Any, fields: list[Any], expected: list[str]):
    tables, stream = stream_of(type_info)
    assert columns(tables.from_data_stream(stream, *fields).get_resolved_schema()) == expected


def test_fields_that_expressions_choose_have_their_values():
    with executing("process", parallelism=1):
        tables, stream = stream_of(UNNAMED)
        tables.create_temporary_view("v", stream, col("f2").alias("x"), col("f0"))
        with tables.execute_sql("SELECT * FROM v").collect() as rows:
            assert list(rows) == [Row("Hello", 1), Row("Hi", 2)]


def test_a_stream_of_single_values_is_a_column_with_a_name():
    with executing("process", parallelism=1):
        tables, stream = stream_of(Types.INT(), [1, 2])
        table = tables.from_data_stream(stream, col("n"))
        with table.select(col("n") + 1).execute().collect() as rows:
            assert list(rows) == [Row(2), Row(3)]


def test_rowtime_is_the_time_and_the_watermark_of_the_stream():
    with executing("process", parallelism=1, epoch_records=1):
        tables, stream = stream_of(NAMED, [(20, "a", "x"), (1, "a", "x"), (31, "b", "x"), (2, "a", "x")])
        strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(25))
        timed = stream.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(Moment()))
        table = tables.from_data_stream(timed, col("p"), col("t").rowtime)
        windows = table.window(Tumble.over(lit(5).seconds).on(col("t")).alias("w")).group_by(col("w"))
        with windows.select(col("w").start, col("p").sum).execute().collect() as rows:
            found = {row[0].second: row[1] for row in rows}
    assert found == {0: 1, 20: 20, 30: 31}  # 2 is late: the watermark is at 6 seconds when it comes


@pytest.mark.parametrize(
    "fields",
    [
        [col("q"), col("z")],
        [col("a"), col("b"), col("c"), col("d")],
        [col("q") + 1],
        [col("q"), lit(1)],
        ["q"],
    ],
)
def test_expressions_that_are_no_fields_are_refused(fields: list[Any]):
    tables, stream = stream_of(NAMED)
    with pytest.raises(ProgramError, match="requires"):
        tables.from_data_stream(stream, *fields)


# --- elements ---


def test_elements_may_be_expressions(batch: TableEnvironment):
    kind = DataTypes.ROW([DataTypes.FIELD("a", DataTypes.BIGINT()), DataTypes.FIELD("b", DataTypes.STRING())])
    table = batch.from_elements([row(1, "abc"), row(lit(1) + 1, lit("x").upper_case)], kind)
    assert [name.split()[:2] for name in columns(table.get_resolved_schema())] == [
        ["a", "BIGINT"],
        ["b", "STRING"],
    ]
    assert sorted(map(tuple, table.execute().collect())) == [(1, "abc"), (2, "X")]
    assert sorted(map(tuple, batch.from_elements([lit(2), lit(1)], DataTypes.INT()).execute().collect())) == [
        (1,),
        (2,),
    ]
    named = batch.from_elements([row(1, "abc")], ["n", "s"])
    assert named.get_resolved_schema().get_column_names() == ["n", "s"]


def test_columns_of_expressions_may_be_null_where_the_schema_says_so(batch: TableEnvironment):
    fields = [DataTypes.FIELD("a", DataTypes.INT()), DataTypes.FIELD("b", DataTypes.DOUBLE().not_null())]
    table = batch.from_elements([row(1, 2.0), row(2, 3.0)], DataTypes.ROW(fields))
    assert [str(one.type) for one in table.get_resolved_schema().get_columns()] == ["INT", "DOUBLE NOT NULL"]
    assert sorted(map(tuple, table.select(col("a") + 1, col("b")).execute().collect())) == [
        (2, 2.0),
        (3, 3.0),
    ]


def test_elements_of_expressions_are_all_expressions_of_as_many_columns(batch: TableEnvironment):
    with pytest.raises(ProgramError, match="requires expressions"):
        batch.from_elements([row(1, 2), (1, 2)])
    with pytest.raises(ProgramError, match="requires rows of 2 columns; got 1 values"):
        batch.from_elements([row(1, 2), row(1)])


# --- windows in BATCH mode ---


@pytest.mark.parametrize(
    ("time", "values"),
    [
        (DataTypes.BIGINT(), [1000, 1500, 2500, -1]),
        (
            DataTypes.TIMESTAMP(3),
            [dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=one) for one in (1000, 1500, 2500, -1)],
        ),
    ],
)
def test_windows_of_numbers_and_of_plain_times(batch: TableEnvironment, time: Any, values: list[Any]):
    kind = DataTypes.ROW([DataTypes.FIELD("a", time), DataTypes.FIELD("b", DataTypes.INT())])
    batch.get_config().set("table.local-time-zone", "Asia/Tokyo")
    table = batch.from_elements([*zip(values, (1, 2, 5, 7), strict=True)], kind)
    windows = table.window(Tumble.over(lit(1).seconds).on(col("a")).alias("w")).group_by(col("w"))
    found = windows.select(col("w").start, col("b").sum).execute().collect()
    epoch = dt.datetime(1970, 1, 1)
    assert sorted(((row[0] - epoch).total_seconds(), row[1]) for row in found) == [(-1, 7), (1, 3), (2, 5)]


# --- declarations ---


def test_a_schema_prints_what_is_not_resolved_in_brackets():
    schema = (
        Schema.new_builder()
        .column("d", DataTypes.STRING())
        .with_comment("text")
        .column("p", "ROW<name STRING>")
        .column_by_metadata("topic", DataTypes.STRING(), None, True)
        .column_by_expression("up", col("d").upper_case)
        .column_by_expression("at", "PROCTIME()")
        .primary_key("d")
        .build()
    )
    assert str(schema).splitlines() == [
        "(",
        "  `d` STRING COMMENT 'text',",
        "  `p` [ROW<name STRING>],",
        "  `topic` STRING METADATA VIRTUAL,",
        "  `up` AS upper(d),",
        "  `at` AS [PROCTIME()],",
        "  CONSTRAINT `PK_d` PRIMARY KEY (`d`) NOT ENFORCED",
        ")",
    ]


def test_a_declared_schema_is_the_one_that_was_given(batch: TableEnvironment):
    schema = Schema.new_builder().column("f0", DataTypes.INT()).build()
    descriptor = (
        TableDescriptor.for_connector("datagen").schema(schema).option("fields.f0.kind", "random").build()
    )
    batch.create_table("t", descriptor)
    found = batch.get_catalog("default_catalog")
    assert found is not None
    assert found.get_table(ObjectPath("default_database", "t")).get_unresolved_schema() == schema
    assert str(TableSchema(["a"], [DataTypes.INT()])) == "root\n |-- a: INT\n"


def test_options_of_descriptors_have_keys_and_values_of_any_kind():
    flag, size = ConfigOptions.key("a").boolean_type().no_default_value(), ConfigOptions.key("b").int_type()
    key_format = ConfigOptions.key("key.format").string_type().no_default_value()
    written = FormatDescriptor.for_format("f").option(flag, False).option(size.no_default_value(), 42).build()
    assert str(written) == "f[{a=false, b=42}]"
    table = TableDescriptor.for_connector("c").option(flag, True).format(written, key_format).build()
    assert table.get_options() == {
        "connector": "c", "a": "true", "key.format": "f", "key.f.a": "false", "key.f.b": "42"
    }  # fmt: skip


def test_a_pipeline_names_its_sink(batch: TableEnvironment):
    batch.execute_sql("CREATE TABLE nothing (a BIGINT) WITH ('connector' = 'blackhole')")
    found = batch.from_elements([(1,)], ["a"]).insert_into("nothing").get_sink_identifier()
    assert found is not None
    assert (found.get_object_name(), found.as_summary_string()) == (
        "nothing", "default_catalog.default_database.nothing"
    )  # fmt: skip


def test_a_sink_without_a_schema_has_the_columns_of_the_table(
    batch: TableEnvironment, capsys: pytest.CaptureFixture[str]
):
    table = batch.from_elements([(1, "a")], ["n", "s"])
    printing = TableDescriptor.for_connector("print").build()
    table.execute_insert(printing).wait()
    both = (
        batch.create_statement_set()
        .add_insert(printing, table.select(col("n") + 1))
        .add_insert(printing, table)
    )
    both.execute().wait()
    assert sorted(capsys.readouterr().out.splitlines()) == ["+I[1, a]", "+I[1, a]", "+I[2]"]


def test_settings_name_the_mode_as_flink_does():
    modes = [EnvironmentSettings.in_batch_mode(), EnvironmentSettings.in_streaming_mode()]
    found = [one.get_configuration().get_string("execution.runtime-mode", "") for one in modes]
    assert found == ["BATCH", "STREAMING"]
