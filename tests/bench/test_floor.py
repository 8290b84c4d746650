"""The job of small epochs and the first results, and the section made from figures."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bench.floor.job import RECORDS, build, expected, generate
from bench.floor.part import PART
from bench.floor.report import COMMAND, ONE, SESSION, TWO, render
from bench.part import Figures
from bench.summary import SUMMARIES
from bench.tally import TallySink
from firesteel.control.listeners import EpochStats
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.testing import executing

RUNS = {
    ONE: [
        {"median_ms": median, "p95_ms": 200.0, "commit_median_ms": 112.0, "commit_p95_ms": 210.0}
        for median in (110.4, 90.0, 130.0)
    ],
    COMMAND: [{"seconds": 7.5, "python": 0.3, "imports": 0.2, "session": 4.0, "first_epoch": 3.0}],
    SESSION: [{"seconds": 2.5}],
}


class Heard:
    def __init__(self) -> None:
        self.records: list[int] = []

    def on_epoch(self, stats: EpochStats) -> None:
        self.records.append(stats.records_in)


@pytest.mark.parametrize("exchanges", [1, 2])
def test_every_epoch_has_as_many_records_and_all_results_arrive(exchanges: int) -> None:
    sink, heard = TallySink(), Heard()
    with executing(epoch_records=RECORDS, listener=heard, parallelism=2):
        env = StreamExecutionEnvironment.get_execution_environment()
        build(env, exchanges, 4, sink)
        env.execute()
    assert (sink.results, sink.total) == expected(exchanges, 4)
    assert [count for count in heard.records if count] == [RECORDS] * 4


def test_an_epoch_has_every_key_once() -> None:
    assert {generate(index)[0] for index in range(RECORDS, 2 * RECORDS)} == set(range(RECORDS))


def case(name: str) -> Callable[[float], dict[str, Figures]]:
    return next(case.run for case in PART.cases if case.name == name)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.long
def test_small_epochs_on_spark() -> None:
    figures = case("two exchanges")(0.05)[TWO]
    assert figures["epochs"] == len(figures["epochs_ms"]) == 6
    assert 0 < figures["median_ms"] <= figures["p95_ms"]
    assert figures["commit_median_ms"] > 0


@pytest.mark.thorough
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_the_first_result_of_a_command() -> None:
    figures = case("first result")(1)[COMMAND]
    parts = figures["python"] + figures["imports"] + figures["session"] + figures["first_epoch"]
    assert parts == pytest.approx(figures["seconds"], abs=0.01)


@pytest.mark.thorough
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_the_first_result_in_a_session() -> None:
    assert 0 < case("first result in a session")(1)[SESSION]["seconds"] < 300


def test_the_section_shows_medians_beside_aims() -> None:
    text = "\n".join(render(RUNS))
    assert "| one exchange | 110 ms | 120 ms | 200 ms | 112 ms | 210 ms |" in text
    assert f"| {COMMAND} | 7.50 s | 0.30 s | 0.20 s | 4.00 s | 3.00 s |" in text
    assert f"| {SESSION} | 2.50 s |  |  |  |  |" in text
    assert TWO not in text


def test_the_summary_has_the_aims() -> None:
    assert [row[:3] for row in SUMMARIES["floor"](RUNS)] == [
        ["epoch of 1,000 records, one exchange", "110 ms", "120 ms"],
        [COMMAND, "7.5 s", "8 s"],
        ["first result, from when the session is up", "3.0 s", "3 s"],
    ]
