"""What the drivers of jobs say of their processes when they are asked, and Flink's numbers for it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Literal

from firesteel.common.decoders import json_decoder
from firesteel.common.errors import StateError
from firesteel.control.asking import ask
from firesteel.control.own_process import thread_text
from firesteel.control.views.flamegraphs import FlameSamples
from firesteel.control.views.plans import Vertex
from firesteel.rest.page.shared import Shared
from firesteel.rest.standing import Standing
from firesteel.runtime.processes import ProcessView, ThreadView

UNKNOWN: Final = -1
"""Flink's number for an amount that is not known."""

_PATIENCE_S: Final = 5.0
"""How long a driver may take to answer."""

_SILENT_S: Final = 30.0
"""One that did not answer is not asked again for so long."""

_FRESH_S: Final = 2.0
_AT_ONCE: Final = 16
_MEMORY: Final = tuple(
    f"{part}{what}" for part in ("heap", "nonHeap") for what in ("Used", "Committed", "Max")
) + tuple(f"{part}{what}" for part in ("direct", "mapped") for what in ("Count", "Used", "Max"))
_NETTY: Final = tuple(
    f"nettyShuffleMemory{part}{what}" for part in ("Segments", "") for what in ("Available", "Used", "Total")
)
"""Of Flink's network stack, of which there is none here."""


def memory_asked(job: Standing) -> ProcessView:
    """Return the memory of a job's driver. Raises StateError if it does not say."""
    return _asked(job, "memory")


def threads_asked(job: Standing) -> ProcessView:
    """Return the same, with the threads of the driver."""
    return _asked(job, "threads")


def _asked(job: Standing, what: Literal["memory", "threads"]) -> ProcessView:
    answer = ask(job.storage(), "inspect", what, _PATIENCE_S)
    return json_decoder(ProcessView).decode(answer)


class Processes:
    """The memory of drivers, which `look` asks for; who asks soon after another gets the same answer."""

    def __init__(self, look: Callable[[Standing], ProcessView] = memory_asked) -> None:
        self._look = look
        self._now: Shared[ProcessView] = Shared(_FRESH_S)
        self._first: Shared[ProcessView] = Shared(float("inf"))
        self._silent: Shared[bool] = Shared(_SILENT_S)

    def of(self, job: Standing) -> ProcessView | None:
        """Return the memory of a job's driver; None if it does not say: it ends, or has too much to do."""
        if self._silent.at_hand(job.record_id):
            return None
        try:
            return self._now.of(job.record_id, lambda: self._look(job))
        except StateError:
            self._silent.of(job.record_id, lambda: True)
            return None

    def first(self, jobs: list[Standing]) -> list[ProcessView | None]:
        """Return what the drivers of jobs said first, as Flink lists what task managers had at their start."""
        known = [self._first.at_hand(_driver(job)) for job in jobs]
        if None not in known:
            return known
        with ThreadPoolExecutor(_AT_ONCE, "firesteel-asking") as threads:
            return list(threads.map(self._first_of, jobs))

    def _first_of(self, job: Standing) -> ProcessView | None:
        known = self._first.at_hand(_driver(job))
        if known is None and (found := self.of(job)) is not None:
            known = self._first.of(_driver(job), lambda: found)
        return known


def _driver(job: Standing) -> str:
    return f"{job.record_id}-{job.listening.started_at if job.listening else 0}"


def memory_of(process: ProcessView | None) -> dict[str, Any]:
    """Return the memory of a process as Flink's details of a task manager have it."""
    jvm = None if process is None else process.jvm
    figures = {} if jvm is None else jvm.memory
    collectors = () if jvm is None else jvm.collectors
    rows = [{"name": each.name, "count": each.count, "time": each.time} for each in collectors]
    total = {
        "name": "All",
        "count": sum(each.count for each in collectors),
        "time": sum(each.time for each in collectors),
    }
    return {
        **{name: figures.get(name, UNKNOWN) for name in _MEMORY},
        **dict.fromkeys(_NETTY, 0),
        "garbageCollectors": [total, *rows] if rows else [],
    }


def metrics_of(process: ProcessView | None) -> dict[str, float]:
    """Return the memory of a process by the names of Flink's metrics."""
    if process is None or process.jvm is None:
        return {}
    memory = process.jvm.memory
    known = {f"Status.JVM.Memory.{name}": _bounded(memory.get(key)) for name, key in _METRICS.items()}
    collected = {
        f"Status.JVM.GarbageCollector.{each.name}.{what}": getattr(each, what.lower())
        for each in process.jvm.collectors
        for what in ("Count", "Time")
    }
    return {name: value for name, value in {**known, **collected}.items() if value is not None}


def _bounded(figure: int | None) -> int | None:
    """Return a figure; the machine's memory for a bound that there is not: Flink's JVMs have bounds for all."""
    return machine_memory() if figure == UNKNOWN else figure


def machine_memory() -> int:
    """Return the memory of this machine (bytes)."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


_METRICS: Final = {
    **{
        f"{part}.{what}": f"{part[0].lower()}{part[1:]}{what}"
        for part in ("Heap", "NonHeap", "Metaspace")
        for what in ("Used", "Committed", "Max")
    },
    **{
        f"{part}.{name}": f"{part.lower()}{what}"
        for part in ("Direct", "Mapped")
        for name, what in {"Count": "Count", "MemoryUsed": "Used", "TotalCapacity": "Max"}.items()
    },
}


def task_threads(job: Standing, samples: FlameSamples) -> Iterator[ThreadView]:
    """Yield where the subtasks of each vertex were found most often, as the threads of Flink's tasks are shown."""
    for vertex in job.vertices:
        for subtask in range(vertex.parallelism):
            calls = _most_frequent(vertex, subtask, samples)
            if calls:
                name = f"{vertex.name} ({subtask + 1}/{vertex.parallelism})#{job.restarts}"
                about = f"in a worker, at {samples.ended_at}"
                yield ThreadView(name, thread_text(name, about, calls[::-1]))


def _most_frequent(vertex: Vertex, subtask: int, samples: FlameSamples) -> tuple[str, ...]:
    operators = {operator.id for operator in vertex.operators}
    found: Counter[tuple[str, ...]] = Counter()
    for stack in samples.stacks:
        if stack.subtask == subtask and stack.operator in operators:
            found[stack.calls] += stack.times
    return found.most_common(1)[0][0] if found else ()
