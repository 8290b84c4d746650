"""The sinks of the connectors 'kafka' and 'upsert-kafka', from their options."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from firesteel.common.errors import ConfigurationError, UnsupportedError
from firesteel.connectors.kafka.sink.settings import KafkaSinkSettings, sink_settings
from firesteel.connectors.tables.kafka.options import (
    BUFFER_INTERVAL,
    BUFFER_ROWS,
    GUARANTEE,
    ID_PREFIX,
    OF_SINKS,
    OF_SOURCES,
    PARTITIONER,
    STARTING,
    STARTUP,
    TOPIC_PATTERN,
    know_properties,
    properties_of,
    topics,
)
from firesteel.connectors.tables.kafka.parts import (
    KEY_FIELDS,
    KEY_FORMAT,
    VALUE_FORMAT,
    Form,
    KafkaParts,
    parts_of,
)
from firesteel.connectors.tables.kafka.sink import TOPIC, Buffering, KafkaRows, KafkaTableSink, Part, Topics
from firesteel.connectors.tables.options import PARALLELISM, Options
from firesteel.functions.columns.connectors import ChangelogMode, TableRequest, TableSink
from firesteel.functions.sink import DeliveryGuarantee

_GUARANTEES: Final = {
    "none": DeliveryGuarantee.NONE,
    "at-least-once": DeliveryGuarantee.AT_LEAST_ONCE,
    "exactly-once": DeliveryGuarantee.EXACTLY_ONCE,
}


def kafka_sink(table: TableRequest) -> TableSink:
    """Return the sink of 'kafka', which takes the changes that its format has."""
    options = Options(table.options, table.who, "kafka")
    parts = parts_of(options, table)
    if parts.key is not None:
        _require_inserts(parts.key, table)
    mode = parts.value.format.mode
    if table.primary_key and mode.append_only:
        raise ConfigurationError(
            f"requires a table without PRIMARY KEY for the format {parts.value.format.name!r}",
            who=table.who,
            got=f"PRIMARY KEY ({', '.join(table.primary_key)})",
            hint="the connector 'upsert-kafka' writes the last row of each key",
        )
    partitioner = options.get(PARTITIONER)
    if partitioner == "round-robin" and parts.key is not None:
        raise options.wrong(PARTITIONER.key, "'default' or 'fixed' for messages with a key")
    rows = _rows(options, table, parts, fixed=partitioner == "fixed")
    return _sink(options, table, rows, mode)


def upsert_kafka_sink(table: TableRequest) -> TableSink:
    """Return the sink of 'upsert-kafka': a row that goes is a tombstone of its key."""
    options, parts = upsert_parts(table)
    rows = _rows(options, table, parts, upserts=True, buffering=_buffering(options))
    return _sink(options, table, rows, ChangelogMode.upserts())


def upsert_parts(table: TableRequest) -> tuple[Options, KafkaParts]:
    """Return the options and the columns of a table of 'upsert-kafka', whose key is the primary key.

    Raises ConfigurationError without one, UnsupportedError for formats of changes.
    """
    if not table.primary_key:
        raise ConfigurationError(
            "requires a primary key",
            who=table.who,
            hint="PRIMARY KEY (...) NOT ENFORCED says which columns are the keys of messages",
        )
    given = Options(table.options, table.who, "upsert-kafka")
    for form in (KEY_FORMAT, VALUE_FORMAT):
        given.required(form)
    for option in (KEY_FIELDS, *STARTING):
        if option.key in given:
            raise given.wrong(
                option.key, "nothing (the primary key is the key, and reading starts at the beginning)"
            )
    fixed = {KEY_FIELDS.key: ";".join(table.primary_key), STARTUP.key: "earliest-offset"}
    options = Options({**table.options, **fixed}, table.who, "upsert-kafka")
    parts = parts_of(options, table)
    for part in (parts.key, parts.value):
        if part is not None:
            _require_inserts(part, table)
    return options, parts


def _require_inserts(form: Form, table: TableRequest) -> None:
    if not form.format.mode.append_only:
        raise UnsupportedError(f"cannot have the format of changes {form.format.name!r} here", who=table.who)


def _rows(
    options: Options,
    table: TableRequest,
    parts: KafkaParts,
    *,
    upserts: bool = False,
    fixed: bool = False,
    buffering: Buffering | None = None,
) -> KafkaRows:
    found = _topics(options, table)
    columns = [field.name for field in table.row.fields]
    first = len(columns) - len(table.metadata)
    metadata = {key: first + place for place, key in enumerate(table.metadata)}
    if found.only is not None and TOPIC in metadata:
        raise ConfigurationError(
            "requires several topics, or a pattern, for a column of topics that is written", who=table.who
        )
    if found.only is None and TOPIC not in metadata:
        raise ConfigurationError(
            "requires one topic, or a column METADATA FROM 'topic'", who=table.who, got=found.text
        )
    value = [field.name for field in parts.value.row.fields]
    return KafkaRows(
        found,
        _part(parts.value, value, columns, found.only and f"{found.only}-value"),
        None
        if parts.key is None
        else _part(parts.key, parts.key_columns, columns, found.only and f"{found.only}-key"),
        metadata,
        upserts,
        fixed,
        buffering,
    )


def _part(form: Form, given: Sequence[str], columns: Sequence[str], subject: str | None) -> Part:
    encoder = form.format.encoder(form.options, form.row, subject=subject)
    places = tuple(columns.index(name) for name in given)
    return Part(places, tuple(field.name for field in form.row.fields), encoder)


def _topics(options: Options, table: TableRequest) -> Topics:
    names, pattern = topics(options), options.get(TOPIC_PATTERN)
    if bool(names) is (pattern is not None):
        raise ConfigurationError(
            "requires one of the options 'topic' and 'topic-pattern'",
            who=table.who,
            got="both" if names else "none",
        )
    return Topics(names, pattern)


def _buffering(options: Options) -> Buffering | None:
    rows, interval = options.get(BUFFER_ROWS), options.get(BUFFER_INTERVAL)
    if (rows > 0) is not (interval > 0):
        raise options.wrong(BUFFER_ROWS.key, f"a number above 0 together with '{BUFFER_INTERVAL.key}'")
    return Buffering(rows, interval) if rows > 0 else None


def _sink(options: Options, table: TableRequest, rows: KafkaRows, mode: ChangelogMode) -> TableSink:
    settings = _settings(options, table, rows.topics)
    parallelism = options.get(PARALLELISM)
    options.know((*OF_SINKS, *OF_SOURCES))
    options.finish()
    return TableSink(KafkaTableSink(settings, rows), mode, parallelism=parallelism)


def _settings(options: Options, table: TableRequest, found: Topics) -> KafkaSinkSettings:
    know_properties(options)
    guarantee = _GUARANTEES[options.get(GUARANTEE)]
    exact = guarantee is DeliveryGuarantee.EXACTLY_ONCE
    given = options.required(ID_PREFIX) if exact else options.get(ID_PREFIX)
    return sink_settings(properties_of(table), f"{table.who}, topic {found.text!r},", guarantee, given)
