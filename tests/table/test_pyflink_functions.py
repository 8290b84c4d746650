"""Functions as PyFlink's own tests and its users' programs write them: each answer is that of PyFlink 2.3."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pandas as pd
import pytest

from firesteel.common.errors import TypeMismatchError
from firesteel.common.types import Row
from firesteel.table import (
    AggregateFunction,
    DataTypes,
    TableAggregateFunction,
    TableEnvironment,
)
from firesteel.table.expressions import call, col
from firesteel.table.udf import udaf, udf, udtf


class Longest(AggregateFunction):
    def create_accumulator(self) -> list[str]:
        return [""]

    def accumulate(self, accumulator: list[str], *args: Any) -> None:
        accumulator[0] = max(accumulator[0], args[0], key=len)

    def get_value(self, accumulator: list[str]) -> str:
        return accumulator[0]

    def get_result_type(self) -> Any:
        return DataTypes.STRING()


class FirstTwo(TableAggregateFunction):
    def create_accumulator(self) -> list[str]:
        return []

    def accumulate(self, accumulator: list[str], *args: Any) -> None:
        accumulator.append(args[0])

    def emit_value(self, accumulator: list[str]) -> Any:
        return sorted(accumulator)[:2]

    def get_result_type(self) -> Any:
        return DataTypes.ROW([DataTypes.FIELD("f", DataTypes.STRING())])


def test_aggregate_functions_are_registered_as_they_are(batch: TableEnvironment):
    batch.create_temporary_system_function("longest", Longest())
    batch.create_temporary_function("first_two", FirstTwo())
    words = batch.from_elements([("a",), ("ccc",), ("bb",)], ["w"])
    assert list(words.select(call("longest", col("w"))).execute().collect()) == [Row("ccc")]
    two = words.flat_aggregate(call("first_two", col("w"))).select(col("f"))
    assert sorted(row[0] for row in two.execute().collect()) == ["a", "bb"]


@pytest.mark.parametrize(
    ("kind", "results", "expected"),
    [
        (DataTypes.BIGINT(), [0.5, -1.5, True, None, Decimal("7.9")], [0, -1, 1, None, 7]),
        (DataTypes.INT(), [1, 2.0, 3.999, False, None], [1, 2, 3, 0, None]),
        (DataTypes.BOOLEAN(), [1, 0, 0.0, None, True], [True, False, False, None, True]),
        (DataTypes.DOUBLE(), [1, True, Decimal("0.5"), None, 2.5], [1.0, 1.0, 0.5, None, 2.5]),
        (
            DataTypes.ARRAY(DataTypes.INT()),
            [[1.9, None], [], None, [True], [2]],
            [[1, None], [], None, [1], [2]],
        ),
        (
            DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT()), DataTypes.FIELD("b", DataTypes.STRING())]),
            [Row(1.5, "x"), (2.5, None), None, Row(True, ""), Row(3, "y")],
            [Row(1, "x"), Row(2, None), None, Row(1, ""), Row(3, "y")],
        ),
    ],
)
def test_numbers_of_functions_become_those_of_the_type(
    batch: TableEnvironment, kind: Any, results: list[Any], expected: list[Any]
):
    numbers = batch.from_elements([(n,) for n in range(5)], ["n"])
    given = numbers.select(col("n"), udf(lambda n: results[n], result_type=kind)(col("n")))
    assert [row[1] for row in sorted(given.execute().collect(), key=lambda row: row[0])] == expected
    rows = udtf(lambda n: [results[n]], result_types=[kind]) if not isinstance(expected[0], Row) else None
    if rows is not None:
        flat = numbers.join_lateral(rows(col("n")).alias("x"))
        assert [row[1] for row in sorted(flat.execute().collect(), key=lambda row: row[0])] == expected


def test_an_average_of_whole_numbers_is_one(batch: TableEnvironment):
    class WeightedAverage(AggregateFunction):
        def create_accumulator(self) -> Row:
            return Row(0, 0)

        def accumulate(self, accumulator: Row, *args: Any) -> None:
            accumulator[0] += args[0] * args[1]
            accumulator[1] += args[1]

        def get_value(self, accumulator: Row) -> Any:
            return accumulator[0] / accumulator[1] if accumulator[1] else None

        def get_result_type(self) -> Any:
            return DataTypes.BIGINT()

    values = batch.from_elements(
        [(1, 2, "Lee"), (3, 4, "Jay"), (5, 6, "Jay"), (7, 8, "Lee")], ["v", "w", "name"]
    )
    average = udaf(WeightedAverage())
    means = values.group_by(col("name")).select(col("name"), average(col("v"), col("w")))
    assert sorted(map(tuple, means.execute().collect())) == [("Jay", 4), ("Lee", 5)]


@pytest.mark.parametrize(
    ("kind", "result"),
    [
        (DataTypes.INT(), "9"),
        (DataTypes.STRING(), 9),
        (DataTypes.TINYINT(), 300),
        (DataTypes.BIGINT(), float("nan")),
        (DataTypes.BOOLEAN(), "yes"),
    ],
)
def test_what_pyflink_refuses_as_a_result_is_refused(batch: TableEnvironment, kind: Any, result: Any):
    numbers = batch.from_elements([(1,)], ["n"])
    with pytest.raises(TypeMismatchError, match="has a result that does not fit"):
        numbers.select(udf(lambda n: result, result_type=kind)(col("n"))).execute().wait()


def test_the_function_of_a_wrapper_can_be_tested_alone():
    @udf(result_type=DataTypes.BIGINT())
    def add(one: int, other: int) -> int:
        return one + other

    aggregate = Longest()
    assert add._func(1, 2) == 3
    assert udaf(aggregate, result_type=DataTypes.STRING())._func is aggregate


NESTED = DataTypes.ROW([
    DataTypes.FIELD("a", DataTypes.INT()),
    DataTypes.FIELD("b", DataTypes.ROW([
        DataTypes.FIELD("c", DataTypes.INT()), DataTypes.FIELD("d", DataTypes.INT())
    ])),
])  # fmt: skip


def test_fields_of_a_row_are_columns_of_a_whole_frame(batch: TableEnvironment):
    def added(frame: pd.DataFrame) -> pd.DataFrame:
        assert list(frame.columns) == ["a", "c", "d"]
        return pd.concat([frame.a, frame.c + frame.d], axis=1)

    kind = DataTypes.ROW([DataTypes.FIELD("x", DataTypes.BIGINT()), DataTypes.FIELD("y", DataTypes.BIGINT())])
    table = batch.from_elements([(1, Row(2, 3)), (2, Row(1, 3))], NESTED)
    sums = table.map(udf(added, result_type=kind, func_type="pandas"))
    assert sorted(map(tuple, sums.execute().collect())) == [(1, 5), (2, 4)]


@udtf(result_types=[DataTypes.INT(), DataTypes.STRING()])
def split(given: Row) -> Any:
    for part in given.b.split(","):
        yield given.a, part


def test_a_table_function_beside_whole_rows(batch: TableEnvironment):
    kind = DataTypes.ROW([DataTypes.FIELD("a", DataTypes.INT()), DataTypes.FIELD("b", DataTypes.STRING())])
    table = batch.from_elements([(1, "2,3"), (2, "1")], kind)
    both = table.join_lateral(split.alias("c", "d")).left_outer_join_lateral(split.alias("e", "f"))
    assert both.get_resolved_schema().get_column_names() == ["a", "b", "c", "d", "e", "f"]
    flat = table.flat_map(split).alias("a", "b").join_lateral(split.alias("c", "d"))
    assert sorted(map(tuple, flat.execute().collect())) == [
        (1, "2", 1, "2"),
        (1, "3", 1, "3"),
        (2, "1", 2, "1"),
    ]
    assert len(list(both.execute().collect())) == 5
