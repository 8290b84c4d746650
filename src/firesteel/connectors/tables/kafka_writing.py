"""The sinks of the connectors 'kafka' and 'upsert-kafka', from their options."""

from __future__ import annotations

import re
from typing import Final

from firesteel.common.errors import ConfigurationError, UnsupportedError
from firesteel.common.logical_types import parse_type
from firesteel.connectors.kafka.sink.settings import KafkaSinkSettings, sink_settings
from firesteel.connectors.tables.kafka_fields import MessagePart, MessageParts, message_parts
from firesteel.connectors.tables.kafka_sink import (
    HEADERS,
    TIMESTAMP,
    TOPIC,
    Buffering,
    KafkaRows,
    KafkaTableSink,
    Part,
    Topics,
)
from firesteel.connectors.tables.options import PARALLELISM, Options, choice, duration, number, text
from firesteel.functions.columns.connectors import ChangelogMode, TableRequest, TableSink
from firesteel.functions.sink import DeliveryGuarantee

_GUARANTEES: Final = {
    "none": DeliveryGuarantee.NONE,
    "at-least-once": DeliveryGuarantee.AT_LEAST_ONCE,
    "exactly-once": DeliveryGuarantee.EXACTLY_ONCE,
}
_PROPERTIES: Final = "properties."
_PARTITIONERS: Final = ("default", "fixed", "round-robin")

WRITABLE: Final = {
    TOPIC: parse_type("STRING"),
    HEADERS: parse_type("MAP<STRING, BYTES>"),
    TIMESTAMP: parse_type("TIMESTAMP_LTZ(3)"),
}
"""The metadata that a sink takes, with its types."""

WRITING_OPTIONS: Final = (
    "sink.partitioner",
    "sink.parallelism",
    "sink.delivery-guarantee",
    "sink.transactional-id-prefix",
    "sink.transaction-naming-strategy",
    "sink.buffer-flush.max-rows",
    "sink.buffer-flush.interval",
)
"""Options of a table where it is written, which mean nothing where it is read."""


def kafka_sink(table: TableRequest, reading: tuple[str, ...]) -> TableSink:
    """Return the sink of 'kafka', which takes the changes of its format; `reading` are the options of the source."""
    options = Options(table.options, table.who, "kafka")
    parts = message_parts(options, table)
    _check_key(parts, table)
    if table.primary_key and parts.value.format.mode.append_only:
        raise UnsupportedError(
            f"cannot have a primary key with the format {parts.value.format.name!r}",
            who=table.who,
            hint="the connector 'upsert-kafka' keeps the last row of each key",
        )
    partitioner = _partitioner(options)
    if partitioner == "round-robin" and parts.key is not None:
        raise options.wrong("sink.partitioner", "'default' or 'fixed' for messages with a key")
    rows = _rows(options, table, parts, fixed=partitioner == "fixed")
    mode = parts.value.format.mode
    return _sink(options, table, rows, mode, reading, adapts=not mode.append_only)


def upsert_kafka_sink(table: TableRequest, reading: tuple[str, ...]) -> TableSink:
    """Return the sink of 'upsert-kafka': a row that goes is a tombstone of its key."""
    options = Options(table.options, table.who, "upsert-kafka")
    parts = upsert_parts(options, table)
    rows = _rows(options, table, parts, upserts=True, buffering=_buffering(options))
    return _sink(options, table, rows, ChangelogMode.upserts(), reading)


def upsert_parts(options: Options, table: TableRequest) -> MessageParts:
    """Return the key and the value of a table of 'upsert-kafka', whose key is the primary key.

    Raises ConfigurationError without one, UnsupportedError for formats of changes.
    """
    if not table.primary_key:
        raise ConfigurationError(
            "requires a primary key",
            who=table.who,
            hint="PRIMARY KEY (...) NOT ENFORCED says which columns are the keys of messages",
        )
    for key in ("key.format", "value.format"):
        options.required(text(key))
    parts = message_parts(options, table, table.primary_key)
    _check_key(parts, table)
    _require_inserts(parts.value, table)
    return parts


def _check_key(parts: MessageParts, table: TableRequest) -> None:
    if parts.key is not None:
        _require_inserts(parts.key, table)


def _require_inserts(part: MessagePart, table: TableRequest) -> None:
    if not part.format.mode.append_only:
        raise UnsupportedError(f"cannot have the format of changes {part.format.name!r} here", who=table.who)


def _rows(
    options: Options,
    table: TableRequest,
    parts: MessageParts,
    *,
    upserts: bool = False,
    fixed: bool = False,
    buffering: Buffering | None = None,
) -> KafkaRows:
    topics = _topics(options, table)
    first = len(table.row.fields) - len(table.metadata)
    metadata = {key: first + place for place, key in enumerate(table.metadata)}
    if topics.only is not None and TOPIC in metadata:
        raise ConfigurationError(
            "requires several topics, or a pattern, for a column of topics that is written", who=table.who
        )
    if topics.only is None and TOPIC not in metadata:
        raise ConfigurationError(
            "requires one topic, or a column METADATA FROM 'topic'", who=table.who, got=topics.text
        )
    subject = topics.only
    return KafkaRows(
        topics,
        _part(parts.value, subject and f"{subject}-value"),
        None if parts.key is None else _part(parts.key, subject and f"{subject}-key"),
        metadata,
        upserts,
        fixed,
        buffering,
    )


def _part(part: MessagePart, subject: str | None) -> Part:
    encoder = part.format.encoder(part.options, part.row, subject=subject)
    return Part(part.places, tuple(field.name for field in part.row.fields), encoder)


def _topics(options: Options, table: TableRequest) -> Topics:
    given, pattern = options.get(text("topic")), options.get(text("topic-pattern"))
    if (given is None) is (pattern is None):
        raise ConfigurationError(
            "requires either the option 'topic' or the option 'topic-pattern'", who=table.who
        )
    if pattern is not None:
        try:
            re.compile(pattern)
        except re.error as error:
            raise options.wrong("topic-pattern", "a regular expression") from error
        return Topics((), pattern)
    names = tuple(name.strip() for name in (given or "").split(";") if name.strip())
    if not names:
        raise options.wrong("topic", "one topic or more")
    return Topics(names)


def _partitioner(options: Options) -> str:
    given = options.get(text("sink.partitioner"), "default")
    if given not in _PARTITIONERS:
        raise options.wrong("sink.partitioner", f"one of {', '.join(_PARTITIONERS)}")
    return given


def _buffering(options: Options) -> Buffering | None:
    rows = options.get(number("sink.buffer-flush.max-rows"), 0)
    interval = options.get(duration("sink.buffer-flush.interval"), 0)
    if (rows > 0) is not (interval > 0):
        raise options.wrong(
            "sink.buffer-flush.max-rows", "a number above 0 together with 'sink.buffer-flush.interval'"
        )
    return Buffering(rows, interval) if rows > 0 else None


def _sink(
    options: Options,
    table: TableRequest,
    rows: KafkaRows,
    mode: ChangelogMode,
    reading: tuple[str, ...],
    *,
    adapts: bool = False,
) -> TableSink:
    settings = _settings(options, table, rows.topics)
    parallelism = options.get(PARALLELISM)
    options.know((*WRITING_OPTIONS, *reading))
    options.finish()
    return TableSink(KafkaTableSink(settings, rows), mode, adapts=adapts, parallelism=parallelism)


def _settings(options: Options, table: TableRequest, topics: Topics) -> KafkaSinkSettings:
    name = options.get(choice("sink.delivery-guarantee", *_GUARANTEES), "at-least-once")
    prefix = options.get(text("sink.transactional-id-prefix"))
    guarantee = _GUARANTEES[name]
    if guarantee is DeliveryGuarantee.EXACTLY_ONCE and not prefix:
        options.required(text("sink.transactional-id-prefix"))
    properties = {
        key.removeprefix(_PROPERTIES): value
        for key, value in table.options.items()
        if key.startswith(_PROPERTIES)
    }
    options.know([f"{_PROPERTIES}{name}" for name in properties])
    options.required(text("properties.bootstrap.servers"))
    return sink_settings(properties, f"{table.who}, topic {topics.text!r},", guarantee, prefix)
