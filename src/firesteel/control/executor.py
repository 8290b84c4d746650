"""The interface between the epoch loop and an executor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from firesteel.checkpoint.compaction import MergeTask
from firesteel.runtime.plan import EpochPlan, Plan, TaskReport
from firesteel.runtime.processes import JvmView
from firesteel.state.live.durable import RunRef


class Executor(Protocol):
    """Runs epochs of one plan.

    Contract: `run` executes one epoch and returns a report of every task, or raises: a FiresteelError from the program,
    or an EngineError if the executor itself failed. Nothing that a failed epoch wrote is visible. `merge` carries out a
    part of a compaction, and may be called from another thread while an epoch runs. `carry_out` carries out calls of
    the program's sinks between epochs; it raises as `run` does. `interrupt` may be called from another thread and
    returns at once. Then a running `run` or `carry_out` raises soon, and every later one raises, too; if the
    program's code hangs, that takes an executor that can end its process. `jvm` may be called from any thread, and
    raises an EngineError if the JVM does not answer. `close` ends the executor for good.
    """

    def run(self, plan: Plan, epoch: EpochPlan) -> list[TaskReport]:
        """Run one epoch."""

    def merge(self, task: MergeTask) -> RunRef | None:
        """Merge runs into one; return None if nothing is left of them."""

    def carry_out(self, calls: Sequence[Callable[[], None]]) -> None:
        """Carry out picklable calls in the workers, several at a time, each at least once."""

    def interrupt(self) -> None:
        """Make the running epoch and all later ones fail."""

    def jvm(self, *, threads: bool) -> JvmView | None:
        """Return what there is to see of the JVM of the epochs, with its threads or not; None if there is none."""

    def close(self) -> None:
        """Release workers, sessions and working copies."""
