"""The job's state machine: what follows from what, asserted on the commands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.common.errors import (
    FencedError,
    ProgramError,
    StateCorruptedError,
    StateMismatchError,
)
from firesteel.common.job_status import JobStatus
from firesteel.control.events import (
    Command,
    Committed,
    EpochRan,
    Event,
    EvolutionNeeded,
    Evolved,
    Failed,
    Phase,
    Planned,
    Published,
    Recovered,
    Rescaled,
    RescaleRequested,
    Saved,
    SavepointRequested,
    StopRequested,
    Woken,
)
from firesteel.control.machine import Job, RestartPolicy, step
from firesteel.control.transitions import TRANSITIONS, drawing, following
from tests.control.machines import DRAIN, ENGINE, USER, drive, started


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


def test_a_savepoint_is_taken_before_the_next_epoch_is_planned():
    job, commands = drive(started(), Planned(True), SavepointRequested())
    assert commands == []
    job, commands = drive(job, EpochRan(), Committed(False), Published())
    assert (job.phase, commands) == (Phase.SAVING, ["SAVE"])
    assert drive(job, Saved())[1] == ["PLAN"]


def test_what_is_asked_of_a_waiting_job_comes_before_another_plan():
    waiting = drive(started(), Planned(False))[0]
    job, commands = drive(waiting, RescaleRequested(), SavepointRequested(), Woken())
    assert commands == ["SAVE"]
    job, commands = drive(job, Saved())
    assert commands == ["RESCALE"]
    assert drive(job, Rescaled())[1] == ["PLAN"]


def test_what_is_asked_of_a_planning_job_is_not_waited_for():
    assert drive(started(), SavepointRequested(), Planned(False))[1] == ["SAVE"]


def test_a_savepoint_outlives_a_failure():
    job, _ = drive(started(), Planned(True), SavepointRequested(), Failed(ENGINE), Woken(), Recovered(False))
    assert drive(job, Published())[1] == ["SAVE"]


def test_a_stop_while_a_savepoint_begins_ends_the_job_after_it():
    job, _ = drive(
        started(), Planned(False), SavepointRequested(), Woken(), StopRequested(JobStatus.FINISHED)
    )
    assert drive(job, Saved())[1] == ["END"]


def test_state_of_another_type_is_converted_and_the_job_goes_on_from_there():
    job, commands = drive(started(), Planned(True), EvolutionNeeded())
    assert commands == ["EVOLVE"]
    job, commands = drive(job, Evolved())
    assert commands == ["RECOVER"]
    assert drive(job, Recovered(False), Published())[1] == ["PLAN"]


@pytest.mark.parametrize("error", [StateMismatchError("a value does not fit"), StateCorruptedError("x")])
def test_a_conversion_that_cannot_be_fails_the_job(error):
    job, commands = drive(started(RestartPolicy(attempts=9)), Planned(True), EvolutionNeeded(), Failed(error))
    assert (job.status, job.error, commands) == (JobStatus.FAILED, error, ["END"])


def test_a_cancelled_job_converts_nothing():
    job, commands = drive(started(), Planned(True), StopRequested(JobStatus.CANCELED), EvolutionNeeded())
    assert (job.status, commands) == (JobStatus.CANCELED, ["END"])


def test_a_drain_is_one_more_epoch_and_then_the_end():
    job, commands = drive(started(), Planned(True), DRAIN, EpochRan(), Committed(False), Published())
    assert commands == ["DRAIN"]
    job, commands = drive(job, Planned(True), EpochRan(), Committed(True), Published())
    assert (job.status, commands) == (JobStatus.FINISHED, ["END"])


def test_a_drain_that_fails_is_tried_again():
    job, commands = drive(started(), Planned(False), DRAIN, Woken(), Planned(True), Failed(ENGINE))
    assert commands == ["BACK_OFF"]
    assert drive(job, Woken(), Recovered(False), Published())[1] == ["DRAIN"]


def test_a_stop_ends_a_job_that_is_being_drained():
    job, commands = drive(started(), DRAIN, StopRequested(JobStatus.FINISHED))
    assert (job.status, commands) == (JobStatus.FINISHED, ["END"])


def test_a_stop_does_not_take_a_cancel_back():
    job, commands = drive(
        started(),
        Planned(True),
        StopRequested(JobStatus.CANCELED),
        StopRequested(JobStatus.FINISHED),
        Failed(ENGINE),
    )
    assert (job.status, commands) == (JobStatus.CANCELED, ["END"])


EVENTS: dict[type[Event], st.SearchStrategy[Event]] = {
    Recovered: st.builds(Recovered, st.booleans()),
    Published: st.just(Published()),
    Saved: st.just(Saved()),
    Rescaled: st.just(Rescaled()),
    Planned: st.builds(Planned, st.booleans()),
    EpochRan: st.just(EpochRan()),
    EvolutionNeeded: st.just(EvolutionNeeded()),
    Evolved: st.just(Evolved()),
    Committed: st.builds(Committed, st.booleans(), st.booleans()),
    Failed: st.sampled_from([Failed(USER), Failed(ENGINE), Failed(FencedError("lost"))]),
    Woken: st.just(Woken()),
    StopRequested: st.sampled_from(
        [StopRequested(JobStatus.FINISHED), StopRequested(JobStatus.CANCELED), DRAIN]
    ),
    SavepointRequested: st.just(SavepointRequested()),
    RescaleRequested: st.just(RescaleRequested()),
}

ANSWERS = {
    Command.RECOVER: [Recovered, Failed],
    Command.PUBLISH: [Published, Failed],
    Command.SAVE: [Saved, Failed],
    Command.RESCALE: [Rescaled, Failed],
    Command.PLAN: [Planned, Failed],
    Command.RUN: [EpochRan, EvolutionNeeded, Failed],
    Command.COMMIT: [Committed, Failed],
    Command.EVOLVE: [Evolved, Failed],
    Command.WAIT: [Woken],
    Command.BACK_OFF: [Woken],
}
PLANS = {Command.PLAN, Command.DRAIN}
NEED_ALL_PUBLISHED = {
    Command.COMMIT,
    Command.SAVE,
    Command.RESCALE,
    Command.EVOLVE,
    Command.WAIT,
    Command.END,
}
REQUESTS = [StopRequested, SavepointRequested, RescaleRequested]


def answer_to(command, data):
    if command is Command.DRAIN:  # there is always a last epoch to run
        return data.draw(st.sampled_from([Planned(True), Failed(ENGINE)]))
    return data.draw(EVENTS[data.draw(st.sampled_from(ANSWERS[command]))])


@given(st.data())
def test_whatever_a_job_meets_the_loop_has_exactly_one_thing_to_do(data):
    """The loop answers each command with an event; requests come at any time. `step` asserts the table meanwhile.

    What is committed is published before anything is committed, saved, changed or waited for, and before the end,
    unless publishing fails.
    """
    job, command = Job(RestartPolicy(attempts=1)), Command.RECOVER
    unpublished = True
    for _ in range(40):
        for request in data.draw(st.lists(st.sampled_from(REQUESTS), max_size=2)):
            job, commands = step(job, data.draw(EVENTS[request]))
            assert set(commands) <= {Command.INTERRUPT, Command.END}
            assert (Command.INTERRUPT in commands) <= (job.phase is Phase.RUNNING)
        ended = job.phase is Phase.ENDED
        event = answer_to(command, data)
        job, commands = step(job, event)
        unpublished = (unpublished or isinstance(event, Committed)) and not isinstance(event, Published)
        if unpublished and not isinstance(event, Failed):
            assert not {*commands} & NEED_ALL_PUBLISHED
        if ended or commands == (Command.END,):
            assert job.phase is Phase.ENDED
            assert commands == (() if ended else (Command.END,))
            return
        *beside, command = commands
        assert beside == ([Command.PUBLISH_BESIDE] if job.publishing and command in PLANS else [])
        assert job.publishing <= (job.phase in {Phase.PLANNING, Phase.RUNNING, Phase.PUBLISHING})
        assert (job.held is not None) == (job.publishing and job.phase is Phase.PUBLISHING)


@given(st.sampled_from(Phase), st.data())
def test_what_the_table_does_not_have_cannot_happen(phase, data):
    kind = data.draw(st.sampled_from(list(EVENTS)))
    event = data.draw(EVENTS[kind])
    job = Job(RestartPolicy(), phase=phase)
    if phase is Phase.ENDED:
        assert step(job, event) == (job, ())
    elif following(phase, kind):
        assert step(job, event)[0].phase in following(phase, kind)
    else:
        with pytest.raises(AssertionError, match=f"{kind.__name__} cannot come while a job is {phase.name}"):
            step(job, event)


def test_every_arrow_of_the_table_is_taken():
    """What no job can do is not in the table: a search over all jobs of few failures takes every arrow."""
    samples = {
        Recovered: [Recovered(False), Recovered(True)],
        Planned: [Planned(True), Planned(False)],
        Committed: [Committed(False), Committed(True), Committed(False, beside=True)],
        Failed: [Failed(USER), Failed(ENGINE)],
        StopRequested: [StopRequested(JobStatus.FINISHED), StopRequested(JobStatus.CANCELED), DRAIN],
    }
    events = [event for kind in EVENTS for event in samples.get(kind) or [kind()]]
    first = Job(RestartPolicy(attempts=1, engine_attempts=1))
    seen, left, taken = {first}, [first], set()
    while left:
        job = left.pop()
        for event in events:
            if not following(job.phase, type(event)) or job.phase is Phase.ENDED:
                continue
            after, _ = step(job, event)
            taken.add((job.phase, type(event), after.phase))
            if after not in seen:
                seen.add(after)
                left.append(after)
    assert {
        (phase, kind, other) for (phase, kind), others in TRANSITIONS.items() for other in others
    } <= taken


def test_the_drawing_in_the_docs_is_drawn_from_the_table(project):
    assert f"```mermaid\n{drawing()}\n```" in (project / "docs" / "architecture.md").read_text("utf-8")


@pytest.mark.parametrize("status", [JobStatus.FINISHED, JobStatus.CANCELED])
def test_a_failure_after_a_stop_does_not_hold_the_job(status):
    job, commands = drive(
        started(RestartPolicy(attempts=9)), Planned(True), StopRequested(status), Failed(USER)
    )
    assert (job.status, commands) == (status, ["END"])
