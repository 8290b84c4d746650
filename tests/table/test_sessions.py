"""Sessions of statements against real Flink's answers (see flink/ask_sessions.py)."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

from firesteel.common.errors import FiresteelError
from firesteel.table import EnvironmentSettings, TableEnvironment
from firesteel.testing.execution import executing
from tests.table.flink.session_file import sessions

HERE = Path(__file__).parent / "flink"
ANSWERS: dict[str, list[dict[str, Any]]] = json.loads((HERE / "sessions.json").read_text())
SESSIONS = sessions(HERE / "sessions.sql")

DIFFERENT: dict[tuple[str, str], str] = {
    **dict.fromkeys(
        [("databases", f"DESCRIBE DATABASE {rest}") for rest in ("db2", "EXTENDED db2", "EXTENDED db1")],
        "Flink's shell alone executes it",
    ),
    **dict.fromkeys(
        [("options", statement) for statement in SESSIONS["options"]], "Flink's shell alone executes it"
    ),
    **dict.fromkeys(
        [
            ("views", "SHOW CREATE VIEW v1"),
            ("views", "SHOW CREATE VIEW v2"),
            ("views", "SHOW CREATE VIEW v3"),
            ("views", "SHOW CREATE VIEW v22"),
        ],
        "Flink shows the query with all names in full, Firesteel as it was written",
    ),
    (
        "batch: values",
        "SELECT '日本語' AS wide, 'emoji 😀' AS e, 'é' AS combining",
    ): "Flink counts characters beyond the sixteenth bit twice in CHAR(n)",
    **dict.fromkeys(
        [
            (session, statement)
            for session in ("values", "batch: values")
            for statement in SESSIONS[session]
            if "CAST(NULL AS INT), NULL)" in statement
        ],
        "Flink refuses a bare NULL there",
    ),
    ("batch: truncate and analyze", "TRUNCATE TABLE t"): "no connector of Flink's own can do that",
    **dict.fromkeys(
        [
            ("batch: scripts: asked twice", "TRUNCATE TABLE words"),
            ("batch: scripts: asked twice", "SELECT COUNT(*) AS n FROM words"),
        ],
        "no connector of Flink's own can do that",
    ),
    (
        "modules",
        "CREATE VIEW f2 (c) AS SELECT COALESCE(a, 1) FROM (VALUES (1)) AS t (a)",
    ): "without the module core Flink finds some functions and others not, Firesteel all",
    **dict.fromkeys(
        [("replace", "CREATE OR REPLACE VIEW v AS SELECT b FROM src"), ("replace", "DESCRIBE v")],
        "Flink replaces no view",
    ),
    **dict.fromkeys(
        [
            ("scripts: catalogs", "SHOW DATABASES NOT ILIKE 'RACK1%'"),
            ("scripts: catalogs", "SHOW DATABASES"),
        ],
        "Flink makes a catalog whose options change anew, without its databases",
    ),
    (
        "scripts: filled tables",
        next(one for one in SESSIONS["scripts: filled tables"] if "latest" in one),
    ): "changes are consolidated within an epoch",
    **dict.fromkeys(
        [
            (session, statement)
            for session, statements in SESSIONS.items()
            for statement in statements
            if session.startswith("scripts:")
            and statement.startswith(("EXPLAIN CREATE TABLE", "EXPLAIN REPLACE"))
            and "error" not in ANSWERS[session][statements.index(statement)]
        ],
        "the plan is Firesteel's",
    ),
    (
        "scripts: tables that are told",
        next(one for one in SESSIONS["scripts: tables that are told"] if "TEMPORARY TABLE filled" in one),
    ): "Flink makes no temporary table of a query",
    (
        "insert",
        "EXECUTE STATEMENT SET BEGIN INSERT INTO hole SELECT 1; INSERT INTO hole SELECT 2; END",
    ): "Flink joins INSERTs into the same table, so there is one result",
}
"""Statements that answer something else than in Flink, with the reason."""

NOT_OFFERED: dict[str, list[str]] = {
    "functions of one's own, which are classes of Java in the scripts": [
        "CREATE FUNCTION f AS 'LowerUDF' LANGUAGE JAVA",
        "CREATE TEMPORARY FUNCTION f AS 'LowerUDF' USING JAR 'functions.jar'",
        "ALTER FUNCTION f AS 'LowerUDF'",
    ],
    "jars, for there is no Java": ["ADD JAR 'functions.jar'", "REMOVE JAR 'functions.jar'"],
    "procedures, which belong to catalogs that are elsewhere": ["CALL `system`.generate(5)"],
    "materialized tables": [
        "CREATE MATERIALIZED TABLE m FRESHNESS = INTERVAL '1' DAY AS SELECT 1 AS one",
        "ALTER MATERIALIZED TABLE m SUSPEND",
        "DROP MATERIALIZED TABLE m",
    ],
    "catalogs and modules of Hive": ["CREATE CATALOG h WITH ('type' = 'hive')", "LOAD MODULE hive"],
    "changes of tables in place": [
        "DELETE FROM words WHERE id > 1",
        "UPDATE words SET word = 'x' WHERE id = 1",
        "TRUNCATE TABLE words",
        "INSERT OVERWRITE words SELECT 1, 'a'",
    ],
}
"""Statements of Flink's scripts that are not here, by what they are about; all of them are refused."""


def environment(name: str) -> TableEnvironment:
    batch = name.startswith("batch")
    settings = EnvironmentSettings.in_batch_mode() if batch else EnvironmentSettings.in_streaming_mode()
    return TableEnvironment.create(settings)


def answer(env: TableEnvironment, statement: str) -> dict[str, Any]:
    printed = io.StringIO()
    try:
        result = env.execute_sql(statement)
        with contextlib.redirect_stdout(printed):
            result.print()
        result.wait()
    except FiresteelError as error:
        return {"error": str(error)}
    schema = result.get_resolved_schema()
    types = map(str, schema.get_column_data_types())
    return {
        "kind": result.get_result_kind().name,
        "columns": [list(column) for column in zip(schema.get_column_names(), types, strict=True)],
        "printed": printed.getvalue(),
    }


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_answers_as_in_flink(name: str, tmp_path: Path):
    with executing("process", parallelism=1):
        answers_as_in_flink(name, tmp_path)


@pytest.mark.spark
@pytest.mark.parametrize(
    "name",
    [
        "values",
        pytest.param("batch: values", marks=pytest.mark.thorough),
        pytest.param("insert", marks=pytest.mark.thorough),
        "scripts: filled tables",
    ],
)
def test_jobs_of_a_session_on_spark_answer_as_in_flink(name: str, tmp_path: Path):
    with executing("spark", parallelism=1):
        answers_as_in_flink(name, tmp_path)


def answers_as_in_flink(name: str, here: Path) -> None:
    env = environment(name)
    for statement, expected in zip(SESSIONS[name], ANSWERS[name], strict=True):
        found = answer(env, statement.replace("${HERE}", str(here)))
        place = (name, statement)
        if place in DIFFERENT:
            assert found != expected, f"{statement} answers as in Flink now"
        elif "error" in expected:
            assert "error" in found, statement
        else:
            assert found == expected, statement


@pytest.mark.parametrize("statement", [one for statements in NOT_OFFERED.values() for one in statements])
def test_what_is_not_offered_is_refused_and_changes_nothing(statement: str) -> None:
    env = environment("what is not offered")
    env.execute_sql("CREATE TABLE words (id INT, word STRING) WITH ('connector' = 'blackhole')")
    with pytest.raises(FiresteelError):
        env.execute_sql(statement)
    assert env.list_catalogs() == ["default_catalog"]
    assert env.list_tables() == ["words"]
