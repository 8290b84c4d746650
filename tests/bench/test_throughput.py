"""The jobs of the throughput parts at tiny sizes, and the sections made from figures."""

from __future__ import annotations

import json
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from bench.environments import ROOT
from bench.measure import FIRESTEEL, System, measure
from bench.part import RunError
from bench.source import source_hash
from bench.summary import SUMMARIES
from bench.systems.command import Task
from bench.systems.firesteel import run
from bench.throughput.part import COUNT_1K, PARTS, ROWS_OF_ALL
from bench.throughput.report import render_memory, render_throughput
from bench.workload import GAP_MS, KINDS, LANES, Job, Records
from firesteel.testing import executing

KEYS = 200
"""The fewest that have a record for each millisecond and lane in every kind of window."""

RUNS = {
    "Firesteel": [
        {"rate": 900_000, "records": 5},
        {"rate": 700_000, "records": 5},
        {"rate": 800_000, "records": 5},
    ],
    "PyFlink, process mode": [{"rate": 40_000, "records": 1}],
    "PyFlink, thread mode": [{"rate": 20_000, "records": 1}],
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_job_counts_what_it_should(kind: str, tmp_path: Path) -> None:
    job = Job(kind, KEYS, 20_000).rounded()
    with executing(epoch_records=7500):
        result = run(Task(job, "", tmp_path))
    assert result.outcome == job.expected()
    assert result.records == job.records
    assert result.seconds > 0


@pytest.mark.parametrize("kind", KINDS)
def test_keys_come_equally_often(kind: str, tmp_path: Path) -> None:
    job = Job(kind, KEYS, 20_000).rounded()
    record = Records(job, str(tmp_path / "start")).record
    keys = Counter(record(index // LANES, index % LANES)[0] for index in range(job.records))
    assert len(keys) == KEYS
    assert len(set(keys.values())) == 1


def test_sessions_close_while_their_key_is_silent(tmp_path: Path) -> None:
    job = Job("session", KEYS, 20_000).rounded()
    record = Records(job, str(tmp_path / "start")).record
    times = sorted(
        time
        for key, time in (record(index // LANES, index % LANES) for index in range(job.records))
        if key == 6
    )
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert sum(gap > GAP_MS for gap in gaps) == job.expected().results // KEYS - 1
    assert all(gap < GAP_MS / 2 or gap > GAP_MS for gap in gaps)


def test_a_timer_has_a_time_of_its_own(tmp_path: Path) -> None:
    job = Job("timers", 20, 400).rounded()
    record = Records(job, str(tmp_path / "start")).record
    assert len({record(index // LANES, index % LANES)[1] for index in range(job.records)}) == job.records


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_system_runs_in_a_process_of_its_own() -> None:
    figures = measure(FIRESTEEL, Job("window", 100, 20_000).rounded())
    assert figures["records"] == 20_000
    assert figures["rate"] == pytest.approx(20_000 / figures["seconds"], rel=0.01)
    if Path("/proc").exists():
        assert figures["worker_bytes"] > 2**20


def test_a_process_that_fails_is_a_failed_run() -> None:
    broken = System("Broken", "not_there", "", lambda: Path(sys.executable))
    with pytest.raises(RunError, match=r"(?s)Broken: Job.*ended with 1.*not_there"):
        measure(broken, Job("map", 10, 10))


def test_the_section_compares_medians_with_the_aim_and_the_better_mode() -> None:
    text = "\n".join(render_throughput(COUNT_1K, RUNS))
    assert "| Firesteel | 800,000 | 800,000 | 5 |" in text
    assert "| PyFlink, thread mode | 20,000 |  | 1 |" in text
    assert "Firesteel is 20.0 times as fast" in text
    [row] = SUMMARIES["count-1k"](RUNS)
    assert row == ["keyed count, 1,000 keys", "800,000/s", "800,000/s", "40,000/s", "20.0"]


def test_the_section_about_memory_shows_what_is_known() -> None:
    text = "\n".join(render_memory({"1,000": [{"worker_bytes": 2**21}], "2,000": [{"worker_bytes": None}]}))
    assert "| 1,000 | 2 MiB |" in text
    assert "2,000" not in text


def test_every_row_has_a_part() -> None:
    assert {row.name for row in ROWS_OF_ALL} | {"memory"} == {part.name for part in PARTS}


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_stored_figures_can_be_shown(part: object) -> None:
    name = part.name  # type: ignore[attr-defined]
    path = ROOT / "bench" / "results" / f"{name}.json"
    if path.exists():
        runs = json.loads(path.read_text(encoding="utf-8"))["runs"]
        assert part.render(runs)[0].startswith("## ")  # type: ignore[attr-defined]


def test_the_hash_covers_this_project() -> None:
    assert source_hash(["bench/throughput"]) != source_hash(["bench/floor"])
