"""What each reporter makes of a job's numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from firesteel.common.errors import ConfigurationError
from firesteel.control.reporting.json_log import JsonLogReporter
from firesteel.control.reporting.numbers import Number, Reported, reported
from firesteel.control.reporting.otlp import OtlpReporter, request_of
from firesteel.control.reporting.prometheus import exposition
from firesteel.control.reporting.reporters import BUILT_IN, ReporterSettings
from firesteel.control.views.metrics import JobMetrics, MetricView, OperatorMetrics, WorkerMetrics

COUNT = OperatorMetrics(
    "abc",
    'count "all"',
    (
        MetricView("numRecordsIn", "counter", 7, (3, 4)),
        MetricView("levels.unknown", "counter", 1, (None, 1)),
        MetricView("source_id.s.latency_p99", "gauge", 12, ()),
    ),
)
METRICS = JobMetrics(
    1,
    5,
    (COUNT,),
    (MetricView("numRestarts", "counter", 2, ()), MetricView("epochRunTime.mean", "distribution", 1.5, ())),
    (WorkerMetrics("host", 77, 1000, 10, 100, 5_000),),
    5_000,
)
FOUND = reported("id", "levels", METRICS)


def test_numbers_have_their_places() -> None:
    assert FOUND.numbers[:4] == (
        Number("numRestarts", 2, True),
        Number("epochRunTime.mean", 1.5),
        Number("numRecordsIn", 3, True, 'count "all"', "abc", 0),
        Number("numRecordsIn", 4, True, 'count "all"', "abc", 1),
    )
    assert Number("levels.unknown", 1, False, 'count "all"', "abc", 1) in FOUND.numbers
    assert Number("workerMemoryBytes", 1000, worker="host:77") in FOUND.numbers


def test_prometheus_reads_the_text() -> None:
    other = reported("id2", "another", METRICS)
    families = {
        found.name: found for found in text_string_to_metric_families(exposition([FOUND, other]).decode())
    }
    records = families["firesteel_operator_num_records_in"]
    assert records.type == "counter"
    values = {
        (sample.labels["job_name"], sample.labels["subtask_index"]): sample.value
        for sample in records.samples
    }
    assert values == {("levels", "0"): 3, ("levels", "1"): 4, ("another", "0"): 3, ("another", "1"): 4}
    assert {sample.labels["operator_name"] for sample in records.samples} == {'count "all"'}
    assert families["firesteel_operator_levels_unknown"].type == "gauge"
    (latency, _) = families["firesteel_operator_latency_p99"].samples
    assert latency.labels["source_id"] == "s"
    assert families["firesteel_job_num_restarts"].samples[0].value == 2
    assert families["firesteel_worker_memory_bytes"].samples[0].labels["worker"] == "host:77"


def test_otlp_has_sums_and_gauges() -> None:
    (resource,) = request_of(FOUND, 17)["resourceMetrics"]
    metrics = {metric["name"]: metric for metric in resource["scopeMetrics"][0]["metrics"]}
    records = metrics["firesteel.numRecordsIn"]["sum"]
    assert (records["aggregationTemporality"], records["isMonotonic"]) == (2, True)
    assert [point["asInt"] for point in records["dataPoints"]] == ["3", "4"]
    assert records["dataPoints"][0]["timeUnixNano"] == "5000000000"
    assert metrics["firesteel.epochRunTime.mean"]["gauge"]["dataPoints"][0]["asDouble"] == 1.5
    assert {"key": "job", "value": {"stringValue": "levels"}} in resource["resource"]["attributes"]


def test_the_log_has_a_line_for_each_report(tmp_path: Path) -> None:
    reporter = JsonLogReporter()
    reporter.open({"path": str(tmp_path / "metrics.jsonl")})
    reporter.report(FOUND)
    reporter.report(Reported("id", "levels", 6_000, ()))
    reporter.close()
    first, second = map(json.loads, (tmp_path / "metrics.jsonl").read_text().splitlines())
    assert first["numbers"][0] == {"name": "numRestarts", "value": 2}
    assert first["numbers"][2]["subtask"] == 0
    assert second == {"job_id": "id", "job_name": "levels", "time": 6_000, "numbers": []}


@pytest.mark.parametrize("factory", ["nothing", "nosuch.module.Class", "json.JSONDecoder"])
def test_a_class_that_is_no_reporter_is_refused(factory: str) -> None:
    with pytest.raises(ConfigurationError, match="the metric reporter 'mine' requires a class of a reporter"):
        ReporterSettings("mine", factory).create()


def test_options_of_reporters_are_checked() -> None:
    with pytest.raises(ConfigurationError, match="requires a port from 1 to 65535"):
        ReporterSettings("s", "statsd", options={"port": "70000"}).create()
    with pytest.raises(ConfigurationError, match="requires a URL of OTLP over HTTP"):
        OtlpReporter().open({"exporter.endpoint": "collector:4317"})
    with pytest.raises(ConfigurationError, match="requires a file that can be written"):
        JsonLogReporter().open({"path": "/nonexistent/directory/log"})


def test_names_of_flinks_factories_stand_for_ours() -> None:
    for name in BUILT_IN:
        options = {"path": "/dev/null"} if "json" in name else {}
        ReporterSettings("one", name, options=options).create().close()
