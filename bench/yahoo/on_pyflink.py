"""PyFlink: `process` mode (separate Python workers) and `thread` mode (Python inside the JVM).

Tuned for it: typed edges, object reuse, a state cache that holds every key, real worker processes (by default a local
PyFlink runs its workers as threads of one interpreter), and bundles that end after a tenth of a second, so that they
weigh little both in the rate and in the latency.
"""

from __future__ import annotations

import os
import time
from typing import Any, Final

from pyflink.common import Configuration, Types, WatermarkStrategy  # type: ignore[import-not-found]
from pyflink.datastream import (  # type: ignore[import-not-found]
    CheckpointingMode,
    MapFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.connectors.number_seq import NumberSequenceSource  # type: ignore[import-not-found]

from bench.yahoo.command import Task, start_delay, task_from_arguments
from bench.yahoo.events import LANES, Lag, Load, Start
from bench.yahoo.pipeline import count_views

WORKERS_VARIABLE: Final = "_python_worker_execution_mode"
CHECKPOINT_MS: Final = 1000
BUNDLE_MS: Final = 100
MOST_IN_BUNDLE: Final = 10_000
NAP_S: Final = 0.005
"""A source that waits wakes up this much later than it could, so that it does not wake up for each event."""


class Generate(MapFunction):  # type: ignore[misc]
    """Makes the event of a number, not before it is due; a subtask's numbers are one half of the sequence."""

    def __init__(self, load: Load, directory: str, start: str) -> None:
        self._load = load
        self._directory = directory
        self._start = start
        self._half = load.lane_count(0, LANES)

    def open(self, runtime_context: Any) -> None:
        self._began = Start(self._start).decide(start_delay(self._load))
        self._lag = Lag(self._load, self._directory)

    def map(self, number: int) -> str:
        lane, position = divmod(number, self._half)
        index = position * LANES + lane
        elapsed = time.time() - self._began
        early = self._load.due(index) - elapsed
        if self._load.paced and early > 0:
            time.sleep(early + NAP_S)
            elapsed = time.time() - self._began
        self._lag.note(index, elapsed)
        return self._load.event(index)


def environment(task: Task) -> StreamExecutionEnvironment:
    """Return a local environment with two subtasks that checkpoints every second."""
    os.environ[WORKERS_VARIABLE] = "process"
    # A bundle holds what comes in its time, as it would behind a source that waits by itself.
    bundle = MOST_IN_BUNDLE
    if task.load.paced:
        bundle = min(bundle, max(1, task.load.rate * BUNDLE_MS // 1000 // LANES))
    settings = {
        "python.execution-mode": task.mode,
        "python.fn-execution.bundle.size": str(bundle),
        "python.fn-execution.bundle.time": str(BUNDLE_MS),
        "python.state.cache-size": "1000000",
        "pipeline.object-reuse": "true",
        "execution.checkpointing.storage": "filesystem",
        "execution.checkpointing.dir": (task.directory / "checkpoints").as_uri(),
    }
    configuration = Configuration()
    for name, value in settings.items():
        configuration.set_string(name, value)
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.enable_checkpointing(CHECKPOINT_MS, CheckpointingMode.EXACTLY_ONCE)
    return env.set_parallelism(LANES)


def run(task: Task) -> None:
    """Run the job to its end."""
    env = environment(task)
    numbers = env.from_source(
        NumberSequenceSource(0, task.load.count - 1),
        WatermarkStrategy.no_watermarks(),
        "numbers",
        Types.LONG(),
    )
    events = numbers.map(Generate(task.load, str(task.directory), task.start), Types.STRING())
    count_views(events, task.load.campaigns, task.target)
    env.execute("ad views")


if __name__ == "__main__":
    run(task_from_arguments())
