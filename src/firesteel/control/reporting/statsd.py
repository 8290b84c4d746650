"""Metrics as datagrams for a statsd server, with the names that Flink's reporter gives them.

A gauge is `SCOPE.NAME:VALUE|g`. The scope is job, operator and subtask, joined by dots. Counters are gauges, too, as in
Flink: a server that adds up what it gets would count them again at every report.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping
from typing import Any, Final

from firesteel.control.reporting.numbers import Number, Reported
from firesteel.control.reporting.reporters import MetricReporter, port_of

_DATAGRAM: Final = 1400
"""The bytes of a datagram at most: it stays in one packet of an Ethernet."""

_UNSAFE: Final = re.compile(r"[\s:|@#]+")


class StatsdReporter(MetricReporter):
    """Sends gauges to `host`:`port` (localhost:8125) over UDP; nobody knows whether they arrive."""

    def open(self, options: Mapping[str, str]) -> None:
        host = options.get("host", "localhost")
        port = port_of(options, "the metric reporter statsd", 8125)
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        self._address: Any = address
        self._socket = socket.socket(family, kind)

    def report(self, metrics: Reported) -> None:
        held: list[bytes] = []
        size = 0
        for number in metrics.numbers:
            line = f"{_name(metrics, number)}:{_text(number.value)}|g".encode()
            if held and size + len(line) > _DATAGRAM:
                self._send(held)
                held, size = [], 0
            held.append(line)
            size += len(line) + 1
        if held:
            self._send(held)

    def close(self) -> None:
        self._socket.close()

    def _send(self, lines: list[bytes]) -> None:
        self._socket.sendto(b"\n".join(lines), self._address)


def _name(metrics: Reported, number: Number) -> str:
    scope = [metrics.job_name, number.operator, number.subtask, number.worker]
    return ".".join(_UNSAFE.sub("_", str(part)) for part in (*scope, number.name) if part is not None)


def _text(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.6f}".rstrip("0").rstrip(".")
