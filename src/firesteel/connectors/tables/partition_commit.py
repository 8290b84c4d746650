"""Telling readers of a partitioned table of files that a partition is complete (Flink: PartitionCommitter).

Each writer notes the partitions that it has written to. When the trigger says that one is due, the writer ends its
parts there, and says so with the epoch; the epoch's commit makes the parts visible and then commits those partitions
that are due for a writer and wait in none. A partition that gets rows later is committed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple
from urllib.parse import unquote

from firesteel.common.errors import UnsupportedError
from firesteel.connectors.files.sink.writer import FileWriterState
from firesteel.connectors.files.systems import joined, system_of
from firesteel.connectors.tables.options import Listed, Options, choice, duration, text
from firesteel.connectors.tables.partition_time import PartitionTime
from firesteel.functions.sink import CarryOut, Committer, Leftovers

_POLICY: Final = text(
    "sink.partition-commit.policy.kind",
    "How readers learn that a partition is complete: `success-file` writes a file into it. Without it nothing is done.",
    "'success-file'",
)
_TRIGGER: Final = choice(
    "sink.partition-commit.trigger",
    *("process-time", "partition-time"),
    about="Whether a partition is complete by the time of its first row, or when the watermark passes its own time.",
).by_default("process-time")
_DELAY: Final = duration(
    "sink.partition-commit.delay", "How long after that time a partition is complete."
).by_default("0 s")
_ZONE: Final = text(
    "sink.partition-commit.watermark-time-zone",
    "The time zone of partitions' times, for a watermark of TIMESTAMP_LTZ.",
    "the name of a time zone",
).by_default("UTC")
_SUCCESS_FILE: Final = text(
    "sink.partition-commit.success-file.name", "The name of the file that says that a partition is complete."
).by_default("_SUCCESS")
_EXTRACTOR: Final = choice(
    "partition.time-extractor.kind",
    *("default", "custom"),
    about="How a partition's time is found. `custom`, a class of Java's, is refused.",
).by_default("default")
_PATTERN: Final = text(
    "partition.time-extractor.timestamp-pattern",
    "The text with a partition's time, such as `$dt $hour:00:00`. Without it, the first column of the partition.",
    "a text with $column",
)
_FORMATTER: Final = text(
    "partition.time-extractor.timestamp-formatter",
    "How this text is read; as `yyyy-MM-dd HH:mm:ss` or `yyyy-MM-dd` without it.",
    "a pattern of DateTimeFormatter",
)
_OF_JAVA: Final = (
    text("sink.partition-commit.policy.class", "Changes nothing: there is no policy `custom`."),
    text("sink.partition-commit.policy.class.parameters", "Changes nothing: there is no policy `custom`."),
    text("partition.time-extractor.class", "Changes nothing: there is no kind `custom`."),
)
_OTHERS: Final[Listed] = (
    *(_TRIGGER, _DELAY, _ZONE, _SUCCESS_FILE, _EXTRACTOR, _PATTERN, _FORMATTER),
    *_OF_JAVA,
)

OPTIONS: Final[Listed] = (_POLICY, *_OTHERS)
"""The options of partition commits, which do nothing when a table is read."""


@dataclass(frozen=True)
class PartitionCommit:
    """When a partition is committed, and by a file of which name; picklable.

    Without `time`, a partition is due `delay` milliseconds of processing time after its first row; with it, when the
    watermark is `delay` milliseconds after the partition's time. When the input ends, all partitions are due, and with
    `at_end` none before.
    """

    success_file: str
    delay: int = 0
    time: PartitionTime | None = None
    at_end: bool = False

    def is_due(self, bucket: str, created: int, now: int, watermark: int) -> bool:
        """Return whether the partition of a bucket is due."""
        if self.at_end:
            return False
        if self.time is not None:
            return watermark > self.time.millis(values_of(bucket)) + self.delay
        return self.delay == 0 or now > created + self.delay

    def next_due(self, created: Iterable[int]) -> int | None:
        """Return the processing time at which the first of some partitions is due; None if time does not say."""
        if self.at_end or self.time is not None or not self.delay:
            return None
        return min((time + self.delay + 1 for time in created), default=None)


def partition_commit(options: Options, who: str, *, bounded: bool) -> PartitionCommit | None:
    """Return what the options of a table say; None if they do not ask for commits. Bounded jobs commit at their end.

    Raises UnsupportedError for policies and extractors that are classes of Java's, or that need a metastore.
    """
    kinds = options.get(_POLICY)
    options.know(_OTHERS)
    if kinds is None:
        return None
    for kind in kinds.split(","):
        if kind.strip().lower() != "success-file":
            raise UnsupportedError(
                f"cannot have the policy {kind.strip()!r}",
                who=f"{who}, option {_POLICY.key!r}",
                hint="'success-file' writes a file into a partition that is complete; the partitions of a table of "
                "files are its directories, which no metastore knows",
            )
    if options.get(_EXTRACTOR) == "custom":
        raise UnsupportedError(
            "cannot have the kind 'custom', which is a class of Java's",
            who=f"{who}, option {_EXTRACTOR.key!r}",
            hint=f"use {_PATTERN.key!r}",
        )
    time = PartitionTime(options.get(_PATTERN), options.get(_FORMATTER), options.get(_ZONE))
    by_partition = options.get(_TRIGGER) == "partition-time"
    return PartitionCommit(
        options.get(_SUCCESS_FILE), options.get(_DELAY), time if by_partition else None, bounded
    )


def values_of(bucket: str) -> dict[str, str]:
    """Return the values of the partition in a directory, by column.

    >>> values_of("day=2024-01-01/name=a%2Fb")
    {'day': '2024-01-01', 'name': 'a/b'}
    """
    pairs = (part.partition("=") for part in bucket.split("/"))
    return {unquote(name): unquote(value) for name, found, value in pairs if found}


class PartitionNote(NamedTuple):
    """A committable: the partitions that are due for a writer, and those that wait in it."""

    due: tuple[str, ...]
    waiting: tuple[str, ...]


@dataclass(frozen=True)
class PartitionedState:
    """The state of a writer of a table whose partitions are committed: when each one that waits had its first row."""

    files: FileWriterState
    waiting: Mapping[str, int]


class WaitingPartitions:
    """The partitions that a writer has written to and that are not committed yet."""

    def __init__(self, commit: PartitionCommit, states: Iterable[Any]) -> None:
        self._commit = commit
        self.created: dict[str, int] = {}
        for state in states:
            if isinstance(state, PartitionedState):
                for bucket, time in state.waiting.items():
                    self.created[bucket] = min(time, self.created.get(bucket, time))

    def add(self, bucket: str, now: int) -> None:
        """Note that a partition gets rows."""
        self.created.setdefault(bucket, now)

    def take_due(self, now: int, watermark: int, *, final: bool) -> PartitionNote:
        """Return which partitions are due now, and forget them."""
        due = [
            bucket
            for bucket, created in self.created.items()
            if final or self._commit.is_due(bucket, created, now, watermark)
        ]
        for bucket in due:
            del self.created[bucket]
        return PartitionNote(tuple(due), tuple(self.created))

    def next_due(self) -> int | None:
        """Return the processing time at which the first partition is due."""
        return self._commit.next_due(self.created.values())


def files_state(state: Any) -> Any:
    """Return a writer's state without what it says of partitions."""
    return state.files if isinstance(state, PartitionedState) else state


class PartitionCommitter(Committer):
    """Makes parts visible, and then writes a file into each partition that is complete."""

    def __init__(self, parts: Committer, base: str, commit: PartitionCommit) -> None:
        self._parts = parts
        self._base = base
        self._commit = commit

    def use_workers(self, carry_out: CarryOut) -> None:
        """Let workers make what is heavy of the parts."""
        self._parts.use_workers(carry_out)

    def commit(self, committables: Sequence[Any]) -> None:
        notes = [given for given in committables if isinstance(given, PartitionNote)]
        self._parts.commit([given for given in committables if not isinstance(given, PartitionNote)])
        waiting = {bucket for note in notes for bucket in note.waiting}
        files = system_of(self._base)
        for bucket in sorted({bucket for note in notes for bucket in note.due} - waiting):
            files.replace(joined(self._base, bucket, self._commit.success_file), b"")

    def discard(self, leftovers: Leftovers) -> None:
        """Remove the hidden files of failed attempts."""
        needed = tuple(map(files_state, leftovers.needed))
        self._parts.discard(Leftovers(leftovers.job_id, leftovers.operator_id, leftovers.epoch, needed))
