"""One run: the long job, short jobs one after the other, files that keep arriving, and the verdicts at the end."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from bench.process import sampling
from firesteel.datastream.ambient import Ambient, surrounded_by
from soak.drift import FEWEST, Verdict, judged
from soak.measures import ALONE, BESIDE, LIMITS, Epochs, Sampler, Series, Work, cpu_s
from soak.program import run_short_job, start_long_job

WARM_UP: Final = 0.4
"""The part of a run that is not judged: workers start, caches fill, compaction finds its rhythm."""

_WARM_SHORT_JOBS: Final = 12
_WARM_EPOCHS: Final = 24
"""What must have happened in the warm-up at least: all workers and threads have started then."""

_FILES_EVERY_S: Final = 0.5
_LOOK_EVERY_S: Final = 1.0
_EPOCHS_BETWEEN: Final = 3
"""Epochs of the long job between two short jobs."""


@dataclass(frozen=True)
class Outcome:
    """What was measured and what came of it; `output` is the number of lines the long job's sink has made visible."""

    series: Series
    verdicts: list[Verdict]
    short_jobs: int
    files: int
    output: int
    warm_up_s: float

    @property
    def drifting(self) -> list[str]:
        """The names of what grew more than it may."""
        return [verdict.limit.name for verdict in self.verdicts if verdict.drifts]


def run(directory: Path, seconds: float, say: Callable[[str], None]) -> Outcome:
    """Run for so many seconds, or longer until enough has happened, in a process that does nothing else.

    Raises what a job raises.

    The run must be the first to start Spark there: it sets the directory of Spark's local files.
    """
    watched, output, state, local = (directory / name for name in ("watched", "output", "state", "local"))
    for made in (watched, local):
        made.mkdir(parents=True)
    os.environ["SPARK_LOCAL_DIRS"] = str(local)
    series = Series()
    arriving = _Arriving(watched)
    sampler = Sampler(series, state, local)
    epochs = Epochs(series)
    work = Work(series, epochs, lambda: cpu_s() - sampler.cpu_s)
    with surrounded_by(Ambient(listeners=(epochs,))):
        client = start_long_job(watched, output, state)
    short_jobs = 0
    try:
        with sampling(arriving.another, _FILES_EVERY_S), sampling(sampler.look, _LOOK_EVERY_S):
            while series.now < seconds or not _can_be_judged(series, _warm_up_s(series, seconds)):
                work.note(ALONE, lambda: None, _EPOCHS_BETWEEN)
                work.note(BESIDE, partial(_timed_short_job, series, short_jobs), 1)
                short_jobs += 1
                if short_jobs % 20 == 0:
                    say(f"{series.now:6.0f} s: {short_jobs} short jobs, {epochs.count} epochs")
    finally:
        client.stop().result()
        client.get_job_execution_result().result()
    warm_up = _warm_up_s(series, seconds)
    verdicts = [judged(limit, series.values[limit.name], warm_up) for limit in LIMITS]
    lines = sum(path.read_text().count("\n") for path in output.rglob("[!.]*") if path.is_file())
    return Outcome(series, verdicts, short_jobs, arriving.count, lines, warm_up)


def _timed_short_job(series: Series, number: int) -> None:
    began = series.now
    run_short_job(number)
    series.add("short job", (series.now - began) * 1000)


def _warm_up_s(series: Series, seconds: float) -> float:
    """When the warm-up of a run of so many seconds ends: a busy machine takes longer to get through it."""
    needed = (("short job", _WARM_SHORT_JOBS), ("epoch", _WARM_EPOCHS))
    ends = [series.values[name][count - 1][0] for name, count in needed if len(series.values[name]) >= count]
    return max([WARM_UP * seconds, *ends]) if len(ends) == len(needed) else float("inf")


def _can_be_judged(series: Series, warm_up_s: float) -> bool:
    """Whether enough has happened since the warm-up."""
    return all(sum(at >= warm_up_s for at, _ in series.values[limit.name]) >= 2 * FEWEST for limit in LIMITS)


class _Arriving:
    """Files that come into a directory whole, a line each."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.count = 0

    def another(self) -> None:
        """Let another one arrive."""
        hidden = self._directory / f".{self.count:06d}"
        hidden.write_text(f"file,{self.count}\n")
        hidden.rename(self._directory / f"{self.count:06d}.txt")
        self.count += 1
