"""Metrics for a collector of OpenTelemetry: OTLP over HTTP, in its JSON form (opentelemetry-proto, metrics.proto).

Numbers that only rise are cumulative monotonic sums since the reporter began, all others gauges. Operator, subtask and
worker are attributes of the points, job and id those of the resource.
"""

from __future__ import annotations

import time
import urllib.request
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from firesteel.common.errors import ConfigurationError
from firesteel.control.reporting.numbers import Number, Reported
from firesteel.control.reporting.reporters import MetricReporter

_TIMEOUT_S: Final = 10
_MS: Final = 1_000_000
_CUMULATIVE: Final = 2
"""AGGREGATION_TEMPORALITY_CUMULATIVE."""


class OtlpReporter(MetricReporter):
    """Posts to `exporter.endpoint` (http://localhost:4318/v1/metrics); `headers` are NAME=VALUE, separated by commas.

    Raises ConfigurationError for an endpoint that is no URL of HTTP, and OSError for an answer that is no success.
    """

    def open(self, options: Mapping[str, str]) -> None:
        self._url = options.get("exporter.endpoint", "http://localhost:4318/v1/metrics")
        parts = urlsplit(self._url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ConfigurationError(
                "requires a URL of OTLP over HTTP",
                who="the metric reporter otlp",
                got=f"exporter.endpoint {self._url!r}",
                hint="for example http://localhost:4318/v1/metrics",
            )
        pairs = [pair.partition("=") for pair in options.get("headers", "").split(",") if pair.strip()]
        self._headers = {name.strip(): value.strip() for name, _, value in pairs}
        self._since = time.time_ns()

    def report(self, metrics: Reported) -> None:
        body = msgspec.json.encode(request_of(metrics, self._since))
        headers = {"Content-Type": "application/json", **self._headers}
        request = urllib.request.Request(self._url, body, headers, method="POST")
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
            answer.read()


def request_of(metrics: Reported, since: int) -> dict[str, Any]:
    """Return the ExportMetricsServiceRequest of a job's numbers; `since` is in nanoseconds."""
    by_name: dict[tuple[str, bool], list[Number]] = {}
    for number in metrics.numbers:
        by_name.setdefault((number.name, number.rises), []).append(number)
    resource = {"service.name": "firesteel", "job": metrics.job_name, "job_id": metrics.job_id}
    return {
        "resourceMetrics": [
            {
                "resource": {"attributes": _attributes(resource.items())},
                "scopeMetrics": [
                    {
                        "scope": {"name": "firesteel"},
                        "metrics": [
                            _metric(name, rises, numbers, metrics.time * _MS, since)
                            for (name, rises), numbers in by_name.items()
                        ],
                    }
                ],
            }
        ]
    }


def _metric(name: str, rises: bool, numbers: list[Number], now: int, since: int) -> dict[str, Any]:
    points = [_point(number, now, since) for number in numbers]
    if rises:
        data = {"dataPoints": points, "aggregationTemporality": _CUMULATIVE, "isMonotonic": True}
        return {"name": f"firesteel.{name}", "sum": data}
    return {"name": f"firesteel.{name}", "gauge": {"dataPoints": points}}


def _point(number: Number, now: int, since: int) -> dict[str, Any]:
    place = {"operator": number.operator, "operator_id": number.operator_id, "subtask": number.subtask}
    known = {**place, "worker": number.worker}
    # Whole numbers of 64 bits are texts in the JSON form of Protocol Buffers.
    value = {"asInt": str(number.value)} if isinstance(number.value, int) else {"asDouble": number.value}
    return {
        "attributes": _attributes((key, text) for key, text in known.items() if text is not None),
        "startTimeUnixNano": str(since),
        "timeUnixNano": str(now),
        **value,
    }


def _attributes(pairs: Iterable[tuple[str, Any]]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": str(value)}} for key, value in pairs]
