"""`firesteel metrics`: the metrics of a job's operators."""

from __future__ import annotations

from typing import Final

import msgspec
import typer

from firesteel.checkpoint.objects import Storage
from firesteel.cli.tables import Column, show_table
from firesteel.control.views.metrics import MetricView, OperatorMetrics, read_metrics

_COLUMNS: Final = (
    Column("OPERATOR", wraps=True),
    Column("METRIC", wraps=True),
    Column("VALUE", number=True),
    Column("LEAST", number=True),
    Column("GREATEST", number=True),
)


def list_metrics(location: str, as_json: bool) -> None:
    """Print the last metrics that the driver of a job wrote. Raises StateError for a directory without a job."""
    storage = Storage.existing(location)
    found = read_metrics(storage)
    if as_json:
        typer.echo(msgspec.json.format(msgspec.json.encode(found)))
        return
    if found is None:
        typer.echo(f"no driver has reported metrics in {storage.url}", err=True)
        return
    show_table(
        _COLUMNS, [_row(operator, metric) for operator in found.operators for metric in operator.metrics]
    )


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
