"""Where and how the jobs of a `with` block run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

from firesteel.control.clock import Clock
from firesteel.control.launch import ExecutorFactory, spark_executor
from firesteel.control.listeners import JobListener
from firesteel.control.settings import JobSettings
from firesteel.datastream.ambient import Ambient, surrounded_by
from firesteel.testing.executor import LocalExecutor


@contextmanager
def executing(
    on: Literal["process", "spark"] | ExecutorFactory = "process",
    *,
    epoch_records: int | None = None,
    parallelism: int | None = None,
    state_dir: str | None = None,
    clock: Clock | None = None,
    listener: JobListener | None = None,
    **more: Any,
) -> Iterator[None]:
    """Run the jobs started in this block in this process (or on Spark), cut into epochs of at most `epoch_records`.

    `parallelism` is the job's unless an operator has its own. `clock` gives the processing time (default:
    the machine's). `more` are further fields of `firesteel.control.JobSettings`; any other name raises TypeError.
    """
    factories: dict[str, ExecutorFactory] = {"process": LocalExecutor, "spark": spark_executor}
    factory = factories[on] if isinstance(on, str) else on

    def adapt(settings: JobSettings) -> JobSettings:
        changes: dict[str, Any] = {**more}
        if epoch_records is not None:
            changes["max_epoch_records"] = epoch_records
        if parallelism is not None:
            changes["parallelism"] = parallelism
        if state_dir is not None:
            changes["state_dir"] = state_dir
        if listener is not None:
            changes["listeners"] = (*settings.listeners, listener)
        return replace(settings, **changes)

    with surrounded_by(Ambient(executor=factory, clock=clock, adapt=adapt)):
        yield
