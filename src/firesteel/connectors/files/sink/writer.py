"""The writer of a file sink: one subtask, one epoch."""

from __future__ import annotations

import contextlib
import re
import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, BinaryIO, Final

from firesteel.common.errors import ConnectorError
from firesteel.connectors.files.parts import PartCommit, PartFormat, PartWriter, Segment, joined_file
from firesteel.connectors.files.sink.buckets import BucketAssigner
from firesteel.connectors.files.sink.compaction import Compaction, size_of
from firesteel.connectors.files.sink.hidden import scope_of, segment_path
from firesteel.connectors.files.sink.rolling import RollingPolicy
from firesteel.connectors.files.systems import FileSystem, joined, parent_of, root_of, system_of
from firesteel.functions.sink import SinkWriter, WriterContext

_FAN_IN: Final = 16
_SHOWN_PIECES: Final = 5


@dataclass(frozen=True, slots=True)
class FileSinkSettings:
    """The settings of a file sink; picklable."""

    base_path: str
    format: PartFormat
    buckets: BucketAssigner
    rolling: RollingPolicy
    prefix: str
    suffix: str
    compaction: Compaction | None = None


@dataclass(frozen=True, slots=True)
class OpenPart:
    """A part that continues in the next epoch; times are processing times in milliseconds.

    `merged` are segments that have been joined into one of `segments`, each with the epoch of its merge: a job that
    goes back to an earlier epoch needs them.
    """

    final: str
    segments: tuple[Segment, ...]
    created: int
    written: int
    merged: tuple[tuple[int, str], ...] = ()

    @property
    def commit(self) -> PartCommit:
        """The committable that makes the part visible."""
        return PartCommit(self.final, self.segments, tuple(path for _, path in self.merged))

    @property
    def size(self) -> int:
        """The bytes in all segments."""
        return sum(segment.size for segment in self.segments)


@dataclass(frozen=True, slots=True)
class FileWriterState:
    """The state for the next epoch's writer: how this subtask names its parts, and its open parts by bucket.

    This applies within one `lineage` of the job's history. In another lineage, later epochs of the old one have
    finished the parts or are finishing them. Then the pending segments here become visible unchanged, under the parts'
    names, and new parts get other names. `waiting` are finished parts by bucket that are not compacted yet.
    """

    uid: str
    counter: int
    parts: dict[str, OpenPart] = field(default_factory=dict)
    lineage: str = ""
    waiting: dict[str, tuple[PartCommit, ...]] = field(default_factory=dict)

    @property
    def commits(self) -> list[PartCommit]:
        """The committables that make all open and waiting parts visible as they are."""
        waiting = [part._replace(alone=True) for parts in waiting_of(self).values() for part in parts]
        return [*(part.commit for part in self.parts.values()), *waiting]

    @property
    def files(self) -> list[str]:
        """The hidden files of the open and waiting parts, including those from before a merge."""
        return [
            path
            for part in self.commits
            for path in (*(segment.path for segment in part.segments), *part.obsolete)
        ]


def waiting_of(state: FileWriterState) -> dict[str, tuple[PartCommit, ...]]:
    """Return the waiting parts of a state, which an older version may have written."""
    return getattr(state, "waiting", {})


class _Active:
    """The segment of a part that is being written."""

    __slots__ = ("file", "limit", "part", "writer")

    def __init__(self, part: OpenPart, file: BinaryIO, settings: FileSinkSettings) -> None:
        self.part = part
        self.file = file
        self.writer: PartWriter = settings.format.open(self.file)
        part_size = settings.rolling.part_size
        self.limit = None if part_size is None else part_size - part.size

    @property
    def full(self) -> bool:
        """Whether the rolling policy's size is exceeded."""
        return self.limit is not None and self.writer.size > self.limit


class FileWriter(SinkWriter[Any]):
    """Writes each bucket's records into a segment of the bucket's open part."""

    def __init__(self, settings: FileSinkSettings, context: WriterContext) -> None:
        self._settings = settings
        self._files = system_of(settings.base_path)
        self._now = context.facts.processing_time
        self._final = context.facts.final
        self._scope = scope_of(context.job_id, context.operator_id)
        self._attempt = re.sub(r"[^A-Za-z0-9.-]", "_", context.attempt)
        self._lineage = context.facts.lineage
        self._epoch = context.epoch
        self._oldest = context.epoch if context.facts.oldest is None else context.facts.oldest
        known: FileWriterState | None = context.state
        _require_same_system(settings.base_path, (known, *context.inherited))
        goes_on = known is not None and known.lineage == context.facts.lineage
        state = known if known is not None and goes_on else FileWriterState(str(uuid.uuid4()), 0)
        self._uid = state.uid
        self._counter = state.counter
        self._parts = dict(state.parts)
        self._waiting = dict(waiting_of(state))
        self._ending: frozenset[str] = frozenset()
        self._active: dict[str, _Active] = {}
        self._made: set[str] = set()
        self._commits: list[PartCommit] = []
        for bucket, part in state.parts.items():
            if settings.rolling.rolls_by_time(part.created, part.written, self._now):
                self._commit_part(bucket)
        for left in context.inherited if known is None or goes_on else (known, *context.inherited):
            self._commits.extend(self._left_behind(left))

    def _left_behind(self, left: FileWriterState) -> list[PartCommit]:
        """Return commits for an earlier writer's open parts; those of a copied job stay with the original job."""
        below = f"{self._settings.base_path.rstrip('/')}/"
        return [
            part._replace(alone=True)
            for part in left.commits
            if left.lineage == self._lineage or part.final.startswith(below)
        ]

    def write(self, values: Sequence[Any], timestamps: Sequence[int | None] | None) -> None:
        bucket = self._settings.buckets.fixed(self._now)
        if bucket is not None:
            self.write_to(bucket, values)
            return
        assign = self._settings.buckets.get_bucket_id
        now = self._now
        grouped: dict[str, list[Any]] = {}
        for value, timestamp in zip(values, timestamps or [None] * len(values), strict=True):
            grouped.setdefault(assign(value, timestamp, now), []).append(value)
        for name, group in grouped.items():
            self.write_to(name, group)

    def write_to(self, bucket: str, values: Any) -> None:
        """Write values, which have a length and can be sliced, into the part of a bucket."""
        rest = values
        while rest:
            active = self._active.get(bucket)
            if active is None:
                active = self._open(bucket)
            elif active.full:
                self._close_segments([bucket])
                self._commit_part(bucket)
                active = self._open(bucket)
            taken = active.writer.write(rest, active.limit)
            rest = rest[taken:]

    def _open(self, bucket: str) -> _Active:
        part = self._parts.get(bucket)
        if part is None:
            settings = self._settings
            directory = joined(settings.base_path, _checked(bucket))
            self._files.make_directory(directory)
            name = f"{settings.prefix}-{self._uid}-{self._counter}{settings.suffix}"
            self._counter += 1
            part = OpenPart(joined(directory, name), (), self._now, self._now)
        elif self._files.is_near:  # elsewhere the pieces are asked for once, when the part ends
            self._require_pieces(part)
        path = self._hidden(part.final, self._attempt)
        file = self._files.create(path, part.final if self._is_whole(part) else None)
        self._made.add(path)
        active = _Active(part, file, self._settings)
        self._active[bucket] = active
        return active

    def _is_whole(self, part: OpenPart) -> bool:
        """Return whether this epoch's segment will be the part, as it is."""
        settings = self._settings
        ends = settings.rolling.every_epoch or self._final
        return ends and not part.segments and settings.compaction is None

    def _hidden(self, final: str, attempt: str) -> str:
        return segment_path(self._settings.base_path, final, self._scope, self._epoch, attempt)

    def _close_segments(self, buckets: Sequence[str]) -> None:
        active = [self._active[bucket] for bucket in buckets]
        for one in active:
            one.writer.finish()
        found = self._files.each(self._files.finish, [one.file for one in active])
        for bucket, one, written in zip(buckets, active, found, strict=True):
            self._made.add(written.path)
            del self._active[bucket]
            segments = (*one.part.segments, Segment(written.path, written.size, upload=written.upload))
            self._parts[bucket] = replace(one.part, segments=segments, written=self._now)

    def _commit_part(self, bucket: str) -> None:
        part = self._parts.pop(bucket)
        self._require_pieces(part)
        if self._settings.compaction is None:
            self._commits.append(part.commit)
        else:
            self._waiting[bucket] = (*self._waiting.get(bucket, ()), part.commit)

    def end_buckets(self, buckets: Collection[str]) -> None:
        """Have the parts of these buckets end with the epoch."""
        self._ending = frozenset(buckets)

    def prepare_commit(self) -> Sequence[PartCommit]:
        self._close_segments(list(self._active))
        for bucket, part in list(self._parts.items()):
            ends = self._final or bucket in self._ending
            if ends or self._settings.rolling.rolls_with_epoch(part.size):
                self._commit_part(bucket)
            else:
                self._merge(bucket, part)
        for bucket, parts in list(self._waiting.items()):
            if self._is_compacted(bucket, sum(map(size_of, parts))):
                self._commits.extend(self._waiting.pop(bucket))
        self._files.sync({parent_of(path) for path in self._made})
        return self._commits

    def _is_compacted(self, bucket: str, size: int) -> bool:
        compaction = self._settings.compaction
        ends = self._final or compaction is None or bucket in self._ending
        return ends or (compaction is not None and compaction.is_due(self._epoch, size))

    def _merge(self, bucket: str, part: OpenPart) -> None:
        """Join segments of one tier, so that a part that is open for long has neither many files nor a long state."""
        segments, obsolete = list(part.segments), list(part.merged)
        while len(segments) >= _FAN_IN and segments[-_FAN_IN].tier == segments[-1].tier:
            merged, others = segments[-_FAN_IN:], segments[:-_FAN_IN]
            tier = merged[-1].tier + 1
            path = self._hidden(part.final, f"{self._attempt}.{tier}")
            self._made.add(path)
            size = write_joined(self._settings.format, self._files, [one.path for one in merged], path)
            segments = [*others, Segment(path, size, tier)]
            obsolete.extend((self._epoch, segment.path) for segment in merged)
        over = tuple(path for epoch, path in obsolete if epoch <= self._oldest)
        if over:
            self._commits.append(PartCommit("", (), over))
        kept = tuple(found for found in obsolete if found[0] > self._oldest)
        self._parts[bucket] = replace(part, segments=tuple(segments), merged=kept)

    def snapshot_state(self) -> FileWriterState:
        """Return the parts that stay open."""
        return FileWriterState(self._uid, self._counter, self._parts, self._lineage, self._waiting)

    def next_wakeup(self) -> int | None:
        """Return when the first of the open parts ends by its age or idleness."""
        due = self._settings.rolling.due
        times = [due(part.created, part.written) for part in self._parts.values()]
        return min((time for time in times if time is not None), default=None)

    def abort(self) -> None:
        """Remove this attempt's segments; a file that cannot be removed stays hidden and is never used."""
        for active in self._active.values():
            active.writer.abort()
            with contextlib.suppress(OSError):
                self._files.abandon(active.file)
        self._active.clear()
        with contextlib.suppress(OSError, ConnectorError):
            self._files.remove(self._made)

    def _require_pieces(self, part: OpenPart) -> None:
        """Raise ConnectorError if files of a part that is not visible yet are gone: their records were committed.

        A part that has become visible belongs to another driver's epoch, which will fence this driver off.
        """
        older = [segment.path for segment in part.segments if segment.path not in self._made]
        gone = self._files.missing(older)
        if gone and len(self._files.missing([part.final, joined_file(part.final)])) == 2:
            raise ConnectorError(
                f"requires all pieces of its open part {part.final}",
                who="FileSink",
                got=f"{len(gone)} of {len(part.segments)} that are gone: {', '.join(gone[:_SHOWN_PIECES])}",
                hint="the records in them were committed. Put the files back; or start again at an epoch before the "
                "part was begun (--from EPOCH, see `firesteel checkpoints`); or do without them: give the sink "
                "another uid() and start with --allow-non-restored-state",
            )


def write_joined(format: PartFormat, files: FileSystem, segments: Sequence[str], target: str) -> int:
    """Write a new file with the records of all segments; return its size. Nothing is left of it if that fails."""
    file = files.create(target)
    try:
        with files.local_copies(segments) as copies:
            format.join(copies, file)
        return files.finish(file).size
    except BaseException:
        files.abandon(file)
        raise


def _require_same_system(base: str, states: Sequence[FileWriterState | None]) -> None:
    """Raise ConnectorError if parts that are open or wait are on another file system than the base path."""
    for state in filter(None, states):
        for part in state.commits:
            if part.final and root_of(part.final) != root_of(base):
                raise ConnectorError(
                    "requires that its open parts end where they were begun",
                    who=f"FileSink to {base}",
                    got=f"the part {part.final}",
                    hint="run the job with the old path and a rolling policy that ends parts with each epoch, then "
                    "change the path; or give the sink another uid() and use --allow-non-restored-state",
                )


def _checked(bucket: str) -> str:
    if not bucket:
        return ""
    path = PurePosixPath(bucket)
    if path.is_absolute() or ".." in path.parts:
        raise ConnectorError(
            "requires buckets below the base path", who="the bucket assigner of FileSink", got=repr(bucket)
        )
    return "" if bucket == "." else str(path)
