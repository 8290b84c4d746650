"""Commands to a job that runs, from outside."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from firesteel.checkpoint.log import ManifestLog
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.savepoint import open_savepoint
from firesteel.common import JobStatus, Types, WatermarkStrategy
from firesteel.connectors.files.sink import BasePathBuckets, FileSink, RollingPolicy, TextLines
from firesteel.control import asking
from firesteel.control.commands import ALIVE_MS, COMMANDS, DriverStatus, now_ms, read_status, write_status
from firesteel.datastream import StreamExecutionEnvironment
from tests.cli.gated import RECORDS, Gated, counts, running

pytestmark = pytest.mark.usefixtures("machine")


def savepoint_at(done):
    """The savepoint that a command printed, and nothing else."""
    assert done.exit_code == 0, done.output
    (line,) = done.stdout.splitlines()
    saved = open_savepoint(Storage.existing(line))
    assert saved is not None
    return Path(line), saved


def restored(firesteel, program, job, where, directory):
    """Start the program from `where` in a state directory of its own, let it read all, and return its output."""
    with running(directory) as second:
        second.let(RECORDS)
        done = firesteel(
            "run", "--from", where, "--state-dir", second.state, program, second.gate, second.name
        )
        assert done.exit_code == 0, done.output
        return second.rows


def test_a_savepoint_of_a_running_job_can_be_started_from(firesteel, program, job, tmp_path):
    job.start()
    job.read(20)
    path, saved = savepoint_at(firesteel("savepoint", job.state, tmp_path / "kept"))
    assert path.parent == tmp_path / "kept"
    assert (saved.epoch, saved.job_name) == (4, "gated")
    job.finish()
    assert job.rows == counts(0, RECORDS)
    assert restored(firesteel, program, job, path, tmp_path / "second") == counts(20, RECORDS)


def test_a_savepoint_of_a_running_job_names_the_sinks_whose_hidden_files_it_needs(run_python, job, tmp_path):
    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = env.from_source(Gated(job.gate), WatermarkStrategy.no_watermarks(), "numbers")
    texts = numbers.map(str, Types.STRING())
    for name, policy in (("long parts", RollingPolicy()), ("short parts", RollingPolicy.on_epoch())):
        sink = FileSink(tmp_path / name, TextLines(), BasePathBuckets(), policy)
        texts.sink_to(sink).name(name)
    job.handle = env.execute_async("files")._handle
    job.read(5)
    # In a process of its own: here the log is pytest's.
    done = run_python("-m", "firesteel.cli", "savepoint", job.state, tmp_path / "kept")
    (warning,) = done.stderr.splitlines()
    assert warning.startswith("warning: the savepoint needs the hidden files of parts that are still open")
    assert "Sinks at risk: sink 'long parts' (" in warning
    assert "test_remote_control.py:" in warning
    assert "short parts" not in warning
    done = run_python("-m", "firesteel.cli", "stop", "--savepoint", job.state, tmp_path / "kept")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command", [("savepoint",), ("stop", "--savepoint")])
def test_a_savepoint_goes_to_the_jobs_own_place_unless_told_otherwise(firesteel, job, tmp_path, command):
    job.start({"execution.checkpointing.savepoint-dir": str(tmp_path / "own")})
    job.read(5)
    path, _ = savepoint_at(firesteel(*command, job.state))
    assert path.parent == tmp_path / "own"


def test_without_a_place_of_the_jobs_own_it_is_the_state_directory(firesteel, job):
    job.start()
    job.read(5)
    path, _ = savepoint_at(firesteel("savepoint", job.state))
    assert path.parent == job.state / "savepoints"


def test_a_relative_directory_is_that_of_who_asks(firesteel, job, tmp_path, monkeypatch):
    job.start()
    job.read(5)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    send, sent = asking.send, []
    monkeypatch.setattr(asking, "send", lambda *command: sent.append(command[2]) or send(*command))
    path, _ = savepoint_at(firesteel("savepoint", job.state, "kept"))
    assert sent == [str(tmp_path / "elsewhere" / "kept")]
    assert path.parent == tmp_path / "elsewhere" / "kept"


def test_a_savepoint_before_the_first_epoch_is_refused(firesteel, job):
    job.start()
    done = firesteel("savepoint", job.state)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "the job has not committed an epoch yet" in done.stderr


def test_a_job_stops_with_a_savepoint(firesteel, program, job, tmp_path):
    handle = job.start()
    job.read(20)
    path, saved = savepoint_at(firesteel("stop", "--savepoint", job.state, tmp_path / "kept"))
    assert handle.wait(30).status is JobStatus.FINISHED
    assert saved.epoch == 4
    assert restored(firesteel, program, job, path, tmp_path / "second") == counts(20, RECORDS)
    assert job.rows == counts(0, 20)


def test_a_job_stops_and_goes_on_with_the_same_command(firesteel, program, job):
    handle = job.start()
    job.read(20)
    done = firesteel("stop", job.state)
    assert (done.exit_code, done.stdout) == (0, "FINISHED after epoch 4\n")
    assert handle.wait(30).status is JobStatus.FINISHED
    job.let(RECORDS)
    done = firesteel("run", "--from", "latest", "--state-dir", job.state, program, job.gate, job.name)
    assert done.exit_code == 0, done.output
    assert job.rows == counts(0, RECORDS)


def test_a_job_that_is_drained_has_finished_for_good(firesteel, program, job, tmp_path):
    handle = job.start()
    job.read(20)
    path, saved = savepoint_at(firesteel("stop", "--drain", "--savepoint", job.state, tmp_path / "kept"))
    assert handle.wait(30).status is JobStatus.FINISHED
    assert saved.epoch == 5
    assert restored(firesteel, program, job, path, tmp_path / "second") == []
    job.let(RECORDS)
    done = firesteel("run", "--from", "latest", "--state-dir", job.state, program, job.gate, job.name)
    assert done.exit_code == 0, done.output
    assert job.rows == counts(0, 20)


def test_a_job_is_cancelled(firesteel, job):
    handle = job.start()
    job.read(10)
    done = firesteel("cancel", job.state)
    assert (done.exit_code, done.stdout) == (0, "CANCELED after epoch 2\n")
    assert handle.wait(30).status is JobStatus.CANCELED


def test_a_job_is_rescaled_while_it_runs(firesteel, job):
    job.start()
    job.read(15)
    for parallelism, upto in ((3, 30), (1, 45)):
        done = firesteel("rescale", job.state, parallelism)
        assert (done.exit_code, done.stdout) == (0, f"parallelism {parallelism}\n"), done.output
        job.read(upto)
    job.finish()
    assert job.rows == counts(0, RECORDS)
    listed = json.loads(firesteel("checkpoints", "--json", job.state).stdout)
    assert [max(checkpoint["parallelism"]) for checkpoint in listed] == [2] * 1 + [3] * 3 + [1] * 6


def test_a_rescale_that_is_not_possible_is_refused_and_the_job_goes_on(firesteel, job):
    job.start()
    job.read(5)
    done = firesteel("rescale", job.state, 129)
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")
    assert "128" in done.stderr
    assert firesteel("rescale", job.state, 0).exit_code == 2
    job.finish()
    assert job.rows == counts(0, RECORDS)


@pytest.mark.parametrize("command", [("stop",), ("stop", "--savepoint"), ("cancel",), ("rescale", 2)])
def test_a_job_that_has_ended_cannot_be_asked(firesteel, job, command):
    job.start()
    job.finish()
    name, *more = command
    done = firesteel(name, job.state, *more)
    assert (done.exit_code, done.stdout) == (1, "")
    assert f"error: the job in {job.state} has no driver that could be asked" in done.stderr
    assert "got a job that is FINISHED" in done.stderr
    assert Storage.of(job.state).list(COMMANDS) == []


def test_a_savepoint_of_a_job_that_does_not_run_is_written_here(firesteel, program, job, tmp_path):
    job.start()
    job.read(20)
    assert firesteel("stop", job.state).exit_code == 0
    path, saved = savepoint_at(firesteel("savepoint", job.state, tmp_path / "kept"))
    assert (path.parent, saved.epoch) == (tmp_path / "kept", 4)
    assert restored(firesteel, program, job, path, tmp_path / "second") == counts(20, RECORDS)


def test_no_savepoint_without_a_driver_while_output_waits(firesteel, job):
    job.start()
    job.read(20)
    assert firesteel("stop", job.state).exit_code == 0
    (job.state / "published").write_text("3")  # as if the driver had died right after its last commit
    done = firesteel("savepoint", job.state)
    assert (done.exit_code, done.stdout) == (1, "")
    assert "epoch 4, whose output is committed and not visible yet" in done.stderr


def test_no_savepoint_of_nothing(firesteel, tmp_path):
    ManifestLog.open_or_create(Storage.of(tmp_path / "state"), 128)
    done = firesteel("savepoint", tmp_path / "state")
    assert done.exit_code == 1
    assert "requires a job that has committed an epoch" in done.stderr


@pytest.mark.parametrize("command", ["stop", "cancel", "savepoint", "checkpoints"])
def test_a_place_without_a_job_is_named_and_stays_as_it_is(firesteel, tmp_path, command):
    done = firesteel(command, tmp_path / "nowhere")
    assert done.exit_code == 1
    assert f"the directory {tmp_path / 'nowhere'} is missing" in done.stderr
    assert not (tmp_path / "nowhere").exists()
    done = firesteel(command, tmp_path)
    assert done.exit_code == 1
    assert "firesteel jobs DIR lists" in done.stderr


def test_a_directory_for_no_savepoint_is_wrong_usage(firesteel, job, tmp_path):
    done = firesteel("stop", job.state, tmp_path)
    assert done.exit_code == 2
    assert "--savepoint" in done.stderr


@pytest.fixture
def silent(tmp_path):
    """A job whose driver gives signs of life up to a moment ago, and no answers."""
    storage = Storage.of(tmp_path / "silent")
    log = ManifestLog.open_or_create(storage, 128)
    status = DriverStatus(log.job.job_id, "silent", "RUNNING", 3, 2, "far", 77, now_ms(), now_ms())
    write_status(storage, status)
    return storage, status


def test_a_driver_that_does_not_answer_in_time(firesteel, silent):
    storage, _ = silent
    done = firesteel("cancel", storage.url, "--timeout", "0")
    assert done.exit_code == 1
    assert "did not answer within 0 s" in done.stderr
    assert storage.list(COMMANDS) == []


def test_a_driver_that_is_lost_while_it_is_waited_for(firesteel, silent, replace_sleep):
    storage, status = silent

    def dies(seconds):
        old = msgspec.structs.replace(status, heartbeat_at=now_ms() - ALIVE_MS)
        write_status(storage, old)

    replace_sleep(dies)
    done = firesteel("stop", storage.url)
    assert done.exit_code == 1
    assert "(process 77 on far) went away without an answer" in done.stderr
    assert storage.list(COMMANDS) == []
    done = firesteel("stop", storage.url)
    assert "got the last sign of life of its driver (process 77 on far)" in done.stderr


def test_ctrl_c_takes_a_command_back(firesteel, silent, replace_sleep):
    storage, _ = silent

    def interrupted(seconds):
        assert len(storage.list(COMMANDS)) == 1
        raise KeyboardInterrupt

    replace_sleep(interrupted)
    done = firesteel("rescale", storage.url, 3)
    assert done.exit_code == 130
    assert storage.list(COMMANDS) == []


def test_a_driver_that_has_ended_may_still_be_writing_the_savepoint(firesteel, silent, replace_sleep):
    storage, status = silent

    def answers(seconds):
        write_status(storage, msgspec.structs.replace(status, status="FINISHED", heartbeat_at=now_ms()))
        if read_status(storage).status == "FINISHED" and len(turns) == 2:
            (command,) = storage.list(COMMANDS)
            name = command.rpartition("/")[2].removesuffix(".json")
            storage.put(f"replies/{name}.json", msgspec.json.encode({"id": name, "result": "there"}))
        turns.append(seconds)

    turns: list[float] = []
    replace_sleep(answers)
    done = firesteel("stop", "--savepoint", storage.url)
    assert (done.exit_code, done.stdout, len(turns)) == (0, "there\n", 3)
    assert storage.list("replies") == []
