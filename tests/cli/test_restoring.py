"""`firesteel run --from`: what is started from, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.gated import RECORDS, counts, running

pytestmark = pytest.mark.usefixtures("machine")


@pytest.fixture
def savepoint(firesteel, job, tmp_path):
    """The savepoint of a job that was stopped after 20 records."""
    job.start()
    job.read(20)
    done = firesteel("stop", "--savepoint", job.state, tmp_path / "kept")
    assert done.exit_code == 0, done.output
    return Path(done.stdout.strip())


@pytest.fixture
def second(tmp_path, job):
    """Where the program is started again; all its input is there."""
    with running(tmp_path / "second") as again:
        again.let(RECORDS)
        yield again


def start(firesteel, program, job, *options):
    return firesteel("run", *options, "--state-dir", job.state, program, job.gate, job.name)


def test_the_same_command_again_goes_on(firesteel, program, savepoint, second):
    second.start({"execution.state-recovery.path": str(savepoint)})
    second.read(40, before=20)
    assert firesteel("stop", second.state).exit_code == 0
    second.let(RECORDS)
    assert start(firesteel, program, second, "--from", savepoint).exit_code == 0
    assert second.rows == counts(20, RECORDS)


def test_a_savepoint_can_be_moved(firesteel, program, savepoint, second, tmp_path):
    moved = savepoint.rename(tmp_path / "moved")
    assert start(firesteel, program, second, "--from", moved).exit_code == 0
    assert second.rows == counts(20, RECORDS)


def test_old_names_of_the_options_work(firesteel, program, savepoint, second):
    assert start(firesteel, program, second, "--conf", f"execution.savepoint.path={savepoint}").exit_code == 0
    assert second.rows == counts(20, RECORDS)


def test_another_directory_with_a_history_is_refused(firesteel, program, savepoint, second):
    assert start(firesteel, program, second).exit_code == 0
    done = start(firesteel, program, second, "--from", savepoint)
    assert done.exit_code == 1
    assert "requires a separate state directory" in done.stderr


def test_a_program_that_lacks_an_operator_is_refused_unless_that_is_allowed(
    firesteel, program, savepoint, second
):
    text = program.read_text().replace("import build", "import build_without_counts as build")
    program.write_text(text)
    done = start(firesteel, program, second, "--from", savepoint)
    assert done.exit_code == 1
    assert "belongs to another program" in done.stderr
    assert "count (id " in done.stderr
    assert "--allow-non-restored-state" in done.stderr
    assert second.rows == []
    done = start(firesteel, program, second, "--from", savepoint, "--allow-non-restored-state")
    assert done.exit_code == 0, done.output
    assert second.rows == list(range(20, RECORDS))


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("latest", "--from in the state directory {state} requires latest; got no epoch that was committed"),
        ("7", "requires epoch 7; got no epoch"),
        ("{directory}/nowhere", "the directory {directory}/nowhere is missing"),
        ("{directory}", "--from requires a savepoint, or the state directory of a job; got {directory}"),
    ],
)
def test_what_is_not_there_is_named(firesteel, program, second, where, message):
    names = {"state": second.state, "directory": second.directory}
    done = start(firesteel, program, second, "--from", where.format(**names))
    assert done.exit_code == 1
    assert message.format(**names) in done.stderr
    assert not (second.directory / "nowhere").exists()


def test_a_state_directory_is_needed(firesteel, program, tmp_path):
    done = firesteel("run", "--from", "latest", program, tmp_path / "gate", "nothing")
    assert done.exit_code == 1
    assert "--from latest requires a state directory for the job; got none" in done.stderr
    assert "--state-dir" in done.stderr
