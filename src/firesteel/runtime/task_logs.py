"""What a task tells the log: the job, the epoch, and the operator subtask that runs when something is logged."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from firesteel.common.log_context import (
    LogContext,
    WorkingSubtask,
    current_log_context,
    logging_for,
)
from firesteel.runtime.plan import EpochPlan, Plan
from firesteel.runtime.usage import Stopwatch


@contextmanager
def logging_for_task(plan: Plan, epoch: EpochPlan, subtask: int, watch: Stopwatch) -> Iterator[None]:
    """Have what is logged in the block be of this task.

    The operator is the one that the task's stopwatch counts for. Other threads do not know theirs.
    """
    thread = threading.get_ident()

    def working() -> WorkingSubtask | None:
        index = watch.owner.operator
        if index < 0 or threading.get_ident() != thread:
            return None
        spec = plan.operators[index]
        return WorkingSubtask(spec.name, subtask, spec.parallelism)

    around = current_log_context() or LogContext(epoch.job_id, plan.job_name)
    with logging_for(replace(around, epoch=epoch.facts.number, working=working)):
        yield
