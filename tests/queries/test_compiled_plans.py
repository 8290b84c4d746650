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
from firesteel.functions.columns.python_functions import UserFunction
from firesteel.graph import GraphBuilder
from firesteel.relational.physical.connecting import registered
from firesteel.relational.planning import compiled
from firesteel.relational.stored import stored_plan
from firesteel.sql.binding.statements import bind_statement_set
from firesteel.sql.script import parse_statement
from firesteel.sql.statements.queries import StatementSet
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.table.catalog.functions import ImportedFunction
from firesteel.table.running import plan_options
from firesteel.table.udf import udf
from firesteel.testing import executing
from tests.queries.tables import FUNCTIONS, ONE_SUBTASK, compared, expected, session, texts
from tests.queries.together import NEXT, NULL, sample, tables
from tests.table.test_options import Greetings


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


CALLS = re.compile(rf"\b({'|'.join(FUNCTIONS)})\(", re.IGNORECASE)
"""A call of a function of the user's: every plan that is read has other objects for these."""


def named(env: TableEnvironment) -> TableEnvironment:
    """Let the functions of a session be those that statements name."""
    for name in FUNCTIONS:
        env.drop_temporary_function(name)
        env.execute_sql(
            f"CREATE TEMPORARY FUNCTION {name} AS 'tests.queries.named_functions.{name}' LANGUAGE PYTHON"
        )
    return env


@pytest.mark.parametrize("batch", [False, True], ids=["streaming", "batch"])
def test_what_is_written_is_what_is_read(batch: bool, thorough: bool) -> None:
    env = named(session(batch=batch, options={ONE_SUBTASK: "true"}))
    options = plan_options(env._session)
    every = compared(batch=batch)
    for given in every if thorough else sample(every):
        text = f"EXECUTE {statements(env, [given])}"
        statement = parse_statement(text)
        assert isinstance(statement, StatementSet)
        plans = bind_statement_set(statement, Source(text), env._session.catalog)
        made = compiled(plans, GraphBuilder(), options, registered(options))
        read = stored_plan(made.json, "a plan", registered(options), env._session.resolved, imported)
        assert CALLS.search(given["query"]) or read == made, given["query"]
        assert read.json == made.json
        env.drop_temporary_view("answer_0")
        env.execute_sql("DROP TABLE printed_0")


def test_plans_give_what_their_statements_give(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    chosen = sample(compared())
    with executing(parallelism=2, epoch_records=40):
        env = named(session())
        env.execute_sql(f"COMPILE PLAN '{tmp_path}/plan.json' FOR {statements(env, chosen)}")
        job = env.execute_sql(f"EXECUTE PLAN '{tmp_path}/plan.json'").job
        assert isinstance(job, JobHandle)
        job.wait(300)
        assert tables(env, chosen, capfd.readouterr().out) == [expected(given) for given in chosen]


def imported(target: str, name: str) -> UserFunction:
    return ImportedFunction(target, name).signature


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


HERE = "tests.queries.test_compiled_plans"
shout = udf(lambda text: f"{text}!", input_types=["STRING"], result_type="STRING")
"""A function that statements name."""

PROVIDER = "'provider' = 'python', 'function' = 'tests.table.models:Sums', 'plus' = '100'"
OUTPUT = "OUTPUT (total BIGINT, asked BIGINT)"
OF_THE_SESSION = (
    f"CREATE FUNCTION shout AS '{HERE}.shout' LANGUAGE PYTHON",
    f"CREATE TEMPORARY SYSTEM FUNCTION twice AS '{HERE}.shout' LANGUAGE PYTHON",
    f"CREATE TEMPORARY MODEL sums INPUT (x BIGINT, y BIGINT) {OUTPUT} WITH ({PROVIDER})",
    "CREATE TABLE said (k STRING, t BIGINT) WITH ('connector' = 'print')",
)
SAYING = (
    "INSERT INTO said SELECT shout(twice(k)), total "
    "FROM ML_PREDICT(TABLE given, MODEL sums, DESCRIPTOR(v, v)) WHERE shout(k) <> 'b!'"
)


def test_a_plan_has_its_functions_and_models(
    env: TableEnvironment, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for statement in OF_THE_SESSION:
        env.execute_sql(statement)
    env.execute_sql(f"COMPILE PLAN '{tmp_path}/plan.json' FOR {SAYING}")
    other = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    assert printed(other, f"EXECUTE PLAN '{tmp_path}/plan.json'", capfd) == [
        "+I[a!!,",
        "+I[a!!,",
        "102]",
        "104]",
    ]
    functions = json.loads((tmp_path / "plan.json").read_text())["functions"]
    assert sorted(entry.get("name", "a model") for entry in functions) == ["a model", "shout", "twice"]


def test_a_plan_loads_the_modules_of_its_functions(
    env: TableEnvironment, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    insert = "INSERT INTO said SELECT greet(k), v FROM given"
    env.execute_sql(OF_THE_SESSION[-1])
    env.load_module("own", Greetings({}))
    with pytest.raises(SqlError, match="requires functions that statements have named"):
        env.execute_sql(f"COMPILE PLAN '{tmp_path}/refused.json' FOR {insert}")
    env.unload_module("own")
    env.execute_sql(
        "LOAD MODULE own WITH ('class' = 'tests.table.test_options:Greetings', 'word' = 'good day')"
    )
    env.execute_sql(f"COMPILE PLAN '{tmp_path}/plan.json' FOR {insert}")
    other = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    execute = f"EXECUTE PLAN '{tmp_path}/plan.json'"
    assert [word for word in printed(other, execute, capfd) if word == "day"] == ["day"] * 3
    text = (tmp_path / "plan.json").read_text()
    (tmp_path / "plan.json").write_text(text.replace(r"\"greet\"", r"\"missing\""))
    with pytest.raises(SqlError, match="requires a function that its module has"):
        other.execute_sql(execute)


@pytest.mark.parametrize(
    ("now", "refused"),
    [
        (
            udf(lambda text: 1, input_types=["STRING"], result_type="BIGINT"),
            "requires function shout with the types that it had when the plan was compiled; got another one",
        ),
        (
            lambda text: text,
            r"function shout of the plan file '.*' requires 'module.name' of what udf\(...\)",
        ),
    ],
)
def test_a_function_that_has_changed_is_refused(
    env: TableEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, now: object, refused: str
) -> None:
    env.execute_sql(OF_THE_SESSION[0])
    env.execute_sql(
        f"COMPILE PLAN '{tmp_path}/plan.json' FOR INSERT INTO sums SELECT shout(k), v, v FROM given"
    )
    monkeypatch.setattr(f"{HERE}.shout", now)
    with pytest.raises(SqlError, match=refused):
        env.execute_sql(f"EXECUTE PLAN '{tmp_path}/plan.json'")
