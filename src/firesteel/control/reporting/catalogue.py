"""The metrics that the engine gives by itself: what each is, and whether it only rises.

The list is what docs/metrics.md shows, and what tells reporters a counter from a gauge.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Scope = Literal["operator", "job", "worker"]


class Described(NamedTuple):
    """A metric: of each subtask of an operator, of a job, or of a process. `flink` is whether Flink has the name."""

    scope: Scope
    name: str
    about: str
    rises: bool = False
    flink: bool = False


def _operator(name: str, about: str, *, rises: bool = False, flink: bool = False) -> Described:
    return Described("operator", name, about, rises, flink)


def _job(name: str, about: str, *, rises: bool = False, flink: bool = False) -> Described:
    return Described("job", name, about, rises, flink)


_FLOWS: Final = {
    "numRecordsIn": "records received (a source: read)",
    "numRecordsOut": "records sent, to side outputs, too",
    "numBytesIn": "bytes of blocks from exchanges (a source: about the size of its records, if that is known)",
    "numBytesOut": "bytes of blocks sent through exchanges; records that stay in the task have none",
}
_TIMES: Final = {
    "busyTimeMsPerSecond": "time in which the operator works itself, of each second",
    "backPressuredTimeMsPerSecond": "time in which it has input and others hold it back, of each second",
    "idleTimeMsPerSecond": "the rest of each second",
}
_TOTALS: Final = {
    "accumulateBusyTimeMs": "milliseconds in which it worked",
    "accumulateBackPressuredTimeMs": "milliseconds in which others held it back",
}
_PHASES: Final = {
    "epochPlanTime": "finding the input of an epoch",
    "epochRunTime": "running its tasks",
    "epochCommitTime": "writing its manifest, which commits it",
    "epochPublishTime": "making its output visible",
}

METRICS: Final = (
    *(_operator(name, about, rises=True, flink=True) for name, about in _FLOWS.items()),
    *(
        _operator(f"{name}PerSecond", f"{about}, per second of the last minute", flink=True)
        for name, about in _FLOWS.items()
    ),
    *(_operator(name, about, flink=True) for name, about in _TIMES.items()),
    *(_operator(name, about, rises=True, flink=True) for name, about in _TOTALS.items()),
    _operator("accumulateIdleTimeMs", "the rest of the milliseconds since the driver started", flink=True),
    _operator("currentInputWatermark", "the watermark of the input (milliseconds)", flink=True),
    _operator("currentOutputWatermark", "a source's watermark (milliseconds)", flink=True),
    _operator("watermarkLag", "how far the watermark is behind the wall clock (milliseconds)", flink=True),
    _operator("numLateRecordsDropped", "records too late for their window", rises=True, flink=True),
    _operator("numRecordsInErrors", "bad records that a source read and passed over", rises=True, flink=True),
    _operator("stateEntries", "entries of keyed state in the working copy, when it was last read"),
    _operator("stateBytes", "bytes of the pages that they take on disk"),
    _operator("stateMemoryBytes", "about the bytes that keyed state takes in memory"),
    _operator("stateChangedEntries", "entries that the last epoch changed"),
    _operator("stateChangedBytes", "bytes of the runs that store these changes"),
    _operator("statePersistTimeMs", "milliseconds in which they were stored"),
    _operator("stateSpilledBytes", "bytes of the last epoch's changes that memory could not hold"),
    _operator("stateReads", "keys that were not in memory, and were looked for in the working copy"),
    _operator("stateCacheHitRatio", "1 - stateReads / numRecordsIn, at least 0"),
    _operator("arrangedRows", "rows of the arrangements of an operator of a table"),
    _operator(
        "source_id.ID.latency_*",
        "markers from that source: min, max, mean, median, p75, p95, p99, p999",
        flink=True,
    ),
    _operator("source_id.ID.visibleLatency_*", "the same at a sink, until the marker's epoch was published"),
    _job("numRestarts", "restarts after failures", rises=True, flink=True),
    _job("numRescales", "changes of parallelism", rises=True, flink=True),
    _job("totalNumberOfCheckpoints", "epochs that ran", rises=True, flink=True),
    _job("numberOfCompletedCheckpoints", "epochs that were committed", rises=True, flink=True),
    _job("numberOfFailedCheckpoints", "epochs that failed", rises=True, flink=True),
    _job("lastCompletedCheckpointId", "the last committed epoch", flink=True),
    _job("lastCheckpointCompletedTimestamp", "when that was (milliseconds)", flink=True),
    _job("lastCheckpointRestoreTimestamp", "when the driver last began from a committed epoch", flink=True),
    _job(
        "lastCheckpointDuration",
        "milliseconds of storing state, in the slowest subtask, and the commit",
        flink=True,
    ),
    _job("lastCheckpointSize", "bytes of state that the last epoch stored", flink=True),
    _job("lastCheckpointEntries", "entries of state that it stored"),
    _job("lastCheckpointProcessedData", "bytes that its operators received from exchanges", flink=True),
    _job("uptime", "milliseconds since the driver started", flink=True),
    _job("downtime", "milliseconds since the failure that the job has not recovered from", flink=True),
    _job("runningTime", "milliseconds without such a failure", flink=True),
    _job("restartingTime", "milliseconds with one", flink=True),
    _job("waitingTimeMsPerSecond", "time in which the job waits for input, of each second"),
    *(
        _job(f"{name}.*", f"{about}: count, sum, min, max and mean of milliseconds")
        for name, about in _PHASES.items()
    ),
    Described("worker", "workerMemoryBytes", "resident memory of a process that runs tasks"),
    Described("worker", "workerStateMemoryBytes", "the part of it that state takes"),
    Described("worker", "workerStateMemoryLimitBytes", "what state may take at most"),
)

RISING: Final = frozenset(metric.name for metric in METRICS if metric.rises)
