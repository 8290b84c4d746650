"""Subtasks that wander between the processes of a machine, each of which keeps its caches."""

from __future__ import annotations

import random
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firesteel.checkpoint.attach import CheckpointedState
from firesteel.control import JobSettings
from firesteel.control.maintenance import MaintenancePolicy
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.runtime.outbox import Row
from firesteel.runtime.plan import EpochPlan, Plan
from firesteel.runtime.task import Worker
from firesteel.testing import LocalExecutor, ManualClock, executing, executor
from tests.recovery import pipeline
from tests.recovery.crashing import Crasher
from tests.recovery.jobs import Watch, start

pytestmark = pytest.mark.usefixtures("machine")


class Processes(LocalExecutor):
    """Runs each task in one of several processes; some tasks run twice, and the first result is lost."""

    def __init__(self, job_id: str, state_url: str, job: JobSettings, *, seed: int) -> None:
        super().__init__(job_id, state_url, job)
        self._random = random.Random(seed)
        self._processes = [(Worker(), CheckpointedState(state_url, shared=True)) for _ in range(3)]

    def _run_level(self, plan: Plan, epoch: EpochPlan, level: int, width: int, rows: list[Row]) -> list[Row]:
        outgoing: list[Row] = []
        rows = sorted(rows, key=lambda row: (row[3], row[2]))
        for subtask in range(width):
            incoming = [row for row in rows if row[0] == subtask]
            for lost in (True, False) if self._random.random() < 0.1 else (False,):
                facts = replace(epoch.facts, attempt=f"{epoch.facts.attempt}-{lost}")
                task = plan, replace(epoch, facts=facts), level, subtask, incoming
                made = [*executor.run_task(*task, *self._random.choice(self._processes))]
            outgoing += made
        return outgoing

    def close(self) -> None:
        super().close()
        for worker, _ in self._processes:
            worker.close()


class WanderingCrasher(Crasher):
    def __init__(self, seed, dies=lambda count, point: False) -> None:
        super().__init__(dies)
        self._seed = seed

    def executor(self, job_id, state_url, settings):
        local = Processes(job_id, state_url, settings, seed=self._seed)
        close = local.close
        local.close = lambda: None if self.crashed else close()
        return local


@pytest.fixture
def met(monkeypatch):
    """For each subtask that a process has run before, how many epochs its cache has missed; None if it is lost."""
    found = []
    ask = CheckpointedState.missed

    def missed(self, address, since, until):
        steps = ask(self, address, since, until)
        found.append(None if steps is None else len(steps))
        return steps

    monkeypatch.setattr(CheckpointedState, "missed", missed)
    return found


@pytest.mark.parametrize("parallelism", [1, 2])
def test_output_is_that_of_subtasks_that_stay(directory, met, parallelism):
    pipeline.run(directory, parallelism, WanderingCrasher(1), epoch_records=4)
    assert pipeline.output(directory) == pipeline.expected()
    assert {1, 2} <= set(met)
    assert met.count(None) < len(met) / 4


@pytest.mark.parametrize("changes", [{4: 3, 9: 1, 14: 2}, {3: 1, 4: 2, 12: 1, 13: 2}])
def test_changes_of_the_parallelism_under_way(directory, met, changes):
    def act(handle, stats):
        if stats.epoch in changes:
            handle.rescale(changes[stats.epoch])

    watch = Watch(act)
    with executing(
        lambda *arguments: Processes(*arguments, seed=2),
        state_dir=str(directory / "state"),
        parallelism=2,
        epoch_records=4,
        clock=ManualClock(1_000_000),
        listener=watch,
        retained=2,
        maintenance=MaintenancePolicy(3, 4, inline=True),
    ):
        env = StreamExecutionEnvironment.get_execution_environment()
        pipeline.build(env, directory)
        start(env, watch).wait(120)
    assert pipeline.output(directory) == pipeline.expected()
    assert set(met) & {1, 2, 3}


@settings(max_examples=6, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 200), st.booleans(), st.integers(1, 2)), max_size=4),
    st.integers(0, 1 << 30),
)
def test_crashes_at_any_points_of_subtasks_that_wander(crashes, seed):
    with (
        tempfile.TemporaryDirectory() as name,
        pipeline.made(Path(name)),
        pytest.MonkeyPatch.context() as patch,
    ):
        directory = Path(name)
        patch.setenv("SPARK_LOCAL_DIRS", f"{name}/machines/0")
        for number, (dies_at, moves, parallelism) in enumerate(crashes):
            if moves:
                patch.setenv("SPARK_LOCAL_DIRS", f"{name}/machines/{number}")
            crasher = WanderingCrasher(seed + number, lambda count, point, last=dies_at: count == last)
            pipeline.run(directory, parallelism, crasher, epoch_records=5)
        pipeline.run(directory, 2, WanderingCrasher(seed), epoch_records=5)
        assert pipeline.output(directory) == pipeline.expected()
