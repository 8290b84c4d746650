"""The interface of metric reporters, and how a job's options name them (Flink: `metrics.reporters`)."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from firesteel.common.errors import ConfigurationError
from firesteel.control.reporting.numbers import Reported

BUILT_IN: Final = {
    "json-log": "firesteel.control.reporting.json_log.JsonLogReporter",
    "statsd": "firesteel.control.reporting.statsd.StatsdReporter",
    "otlp": "firesteel.control.reporting.otlp.OtlpReporter",
    "org.apache.flink.metrics.slf4j.Slf4jReporterFactory": "firesteel.control.reporting.json_log.JsonLogReporter",
    "org.apache.flink.metrics.statsd.StatsDReporterFactory": "firesteel.control.reporting.statsd.StatsdReporter",
    "org.apache.flink.metrics.otel.OpenTelemetryMetricReporterFactory": (
        "firesteel.control.reporting.otlp.OtlpReporter"
    ),
}
"""Names for `factory.class`, with Flink's own factories that do the same, and the classes that they stand for."""


class MetricReporter(ABC):
    """Sends the metrics of a job elsewhere.

    Contract: `open` once, in the driver, with the reporter's options, before the job starts; then, from a thread of the
    reporter's own, `report` at each interval, and once more when the job ends; then `close`. An error in `report` is
    logged, and does not disturb the job; an error in `open` fails its start.

    >>> class Printing(MetricReporter):
    ...     def report(self, metrics):
    ...         for number in metrics.numbers:
    ...             print(number.name, number.value)
    """

    def open(self, options: Mapping[str, str]) -> None:
        """Prepare; `options` are those under `metrics.reporter.NAME.` besides `factory.class` and `interval`."""

    @abstractmethod
    def report(self, metrics: Reported) -> None:
        """Send the present values."""

    def close(self) -> None:
        """Release what `open` took."""


@dataclass(frozen=True)
class ReporterSettings:
    """A reporter of a job: `factory` is a name of `BUILT_IN`, or MODULE.CLASS."""

    name: str
    factory: str
    interval_ms: int = 10_000
    options: Mapping[str, str] = field(default_factory=dict)

    def create(self) -> MetricReporter:
        """Return the open reporter. Raises ConfigurationError if there is no such class, and what its `open` raises."""
        module, _, name = BUILT_IN.get(self.factory, self.factory).rpartition(".")
        try:
            kind = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise self._error(f"{self.factory!r}: {error}") from error
        if not (isinstance(kind, type) and issubclass(kind, MetricReporter)):
            raise self._error(f"{self.factory!r}, which is no MetricReporter")
        reporter = kind()
        reporter.open(self.options)
        return reporter

    def _error(self, got: str) -> ConfigurationError:
        return ConfigurationError(
            "requires a class of a reporter",
            who=f"the metric reporter {self.name!r}",
            got=got,
            hint=f"use one of {', '.join(name for name in BUILT_IN if '.' not in name)}, or MODULE.CLASS",
        )


def port_of(options: Mapping[str, str], who: str, default: int) -> int:
    """Return the option `port`. Raises ConfigurationError if it is none."""
    text = options.get("port", str(default))
    if not text.isdecimal() or not 0 < int(text) < 65_536:
        raise ConfigurationError("requires a port from 1 to 65535", who=who, got=repr(text))
    return int(text)
