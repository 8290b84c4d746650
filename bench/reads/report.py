"""The section of the page about reads of state."""

from __future__ import annotations

from itertools import product
from typing import Final

from bench.part import Runs, middle
from bench.tables import table

QUIET: Final = "no readers"
SINGLE: Final = "one key a request, 2,000 requests/s"
BATCHED: Final = "100 keys a request, 200 requests/s"
MOST: Final = "100 keys a request, as many as there can be"

READS: Final = {SINGLE: (1, 2_000), BATCHED: (100, 200), MOST: (100, 0)}
"""By title, the keys of a request, and the requests a second that are due (0: the next follows the answer)."""

INTERVALS: Final = {"epochs a second apart": "1 s", "epochs back to back": "0 s"}
"""By title, the least time between the beginnings of two of the job's epochs."""

AIM_MS: Final = 10


def title_of(reads: str, epochs: str) -> str:
    """Return the title of the figures of some reads with some distance of the job's epochs."""
    return f"{reads}; {epochs}"


def render(runs: Runs) -> list[str]:
    """Return the section: a row for each kind of reads and distance of epochs."""
    header = [
        "4 connections",
        "Keys/s",
        "p50, ms",
        f"p99, ms (aim {AIM_MS})",
        "p99 from sending",
        "Longest",
        "Job, records/s",
        "Epochs, ms",
    ]
    rows = []
    for epochs, reads in product(INTERVALS, (QUIET, *READS)):
        title = title_of(reads, epochs)
        figures = runs.get(title)
        if not figures:
            continue
        read = ["", "", "", "", ""]
        if reads in READS:
            read = [f"{middle(figures, 'keys_per_s'):,.0f}"]
            read += [
                f"{middle(figures, name):,.1f}" for name in ("p50_ms", "p99_ms", "sent_p99_ms", "max_ms")
            ]
        job = [f"{middle(figures, name):,.0f}" for name in ("records_per_s", "epoch_ms")]
        rows.append([title, *read, *job])
    return ["## Reads of a running job's state", "", *table(header, rows), ""]


HOW: Final = """\
A job with two subtasks counts the records of 100,000 keys. It runs in a cluster (`firesteel cluster start`), first as
fast as it can, and then at half of that rate, while another process reads random keys over HTTP from the cluster's
server, over four connections that stay open, after one read that makes the server's copy. Requests are due by the
clock, and the time of each counts from when it was due to when its answer was read; where the next request follows the
answer, from when it was sent. *From sending* leaves out the time for which the readers' process itself waited for a
processor that the job had. The server takes over what each epoch changed (most of the keys) meanwhile. *Epochs a second
apart*: the job has the option `firesteel.epoch.min-interval: 1 s`, and so fewer and larger epochs for the same records;
*back to back* is the default. The job's records and the time between two commits are those of the same seconds, where
there are no readers those of as many seconds without any. Job, server and readers share the two processors.
"""
