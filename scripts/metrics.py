"""Writes the tables of docs/metrics.md from the catalogue of metrics, and the dashboard for Grafana.

Usage: python scripts/metrics.py.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

from firesteel.control.reporting.catalogue import METRICS, Scope
from firesteel.control.reporting.prometheus import snake

DOCS: Final = Path(__file__).parents[1] / "docs"
DASHBOARD: Final = DOCS / "grafana.json"

_TABLE: Final = re.compile(
    r"(<!-- metrics by (\w+), written by `scripts/metrics\.py` -->\n).*?(?=<!-- end -->)", re.DOTALL
)


def written(page: str) -> str:
    """Return the page with its tables as they should be."""
    return _TABLE.sub(lambda found: found[1] + "\n" + table(found[2]) + "\n", page)


def table(scope: Scope | str) -> str:
    """Return the table of the metrics of a scope."""
    lines = ["| metric | kind | Flink's | meaning |", "|---|---|---|---|"]
    for metric in METRICS:
        if metric.scope == scope:
            kind = "counter" if metric.rises else "gauge"
            lines.append(f"| `{metric.name}` | {kind} | {'yes' if metric.flink else ''} | {metric.about} |")
    return "\n".join(lines) + "\n"


def dashboard() -> dict[str, Any]:
    """Return the dashboard: the panels that operators look at first, for a job that they choose."""
    panels = [
        ("Records per second", "operator_numRecordsInPerSecond", "short", "sum by (operator_name) ({})"),
        ("Busy", "operator_busyTimeMsPerSecond", "ms", "max by (operator_name) ({})"),
        ("Back-pressure", "operator_backPressuredTimeMsPerSecond", "ms", "max by (operator_name) ({})"),
        ("Watermark lag", "operator_watermarkLag", "ms", "max by (operator_name) ({})"),
        ("Time of an epoch's run", "job_epochRunTime.mean", "ms", "{}"),
        ("Commit of an epoch", "job_lastCheckpointDuration", "ms", "{}"),
        ("State stored by an epoch", "job_lastCheckpointSize", "bytes", "{}"),
        ("State in the working copies", "operator_stateBytes", "bytes", "sum by (operator_name) ({})"),
        (
            "Late records",
            "operator_numLateRecordsDropped_total",
            "short",
            "sum by (operator_name) (rate({}[5m]))",
        ),
        ("Restarts", "job_numRestarts_total", "short", "{}"),
        ("Memory of workers", "worker_memoryBytes", "bytes", "sum by (worker) ({})"),
        (
            "Latency until visible, p99",
            "operator_visibleLatency_p99",
            "ms",
            "max by (operator_name, source_id) ({})",
        ),
    ]
    return {
        "title": "Firesteel",
        "uid": "firesteel",
        "schemaVersion": 39,
        "refresh": "10s",
        "time": {"from": "now-30m", "to": "now"},
        "templating": {"list": [_source(), _variable()]},
        "panels": [_panel(number, *panel) for number, panel in enumerate(panels)],
    }


def _source() -> dict[str, Any]:
    return {"name": "source", "type": "datasource", "query": "prometheus", "label": "Prometheus"}


def _variable() -> dict[str, Any]:
    query = "label_values(firesteel_job_uptime, job_name)"
    source = {"type": "prometheus", "uid": "${source}"}
    return {
        "name": "job",
        "type": "query",
        "datasource": source,
        "query": query,
        "refresh": 2,
        "label": "Job",
    }


def _panel(number: int, title: str, metric: str, unit: str, form: str) -> dict[str, Any]:
    name = f'firesteel_{snake(metric)}{{job_name="$job"}}'
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": title,
        "datasource": {"type": "prometheus", "uid": "${source}"},
        "gridPos": {"x": number % 2 * 12, "y": number // 2 * 8, "w": 12, "h": 8},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "targets": [{"refId": "A", "expr": form.format(name)}],
    }


def main() -> None:
    """Write the page and the dashboard."""
    page = DOCS / "metrics.md"
    page.write_text(written(page.read_text("utf-8")), "utf-8")
    DASHBOARD.write_text(json.dumps(dashboard(), indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
