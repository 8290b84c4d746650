"""Records on their way to topics: columns, so that none of them needs an object until it is produced.

A batch has the column `value`, and those of `key`, `timestamp`, `partition` and `headers` that its records need.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import Any, Final

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.decoders import msgpack_decoder
from firesteel.common.errors import ConnectorError

HEADERS: Final = pa.list_(pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())]))
ANY_PARTITION: Final = -1
"""The partition of a record that goes where its key says, or anywhere."""

_OVERHEAD: Final = 128
"""More than what a record needs in a request besides its key, value and headers."""

_SHOWN: Final = 80
_SMALL_BATCH: Final = 500


@dataclass(frozen=True, slots=True)
class TopicRecords:
    """Records for one topic, in order. A key or a value that is NULL is none; timestamps are milliseconds.

    >>> TopicRecords.of("t", [b"a", None], keys=[b"k", b"k"]).rows.column_names
    ['value', 'key']
    """

    topic: str
    rows: pa.RecordBatch

    @classmethod
    def of(
        cls,
        topic: str,
        values: Any,
        *,
        keys: Any = None,
        timestamps: Any = None,
        partitions: Any = None,
        headers: Any = None,
    ) -> TopicRecords:
        """Return records of columns, each a list or an Arrow array; what is None no record has."""
        given = {
            "value": _column(values, pa.binary()),
            "key": _column(keys, pa.binary()),
            "timestamp": _column(timestamps, pa.int64()),
            "partition": _column(partitions, pa.int32()),
            "headers": _column(headers, HEADERS),
        }
        columns = {
            name: column
            for name, column in given.items()
            if column is not None and (name == "value" or column.null_count < len(column))
        }
        return cls(topic, pa.RecordBatch.from_pydict(columns))

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    @property
    def nbytes(self) -> int:
        """About how many bytes the records need."""
        return int(self.rows.nbytes)

    def check_sizes(self, largest: int, who: str) -> None:
        """Raise ConnectorError, which names the record, if one is larger than its topic takes."""
        if self.nbytes <= largest - _OVERHEAD:
            return
        sizes = self._sizes()
        too_large = pc.greater(sizes, max(0, largest - _OVERHEAD))
        place = pc.index(too_large, True).as_py()
        if place >= 0:
            raise ConnectorError(
                f"requires records that topic {self.topic!r} takes: of at most {largest} bytes",
                who=who,
                got=f"{self.describe(place)} of {sizes[place].as_py() + _OVERHEAD} bytes",
                hint="raise max.message.bytes of the topic (and max.request.size of the sink, if it is set)",
            )

    def describe(self, place: int) -> str:
        """Return what tells one of the records from others, for errors."""
        row = self.rows.slice(place, 1).to_pylist()[0]
        told = [f"{name} {_shown(row[name])}" for name in ("key", "value") if row.get(name) is not None]
        return f"a record with {' and '.join(told) or 'nothing'}"

    def _sizes(self) -> pa.Array:
        sizes = pa.array(np.zeros(len(self), np.int64))
        for name in ("key", "value"):
            if name in self.rows.schema.names:
                length = pc.binary_length(self.rows.column(name)).cast(pa.int64())
                sizes = pc.add(sizes, pc.fill_null(length, 0))
        if "headers" in self.rows.schema.names:
            lengths = [
                sum(len(name.encode()) + len(value or b"") + 10 for name, value in _pairs(given))
                for given in self.rows.column("headers").to_pylist()
            ]
            sizes = pc.add(sizes, pa.array(lengths, pa.int64()))
        return sizes

    def messages(self, note: Any) -> Iterator[tuple[Any, ...]]:
        """Yield what `Producer.produce` takes after the topic; `note` is called for a record that fails."""
        rows, names = self.rows, self.rows.schema.names
        values = rows.column("value").to_pylist()
        columns: list[Iterable[Any]] = [
            values,
            rows.column("key").to_pylist() if "key" in names else repeat(None),
            self._numbers("partition", ANY_PARTITION),
            repeat(note),
            repeat(None),
            self._numbers("timestamp", 0),
        ]
        if "headers" in names:
            columns.append(_pairs(given) for given in rows.column("headers").to_pylist())
        return zip(*columns, strict=False)

    def _numbers(self, name: str, default: int) -> Iterable[int]:
        if name not in self.rows.schema.names:
            return repeat(default)
        numbers: list[int] = self.rows.column(name).fill_null(default).to_pylist()
        return numbers


def joined(parts: Iterable[TopicRecords]) -> list[TopicRecords]:
    """Return the same records with one batch for each topic, in order.

    >>> parts = [TopicRecords.of("t", [b"a"]), TopicRecords.of("u", [b"b"]), TopicRecords.of("t", [b"c"], keys=[b"k"])]
    >>> [(part.topic, part.rows.to_pydict()) for part in joined(parts)]
    [('t', {'value': [b'a', b'c'], 'key': [None, b'k']}), ('u', {'value': [b'b']})]
    """
    return [
        TopicRecords(topic, batch)
        for topic, table in _by_topic(parts).items()
        for batch in table.combine_chunks().to_batches()
    ]


def _by_topic(parts: Iterable[TopicRecords]) -> dict[str, pa.Table]:
    by_topic: dict[str, list[pa.Table]] = {}
    for part in parts:
        by_topic.setdefault(part.topic, []).append(pa.Table.from_batches([part.rows]))
    return {topic: pa.concat_tables(tables, promote_options="default") for topic, tables in by_topic.items()}


def pack(parts: Iterable[TopicRecords]) -> bytes:
    """Return records as bytes, from which `unpack` makes them again, by topic.

    >>> [(part.topic, len(part)) for part in unpack(pack([TopicRecords.of("t", [b"a", b"b"])]))]
    [('t', 2)]
    """
    return msgspec.msgpack.encode([(topic, _serialized(table)) for topic, table in _by_topic(parts).items()])


def unpack(data: bytes) -> Iterator[TopicRecords]:
    """Yield the records of `pack`."""
    for topic, rows in msgpack_decoder(list[tuple[str, memoryview]]).decode(data):
        with pa.ipc.open_stream(pa.py_buffer(rows)) as reader:
            for batch in reader:
                yield TopicRecords(topic, batch)


def _serialized(table: pa.Table) -> memoryview:
    batches = table.to_batches()
    if len(table) < len(batches) * _SMALL_BATCH:  # each batch has a head of some hundred bytes
        batches = table.combine_chunks().to_batches()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return memoryview(sink.getvalue())


def _column(given: Any, kind: pa.DataType) -> pa.Array | None:
    if given is None:
        return None
    if not isinstance(given, pa.Array):
        return pa.array(given, kind)
    return given if given.type == kind else given.cast(kind)


def _pairs(given: Iterable[dict[str, Any]] | None) -> list[tuple[str, bytes | None]]:
    return [(header["key"], header["value"]) for header in given or ()]


def _shown(data: bytes) -> str:
    return repr(data) if len(data) <= _SHOWN else f"{data[:_SHOWN]!r}..."
