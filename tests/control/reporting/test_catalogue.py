"""The list of metrics: complete, and as the documentation and the dashboard have it."""

from __future__ import annotations

import json
import re

from firesteel.common.typeinfo import Types
from firesteel.control.listeners import EpochStats
from firesteel.control.reporting.catalogue import METRICS, RISING
from firesteel.control.reporting.numbers import Reported, reported
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import KeyedProcessFunction, RuntimeContext
from firesteel.state.descriptors import ValueStateDescriptor
from firesteel.testing import executing
from scripts.metrics import DASHBOARD, DOCS, dashboard, written


class Count(KeyedProcessFunction):
    def open(self, runtime_context: RuntimeContext) -> None:
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.INT()))

    def process_element(self, value: int, ctx: KeyedProcessFunction.Context):
        self.count.update((self.count.value() or 0) + 1)
        yield value


def reports_of_a_job() -> list[Reported]:
    found: list[Reported] = []

    class Listening:
        def on_epoch(self, stats: EpochStats) -> None:
            metrics = stats.metrics()
            assert metrics is not None
            found.append(reported("id", "job", metrics))

    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = env.from_collection(list(range(40)), Types.INT())
    numbers.key_by(lambda value: value % 7, Types.INT()).process(Count(), Types.INT()).print()
    with executing(epoch_records=10, parallelism=2, listener=Listening(), latency_interval=1):
        env.execute("job")
    return found


def test_what_a_job_reports_is_in_the_list() -> None:
    reports = reports_of_a_job()
    forms = [re.escape(metric.name).replace("ID", ".+").replace(r"\*", ".+") for metric in METRICS]
    seen = {number.name for report in reports for number in report.numbers}
    assert not [name for name in seen if not any(re.fullmatch(form, name) for form in forms)]
    rarely = {
        "numLateRecordsDropped",
        "numRecordsInErrors",
        "arrangedRows",
        "watermarkLag",
        "stateEntries",
        "stateBytes",
    }
    never = [
        metric.name
        for metric, form in zip(METRICS, forms, strict=True)
        if metric.name not in rarely and not any(re.fullmatch(form, name) for name in seen)
    ]
    assert never == []


def test_what_only_rises_does() -> None:
    before: dict[tuple, float] = {}
    for report in reports_of_a_job():
        for number in report.numbers:
            place = (number.operator_id, number.subtask, number.name)
            if number.rises:
                assert number.name in RISING
                assert number.value >= before.get(place, 0)
                before[place] = number.value
    assert before


def test_the_page_and_the_dashboard_are_as_they_are_written() -> None:
    page = (DOCS / "metrics.md").read_text("utf-8")
    assert page == written(page), "run: python scripts/metrics.py"
    assert page.count("<!-- metrics by") == page.count("| metric | kind |") == 3
    assert json.loads(DASHBOARD.read_text("utf-8")) == dashboard(), "run: python scripts/metrics.py"
