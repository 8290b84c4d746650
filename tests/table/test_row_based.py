"""`Table.map` and its like: functions that get whole rows, or give several columns or rows.

The operations are in flink/row_based.py, Flink's answers beside them, with the program that has asked for them.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pytest

from firesteel.common.errors import FiresteelError, ProgramError, TypeMismatchError, UnsupportedError
from firesteel.common.types import Row
from firesteel.datastream.pyflink_alias import install_pyflink_alias
from firesteel.table import EnvironmentSettings, Table, TableAggregateFunction, TableEnvironment
from firesteel.table.expressions import col
from firesteel.table.udf import udaf, udf, udtaf, udtf
from firesteel.testing import executing
from tests.queries.interrupted import Start, killed, rescaled
from tests.queries.tables import table_of
from tests.queries.together import started, tables

FLINK = Path(__file__).parent / "flink"
NOT_PLANNED = {"aggregate: computed key", "flat: computed key", "flat: changes"}
"""What Flink gives columns to, and cannot plan."""

ANSWERS: dict[str, dict[str, Any]] = json.loads((FLINK / "row_based.json").read_text())


@pytest.fixture(params=[False, True], ids=["streaming", "batch"])
def table(request: pytest.FixtureRequest) -> Table:
    settings = (
        EnvironmentSettings.in_batch_mode() if request.param else EnvironmentSettings.in_streaming_mode()
    )
    return TableEnvironment.create(settings).from_elements([(1, "ab"), (2, None), (3, "c")], ["n", "s"])


def rows(table: Table) -> list[tuple[Any, ...]]:
    with executing(parallelism=2, epoch_records=2):
        found = table_of(table._environment, f"SELECT * FROM {table}").elements()
        return sorted(found, key=str)


def names(table: Table) -> list[tuple[str, str]]:
    schema = table.get_resolved_schema()
    kinds = [str(kind) for kind in schema.get_column_data_types()]
    return list(zip(schema.get_column_names(), kinds, strict=True))


def test_a_row_becomes_a_row(table: Table) -> None:
    swapped = table.map(udf(lambda row: Row(row.s, row.n + row[0]), result_type="ROW<x STRING, y BIGINT>"))
    assert [name for name, _ in names(swapped)] == ["x", "y"]
    assert rows(swapped) == [("ab", 2), ("c", 6), (None, 4)]


def test_a_row_becomes_a_value(table: Table) -> None:
    lengths = table.map(udf(lambda row: len(row), result_type="INT"))
    assert [name for name, _ in names(lengths)] == ["f0"]
    assert rows(lengths) == [(2,), (2,), (2,)]


def test_rows_become_a_frame(table: Table) -> None:
    def both(frame: pd.DataFrame) -> pd.DataFrame:
        return pd.DataFrame({"a": frame["n"] * 2, "b": frame["s"]})

    doubled = table.map(udf(both, result_type="ROW<a BIGINT, b STRING>", func_type="pandas"))
    assert rows(doubled) == [(2, "ab"), (4, None), (6, "c")]


def test_a_row_becomes_rows(table: Table) -> None:
    letters = table.flat_map(
        udtf(lambda row: [(row.n, x) for x in row.s or ""], result_types=["BIGINT", "STRING"])
    )
    assert [name for name, _ in names(letters)] == ["f0", "f1"]
    assert rows(letters) == [(1, "a"), (1, "b"), (3, "c")]


@pytest.mark.parametrize(
    ("method", "given"),
    [
        ("map", udtf(lambda row: [], result_types="INT")),
        ("flat_map", udf(lambda row: 1, result_type="INT")),
        ("map", len),
    ],
)
def test_another_kind_of_function_is_refused(table: Table, method: str, given: Any) -> None:
    with pytest.raises(ProgramError, match=rf"{method}.*requires a"):
        getattr(table, method)(given)


@pytest.fixture(scope="module")
def asked() -> Iterator[ModuleType]:
    """The module of the operations that Flink was asked about."""
    install_pyflink_alias()
    sys.path.insert(0, str(FLINK))
    yield importlib.import_module("row_based")
    sys.path.remove(str(FLINK))


@pytest.mark.parametrize("batch", [False, True], ids=["streaming", "batch"])
@pytest.mark.parametrize("case", ANSWERS)
def test_an_operation_gives_what_it_gives_in_flink(
    case: str, batch: bool, asked: ModuleType, tmp_path: Path
) -> None:
    shared, wanted = importlib.import_module("tables"), ANSWERS[case]
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings)
    make = asked.cases(env, shared.visits(env, tmp_path))[case]
    if "error" in wanted and case not in NOT_PLANNED:
        with pytest.raises(FiresteelError):
            make()
        return
    made = make()
    if "columns" in wanted:
        assert made.get_resolved_schema().get_column_names() == wanted["columns"]
    if "rows" in wanted and not (batch and "nothing" in case):
        assert sorted(shared.shown(list(row)) for row in rows(made)) == wanted["rows"]


class Dearest(TableAggregateFunction):
    """The two greatest values; it cannot take any back."""

    def create_accumulator(self) -> list[int]:
        return []

    def accumulate(self, accumulator: list[int], *args: Any) -> None:
        accumulator.append(args[0])

    def emit_value(self, accumulator: list[int]) -> Any:
        return sorted(accumulator)[-2:]

    def get_result_type(self) -> str:
        return "BIGINT"


class Changing(Dearest):
    """The same, which can take values back."""

    def retract(self, accumulator: list[int], *args: Any) -> None:
        accumulator.remove(args[0])


class Wide(Dearest):
    """One that gives too many columns."""

    def emit_value(self, accumulator: list[int]) -> Any:
        yield 1, 2


def test_values_that_change_need_what_takes_them_back(table: Table) -> None:
    sums = table.group_by(col("s")).select(col("s"), col("n").sum.alias("m"))
    dearest = sums.flat_aggregate(udtaf(Dearest())(col("m"))).select(col("f0"))
    if "batch" in str(table._environment._session.config.get("execution.runtime-mode", "")).lower():
        assert rows(dearest) == [(2,), (3,)]
        return
    with pytest.raises(UnsupportedError, match=r"Dearest requires the method retract\(\)"):
        rows(dearest)


def test_what_a_table_aggregate_function_gives_is_checked(table: Table) -> None:
    wide = table.flat_aggregate(udtaf(Wide())(col("n"))).select(col("*"))
    with pytest.raises(TypeMismatchError, match=r"Wide .*requires rows of 1 values \(f0\)"):
        rows(wide)


def test_a_frame_is_aggregated(table: Table) -> None:
    spread = udaf(lambda frame: frame["n"].max() - frame["n"].min(), result_type="BIGINT", func_type="pandas")
    found = table.aggregate(spread.alias("d")).select(col("d"))
    assert rows(found) == [(2,)]


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda: udtaf(len, result_type="INT"), "extends TableAggregateFunction"),
        (lambda: udtaf(Dearest, result_type="INT"), "extends TableAggregateFunction"),
        (lambda: udtaf(Dearest(), func_type="pandas"), "'general'"),
        (lambda: udaf(Dearest(), result_type="INT"), "extends AggregateFunction"),
    ],
)
def test_what_is_no_table_aggregate_function_is_refused(make: Any, part: str) -> None:
    with pytest.raises(ProgramError, match=part):
        make()


def changing() -> TableEnvironment:
    """Return a session in which two queries of table aggregate functions have names."""
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    given = env.from_elements([(number % 7, number * 31 % 100) for number in range(200)], ["k", "v"])
    groups = given.group_by(col("k")).flat_aggregate(udtaf(Dearest())(col("v")).alias("m"))
    env.create_temporary_view("dearest", groups.select(col("k"), col("m")))
    sums = given.group_by(col("k")).select(col("v").sum.alias("s"))
    env.create_temporary_view(
        "greatest", sums.flat_aggregate(udtaf(Changing())(col("s")).alias("m")).select(col("m"))
    )
    return env


@pytest.mark.parametrize("interrupted", [killed, rescaled])
def test_rows_of_groups_survive(
    tmp_path: Path, interrupted: Callable[[Path, Start], None], capfd: pytest.CaptureFixture[str]
) -> None:
    queries = [{"query": "SELECT k, m FROM dearest"}, {"query": "SELECT m FROM greatest"}]
    interrupted(tmp_path, lambda: started(changing(), queries))
    groups = {k: [number * 31 % 100 for number in range(200) if number % 7 == k] for k in range(7)}
    found = tables(changing(), queries, capfd.readouterr().out)
    dearest = [(str(k), str(m)) for k, values in groups.items() for m in sorted(values)[-2:]]
    assert sorted(map(tuple, found[0])) == sorted(dearest)
    assert sorted(map(tuple, found[1])) == [(str(m),) for m in sorted(map(sum, groups.values()))[-2:]]
