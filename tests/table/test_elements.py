"""Tables of what a program has in memory, and of streams of changes."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pandas as pd
import pytest

from firesteel.common.errors import ProgramError, TypeMismatchError
from firesteel.common.typeinfo import Types
from firesteel.common.types import Row, RowKind
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.table import (
    ChangelogMode,
    DataTypes,
    EnvironmentSettings,
    Schema,
    StreamTableEnvironment,
    Table,
    TableEnvironment,
)
from firesteel.testing import executing

ROW = DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT()), DataTypes.FIELD("b", DataTypes.STRING())])


@pytest.fixture
def env() -> TableEnvironment:
    return TableEnvironment.create(EnvironmentSettings.in_streaming_mode())


def types(table: Table) -> dict[str, str]:
    return {field.name: str(field.type) for field in table._plan.row.fields}


class Thing:
    def __init__(self, a: int, b: str) -> None:
        self.a, self.b = a, b


@pytest.mark.parametrize(
    ("elements", "schema", "expected"),
    [
        ([(1, "x"), (2, None)], None, {"_1": "BIGINT", "_2": "STRING"}),
        ([(1, "x")], ["a"], {"a": "BIGINT", "_2": "STRING"}),
        ([Row(a=1.5, b=True)], None, {"a": "DOUBLE", "b": "BOOLEAN"}),
        ([{"b": b"x", "a": Decimal(1)}], None, {"a": "DECIMAL(38, 18)", "b": "BYTES"}),
        ([Thing(1, "x")], None, {"a": "BIGINT", "b": "STRING"}),
        (
            [(dt.date(2020, 1, 1), dt.time(1), dt.datetime(2020, 1, 1))],
            None,
            {"_1": "DATE", "_2": "TIME(0)", "_3": "TIMESTAMP_LTZ(6)"},
        ),
        (
            [([None, 1], {"k": None}, Row(x=1)), ([], {"k": 2}, Row(x=2))],
            None,
            {"_1": "ARRAY<BIGINT>", "_2": "MAP<STRING NOT NULL, BIGINT>", "_3": "ROW<`x` BIGINT>"},
        ),
        ([(1, "x")], ROW, {"a": "INT", "b": "STRING"}),
        ([1, 2], DataTypes.SMALLINT(), {"value": "SMALLINT"}),
    ],
)
def test_elements_have_pyflinks_types(
    env: TableEnvironment, elements: list[Any], schema: Any, expected: dict[str, str]
) -> None:
    assert types(env.from_elements(elements, schema)) == expected


@pytest.mark.parametrize(
    ("elements", "schema", "said"),
    [
        ([], None, "requires elements, or a schema"),
        ([1], None, "requires elements that are rows"),
        ([(None,)], None, "requires a value for column '_1'"),
        ([(1,), ("x",)], None, "requires values of one type in a column; got BIGINT and STRING"),
        ([(1, 2), (3,)], None, "requires a row of 2 fields"),
        ([("x", "y")], ROW, "column 'row.a' of type INT requires a whole number"),
        ([(1, "x")], "a, b", "requires a DataType or a list of names"),
        ([(1, dt.timedelta(1))], None, "requires values whose class has a type"),
    ],
)
def test_elements_that_do_not_fit_are_refused_at_the_call(
    env: TableEnvironment, elements: list[Any], schema: Any, said: str
) -> None:
    with pytest.raises(ProgramError, match=said) as raised:
        env.from_elements(elements, schema)
    assert "test_elements.py:" in str(raised.value).split(" requires")[0]


@pytest.mark.parametrize(
    "settings", [EnvironmentSettings.in_streaming_mode(), EnvironmentSettings.in_batch_mode()]
)
def test_elements_are_rows_of_queries(settings: EnvironmentSettings) -> None:
    env = TableEnvironment.create(settings)
    env.get_config().set("table.local-time-zone", "Asia/Tokyo")
    table = env.from_elements([(1, "x", dt.datetime(2020, 1, 1)), (2, "y", None)], ["a", "b", "t"])
    env.create_temporary_view("given", table)
    with (
        executing(parallelism=1),
        env.execute_sql("SELECT b, a + 1, CAST(t AS STRING) FROM given WHERE a < 5").collect() as rows,
    ):
        assert [tuple(row) for row in rows] == [("x", 2, "2020-01-01 00:00:00.000000"), ("y", 3, None)]


def test_a_pandas_frame_is_a_table(env: TableEnvironment) -> None:
    frame = pd.DataFrame({"n": [1, 2], "s": ["x", None], "t": pd.to_datetime(["2020-01-01", None])})
    assert types(env.from_pandas(frame)) == {"n": "BIGINT", "s": "STRING", "t": "TIMESTAMP(9)"}
    assert types(env.from_pandas(frame, ["a", "b", "c"])) == {
        "a": "BIGINT",
        "b": "STRING",
        "c": "TIMESTAMP(9)",
    }
    small = env.from_pandas(frame[["n", "s"]], [DataTypes.INT(), DataTypes.STRING()], splits_num=2)
    assert types(small) == {"n": "INT", "s": "STRING"}
    with executing(parallelism=1), env.sql_query(f"SELECT s, n FROM {small}").execute().collect() as rows:
        assert [tuple(row) for row in rows] == [("x", 1), (None, 2)]


def test_a_frame_that_does_not_fit_is_refused(env: TableEnvironment) -> None:
    frame = pd.DataFrame({"n": [1], "s": ["x"]})
    with pytest.raises(ProgramError, match="a name or a type for each of the 2 columns"):
        env.from_pandas(frame, ["a"])
    with pytest.raises(ProgramError, match="requires columns that fit the schema"):
        env.from_pandas(frame, [DataTypes.INT(), DataTypes.INT()])
    with pytest.raises(ProgramError, match="requires a pandas DataFrame"):
        env.from_pandas([1])  # type: ignore[arg-type]


def changes(streams: StreamExecutionEnvironment) -> Any:
    kind = Types.ROW_NAMED(["k", "n"], [Types.STRING(), Types.LONG()])
    return streams.from_collection(
        [
            Row.of_kind(RowKind.INSERT, "a", 1),
            Row.of_kind(RowKind.INSERT, "b", 5),
            Row.of_kind(RowKind.UPDATE_BEFORE, "a", 1),
            Row.of_kind(RowKind.UPDATE_AFTER, "a", 3),
            Row.of_kind(RowKind.DELETE, "b", 5),
        ],
        kind,
    )


@pytest.mark.parametrize("parallelism", [1, 2, 3])
def test_a_stream_of_changes_is_a_table_that_changes(parallelism: int) -> None:
    with executing(parallelism=parallelism):
        streams = StreamExecutionEnvironment.get_execution_environment()
        env = StreamTableEnvironment.create(streams)
        env.create_temporary_view("changing", env.from_changelog_stream(changes(streams)))
        result = env.execute_sql("SELECT COUNT(*), SUM(n), MAX(k) FROM changing")
        table: list[tuple[Any, ...]] = []
        with result.collect() as rows:
            for row in rows:
                if row.get_row_kind() in (RowKind.INSERT, RowKind.UPDATE_AFTER):
                    table.append(tuple(row))
                else:
                    table.remove(tuple(row))
    assert table == [(1, 3, "a")]


def test_the_mode_of_a_stream_of_changes_is_kept() -> None:
    with executing(parallelism=1):
        streams = StreamExecutionEnvironment.get_execution_environment()
        env = StreamTableEnvironment.create(streams)
        schema = Schema.new_builder().column("n", "BIGINT").column("k", "STRING").build()
        appended = env.from_changelog_stream(changes(streams), schema, ChangelogMode.insert_only())
        assert types(appended) == {"n": "BIGINT", "k": "STRING"}
        with pytest.raises(TypeMismatchError, match=r"requires records of the kind \+I; got -U"):
            list(appended.execute().collect())
        upserted = env.from_changelog_stream(changes(streams), schema, ChangelogMode.upsert())
        with pytest.raises(
            ProgramError, match="requires a primary key, because it gives the new rows of updates alone"
        ):
            upserted.explain()


def test_rows_become_a_pandas_frame(env: TableEnvironment) -> None:
    with executing(parallelism=1):
        given = env.from_elements([(1, "a"), (2, "b"), (3, "a")], ["n", "k"])
        assert given.to_pandas().to_dict("list") == {"n": [1, 2, 3], "k": ["a", "b", "a"]}
        totals = env.sql_query(f"SELECT k, SUM(n) AS n FROM {given} GROUP BY k").to_pandas()
    assert sorted(map(tuple, totals.to_numpy())) == [("a", 4), ("b", 2)]


def test_of_rows_that_change_a_frame_has_those_that_are_left() -> None:
    with executing(parallelism=1):
        streams = StreamExecutionEnvironment.get_execution_environment()
        env = StreamTableEnvironment.create(streams)
        assert env.from_changelog_stream(changes(streams)).to_pandas().to_dict("list") == {
            "k": ["a"],
            "n": [3],
        }
