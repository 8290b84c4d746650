"""Windows of a number of rows, in the order of their arrival."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import pytest

from firesteel.common.errors import FiresteelError
from firesteel.common.typeinfo import Types
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.table import EnvironmentSettings, Schema, StreamTableEnvironment, Table, TableEnvironment
from firesteel.table.expressions import call_sql, col, lit, row_interval
from firesteel.table.udf import udaf
from firesteel.table.window import GroupWindow, Slide, Tumble
from firesteel.testing import executing

ROWS = [("a", 1), ("b", 2), ("a", 3), ("a", 4), ("c", 5), ("b", 6), ("a", 7), ("a", 8), ("b", 9), ("a", 10)]
KIND = Types.ROW_NAMED(["k", "v"], [Types.STRING(), Types.LONG()])


def timed_rows(values: Sequence[tuple[str, int]] = ROWS) -> Table:
    streams = StreamExecutionEnvironment.get_execution_environment()
    tables = StreamTableEnvironment.create(streams)
    schema = (
        Schema.new_builder()
        .column("k", "STRING")
        .column("v", "BIGINT")
        .column_by_expression("p", "PROCTIME()")
    )
    stream = streams.from_collection([*values], KIND)
    return tables.from_data_stream(stream.map(lambda row: row, KIND), schema.build())


def of_rows(size: int, slide: int | None = None) -> GroupWindow:
    sized = Tumble.over(row_interval(size))
    if slide is not None:
        return Slide.over(row_interval(size)).every(row_interval(slide)).on(col("p")).alias("w")
    return sized.on(col("p")).alias("w")


def expected(size: int, slide: int) -> list[tuple[str, int, int]]:
    """Return the sum and the largest value of each full window, by the definition."""
    by_key: dict[str, list[int]] = defaultdict(list)
    for key, value in ROWS:
        by_key[key].append(value)
    windows = (
        (key, values[start : start + size])
        for key, values in by_key.items()
        for start in range(0, len(values) - size + 1, slide)
    )
    return sorted((key, sum(window), max(window)) for key, window in windows)


@pytest.mark.parametrize(
    ("size", "slide"), [(1, None), (2, None), (3, None), (7, None), (3, 1), (2, 3), (4, 2), (1, 2)]
)
@pytest.mark.parametrize(("epoch_records", "parallelism"), [(None, 1), (2, 1), (3, 3)])
def test_full_windows_have_results(size: int, slide: int | None, epoch_records: int | None, parallelism: int):
    with executing("process", parallelism=parallelism, epoch_records=epoch_records):
        windows = timed_rows().window(of_rows(size, slide)).group_by(col("w"), col("k"))
        with windows.select(col("k"), col("v").sum, col("v").max).execute().collect() as rows:
            assert sorted(map(tuple, rows)) == expected(size, slide or size)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_on_spark():
    with executing("spark", parallelism=2, epoch_records=3):
        windows = timed_rows().window(of_rows(3, 2)).group_by(col("w"), col("k"))
        with windows.select(col("k"), col("v").sum, col("v").max).execute().collect() as rows:
            assert sorted(map(tuple, rows)) == expected(3, 2)


def test_windows_of_all_rows_have_no_keys():
    with executing("process", parallelism=1, epoch_records=4):
        windows = timed_rows().window(of_rows(4)).group_by(col("w"))
        with windows.select(col("v").sum, col("k").count.distinct).execute().collect() as rows:
            assert [*map(tuple, rows)] == [(10, 2), (26, 3)]


def test_functions_of_the_program_aggregate_rows():
    middle = udaf(lambda values: int(values.median()), result_type="BIGINT", func_type="pandas")
    with executing("process", parallelism=1, epoch_records=3):
        windows = timed_rows().window(of_rows(3)).group_by(col("w"), col("k"))
        with windows.select(col("k"), middle(col("v"))).execute().collect() as rows:
            assert sorted(map(tuple, rows)) == [("a", 3), ("a", 8), ("b", 6)]


def batch_rows() -> Table:
    tables = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    return tables.from_elements(ROWS, ["k", "v"]).add_columns(call_sql("PROCTIME()").alias("p"))


def of_event_time() -> Any:
    tables = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    tables.execute_sql(
        "CREATE TABLE made (v INT, k STRING, p TIMESTAMP(3), WATERMARK FOR p AS p) WITH ('connector' = 'datagen')"
    )
    return tables.from_path("made")


@pytest.mark.parametrize(
    ("make", "columns", "part"),
    [
        (batch_rows, [col("v").sum], "a window of a number of rows is not supported in BATCH mode"),
        (of_event_time, [col("v").sum], "a window of a number of rows requires processing time"),
        (timed_rows, [col("w").start], "a window of a number of rows has no start and no end; got start"),
    ],
)
def test_what_flink_refuses_is_refused(make: Any, columns: list[Any], part: str):
    windows = make().window(of_rows(2)).group_by(col("w"), col("k"))
    with pytest.raises(FiresteelError, match=part):
        windows.select(*columns).execute()


def test_windows_of_time_and_of_rows_have_lengths_of_one_kind():
    mixed = Slide.over(row_interval(2)).every(lit(1).seconds).on(col("p")).alias("w")
    with pytest.raises(FiresteelError, match="requires two intervals or two numbers of rows"):
        timed_rows().window(mixed).group_by(col("w")).select(col("v").sum)
