"""Crashes at the steps of a job: the process seems to stop there, and nothing is tidied up behind it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from firesteel.control.settings import JobSettings
from firesteel.runtime.outbox import Row
from firesteel.runtime.plan import EpochPlan, Plan, TaskReport
from firesteel.testing.executor import LocalExecutor

Dies = Callable[[int, str], bool]


class Crash(BaseException):
    """The process is gone. The engine catches no such exception: nothing goes on after it."""


class Steps:
    """The steps of one run of a job, numbered from 1; it crashes at the first for which `dies(number, what)` is true.

    Contract: whoever takes part calls `take` before or after what could be the last thing that it does. After the crash
    every step crashes: whatever still runs is gone, too. A copy made by pickle is the same object.

    >>> steps = Steps(lambda _number, what: what == "after the commit")
    >>> steps.take("before the commit")
    >>> try:
    ...     steps.take("after the commit")
    ... except Crash:
    ...     steps.crashed_at
    'after the commit'
    """

    _known: ClassVar[dict[str, Steps]] = {}

    def __init__(self, dies: Dies) -> None:
        self._dies = dies
        self._name = uuid.uuid4().hex
        self._known[self._name] = self
        self.taken: list[str] = []
        self.crashed_at: str | None = None

    def take(self, what: str) -> None:
        """Note a step, or crash there."""
        if self.crashed_at is not None:
            raise Crash
        self.taken.append(what)
        if self._dies(len(self.taken), what):
            self.crashed_at = what
            raise Crash

    @contextmanager
    def around(self, what: str) -> Iterator[None]:
        """Take a step before and one after what is done in the block."""
        self.take(f"before {what}")
        yield
        self.take(f"after {what}")

    def executor(self, job_id: str, state_url: str, settings: JobSettings) -> LocalExecutor:
        """Return an executor in this process that takes steps, and that a crash leaves as it is."""
        return _SteppingExecutor(job_id, state_url, settings, self)

    def __reduce__(self) -> tuple[Any, ...]:
        return _known, (self._name,)


def _known(name: str) -> Steps:
    return Steps._known[name]


class _SteppingExecutor(LocalExecutor):
    def __init__(self, job_id: str, state_url: str, settings: JobSettings, steps: Steps) -> None:
        super().__init__(job_id, state_url, settings)
        self._steps = steps

    def run(self, plan: Plan, epoch: EpochPlan) -> list[TaskReport]:
        with self._steps.around("an epoch"):
            return super().run(plan, epoch)

    def _run_level(self, plan: Plan, epoch: EpochPlan, level: int, width: int, rows: list[Row]) -> list[Row]:
        with self._steps.around(f"level {level}"):
            return super()._run_level(plan, epoch, level, width, rows)

    def close(self) -> None:
        if self._steps.crashed_at is None:
            super().close()
