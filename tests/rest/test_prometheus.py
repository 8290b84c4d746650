"""A real Prometheus scrapes a running cluster with a job on Spark; promtool reads the text without complaint."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.prometheus import scraping
from harness.server import free_port
from harness.waiting import until
from scripts.metrics import dashboard

pytestmark = [pytest.mark.long, pytest.mark.spark, pytest.mark.timeout(600)]

PROGRAM = """
from firesteel.common import Time, WatermarkStrategy
from firesteel.common.watermark_strategy import TimestampAssigner
from firesteel.common.typeinfo import Types
from firesteel.connectors.discard import DiscardingSink
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.window import TumblingEventTimeWindows
from firesteel.functions.source import Source, Split


class Endless(Source):
    def splits(self, known):
        return [Split("all", 0, None)]

    def available(self, split, position, now):
        return position + 100

    def read(self, split, start, end):
        yield list(range(start, end))


class Later(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value * 10


env = StreamExecutionEnvironment.get_execution_environment()
env.get_config().set_latency_tracking_interval(100)
later = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Later())
numbers = env.from_source(Endless(), later, "numbers")
same = numbers.map(lambda value: value, Types.LONG()).name("same")
windows = same.key_by(lambda value: value % 3).window(TumblingEventTimeWindows.of(Time.seconds(1)))
windows.reduce(max).name("greatest").sink_to(DiscardingSink()).name("out")
env.execute("scraped")
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    """A cluster with one job; its address."""
    directory, port = tmp_path / "cluster", free_port()
    firesteel = [sys.executable, "-m", "firesteel.cli"]
    start = [*firesteel, "cluster", "start", "--port", str(port), str(directory)]
    subprocess.run(start, check=True, timeout=240)
    url = f"http://127.0.0.1:{port}"
    program = tmp_path / "scraped.py"
    program.write_text(PROGRAM)
    try:
        subprocess.run([*firesteel, "run", "--cluster", url, str(program)], check=True, timeout=240)
        yield url
    finally:
        for job in get(f"{url}/jobs/overview")["jobs"]:
            request = urllib.request.Request(f"{url}/jobs/{job['jid']}?mode=cancel", method="PATCH")
            urllib.request.urlopen(request, timeout=60).close()
        until(lambda: all(job["state"] == "CANCELED" for job in get(f"{url}/jobs/overview")["jobs"]))
        subprocess.run([*firesteel, "cluster", "stop", str(directory)], check=True, timeout=240)


def get(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return json.load(answer)


def test_prometheus_scrapes_a_cluster(cluster: str) -> None:
    if shutil.which("prometheus") is None:
        pytest.skip("no Prometheus here; apt-get install prometheus")
    with scraping(cluster.removeprefix("http://")) as prometheus:
        records = 'sum(firesteel_operator_num_records_in_total{job_name="scraped",operator_name="same"})'
        before = float(until(lambda: prometheus.query(records))[0]["value"][1])
        until(lambda: float(prometheus.query(records)[0]["value"][1]) > before)
        assert prometheus.target()["health"] == "up"
        for query in (target["expr"] for panel in dashboard()["panels"] for target in panel["targets"]):
            until(lambda query=query: prometheus.query(query.replace("$job", "scraped")))
        workers = prometheus.query('firesteel_worker_memory_bytes{job_name="scraped"}')
        assert workers
        assert all(float(worker["value"][1]) > 1 << 20 for worker in workers)
    with urllib.request.urlopen(f"{cluster}/metrics", timeout=60) as answer:
        text = answer.read()
    told = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, check=False)
    assert not [line for line in told.stderr.decode().splitlines() if "error" in line.lower()]
