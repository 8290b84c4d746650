"""What `stop`, `cancel`, `savepoint` and `rescale` do: to a job in a state directory, or to one in a cluster."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

from firesteel.common.errors import ConfigurationError
from firesteel.control import asking
from firesteel.rest.client import ClusterJob, is_cluster


def stop_job(job: str, *, with_savepoint: bool, target: str | None, timeout: float, drain: bool) -> str:
    """End a job after its running epoch; return where the savepoint is, or where it ended."""
    if is_cluster(job):
        place, found = _not_relative(target), ClusterJob(job)
        return found.stop(with_savepoint=with_savepoint, target=place, timeout=timeout, drain=drain)
    directory = asking.open_job(job)
    return asking.stop(directory, with_savepoint=with_savepoint, target=target, timeout=timeout, drain=drain)


def cancel_job(job: str, timeout: float) -> str:
    """End a job at once; return how it ended."""
    if is_cluster(job):
        return ClusterJob(job).cancel(timeout)
    return asking.ask(asking.open_job(job), "cancel", None, timeout)


def take_savepoint(job: str, target: str | None, timeout: float) -> str:
    """Take a savepoint of a job; return where it is."""
    if is_cluster(job):
        place = _not_relative(target)
        return ClusterJob(job).savepoint(place, timeout)
    return asking.savepoint(asking.open_job(job), target, timeout)


def rescale_job(job: str, parallelism: int, timeout: float, *, keep: bool) -> str:
    """Change the parallelism of a running job; return its answer."""
    if is_cluster(job):
        return ClusterJob(job).rescale(parallelism, timeout, keep=keep)
    return asking.ask(asking.open_job(job), "rescale", str(parallelism), timeout, keep=keep)


def _not_relative(target: str | None) -> str | None:
    """Return a directory for a savepoint of a cluster's job. Raises ConfigurationError for a relative path."""
    if target is None or urlsplit(target).scheme or Path(target).is_absolute():
        return target
    raise ConfigurationError(
        "requires an absolute path or a URL for a job in a cluster",
        who="DIR",
        got=target,
        hint="the job's driver writes the savepoint, and has another working directory",
    )
