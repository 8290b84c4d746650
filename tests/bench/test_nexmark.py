"""Nexmark: the events, their files, and the section made from figures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bench.nexmark.answers import rows, summary
from bench.nexmark.events import BLOCK, SCHEMA, START, Events
from bench.nexmark.files import FILES, FORMATS, folder
from bench.nexmark.part import PART
from bench.nexmark.queries import BY_NAME, QUERIES, columns_of
from bench.nexmark.report import mean, plot, ratios, render, title
from bench.part import Runs
from bench.summary import SUMMARIES

RUNS: Runs = {
    title("q0", "json", "Firesteel"): [{"rate": 900_000, "cpu_us": 1, "bytes": 1 << 30}],
    title("q0", "json", "Flink SQL"): [{"rate": 100_000, "cpu_us": 9, "bytes": 2 << 30}],
    title("q4", "json", "Firesteel"): [{"rate": rate} for rate in (400_000, 500_000, 1)],
    title("q4", "json", "Flink SQL"): [{"rate": 100_000}],
    title("q6", "json", "Firesteel"): [{"rate": 50_000}],
}


def test_of_fifty_events_one_is_a_person_and_three_are_auctions() -> None:
    block = Events().block(0)
    assert (len(block.people), len(block.auctions), len(block.bids)) == (2_000, 6_000, 92_000)
    wide = block.wide()
    assert wide.schema == SCHEMA
    assert wide["event_type"].slice(0, 6).to_pylist() == [0, 1, 1, 1, 2, 2]
    for kind, column in enumerate(("person", "auction", "bid")):
        assert wide[column].is_valid().equals(pc.equal(wide["event_type"], kind))


def test_times_rise_at_a_fixed_rate_and_ids_are_counted() -> None:
    events = Events()
    for number in (0, 3):
        block = events.block(number)
        millis = pc.struct_field(block.bid, "dateTime").cast(pa.int64()).to_numpy() - START
        assert (np.diff(millis) >= 0).all()
        assert millis[-1] == (number * BLOCK + BLOCK - 1) // 10
        first = number * 2_000 + 1_000
        assert pc.struct_field(block.person, "id").to_pylist() == list(range(first, first + 2_000))
        first = number * 6_000 + 1_000
        assert pc.struct_field(block.auction, "id").to_pylist() == list(range(first, first + 6_000))


def test_some_auctions_bidders_and_sellers_are_hot() -> None:
    block = Events().block(1)
    bids, auctions = block.bid, block.auction
    hot = np.mean(pc.struct_field(bids, "auction").to_numpy() % 100 == 0)
    assert 0.49 < hot < 0.53
    assert 0.74 < np.mean(pc.struct_field(bids, "bidder").to_numpy() % 100 == 1) < 0.77
    assert 0.73 < np.mean(pc.struct_field(auctions, "seller").to_numpy() % 100 == 0) < 0.77
    prices = np.log10(pc.struct_field(bids, "price").to_numpy())
    assert np.allclose(np.histogram(prices, 6, (2, 8))[0] / len(prices), 1 / 6, atol=0.01)
    sizes = 32 + pc.binary_length(pc.struct_field(bids, "extra")).to_numpy()
    assert 98 < sizes.mean() < 102
    assert 0.44 < np.mean(pc.starts_with(pc.struct_field(bids, "channel"), "channel-").to_numpy(False)) < 0.56


def test_a_block_depends_on_the_seed_and_its_number_alone() -> None:
    once, again = Events().block(7, 100), Events().block(7, 100)
    assert once.wide().equals(again.wide())
    assert not Events(1).block(7, 100).wide().equals(once.wide())


def test_both_formats_have_the_same_events(tmp_path: Path) -> None:
    count = 1_000
    read: dict[str, list[pa.Table]] = {}
    for kind in FORMATS:
        paths = sorted(folder(kind, count, tmp_path).iterdir())
        assert len(paths) == FILES
        read[kind] = [_parquet(path) if kind == "parquet" else _json(path) for path in paths]
    assert read["json"] == read["parquet"]
    assert sum(table.num_rows for table in read["json"]) == count
    for table in read["parquet"]:
        assert table["event_type"].to_pylist().count(0) == count // 50 // FILES


def _parquet(path: Path) -> pa.Table:
    return pq.read_table(path, coerce_int96_timestamp_unit="ms").cast(SCHEMA)


def _json(path: Path) -> pa.Table:
    known = [json.loads(line) for line in path.read_text().splitlines()]
    for row in known:
        for part in filter(None, (row["person"], row["auction"], row["bid"])):
            for name in part.keys() & {"dateTime", "expires"}:
                part[name] = np.datetime64(part[name], "ms").item()
    return pa.Table.from_pylist(known, SCHEMA)


def test_every_query_is_there_and_has_names_for_its_columns() -> None:
    assert {query.name for query in QUERIES} >= {f"q{number}" for number in range(23)}
    for query in QUERIES:
        assert len(columns_of(query)) == query.columns.count(",") + 1 - query.columns.count("(23,")
        assert {*query.tied} <= {name for name, _ in columns_of(query)}
        assert query.select in summary(query)
        assert query.select in rows(query)


def test_each_system_runs_each_query_that_it_can() -> None:
    names = [case.name for case in PART.cases]
    assert [name for name in names if name.endswith("firesteel")] == [
        f"{query.name} firesteel" for query in QUERIES
    ]
    assert "q6 flink" not in names
    assert "q12 answers" not in names
    assert {"q0 flink", "q0 answers", "q12 flink"} <= {*names}
    assert BY_NAME["q6"].refused


def test_ratios_and_their_geometric_mean() -> None:
    assert ratios(RUNS, "json") == {"q0": 9, "q4": 4}
    assert mean(RUNS, "json") == 6
    assert mean(RUNS, "parquet") is None
    assert SUMMARIES["nexmark"](RUNS) == [
        ["Nexmark from JSON: geometric mean of the queries", "6.0 times Flink SQL", "5 times", "", "6.0"],
        ["Nexmark, the query nearest to Flink: q4 from JSON", "4.0 times Flink SQL", "1 times", "", "4.0"],
    ]


def test_the_section_has_a_row_for_each_measured_query(tmp_path: Path) -> None:
    lines = render(
        RUNS | {title("q0", "parquet", "Firesteel"): [{"rate": 5, "cpu_us": 1.25, "bytes": 1 << 29}]}
    )
    assert "| q0: pass through | 5 |  |  | 900,000 | 100,000 | 9.0 | 1.25 |  | 0.5 |  |" in lines
    assert any(line.startswith("| q6: ") and "| 50,000 |  |  |" in line for line in lines)
    assert any("| **6.0** |" in line for line in lines)
    assert not any(line.startswith("| q1: ") for line in lines)
    plot(RUNS, tmp_path)
    assert (tmp_path / "nexmark.png").stat().st_size > 1000
