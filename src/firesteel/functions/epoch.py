"""The facts about one epoch, the same in the driver, every task and every writer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EpochFacts:
    """One epoch: its number, its try, its time, and its place in the job's history.

    `attempt` is unique among all tries of all drivers. `processing_time` is fixed by the driver (milliseconds), so a
    retry sees the same clock. `steady_time` (milliseconds) measures intervals, by a clock that nobody can set; the job
    was started, restarted or rescaled last at its time `resumed_at`. `final` is set in the last epoch of a bounded job.
    `lineage` names the job's history: it changes when the job starts from a savepoint or from an earlier epoch. The job
    can be started from epoch `oldest` and later ones (None: from the last one only). `budget` is the maximum number of
    bytes that a subtask of a source reads, unless the epoch is final (None: no limit). `committed_time` is the
    `processing_time` of the last committed epoch (None: there is none), which is never later.

    >>> EpochFacts(7, "a", 1_000).final
    False
    """

    number: int
    attempt: str
    processing_time: int
    final: bool = False
    lineage: str = ""
    oldest: int | None = None
    budget: int | None = None
    steady_time: int = 0
    resumed_at: int = 0
    committed_time: int | None = None
