"""The systems that run SQL: a program of a benchmark in its own process, and its table environment.

This module is imported by the programs of all systems: it uses the standard library only.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from bench.environments import flink_jars, pyflink_python
from bench.process import Started, started

PARALLELISM: Final = "2"
JARS: Final = "FIRESTEEL_BENCH_FLINK_JARS"
"""The variable with the jars that Flink's package lacks."""

_FLINK: Final = {
    "table.exec.mini-batch.enabled": "true",
    "table.optimizer.agg-phase-strategy": "TWO_PHASE",
    "pipeline.object-reuse": "true",
    "taskmanager.memory.process.size": "8g",
}
"""In favour of Flink: mini-batches, two phases, object reuse, state on the heap without checkpoints, room."""

FILES: Final = {"execution.checkpointing.interval": "1 s"}
"""A streaming file sink of Flink shows its output with a checkpoint."""


@dataclass(frozen=True)
class Runtime:
    """A system that runs SQL."""

    title: str
    name: str
    python: Callable[[], Path]

    def started(
        self, who: str, command: Sequence[object], timeout_s: float, **surroundings: str
    ) -> AbstractContextManager[Started]:
        """Run the system's interpreter, as `bench.process.started` does; Flink finds the jars that it lacks."""
        if self is FLINK:
            surroundings |= {JARS: flink_jars()}
        return started(f"{self.title}: {who}", command, timeout_s, self.python(), surroundings)


FIRESTEEL: Final = Runtime("Firesteel", "firesteel", lambda: Path(sys.executable))
FLINK: Final = Runtime("Flink SQL", "flink", pyflink_python)
SPARK: Final = Runtime("Spark SQL", "spark", lambda: Path(sys.executable))


def environment(
    system: str,
    scratch: Path,
    flink: Mapping[str, str] | None = None,
    settings: Mapping[str, str] | None = None,
    *,
    batch: bool = False,
) -> Any:
    """Return the table environment of a system, made by PyFlink's names; state, if durable, is below `scratch`.

    `flink` are further settings of Flink alone, `settings` those of both systems. In BATCH mode both may give small
    inputs fewer subtasks.
    """
    given = {"parallelism.default": PARALLELISM, **(settings or {})}
    if not batch:
        given["table.exec.resource.default-parallelism"] = PARALLELISM
    if system == FIRESTEEL.name:
        importlib.import_module("firesteel.datastream.pyflink_alias").install_pyflink_alias()
        given |= {
            "firesteel.master": f"local[{PARALLELISM},4]",
            "firesteel.state-dir": str(scratch / "state"),
        }
    else:
        given |= _FLINK | dict(flink or {})
        if jars := os.environ.get(JARS):
            given["pipeline.jars"] = jars
    common, table = importlib.import_module("pyflink.common"), importlib.import_module("pyflink.table")
    configuration = common.Configuration()
    for key, value in given.items():
        configuration.set_string(key, value)
    built = table.EnvironmentSettings.new_instance().with_configuration(configuration)
    built = built.in_batch_mode() if batch else built.in_streaming_mode()
    return table.TableEnvironment.create(built.build())
