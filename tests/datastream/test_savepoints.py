"""What a program sets about savepoints and retention, and what it can ask of a job it has started."""

from __future__ import annotations

from pathlib import Path

import pytest

from firesteel.checkpoint.log import ManifestLog
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.savepoint import open_savepoint
from firesteel.common import Configuration, JobStatus
from firesteel.common.errors import ConfigurationError, ProgramError
from firesteel.control.maintenance import MaintenancePolicy
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.state.disk.copy import close_working_stores
from tests.cli.gated import RECORDS, build, counts, running
from tests.datastream.test_environment import launched


def settings(options, **ambient):
    configuration = Configuration.from_dict(options)
    return launched(StreamExecutionEnvironment.get_execution_environment(configuration), **ambient)


def test_defaults():
    found = settings({})
    assert (found.restore_from, found.allow_non_restored_state, found.savepoint_dir) == (None, False, None)
    assert (found.retained, found.maintenance) == (10, MaintenancePolicy())


@pytest.mark.parametrize("prefix", ["execution.state-recovery", "execution.savepoint"])
def test_options_for_restoring(prefix):
    found = settings({f"{prefix}.path": "s3://bucket/kept", f"{prefix}.ignore-unclaimed-state": "true"})
    assert (found.restore_from, found.allow_non_restored_state) == ("s3://bucket/kept", True)


def test_the_newer_name_of_an_option_goes_first():
    new, old = "execution.state-recovery.", "execution.savepoint."
    found = settings({f"{old}path": "old", f"{new}path": "new", f"{new}ignore-unclaimed-state": "false"})
    assert (found.restore_from, found.allow_non_restored_state) == ("new", False)


def test_the_command_line_goes_before_options():
    found = settings({"execution.savepoint.path": "option"}, restore_from="7", allow_non_restored_state=True)
    assert (found.restore_from, found.allow_non_restored_state) == ("7", True)


@pytest.mark.parametrize("prefix", ["execution.checkpointing", "state.checkpoints"])
def test_options_for_retention(prefix):
    found = settings({f"{prefix}.num-retained": "3", "firesteel.compaction.epochs": "20"})
    assert found.retained == 3
    assert found.maintenance == MaintenancePolicy(compact_every=20, collect_every=20)


@pytest.mark.parametrize("key", ["execution.checkpointing.savepoint-dir", "state.savepoints.dir"])
def test_the_directory_for_savepoints(key):
    env = StreamExecutionEnvironment.get_execution_environment()
    assert launched(env.set_default_savepoint_directory("/set")).savepoint_dir == "/set"
    env.configure(Configuration.from_dict({key: "/option"}))
    assert env.get_default_savepoint_directory() == "/option"
    assert launched(env).savepoint_dir == "/option"
    assert launched(env, configuration={key: "/line"}).savepoint_dir == "/line"


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("execution.checkpointing.num-retained", "0", "requires at least 1; got 0"),
        ("state.checkpoints.num-retained", "few", "'few'"),
        ("firesteel.compaction.epochs", "-5", "requires at least 1; got -5"),
        ("execution.savepoint.ignore-unclaimed-state", "perhaps", "true or false"),
    ],
)
def test_values_that_make_no_sense(key, value, message):
    with pytest.raises(ConfigurationError) as raised:
        settings({key: value})
    assert key in str(raised.value)
    assert message in str(raised.value)


@pytest.fixture
def job(tmp_path, monkeypatch):
    """A job that has read 20 of its records, started by `execute_async`, and its client."""
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(tmp_path / "machine"))
    with running(tmp_path / "job", parallelism=2) as running_job:
        env = StreamExecutionEnvironment.get_execution_environment()
        build(env, running_job.gate, running_job.name)
        client = env.set_default_savepoint_directory(str(tmp_path / "kept")).execute_async()
        running_job.handle = client._handle
        running_job.read(20)
        yield running_job, client
    close_working_stores(tmp_path)


def test_a_client_takes_savepoints_of_a_running_job(job, tmp_path):
    running_job, client = job
    for directory in (None, str(tmp_path / "elsewhere")):
        path = client.trigger_savepoint(directory).result()
        assert Path(path).parent == Path(directory or tmp_path / "kept")
        assert open_savepoint(Storage.existing(path)).epoch == 4
    assert client.get_job_status().result() is JobStatus.RUNNING
    running_job.finish()
    assert running_job.rows == counts(0, RECORDS)


def test_a_client_stops_a_job_with_a_savepoint(job, tmp_path):
    _, client = job
    path = client.stop_with_savepoint(False).result()
    assert Path(path).parent == tmp_path / "kept"
    client.get_job_execution_result().result()
    assert client.get_job_status().result() is JobStatus.FINISHED
    with pytest.raises(Exception, match="the job has ended"):
        client.trigger_savepoint().result()


def test_a_client_rescales_a_job(job):
    running_job, client = job
    client.rescale(3).result()
    with pytest.raises(ProgramError, match="128"):
        client.rescale(129).result()
    running_job.finish()
    assert running_job.rows == counts(0, RECORDS)
    last = ManifestLog.open(Storage.of(running_job.state)).latest()
    assert max(snapshot.parallelism for snapshot in last.operators.values()) == 3


def test_a_client_stops_a_job(job):
    running_job, client = job
    client.stop().result()
    client.get_job_execution_result().result()
    assert running_job.rows == counts(0, 20)


def test_a_future_that_is_given_up_leaves_the_job_alone(job):
    running_job, client = job
    assert not client.trigger_savepoint().cancel()
    running_job.finish()
    assert running_job.rows == counts(0, RECORDS)
