"""Patterns beside Flink's CEP: the events, the jobs at tiny sizes, and the section made from figures."""

from __future__ import annotations

import gc
import time
from collections import Counter
from pathlib import Path

import pytest

from bench.cep.events import expected, expected_of_many, generator, long_generator
from bench.cep.part import PART, measure
from bench.cep.program import CASES, run
from bench.cep.report import LIMIT, LONG, doubling, render, title, title_of_many
from bench.part import Runs
from firesteel.testing import executing

RUNS: Runs = {
    title("python", 1_000): [{"rate": 300_000, "cpu_us": 6.0}],
    title("flink", 1_000): [{"rate": 200_000, "cpu_us": 9.0}],
    title_of_many(1): [{"rate": 500_000, "cpu_us": 4.0}],
    title_of_many(100): [{"rate": 100_000, "cpu_us": 20.0}],
    LONG: [{"lengths": [1, 2, 4], "seconds": [1, 2, 4], "cpu": [3.0, 5.0, 9.0], "bytes": [1 << 20] * 3}],
}


def test_one_event_in_ten_is_an_a_and_one_a_b() -> None:
    kinds = Counter(generator(100)(number)[1] for number in range(20_000))
    assert abs(kinds["A"] - 2_000) < 200
    assert abs(kinds["B"] - 2_000) < 200


@pytest.mark.parametrize("case", ["python", "text"])
@pytest.mark.parametrize("keys", [50, 3_000])
def test_firesteel_finds_the_expected_matches(case: str, keys: int, tmp_path: Path) -> None:
    with executing(epoch_records=7_500):
        found = run(case, keys, 20_000, tmp_path)
    assert tuple(found["results"]) == expected(keys, 20_000) != (0, 0)


@pytest.mark.parametrize("patterns", [20, 200])
def test_each_of_many_patterns_has_its_matches(patterns: int, tmp_path: Path) -> None:
    with executing(epoch_records=20_000):
        found = run(str(patterns), 1_000, 60_000, tmp_path)
    assert tuple(found["results"]) == expected_of_many(patterns, 60_000) != (0, 0)


def test_a_long_match_has_all_events(tmp_path: Path) -> None:
    assert "".join(long_generator(1, 5)(number)[1] for number in range(5)) == "AxxxB"
    with executing(epoch_records=300):
        assert run("long", 4, 4 * 402, tmp_path)["results"] == [4, 1_600]


def test_the_events_alone_give_nothing(tmp_path: Path) -> None:
    with executing():
        assert run("events", 10, 500, tmp_path)["results"] == [0, 0]
    assert {"python", "text", "events", "long"} == set(CASES)


def test_the_section_compares_with_flink() -> None:
    page = "\n".join(render(RUNS))
    assert "| Firesteel, conditions in Python | 1,000 | 300,000 | 6.00 | 1.5 | 200,000 |" in page
    assert "| Flink CEP, in Java | 1,000 | 200,000 | 9.00 |  |  |" in page
    assert f"costs 2.00 times the processor time (limit: {LIMIT})" in page
    assert "| 100 | 100,000 | 20.00 | 5.0 |" in page
    assert doubling(RUNS[LONG]) == 2
    assert "last doubling" not in "\n".join(render({}))


def test_both_systems_run_with_each_number_of_keys() -> None:
    names = {case.name for case in PART.cases}
    assert {"python 1000", "flink 1000", "text 100000", "flink 100000", "long"} <= names


@pytest.mark.thorough
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_case_runs_on_spark() -> None:
    [(name, figures)] = measure("text", 1_000, 0.02).items()
    assert name == "text, 1,000 keys"
    assert figures["rate"] > 0


@pytest.mark.long
def test_four_times_as_long_a_match_costs_about_four_times_as_much(tmp_path: Path) -> None:
    """Without the collector of garbage, whose cost is one of all that the process has in memory."""

    def seconds(length: int) -> float:
        began = time.process_time()
        with executing(epoch_records=20_000):
            found = run("long", 1, length + 2, tmp_path / f"{length}-{began}")
        assert found["results"] == [1, length]
        return time.process_time() - began

    gc.disable()
    try:
        most = (1.2 * LIMIT) ** 2  # that of a doubling, twice
        assert min(seconds(80_000) for _ in range(3)) < most * min(seconds(20_000) for _ in range(3))
    finally:
        gc.enable()
