"""The part of a job's settings that determines its plan."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

RuntimeMode = Literal["STREAMING", "BATCH", "AUTOMATIC"]


@dataclass(frozen=True)
class PlanSettings:
    """The settings of the compiler; `JobSettings` adds those that only the run needs.

    `parallelism` and `max_parallelism` apply to operations that set none. `chaining=False` puts every operation into
    its own chain. `watermark_interval` is the interval of periodic watermarks (milliseconds).
    `state_memory` is how many bytes of state a worker process keeps in memory (None: depends on the machine's memory).
    `latency_interval` is how often sources send markers of latency (0: never; milliseconds).
    """

    job_name: str = "Flink Streaming Job"
    parallelism: int = 1
    max_parallelism: int = 128
    runtime_mode: RuntimeMode = "STREAMING"
    chaining: bool = True
    job_parameters: dict[str, str] = field(default_factory=dict)
    watermark_interval: int = 200
    state_memory: int | None = None
    latency_interval: int = 0
