"""The section of the page about what metrics cost."""

from __future__ import annotations

from statistics import median, quantiles
from typing import Final

from bench.part import Figures, Runs, middle
from bench.tables import table

NOTHING: Final = "nothing is measured"
ENGINE: Final = "what the engine measures by itself"
COUNTER: Final = "and a counter of the function, raised by each record"
ALL: Final = "and markers of latency in each epoch, and Prometheus each second"

MEASURED: Final = (ENGINE, COUNTER, ALL)
"""What is measured; each has what the one before it has."""

AIM: Final = 0.02


def ratios(figures: list[Figures], name: str) -> list[float]:
    """Return a figure's ratios to that without measuring, of the pairs of all runs."""
    return [ratio for run in figures for ratio in run[name]]


def cost(runs: Runs, title: str) -> float | None:
    """Return the part of the processor time that measuring adds; None if it was not measured."""
    figures = runs.get(title)
    return median(ratios(figures, "cpu_ratios")) - 1 if figures else None


def render(runs: Runs) -> list[str]:
    """Return the section: a row without measuring, and one for each thing that is measured."""
    header = [
        "Measured",
        "CPU µs a record",
        "more",
        "half of the pairs",
        "aim",
        "Records/s",
        "fewer",
        "half of the pairs",
    ]
    rows = [_row(title, runs[title]) for title in (NOTHING, *MEASURED) if runs.get(title)]
    pairs = max((len(ratios(runs[title], "cpu_ratios")) for title in MEASURED if runs.get(title)), default=0)
    said = f"The same job with and without measuring, {pairs} pairs of jobs:"
    return ["## What metrics cost", "", said, "", *table(header, rows), ""]


def _row(title: str, figures: list[Figures]) -> list[str]:
    cpu, rate = f"{middle(figures, 'cpu_us'):.2f}", f"{middle(figures, 'records_per_s'):,.0f}"
    if title == NOTHING:
        return [title, cpu, "", "", "", rate, "", ""]
    more = [ratio - 1 for ratio in ratios(figures, "cpu_ratios")]
    fewer = [1 - ratio for ratio in ratios(figures, "rate_ratios")]
    aim = f"{AIM * 100:.0f} %"
    return [title, cpu, percent(median(more)), _half(more), aim, rate, percent(median(fewer)), _half(fewer)]


def percent(part: float) -> str:
    """Return a part of the whole as text.

    >>> percent(0.0123), percent(-0.0004)
    ('1.2 %', '0.0 %')
    """
    return f"{round(part * 100, 1) + 0:.1f} %"


def _half(parts: list[float]) -> str:
    """Return the bounds of the middle half."""
    lower, _, upper = quantiles(parts, n=4, method="inclusive")
    return f"{percent(lower)} to {percent(upper)}"


HOW: Final = """\
A job with two subtasks counts the records of 10,000 keys with a `KeyedProcessFunction`: a generator, a `map`, the count
in a `ValueState`, another `map`, and a sink. An epoch has 50,000 records; a default job has fewer and larger epochs.
Spark runs in local mode, state is written in every epoch, and all results are checked. Jobs run one after another in
one process, after two that do not count: in the order of the table, then in the opposite order, and so on. Each job
with measuring is compared to the job without it of the same round. The table has the medians of these ratios, and the
values between which the middle half of them is. Processor time is what the operating system counts for all processes
(the driver, the JVM, the workers), from the end of a job's fourth epoch to the end of its last one.

Without measuring, the workers do not read the clock, nor what state and memory take, nor the metrics of functions; the
driver keeps no metrics, and writes none. What stays there are the calls that would read the clock, a few for each batch
of records, and the counts of records and bytes that the engine needs itself. Each epoch checks that the workers have
measured nothing. With measuring, the driver writes the metrics every two seconds, as always with a state directory. The
text for Prometheus is made as a cluster's server makes it, from what the driver has written, by a thread of the driver.
"""
