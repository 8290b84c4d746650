"""Streams as tables and tables as streams, in one job."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from firesteel.common.errors import FiresteelError, ProgramError
from firesteel.common.time import Duration
from firesteel.common.typeinfo import Types
from firesteel.common.types import Row, RowKind
from firesteel.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from firesteel.datastream import ProcessFunction, StreamExecutionEnvironment
from firesteel.table import Schema, StreamTableEnvironment
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
        assert numbers.get_schema().get_column_names() == ["f0"]
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


def test_a_stream_without_a_type_is_no_table():
    streams, tables = environments()
    with pytest.raises(ProgramError, match="requires a stream whose type is declared"):
        tables.from_data_stream(streams.from_collection([object()]))


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
