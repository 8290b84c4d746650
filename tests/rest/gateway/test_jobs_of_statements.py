"""The jobs that statements and scripts make, as records of the cluster."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from firesteel.control.running import wait_for_jobs
from firesteel.rest.gateway import planned
from firesteel.rest.gateway.python_files import placed
from firesteel.testing import executing
from tests.rest.gateway.asking import STREAMING, Gateway, Session
from tests.rest.gateway.test_gateway import ENDLESS


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


SHOUTING = """
from firesteel.table.module import Module
from firesteel.table.udf import udf

END = "!"
shout = udf(lambda text: f"{text}{END}", input_types=["STRING"], result_type="STRING")


class Whispers(Module):
    def __init__(self, options):
        super().__init__("whispers")
        self._begin = options["begin"]

    def list_functions(self):
        return ["whisper"]

    def get_function(self, name):
        begin = self._begin
        whisper = udf(lambda text: f"{begin}{text}", input_types=["STRING"], result_type="STRING")
        return whisper if name == "whisper" else None
"""
FUNCTION = "CREATE TEMPORARY FUNCTION shout AS 'own_shouting.shout' LANGUAGE PYTHON"
BATCH = {"execution.runtime-mode": "batch"}


def shouting(place: Path, end: str = "!") -> str:
    place.mkdir()
    (place / "own_shouting.py").write_text(SHOUTING.replace("!", end))
    return str(place / "own_shouting.py")


@pytest.fixture
def path_of_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", sys.path[:])  # the in-process executor adds the files of jobs to it


@pytest.mark.usefixtures("path_of_modules")
def test_the_files_of_a_session_are_its_own(gateway: Gateway, tmp_path: Path) -> None:
    first, second, neither = (gateway.open(**BATCH) for _ in range(3))
    neither.rows(FUNCTION)
    assert "requires 'module.name' of a function that can be imported" in neither.error("SELECT shout('a')")
    (tmp_path / "notes.txt").touch()
    for files, said in (
        ("/nowhere/own_shouting.py", "requires files that exist on the machine of the server"),
        (f"{tmp_path}/notes.txt", "requires .py files, zip archives or directories"),
    ):
        neither.rows(f"SET 'python.files' = '{files}'")
        assert said in neither.error("SELECT shout('a')")
    neither.rows("RESET 'python.files'")
    assert neither.rows("SELECT 1") == [("INSERT", [1])]
    for session, end in ((first, "!"), (second, "?")):
        session.rows(f"SET 'python.files' = '{shouting(tmp_path / end.replace('?', 'q'), end)}'")
        session.rows(FUNCTION)
    for session, said in ((first, "a!"), (second, "a?"), (first, "a!")):
        assert session.rows("SELECT shout('a')") == [("INSERT", [said])]


@pytest.mark.usefixtures("path_of_modules")
@pytest.mark.parametrize("call", ["shout('a')", "whisper('a')"], ids=["files", "module"])
def test_the_job_of_an_insert_takes_files_along(gateway: Gateway, tmp_path: Path, call: str) -> None:
    file, written = shouting(tmp_path / "files"), tmp_path / "said"
    session = gateway.open(**BATCH, **{"python.files": f"file://{file}"})
    session.rows(FUNCTION)
    session.rows("LOAD MODULE whispers WITH ('class' = 'own_shouting:Whispers', 'begin' = 'psst ')")
    said = f"'connector' = 'filesystem', 'format' = 'csv', 'path' = '{written}'"
    session.rows(f"CREATE TABLE said (word STRING) WITH ({said})")
    session.rows(f"INSERT INTO said SELECT {call}")
    Path(file).unlink()
    (job,) = gateway.dispatcher.jobs()
    with executing():
        planned.main(str(job.program / "main.py"))
        wait_for_jobs()
    (line,) = [one.read_text() for one in written.iterdir() if not one.name.startswith(".")]
    assert line.strip().strip('"') == {"shout('a')": "a!", "whisper('a')": "psst a"}[call]


def test_what_workers_need_is_copied_with_a_job(gateway: Gateway, session: Session, tmp_path: Path) -> None:
    for directory in ("packages", "library"):
        (tmp_path / directory).mkdir()
        (tmp_path / directory / "inside.py").touch()
    for file in ("needed.txt", "data.zip"):
        (tmp_path / file).write_text(file)
    for key, value in (
        ("python.files", f"{tmp_path}/library"),
        ("python.requirements", f"{tmp_path}/needed.txt#{tmp_path}/packages"),
        ("python.archives", f"{tmp_path}/data.zip#data,{tmp_path}/data.zip"),
    ):
        session.rows(f"SET '{key}' = '{value}'")
    session.rows("CREATE TABLE gone (n INT) WITH ('connector' = 'blackhole')")
    session.rows("INSERT INTO gone SELECT 1")
    (job,) = gateway.dispatcher.jobs()
    options = placed(json.loads((job.program / "options.json").read_text()), job.program)
    copies = job.program / "python-files"
    assert options["python.files"] == f"{copies}/0/library"
    assert options["python.requirements"] == f"{copies}/2/needed.txt#{copies}/1/packages"
    assert options["python.archives"] == f"{copies}/3/data.zip#data,{copies}/4/data.zip"
    assert (copies / "0/library/inside.py").exists()
    assert (copies / "4/data.zip").read_text() == "data.zip"


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
