"""One run of one system in its own process: start, wait, check, and read the figures from its files.

A result is visible as soon as its file has its final name. That moment is the file's change time (ctime), which a
rename sets and nothing changes afterwards; both systems make results visible by renaming.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bench.environments import pyflink_python
from bench.part import RunError
from bench.process import System, started
from bench.yahoo.command import Task
from bench.yahoo.events import WINDOW_MS, Load, Start

TIMEOUT_S: Final = 300


FIRESTEEL: Final = System("Firesteel", "on_firesteel", "", lambda: Path(sys.executable))
PROCESS: Final = System("PyFlink, process mode", "on_pyflink", "process", pyflink_python)
THREAD: Final = System("PyFlink, thread mode", "on_pyflink", "thread", pyflink_python)


@dataclass(frozen=True)
class Visible:
    """Results that became visible together: seconds after the start, and the starts of their windows, counted."""

    at: float
    windows: Counter[int]


@dataclass(frozen=True)
class Outcome:
    """One run: its files in order of appearance, and the generator's (seconds after the start, lag)."""

    load: Load
    visible: list[Visible]
    lags: list[tuple[float, float]]

    @property
    def seconds(self) -> float:
        """From the first event to the last result."""
        return self.visible[-1].at

    def latencies(self, after_s: float) -> list[float]:
        """Return the seconds from each window's end until its result was visible, in order.

        Only windows count that ended by themselves, `after_s` after the start or later.
        """
        load, found = self.load, []
        for file in self.visible:
            for start, results in file.windows.items():
                end = (start + WINDOW_MS - load.first_ms) / 1000
                if after_s <= end < load.seconds:
                    found += [file.at - end] * results
        return sorted(found)


def run(system: System, load: Load) -> Outcome:
    """Run the job. Raises RunError if it fails or counts wrongly."""
    directory = Path(tempfile.mkdtemp(prefix="firesteel-bench-"))
    try:
        _require_change_times(directory)
        task = Task(load, system.mode, directory)
        _execute(system, task)
        start = Start(task.start).read()
        visible = _checked(system, load, Path(task.target), start)
        return Outcome(load, visible, sorted(_lags(directory)))
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _execute(system: System, task: Task) -> None:
    work = task.directory / "work"
    work.mkdir()
    with started(
        f"{system.title}: {task.load}",
        ["-m", f"bench.yahoo.{system.module}", *task.arguments],
        TIMEOUT_S,
        system.python(),
        {"SPARK_LOCAL_DIRS": str(work), "TMPDIR": str(work)},
    ) as process:
        process.output.read()


def _checked(system: System, load: Load, target: Path, start: float) -> list[Visible]:
    counts: Counter[tuple[int, int]] = Counter()
    visible = []
    results = 0
    for path in target.iterdir():
        if path.name.startswith("."):
            continue
        windows: Counter[int] = Counter()
        for line in path.read_text(encoding="ascii").splitlines():
            window, campaign, count = map(int, line.split())
            counts[window, campaign] += count
            windows[window] += 1
        results += sum(windows.values())
        visible.append(Visible(path.stat().st_ctime_ns / 1e9 - start, windows))
    expected = load.expected()
    if counts != expected or results != len(expected):
        raise RunError(
            f"{system.title}: {load} gave {results} results that count {counts.total()} views, "
            f"not {len(expected)} that count {expected.total()}; or some of the counts are not right"
        )
    return sorted(visible, key=lambda file: file.at)


def _lags(directory: Path) -> Iterator[tuple[float, float]]:
    for path in directory.glob("lag-*"):
        for line in path.read_text(encoding="ascii").splitlines():
            elapsed, lag = map(float, line.split())
            yield elapsed, lag


def _require_change_times(directory: Path) -> None:
    file = directory / "probe"
    file.touch()
    made = file.stat().st_ctime_ns
    deadline = time.monotonic() + 1
    while file.stat().st_ctime_ns == made:
        if time.monotonic() > deadline:
            raise RunError(f"{directory} is on a file system where a rename does not set the change time")
        renamed = file.with_name(f"{file.name}-")
        file = file.rename(renamed if not renamed.exists() else directory / "probe")
    file.unlink()
