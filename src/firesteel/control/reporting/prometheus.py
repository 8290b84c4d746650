"""Metrics of jobs as the text that Prometheus scrapes.

Names are `firesteel_job_...`, `firesteel_operator_...` and `firesteel_worker_...` in snake case; counters end in
`_total`. Labels are Flink's: `job_name`, `job_id`, `operator_name`, `operator_id`, `subtask_index`, with `source_id`
for latencies and `worker` for processes. The groups of a program's own metrics are part of the name.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from firesteel.common.errors import ConfigurationError
from firesteel.control.reporting.numbers import Number, Reported

_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_FORBIDDEN: Final = re.compile(r"[^a-zA-Z0-9_]+")
_LATENCY: Final = re.compile(r"source_id\.(?P<source>.+)\.(?P<name>(?:visibleL|l)atency_\w+)$")
_LABELS: Final = {
    "job": ("job_name", "job_id"),
    "operator": ("job_name", "job_id", "operator_name", "operator_id", "subtask_index", "source_id"),
    "worker": ("job_name", "job_id", "worker"),
}


class _Family(NamedTuple):
    """The numbers of one name."""

    scope: str
    name: str
    rises: bool


def exposition(jobs: Iterable[Reported]) -> bytes:
    """Return the text of all numbers of some jobs. Raises ConfigurationError if the package for it is missing."""
    try:
        client = importlib.import_module("prometheus_client")
        core = importlib.import_module("prometheus_client.core")
    except ImportError as error:
        raise ConfigurationError(
            "requires prometheus-client, which is not installed",
            who="Prometheus' format",
            hint='pip install "firesteel[metrics]"',
        ) from error
    registry = client.CollectorRegistry()
    registry.register(_Collector(jobs, {True: core.CounterMetricFamily, False: core.GaugeMetricFamily}))
    text: bytes = client.generate_latest(registry)
    return text


class _Collector:
    """What the library asks for the numbers; `kinds` are its families, for numbers that only rise and for others."""

    def __init__(self, jobs: Iterable[Reported], kinds: Mapping[bool, Any]) -> None:
        self._kinds = kinds
        self._families: dict[_Family, list[tuple[Reported, Number, str]]] = {}
        for job in jobs:
            for number in job.numbers:
                scope, name, source = _place(number)
                self._families.setdefault(_Family(scope, name, number.rises), []).append(
                    (job, number, source)
                )

    def collect(self) -> Iterator[Any]:
        """Yield a family for each name."""
        for family, found in sorted(self._families.items(), key=lambda item: item[0]):
            text = f"Firesteel's metric {found[0][1].name}"
            name = f"firesteel_{family.scope}_{family.name}"
            made = self._kinds[family.rises](name, text, labels=_LABELS[family.scope])
            for job, number, source in found:
                made.add_metric(_labels(family.scope, job, number, source), number.value)
            yield made


def _place(number: Number) -> tuple[str, str, str]:
    """Return the scope, the name and the source of a number."""
    source, name = "", number.name
    if (latency := _LATENCY.match(name)) is not None:
        source, name = latency["source"], latency["name"]
    if number.worker is not None:
        return "worker", snake(name.removeprefix("worker")), source
    return ("job" if number.operator_id is None else "operator"), snake(name), source


def snake(name: str) -> str:
    """Return a name as Prometheus writes names.

    >>> snake("numRecordsInPerSecond"), snake("maps.all-of-them.seen")
    ('num_records_in_per_second', 'maps_all_of_them_seen')
    """
    return _FORBIDDEN.sub("_", _HUMP.sub("_", name)).strip("_").lower()


def _labels(scope: str, job: Reported, number: Number, source: str) -> list[str]:
    own = [job.job_name, job.job_id]
    if scope == "worker":
        return [*own, number.worker or ""]
    if scope == "job":
        return own
    subtask = "" if number.subtask is None else str(number.subtask)
    return [*own, number.operator or "", number.operator_id or "", subtask, source]
