"""Partial matches through failures, savepoints and changes of parallelism; patterns that have changed meanwhile."""

from __future__ import annotations

import pytest

from firesteel.common.errors import StateMismatchError
from firesteel.testing import ManualClock
from tests.recovery import ledger
from tests.recovery.crashing import Crasher, points
from tests.recovery.pattern_jobs import JOBS, SKIP, Job, _skipping, loop

pytestmark = pytest.mark.usefixtures("machine")

LOOP = JOBS["a loop that may time out"]
CHANGES = [(1, 3), (3, 1), (2, 3), (3, 2), (2, 2)]
WHOLE: dict[str, list] = {}


def whole(name, tmp_path):
    """What one run of a job finds, left alone."""
    if name not in WHOLE:
        WHOLE[name] = JOBS[name].run(tmp_path / "whole")
        ledger.forget(str(tmp_path / "whole"))
        assert len(WHOLE[name]) > 5
        assert any(row[0] != "match" for row in WHOLE[name]) == JOBS[name].aside
    return WHOLE[name]


@pytest.fixture
def directory(tmp_path):
    yield tmp_path / "job"
    ledger.forget(str(tmp_path / "job"))


def stop_after(epoch):
    return lambda handle, stats: handle.stop() if stats.epoch == epoch else None


@pytest.mark.parametrize("epoch", [1, 4, 7])
@pytest.mark.parametrize(("before", "after"), CHANGES)
def test_matches_go_on_at_another_parallelism(tmp_path, directory, before, after, epoch):
    found = whole("a loop that may time out", tmp_path)
    begun = LOOP.run(directory, parallelism=before, act=stop_after(epoch))
    assert len(begun) < len(found)
    assert LOOP.run(directory, parallelism=after) == found


@pytest.mark.parametrize("name", JOBS)
def test_any_pattern_goes_on_at_another_parallelism(tmp_path, directory, name):
    clock = ManualClock(1_000_000)
    for epoch, parallelism in ((3, 1), (5, 3), (6, 2), (None, 1)):
        rows = JOBS[name].run(directory, parallelism=parallelism, act=stop_after(epoch), clock=clock)
    assert rows == whole(name, tmp_path)


@pytest.mark.parametrize("name", JOBS)
def test_any_pattern_goes_on_when_the_job_is_rescaled_while_it_runs(tmp_path, directory, name):
    changes, answers = {2: 3, 4: 1, 6: 2}, []

    def act(handle, stats):
        if stats.epoch in changes:
            answers.append(handle.rescale(changes[stats.epoch]))

    assert JOBS[name].run(directory, parallelism=2, act=act) == whole(name, tmp_path)
    assert [answer.result() for answer in answers] == ["parallelism 3", "parallelism 1", "parallelism 2"]


@pytest.mark.parametrize("name", JOBS)
def test_any_pattern_goes_on_from_a_savepoint(tmp_path, directory, name):
    """Also its timers: the second job has no state of its own."""
    clock, answers = ManualClock(1_000_000), []

    def act(handle, stats):
        if stats.epoch == 5:
            answers.append(handle.stop(str(tmp_path / "savepoints")))

    JOBS[name].run(directory, parallelism=2, act=act, clock=clock)
    restored = answers[0].result()
    rows = JOBS[name].run(directory, parallelism=3, clock=clock, state="second", restore_from=restored)
    assert rows == whole(name, tmp_path)


@pytest.mark.parametrize(
    "what",
    [
        "before the manifest",
        pytest.param("after writing a run of 0", marks=pytest.mark.thorough),
        pytest.param("before booking", marks=pytest.mark.thorough),
    ],
)
@pytest.mark.parametrize("name", JOBS)
def test_any_pattern_goes_on_after_a_crash_in_each_epoch(tmp_path, directory, name, what):
    if JOBS[name].by_clock and what == "before booking":
        pytest.skip("the epoch is committed, but the clock of the test does not know it")
    struck: set = set()
    clock = ManualClock(1_000_000)
    while True:
        crasher = Crasher(lambda count, point: point[1] == what and point not in struck)
        with points(crasher):
            try:
                JOBS[name].run(directory, parallelism=1 + len(struck) % 2, clock=clock, on=crasher.executor)
            except Exception:
                if crasher.crashed is None:
                    raise
        if crasher.crashed is None:
            break
        struck.add(crasher.crashed)
    assert len(struck) > 5
    assert sorted(ledger.rows(str(directory)), key=repr) == whole(name, tmp_path)


def test_conditions_may_change(tmp_path, directory):
    """What was taken before the change stays, and goes on by the new conditions."""
    before = LOOP.run(directory, parallelism=2, act=stop_after(5))
    after = LOOP.run(directory, parallelism=3, pattern=loop(last="b"))
    assert after != whole("a loop that may time out", tmp_path)
    assert all(row in after for row in before)
    later = [match for kind, match, *_ in after if kind == "match" and match["c"][0][1] == "b"]
    assert any(match["a"][0][2] < 5 * 6 * 3 for match in later), "a match that began before the change"


def test_code_of_conditions_may_change_from_a_savepoint(tmp_path, directory):
    answers = []

    def act(handle, stats):
        if stats.epoch == 5:
            answers.append(handle.stop(str(tmp_path / "savepoints")))

    LOOP.run(directory, parallelism=2, act=act)
    same = loop()
    same.where(lambda event: event[1] in ("c", "d"))
    rows = LOOP.run(directory, parallelism=1, pattern=same, state="second", restore_from=answers[0].result())
    assert rows == whole("a loop that may time out", tmp_path)


OTHER_SHAPES = {
    "a further step": (lambda: loop().next("d"), "+ 1 d normal"),
    "another name": (lambda: loop().get_previous().followed_by("d"), "- 1 c normal; + 1 d normal"),
    "another skip strategy": (_skipping(SKIP.skip_to_next()), "- no_skip; + skip_to_next"),
}


@pytest.mark.parametrize("what", OTHER_SHAPES)
@pytest.mark.parametrize("way", ["state", "savepoint"])
def test_state_of_a_pattern_with_other_steps_is_refused(tmp_path, directory, what, way):
    answers = []

    def act(handle, stats):
        if stats.epoch == 5:
            answers.append(handle.stop(str(tmp_path / "savepoints") if way == "savepoint" else None))

    LOOP.run(directory, parallelism=2, act=act)
    pattern, difference = OTHER_SHAPES[what]
    started = {} if way == "state" else {"state": "second", "restore_from": answers[0].result()}
    with pytest.raises(StateMismatchError, match="requires a pattern of the shape") as raised:
        LOOP.run(directory, parallelism=3, pattern=pattern(), **started)
    assert difference in str(raised.value)


def test_another_skip_strategy_for_the_same_steps_is_refused(directory):
    before, after = Job(_skipping(SKIP.no_skip())), Job(_skipping(SKIP.skip_past_last_event()))
    before.run(directory, act=stop_after(4))
    with pytest.raises(StateMismatchError, match="- no_skip; \\+ skip_past_last_event"):
        after.run(directory)
