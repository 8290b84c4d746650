"""The part of the benchmark: latency under load, at few and at very many campaigns."""

from __future__ import annotations

from functools import partial
from typing import Final

from bench.part import Case, Figures, Part
from bench.yahoo.case import FACTORS, PUBLISHED, Trial
from bench.yahoo.on_firesteel import EPOCH
from bench.yahoo.report import plot, render

CAMPAIGNS: Final = (100, 1_000_000)

_PARTS: Final = ", ".join(map(str, FACTORS))

HOW: Final = f"""\
**Latency under load** follows the [Yahoo Streaming
Benchmark](https://github.com/yahoo/streaming-benchmarks): ad events as JSON texts, a third of them views ->
`json.loads` -> filter -> project -> join with a table of campaigns -> count per campaign in event-time windows of ten
seconds -> `FileSink`, exactly once, a part file for each epoch or checkpoint. Both systems run [the same
program](../bench/yahoo/pipeline.py), written for PyFlink; only the sources differ. Instead of Redis, each
subtask holds the table in memory: ten ads per campaign, an array with four bytes for each ad (40 MB at 1,000,000
campaigns). All ads are equally frequent, so at 1,000,000 campaigns a window has nearly as many results as views.

The events are generated inside the job. Event `n` is due `n / rate` seconds after the start, which is its event time.
It is never generated earlier; if the source is delayed, the event is late, which counts as latency. Watermarks follow
event time without slack. A result's latency is the time from the end of its window until its file has its final name
(the file's change time). The counts are compared to counts that are computed without either system; a wrong count fails
the run. The results of windows that the end of the input closes are checked but have no latency, and neither have those
of windows that end before second {PUBLISHED.settled}.

Each run searches for the sustainable rate. First all events are available at once, which gives a throughput (without
the first third of the events, which includes the start-up). Then fractions of it ({_PARTS}) are tried as the rate, for
{PUBLISHED.confirm} seconds each, until the system keeps up with one: in the last {PUBLISHED.last} seconds the source is
at some moment at most {PUBLISHED.behind} second late, or not later than half-way. Then latency is measured for
{PUBLISHED.latency} seconds at half of that rate, and for Firesteel also at half of PyFlink's. The quantiles are over
all runs together, each with the same weight.

Firesteel: `local[2]`, epochs with a target of {EPOCH} (`firesteel.epoch.duration`), state durable after each. PyFlink:
parallelism 2, a checkpoint to disk every second, `EXACTLY_ONCE`; both of its modes are tried and the one with the
higher throughput is taken (in brackets); object reuse, typed edges, worker processes, a state cache of 1,000,000
entries, bundles of 100 ms. Its checkpoints come at a fixed phase to the windows' ends, which differs from run to run.
"""


def _measure(campaigns: int, scale: float) -> dict[str, Figures]:
    return Trial(campaigns, scale).figures()


PART: Final = Part(
    name="yahoo",
    title="Latency under load",
    cases=tuple(Case(f"{campaigns:,} campaigns", partial(_measure, campaigns)) for campaigns in CAMPAIGNS),
    render=render,
    how=HOW,
    plot=plot,
)
