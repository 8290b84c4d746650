"""How much memory a Python worker has, according to the machine, its container and Spark."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

_SHARE_OF_STATE: Final = 8
_LEAST: Final = 32 << 20
_MOST: Final = 512 << 20
_CGROUPS: Final = Path("/sys/fs/cgroup")
_PYSPARK_MEMORY_MB: Final = "PYSPARK_EXECUTOR_MEMORY_MB"
"""The variable in which Spark passes a worker its share of `spark.executor.pyspark.memory`."""


def default_state_memory(environment: Mapping[str, str] = os.environ) -> int:
    """Return how many bytes of state a worker keeps in memory by default: an eighth of the worker's memory.

    The worker's memory is its share of `spark.executor.pyspark.memory` if that is set. Otherwise it is its part of the
    container's or machine's memory, shared by as many workers as there are cores. The result is at least 32 MiB and at
    most 512 MiB.
    """
    asked = environment.get(_PYSPARK_MEMORY_MB, "")
    own = int(asked) << 20 if asked.isdecimal() else _memory() // _cores()
    return min(max(own // _SHARE_OF_STATE, _LEAST), _MOST)


def container_limit(own: str, root: Path = _CGROUPS) -> int | None:
    """Return the lowest memory limit (bytes) of a process's control groups; None if there is none.

    `own` is the content of `/proc/self/cgroup`. Limits of enclosing groups apply as well. Control groups of version 1
    and 2.
    """
    return min(
        (int(text) for text in map(_read, _limit_files(own, root)) if text.isdecimal()),
        default=None,
    )


def _limit_files(own: str, root: Path) -> Iterator[Path]:
    for line in own.splitlines():
        _, controllers, path = line.split(":", 2)
        group = Path(path.lstrip("/"))
        if not controllers:
            yield from (root / part / "memory.max" for part in (group, *group.parents))
        elif "memory" in controllers.split(","):
            yield from (root / "memory" / part / "memory.limit_in_bytes" for part in (group, *group.parents))


def _memory() -> int:
    machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = container_limit(_read(Path("/proc/self/cgroup")))
    return machine if limit is None else min(machine, limit)


def _cores() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS
        return os.cpu_count() or 1


def _read(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
