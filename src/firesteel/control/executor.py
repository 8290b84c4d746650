"""What the epoch loop needs of an executor."""

from __future__ import annotations

from typing import Protocol

from firesteel.runtime.plan import EpochPlan, Plan, SubtaskReport


class Executor(Protocol):
    """Runs epochs of one plan.

    Contract: `run` executes one epoch and returns a report of every operator subtask, or raises: a
    FiresteelError from the program, an EngineError when the executor itself failed. Nothing a failed epoch
    wrote is visible. `interrupt` may be called from another thread and makes a running `run` raise soon.
    `close` ends it for good.
    """

    def run(self, plan: Plan, epoch: EpochPlan) -> list[SubtaskReport]:
        """Run one epoch."""

    def interrupt(self) -> None:
        """Make the running epoch fail."""

    def close(self) -> None:
        """Release workers, sessions and working copies."""
