"""The jobs that statements and scripts make, as records of the cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from firesteel.rest.gateway import planned
from tests.rest.gateway.asking import STREAMING, Gateway, Session
from tests.rest.gateway.test_gateway import ENDLESS


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[Gateway]:
    made = Gateway(tmp_path)
    yield made
    made.sessions.close_all()


@pytest.fixture
def session(gateway: Gateway) -> Session:
    return gateway.open()


def test_an_insert_is_a_job_of_the_cluster(gateway: Gateway, session: Session) -> None:
    session.rows(ENDLESS)
    session.rows("CREATE TABLE gone (n BIGINT) WITH ('connector' = 'blackhole')")
    session.rows("SET 'parallelism.default' = '2'")
    page = next(session.pages("INSERT INTO gone SELECT n FROM endless"))
    (job,) = gateway.dispatcher.jobs()
    assert (page["jobID"], page["isQueryResult"]) == (job.id, False)
    assert page["results"]["columns"][0]["name"] == "job id"
    assert page["results"]["data"] == [{"kind": "INSERT", "fields": [job.id]}]
    submission = job.submission()
    assert submission is not None
    assert submission.slots == 2
    assert json.loads((job.program / "options.json").read_text()) == {**STREAMING, "parallelism.default": "2"}
    (listed,) = session.rows("SHOW JOBS")
    assert listed[1][0::2] == [job.id, "CREATED"]
    assert session.rows(f"DESCRIBE JOB '{job.id}'") == [listed]
    assert "is not running" in session.error(f"STOP JOB '{job.id}'")
    assert "does not exist in this cluster" in session.error("STOP JOB 'nonsense'")


def test_a_script_becomes_a_job(gateway: Gateway, session: Session, tmp_path: Path) -> None:
    answer = session.ask("POST", "/scripts", {"script": "SHOW TABLES;", "executionConfig": {"a": "b"}})
    (job,) = gateway.dispatcher.jobs()
    assert answer == {"clusterID": job.id}
    assert (job.program / "script.sql").read_text() == "SHOW TABLES;"
    (tmp_path / "at.sql").write_text("SHOW VIEWS;")
    session.ask("POST", "/scripts", {"scriptUri": (tmp_path / "at.sql").as_uri()})
    session.ask("POST", "/scripts", {}, 400)
    wrong = session.ask("POST", "/scripts", {"script": "INSERT nowhere"}, 500)
    assert "INSERT statement (line 1, column 8)" in wrong["errors"][1]
    missing = session.ask("POST", "/scripts", {"scriptUri": "file:///nowhere/at.sql"}, 500)
    assert "does not exist" in missing["errors"][1]


def test_a_script_of_several_jobs_takes_no_slots_itself(gateway: Gateway, session: Session) -> None:
    insert = "INSERT INTO gone SELECT n FROM endless;"
    options = {"parallelism.default": "3"}
    for script, slots in (
        (f"SELECT 1; {insert}", 3),
        (f"EXECUTE STATEMENT SET BEGIN {insert} {insert} END;", 3),
        (f"BEGIN STATEMENT SET; {insert} {insert} END; {insert}", 0),
        (f"{insert} CREATE TABLE t WITH ('connector' = 'print') AS SELECT 1 AS n;", 0),
    ):
        answer = session.ask("POST", "/scripts", {"script": script, "executionConfig": options})
        job = gateway.dispatcher.job(answer["clusterID"])
        assert job is not None
        submission = job.submission()
        assert submission is not None
        assert submission.slots == slots


def test_an_insert_takes_its_functions_and_models_along(gateway: Gateway, session: Session) -> None:
    model = "INPUT (x BIGINT, y BIGINT) OUTPUT (total BIGINT, asked BIGINT)"
    provider = "'provider' = 'python', 'function' = 'tests.table.models:Sums'"
    for statement in (
        "CREATE TEMPORARY FUNCTION shout AS 'tests.queries.test_compiled_plans.shout' LANGUAGE PYTHON",
        f"CREATE MODEL sums {model} WITH ({provider})",
        "CREATE TABLE said (k STRING, t BIGINT) WITH ('connector' = 'blackhole')",
    ):
        session.rows(statement)
    query = "SELECT shout('a'), total FROM ML_PREDICT(TABLE (SELECT 1 AS n), MODEL sums, DESCRIPTOR(n, n))"
    session.rows("SET 'execution.runtime-mode' = 'batch'")
    assert session.rows(query) == [("INSERT", ["a!", 2])]
    session.rows(f"INSERT INTO said {query}")
    (job,) = gateway.dispatcher.jobs()
    functions = json.loads((job.program / "plan.json").read_text())["functions"]
    assert sorted(function.get("imported", "a model") for function in functions) == [
        "a model",
        "tests.queries.test_compiled_plans.shout",
    ]


def test_without_submission_there_are_queries_only(tmp_path: Path) -> None:
    session = Gateway(tmp_path, submission=False).open()
    session.rows("CREATE TABLE gone (n INT) WITH ('connector' = 'blackhole')")
    assert "is switched off" in session.error("INSERT INTO gone SELECT 1")
    assert session.rows("SELECT 1") == [("INSERT", [1])]


def test_a_script_that_is_executed_again_makes_no_job_twice(gateway: Gateway, session: Session) -> None:
    insert = "INSERT INTO gone VALUES 1;"
    table = "CREATE TABLE gone (n INT) WITH ('connector' = 'blackhole');"
    script = f"SET 'parallelism.default' = '2'; {table} {insert} SHOW JOBS; {insert} SET;"
    answer = session.ask("POST", "/scripts", {"script": script})
    job = gateway.dispatcher.job(answer["clusterID"])
    assert job is not None
    for _ in range(2):
        planned.script(str(job.program / "main.py"))
        made = {one.id: one.submission() for one in gateway.dispatcher.jobs() if one.id != job.id}
        assert [said.slots for said in made.values() if said is not None] == [2, 2]
