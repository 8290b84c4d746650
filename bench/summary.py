"""The table at the top of the page: the figures with an aim or a competitor."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from statistics import geometric_mean, median
from typing import Final

from bench.cep.report import AIMS, KEYS, rate
from bench.cep.report import FLINK as FLINK_CEP
from bench.floor.report import AFTER_SESSION_S, AIM_S, AIMS_MS, COMMAND
from bench.growth.report import LIMIT as GROWTH_LIMIT
from bench.growth.report import most
from bench.joins.report import largest
from bench.measure import FIRESTEEL, PROCESS, THREAD
from bench.metrics.report import AIM as METRICS_AIM
from bench.metrics.report import ALL, ENGINE, cost, percent
from bench.nexmark.files import FORMATS
from bench.nexmark.report import AIM as NEXMARK_AIM
from bench.nexmark.report import NAMES, lowest, mean
from bench.part import Runs, middle
from bench.scale.part import LIMIT, growth, seconds_by_size
from bench.sql.queries import QUERIES
from bench.sql_systems import FIRESTEEL as SQL
from bench.sql_systems import FLINK as FLINK_SQL
from bench.throughput.part import ROWS_OF_ALL
from bench.throughput.report import Row, advantage, rates
from bench.tpch.data import QUERIES as TPCH_QUERIES
from bench.tpch.report import LIMIT as TPCH_LIMIT
from bench.tpch.report import PEERS, ratios, slowest

Summary = Callable[[Runs], list[list[str]]]
"""Return the rows of the table: title, Firesteel's figure, the aim, PyFlink's figure, and their ratio."""


def _throughput(row: Row, runs: Runs) -> list[list[str]]:
    measured = rates(runs)
    if FIRESTEEL.title not in measured:
        return []
    flink = [measured[system.title] for system in (PROCESS, THREAD) if system.title in measured]
    peer = f"{max(flink):,.0f}/s" if flink else ""
    return [[row.title, f"{measured[FIRESTEEL.title]:,.0f}/s", f"{row.aim:,}/s", peer, advantage(measured)]]


def _floor(runs: Runs) -> list[list[str]]:
    epochs = [
        [
            f"epoch of 1,000 records, {title}",
            f"{middle(runs[title], 'median_ms'):,.0f} ms",
            f"{aim} ms",
            "",
            "",
        ]
        for title, aim in AIMS_MS.items()
        if title in runs
    ]
    firsts = [
        [name, f"{middle(runs[COMMAND], figure):.1f} s", f"{aim} s", "", ""]
        for name, figure, aim in (
            (COMMAND, "seconds", AIM_S),
            ("first result, from when the session is up", "first_epoch", AFTER_SESSION_S),
        )
        if COMMAND in runs
    ]
    return epochs + firsts


def _yahoo(runs: Runs) -> list[list[str]]:
    highest: dict[tuple[str, int], float] = {}
    for title, figures in runs.items():
        rates: list[float] = [run["sustainable"] for run in figures if "sustainable" in run]
        if rates:
            highest[title.partition(",")[0], figures[0]["campaigns"]] = median(rates)
    return [
        [
            f"sustainable rate, {campaigns:,} campaigns",
            f"{rate:,.0f}/s",
            "",
            *_beside(rate, highest.get(("PyFlink", campaigns))),
        ]
        for (system, campaigns), rate in highest.items()
        if system == "Firesteel"
    ]


def _beside(rate: float, peer: float | None) -> list[str]:
    return ["", ""] if peer is None else [f"{peer:,.0f}/s", f"{rate / peer:.1f}"]


def _scale(runs: Runs) -> list[list[str]]:
    curves = [seconds_by_size(figures) for figures in runs.values()]
    growths = [growth(before, after) for points in curves for before, after in pairwise(points)]
    return (
        [["costliest doubling of the work", f"{max(growths):.2f} times the time", f"{LIMIT} times", "", ""]]
        if growths
        else []
    )


def _sql(runs: Runs) -> list[list[str]]:
    rows = []
    for query in QUERIES:
        ours, theirs = (
            [run["rate"] for run in runs.get(f"{query.title}, {system.title}", [])]
            for system in (SQL, FLINK_SQL)
        )
        if ours:
            rate, peer = median(ours), median(theirs) if theirs else None
            beside = ["", ""] if peer is None else [f"{peer:,.0f}/s (Flink SQL)", f"{rate / peer:.1f}"]
            rows.append([f"SQL: {query.title}", f"{rate:,.0f}/s", f"{query.aim} times Flink SQL", *beside])
    return rows


def _nexmark(runs: Runs) -> list[list[str]]:
    rows = []
    for kind in FORMATS:
        times = mean(runs, kind)
        if times is not None:
            said = f"Nexmark from {NAMES[kind]}: geometric mean of the queries"
            rows.append([said, f"{times:.1f} times Flink SQL", f"{NEXMARK_AIM} times", "", f"{times:.1f}"])
    if (found := lowest(runs)) is not None:
        where, times = found
        said = f"Nexmark, the query nearest to Flink: {where}"
        rows.append([said, f"{times:.1f} times Flink SQL", "1 times", "", f"{times:.1f}"])
    return rows


def _tpch(size: int, runs: Runs) -> list[list[str]]:
    rows = []
    for peer in PEERS:
        found = ratios(runs, size, peer)
        if found:
            times = geometric_mean(found.values())
            which = "the queries" if len(found) == len(TPCH_QUERIES) else f"{len(found)} queries"
            said = f"TPC-H, scale {size}: geometric mean of {which}"
            rows.append([said, f"{times:.1f} times {peer}", f"1 times {peer}", "", f"{times:.1f}"])
    if (last := slowest(runs, size, PEERS[-1])) is not None:
        query, times = last
        said = f"TPC-H, scale {size}, the query nearest to {PEERS[-1]}: q{query}"
        rows.append([said, f"{1 / times:.1f} times its time", f"{TPCH_LIMIT} times", "", ""])
    return rows


def _growth(runs: Runs) -> list[list[str]]:
    found = most(runs)
    if found is None:
        return []
    query, times = found
    said = f"Nexmark, an event over ten times the state: {query}, which grows most"
    return [[said, f"{times:.2f} times the processor time", f"{GROWTH_LIMIT} times", "", ""]]


def _latency(runs: Runs) -> list[list[str]]:
    return [
        [
            f"Nexmark {query}, from event to committed result at 50,000 events/s",
            f"p50 {middle(figures, 'p50_ms'):,.0f} ms, p99 {middle(figures, 'p99_ms'):,.0f} ms",
            *("", "", ""),
        ]
        for query, figures in runs.items()
        if figures
    ]


def _joins(runs: Runs) -> list[list[str]]:
    found = largest(runs)
    if found is None:
        return []
    title, figures = found
    bytes_ = middle(figures, "run_bytes") + middle(figures, "manifest_bytes")
    said = f"inner join over {title}, epochs of {figures[0]['changes']:,} changes"
    rate = f"{middle(figures, 'rate'):,.0f} changes/s, {bytes_:,.0f} bytes of checkpoint each"
    return [[said, rate, "", "", ""]]


def _patterns(runs: Runs) -> list[list[str]]:
    rows = []
    for keys in KEYS:
        ours, peer = rate(runs, "python", keys), rate(runs, FLINK_CEP, keys)
        if ours is not None:
            beside = ["", ""] if peer is None else [f"{peer:,.0f}/s (Flink CEP)", f"{ours / peer:.1f}"]
            said = f"pattern of two events within 10 seconds, {keys:,} keys"
            rows.append([said, f"{ours:,.0f}/s", f"{AIMS[keys]:,}/s", *beside])
    return rows


def _metrics(runs: Runs) -> list[list[str]]:
    said = {ENGINE: "the engine's metrics", ALL: "with a function's, latency, and Prometheus"}
    return [
        [f"processor time for metrics: {what}", percent(part), f"{METRICS_AIM * 100:.0f} %", "", ""]
        for title, what in said.items()
        if (part := cost(runs, title)) is not None
    ]


SUMMARIES: Final[dict[str, Summary]] = {
    **{row.name: partial(_throughput, row) for row in ROWS_OF_ALL},
    "floor": _floor,
    "yahoo": _yahoo,
    "sql": _sql,
    "nexmark": _nexmark,
    "tpch": partial(_tpch, 1),
    "tpch-10": partial(_tpch, 10),
    "nexmark-growth": _growth,
    "nexmark-latency": _latency,
    "joins": _joins,
    "cep": _patterns,
    "metrics": _metrics,
    "scale": _scale,
}
"""By the name of the part."""
