"""`firesteel metrics`: the metrics of a job's operators."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec
import typer

from firesteel.checkpoint.objects import Storage
from firesteel.cli.tables import Column, show_table
from firesteel.control.reporting.numbers import read_reported
from firesteel.control.reporting.prometheus import exposition
from firesteel.control.views.metrics import JobMetrics, MetricView, OperatorMetrics, read_metrics
from firesteel.rest.client import state_directory_of

_COLUMNS: Final = (
    Column("OPERATOR", wraps=True),
    Column("METRIC", wraps=True),
    Column("VALUE", number=True),
    Column("LEAST", number=True),
    Column("GREATEST", number=True),
)


def list_metrics(location: str, as_json: bool, for_prometheus: bool = False) -> None:
    """Print the last metrics that the driver of a job wrote. Raises StateError for a directory without a job."""
    storage = Storage.existing(state_directory_of(location))
    if for_prometheus:
        numbers = read_reported(storage)
        typer.echo(exposition([] if numbers is None else [numbers]), nl=False)
        return
    found = read_metrics(storage)
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(found)))
        return
    if found is None:
        typer.echo(f"no driver has reported metrics in {storage.url}", err=True)
        return
    rows = [_row(operator, metric) for operator in found.operators for metric in operator.metrics]
    show_table(
        _COLUMNS, [*rows, *(["(job)", metric.name, _shown(metric.value), "", ""] for metric in found.job)]
    )
    for line in _remarks(found):
        typer.echo(line)


def _remarks(found: JobMetrics) -> Iterator[str]:
    for worker in found.workers:
        memory, state, most = (
            number / 2**20 for number in (worker.memory, worker.state_memory, worker.state_limit)
        )
        place = f"{worker.host}/{worker.pid}"
        yield f"worker {place}: {memory:,.0f} MiB of memory, state {state:,.1f} of at most {most:,.0f} MiB"
    slowest = found.bottleneck
    if slowest is not None:
        where = "" if slowest.subtask is None else f", subtask {slowest.subtask},"
        limit = "the job is at its limit" if slowest.at_limit else "the job waits for input"
        yield f"bottleneck: {slowest.name}{where} is busy for {slowest.busy:.0f} ms of each second; {limit}"


def _row(operator: OperatorMetrics, metric: MetricView) -> list[str]:
    measured = [number for number in metric.subtasks if number is not None]
    value = measured[0] if metric.value is None and len(measured) == 1 else metric.value
    several = len(measured) > 1
    return [
        operator.name,
        metric.name,
        _shown(value),
        _shown(min(measured)) if several else "",
        _shown(max(measured)) if several else "",
    ]


def _shown(number: float | None) -> str:
    if number is None:
        return ""
    return str(number) if isinstance(number, int) else f"{number:.2f}"
