"""The queries of TPC-H over small tables: batch and streaming have DuckDB's rows, and the part of the benchmark."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest

from bench.part import LateError
from bench.process import printed
from bench.sql_systems import Runtime
from bench.summary import SUMMARIES
from bench.tpch import part
from bench.tpch.answers import Rows, as_json, differences
from bench.tpch.data import definitions, query
from bench.tpch.part import PARTS, TIMEOUT_SECONDS
from bench.tpch.report import ratios, render, slowest, title
from firesteel.relational.physical import runtime_filters
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import executing
from tests.bench.tpch.small_tables import QUERIES, write
from tests.queries.tables import table_of

RUNS: Final = {
    title(1, number, system): [{"seconds": seconds, "cpu": 2 * seconds, "bytes": 1 << 30}]
    for system, seconds in (("Firesteel", 2.0), ("Flink SQL", 8.0), ("Spark SQL", 3.0))
    for number in (1, 6)
}
_SORTED: Final = re.compile(r"ORDER BY[^()]*$")


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Rows]]:
    folder = tmp_path_factory.mktemp("tpch")
    return folder, {number: as_json(rows) for number, rows in write(folder).items()}


def session(folder: Path, *, batch: bool) -> TableEnvironment:
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    env = TableEnvironment.create(settings)
    env.get_config().set("table.local-time-zone", "UTC")
    env.get_config().set("table.optimizer.join-reorder-enabled", "true")
    for statement in definitions(folder):
        env.execute_sql(statement)
    return env


def answered(env: TableEnvironment, sql: str) -> Rows:
    return as_json(table_of(env, sql).elements())


def test_every_query_has_rows(small: tuple[Path, dict[str, Rows]]) -> None:
    assert [number for number, rows in small[1].items() if not rows] == []
    assert list(small[1]) == [str(number) for number in range(1, 23)]


@pytest.mark.parametrize("number", QUERIES)
def test_batch_has_duckdbs_rows(number: str, small: tuple[Path, dict[str, Rows]]) -> None:
    folder, answers = small
    with executing(parallelism=int(number) % 3 + 1):
        found = answered(session(folder, batch=True), QUERIES[number])
    assert differences([found, answers[number]]) == []


@pytest.mark.parametrize("threshold", ["-1", "1000"])
@pytest.mark.parametrize("number", ["2", "4", "9", "13", "16", "21", "22"])
def test_batch_has_the_same_rows_wherever_sides_of_joins_are(
    number: str, threshold: str, small: tuple[Path, dict[str, Rows]]
) -> None:
    folder, answers = small
    env = session(folder, batch=True)
    env.get_config().set("table.optimizer.join.broadcast-threshold", threshold)
    env.get_config().set("execution.batch.adaptive.auto-parallelism.enabled", "false")
    with executing(parallelism=3):
        assert differences([answered(env, QUERIES[number]), answers[number]]) == []


@pytest.mark.parametrize("number", ["2", "17", "20"])
def test_batch_has_the_same_rows_if_rows_without_partners_are_left_out_first(
    number: str, small: tuple[Path, dict[str, Rows]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, answers = small
    env = session(folder, batch=True)
    env.get_config().set("execution.batch.adaptive.auto-parallelism.enabled", "false")
    before = env.explain_sql(QUERIES[number])
    monkeypatch.setattr(runtime_filters, "_ENOUGH", 0)
    monkeypatch.setattr(runtime_filters, "_GAIN", 1)
    assert env.explain_sql(QUERIES[number]).count("LeftSemiJoin") > before.count("LeftSemiJoin")
    with executing(parallelism=2):
        assert differences([answered(env, QUERIES[number]), answers[number]]) == []


@pytest.mark.long
@pytest.mark.parametrize("number", QUERIES)
def test_streaming_has_the_same_rows(number: str, small: tuple[Path, dict[str, Rows]]) -> None:
    folder, answers = small
    unsorted = _SORTED.sub("", QUERIES[number]) if "LIMIT" not in QUERIES[number] else QUERIES[number]
    with executing(parallelism=int(number) % 3 + 1, epoch_records=(150, 700)[int(number) % 2]):
        found = answered(session(folder, batch=False), unsorted)
    assert differences([found, answers[number]]) == []


def test_numbers_of_all_types_are_alike_and_quotients_may_differ_in_their_last_digits() -> None:
    assert differences([[["a", 1.0], ["b", None]], [["b", None], ["a", 1.000001]]]) == []
    assert differences([[["a", 1.0]], [["a", 1.1]]]) == ["['a', 1.0] is not ['a', 1.1]"]
    assert differences([[["a", 1.0]], []]) == ["1 rows are not 0"]


def test_the_ratio_is_that_of_the_seconds_where_both_were_measured() -> None:
    assert ratios(RUNS, 1, "Spark SQL") == {1: 1.5, 6: 1.5}
    assert slowest(RUNS, 1, "Flink SQL") == (1, 4.0)
    assert slowest(RUNS, 10, "Flink SQL") is None


def test_the_section_has_a_row_for_each_query() -> None:
    lines = "\n".join(render(RUNS, 1))
    assert "q6" in lines
    assert "q7" not in lines
    assert "q6" not in "\n".join(render(RUNS, 10))


def test_a_system_that_takes_too_long_counts_as_that_long(monkeypatch: pytest.MonkeyPatch) -> None:
    def finished(system: Runtime, _: object) -> dict[str, Any]:
        if system.name in late:
            raise LateError(system.title)
        return {"seconds": 2.0, "cpu": 4.0, "bytes": 1 << 30, "rows": [["a", 1.0]]}

    monkeypatch.setattr(part, "_finished", finished)
    monkeypatch.setattr(part, "folder", lambda _: Path())
    late = {"flink"}
    runs = {name: [figures] for name, figures in part.measure(10, 5, 1).items()}
    assert ratios(runs, 10, "Flink SQL") == {5: TIMEOUT_SECONDS / 2}
    [line] = [line for line in render(runs, 10) if line.startswith("| q5 ")]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[:6] == ["q5", "2.00", f"> {TIMEOUT_SECONDS}.00", f"> {TIMEOUT_SECONDS / 2}", "2.00", "1.0"]
    assert cells[6:] == ["4.0", "", "4.0", "1.0", "", "1.0"]
    late = {"firesteel"}
    with pytest.raises(LateError):
        part.measure(10, 5, 1)


def test_the_summary_names_the_means() -> None:
    rows: Any = SUMMARIES["tpch"](RUNS)
    assert [row[:2] for row in rows] == [
        ["TPC-H, scale 1: geometric mean of 2 queries", "4.0 times Flink SQL"],
        ["TPC-H, scale 1: geometric mean of 2 queries", "1.5 times Spark SQL"],
        ["TPC-H, scale 1, the query nearest to Spark SQL: q1", "0.7 times its time"],
    ]


def test_every_query_is_a_case_at_both_scales() -> None:
    assert [(part.name, [case.name for case in part.cases]) for part in PARTS] == [
        ("tpch", [f"q{number} scale 1" for number in range(1, 23)]),
        ("tpch-10", [f"q{number} scale 10" for number in range(1, 23)]),
    ]


def test_all_systems_read_one_text(small: tuple[Path, dict[str, Rows]]) -> None:
    folder, _ = small
    assert all(query(folder, int(number)).strip() for number in QUERIES if number not in ("11", "15"))


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("system", ["firesteel", pytest.param("spark", marks=pytest.mark.thorough)])
def test_a_query_on_spark(system: str, small: tuple[Path, dict[str, Rows]]) -> None:
    folder, answers = small
    found = printed(system, ["-m", "bench.tpch.program", system, folder, 5], TIMEOUT_SECONDS)
    assert differences([found["rows"], answers["5"]]) == []
    assert found["seconds"] > 0 < found["cpu"]
