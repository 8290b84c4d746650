"""Statement sets that are changed between two runs: what is still there goes on from its state."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import StateMismatchError
from firesteel.connectors.tables.registry import register
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing import ManualClock, executing
from tests.recovery.jobs import Watch
from tests.recovery.sql.jobs import ROWS, Act, Table, UnsteadyConnector, row
from tests.recovery.sql.test_rescaling import Stopping

LOW = "SELECT k, COUNT(*), SUM(v) FROM source WHERE v < 11 GROUP BY k"
HIGH = "SELECT k, COUNT(*), SUM(v) FROM source WHERE v >= 11 GROUP BY k"
OTHERS = "SELECT k, COUNT(*), SUM(v) FROM other WHERE v < 11 GROUP BY k"
BOTH = {"low": LOW, "high": HIGH}


def run(
    home: Path,
    inserts: Mapping[str, str],
    act: Act | None = None,
    parallelism: int = 2,
    state: str = "state",
    plan: str | None = None,
    **more: Any,
) -> None:
    """Run a statement set, by the names of its tables, until it ends; with `plan` as that plan file has it."""
    register(UnsteadyConnector())
    watch = Watch(act or (lambda handle, stats: None))
    more = {"clock": ManualClock(1_000_000), "epoch_records": 11, **more}
    with executing(state_dir=str(home / state), parallelism=parallelism, listener=watch, **more):
        env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        env.get_config().set("restart-strategy.type", "none").set("pipeline.name", "sets")
        for source in ("source", "other"):
            env.execute_sql(
                f"CREATE TABLE {source} (k BIGINT, v BIGINT, ts TIMESTAMP(3)) "
                f"WITH ('connector' = 'unsteady', 'marks' = '{home}', 'failures' = '')"
            )
        statements = []
        for name, query in inserts.items():
            env.execute_sql(
                f"CREATE TABLE {name} (k BIGINT, n BIGINT, s BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH "
                f"('connector' = 'jdbc', 'url' = 'jdbc:sqlite:{home / 'result.db'}', 'table-name' = '{name}')"
            )
            statements.append(f"INSERT INTO {name} {query};")
        execute = "EXECUTE" if plan is None else f"COMPILE AND EXECUTE PLAN '{home / plan}' FOR"
        job = env.execute_sql(f"{execute} STATEMENT SET BEGIN {' '.join(statements)} END").job
        assert job is not None
        watch.follow(job).wait(120)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return the directory of a job, with empty tables for its answers."""
    with sqlite3.connect(tmp_path / "result.db") as connection:
        for name in ("low", "high", "third"):
            connection.execute(f"CREATE TABLE {name} (k INTEGER PRIMARY KEY, n INTEGER, s INTEGER)")
    return tmp_path


def stopped(home: Path, inserts: Mapping[str, str] = BOTH) -> None:
    """Run a statement set for three epochs."""
    run(home, inserts, Stopping(3, home / "savepoints"))


def table(home: Path, name: str) -> Table:
    with sqlite3.connect(home / "result.db") as connection:
        return Counter(connection.execute(f"SELECT * FROM {name}"))


def answer(low: int, high: int) -> Table:
    """Return the answer over all rows whose values are in a range."""
    values: dict[int, list[int]] = {}
    for key, value, _ in map(row, range(ROWS)):
        if low <= value < high:
            values.setdefault(key, []).append(value)
    return Counter((key, len(own), sum(own)) for key, own in values.items())


def test_inserts_of_one_form_keep_their_state_in_another_order(home: Path) -> None:
    stopped(home)
    run(home, dict(reversed(BOTH.items())))
    assert table(home, "low") == answer(-99, 11)
    assert table(home, "high") == answer(11, 99)


@pytest.mark.parametrize("parallelism", [1, 3])
def test_a_further_sink_of_the_same_form_begins_empty_wherever_it_stands(
    home: Path, parallelism: int
) -> None:
    stopped(home)
    query = LOW.replace("v < 11", "v < 5")
    run(home, {"third": query, **BOTH}, parallelism=parallelism)
    assert table(home, "low") == answer(-99, 11)
    assert table(home, "high") == answer(11, 99)
    late = table(home, "third")
    assert late.total()
    assert _counted(late) < _counted(answer(-99, 5))


def test_a_further_sink_of_an_aggregate_gets_its_changes(home: Path) -> None:
    stopped(home, {"low": LOW})
    run(home, {"third": LOW, "low": LOW})
    assert table(home, "low") == table(home, "third") == answer(-99, 11)


def test_a_savepoint_goes_on_in_another_order_in_another_directory(home: Path) -> None:
    stopped(home)
    [savepoint] = (home / "savepoints").iterdir()
    run(home, dict(reversed(BOTH.items())), state="elsewhere", restore_from=str(savepoint))
    assert table(home, "low") == answer(-99, 11)
    assert table(home, "high") == answer(11, 99)


def test_a_column_that_is_computed_behind_an_aggregate_is_no_change_of_it(home: Path) -> None:
    stopped(home)
    run(home, {"low": LOW.replace("SUM(v)", "SUM(v) * 10 + 1"), "high": HIGH})
    kept = table(home, "low")
    assert Counter((key, n, (s - 1) // 10) for key, n, s in kept) == answer(-99, 11)
    assert table(home, "high") == answer(11, 99)


def test_a_table_that_only_a_new_insert_reads_begins_at_its_start(home: Path) -> None:
    stopped(home, {"low": LOW})
    run(home, {"third": OTHERS, "low": LOW})
    assert table(home, "low") == table(home, "third") == answer(-99, 11)


def test_a_filter_of_one_insert_may_change(home: Path) -> None:
    stopped(home)
    run(home, {"high": HIGH, "low": LOW.replace("v < 11", "v < -1")})
    assert _counted(table(home, "low")) < _counted(answer(-99, 11))
    assert table(home, "high") == answer(11, 99)


def test_what_could_be_one_of_several_is_refused_with_the_difference_of_the_plans(home: Path) -> None:
    stopped(home)
    with pytest.raises(StateMismatchError) as error:
        run(home, {"low": LOW.replace("11", "12"), "high": HIGH.replace("11", "12")})
    lines = str(error.value).split("\n")
    group = "GlobalGroupAggregate(groupBy=[k], select=[k, COUNT(*) AS EXPR$1, SUM(v) AS EXPR$2])"
    assert lines.count(f"    - {group}") == lines.count(f"    + {group}") == 2


def test_the_difference_shows_what_another_function_is_in_the_plan(home: Path) -> None:
    stopped(home, {"low": LOW})
    with pytest.raises(StateMismatchError) as error:
        run(home, {"low": LOW.replace("SUM", "MAX")})
    lines = str(error.value).split("\n")
    group = "GlobalGroupAggregate(groupBy=[k], select=[k, COUNT(*) AS EXPR$1, {}(v) AS EXPR$2])"
    assert f"    - {group.format('SUM')}" in lines
    assert f"    + {group.format('MAX')}" in lines


def test_a_compiled_plan_goes_on_from_the_state_of_its_statements_and_they_from_its(home: Path) -> None:
    stopped(home)
    run(home, BOTH, Stopping(2, home / "savepoints"), plan="plan.json")
    run(home, BOTH)
    assert table(home, "low") == answer(-99, 11)
    assert table(home, "high") == answer(11, 99)


def test_a_plan_pins_the_ids_of_its_operators(home: Path) -> None:
    run(home, {"low": LOW}, Stopping(1, home / "savepoints"), state="other", plan="plan.json")
    plan = json.loads((home / "plan.json").read_text())
    plan["operatorIds"] = pinned = [f"{number:032x}" for number, _ in enumerate(plan["operatorIds"])]
    (home / "plan.json").write_text(json.dumps(plan))
    run(home, {"low": LOW}, Stopping(2, home / "savepoints"), plan="plan.json")
    last = ManifestReader(Storage.of(home / "state" / "sets")).latest()
    assert last is not None
    assert {*last.operators} == {*pinned}
    run(home, {"low": LOW}, plan="plan.json")
    assert table(home, "low") == answer(-99, 11)


def _counted(rows: Table) -> int:
    return sum(row[1] for row in rows)
