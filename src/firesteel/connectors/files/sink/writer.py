"""The writer of a file sink: one subtask, one epoch."""

from __future__ import annotations

import contextlib
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Final

from firesteel.common.errors import ConnectorError
from firesteel.connectors.files.parts import PartCommit, PartFormat, PartWriter, Segment, joined_file
from firesteel.connectors.files.sink.buckets import BucketAssigner
from firesteel.connectors.files.sink.durable import make_directory, sync_directory, sync_file
from firesteel.connectors.files.sink.hidden import hidden_path, scope_of
from firesteel.connectors.files.sink.rolling import RollingPolicy
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
    names, and new parts get other names.
    """

    uid: str
    counter: int
    parts: dict[str, OpenPart] = field(default_factory=dict)
    lineage: str = ""

    @property
    def files(self) -> list[str]:
        """The hidden files of the open parts, including those from before a merge."""
        return [
            path
            for part in self.parts.values()
            for path in (*(segment.path for segment in part.segments), *(path for _, path in part.merged))
        ]


class _Active:
    """The segment of a part that is being written."""

    __slots__ = ("file", "limit", "part", "path", "writer")

    def __init__(self, part: OpenPart, path: Path, settings: FileSinkSettings) -> None:
        self.part = part
        self.path = path
        self.file: BinaryIO = path.open("xb")
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
        self._now = context.facts.processing_time
        self._final = context.facts.final
        self._scope = scope_of(context.job_id, context.operator_id)
        self._attempt = re.sub(r"[^A-Za-z0-9.-]", "_", context.attempt)
        self._lineage = context.facts.lineage
        self._epoch = context.epoch
        self._oldest = context.epoch if context.facts.oldest is None else context.facts.oldest
        known: FileWriterState | None = context.state
        goes_on = known is not None and known.lineage == context.facts.lineage
        state = known if known is not None and goes_on else FileWriterState(str(uuid.uuid4()), 0)
        self._uid = state.uid
        self._counter = state.counter
        self._parts = dict(state.parts)
        self._active: dict[str, _Active] = {}
        self._made: list[Path] = []
        self._commits: list[PartCommit] = []
        for bucket, part in state.parts.items():
            if settings.rolling.rolls_by_time(part.created, part.written, self._now):
                self._commit_part(bucket)
        for left in context.inherited if known is None or goes_on else (known, *context.inherited):
            self._commits.extend(self._left_behind(left))

    def _left_behind(self, left: FileWriterState) -> list[PartCommit]:
        """Return commits for an earlier writer's open parts; those of a copied job stay with the original job."""
        base = Path(self._settings.base_path)
        return [
            part.commit
            for part in left.parts.values()
            if left.lineage == self._lineage or Path(part.final).is_relative_to(base)
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
                self._close_segment(bucket)
                self._commit_part(bucket)
                active = self._open(bucket)
            taken = active.writer.write(rest, active.limit)
            rest = rest[taken:]

    def _open(self, bucket: str) -> _Active:
        part = self._parts.get(bucket)
        if part is None:
            settings = self._settings
            directory = Path(settings.base_path) / _checked(bucket)
            make_directory(directory)
            name = f"{settings.prefix}-{self._uid}-{self._counter}{settings.suffix}"
            self._counter += 1
            part = OpenPart(str(directory / name), (), self._now, self._now)
        else:
            _require_pieces(part)
        final = Path(part.final)
        path = hidden_path(final, self._scope, self._epoch, self._attempt)
        active = _Active(part, path, self._settings)
        self._made.append(path)
        self._active[bucket] = active
        return active

    def _close_segment(self, bucket: str) -> None:
        active = self._active[bucket]
        active.writer.finish()
        sync_file(active.file)
        size = active.file.tell()
        active.file.close()
        del self._active[bucket]
        part = active.part
        segments = (*part.segments, Segment(str(active.path), size))
        self._parts[bucket] = replace(part, segments=segments, written=self._now)

    def _commit_part(self, bucket: str) -> None:
        part = self._parts.pop(bucket)
        _require_pieces(part)
        self._commits.append(part.commit)

    def prepare_commit(self) -> Sequence[PartCommit]:
        for bucket in list(self._active):
            self._close_segment(bucket)
        for bucket, part in list(self._parts.items()):
            if self._final or self._settings.rolling.rolls_with_epoch(part.size):
                self._commit_part(bucket)
            else:
                self._merge(bucket, part)
        for directory in {path.parent for path in self._made}:
            sync_directory(directory)
        return self._commits

    def _merge(self, bucket: str, part: OpenPart) -> None:
        """Join segments of one tier, so that a part that is open for long has neither many files nor a long state."""
        segments, obsolete = list(part.segments), list(part.merged)
        while len(segments) >= _FAN_IN and segments[-_FAN_IN].tier == segments[-1].tier:
            merged, others = segments[-_FAN_IN:], segments[:-_FAN_IN]
            tier = merged[-1].tier + 1
            final = Path(part.final)
            path = hidden_path(final, self._scope, self._epoch, f"{self._attempt}.{tier}")
            self._made.append(path)
            with path.open("xb") as file:
                self._settings.format.join([Path(segment.path) for segment in merged], file)
                sync_file(file)
                segments = [*others, Segment(str(path), file.tell(), tier)]
            obsolete.extend((self._epoch, segment.path) for segment in merged)
        over = tuple(path for epoch, path in obsolete if epoch <= self._oldest)
        if over:
            self._commits.append(PartCommit("", (), over))
        kept = tuple(found for found in obsolete if found[0] > self._oldest)
        self._parts[bucket] = replace(part, segments=tuple(segments), merged=kept)

    def snapshot_state(self) -> FileWriterState:
        """Return the parts that stay open."""
        return FileWriterState(self._uid, self._counter, self._parts, self._lineage)

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
                active.file.close()
        self._active.clear()
        for path in self._made:
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)


def _require_pieces(part: OpenPart) -> None:
    """Raise ConnectorError if files of a part that is not visible yet are gone: their records were committed.

    A part that has become visible belongs to another driver's epoch, which will fence this driver off.
    """
    gone = [segment.path for segment in part.segments if not Path(segment.path).exists()]
    final = Path(part.final)
    if gone and not final.exists() and not joined_file(final).exists():
        raise ConnectorError(
            f"requires all pieces of its open part {part.final}",
            who="FileSink",
            got=f"{len(gone)} of {len(part.segments)} that are gone: {', '.join(gone[:_SHOWN_PIECES])}",
            hint="the records in them were committed. Put the files back; or start again at an epoch before the "
            "part was begun (--from EPOCH, see `firesteel checkpoints`); or do without them: give the sink another "
            "uid() and start with --allow-non-restored-state",
        )


def _checked(bucket: str) -> PurePosixPath:
    path = PurePosixPath(bucket)
    if path.is_absolute() or ".." in path.parts:
        raise ConnectorError(
            "requires buckets below the base path", who="the bucket assigner of FileSink", got=repr(bucket)
        )
    return path
