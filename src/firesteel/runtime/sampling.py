"""Samples of where tasks are, for flame graphs: the stack of a task's thread, looked at from another thread.

It costs nothing while nobody asks. A sample belongs to the operator that the task's stopwatch counts for; there is none
while the task waits for input or hands over output. A thread counts as on the processor if it could run for at least
half of the time since the sample before: it ran, or (where the system tells, as Linux does) waited for a core. So do
threads of Java that are RUNNABLE. Its state at the moment says nothing, since it waits for the interpreter while the
sampler looks.
"""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, TracebackType
from typing import Final, NamedTuple

from firesteel.common.errors import UnsupportedError
from firesteel.runtime.usage import Stopwatch

_MOST_FRAMES: Final = 400
_TASK: Final = "firesteel.runtime.task"
_JOIN_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Sampling:
    """The request to look at each task every `interval_ms`, until the wall clock's time `until` (milliseconds)."""

    interval_ms: int
    until: int


class Sample(NamedTuple):
    """How often an operator subtask was found in a stack, which has the outermost call first."""

    operator: int
    subtask: int
    on_cpu: bool
    stack: tuple[str, ...]
    times: int


def unsupported() -> UnsupportedError | None:
    """Return why there are no samples on this machine: on and off CPU differ by the processor time of a thread."""
    if hasattr(time, "pthread_getcpuclockid"):
        return None
    return UnsupportedError(
        "needs to know the processor time of a thread, which this system does not tell",
        who="a flame graph",
        got=sys.platform,
        hint="run the job on Linux",
    )


class Sampler:
    """Takes samples of the thread that enters it, until it leaves; none where `unsupported` has a reason."""

    def __init__(self, request: Sampling, subtask: int, watch: Stopwatch) -> None:
        self._request = request
        self._subtask = subtask
        self._watch = watch
        self._found: Counter[tuple[int, bool, tuple[str, ...]]] = Counter()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look_on, name="firesteel-sampler", daemon=True)
        self._looked_at = 0

    def __enter__(self) -> Sampler:
        if unsupported() is not None:  # the job goes on
            return self
        self._looked_at = threading.get_ident()
        self._runnable = _runnable_time(self._looked_at, threading.get_native_id())
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join(_JOIN_S)

    def samples(self) -> list[Sample]:
        """Return what was found so far."""
        return [
            Sample(operator, self._subtask, on_cpu, stack, times)
            for (operator, on_cpu, stack), times in self._found.copy().items()
        ]

    def _look_on(self) -> None:
        wall, used = time.perf_counter_ns(), self._runnable()
        while not self._ended.wait(self._request.interval_ms / 1000):
            if time.time() * 1000 > self._request.until:
                return
            operator = self._watch.owner.operator
            frame = sys._current_frames().get(self._looked_at)
            now, now_used = time.perf_counter_ns(), self._runnable()
            on_cpu = 2 * (now_used - used) >= now - wall
            wall, used = now, now_used
            if operator >= 0 and frame is not None:
                self._found[operator, on_cpu, stack_of(frame)] += 1


def _runnable_time(thread: int, native: int) -> Callable[[], int]:
    """Return what tells for how long (nanoseconds) a thread of this process ran or waited for a core."""
    schedule = Path(f"/proc/self/task/{native}/schedstat")
    if not schedule.exists():
        clock = time.pthread_getcpuclockid(thread)
        return lambda: time.clock_gettime_ns(clock)
    return lambda: sum(map(int, schedule.read_bytes().split()[:2]))


def stack_of(frame: FrameType) -> tuple[str, ...]:
    """Return the calls that led to a frame, outermost first: those inside of a task."""
    calls: list[str] = []
    current: FrameType | None = frame
    while current is not None and len(calls) < _MOST_FRAMES:
        module = current.f_globals.get("__name__", "?")
        if module == _TASK and current.f_code.co_name == "run":
            break
        calls.append(f"{module}.{current.f_code.co_qualname}:{current.f_lineno}")
        current = current.f_back
    return tuple(reversed(calls))
