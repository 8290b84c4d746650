"""The parallelism of a running job changes between its epochs, and nothing else does."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from firesteel.checkpoint.log import ManifestReader
from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import FiresteelError
from firesteel.control.maintenance import MaintenancePolicy
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.testing import LocalExecutor, ManualClock, executing
from tests.recovery import ledger, pipeline
from tests.recovery.jobs import Watch, start

pytestmark = pytest.mark.usefixtures("machine")


def run(directory, watch, *, parallelism=2, epoch_records=5, compact_every=3, **more):
    """Run the pipeline, with state that is compacted and cleaned up again and again between epochs."""

    with executing(
        state_dir=str(directory / "state"),
        parallelism=parallelism,
        epoch_records=epoch_records,
        clock=ManualClock(1_000_000),
        listener=watch,
        retained=2,
        maintenance=MaintenancePolicy(compact_every, compact_every + 1, inline=True),
        **more,
    ):
        env = StreamExecutionEnvironment.get_execution_environment()
        pipeline.build(env, directory)
        return start(env, watch).wait(120)


@pytest.fixture
def place(tmp_path):
    pipeline.write_input(tmp_path / "in")
    yield tmp_path
    ledger.forget(str(tmp_path))


def widths(directory):
    """The parallelism of keyed operators in each epoch that is kept."""
    reader = ManifestReader(Storage.of(directory / "state"))
    manifests = [reader.read(epoch) for epoch in reader.epochs()]
    return [max(found.parallelism for found in manifest.operators.values()) for manifest in manifests]


@pytest.mark.parametrize("changes", [{2: 3, 4: 1, 6: 2}, {1: 5, 2: 1, 3: 4}, {3: 7}, {1: 2, 2: 2}])
def test_output_is_that_of_a_job_that_was_left_alone(place, changes):
    answers = []

    def act(handle, stats):
        if stats.epoch in changes:
            answers.append(handle.rescale(changes[stats.epoch]))

    run(place, Watch(act))
    assert pipeline.output(place) == pipeline.expected()
    assert [answer.result() for answer in answers] == [f"parallelism {width}" for width in changes.values()]
    assert widths(place)[-1] == list(changes.values())[-1]


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.dictionaries(st.integers(1, 12), st.integers(1, 6), max_size=6), size=st.integers(4, 30))
def test_any_changes_at_any_time(tmp_path_factory, changes, size):
    place = tmp_path_factory.mktemp("job")
    pipeline.write_input(place / "in")
    try:
        run(place, Watch(lambda handle, stats: changes.get(stats.epoch) and handle.rescale(changes[stats.epoch])),
            epoch_records=size, compact_every=2)  # fmt: skip
        assert pipeline.output(place) == pipeline.expected()
    finally:
        ledger.forget(str(place))


def test_a_parallelism_that_the_program_cannot_have_is_refused_and_the_job_goes_on(place):
    answers = []
    run(place, Watch(lambda handle, stats: answers.append(handle.rescale(1000))))
    with pytest.raises(FiresteelError, match="parallelism of at most its max parallelism 128; got 1000"):
        answers[0].result()
    assert pipeline.output(place) == pipeline.expected()


def test_a_rescale_that_the_job_ends_before_is_answered(place):
    answers = []

    def act(handle, stats):
        if stats.finished:
            answers.append(handle.rescale(3))

    run(place, Watch(act))
    with pytest.raises(FiresteelError, match="FINISHED"):
        answers[0].result()


def test_a_driver_that_is_started_again_takes_the_parallelism_of_its_program(place):
    def act(handle, stats):
        if stats.epoch == 2:
            handle.rescale(4)
        if stats.epoch == 5:
            handle.stop()

    run(place, Watch(act))
    assert widths(place)[-1] == 4
    run(place, Watch(lambda handle, stats: None), parallelism=3)
    assert widths(place)[-1] == 3
    assert pipeline.output(place) == pipeline.expected()


@pytest.mark.parametrize("wanted", [(4,), (4, 3)], ids=["once", "twice"])
def test_a_parallelism_that_is_kept_lasts_until_the_program_has_another(place, wanted):
    def keep(handle, stats):
        if stats.epoch in (2, 4) and stats.epoch // 2 <= len(wanted):
            handle.rescale(wanted[stats.epoch // 2 - 1], keep=True)
        if stats.epoch == 5:
            handle.stop()

    def stop(handle, stats):
        handle.stop()

    run(place, Watch(keep))
    run(place, Watch(stop))
    assert widths(place)[-1] == wanted[-1]
    run(place, Watch(stop))
    assert widths(place)[-1] == wanted[-1]
    run(place, Watch(stop), parallelism=5)
    assert widths(place)[-1] == 5
    run(place, Watch(lambda handle, stats: None))
    assert widths(place)[-1] == 2
    assert pipeline.output(place) == pipeline.expected()


def test_a_kept_parallelism_may_be_changed_after_a_restart(place):
    for wanted in (4, 3):

        def keep(handle, stats, wanted=wanted):
            handle.rescale(wanted, keep=True)
            if stats.epoch % 2 == 0:
                handle.stop()

        run(place, Watch(keep))
    run(place, Watch(lambda handle, stats: None))
    assert widths(place)[-1] == 3
    assert pipeline.output(place) == pipeline.expected()


class FailsAfter(LocalExecutor):
    """Fails one epoch, the first that runs at parallelism 3."""

    failed = False

    def run(self, plan, epoch):
        reports = super().run(plan, epoch)
        if max(plan.levels) == 3 and not FailsAfter.failed:
            FailsAfter.failed = True
            raise RuntimeError("struck")
        return reports


def test_the_first_epoch_at_a_new_parallelism_may_fail(place, monkeypatch):
    monkeypatch.setattr(FailsAfter, "failed", False)
    watch = Watch(lambda handle, stats: handle.rescale(3) if stats.epoch == 3 else None)

    state = str(place / "state")
    clock = ManualClock(1_000_000)
    with executing(FailsAfter, state_dir=state, parallelism=2, epoch_records=5, clock=clock, listener=watch):
        env = StreamExecutionEnvironment.get_execution_environment()
        pipeline.build(env, place)
        start(env, watch).wait(120)
    assert FailsAfter.failed
    assert pipeline.output(place) == pipeline.expected()
