"""Runs the reporters of a job: each in a thread of its own, so that a slow one holds up nobody."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from firesteel.common.log_context import carrying
from firesteel.control.reporting.numbers import reported
from firesteel.control.reporting.reporters import MetricReporter, ReporterSettings
from firesteel.control.views.metrics import JobMetrics

_log = logging.getLogger("firesteel.control")


def start_reporting(
    settings: Sequence[ReporterSettings],
    job_id: str,
    job_name: str,
    metrics: Callable[[], JobMetrics | None],
) -> Callable[[], None]:
    """Open the reporters and start them; return what reports the last values and closes them."""
    running = [_Running(one, one.create(), job_id, job_name, metrics) for one in settings]
    for reporter in running:
        reporter.start()

    def close() -> None:
        for reporter in running:
            reporter.close()

    return close


class _Running:
    """One reporter in its thread."""

    def __init__(
        self,
        settings: ReporterSettings,
        reporter: MetricReporter,
        job_id: str,
        job_name: str,
        metrics: Callable[[], JobMetrics | None],
    ) -> None:
        self._settings = settings
        self._reporter = reporter
        self._job = (job_id, job_name)
        self._metrics = metrics
        self._ended = threading.Event()
        self._thread = threading.Thread(
            target=carrying(self._run), name=f"firesteel-reporter-{settings.name}", daemon=True
        )

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(self._settings.interval_ms / 1000):
            self._report()
        self._report()
        try:
            self._reporter.close()
        except Exception as error:
            self._warn(error)

    def _report(self) -> None:
        found = self._metrics()
        if found is None:
            return
        try:
            self._reporter.report(reported(*self._job, found))
        except Exception as error:
            self._warn(error)

    def _warn(self, error: Exception) -> None:
        kind = type(error).__name__
        _log.warning("the metric reporter %r failed: %s: %s", self._settings.name, kind, error)
