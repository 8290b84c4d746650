"""The job with and without measuring, and the section made from figures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.metrics.job import EPOCH, build, expected
from bench.metrics.measuring import driver_without_metrics, workers_do_not_measure, workers_measure
from bench.metrics.part import PART
from bench.metrics.program import Cost, check, figures, scrape, turns
from bench.metrics.report import ALL, COUNTER, ENGINE, MEASURED, NOTHING, cost
from bench.page import render
from bench.store import Record
from bench.tally import TallySink
from firesteel.checkpoint.objects import Storage
from firesteel.common.errors import FiresteelError
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.testing import executing

EPOCHS = 2


@pytest.fixture
def workers() -> Iterator[Callable[[], None]]:
    """Switch measuring off in the workers, which are this process, and on again after the test."""
    yield workers_do_not_measure
    workers_measure()


def run(state: Path, tells: bool = False) -> tuple[int, int]:
    sink = TallySink()
    with executing(epoch_records=EPOCH, parallelism=2, state_dir=str(state)):
        env = StreamExecutionEnvironment.get_execution_environment()
        build(env, EPOCHS, tells, sink)
        env.execute()
    return sink.results, sink.total


def test_without_measuring_the_results_are_the_same_and_there_are_no_metrics(
    tmp_path: Path, workers: Callable[[], None]
) -> None:
    workers()
    with driver_without_metrics():
        assert run(tmp_path) == expected(EPOCHS)
    check(Storage.of(tmp_path), NOTHING, EPOCHS * EPOCH)
    assert scrape(Storage.of(tmp_path)) == b""


def test_metrics_are_as_always_after_a_job_without_them(tmp_path: Path, workers: Callable[[], None]) -> None:
    workers()
    with driver_without_metrics():
        run(tmp_path / "without")
    workers_measure()
    assert run(tmp_path / "with", tells=True) == expected(EPOCHS)
    check(Storage.of(tmp_path / "with"), COUNTER, EPOCHS * EPOCH)
    assert b"firesteel_operator_counted" in scrape(Storage.of(tmp_path / "with"))


def test_workers_that_measure_nevertheless_are_noticed(tmp_path: Path) -> None:
    with driver_without_metrics(), pytest.raises(FiresteelError, match="still measure"):
        run(tmp_path)


@pytest.mark.parametrize("measured", [NOTHING, COUNTER, ALL])
def test_other_metrics_than_expected_are_an_error(tmp_path: Path, measured: str) -> None:
    run(tmp_path)
    check(Storage.of(tmp_path), ENGINE, EPOCHS * EPOCH)
    with pytest.raises(SystemExit):
        check(Storage.of(tmp_path), measured, EPOCHS * EPOCH)


def test_jobs_take_turns_and_the_order_turns_around() -> None:
    first, second = turns(2)
    assert first == (NOTHING, ENGINE, COUNTER, ALL) == second[::-1]


def rounds() -> list[dict[str, Cost]]:
    """Three rounds on a machine that becomes slower."""
    return [
        {NOTHING: Cost(slow, 1000 / slow)}
        | {title: Cost(slow * (1 + part), 1000 / (slow * (1 + part))) for title, part in parts.items()}
        for slow in (4.0, 5.0, 8.0)
        for parts in [dict(zip(MEASURED, (0.01, 0.015, 0.03), strict=True))]
    ]


def test_a_job_is_compared_to_that_of_its_turn() -> None:
    found = figures(rounds())
    assert found[NOTHING] == {"cpu_us": 5.0, "records_per_s": 200}
    assert found[ENGINE]["cpu_ratios"] == [1.01] * 3
    assert cost({title: [run] for title, run in found.items()}, ALL) == pytest.approx(0.03)


def test_the_section_has_the_aim_and_the_page_a_summary() -> None:
    runs = {title: [run, run] for title, run in figures(rounds()).items()}
    page = render({"metrics": Record({}, "x", "2026-11-21T15:00:00+00:00", {"jobs": 2}, runs)})
    assert "6 pairs of jobs" in page
    assert f"| {ENGINE} | 5.05 | 1.0 % | 1.0 % to 1.0 % | 2 % | 198 | 1.0 % | 1.0 % to 1.0 % |" in page
    assert "| processor time for metrics: the engine's metrics | 1.0 % | 2 % |  |  |" in page
    assert cost({}, ENGINE) is None


@pytest.mark.thorough
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_the_jobs_on_spark() -> None:
    found = PART.cases[0].run(0.01)
    assert list(found) == [NOTHING, *MEASURED]
    assert all(run["cpu_us"] > 0 and run["records_per_s"] > 0 for run in found.values())
    assert len(found[ALL]["cpu_ratios"]) == 2
