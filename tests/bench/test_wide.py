"""The benchmark of wide jobs: what it expects, what it counts, and the section made from figures."""

from __future__ import annotations

from collections import Counter

import pytest

from bench.wide.job import KEYS, RECORDS, expected, generate, processor_ms
from bench.wide.part import PART

RUN = {
    "epoch_ms": 100.0,
    "worker_cpu_ms": 30.0,
    "jvm_cpu_ms": 70.0,
    "driver_cpu_ms": 3.0,
    "manifest_bytes": 2000,
    "run_bytes": 600,
}


@pytest.mark.parametrize("epochs", [1, 5, 24])
def test_what_is_expected_is_what_counting_gives(epochs: int) -> None:
    counts = Counter(generate(index)[0] for index in range(epochs * RECORDS)).values()
    assert len(counts) == KEYS
    assert expected(epochs) == (epochs * RECORDS, sum(count * (count + 1) // 2 for count in counts))


def test_the_section_tells_what_a_further_subtask_costs() -> None:
    wide = {name: value + (width := 126) * 2 for name, value in RUN.items()}
    page = "\n".join(PART.render({"2": [RUN] * 3, "128": [wide] * 3}))
    assert f"| {2 + width} | 352 | 282 |" in page
    assert "costs an epoch 2.0 ms of processor time in the workers" in page


def test_processor_time_of_this_process_grows() -> None:
    before = processor_ms()[0]
    while processor_ms()[0] == before:
        sum(range(10_000))


@pytest.mark.thorough
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_wide_job_runs_and_its_results_are_right() -> None:
    [(title, figures)] = PART.cases[1].run(0.05).items()
    assert title == "8"
    assert figures["jvm_cpu_ms"] > figures["driver_cpu_ms"] > 0
    assert figures["worker_cpu_ms"] > 0
    assert figures["manifest_bytes"] > 0
