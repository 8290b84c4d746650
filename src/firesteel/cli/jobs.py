"""`firesteel jobs`: the jobs below a directory, and their status."""

from __future__ import annotations

from typing import Final

import msgspec
import typer

from firesteel.checkpoint.objects import Storage
from firesteel.cli.tables import Column, how_long, show_table
from firesteel.control.commands import RUNNING, now_ms
from firesteel.control.views.jobs import LOST, JobSummary, find_jobs
from firesteel.rest.client import ClusterClient, is_cluster

_COLUMNS: Final = (
    Column("NAME", wraps=True),
    Column("ID"),
    Column("STATUS"),
    Column("EPOCH", number=True),
    Column("LAST EPOCH"),
    Column("PARALLELISM", number=True),
    Column("DRIVER", wraps=True),
    Column("DIRECTORY", wraps=True),
)


def list_jobs(location: str, as_json: bool) -> None:
    """Print the jobs of a cluster, or of a directory and of those directly below it.

    Raises StateError if it cannot be read.
    """
    if is_cluster(location):
        _list_served(ClusterClient(location), as_json)
        return
    found = find_jobs(Storage.existing(location), now_ms())
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(found)))
        return
    if not found:
        typer.echo(f"no jobs in {location}, nor directly below it", err=True)
        return
    show_table(_COLUMNS, [_row(job, now_ms()) for job in found])
    for job in found:
        if job.error is not None:
            typer.echo(f"\n{job.name or job.directory}: {job.error}")


def _list_served(client: ClusterClient, as_json: bool) -> None:
    jobs = client.ask("GET", "/jobs/overview")["jobs"]
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(jobs)))
    elif not jobs:
        typer.echo(f"no jobs in {client.url}", err=True)
    else:
        columns = (Column("NAME", wraps=True), Column("ID"), Column("STATUS"), Column("DURATION"))
        show_table(
            columns, [[job["name"], job["jid"], job["state"], how_long(job["duration"])] for job in jobs]
        )


def _row(job: JobSummary, now: int) -> list[str]:
    at_work = job.status in RUNNING or job.status == LOST
    return [
        job.name,
        job.id[:8],
        job.status,
        f"{job.epoch:,}",
        "" if job.last_epoch_at is None else f"{how_long(now - job.last_epoch_at)} ago",
        "" if job.parallelism is None else str(job.parallelism),
        f"{job.host}/{job.pid}" if at_work and job.host else "",
        job.directory,
    ]
