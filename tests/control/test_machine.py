"""The job's state machine: what follows from what, asserted on the commands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.common.errors import (
    EngineError,
    FencedError,
    ProgramError,
    StateCorruptedError,
    StateMismatchError,
    UserFunctionError,
)
from firesteel.common.job_status import JobStatus
from firesteel.control.machine import (
    Command,
    Committed,
    EpochRan,
    Failed,
    Job,
    Phase,
    Planned,
    Published,
    Recovered,
    RestartPolicy,
    StopRequested,
    Woken,
    step,
)

USER = UserFunctionError("failed")
ENGINE = EngineError("a worker was lost")


def drive(job, *events):
    """Feed events; return the job and the last commands."""
    commands = ()
    for event in events:
        job, commands = step(job, event)
    return job, [command.name for command in commands]


def started(policy=None):
    return drive(Job(policy or RestartPolicy()), Recovered(False), Published())[0]


def test_an_epoch_is_planned_run_committed_and_published():
    job = started()
    assert drive(job, Planned(True))[1] == ["RUN"]
    assert drive(job, Planned(True), EpochRan())[1] == ["COMMIT"]
    assert drive(job, Planned(True), EpochRan(), Committed(False))[1] == ["PUBLISH"]
    assert drive(job, Planned(True), EpochRan(), Committed(False), Published())[1] == ["PLAN"]


def test_recovery_publishes_what_was_committed_before_anything_else():
    assert drive(Job(RestartPolicy()), Recovered(False))[1] == ["PUBLISH"]


def test_a_finished_job_that_is_started_again_ends():
    job, commands = drive(Job(RestartPolicy()), Recovered(True), Published())
    assert (job.status, commands) == (JobStatus.FINISHED, ["END"])


def test_without_work_the_job_waits_and_looks_again():
    job = started()
    assert drive(job, Planned(False))[1] == ["WAIT"]
    assert drive(job, Planned(False), Woken())[1] == ["PLAN"]


def test_a_stop_lets_the_running_epoch_end():
    job, commands = drive(started(), Planned(True), StopRequested(JobStatus.FINISHED))
    assert commands == []
    assert drive(job, EpochRan())[1] == ["COMMIT"]
    job, commands = drive(job, EpochRan(), Committed(False), Published())
    assert (job.status, commands) == (JobStatus.FINISHED, ["END"])


def test_a_stop_between_epochs_ends_at_once():
    job, commands = drive(started(), Planned(False), StopRequested(JobStatus.FINISHED))
    assert (job.phase, commands) == (Phase.ENDED, ["END"])


def test_a_cancel_interrupts_the_running_epoch():
    job, commands = drive(started(), Planned(True), StopRequested(JobStatus.CANCELED))
    assert commands == ["INTERRUPT"]
    job, commands = drive(job, Failed(ENGINE))
    assert (job.status, commands, job.error) == (JobStatus.CANCELED, ["END"], None)


def test_a_user_error_fails_the_job_unless_it_has_a_restart_strategy():
    job, commands = drive(started(), Planned(True), Failed(USER))
    assert (job.status, job.error, commands) == (JobStatus.FAILED, USER, ["END"])
    job, commands = drive(started(RestartPolicy(attempts=1)), Planned(True), Failed(USER))
    assert commands == ["BACK_OFF"]
    job, commands = drive(job, Woken())
    assert commands == ["RECOVER"]
    job, commands = drive(job, Recovered(False), Published(), Planned(True), Failed(USER))
    assert (job.status, commands) == (JobStatus.FAILED, ["END"])


def test_a_lost_worker_is_tried_again_three_times():
    job = started()
    for _ in range(3):
        job, commands = drive(job, Planned(True), Failed(ENGINE))
        assert commands == ["BACK_OFF"]
        job, _ = drive(job, Woken(), Recovered(False), Published())
    job, commands = drive(job, Planned(True), Failed(ENGINE))
    assert (job.status, commands) == (JobStatus.FAILED, ["END"])


def test_a_committed_epoch_forgives_the_failures_before_it():
    job, _ = drive(started(), Planned(True), Failed(ENGINE), Woken(), Recovered(False), Published())
    job, _ = drive(job, Planned(True), EpochRan(), Committed(False))
    assert (job.failures, job.engine_failures) == (0, 0)


def test_a_fenced_driver_gives_up_at_once():
    job, commands = drive(
        started(RestartPolicy(attempts=9)), Planned(True), EpochRan(), Failed(FencedError("lost"))
    )
    assert (job.status, commands) == (JobStatus.FAILED, ["END"])


@pytest.mark.parametrize("error", [StateMismatchError("x"), StateCorruptedError("x"), ProgramError("x")])
def test_what_no_retry_can_mend_fails_at_once(error):
    job, commands = drive(Job(RestartPolicy(attempts=9)), Failed(error))
    assert (job.status, commands, job.error) == (JobStatus.FAILED, ["END"], error)


def test_a_cancel_that_comes_too_late_to_interrupt_still_throws_the_epoch_away():
    job, commands = drive(started(), Planned(True), StopRequested(JobStatus.CANCELED), EpochRan())
    assert (job.status, commands) == (JobStatus.CANCELED, ["END"])


def committed():
    return drive(started(), Planned(True), EpochRan(), Committed(False))[0]


def test_publishing_is_tried_again_without_a_restart_strategy():
    job = committed()
    for _ in range(3):
        job, commands = drive(job, Failed(USER))
        assert (commands, job.delay_ms) == (["BACK_OFF"], RestartPolicy().engine_delay_ms)
        job, commands = drive(job, Woken(), Recovered(False))
        assert commands == ["PUBLISH"]
    job, commands = drive(job, Failed(USER))
    assert (job.status, job.error, commands) == (JobStatus.FAILED, USER, ["END"])


def test_a_stop_waits_until_what_is_committed_is_published():
    job, commands = drive(committed(), StopRequested(JobStatus.FINISHED), Failed(USER))
    assert commands == ["BACK_OFF"]
    job, commands = drive(job, Woken(), Recovered(False), Published())
    assert (job.status, commands) == (JobStatus.FINISHED, ["END"])
    job, commands = drive(committed(), Failed(USER), StopRequested(JobStatus.FINISHED), Woken())
    assert commands == ["RECOVER"]


def test_a_failure_after_a_stop_that_no_restart_strategy_forgives_is_told():
    job, commands = drive(started(), Planned(True), StopRequested(JobStatus.FINISHED), Failed(USER))
    assert (job.status, job.error, commands) == (JobStatus.FAILED, USER, ["END"])


events = st.sampled_from(
    [
        Recovered(False),
        Recovered(True),
        Published(),
        Planned(True),
        Planned(False, 5),
        EpochRan(),
        Committed(False),
        Committed(True),
        Failed(USER),
        Failed(ENGINE),
        Woken(),
        StopRequested(JobStatus.FINISHED),
        StopRequested(JobStatus.CANCELED),
    ]
)


@given(st.lists(events, max_size=30))
def test_an_ended_job_stays_ended_and_asks_for_nothing(sequence):
    job = Job(RestartPolicy(attempts=1))
    for event in sequence:
        ended = job.phase is Phase.ENDED
        following, commands = step(job, event)
        if ended:
            assert (following, commands) == (job, ())
        assert (Command.END in commands) == (following.phase is Phase.ENDED and not ended)
        job = following


@pytest.mark.parametrize("status", [JobStatus.FINISHED, JobStatus.CANCELED])
def test_a_failure_after_a_stop_does_not_hold_the_job(status):
    job, commands = drive(
        started(RestartPolicy(attempts=9)), Planned(True), StopRequested(status), Failed(USER)
    )
    assert (job.status, commands) == (status, ["END"])
