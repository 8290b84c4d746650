"""What the epoch loop needs of an executor."""

from __future__ import annotations

from typing import Protocol

from firesteel.checkpoint.compaction import MergeTask
from firesteel.runtime.plan import EpochPlan, Plan, TaskReport
from firesteel.state.live.durable import RunRef


class Executor(Protocol):
    """Runs epochs of one plan.

    Contract: `run` executes one epoch and returns a report of every task, or raises: a
    FiresteelError from the program, an EngineError when the executor itself failed. Nothing a failed epoch
    wrote is visible. `merge` carries out a part of a compaction, and may be called from another thread while an
    epoch runs. `interrupt` may be called from another thread and returns at once; a running `run` raises soon, even
    if the program's code hangs where a process can be ended for it, and every later one does. `close` ends it for
    good.
    """

    def run(self, plan: Plan, epoch: EpochPlan) -> list[TaskReport]:
        """Run one epoch."""

    def merge(self, task: MergeTask) -> RunRef | None:
        """Merge runs into one; None if nothing is left of them."""

    def interrupt(self) -> None:
        """Make the running epoch fail, and any that is still asked for."""

    def close(self) -> None:
        """Release workers, sessions and working copies."""
