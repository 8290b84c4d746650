"""Takes the samples for flame graphs: it adds the request to epochs, and gathers what their tasks found.

Contract: `ask` from any thread; `on` before each epoch and `took` after it, with no tasks if it failed. The time of a
request begins at once or, if an epoch runs, when that ends. A request ends when its time is over and no epoch runs that
it was added to. Then the samples are in the state directory (`firesteel.control.views.flamegraphs`), and the answer is
the name of their file.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Final

from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import FiresteelError
from firesteel.control.views.flamegraphs import FILE, FlameSamples, Stack, write_samples
from firesteel.runtime.plan import EpochPlan, Plan, TaskReport
from firesteel.runtime.sampling import Sampling, unsupported

INTERVAL_MS: Final = 10
"""Time between two samples of a task."""


@dataclass
class _Request:
    seconds: float
    until: int = 0
    added: bool = False
    answer: Future[str] = field(default_factory=Future)
    found: Counter[tuple[str, int, bool, tuple[str, ...]]] = field(default_factory=Counter)
    timer: threading.Timer | None = None


class FlameSampling:
    """The samples of one job, one request at a time: who asks meanwhile gets the same answer."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._lock = threading.Lock()
        self._request: _Request | None = None
        self._in_epoch = False
        self._runs = False

    def ask(self, seconds: float) -> Future[str]:
        """Take samples for so long. Raises UnsupportedError where they cannot be taken."""
        reason = unsupported()
        if reason is not None:
            raise reason
        with self._lock:
            request = self._request
            if request is None:
                request = self._request = _Request(seconds)
                self._begin(request)
            return request.answer

    def on(self, epoch: EpochPlan) -> EpochPlan:
        """Return the epoch, with a request to its tasks if samples are wanted."""
        with self._lock:
            self._runs = True
            if self._request is None or _now() >= self._request.until:
                return epoch
            self._in_epoch = self._request.added = True
            return replace(epoch, sampling=Sampling(INTERVAL_MS, self._request.until))

    def took(self, plan: Plan, tasks: Sequence[TaskReport]) -> None:
        """Add what the tasks of an epoch found."""
        with self._lock:
            self._in_epoch = self._runs = False
            if self._request is not None:
                if not self._request.added:
                    self._begin(self._request)
                for sample in (sample for task in tasks for sample in task.samples):
                    operator = plan.operators[sample.operator].id
                    self._request.found[operator, sample.subtask, sample.on_cpu, sample.stack] += sample.times
        self._end()

    def close(self) -> None:
        """Take no more samples."""
        with self._lock:
            if self._request is not None and self._request.timer is not None:
                self._request.timer.cancel()

    def _begin(self, request: _Request) -> None:
        """Let the time of a request begin now."""
        if request.timer is not None:
            request.timer.cancel()
        request.until = _now() + int(request.seconds * 1000)
        request.timer = threading.Timer(request.seconds, self._end)
        request.timer.daemon = True
        request.timer.start()

    def _end(self) -> None:
        with self._lock:
            request = self._request
            if request is None or self._in_epoch or _now() < request.until:
                return
            if self._runs and not request.added:
                return
            self._request = None
        found = tuple(Stack(*place, times) for place, times in request.found.items())
        try:
            write_samples(self._storage, FlameSamples(_now(), INTERVAL_MS, found))
        except FiresteelError as error:
            request.answer.set_exception(error)
        else:
            request.answer.set_result(FILE)


def _now() -> int:
    return time.time_ns() // 1_000_000
