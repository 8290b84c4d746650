"""The options of tables of Kafka, as Flink names them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from firesteel.common.errors import ConfigurationError
from firesteel.connectors.kafka.partitions import KafkaTopicPartition
from firesteel.connectors.kafka.source.offsets import KafkaOffsetResetStrategy, KafkaOffsetsInitializer
from firesteel.connectors.kafka.source.settings import KafkaSourceSettings, source_settings
from firesteel.connectors.kafka.source.subscription import Subscription
from firesteel.connectors.tables.options import Option, Options, choice, duration, number, text
from firesteel.functions.columns.connectors import TableRequest

PROPERTIES: Final = "properties."
_DISCOVERY: Final = duration("scan.topic-partition-discovery.interval")

OF_SOURCES: Final = (
    "topic-pattern",
    "scan.startup.mode",
    "scan.startup.specific-offsets",
    "scan.startup.timestamp-millis",
    "scan.bounded.mode",
    "scan.bounded.specific-offsets",
    "scan.bounded.timestamp-millis",
    "scan.topic-partition-discovery.interval",
    "scan.parallelism",
)
"""The options that say how a table is read, which one that is written may have, too."""

OF_SINKS: Final = (
    "sink.partitioner",
    "sink.semantic",
    "sink.delivery-guarantee",
    "sink.transactional-id-prefix",
    "sink.transaction-naming-strategy",
    "sink.parallelism",
    "sink.buffer-flush.max-rows",
    "sink.buffer-flush.interval",
)
"""The options that say how a table is written."""

_Offsets = dict[int, int]


def properties_of(table: TableRequest) -> dict[str, str]:
    """Return the properties of Kafka's clients: the options `properties.*`."""
    return {
        key.removeprefix(PROPERTIES): value
        for key, value in table.options.items()
        if key.startswith(PROPERTIES)
    }


def know_properties(options: Options, table: TableRequest) -> None:
    """Accept the properties, and require the servers."""
    options.required(text(f"{PROPERTIES}bootstrap.servers"))
    options.know(key for key in table.options if key.startswith(PROPERTIES))


def topics(options: Options) -> tuple[str, ...]:
    """Return the names of the option 'topic'."""
    return names(options.get(text("topic"), ""))


def names(given: str) -> tuple[str, ...]:
    """Return the names of a list such as 'a;b'.

    >>> names("a; b")
    ('a', 'b')
    """
    return tuple(filter(None, map(str.strip, given.split(";"))))


def table_source_settings(options: Options, table: TableRequest) -> KafkaSourceSettings:
    """Return what is read. Raises ConfigurationError for options that do not fit together."""
    know_properties(options, table)
    properties = properties_of(table)
    subscription = _subscription(options, table)
    start = _startup(options, subscription, properties.get("auto.offset.reset", "none"))
    stop = _bounded(options, subscription)
    interval = options.get(_DISCOVERY)
    if interval is not None:
        properties["partition.discovery.interval.ms"] = str(interval)
    return source_settings(
        properties,
        subscription,
        start,
        stop,
        bounded=stop is not None,
        who=f"{table.who}, connector 'kafka',",
    )


def _subscription(options: Options, table: TableRequest) -> Subscription:
    names, pattern = topics(options), options.get(_pattern("topic-pattern"))
    if bool(names) == (pattern is not None):
        raise ConfigurationError(
            "requires one of the options 'topic' and 'topic-pattern'",
            who=table.who,
            got="both" if names else "none",
        )
    return Subscription(pattern=pattern) if pattern is not None else Subscription(topics=names)


def _startup(options: Options, subscription: Subscription, reset: str) -> KafkaOffsetsInitializer:
    key = "scan.startup.mode"
    modes = ("earliest-offset", "latest-offset", "group-offsets", "timestamp", "specific-offsets")
    mode = options.get(choice(key, *modes), "group-offsets")
    specific = options.get(_specific_offsets("scan.startup.specific-offsets"))
    time = options.get(number("scan.startup.timestamp-millis"))
    found: dict[str, Callable[[], KafkaOffsetsInitializer]] = {
        "earliest-offset": KafkaOffsetsInitializer.earliest,
        "latest-offset": KafkaOffsetsInitializer.latest,
        "group-offsets": lambda: KafkaOffsetsInitializer.committed_offsets(_strategy(options, reset)),
        "timestamp": lambda: KafkaOffsetsInitializer.timestamp(
            _needed(options, time, key, "timestamp-millis")
        ),
        "specific-offsets": lambda: _specific(options, subscription, specific, key),
    }
    return found[mode]()


def _bounded(options: Options, subscription: Subscription) -> KafkaOffsetsInitializer | None:
    key = "scan.bounded.mode"
    modes = ("unbounded", "latest-offset", "group-offsets", "timestamp", "specific-offsets")
    mode = options.get(choice(key, *modes), "unbounded")
    specific = options.get(_specific_offsets("scan.bounded.specific-offsets"))
    time = options.get(number("scan.bounded.timestamp-millis"))
    if mode == "unbounded":
        return None
    found: dict[str, Callable[[], KafkaOffsetsInitializer]] = {
        "latest-offset": KafkaOffsetsInitializer.latest,
        "group-offsets": lambda: KafkaOffsetsInitializer.committed_offsets(KafkaOffsetResetStrategy.LATEST),
        "timestamp": lambda: KafkaOffsetsInitializer.timestamp(
            _needed(options, time, key, "timestamp-millis")
        ),
        "specific-offsets": lambda: _specific(options, subscription, specific, key),
    }
    return found[mode]()


def _strategy(options: Options, reset: str) -> KafkaOffsetResetStrategy:
    try:
        return KafkaOffsetResetStrategy[reset.strip().upper()]
    except KeyError:
        raise options.wrong("properties.auto.offset.reset", "one of earliest, latest, none") from None


def _needed(options: Options, value: int | None, mode: str, name: str) -> int:
    if value is None:
        raise options.wrong(mode, f"the option '{mode.removesuffix('mode')}{name}' for such a value")
    return value


def _specific(
    options: Options, subscription: Subscription, offsets: _Offsets | None, mode: str
) -> KafkaOffsetsInitializer:
    if offsets is None:
        raise options.wrong(
            mode, f"the option '{mode.removesuffix('mode')}specific-offsets' for such a value"
        )
    if len(subscription.topics) != 1:
        raise options.wrong(mode, "a single topic for such a value")
    topic = subscription.topics[0]
    return KafkaOffsetsInitializer.offsets(
        {KafkaTopicPartition(topic, partition): offset for partition, offset in offsets.items()}
    )


def _specific_offsets(key: str) -> Option[_Offsets]:
    """Return an option such as 'partition:0,offset:42;partition:1,offset:300'.

    >>> _specific_offsets("k").read("partition:0,offset:42;partition:1,offset:300")
    {0: 42, 1: 300}
    """

    def read(given: str) -> _Offsets:
        found: _Offsets = {}
        for pair in given.strip().rstrip(";").split(";"):
            parts = dict(part.strip().split(":") for part in pair.split(","))
            if parts.keys() != {"partition", "offset"}:
                raise ValueError(given)
            found[int(parts["partition"])] = int(parts["offset"])
        return found

    return Option(key, read, "partitions and offsets such as 'partition:0,offset:42;partition:1,offset:300'")


def _pattern(key: str) -> Option[str]:
    def read(given: str) -> str:
        try:
            re.compile(given)
        except re.error as error:
            raise ValueError(given) from error
        return given

    return Option(key, read, "a regular expression")
