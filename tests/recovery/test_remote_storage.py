"""Jobs whose state lies in S3: crashes, rivals, and a server that refuses, hangs up or stops answering."""

from __future__ import annotations

import logging
import time
from collections import Counter
from functools import partial
from itertools import count

import pytest

from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import StateError
from firesteel.objectstores.client import TIMEOUT_VARIABLE
from firesteel.testing import executing
from harness import s3
from harness.faulty_proxy import FaultyProxy
from tests.recovery import ledger, pipeline
from tests.recovery.crashing import Crasher
from tests.recovery.jobs import lines
from tests.recovery.test_on_spark import PROGRAM, counted
from tests.recovery.test_state_directory import TOTAL, run
from tests.recovery.test_two_drivers import COMMITTED, UNCOMMITTED, Rival, first_driver


@pytest.fixture(scope="module")
def server():
    with s3.serving() as url:
        yield url


@pytest.fixture
def state(server, monkeypatch):
    """A state directory in a bucket of its own."""
    s3.point_to(server, monkeypatch)
    return f"s3://{s3.new_bucket(server)}/jobs/state"


@pytest.fixture
def proxy(server, state, monkeypatch):
    """A proxy in front of the server, through which the jobs go."""
    with FaultyProxy(server).serving() as proxy:
        s3.point_to(proxy.url, monkeypatch)
        yield proxy


@pytest.fixture
def directory(tmp_path, machine):
    """Where the output is, and the working copies."""
    yield tmp_path
    ledger.forget(str(tmp_path))


@pytest.fixture
def pipeline_on_s3(directory, state, monkeypatch):
    """Has the program of the crash tests keep its state in S3."""

    def on_s3(*arguments, **settings):
        return executing(*arguments, **{**settings, "state_dir": state})

    monkeypatch.setattr(pipeline, "executing", on_s3)
    pipeline.write_input(directory / "in")
    return directory


def check_no_credentials(state, *texts):
    """Look for credentials in all that a job has written."""
    bucket = Storage.of(state.removesuffix("/jobs/state"))
    files = {entry.path: bucket.get(entry.path) for entry in bucket.entries("")}
    assert any(path.startswith("jobs/state/manifests/") for path in files)
    assert any(path.endswith(".run") for path in files)
    for secret in (s3.ACCESS_KEY, s3.SECRET_KEY):
        assert [path for path, data in files.items() if secret.encode() in data] == []
        assert [text for text in texts if secret in text] == []


@pytest.mark.parametrize("what", ["after writing a run of 0", "before the manifest", "after the manifest"])
def test_a_crash_in_each_epoch(pipeline_on_s3, machine, what):
    struck = set()
    for name in count():
        machine(str(name))  # which has no working copies
        crasher = Crasher(lambda count, point: point[1] == what and point not in struck)
        pipeline.run(pipeline_on_s3, 2, crasher)
        if crasher.crashed is None:
            break
        struck.add(crasher.crashed)
    assert len(struck) >= 3
    assert pipeline.output(pipeline_on_s3) == pipeline.expected()


@pytest.mark.parametrize("what", UNCOMMITTED)
def test_of_two_drivers_the_one_that_was_overtaken_ends(pipeline_on_s3, what):
    rival = Rival(pipeline_on_s3, (2, what), "second")
    assert first_driver(pipeline_on_s3, rival)
    assert rival.ran
    assert pipeline.output(pipeline_on_s3) == pipeline.expected()


@pytest.mark.parametrize("what", COMMITTED)
def test_what_two_drivers_publish_is_there_once(pipeline_on_s3, what):
    rival = Rival(pipeline_on_s3, what, "second")
    first_driver(pipeline_on_s3, rival)
    assert rival.ran
    assert pipeline.output(pipeline_on_s3) == pipeline.expected()


def test_nobody_learns_the_credentials(directory, state, caplog, capfd):
    with caplog.at_level(logging.DEBUG):
        run(directory, state_dir=state)
        with pytest.raises(StateError) as error:
            run(directory, state_dir=state.replace("s3://", "s3://no-"))
    check_no_credentials(state, caplog.text, *capfd.readouterr(), str(error.value), str(error.value.details))


REQUESTS = {
    "job file": lambda request: request.path.endswith("/job.json"),
    "manifest": lambda request: request.method == "PUT" and "/manifests/" in request.path,
    "run written": lambda request: request.method == "PUT" and "/runs/" in request.path,
    "run read": lambda request: request.method == "GET" and "/runs/" in request.path,
    "listing": lambda request: "list-type=2" in request.path,
    "published": lambda request: request.path.endswith("/published"),
}

FAULTS = {"refuse": FaultyProxy.refuse, "drop": FaultyProxy.drop, "cut": FaultyProxy.cut}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("what", REQUESTS)
def test_a_job_outlasts_what_passes(directory, state, proxy, machine, what, fault):
    FAULTS[fault](proxy, 4, matching=REQUESTS[what])
    with pytest.raises(Exception, match="Stops"):
        run(directory, state_dir=state, stop_at=15)
    machine("second")  # which must read the runs
    run(directory, state_dir=state)
    assert len(proxy.failed) >= 2
    assert Counter(ledger.rows(str(directory))) == TOTAL


def test_a_job_outlasts_a_network_that_loses_every_fourth_request(directory, state, proxy):
    for turn, fault in enumerate((proxy.drop, proxy.cut, proxy.refuse)):
        fault(1000, matching=lambda request, turn=turn: len(proxy.requests) % 12 == 4 * turn)
    run(directory, state_dir=state)
    assert len(proxy.failed) > len(proxy.requests) / 5
    assert Counter(ledger.rows(str(directory))) == TOTAL


def from_then_on(begins):
    """Match all requests, once there was one for which `begins` is true."""
    begun = []

    def matching(request):
        begun.extend([request] if begins(request) else [])
        return bool(begun)

    return matching


TIMEOUT = 1.0


@pytest.mark.parametrize("fault", ["hang", "drop", "refuse"])
@pytest.mark.parametrize(
    ("named", "begins"),
    [
        ("parallelism.json cannot be", lambda request: True),
        (
            "manifests/000000000002 cannot be written",
            lambda request: request.method == "PUT" and request.path.endswith("/000000000002"),
        ),
        (
            r"runs/.*/000000000002-.*\.run cannot be written",
            lambda request: request.method == "PUT" and "/000000000002-" in request.path,
        ),
    ],
)
def test_a_server_that_goes_away_is_named_in_time_and_the_job_goes_on_later(
    directory, state, proxy, monkeypatch, fault, named, begins
):
    monkeypatch.setenv(TIMEOUT_VARIABLE, str(TIMEOUT))
    attack = proxy.hang if fault == "hang" else partial(getattr(proxy, fault), 1 << 30)
    attack(matching=from_then_on(begins))
    began = time.monotonic()
    with pytest.raises(StateError, match=f"{state}/{named}"):
        run(directory, state_dir=state)
    assert time.monotonic() - began < 4 * TIMEOUT + 5  # with time for what a busy machine does
    proxy.resume()
    run(directory, state_dir=state)
    assert Counter(ledger.rows(str(directory))) == TOTAL


def test_a_commit_whose_outcome_is_not_known_counts_once(directory, state, proxy, monkeypatch):
    monkeypatch.setenv(TIMEOUT_VARIABLE, str(TIMEOUT))

    def commits(request):
        return request.method == "PUT" and request.path.endswith("/manifests/000000000002")

    proxy.cut(1, matching=commits)
    proxy.hang(matching=from_then_on(commits))
    with pytest.raises(StateError, match="manifests/000000000002 cannot be written"):
        run(directory, state_dir=state)
    assert Counter(ledger.rows(str(directory))).total() == 10
    proxy.resume()
    assert "manifests/000000000002" in Storage.of(state).list("manifests")
    run(directory, state_dir=state)
    assert Counter(ledger.rows(str(directory))) == TOTAL


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.long
def test_workers_of_spark_find_the_credentials_in_the_environment(tmp_path, state, run_python):
    (tmp_path / "program.py").write_text(PROGRAM)
    settings = {"FIRESTEEL_STATE_DIR": state, "FIRESTEEL_CONF": "firesteel.epoch.max-records=1000"}
    first = run_python("program.py", "SIGKILL", 3000, **settings)
    assert 0 < len(lines(tmp_path / "out")) <= 1500, first.stderr
    second = run_python("program.py", "SIGKILL", 3000, **settings)
    assert second.stdout.splitlines()[-1:] == ["the end"], second.stderr
    assert lines(tmp_path / "out") == counted(3000)
    check_no_credentials(state, first.stdout, first.stderr, second.stdout, second.stderr)
