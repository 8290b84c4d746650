"""Topics as the source of a table: messages become columns by the batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from firesteel.common.logical_types import Field, RowType
from firesteel.common.logical_types.arrow import to_arrow, to_arrow_schema
from firesteel.common.types import RowKind
from firesteel.connectors.kafka.source.access import TopicSource
from firesteel.connectors.kafka.source.deserializing import TIMESTAMP_TYPES, place_of
from firesteel.connectors.kafka.source.settings import KafkaSourceSettings
from firesteel.connectors.tables.kafka.parts import RECORD, VALUE, KafkaColumn, KafkaParts
from firesteel.connectors.tables.messages.message_format import (
    BadMessage,
    Decoded,
    MessageDecoder,
    Places,
)
from firesteel.connectors.tables.messages.salvaging import salvaged
from firesteel.functions.columns.endpoints import ColumnBatches, ColumnSource
from firesteel.functions.source import Split

if TYPE_CHECKING:
    from confluent_kafka import Message

_NO_ROW: Final = -1


class KafkaTableSource(TopicSource, ColumnSource):
    """Rows of messages. A row is of the message's key, its value, and what else is known of it.

    A message whose key or value has no row, as a tombstone's has none, has none. With `upserts` a row is the last one
    of its key, and a message without a value deletes the row of its key. A message that cannot be read is an error
    with its topic, partition and offset, unless its format skips such messages, or the table has the metadata 'error':
    then it has a row of NULLs that says why.
    """

    def __init__(
        self,
        settings: KafkaSourceSettings,
        parts: KafkaParts,
        parallelism: int | None = None,
        *,
        upserts: bool = False,
    ) -> None:
        super().__init__(settings)
        self._parts = parts
        self._upserts = upserts
        self._decoding = _Decoding.of(parts, upserts=upserts)
        self.preferred_parallelism = parallelism

    def read_columns(self, split: Split, start: int, end: int) -> ColumnBatches:
        for messages in self._access.messages(split, start, end):
            rows, kinds, errors = self._decoding.rows(messages, self.settings.who)
            self.errors += errors
            yield rows, kinds
        return None

    def projected(self, columns: tuple[int, ...]) -> ColumnSource | None:
        """Return a source of these columns; values are read with those fields alone where fields have names."""
        kept = tuple(self._parts.columns[place] for place in columns)
        if not any(column.kind == "value" for column in kept):
            return None
        only = self._parts.only(kept)
        return KafkaTableSource(self.settings, only, self.preferred_parallelism, upserts=self._upserts)


class _Rows(NamedTuple):
    """Rows of messages, the kinds of their changes, and how many of them are of messages that cannot be read."""

    rows: pa.RecordBatch
    kinds: Any
    errors: int = 0


@dataclass(frozen=True)
class _Decoding:
    """How messages become rows; picklable."""

    columns: tuple[KafkaColumn, ...]
    schema: pa.Schema
    value: MessageDecoder
    value_names: tuple[str, ...]
    key: MessageDecoder | None
    key_names: tuple[str, ...]
    upserts: bool
    keeps_bad: bool

    @staticmethod
    def of(parts: KafkaParts, *, upserts: bool) -> _Decoding:
        form = parts.value
        inside = [column.name.removeprefix(VALUE) for column in parts.columns if column.kind == "format"]
        fields = tuple(Field(column.name, column.type) for column in parts.columns)
        return _Decoding(
            parts.columns,
            to_arrow_schema(RowType(fields, nullable=False)),
            form.format.decoder(form.options, form.row, inside),
            (*(field.name for field in form.row.fields), *(f"{VALUE}{name}" for name in inside)),
            None if parts.key is None else parts.key.format.decoder(parts.key.options, parts.key.row),
            parts.key_columns,
            upserts,
            parts.keeps_bad,
        )

    def rows(self, messages: Sequence[Message], who: str) -> _Rows:
        """Return the rows of messages."""
        from confluent_kafka import Message

        if self.upserts:
            return self._changes(messages, who)
        decoded, bad = self._decoded(self.value, [*map(Message.value, messages)], messages, who)
        found = dict(zip(self.value_names, decoded.rows.columns, strict=True))
        kinds, places = decoded.kinds, decoded.messages
        if self.key is not None:
            keys, bad_keys = self._decoded(self.key, [*map(Message.key, messages)], messages, who)
            bad = {**{place: f"its key: {why}" for place, why in bad_keys.items()}, **bad}
            of_keys = dict(zip(self.key_names, keys.rows.columns, strict=True))
            if keys.messages is not None or places is not None:
                chosen, chosen_keys = joined(decoded.places(), keys.places())
                found = {name: column.take(pa.array(chosen)) for name, column in found.items()}
                of_keys = {name: column.take(pa.array(chosen_keys)) for name, column in of_keys.items()}
                places = decoded.places()[chosen]
                kinds = None if kinds is None else kinds[chosen]
            found = {**of_keys, **found}
        if bad:
            found, kinds, places = _with_bad(
                found, kinds, decoded.places() if places is None else places, bad
            )
        return _Rows(self._assembled(found, messages, places, bad), kinds, len(bad))

    def _decoded(
        self, decoder: MessageDecoder, texts: list[bytes | None], messages: Sequence[Message], who: str
    ) -> tuple[Decoded, Mapping[int, str]]:
        """Return the rows of messages; of those that cannot be read, by their places, why."""
        given = _bytes(texts)
        return salvaged(decoder, given) if self.keeps_bad else (_decoded(decoder, given, messages, who), {})

    def _changes(self, messages: Sequence[Message], who: str) -> _Rows:
        """Return the last rows of keys, and what deletes them: rows of the key alone, where there is no value."""
        assert self.key is not None
        keys = _decoded(self.key, _bytes([message.key() for message in messages]), messages, who)
        there = np.array([message.value() is not None for message in messages])
        alive, gone = np.flatnonzero(there), np.flatnonzero(~there)
        whole = [message for message in messages if message.value() is not None]
        decoded = _decoded(self.value, _bytes([message.value() for message in whole]), whole, who)
        places = np.concatenate([alive[decoded.places()], gone])
        rows = np.concatenate([np.arange(decoded.rows.num_rows), np.full(len(gone), _NO_ROW)])
        order = np.argsort(places, kind="stable")
        chosen, of_keys = joined(places[order], keys.places())
        rows, places = rows[order][chosen], places[order][chosen]
        deleted = rows == _NO_ROW
        taken = pa.array(rows, mask=deleted)
        found = dict(
            zip(self.value_names, [column.take(taken) for column in decoded.rows.columns], strict=True)
        )
        for name, column in zip(self.key_names, keys.rows.columns, strict=True):
            of_key = column.take(pa.array(of_keys))
            found[name] = pc.if_else(pa.array(deleted), of_key, found[name]) if name in found else of_key
        kinds = np.where(deleted, RowKind.DELETE.value, RowKind.UPDATE_AFTER.value).astype(np.int8)
        return _Rows(self._assembled(found, messages, places, {}), kinds)

    def _assembled(
        self,
        found: Mapping[str, pa.Array],
        messages: Sequence[Message],
        places: Places | None,
        bad: Mapping[int, str],
    ) -> pa.RecordBatch:
        columns = []
        for column, field in zip(self.columns, self.schema, strict=True):
            if column.kind == "error":
                there = range(len(messages)) if places is None else places.tolist()
                given = pa.array([bad.get(place) for place in there], pa.string())
            elif column.kind != "record":
                given = found[column.name]
            else:
                given = _RECORD[column.name](messages)
                if places is not None:
                    given = given.take(pa.array(places))
            columns.append(given if given.type == field.type else given.cast(field.type))
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


def _with_bad(
    found: Mapping[str, pa.Array], kinds: Any, places: Places, bad: Mapping[int, str]
) -> tuple[dict[str, pa.Array], Any, Places]:
    """Return columns with a row of NULLs for each bad message in its place."""
    every = np.concatenate([places, np.array([*bad], np.int64)])
    order = np.argsort(every, kind="stable")
    rows = np.concatenate([np.arange(len(places)), np.full(len(bad), _NO_ROW)])[order]
    taken = pa.array(rows, mask=rows == _NO_ROW)
    if kinds is not None:
        inserts = np.full(len(bad), RowKind.INSERT.value, np.int8)
        kinds = np.concatenate([kinds, inserts])[order]
    return {name: column.take(taken) for name, column in found.items()}, kinds, every[order]


def _bytes(texts: Sequence[bytes | None]) -> pa.Array:
    return pa.array(texts, pa.binary())


def _decoded(decoder: MessageDecoder, texts: pa.Array, messages: Sequence[Message], who: str) -> Decoded:
    found = decoder.decode(texts)
    if isinstance(found, BadMessage):
        raise found.error(f"{who} {place_of(messages[found.index])}")
    return found


def joined(values: Places, keys: Places) -> tuple[Places, Places]:
    """Return the places of rows of values and of keys, by the messages that they are of: each pair of one message.

    >>> values, keys = joined(np.array([0, 1, 1, 3]), np.array([1, 2, 3, 3]))
    >>> values.tolist(), keys.tolist()
    ([1, 2, 3, 3], [0, 0, 2, 3])
    """
    first, last = np.searchsorted(keys, values, "left"), np.searchsorted(keys, values, "right")
    counts = last - first
    rows = np.repeat(np.arange(len(values)), counts)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return rows, first[rows] + within


def _timestamps(messages: Sequence[Message]) -> pa.Array:
    times = [message.timestamp()[1] for message in messages]
    return pa.array(times, pa.int64()).cast(pa.timestamp("ms", "UTC"))


def _headers(messages: Sequence[Message]) -> pa.Array:
    # Of headers with one name the last one counts, as in Flink.
    pairs = [[*dict(message.headers() or ()).items()] for message in messages]
    return pa.array(pairs, to_arrow(RECORD["headers"]))


_RECORD: Final[dict[str, Callable[[Sequence[Message]], pa.Array]]] = {
    "raw-key": lambda messages: _bytes([message.key() for message in messages]),
    "raw-value": lambda messages: _bytes([message.value() for message in messages]),
    "topic": lambda messages: pa.repeat(pa.scalar(messages[0].topic(), pa.string()), len(messages)),
    "partition": lambda messages: pa.repeat(pa.scalar(messages[0].partition(), pa.int32()), len(messages)),
    "headers": _headers,
    "leader-epoch": lambda messages: pa.array([message.leader_epoch() for message in messages], pa.int32()),
    "offset": lambda messages: pa.array([message.offset() for message in messages], pa.int64()),
    "timestamp": _timestamps,
    "timestamp-type": lambda messages: pa.array(
        [TIMESTAMP_TYPES[message.timestamp()[0]] for message in messages], pa.string()
    ),
}
"""How metadata of records are made of messages, of which there is at least one, all of one partition."""
