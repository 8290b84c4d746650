"""Queries beside Flink's runtime, and their small epochs: the figures, and the section made from them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench.process import started
from bench.sql.part import PART, TIMEOUT_SECONDS, ratios, render, small_epochs
from bench.sql.queries import QUERIES, write_lines
from bench.summary import SUMMARIES

RUNS = {
    "GROUP BY, 1,000 keys, Firesteel": [{"rate": rate} for rate in (9_000_000, 8_000_000, 1_000)],
    "GROUP BY, 1,000 keys, Flink SQL": [{"rate": 1_000_000}],
    "HOP, 6 slices, 1,000 keys, Flink SQL": [{"rate": 1_000_000}],
    "small epochs, 1,000 keys": [
        {"keys": 1000, "median_ms": 90.6, "p95_ms": 120, "run_bytes": 16_000, "manifest_bytes": 3_000}
    ],
}


def test_the_ratio_is_that_of_the_medians_where_both_were_measured() -> None:
    assert ratios(RUNS) == {"group-1k": 8.0}


def test_the_section_has_a_row_for_each_query_and_each_size_of_state() -> None:
    lines = render(RUNS)
    assert "| GROUP BY, 1,000 keys | 8,000,000 | 1,000,000 | 8.0 | 8 |" in lines
    assert "| HOP, 6 slices, 1,000 keys |  | 1,000,000 |  | 4 |" in lines
    assert "| 1,000 | 91 | 120 | 16,000 | 3,000 |" in lines
    assert not any("small epochs" in line.lower() for line in render({}))


def test_the_summary_names_flinks_rate() -> None:
    assert SUMMARIES["sql"](RUNS) == [
        ["SQL: GROUP BY, 1,000 keys", "8,000,000/s", "8 times Flink SQL", "1,000,000/s (Flink SQL)", "8.0"]
    ]


def test_the_files_have_the_rows_that_pass(tmp_path: Path) -> None:
    assert write_lines(1000, str(tmp_path)) == sum(
        index % 1000 / 2 > 100 and index % 100 != 7 for index in range(1000)
    )
    assert sum(len(path.read_text().splitlines()) for path in (tmp_path / "in").iterdir()) == 1000


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.thorough
def test_small_epochs_on_spark() -> None:
    [(title, figures)] = small_epochs(1000, 0.04).items()
    assert title == "small epochs, 1,000 keys"
    assert len(figures["epochs_ms"]) == 6
    assert 0 < figures["median_ms"] <= figures["p95_ms"]
    assert 0 < figures["run_bytes"] < 1000 * 40


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_query_on_spark() -> None:
    command = ["-m", "bench.sql.program", "firesteel", "files", "--scale", "0.01"]
    with started("files", command, TIMEOUT_SECONDS) as process:
        output = process.output.read()
    assert json.loads(output.splitlines()[-1])["rows"] == [
        5_000,
        25_000,
    ]  # and the program has counted what it wrote


def test_every_query_runs_on_both_systems() -> None:
    names = [case.name for case in PART.cases]
    assert [name for query in QUERIES for name in (f"{query.name} firesteel", f"{query.name} flink")] == [
        name for name in names if not name.startswith("small")
    ]
