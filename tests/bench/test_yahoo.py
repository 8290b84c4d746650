"""Latency under load: the events, one real run of Firesteel, what is read off it, and the page."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from bench.part import RunError, Runs
from bench.yahoo import measuring
from bench.yahoo.case import GLANCE, PUBLISHED, Trial, keeps_up
from bench.yahoo.events import WINDOW_MS, Lag, Load, Start
from bench.yahoo.measuring import FIRESTEEL, PROCESS, THREAD, Outcome, System, Visible
from bench.yahoo.part import PART

TEN_A_SECOND = Load(campaigns=100, rate=10, count=300, first_end_ms=5000, paced=True)


def outcome(lags: list[tuple[float, float]], load: Load = TEN_A_SECOND) -> Outcome:
    return Outcome(load, [Visible(load.seconds + 1, Counter())], lags)


def test_events_follow_the_schedule_in_lanes_of_any_number() -> None:
    load = TEN_A_SECOND
    assert [load.time(index) - load.first_ms for index in (0, 1, 10)] == [0, 100, 1000]
    assert [load.due(index) for index in (0, 1, 10)] == [0, 0.1, 1]
    assert [load.lane_count(lane, 7) for lane in range(7)] == [43] * 6 + [42]


def test_all_views_are_expected_in_windows_that_end_where_the_load_says() -> None:
    counts = TEN_A_SECOND.expected()
    assert counts.total() == 100
    windows = Counter[int]()
    for (start, _), count in counts.items():
        windows[start + WINDOW_MS - TEN_A_SECOND.first_ms] += count
    assert windows == {5000: 17, 15000: 33, 25000: 34, 35000: 16}


def test_all_processes_agree_on_one_start(tmp_path: Path) -> None:
    path = str(tmp_path / "start")
    assert not Start(path).decided
    first = Start(path).decide(5)
    assert Start(path).decide(100) == first == Start(path).read()
    assert [found.name for found in tmp_path.iterdir()] == ["start"]


def test_lag_is_noted_against_the_schedule(tmp_path: Path) -> None:
    lag = Lag(TEN_A_SECOND, str(tmp_path))
    for index, elapsed in ((0, 0.5), (1, 0.55), (10, 1.25)):
        lag.note(index, elapsed)
    [notes] = tmp_path.iterdir()
    assert notes.read_text().splitlines() == ["0.500 0.500", "1.250 0.250"]


@pytest.mark.parametrize(
    ("lag_at", "kept"),
    [
        (lambda at: 0.8, True),
        (lambda at: 2.0, True),
        (lambda at: 0.2 * at, False),
        (lambda at: 3.0 - 0.05 * at, True),
    ],
)
def test_a_rate_is_kept_up_with_unless_the_source_falls_back(lag_at: object, kept: bool) -> None:
    assert callable(lag_at)
    lags = [(at / 10, lag_at(at / 10)) for at in range(300)]
    assert keeps_up(outcome(lags), PUBLISHED) is kept
    assert not keeps_up(outcome([]), GLANCE)


def test_latency_is_counted_from_the_end_of_windows_that_end_by_themselves() -> None:
    load = TEN_A_SECOND
    starts = [load.first_ms + end - WINDOW_MS for end in (5000, 15000, 25000, 35000)]
    visible = [
        Visible(7.0, Counter({starts[0]: 4})),
        Visible(15.5, Counter({starts[1]: 2})),
        Visible(26.0, Counter({starts[1]: 1, starts[2]: 1})),
        Visible(30.0, Counter({starts[3]: 9})),
    ]
    assert Outcome(load, visible, []).latencies(6) == [0.5, 0.5, 1.0, 11.0]


class Systems:
    """Systems that can so many events a second."""

    def __init__(self, capacity: dict[System, float]) -> None:
        self._capacity = capacity
        self.loads: list[tuple[System, Load]] = []

    def run(self, system: System, load: Load) -> Outcome:
        self.loads.append((system, load))
        capacity = self._capacity[system]
        taken = max(load.count / capacity, load.seconds) if load.paced else load.count / capacity
        steps = [taken * step / 100 for step in range(101)]
        lags = [(at, at - load.count * at / taken / load.rate) for at in steps]
        start = load.first_ms - load.first_ms % WINDOW_MS
        at = (start + WINDOW_MS - load.first_ms) / 1000 + 0.3
        return Outcome(load, [Visible(at, Counter({start: 5})), Visible(taken, Counter({start: 0}))], lags)


def test_each_system_is_looked_at_at_half_of_what_it_keeps_up_with() -> None:
    systems = Systems({PROCESS: 1000.0, THREAD: 1500.0, FIRESTEEL: 20000.0})
    found = Trial(100, 1, systems.run).figures()
    assert list(found) == [
        "PyFlink, 100 campaigns",
        "Firesteel, 100 campaigns",
        "Firesteel at PyFlink's rate, 100 campaigns",
    ]
    pyflink, firesteel, same = found.values()
    assert (pyflink["mode"], pyflink["sustainable"], pyflink["rate"]) == ("thread", 1500, 750)
    assert (firesteel["sustainable"], firesteel["rate"]) == (20000, 10000)
    assert same["rate"] == 750
    assert "sustainable" not in same
    assert {round(value, 6) for value in same["quantiles"]} == {0.3}


def test_a_rate_that_is_not_kept_up_with_is_followed_by_a_lower_one() -> None:
    systems = Systems({FIRESTEEL: 750.0})
    assert Trial(100, 1, systems.run).sustainable(FIRESTEEL, 1000) == 700
    assert [load.rate for _, load in systems.loads] == [1000, 850, 700]
    with pytest.raises(RunError, match="kept up with none of"):
        Trial(100, 1, Systems({FIRESTEEL: 10.0}).run).sustainable(FIRESTEEL, 1000)


def made_up() -> Runs:
    def run(campaigns: int, rate: int, slowest: float, **more: object) -> dict[str, object]:
        values = [slowest * step / 200 for step in range(201)]
        return {"campaigns": campaigns, "rate": rate, "results": 300, "quantiles": values, **more}

    runs: Runs = {}
    for campaigns in (100, 1_000_000):
        runs[f"PyFlink, {campaigns:,} campaigns"] = [
            run(campaigns, 5000, 2.0, mode=mode, sustainable=10_000) for mode in ("thread", "process")
        ]
        runs[f"Firesteel, {campaigns:,} campaigns"] = [
            run(campaigns, 50_000, 1.0, mode="", sustainable=sustainable)
            for sustainable in (100_000, 110_000)
        ]
        runs[f"Firesteel at PyFlink's rate, {campaigns:,} campaigns"] = [run(campaigns, 5000, 0.4)]
    return runs


def test_the_section_shows_rates_and_quantiles_of_all_runs() -> None:
    lines = PART.render(made_up())
    assert lines[0] == "## Latency under load"
    assert (
        "| PyFlink, 100 campaigns | 10,000 (process, thread) | 5,000 | 1.00 | 1.90 | 1.98 | 2.00 |" in lines
    )
    assert "| Firesteel, 100 campaigns | 105,000 | 50,000 | 0.50 | 0.95 | 0.99 | 1.00 |" in lines
    assert (
        "| Firesteel at PyFlink's rate, 1,000,000 campaigns |  | 5,000 | 0.20 | 0.38 | 0.40 | 0.40 |" in lines
    )


def test_the_picture_is_drawn_from_the_figures_alone(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    assert PART.plot is not None
    PART.plot(made_up(), tmp_path / "images")
    assert (tmp_path / "images" / "yahoo-latency.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.thorough
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_firesteel_counts_paced_events_exactly() -> None:
    load = Load(campaigns=100, rate=3000, count=6000, first_end_ms=1000, paced=True)
    found = measuring.run(FIRESTEEL, load)
    assert found.seconds >= load.due(load.count - 1)
    assert min(found.latencies(0)) > 0
    assert len(found.latencies(0)) == 100
    assert all(lag > -0.01 for _, lag in found.lags)
