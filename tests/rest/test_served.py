"""A session with three jobs on Spark: every answer has Flink's shape, and Flink's own command line does its round."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.environments import flink_client_python
from firesteel.rest.standing import standing
from harness.waiting import until
from tests.rest.served import Served
from tests.rest.shapes import Recorded, differences, recorded

pytestmark = [
    pytest.mark.spark,
    pytest.mark.long,
    pytest.mark.xdist_group("spark"),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    made = Served(tmp_path_factory.mktemp("served"), "--session")
    try:
        for name in ("one", "two", "three"):
            made.run(name)
        until(lambda: all(len(made.counts(name)) == 3 for name in made.jobs))
        until(lambda: all(standing(made.record(name)).metrics() for name in made.jobs))
        yield made
    finally:
        made.firesteel("cluster", "stop", str(made.cluster))


@pytest.fixture(scope="module")
def known(served: Served) -> dict[str, str]:
    """The ids that things have here, by the part of a path before them."""
    job = served.jobs["one"]
    vertex = served.ask(f"/jobs/{job}")["vertices"][1]["id"]
    return {
        "vertices": vertex,
        "subtasks": vertex,
        "jobs": job,
        "applications": job,
        "taskmanagers": served.ask("/taskmanagers")["taskmanagers"][0]["id"],
        "details": str(served.ask(f"/jobs/{job}/checkpoints")["latest"]["completed"]["id"]),
    }


def path_here(known: dict[str, str], request: Recorded) -> str:
    """The path of a recorded request, with the ids that things have here."""
    parts = request.path.removeprefix("/v1").partition("?")[0].split("/")
    here = list(parts)
    for place in range(1, len(parts)):
        if len(parts[place]) == 32 or parts[place].startswith("localhost:"):
            here[place] = known[parts[place - 1]]
        elif parts[place - 1] == "details":
            here[place] = known["details"]
    question = request.path.partition("?")[2]
    return "/".join(here) + (f"?{question}" if question else "")


ANSWERS_OF_A_RUNNING_JOB = [
    request
    for request in recorded()
    if request.method == "GET"
    and request.status == 200
    and not any(word in request.path for word in ("savepoint", "checkpoints/370029"))
    and not request.name.startswith(
        ("GET_jobs_ID_checkpoints_details_3.", "GET_jobs_ID_checkpoints_details_4.")
    )
]


@pytest.mark.parametrize("request_", ANSWERS_OF_A_RUNNING_JOB, ids=lambda request: request.name)
def test_answers_have_flinks_shape(served: Served, known: dict[str, str], request_: Recorded):
    ours = served.ask(path_here(known, request_))
    assert list(differences(request_.answer, ours)) == []


def test_a_killed_driver_and_a_killed_server_cost_a_job_nothing(served: Served):
    record = served.record("three")
    first = record.driver()
    assert first is not None
    server = json.loads((served.cluster / "server.json").read_text())["pid"]
    os.kill(server, signal.SIGKILL)
    os.kill(first.pid, signal.SIGKILL)
    served.feed("three", "a\nc\n")
    served.start()
    until(lambda: served.status("three") == "RUNNING" and len(served.counts("three")) == 5)
    assert served.counts("three") == ["a 1", "a 2", "a 3", "b 1", "c 1"]
    assert [death.attempt for death in record.deaths()] == [1]
    (entry,) = served.ask(f"/jobs/{record.id}/exceptions")["exceptionHistory"]["entries"]
    assert f"process {first.pid}" in entry["exceptionName"]
    assert [served.status(name) for name in ("one", "two")] == ["RUNNING", "RUNNING"]
    assert served.record("one").deaths() == ()


def test_a_client_of_flinks_rest_does_its_round(served: Served):
    running = sorted(served.jobs.values())
    served.run("waiting", "-p", "4")  # it does not fit
    jobs = (served.jobs[name] for name in ("one", "waiting", "three"))
    host, _, port = served.client.url.removeprefix("http://").partition(":")
    place, script = (
        served.directory / "by client",
        Path(__file__).parent / "flink" / "flink_rest_client_round.py",
    )
    program = served.directory / "count.py"
    command = [flink_client_python(), script, host, port, *jobs, place, program]
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["running"] == running
    assert said["job"]["name"] == "one"
    assert said["vertex_metrics"].keys() == {"0.numRecordsIn", "1.numRecordsIn"}
    assert said["subtask_metrics"]["numRecordsIn"].keys() == {"min", "max", "avg", "sum"}
    assert said["details"]["subtasks"].keys() == said["details"]["tasks"].keys()
    assert said["attempt"]["attempt"] == said["subtask"]["attempt"] == 0
    assert float(said["manager_metrics"]["Status.Flink.Memory.Managed.Total"]) > 0
    for name in ("savepoint", "stopped"):
        location = said[name]["operation"]["location"]
        assert Path(location.removeprefix("file:"), "savepoint.json").is_file()
    assert said["cancelled"] is said["deleted"] is True
    assert said["jars"][0]["name"] == "count.py"
    assert "not found" in said["unknown"]
    until(lambda: (served.status("three"), served.status("waiting")) == ("FINISHED", "CANCELED"))


@pytest.fixture(scope="module")
def flink(project: Path) -> Path:
    """The command line of a real Flink, which the benchmarks beside PyFlink install."""
    found = [*project.glob(".cache/bench-pyflink-*/lib/python3*/site-packages/pyflink/bin/flink")]
    if not found:
        pytest.skip("no apache-flink: ./run bench nexmark --pyflink installs one")
    return found[0]


def test_flinks_command_line_does_its_round(served: Served, flink: Path):
    place = served.directory / "kept"

    def do(*arguments: str) -> str:
        action, *rest = arguments
        command = ["bash", str(flink), action, "-m", served.client.url.removeprefix("http://"), *rest]
        environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=120, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    one, two = served.jobs["one"], served.jobs["two"]
    listed = do("list", "-r")
    assert all(f"{job} : {name} (RUNNING)" in listed for name, job in (("one", one), ("two", two)))
    taken = do("savepoint", one, place.as_uri())
    (savepoint,) = place.iterdir()
    assert f"Savepoint completed. Path: file:{savepoint}" in taken
    assert "completed." in do("checkpoint", one)
    assert "disposed" in do("savepoint", "-d", str(savepoint))
    assert list(place.iterdir()) == []
    assert "Savepoint completed" in do("stop", "-p", place.as_uri(), one)
    assert "Cancelled job" in do("cancel", two)
    until(lambda: (served.status("one"), served.status("two")) == ("FINISHED", "CANCELED"))
    listed = do("list", "-a")
    assert f"{one} : one (FINISHED)" in listed
    assert f"{two} : two (CANCELED)" in listed


def test_our_command_line_takes_addresses(served: Served):
    served.run("four")
    until(lambda: len(served.counts("four")) == 3)
    address = f"{served.client.url}/jobs/four"
    assert "four" in served.firesteel("jobs", served.client.url)
    savepoint = served.firesteel("savepoint", address).strip()
    assert Path(savepoint, "savepoint.json").is_file()
    assert served.firesteel("rescale", address, "3").strip() == "parallelism 3"
    assert "count " in served.firesteel("state", "ls", address)
    assert served.firesteel("stop", address).startswith("FINISHED")
    until(lambda: served.status("four") == "FINISHED")
    result = served.ask(f"/jobs/{served.jobs['four']}/execution-result")
    assert result["job-execution-result"]["application-status"] == "SUCCEEDED"
