"""Growing state, latency of windows, joins over large state, and what is made of their figures."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bench.growth.part import PART as GROWTH
from bench.growth.part import measure as measure_growth
from bench.growth.program import Moment, costs
from bench.growth.report import growth, most
from bench.joins.part import PART as JOINS
from bench.joins.part import measure as measure_join
from bench.joins.program import expected
from bench.latency.arrivals import arrive
from bench.latency.part import PART as LATENCY
from bench.latency.part import TIMEOUT_SECONDS
from bench.latency.program import EVERY_MS, PER_SECOND, complete, figures, last_end, select
from bench.nexmark.events import RATE, START
from bench.nexmark.files import FORMATS, folder
from bench.nexmark.slices import slices
from bench.part import Figures
from bench.process import printed
from bench.readme import BEGIN, END, filled
from bench.summary import SUMMARIES

GROWN: Figures = {
    "before_cpu_us": 2.0,
    "after_cpu_us": 2.5,
    "before_state_bytes": 10 << 20,
    "after_state_bytes": 100 << 20,
    "before_bytes": 1 << 30,
    "after_bytes": 3 << 29,
}
LATE: Figures = {"windows": 60, "p50_ms": 210.4, "p99_ms": 400, "max_ms": 410, "epoch_ms": 90, "cores": 0.51}
JOINED: Figures = {
    "rows": 10_000_000,
    "changes": 100_000,
    "rate": 200_000,
    "cpu_us": 4.5,
    "median_ms": 450,
    "p95_ms": 500,
    "run_bytes": 50.4,
    "manifest_bytes": 0.04,
    "compaction_bytes": 100.25,
    "state_bytes": 5 << 20,
    "worker_bytes": 7 << 20,
}
RUNS = {"nexmark-growth": {"q4": [GROWN]}, "nexmark-latency": {"q5": [LATE]}, "joins": {"big": [JOINED]}}


@pytest.mark.parametrize("kind", FORMATS)
def test_slices_have_all_events_in_their_order(kind: Any, tmp_path: Path) -> None:
    found = slices(kind, 2_000, 500, tmp_path)
    assert [path.name for path in found] == ["000000", "000001", "000002", "000003"]
    whole = folder(kind, 2_000, tmp_path)
    for name in (f"events-0.{kind}", f"events-1.{kind}"):
        parts = [path / name for path in found]
        if kind == "json":
            assert b"".join(part.read_bytes() for part in parts) == (whole / name).read_bytes()
        else:
            assert pa.concat_tables(map(pq.read_table, parts)) == pq.read_table(whole / name)


def test_what_an_event_costs_is_that_of_the_same_number_of_events_at_both_moments() -> None:
    def moment(events: int, cpu: float) -> Moment:
        return Moment(events, cpu, cpu / 2, events * 3, events * 5)

    moments = [moment(50 * n, n**2) for n in range(1, 23)]
    assert costs(moments, 100) == {
        "events": 1_100,
        "before_cpu_us": (4**2 - 2**2) / 100 * 1e6,
        "before_us": (4**2 - 2**2) / 200 * 1e6,
        "before_state_bytes": 300,
        "before_bytes": 1_000,
        "after_cpu_us": (22**2 - 20**2) / 100 * 1e6,
        "after_us": (22**2 - 20**2) / 200 * 1e6,
        "after_state_bytes": 3_000,
        "after_bytes": 5_500,
    }


def test_pairs_of_a_key_are_counted() -> None:
    rows = 10
    for read in range(3 * rows):
        left = [place % rows for place in range(read)]
        right = [(place + rows // 2) % rows for place in range(read)]
        assert expected(rows, read) == sum(one == other for one, other in product(left, right))


def test_files_arrive_once_in_the_order_of_their_names(tmp_path: Path) -> None:
    arrived = tmp_path / "arrived"
    arrived.mkdir()
    for given in slices("json", 2_000, 1_000, tmp_path):
        arrive(arrived, given)
    assert sorted(path.name for path in arrived.iterdir()) == [
        f"{number}-events-{file}.json" for number in ("000000", "000001") for file in (0, 1)
    ]


def test_a_window_is_complete_with_the_events_that_let_the_watermark_pass() -> None:
    end = int(START) + 10_000
    at = complete(end) / PER_SECOND  # of 5 s of event time a second
    assert 2.8 < at < 2.802
    assert last_end("q7", 20 * RATE) == int(START) // 10_000 * 10_000 + 10_000
    rows = [(end, 1_000 + at + 0.25), (end + EVERY_MS["q7"], 1_000 + at + 2.5)]
    shown = figures(rows, 1_000, at)
    assert (shown["windows"], shown["rows"], shown["latencies_ms"]) == (2, 2, [250.0, 500.0])
    assert shown["p50_ms"] == 375
    assert figures([*rows, (end + 20_000, 1_000 + at + 4.1)], 1_000, at + 1)["latencies_ms"] == [500, 100]


def test_rows_begin_with_the_end_of_their_window() -> None:
    assert select("q5").startswith("SELECT AuctionBids.endtime, AuctionBids.auction, AuctionBids.num FROM")
    assert select("q7").startswith("SELECT B1.`dateTime`, B.auction, B.bidder")


def test_sections_have_a_row_for_what_was_measured() -> None:
    lines = GROWTH.render(RUNS["nexmark-growth"])
    assert any(line.endswith("| 2.00 | 2.50 | 1.25 | 10 | 100 | 1.0 | 1.5 |") for line in lines)
    assert any(
        " | 60 | 210 | 400 | 410 | 90 | 0.51 |" in line for line in LATENCY.render(RUNS["nexmark-latency"])
    )
    row = "| 10,000,000 | 200,000 | 4.50 | 450 | 500 | 50.4 | 0.04 | 100.2 | 5 | 7 |"
    assert row in JOINS.render(RUNS["joins"])


def test_the_query_that_grows_most_is_in_the_summary() -> None:
    assert growth([GROWN]) == 1.25
    assert most({"q3": [GROWN | {"after_cpu_us": 2.1}], "q4": [GROWN], "q5": []}) == ("q4", 1.25)
    [row] = SUMMARIES["nexmark-growth"](RUNS["nexmark-growth"])
    assert row[1:3] == ["1.25 times the processor time", "1.5 times"]
    for name in ("nexmark-growth", "nexmark-latency", "joins"):
        assert SUMMARIES[name]({}) == []


def test_the_readme_has_the_figures_between_its_marks() -> None:
    before = f"# It\n\n{BEGIN}\n{END}\n\n## More\n"
    text = filled(before, RUNS)
    assert (
        "| Nexmark q5, from event to committed result at 50,000 events/s | p50 210 ms, p99 400 ms |  |"
        in text
    )
    assert "200,000 changes/s, 50 bytes of checkpoint each" in text
    assert "images" not in text  # no picture without the comparison
    assert (text.startswith(f"# It\n\n{BEGIN}\n"), text.endswith(f"{END}\n\n## More\n")) == (True, True)
    assert filled(text, RUNS) == text
    assert filled(text, {}) == before


def test_this_readme_has_the_marks() -> None:
    text = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert text.count(f"{BEGIN}\n") == text.count(f"{END}\n") == 1


@pytest.mark.thorough
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_join_on_spark() -> None:
    [(title, shown)] = measure_join(100_000, 0.02).items()  # and its results are counted
    assert title == "2,000 rows of each side"
    assert 0 < shown["run_bytes"] < 200
    assert shown["state_bytes"] > 0


@pytest.mark.thorough
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_growing_state_on_spark() -> None:
    [(query, shown)] = measure_growth("q18", 0.02).items()
    assert (query, shown["events"]) == ("q18", 110_000)
    assert shown["after_state_bytes"] > 5 * shown["before_state_bytes"]
    assert min(shown["before_cpu_us"], shown["after_cpu_us"], shown["before_bytes"]) > 0


@pytest.mark.thorough
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_latency_on_spark() -> None:
    command = ["-m", "bench.latency.program", "q5", "--seconds", 3, "--warm-up", 2]
    shown = printed("latency", command, TIMEOUT_SECONDS)
    assert shown["windows"] >= 2
    assert 0 < shown["p50_ms"] <= shown["max_ms"] == max(shown["latencies_ms"])
