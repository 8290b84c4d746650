"""Streams as tables and tables as streams, in one job."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from firesteel.common.errors import FiresteelError, ProgramError, SqlValidationError, UnsupportedError
from firesteel.common.time import Duration
from firesteel.common.typeinfo import Types
from firesteel.common.types import Row, RowKind
from firesteel.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from firesteel.datastream import ProcessFunction, StreamExecutionEnvironment
from firesteel.table import ChangelogMode, DataTypes, Schema, StreamTableEnvironment, Table, TableDescriptor
from firesteel.table.expressions import col, descriptor, lit, map_, source_watermark, to_timestamp_ltz
from firesteel.table.udf import udf
from firesteel.testing.execution import executing

WORDS = [("a", 1), ("b", 2), ("a", 3), ("c", 4), ("b", 5)]
TYPE = Types.ROW_NAMED(["word", "number"], [Types.STRING(), Types.LONG()])


class Second(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value[1]) * 1000


def environments() -> tuple[StreamExecutionEnvironment, StreamTableEnvironment]:
    streams = StreamExecutionEnvironment.get_execution_environment()
    return streams, StreamTableEnvironment.create(streams)


@pytest.mark.parametrize("parallelism", [1, 2, 3])
@pytest.mark.parametrize("epoch_records", [None, 2])
def test_a_stream_is_aggregated_as_a_table_and_its_changes_are_a_stream_again(
    parallelism: int, epoch_records: int | None
):
    with executing("process", parallelism=parallelism, epoch_records=epoch_records):
        streams, tables = environments()
        tables.create_temporary_view("words", streams.from_collection(WORDS, TYPE))
        sums = tables.sql_query("SELECT word, SUM(number) AS total FROM words GROUP BY word")
        changes = tables.to_changelog_stream(sums).map(lambda row: row)
        found: Counter[tuple[str, int]] = Counter()
        with changes.execute_and_collect() as rows:
            for row in rows:
                removes = row.get_row_kind() in (RowKind.UPDATE_BEFORE, RowKind.DELETE)
                found[row["word"], row["total"]] += -1 if removes else 1
    assert +found == Counter({("a", 4): 1, ("b", 7): 1, ("c", 4): 1})
    assert not -found


def test_a_stream_of_single_values_has_one_column():
    with executing("process", parallelism=1):
        streams, tables = environments()
        numbers = tables.from_data_stream(streams.from_collection([1, 2, 3], Types.LONG()))
        assert numbers.get_resolved_schema().get_column_names() == ["f0"]
        more = tables.to_data_stream(tables.sql_query(f"SELECT f0 * 2 AS twice FROM {numbers} WHERE f0 > 1"))
        assert [row["twice"] for row in more.execute_and_collect()] == [4, 6]


def test_a_schema_declares_times_and_computed_columns():
    with executing("process", parallelism=1):
        streams, tables = environments()
        strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
        stream = streams.from_collection(WORDS, TYPE).assign_timestamps_and_watermarks(
            strategy.with_timestamp_assigner(Second())
        )
        schema = (
            Schema.new_builder()
            .column_by_expression("twice", "number * 2")
            .column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)")
            .watermark("rowtime", "rowtime - INTERVAL '1' SECOND")
            .build()
        )
        tables.create_temporary_view("words", stream, schema)
        windows = tables.sql_query(
            "SELECT window_end, SUM(twice) AS total FROM TABLE(TUMBLE(TABLE words, DESCRIPTOR(rowtime), "
            "INTERVAL '2' SECOND)) GROUP BY window_start, window_end"
        )
        rows = [tuple(row) for row in windows.execute().collect()]
    assert [total for _, total in rows] == [2, 10, 18]


def words_with_watermarks_of_the_stream(
    streams: StreamExecutionEnvironment, tables: StreamTableEnvironment, late: int, kept: Any = WORDS
) -> Table:
    strategy = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(late))
    stream = streams.from_collection([*kept], TYPE)
    stamped = stream.assign_timestamps_and_watermarks(strategy.with_timestamp_assigner(Second()))
    schema = (
        Schema.new_builder()
        .column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)")
        .watermark("rowtime", "SOURCE_WATERMARK()")
        .build()
    )
    return tables.from_data_stream(stamped, schema)


OUT_OF_ORDER = [("a", 20), ("b", 21), ("a", 1), ("c", 12), ("b", 40), ("c", 2)]


@pytest.mark.parametrize(
    ("late", "total"),
    [(60, {0: 3, 10: 12, 20: 41, 40: 40}), (0, {20: 41, 40: 40})],
    ids=["all rows in time", "late rows"],
)
@pytest.mark.parametrize("where", ["process", pytest.param("spark", marks=pytest.mark.spark)])
def test_a_table_of_a_stream_has_its_watermarks(where: str, late: int, total: dict[int, int]):
    with executing(where, parallelism=1, epoch_records=1):
        streams, tables = environments()
        tables.create_temporary_view(
            "words", words_with_watermarks_of_the_stream(streams, tables, late, OUT_OF_ORDER)
        )
        windows = tables.sql_query(
            "SELECT EXTRACT(EPOCH FROM window_start), SUM(number) FROM TABLE(TUMBLE(TABLE words, "
            "DESCRIPTOR(rowtime), INTERVAL '10' SECOND)) GROUP BY window_start, window_end"
        )
        assert dict(tuple(row) for row in windows.execute().collect()) == total


def test_watermarks_of_a_stream_pass_a_table():
    with executing("process", parallelism=1, epoch_records=1):
        streams, tables = environments()
        table = words_with_watermarks_of_the_stream(streams, tables, late=2)
        again = tables.to_data_stream(tables.sql_query(f"SELECT word, rowtime FROM {table} WHERE number > 1"))
        seen = list(again.process(_Watermarked()).execute_and_collect())
    assert seen == [(2000, -1001), (3000, -1), (4000, 999), (5000, 1999)]


class _Watermarked(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield ctx.timestamp(), ctx.timer_service().current_watermark()


def test_changes_of_a_stream_have_its_watermarks():
    with executing("process", parallelism=1, epoch_records=1):
        streams, tables = environments()
        kind = Types.ROW_NAMED(["word", "number"], [Types.STRING(), Types.LONG()])
        changes = [Row(word, number) for word, number in WORDS]
        strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Second())
        stream = streams.from_collection(changes, kind).assign_timestamps_and_watermarks(strategy)
        schema = (
            Schema.new_builder()
            .column("word", "STRING NOT NULL")
            .column("number", "BIGINT")
            .column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)")
            .watermark("rowtime", source_watermark())
            .primary_key("word")
            .build()
        )
        words = tables.from_changelog_stream(stream, schema, ChangelogMode.upsert())
        found = tables.sql_query(f"SELECT word, number, CURRENT_WATERMARK(rowtime) IS NULL FROM {words}")
        with found.execute().collect() as rows:
            kept = {row[0]: (row[1], row[2]) for row in rows if row.get_row_kind() is not RowKind.DELETE}
    assert kept == {"a": (3, False), "b": (5, False), "c": (4, False)}


def test_a_connector_has_no_watermarks_of_its_own():
    _, tables = environments()
    tables.execute_sql(
        "CREATE TABLE made (ts TIMESTAMP(3), WATERMARK FOR ts AS source_watermark()) WITH ('connector' = 'datagen')"
    )
    with pytest.raises(UnsupportedError, match="its connector makes no watermarks of its own"):
        tables.execute_sql("SELECT * FROM made")


@pytest.mark.parametrize(
    "query",
    ["SELECT SOURCE_WATERMARK()", "SELECT 1 FROM (VALUES (1)) AS t (a) WHERE SOURCE_WATERMARK() > NULL"],
)
def test_source_watermark_is_no_value(query: str):
    _, tables = environments()
    with pytest.raises(SqlValidationError, match="uses SOURCE_WATERMARK in"):
        tables.execute_sql(query)


def test_the_schema_of_a_table_is_as_it_is_declared():
    streams, tables = environments()
    words = words_with_watermarks_of_the_stream(streams, tables, late=1)
    assert words.get_resolved_schema().get_column_names() == ["word", "number", "rowtime"]
    tables.execute_sql(
        "CREATE TABLE made (k INT, ts TIMESTAMP(3), up AS k + 1, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, "
        "PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'datagen')"
    )
    assert str(tables.from_path("made").get_resolved_schema()) == (  # as Flink prints it
        "(\n  `k` INT NOT NULL,\n  `ts` TIMESTAMP(3) *ROWTIME*,\n  `up` INT NOT NULL AS `k` + 1,\n"
        "  WATERMARK FOR `ts`: TIMESTAMP(3) AS `ts` - INTERVAL '5' SECOND,\n"
        "  CONSTRAINT `PK_k` PRIMARY KEY (`k`) NOT ENFORCED\n)"
    )
    assert (
        str(tables.from_path("made").select(col("up")).get_resolved_schema()) == "(\n  `up` INT NOT NULL\n)"
    )


def test_the_event_time_becomes_the_timestamp_of_a_record():
    with executing("process", parallelism=1):
        streams, tables = environments()
        stream = streams.from_collection(WORDS, TYPE)
        schema = (
            Schema.new_builder()
            .column_by_expression("ts", "CAST(TO_TIMESTAMP_LTZ(number, 0) AS TIMESTAMP_LTZ(3))")
            .watermark("ts", "ts")
            .build()
        )
        table = tables.from_data_stream(stream, schema)
        again = tables.to_data_stream(table)
        stamped = again.process(_Stamped()).execute_and_collect()
        assert list(stamped) == [1000, 2000, 3000, 4000, 5000]


class _Stamped(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Any:
        yield ctx.timestamp()


def test_a_table_that_changes_is_no_stream_of_inserts():
    streams, tables = environments()
    tables.create_temporary_view("words", streams.from_collection(WORDS, TYPE))
    counts = tables.sql_query("SELECT word, COUNT(*) AS n FROM words GROUP BY word")
    with pytest.raises(ProgramError, match="requires a table whose rows do not change") as error:
        tables.to_data_stream(counts)
    assert "to_changelog_stream" in str(error.value)


@pytest.mark.parametrize("parallelism", [1, 3])
def test_a_stream_without_a_type_is_a_column_of_any_objects(parallelism: int):
    with executing("process", parallelism=parallelism, epoch_records=2):
        streams, tables = environments()
        values = [(1, "a"), 2, None, "x", (1, "a"), {"k": [2]}]
        table = tables.from_data_stream(streams.from_collection(values))
        assert str(table.get_resolved_schema()) == "(\n  `f0` RAW('[B', '...')\n)"  # as Flink prints it
        found = list(table.execute().collect())
        assert Counter(map(repr, (row[0] for row in found))) == Counter(map(repr, values))
        shown = udf(lambda value: type(value).__name__, result_type="STRING")
        names = table.filter(col("f0").is_not_null).select(shown(col("f0")))
        assert sorted(row[0] for row in names.execute().collect()) == ["dict", "int", "str", "tuple", "tuple"]
        back = tables.to_data_stream(table.filter(col("f0").is_not_null)).map(lambda row: str(row.f0))
        assert sorted(back.execute_and_collect()) == ["(1, 'a')", "(1, 'a')", "2", "x", "{'k': [2]}"]


def test_any_objects_are_grouped_and_printed(capsys: pytest.CaptureFixture[str]):
    with executing("process", parallelism=1):
        streams, tables = environments()
        tables.create_temporary_view("v", streams.from_collection([(1, "a"), "x", (1, "a")]))
        counts = tables.sql_query("SELECT f0, COUNT(*) FROM v GROUP BY f0").execute().collect()
        assert {row[0]: row[1] for row in counts} == {(1, "a"): 2, "x": 1}
        tables.execute_sql("SELECT * FROM v WHERE f0 IS NOT NULL").print()
    printed = capsys.readouterr().out
    assert printed.count("| +I |                       (1, 'a') |") == 2


def test_a_column_that_the_stream_does_not_have_is_named():
    streams, tables = environments()
    schema = Schema.new_builder().column("nowhere", "INT").build()
    with pytest.raises(ProgramError, match="'nowhere'") as error:
        tables.from_data_stream(streams.from_collection(WORDS, TYPE), schema)
    assert "word, number" in str(error.value)


def test_a_record_that_is_no_insert_is_refused():
    with executing("process", parallelism=1):
        streams, tables = environments()
        rows = [Row.of_kind(RowKind.DELETE, "a", 1)]
        stream = streams.from_collection([0]).map(lambda _: rows[0], TYPE)
        with pytest.raises(FiresteelError, match="requires records of the kind"):
            list(tables.from_data_stream(stream).execute().collect())


def test_the_job_of_a_query_leaves_other_operations_of_the_program_alone():
    with executing("process", parallelism=1):
        streams, tables = environments()
        stream = streams.from_collection(WORDS, TYPE)
        seen = stream.map(lambda row: row[1], Types.LONG())
        tables.create_temporary_view("words", stream)
        assert len(list(tables.execute_sql("SELECT word FROM words").collect())) == 5
        assert list(seen.execute_and_collect()) == [1, 2, 3, 4, 5]


def sums(tables: StreamTableEnvironment) -> Table:
    given = tables.from_elements(WORDS, ["word", "number"])
    return given.group_by(col("word")).select(col("word"), col("number").sum.alias("total"))


def changes_of(tables: StreamTableEnvironment, *given: Any) -> list[tuple[RowKind, Row]]:
    stream = tables.to_changelog_stream(sums(tables), *given)
    with executing("process", parallelism=1, epoch_records=1), stream.execute_and_collect() as rows:
        return [(row.get_row_kind(), row) for row in rows]


def test_a_stream_of_changes_has_the_columns_of_a_schema():
    _, tables = environments()
    schema = Schema.new_builder().column("w", DataTypes.STRING()).column("t", "DECIMAL(20, 1)").build()
    kind, row = changes_of(tables, schema)[0]
    assert (kind, row.as_dict()) == (RowKind.INSERT, {"w": "a", "t": Decimal("1.0")})


def test_a_stream_of_changes_has_those_of_a_mode():
    _, tables = environments()
    schema = Schema.new_builder().primary_key("word").build()
    kinds = [kind for kind, _ in changes_of(tables, schema, ChangelogMode.upsert())]
    assert RowKind.UPDATE_AFTER in kinds
    assert RowKind.UPDATE_BEFORE not in kinds
    with pytest.raises(
        ProgramError, match=r"to_changelog_stream .*requires a table whose rows do not change"
    ):
        changes_of(tables, None, ChangelogMode.insert_only())


@pytest.mark.parametrize(
    ("schema", "part"),
    [
        (Schema.new_builder().column("w", "STRING").build(), "requires 1 columns"),
        (Schema.new_builder().column("w", "STRING").column("t", "DATE").build(), "requires a value of DATE"),
    ],
)
def test_a_schema_that_does_not_fit_is_refused(schema: Schema, part: str):
    _, tables = environments()
    with pytest.raises(ProgramError, match=part):
        tables.to_changelog_stream(sums(tables), schema)


class Stamps(ProcessFunction):
    def process_element(self, value: Row, ctx: ProcessFunction.Context):
        yield tuple(value), ctx.timestamp()


def test_expressions_are_columns_and_times_of_a_schema_and_a_time_is_that_of_the_records():
    with executing("process", parallelism=1):
        _, tables = environments()
        schema = (
            Schema.new_builder()
            .column("id", "BIGINT")
            .column_by_expression("twice", (col("id") + 1) * 2)
            .column_by_expression("ts", to_timestamp_ltz(col("id"), 0))
            .watermark("ts", col("ts") - lit(5).seconds)
            .build()
        )
        numbers = TableDescriptor.for_connector("datagen").schema(schema).option("fields.id.kind", "sequence")
        table = tables.from_descriptor(
            numbers.option("fields.id.start", "1").option("fields.id.end", "2").build()
        )
        target = Schema.new_builder().column("id", "BIGINT").column("twice", "BIGINT")
        target.column_by_metadata("rowtime", "TIMESTAMP_LTZ(3)")
        stream = tables.to_changelog_stream(table, target.build()).process(Stamps())
        assert list(stream.execute_and_collect()) == [((1, 4), 1000), ((2, 6), 2000)]


def test_expressions_of_a_schema_have_names_for_their_functions():
    twice = udf(lambda n: 2 * n, result_type="BIGINT")
    with pytest.raises(ProgramError, match="requires functions that a catalog knows"):
        Schema.new_builder().column_by_expression("b", twice(col("a")))


def test_old_streams_of_tables_have_types_of_their_own():
    _, tables = environments()
    pair = Types.ROW([Types.STRING(), Types.LONG()])
    with executing("process", parallelism=1):
        plain = tables.to_append_stream(tables.from_elements(WORDS[:2], ["word", "number"]), pair)
        assert list(map(tuple, plain.execute_and_collect())) == WORDS[:2]
        found = list(tables.to_retract_stream(sums(tables), pair).execute_and_collect())
        assert sorted(tuple(row) for comes, row in found if comes) == [("a", 4), ("b", 7), ("c", 4)]
    with pytest.raises(ProgramError, match="requires the type of a row of STRING, BIGINT"):
        tables.to_append_stream(sums(tables), Types.ROW([Types.STRING(), Types.INT()]))
    with pytest.raises(ProgramError, match="requires a table whose rows do not change"):
        tables.to_append_stream(sums(tables), pair)


def test_changes_become_rows_and_rows_changes():
    _, tables = environments()
    codes = map_("INSERT, UPDATE_AFTER", "up", "DELETE", "down").as_argument("op_mapping")
    coded = sums(tables).to_changelog(descriptor("code").as_argument("op"), codes)
    again = sums(tables).to_changelog().from_changelog()
    with executing("process", parallelism=2, epoch_records=2):
        found = coded.to_pandas()
        assert {*found["code"]} == {"up"}
        assert {("a", 4), ("b", 7), ("c", 4)} <= {*zip(found["word"], found["total"], strict=True)}
        back = again.to_pandas()
    assert sorted(zip(back["word"], back["total"], strict=True)) == [("a", 4), ("b", 7), ("c", 4)]
