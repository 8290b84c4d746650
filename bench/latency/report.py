"""The section of the page about latency."""

from __future__ import annotations

from typing import Final

from bench.nexmark.queries import BY_NAME
from bench.part import Runs, middle
from bench.tables import table

_NAMES: Final = ("windows", "p50_ms", "p99_ms", "max_ms", "epoch_ms")


def render(runs: Runs) -> list[str]:
    """Return the section: a row for each query."""
    header = ["50,000 events/s", "Windows", "p50, ms", "p99, ms", "Longest", "Epoch, ms", "Processors busy"]
    rows = [
        [
            f"{name}: {BY_NAME[name].title}",
            *(f"{middle(figures, figure):,.0f}" for figure in _NAMES),
            f"{middle(figures, 'cores'):.2f}",
        ]
        for name, figures in runs.items()
        if figures
    ]
    return ["## Latency of windows", "", *table(header, rows), ""]


HOW: Final = """\
Nexmark's q5 and q7 in STREAMING mode on Firesteel with two subtasks, from an event to the committed result. The events
are those of the comparison with Flink, 50,000 of them a second by the clock. Another process lets files of JSON lines
arrive every tenth of a second, each when its last event has happened, so an event waits 50 ms for its file on average;
the directory is looked at every 50 ms. Event times run five times as fast as the clock: a window of q5 ends every
0.4 s, one of q7 every 2 s. The watermark is 4 s of event time behind the events. A result can be known when the
watermark passes the end of its window: latency counts from the event that lets it pass, at the moment when the event
happens, even if its file is late. It ends when the program that collects the results has the row, which is once the
epoch is published, with state, positions and results durable. The first 30 of the 150 seconds do not count; each row
of the later windows does. The processors are those of all processes, of 2.
"""
