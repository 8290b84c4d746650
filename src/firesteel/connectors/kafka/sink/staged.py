"""Exactly once, the worker's part: records wait with the job's checkpoints until their epoch is committed."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from firesteel.common.stored_output import StoredOutput
from firesteel.connectors.kafka.sink.records import TopicRecords, pack, unpack
from firesteel.connectors.kafka.sink.settings import KafkaSinkSettings
from firesteel.connectors.kafka.sink.topics import Topic, Topics
from firesteel.connectors.kafka.sink.writers import RecordWriter
from firesteel.functions.sink import OutputStore, WriterContext

_PARCEL_BYTES: Final = 8 << 20
"""How many bytes of records wait in memory, at most."""

_MANIFEST_BYTES: Final = 1 << 20
_INLINE_BYTES: Final = 128 << 10
"""How many bytes of all writers, and of one of them, may be in the manifest itself."""


@dataclass(frozen=True, slots=True)
class StagedRecords:
    """The records of one writer in one epoch: in `parcels`, or in the store under the names there.

    `prepared_at` is a time of the worker's clock in milliseconds. `largest` is the size of the largest batch that all
    of the topics take, in bytes.
    """

    job: str
    operator: str
    epoch: int
    attempt: str
    prepared_at: int
    topics: tuple[str, ...]
    records: int
    largest: int
    parcels: tuple[bytes | StoredOutput, ...]

    @property
    def stored(self) -> list[StoredOutput]:
        """What is in the store."""
        return [parcel for parcel in self.parcels if isinstance(parcel, StoredOutput)]

    def read(self, outputs: OutputStore) -> Iterator[TopicRecords]:
        """Yield the records in order. Raises StateCorruptedError if some of them are not there."""
        for parcel in self.parcels:
            yield from unpack(parcel if isinstance(parcel, bytes) else outputs.get(parcel))


class StagedWriter(RecordWriter):
    """Stores records. The few of a small epoch go into the manifest itself, which saves writing and reading a file."""

    def __init__(self, settings: KafkaSinkSettings, topics: Topics, context: WriterContext) -> None:
        super().__init__(settings, topics)
        self._context = context
        self._waiting: list[TopicRecords] = []
        self._bytes = 0
        self._records = 0
        self._largest: dict[str, int] = {}
        self._stored: list[bytes | StoredOutput] = []

    def _put(self, records: TopicRecords, topic: Topic) -> None:
        self._largest[records.topic] = topic.largest
        self._waiting.append(records)
        self._records += len(records)
        self._bytes += records.nbytes
        if self._bytes >= _PARCEL_BYTES:
            self._stored.append(self._context.store(self._parcel()))

    def _parcel(self) -> bytes:
        waiting, self._waiting, self._bytes = self._waiting, [], 0
        return pack(waiting)

    def prepare_commit(self) -> Sequence[StagedRecords]:
        if not self._records:
            return []
        context = self._context
        if self._waiting:
            last = self._parcel()
            small = len(last) <= min(_INLINE_BYTES, _MANIFEST_BYTES // context.parallelism)
            self._stored.append(last if small and not self._stored else context.store(last))
        return [
            StagedRecords(
                job=context.job_id,
                operator=context.operator_id,
                epoch=context.epoch,
                attempt=context.facts.attempt,
                prepared_at=int(time.time() * 1000),
                topics=tuple(self._largest),
                records=self._records,
                largest=min(self._largest.values()),
                parcels=tuple(self._stored),
            )
        ]

    def abort(self) -> None:
        """Leave what is stored: it goes when the job collects garbage."""
