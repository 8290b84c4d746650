"""Metrics as lines of JSON, in a file or in the log."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path

import msgspec

from firesteel.common.errors import ConfigurationError
from firesteel.control.reporting.numbers import Reported
from firesteel.control.reporting.reporters import MetricReporter

_log = logging.getLogger("firesteel.metrics")


class JsonLogReporter(MetricReporter):
    """Appends a line for each report to the file `path`; without one it logs the line as `firesteel.metrics`.

    A line has `job_id`, `job_name`, `time` (milliseconds) and `numbers`, each with a name, a value and its place.
    Raises ConfigurationError if the file cannot be written.
    """

    def open(self, options: Mapping[str, str]) -> None:
        path = options.get("path")
        try:
            self._file = None if path is None else Path(path).open("ab")  # noqa: SIM115 - until `close`
        except OSError as error:
            raise ConfigurationError(
                "requires a file that can be written",
                who="the metric reporter json-log",
                got=f"{path}: {error}",
            ) from error

    def report(self, metrics: Reported) -> None:
        line = msgspec.json.encode(
            {
                "job_id": metrics.job_id,
                "job_name": metrics.job_name,
                "time": metrics.time,
                "numbers": [
                    {
                        name: value
                        for name, value in number._asdict().items()
                        if value is not None and name != "rises"
                    }
                    for number in metrics.numbers
                ],
            }
        )
        if self._file is None:
            _log.info("%s", line.decode())
        else:
            self._file.write(line + b"\n")
            self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
