"""Reporters of running jobs: what arrives at receivers that listen."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

import pytest

from firesteel.common import Configuration
from firesteel.common.errors import ConfigurationError
from firesteel.common.typeinfo import Types
from firesteel.control.reporting.numbers import Reported
from firesteel.control.reporting.reporters import MetricReporter
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.testing import executing

NUMBERS = 30


def run(options: dict[str, str]) -> None:
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(options))
    numbers = env.from_collection(list(range(NUMBERS)), Types.INT()).name("numbers")
    numbers.map(lambda value: value, Types.INT()).name("same").print()
    with executing(epoch_records=10, parallelism=1):
        env.execute("reported job")


def reporter(factory: str, **options: str) -> dict[str, str]:
    own = {f"metrics.reporter.one.{key.replace('_', '.')}": value for key, value in options.items()}
    return {"metrics.reporters": "one", "metrics.reporter.one.factory.class": factory, **own}


class Keeping(MetricReporter):
    """A reporter of a user's own."""

    options: ClassVar[dict[str, str]] = {}
    reports: ClassVar[list[Reported]] = []
    closed: ClassVar[int] = 0

    def open(self, options: Any) -> None:
        type(self).options = dict(options)

    def report(self, metrics: Reported) -> None:
        self.reports.append(metrics)

    def close(self) -> None:
        type(self).closed += 1


class Failing(MetricReporter):
    """Cannot report."""

    def report(self, metrics: Reported) -> None:
        raise OSError("no way out")


def test_a_reporter_gets_its_options_and_the_last_values() -> None:
    run(reporter(f"{__name__}.Keeping", color="red"))
    assert Keeping.options == {"color": "red"}
    last = Keeping.reports[-1]
    assert last.job_name == "reported job"
    found = {(number.operator, number.name): number.value for number in last.numbers}
    assert found["same", "numRecordsIn"] == NUMBERS
    assert Keeping.closed == 1


def test_a_reporter_that_fails_does_not_disturb_the_job(caplog: pytest.LogCaptureFixture) -> None:
    run(reporter(f"{__name__}.Failing"))
    assert "the metric reporter 'one' failed: OSError: no way out" in caplog.text


def test_a_reporter_without_a_class_stops_the_program() -> None:
    with pytest.raises(ConfigurationError, match="requires the class of the reporter"):
        run({"metrics.reporters": "one"})


def test_statsd_gets_datagrams() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(10)
        run(reporter("statsd", host="127.0.0.1", port=str(server.getsockname()[1])))
        wanted = f"reported_job.same.0.numRecordsIn:{NUMBERS}|g"
        lines: list[str] = []
        while wanted not in lines:
            lines.extend(server.recv(65_536).decode().splitlines())
    assert all(line.count(":") == 1 for line in lines if ".worker" not in line and "/" not in line)


class Collector(BaseHTTPRequestHandler):
    """A collector of OpenTelemetry that keeps what it gets."""

    kept: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.kept.append({"path": self.path, "key": self.headers["X-Key"], "body": json.loads(body)})
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@contextmanager
def collecting() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Collector)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/metrics"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_collector_of_opentelemetry_gets_the_numbers() -> None:
    with collecting() as url:
        run(reporter("otlp", exporter_endpoint=url, headers="X-Key=secret"))
    last = Collector.kept[-1]
    assert (last["path"], last["key"]) == ("/v1/metrics", "secret")
    (resource,) = last["body"]["resourceMetrics"]
    metrics = {metric["name"]: metric for metric in resource["scopeMetrics"][0]["metrics"]}
    points = metrics["firesteel.numRecordsIn"]["sum"]["dataPoints"]
    operators = [
        {pair["key"]: pair["value"]["stringValue"] for pair in point["attributes"]}["operator"]
        for point in points
    ]
    assert dict(zip(operators, (point["asInt"] for point in points), strict=True))["same"] == str(NUMBERS)
