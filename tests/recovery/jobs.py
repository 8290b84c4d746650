"""Jobs in this process, watched and stopped from their own thread, so that no test waits for time to pass."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from firesteel.checkpoint.log import ManifestLog
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.splits import finished_splits
from firesteel.common import Configuration
from firesteel.control import EpochStats, JobHandle
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import KeyedProcessFunction
from firesteel.datastream.state import ValueStateDescriptor
from firesteel.testing import ManualClock, executing


class Count(KeyedProcessFunction):
    """Numbers the records of each key."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count"))

    def process_element(self, value, ctx):
        self.count.update((self.count.value() or 0) + 1)
        yield ctx.get_current_key(), self.count.value()


class Watch:
    """Calls `act(handle, stats)` after each epoch, on the job's thread."""

    def __init__(self, act: Callable[[JobHandle, EpochStats], None]) -> None:
        self._act = act
        self._handle: JobHandle | None = None
        self._started = threading.Event()
        self.epochs: list[EpochStats] = []

    def on_epoch(self, stats: EpochStats) -> None:
        self.epochs.append(stats)
        assert self._started.wait(30)
        assert self._handle is not None
        self._act(self._handle, stats)

    def follow(self, handle: JobHandle) -> JobHandle:
        """Say which job this is."""
        self._handle = handle
        self._started.set()
        return handle


@contextmanager
def environment(
    directory: Path,
    *,
    options: Mapping[str, str] | None = None,
    clock: ManualClock | None = None,
    **more: Any,
) -> Iterator[StreamExecutionEnvironment]:
    """An environment whose job runs in this process, with its state in `directory`/state."""
    clock = clock or ManualClock(1_000_000)
    with executing(**{"state_dir": str(directory / "state"), "clock": clock, "parallelism": 1, **more}):
        configuration = Configuration.from_dict(dict(options or {}))
        yield StreamExecutionEnvironment.get_execution_environment(configuration)


def start(env: StreamExecutionEnvironment, watch: Watch | None = None) -> JobHandle:
    """Start the program; the handle can stop it, which PyFlink's JobClient cannot."""
    handle: JobHandle = env.execute_async()._handle  # type: ignore[assignment]
    _running[:] = [handle]
    return watch.follow(handle) if watch else handle


_running: list[JobHandle] = []


def running_job() -> JobHandle:
    """The job started last, for functions in it; it has one that watches it, and so is known after an epoch."""
    return _running[0]


class Interrupting(ManualClock):
    """Has something done in the middle of a wait: of the first that is at least so long."""

    def __init__(self, at_least: int, act: Callable[[], object]) -> None:
        super().__init__(1_000_000)
        self.at_least, self.act = at_least, act
        self.acted_at: int | None = None
        self.waits: list[tuple[int, int]] = []

    def wait(self, timeout_ms: int, wakeup: threading.Event) -> None:
        """Let time pass, half of it before the act."""
        before = self.now()
        if timeout_ms >= self.at_least and self.acted_at is None:
            self.acted_at = before
            self.advance(timeout_ms // 2)
            self.act()
        super().wait(timeout_ms, wakeup)
        self.waits.append((before, self.now()))


def restarting(attempts: int, delay: str = "10 s") -> dict[str, str]:
    """Options for so many restarts."""
    return {
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": str(attempts),
        "restart-strategy.fixed-delay.delay": delay,
    }


def fails_once(marker: Path, error: BaseException | None = None) -> None:
    """Raise, the first time this is called for `marker`."""
    if not marker.exists():
        marker.touch()
        raise error or RuntimeError("struck")


def lines(directory: Path) -> list[str]:
    """The lines of all part files that are visible, sorted."""
    parts = [path for path in directory.rglob("*") if path.is_file() and not path.name.startswith(".")]
    return sorted(line for path in parts for line in path.read_text().splitlines())


def records_read(state: Path) -> int:
    """Return how many records of its one source the job with a state directory has read and committed."""
    storage = Storage.of(state)
    log = ManifestLog.open(storage)
    assert log is not None
    manifest = log.latest()
    assert manifest is not None
    [progress] = manifest.sources.values()
    unfinished = sum(split.position for split in progress.unfinished.values())
    return unfinished + sum(finished_splits(storage, progress).values())
