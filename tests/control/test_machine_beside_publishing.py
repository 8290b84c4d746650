"""The job's state machine while an epoch is published beside the next one."""

import pytest

from firesteel.common.errors import ProgramError
from firesteel.common.job_status import JobStatus
from firesteel.control.events import (
    Committed,
    EpochRan,
    EvolutionNeeded,
    Failed,
    Phase,
    Planned,
    Published,
    Recovered,
    RescaleRequested,
    SavepointRequested,
    StopRequested,
    Woken,
)
from firesteel.control.machine import RestartPolicy
from tests.control.machines import DRAIN, ENGINE, USER, drive, started


def besides(policy=None):
    """A job that plans its second epoch while the first is published."""
    return drive(started(policy), Planned(True), EpochRan(), Committed(False, beside=True))[0]


def test_an_epoch_is_planned_and_run_while_the_last_one_is_published_and_committed_after_that():
    job, commands = drive(started(), Planned(True), EpochRan(), Committed(False, beside=True))
    assert (job.phase, commands) == (Phase.PLANNING, ["PUBLISH_BESIDE", "PLAN"])
    assert drive(job, Planned(True))[1] == ["RUN"]
    job, commands = drive(job, Planned(True), EpochRan())
    assert (job.phase, commands) == (Phase.PUBLISHING, ["PUBLISH"])
    job, commands = drive(job, Published())
    assert (job.phase, commands, job.publishing, job.held) == (Phase.COMMITTING, ["COMMIT"], False, None)
    assert drive(job, Committed(False, beside=True))[1] == ["PUBLISH_BESIDE", "PLAN"]


@pytest.mark.parametrize(
    ("before", "finished", "phase"),
    [
        ([StopRequested(JobStatus.FINISHED)], False, Phase.ENDED),
        ([SavepointRequested()], False, Phase.SAVING),
        ([RescaleRequested()], False, Phase.RESCALING),
        ([], True, Phase.ENDED),
    ],
)
def test_what_comes_before_the_next_epoch_waits_for_publishing(before, finished, phase):
    job, commands = drive(started(), Planned(True), *before, EpochRan(), Committed(finished, beside=True))
    assert commands == ["PUBLISH"]
    assert drive(job, Published())[0].phase is phase


def test_without_work_a_job_waits_when_the_last_epoch_is_published():
    job, commands = drive(besides(), Planned(False))
    assert commands == ["PUBLISH"]
    assert drive(job, Published())[1] == ["WAIT"]
    assert drive(job, SavepointRequested(), Published())[1] == ["SAVE"]
    assert drive(job, DRAIN, Published())[1] == ["DRAIN"]
    assert drive(job, StopRequested(JobStatus.FINISHED), Published())[1] == ["END"]


def test_a_stop_while_an_epoch_is_planned_waits_for_the_one_that_is_published():
    for status in (JobStatus.FINISHED, JobStatus.CANCELED):
        job, commands = drive(besides(), StopRequested(status))
        assert commands == []
        job, commands = drive(job, Planned(True))
        assert commands == ["PUBLISH"]
        job, commands = drive(job, Published())
        assert (job.status, commands) == (status, ["END"])


def test_a_cancel_drops_the_running_epoch_and_waits_for_the_one_that_is_published():
    running = drive(besides(), Planned(True))[0]
    job, commands = drive(running, StopRequested(JobStatus.CANCELED))
    assert commands == ["INTERRUPT"]
    for event in (Failed(ENGINE), EpochRan(), EvolutionNeeded()):
        assert drive(job, event)[1] == ["PUBLISH"]
        ended, commands = drive(job, event, Published())
        assert (ended.status, commands) == (JobStatus.CANCELED, ["END"])
    job, commands = drive(running, EpochRan(), StopRequested(JobStatus.CANCELED), Published())
    assert (job.status, commands) == (JobStatus.CANCELED, ["END"])


def test_a_failure_counts_when_the_last_epoch_is_published():
    job, commands = drive(besides(), Planned(True), Failed(USER))
    assert (job.phase, commands) == (Phase.PUBLISHING, ["PUBLISH"])
    job, commands = drive(job, Published())
    assert (job.status, job.error, commands) == (JobStatus.FAILED, USER, ["END"])
    job, commands = drive(besides(RestartPolicy(attempts=1)), Failed(USER), Published())
    assert (job.failures, job.engine_failures, commands) == (1, 0, ["BACK_OFF"])


@pytest.mark.parametrize("held", [EpochRan(), EvolutionNeeded(), Failed(ProgramError("x"))])
def test_if_publishing_fails_what_came_of_the_next_epoch_is_dropped(held):
    job, commands = drive(besides(), Planned(True), held, Failed(USER))
    assert (commands, job.engine_failures, job.publishing, job.held) == (["BACK_OFF"], 1, False, None)
    assert drive(job, Woken(), Recovered(False), Published())[1] == ["PLAN"]


def test_state_is_converted_when_the_last_epoch_is_published():
    job, commands = drive(besides(), Planned(True), EvolutionNeeded())
    assert commands == ["PUBLISH"]
    assert drive(job, Published())[1] == ["EVOLVE"]
