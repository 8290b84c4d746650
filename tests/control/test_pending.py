"""What is asked of a job: each request is answered once, whatever becomes of the job."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firesteel.common.errors import ProgramError, StateError
from firesteel.common.job_status import JobStatus
from firesteel.control.machine import Job, RestartPolicy
from firesteel.control.pending import Pending


class Keeper:
    """Takes savepoints, or fails to."""

    def __init__(self, error: Exception | None = None) -> None:
        self.taken: list[tuple[int, str | None]] = []
        self.error = error

    def savepoint(self, epoch: int, target: str | None) -> Future[str]:
        self.taken.append((epoch, target))
        answer: Future[str] = Future()
        answer.set_exception(self.error) if self.error else answer.set_result(f"{target}/{epoch}")
        return answer


def journal(epoch: int = 5, visible: bool = True) -> Any:
    return SimpleNamespace(epoch=epoch, visible=visible)


def job(status: JobStatus) -> Job:
    return Job(RestartPolicy(), status=status)


def error_of(answer: Future[str]) -> str:
    return str(answer.exception(0))


def test_savepoints_are_of_the_last_epoch():
    pending, keeper = Pending(), Keeper()
    first, second = pending.savepoint("a"), pending.savepoint(None)
    pending.take_savepoints(journal(7), keeper)
    assert (first.result(0), second.result(0)) == ("a/7", "None/7")
    pending.take_savepoints(journal(8), keeper)
    assert keeper.taken == [(7, "a"), (7, None)]


def test_there_is_no_savepoint_of_nothing():
    pending, keeper = Pending(), Keeper()
    answer = pending.savepoint(None)
    pending.take_savepoints(journal(0), keeper)
    assert "the job has not committed an epoch yet" in error_of(answer)
    assert keeper.taken == []


def test_a_checkpoint_is_the_last_epoch_between_two():
    pending, keeper = Pending(), Keeper()
    answer = pending.checkpoint()
    assert not answer.done()
    pending.take_savepoints(journal(7), keeper)
    assert (answer.result(0), keeper.taken) == ("7", [])
    too_early = pending.checkpoint()
    pending.take_savepoints(journal(0), keeper)
    assert "the job has not committed an epoch yet" in error_of(too_early)


@pytest.mark.parametrize(("status", "done"), [(JobStatus.FINISHED, True), (JobStatus.CANCELED, False)])
def test_a_checkpoint_that_the_end_of_the_job_overtakes(status: JobStatus, done: bool):
    pending = Pending()
    answer = pending.checkpoint()
    pending.close(job(status), journal(9), Keeper())
    assert answer.result(0) == "9" if done else f"the job is {status.name}" in error_of(answer)


def test_a_savepoint_that_fails_is_the_askers_error():
    pending = Pending()
    answer = pending.savepoint(None)
    pending.take_savepoints(journal(), Keeper(StateError("no room")))
    assert "no room" in error_of(answer)


def test_a_parallelism_the_program_does_not_allow_is_the_askers_error():
    pending, done = Pending(), []

    def change(parallelism: int) -> None:
        if parallelism > 4:
            raise ProgramError("at most 4")
        done.append(parallelism)

    answers = [pending.rescale(parallelism) for parallelism in (2, 5, 3)]
    pending.change_parallelism(change)
    assert done == [2, 3]
    assert [answers[0].result(0), answers[2].result(0)] == ["parallelism 2", "parallelism 3"]
    assert "at most 4" in error_of(answers[1])


def test_a_change_that_breaks_down_is_answered_too():
    pending = Pending()
    answer = pending.rescale(2)

    def change(parallelism: int) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        pending.change_parallelism(change)
    assert isinstance(answer.exception(0), ZeroDivisionError)


@pytest.mark.parametrize("status", [JobStatus.FINISHED, JobStatus.CANCELED, JobStatus.FAILED])
@pytest.mark.parametrize("epoch", [0, 5])
@pytest.mark.parametrize("visible", [True, False])
def test_a_savepoint_comes_with_the_end_if_that_is_a_good_one(status, epoch, visible):
    """Not of an epoch whose output is not visible: who begins with the savepoint would never put that out."""
    pending, keeper = Pending(), Keeper()
    plain, named, own, asked, wider = (
        pending.end(None),
        pending.end("here"),
        pending.end(""),
        pending.savepoint("there"),
        pending.rescale(3),
    )
    pending.close(job(status), journal(epoch, visible), keeper)
    assert plain.result(0) == f"{status.name} after epoch {epoch}"
    assert "could not be carried out" in error_of(wider)
    if status is not JobStatus.FAILED and epoch and visible:
        assert (named.result(0), own.result(0)) == ("here/5", "None/5")
    else:
        assert "could not be carried out" in error_of(named)
        assert "could not be carried out" in error_of(own)
    if status is JobStatus.FINISHED and epoch and visible:
        assert asked.result(0) == "there/5"
    else:
        assert "could not be carried out" in error_of(asked)


def test_what_is_asked_after_the_end_is_refused():
    pending = Pending()
    pending.close(job(JobStatus.FINISHED), journal(), Keeper())
    for answer in (pending.savepoint(None), pending.rescale(2), pending.end(None), pending.end("")):
        assert "the job has ended" in error_of(answer)


def test_an_answer_cannot_be_taken_back():
    pending = Pending()
    answer = pending.savepoint(None)
    assert not answer.cancel()
    pending.take_savepoints(journal(), Keeper())
    assert answer.result(0) == "None/5"


@given(
    st.lists(st.sampled_from(["savepoint", "rescale", "end", "take", "change"]), max_size=20),
    st.integers(0, 20),
)
def test_everything_is_answered_once_in_any_order(steps, closes_at):
    pending, keeper, answers = Pending(), Keeper(), []
    for number, step in enumerate(steps):
        if number == closes_at:
            pending.close(job(JobStatus.FINISHED), journal(), keeper)
        if step == "savepoint":
            answers.append(pending.savepoint(None))
        elif step == "rescale":
            answers.append(pending.rescale(2))
        elif step == "end":
            answers.append(pending.end(""))
        elif step == "take":
            pending.take_savepoints(journal(), keeper)
        else:
            pending.change_parallelism(lambda parallelism: None)
    pending.close(job(JobStatus.FINISHED), journal(), keeper)
    assert all(answer.done() for answer in answers)


def test_everything_is_answered_when_others_ask_while_the_job_ends():
    pending, answers = Pending(), []
    begun = threading.Barrier(5)

    def ask() -> None:
        begun.wait()
        for _ in range(200):
            answers.append(pending.savepoint(None))
            answers.append(pending.rescale(2))
            answers.append(pending.end(None))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    begun.wait()
    pending.take_savepoints(journal(), Keeper())
    pending.close(job(JobStatus.FINISHED), journal(), Keeper())
    for thread in threads:
        thread.join(30)
    assert len(answers) == 2400
    assert all(answer.done() for answer in answers)
