"""The part of a job's settings that shapes its plan."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

RuntimeMode = Literal["STREAMING", "BATCH", "AUTOMATIC"]


@dataclass(frozen=True)
class PlanSettings:
    """What the compiler is told besides the graph; `JobSettings` adds what only running it needs.

    `parallelism` and `max_parallelism` apply to operations that set none of their own. `chaining=False` puts every
    operation into a chain of its own. `watermark_interval` is how often periodic watermarks are due (milliseconds).
    `state_memory` is how many bytes of state a worker process keeps in memory (None: by what memory it has).
    """

    job_name: str = "Flink Streaming Job"
    parallelism: int = 1
    max_parallelism: int = 128
    runtime_mode: RuntimeMode = "STREAMING"
    chaining: bool = True
    job_parameters: dict[str, str] = field(default_factory=dict)
    watermark_interval: int = 200
    state_memory: int | None = None
