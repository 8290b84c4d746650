"""Everything about a job that is not its graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from firesteel.common.log_context import LogForm
from firesteel.common.python_dependencies import PythonDependencies
from firesteel.compiler import PlanSettings
from firesteel.control.listeners import JobListener
from firesteel.control.machine import RestartPolicy
from firesteel.control.maintenance import MaintenancePolicy
from firesteel.control.reporting.reporters import ReporterSettings


@dataclass(frozen=True)
class JobSettings(PlanSettings):
    """How a job runs: `PlanSettings`, and settings that do not affect its plan.

    `state_dir` is a path or URL that every worker can reach; None makes a temporary directory that is removed when
    the job ends. `master` is a Spark master URL (None: an active session's, else `local[parallelism]`). `epoch_ms`
    is the duration an epoch aims at, and `epoch_interval_ms` the least time between the beginnings of two of them
    if the first left nothing to read (milliseconds); `max_epoch_records` bounds an epoch in records, and
    `max_epoch_bytes` in bytes that one subtask takes in and sends. `configuration` holds further Spark settings
    (`spark.*`); `python` is the Python environment of the workers; `worker_setup` is called once in each worker
    process before anything of the program is unpickled. `restore_from` and `allow_non_restored_state`: see
    `firesteel.control.restoring.open_history`. `savepoint_dir` is the directory of savepoints that name none (None:
    below the state directory); `retained` is the least number of epochs that you can start from, and with
    `read_by_others` those that others read are kept, too (`firesteel.checkpoint.readers`). `job_id` is the id of a
    job that is new (None: a random one). `reporters` send the job's metrics elsewhere. `log_form` is the format of
    what the job logs (None: that of the process).
    """

    state_dir: str | None = None
    master: str | None = None
    epoch_ms: int = 1000
    epoch_interval_ms: int = 0
    max_epoch_records: int = 4_000_000
    max_epoch_bytes: int = 256 << 20
    configuration: dict[str, str] = field(default_factory=dict)
    python: PythonDependencies = field(default_factory=PythonDependencies)
    worker_setup: Callable[[], None] | None = None
    restart: RestartPolicy = field(default_factory=RestartPolicy)
    restore_from: str | None = None
    allow_non_restored_state: bool = False
    savepoint_dir: str | None = None
    retained: int = 10
    read_by_others: bool = False
    maintenance: MaintenancePolicy = field(default_factory=MaintenancePolicy)
    listeners: tuple[JobListener, ...] = ()
    job_id: str | None = None
    reporters: tuple[ReporterSettings, ...] = ()
    log_form: LogForm | None = None
