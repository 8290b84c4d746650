"""The jobs below a directory, and the status of each."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Final

import msgspec

from firesteel.checkpoint.log import ManifestLog
from firesteel.checkpoint.manifest import Manifest
from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import FiresteelError
from firesteel.control.commands import RUNNING, DriverStatus, read_status

LOST: Final = "LOST"
"""The status of a job that ran at its driver's last report, which is too old."""

UNKNOWN: Final = "UNKNOWN"
DAMAGED: Final = "DAMAGED"

_AT_ONCE: Final = 8


class JobSummary(msgspec.Struct, frozen=True):
    """One job; times are milliseconds since 1970. `error` is the reason why it failed, or why it cannot be read."""

    directory: str
    name: str
    id: str
    status: str
    epoch: int = 0
    last_epoch_at: int | None = None
    parallelism: int | None = None
    host: str | None = None
    pid: int | None = None
    heartbeat_at: int | None = None
    error: str | None = None


def find_jobs(storage: Storage, now: int) -> list[JobSummary]:
    """Return the job of a directory and the jobs directly below it, by name."""
    places = [storage, *(Storage.of(storage.location(name)) for name in storage.folders())]
    with ThreadPoolExecutor(_AT_ONCE, "firesteel-jobs") as threads:
        found = [job for job in threads.map(lambda place: summarise(place, now), places) if job is not None]
    return sorted(found, key=lambda job: (job.name, job.directory))


def summarise(storage: Storage, now: int) -> JobSummary | None:
    """Return the job in a directory; None if there is none."""
    job_id = ""
    try:
        log = ManifestLog.open(storage)
        if log is None:
            return None
        job_id = log.job.job_id
        return _summary(storage, job_id, read_status(storage), log.latest(), now)
    except FiresteelError as error:
        return JobSummary(storage.url, "", job_id, DAMAGED, error=str(error))


def _summary(
    storage: Storage, job_id: str, driver: DriverStatus | None, last: Manifest | None, now: int
) -> JobSummary:
    finished = "FINISHED" if last is not None and last.finished else UNKNOWN
    return JobSummary(
        directory=storage.url,
        name=driver.job_name if driver is not None else "" if last is None else last.job_name,
        id=job_id,
        status=finished if driver is None else _status(driver, now),
        epoch=0 if last is None else last.epoch,
        last_epoch_at=None if last is None else last.created_at,
        parallelism=None if driver is None else driver.parallelism,
        host=None if driver is None else driver.host,
        pid=None if driver is None else driver.pid,
        heartbeat_at=None if driver is None else driver.heartbeat_at,
        error=None if driver is None else driver.error,
    )


def _status(driver: DriverStatus, now: int) -> str:
    return LOST if driver.status in RUNNING and not driver.alive(now) else driver.status
