"""Compiled plans: what is written is what is read, and what is read gives the tables that the statement gives."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import SqlError
from firesteel.common.places import Source
from firesteel.control import JobHandle
from firesteel.graph import GraphBuilder
from firesteel.relational.physical.connecting import registered
from firesteel.relational.planning import compiled
from firesteel.relational.stored import stored_plan
from firesteel.sql.binding.statements import bind_statement_set
from firesteel.sql.script import parse_statement
from firesteel.sql.statements.queries import StatementSet
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.table.running import plan_options
from firesteel.testing import executing
from tests.queries.tables import FUNCTIONS, ONE_SUBTASK, compared, expected, session, texts
from tests.queries.together import NEXT, NULL, sample, tables


def statements(env: TableEnvironment, chosen: list[dict[str, Any]]) -> str:
    """Return a statement set that prints the answers of queries; its tables are made."""
    inserts = []
    for number, given in enumerate(chosen):
        query = env.sql_query(given["query"])
        env.create_temporary_view(f"answer_{number}", query)
        env.execute_sql(
            f"CREATE TABLE printed_{number} (cells STRING) "
            f"WITH ('connector' = 'print', 'print-identifier' = 'q{number}')"
        )
        names = query.get_resolved_schema().get_column_names()
        cells = f" || '{NEXT}' || ".join(f"COALESCE({text}, '{NULL}')" for text in texts(names))
        inserts.append(f"INSERT INTO printed_{number} SELECT {cells} FROM answer_{number};")
    return f"STATEMENT SET BEGIN {' '.join(inserts)} END"


def stored(answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the queries whose plans can be stored: those that call no function of the program's."""
    calls = re.compile(rf"\b({'|'.join(FUNCTIONS)})\(", re.IGNORECASE)
    return [given for given in answers if not calls.search(given["query"])]


@pytest.mark.parametrize("batch", [False, True], ids=["streaming", "batch"])
def test_what_is_written_is_what_is_read(batch: bool) -> None:
    env = session(batch=batch, options={ONE_SUBTASK: "true"})
    options = plan_options(env._session)
    for given in stored(compared(batch=batch)):
        text = f"EXECUTE {statements(env, [given])}"
        statement = parse_statement(text)
        assert isinstance(statement, StatementSet)
        plans = bind_statement_set(statement, Source(text), env._session.catalog)
        made = compiled(plans, GraphBuilder(), options, registered(options))
        read = stored_plan(made.json, "a plan", registered(options), env._session.resolved)
        assert read == made, given["query"]
        assert read.json == made.json
        env.drop_temporary_view("answer_0")
        env.execute_sql("DROP TABLE printed_0")


def test_plans_give_what_their_statements_give(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    chosen = sample(stored(compared()))
    with executing(parallelism=2, epoch_records=40):
        env = session()
        env.execute_sql(f"COMPILE PLAN '{tmp_path}/plan.json' FOR {statements(env, chosen)}")
        job = env.execute_sql(f"EXECUTE PLAN '{tmp_path}/plan.json'").job
        assert isinstance(job, JobHandle)
        job.wait(300)
        assert tables(env, chosen, capfd.readouterr().out) == [expected(given) for given in chosen]


QUERY = "INSERT INTO sums SELECT k, COUNT(*), SUM(v) FROM given GROUP BY k"


@pytest.fixture
def env(tmp_path: Path) -> TableEnvironment:
    """Return a session with a table of rows in a file, and one for sums."""
    made = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    (tmp_path / "rows").mkdir()
    (tmp_path / "rows" / "one.csv").write_text("a,1\na,2\nb,5\n")
    made.execute_sql(
        f"CREATE TABLE given (k STRING, v BIGINT) "
        f"WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/rows', 'format' = 'csv')"
    )
    made.execute_sql(
        "CREATE TABLE sums (k STRING, n BIGINT, s BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'print')"
    )
    return made


def printed(env: TableEnvironment, statement: str, capfd: pytest.CaptureFixture[str]) -> list[str]:
    """Return the lines that a job prints."""
    with executing(parallelism=1):
        job = env.execute_sql(statement).job
        assert job is not None
        job.wait(60)
    return sorted(capfd.readouterr().out.split())


SUMS = ["+I[a,", "+I[b,", "1,", "2,", "3]", "5]"]


def test_a_plan_runs_without_the_tables_that_it_was_made_of(
    env: TableEnvironment, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    env.execute_sql(f"COMPILE PLAN '{tmp_path}/plan.json' FOR {QUERY}")
    for table in ("given", "sums"):
        env.execute_sql(f"DROP TABLE {table}")
    assert printed(env, f"EXECUTE PLAN '{tmp_path}/plan.json'", capfd) == SUMS


def test_a_plan_is_compiled_and_executed(
    env: TableEnvironment, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert printed(env, f"COMPILE AND EXECUTE PLAN '{tmp_path}/plan.json' FOR {QUERY}", capfd) == SUMS
    again = QUERY.replace("SUM(v)", "MAX(v)")
    assert printed(env, f"COMPILE AND EXECUTE PLAN '{tmp_path}/plan.json' FOR {again}", capfd) == SUMS


def test_a_plan_is_replaced_only_if_that_is_wanted(env: TableEnvironment, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    again = QUERY.replace("SUM(v)", "MAX(v)")
    env.execute_sql(f"COMPILE PLAN '{path}' FOR {QUERY}")
    first = path.read_text()
    with pytest.raises(SqlError, match=r"the plan file '.*plan.json' is there already"):
        env.execute_sql(f"COMPILE PLAN '{path}' FOR {again}")
    env.execute_sql(f"COMPILE PLAN '{path}' IF NOT EXISTS FOR {again}")
    assert path.read_text() == first
    env.execute_sql("SET 'table.plan.force-recompile' = 'true'")
    env.execute_sql(f"COMPILE PLAN '{path}' IF NOT EXISTS FOR {again}")
    assert path.read_text() == first
    env.execute_sql(f"COMPILE PLAN '{path}' FOR {again}")
    assert "MAX(v)" in path.read_text()


def test_a_table_that_has_changed_is_refused(env: TableEnvironment, tmp_path: Path) -> None:
    env.execute_sql(f"COMPILE PLAN '{tmp_path}/plan.json' FOR {QUERY}")
    env.execute_sql("DROP TABLE given")
    env.execute_sql("CREATE TABLE given (k STRING, v INT) WITH ('connector' = 'datagen')")
    with pytest.raises(SqlError, match=r"requires table '.*given' with the columns \(k STRING, v BIGINT\)"):
        env.execute_sql(f"EXECUTE PLAN '{tmp_path}/plan.json'")


@pytest.mark.parametrize(
    "change",
    [
        {"format": 0},
        {"nodes": 3},
        {"plans": [{"node": 99}]},
        {"operatorIds": None},
        {"nodes": [{"id": 1, "operator": {"$": "os:system"}}]},
        {"nodes": [{"id": 1, "operator": {"$": "common.errors:ProgramError"}}]},
        {"nodes": [{"id": 1, "operator": {"$": "relational.physical.nodes:Values", "more": 1}}]},
    ],
)
def test_what_is_no_plan_is_refused(env: TableEnvironment, tmp_path: Path, change: dict[str, Any]) -> None:
    path = tmp_path / "plan.json"
    env.execute_sql(f"COMPILE PLAN '{path}' FOR {QUERY}")
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(SqlError, match="requires a plan that COMPILE PLAN has made in this version"):
        env.execute_sql(f"EXECUTE PLAN '{path}'")


def test_a_plan_that_is_missing_is_named(env: TableEnvironment, tmp_path: Path) -> None:
    with pytest.raises(SqlError, match=r"the plan file '.*none.json' is missing") as error:
        env.execute_sql(f"EXECUTE PLAN '{tmp_path}/none.json'")
    assert (error.value.line, error.value.column) == (1, 1)


def test_a_plan_of_the_other_mode_is_refused(env: TableEnvironment, tmp_path: Path) -> None:
    env.execute_sql(f"COMPILE PLAN '{tmp_path}/plan.json' FOR {QUERY}")
    env.execute_sql("SET 'execution.runtime-mode' = 'batch'")
    with pytest.raises(SqlError, match="requires STREAMING mode, for which it was compiled; got BATCH"):
        env.execute_sql(f"EXECUTE PLAN '{tmp_path}/plan.json'")
