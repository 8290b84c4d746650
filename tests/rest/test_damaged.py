"""Jobs whose files are damaged are listed with the reason, those that are forgotten meanwhile are not; others go on."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from firesteel.rest.calls import Cluster
from firesteel.rest.dispatcher import Dispatcher, new_job_id
from firesteel.rest.history import History
from firesteel.rest.records import DriverProcess, JobGone, JobRecord, Outcome, Submission
from firesteel.rest.routes import GROUPS
from firesteel.rest.security import Security
from firesteel.rest.server import application
from firesteel.rest.standing import standing, standings

LOCAL = "http://127.0.0.1:8081"
LISTS = ("/jobs", "/jobs/overview", "/overview", "/applications/overview", "/jobs/metrics", "/metrics")
LISTS_OF_DRIVERS = ("/taskmanagers", "/taskmanagers/metrics", "/page/jobs")
FILES = ("submission", "driver", "deaths", "wish", "outcome")
DAMAGE = '{"half'
WAITS = (sys.executable, "-S", "-c", "import signal; signal.pause()")


@pytest.fixture
def dispatcher(tmp_path: Path) -> Iterator[Dispatcher]:
    (tmp_path / "program").mkdir()
    made = Dispatcher(tmp_path, 4, driver=WAITS)
    yield made
    for process, _ in made._started.values():
        process.kill()
        process.wait()


@pytest.fixture
def service(dispatcher: Dispatcher) -> TestClient:
    cluster = Cluster(dispatcher, dispatcher.directory / "programs", LOCAL, 0)
    return TestClient(application(cluster, GROUPS, Security()), base_url=LOCAL, raise_server_exceptions=False)


def submitted(dispatcher: Dispatcher) -> JobRecord:
    submission = Submission(new_job_id(), "main.py", 1_000, slots=1)
    return dispatcher.submit(submission, dispatcher.directory / "program")


def damage(record: JobRecord, name: str) -> None:
    (record.directory / f"{name}.json").write_text(DAMAGE)


@pytest.mark.parametrize("name", FILES)
def test_a_job_with_a_damaged_file_has_failed_and_says_why(
    dispatcher: Dispatcher, service: TestClient, name: str
):
    record, other = submitted(dispatcher), submitted(dispatcher)
    record.write("driver", DriverProcess(1, 0, 1))
    damage(record, name)
    for path in (*LISTS, *LISTS_OF_DRIVERS):
        answer = service.get(path)
        assert answer.status_code == 200, (path, answer.text)
    statuses = {job["id"]: job["status"] for job in service.get("/jobs").json()["jobs"]}
    assert statuses == {record.id: "FAILED", other.id: "CREATED"}
    about = service.get(f"/jobs/{record.id}").json()
    assert f"{name}.json" in about["status-reason"]
    (entry,) = service.get(f"/jobs/{record.id}/exceptions").json()["exceptionHistory"]["entries"]
    assert "must be as it was written" in entry["stacktrace"]


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_job_keeps_no_other_from_being_started_and_is_not_removed(
    dispatcher: Dispatcher, caplog: pytest.LogCaptureFixture, name: str
):
    record, other = submitted(dispatcher), submitted(dispatcher)
    damage(record, name)
    for _ in range(3):
        dispatcher.turn()
    assert [job for job in (record.id, other.id) if job in dispatcher._started] == [other.id]
    assert [said.getMessage().count(record.id) > 0 for said in caplog.records].count(True) == 1
    assert {job.id for job in dispatcher.jobs()} == {record.id, other.id}


def test_a_job_that_runs_is_running_whatever_else_is_damaged(dispatcher: Dispatcher):
    record = submitted(dispatcher)
    Path(record.state).mkdir()
    (Path(record.state) / "plan.json").write_text(DAMAGE)
    found = standing(record)
    assert (found.status, found.vertices) == ("CREATED", ())
    assert found.damage is not None
    assert "plan.json" in found.damage


def test_figures_that_cannot_be_read_are_none(dispatcher: Dispatcher, service: TestClient):
    record = submitted(dispatcher)
    Path(record.state).mkdir()
    for name in ("metrics", "failures", "status"):
        (Path(record.state) / f"{name}.json").write_text(DAMAGE)
    for path in (*LISTS, *LISTS_OF_DRIVERS, f"/jobs/{record.id}", f"/jobs/{record.id}/metrics"):
        assert service.get(path).status_code == 200, path


def test_an_end_that_cannot_be_read_is_not_forgotten(dispatcher: Dispatcher):
    damaged, old = submitted(dispatcher), submitted(dispatcher)
    damage(damaged, "outcome")
    old.write("outcome", Outcome("FINISHED", 1))
    assert [record.id for record in History(milliseconds=0).expired(dispatcher.jobs(), 9)] == [old.id]


class GoesMeanwhile(JobRecord):
    """A job that is forgotten while it is looked at."""

    def driver(self) -> DriverProcess | None:
        if self.directory.exists():
            self.directory.rename(self.directory.with_name(f"expired-{self.id}"))
        return super().driver()


def test_a_job_that_is_forgotten_while_it_is_looked_at_is_not_listed(
    dispatcher: Dispatcher, service: TestClient, monkeypatch: pytest.MonkeyPatch
):
    going, staying = submitted(dispatcher), submitted(dispatcher)
    assert [job.record_id for job in standings([GoesMeanwhile(going.directory), staying])] == [staying.id]
    with pytest.raises(JobGone, match="has been forgotten"):
        standing(going)
    monkeypatch.setattr(dispatcher, "job", lambda _: going)
    for path in ("", "/checkpoints", "/config"):
        assert service.get(f"/jobs/{going.id}{path}").status_code == 404
    monkeypatch.setattr(dispatcher, "jobs", lambda: [going, staying])
    for path in (*LISTS, *LISTS_OF_DRIVERS):
        assert service.get(path).status_code == 200, path
    assert [job["jid"] for job in service.get("/jobs/overview").json()["jobs"]] == [staying.id]
