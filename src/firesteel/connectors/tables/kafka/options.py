"""The options of tables of Kafka, as Flink names them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeVar

from firesteel.common.errors import ConfigurationError
from firesteel.connectors.kafka.partitions import KafkaTopicPartition
from firesteel.connectors.kafka.source.offsets import KafkaOffsetResetStrategy, KafkaOffsetsInitializer
from firesteel.connectors.kafka.source.settings import KafkaSourceSettings, source_settings
from firesteel.connectors.kafka.source.subscription import Subscription
from firesteel.connectors.tables.options import (
    PARALLELISM,
    SCAN_PARALLELISM,
    Listed,
    Option,
    Options,
    choice,
    duration,
    number,
    text,
)
from firesteel.functions.columns.connectors import TableRequest

T = TypeVar("T")
_Offsets = dict[int, int]


def _offsets(given: str) -> _Offsets:
    """Return the offset of each partition.

    >>> _offsets("partition:0,offset:42;partition:1,offset:300")
    {0: 42, 1: 300}
    """
    found: _Offsets = {}
    for pair in given.strip().rstrip(";").split(";"):
        parts = dict(part.strip().split(":") for part in pair.split(","))
        if parts.keys() != {"partition", "offset"}:
            raise ValueError(given)
        found[int(parts["partition"])] = int(parts["offset"])
    return found


def _specific_offsets(key: str, about: str) -> Option[_Offsets]:
    what = "partitions and offsets such as 'partition:0,offset:42;partition:1,offset:300'"
    return Option(key, _offsets, what, about)


def _pattern(given: str) -> str:
    try:
        re.compile(given)
    except re.error as error:
        raise ValueError(given) from error
    return given


PROPERTIES: Final = "properties."
TOPIC: Final = text("topic", "One or more topics.", "a name, or several with `;` between them")
TOPIC_PATTERN: Final = Option(
    "topic-pattern",
    _pattern,
    "a regular expression",
    "The topics whose whole names it matches, in place of `topic`; also those that come later.",
)
_SERVERS: Final = text(f"{PROPERTIES}bootstrap.servers", "Where the brokers are.", "host:port, ...").needed()
_PROPERTIES: Final = text(
    f"{PROPERTIES}*",
    "Those of Kafka's consumer or producer, translated for librdkafka, and those of librdkafka. One that only Java can "
    "follow is refused. Secrets are references: `${KAFKA_PASSWORD}`.",
)
STARTUP: Final = choice(
    "scan.startup.mode",
    *("earliest-offset", "latest-offset", "group-offsets", "timestamp", "specific-offsets"),
    about="Where reading starts, if the job has no offsets of its own yet. `group-offsets` needs "
    "`properties.group.id`, and `properties.auto.offset.reset` for partitions without one.",
).by_default("group-offsets")
STARTUP_TIME: Final = number(
    "scan.startup.timestamp-millis",
    None,
    "The time of the first record, for `timestamp`: milliseconds since 1970.",
)
STARTUP_OFFSETS: Final = _specific_offsets(
    "scan.startup.specific-offsets", "The first offsets, for `specific-offsets`, which needs a single topic."
)
_BOUNDED: Final = choice(
    "scan.bounded.mode",
    *("unbounded", "latest-offset", "group-offsets", "timestamp", "specific-offsets"),
    about="Where reading ends. `latest-offset` is what is there when the job starts.",
).by_default("unbounded")
_BOUNDED_TIME: Final = number(
    "scan.bounded.timestamp-millis", None, "The time of the first record that is not read, for `timestamp`."
)
_BOUNDED_OFFSETS: Final = _specific_offsets(
    "scan.bounded.specific-offsets", "The first offsets that are not read, for `specific-offsets`."
)
_DISCOVERY: Final = duration(
    "scan.topic-partition-discovery.interval",
    "How often new partitions and topics are looked for; 0: never. 5 minutes without it.",
)
PARTITIONER: Final = choice(
    "sink.partitioner",
    *("default", "fixed", "round-robin"),
    about="Which partition a record goes to: by its key, and without one all in turn; one for each subtask; all in "
    "turn, only for messages without keys.",
).by_default("default")
GUARANTEE: Final = choice(
    "sink.delivery-guarantee",
    *("none", "at-least-once", "exactly-once"),
    about="What a reader may rely on after a failure.",
).by_default("at-least-once")
ID_PREFIX: Final = text(
    "sink.transactional-id-prefix", "What the job's transactional id begins with. `exactly-once` needs it."
)
BUFFER_ROWS: Final = number(
    "sink.buffer-flush.max-rows",
    None,
    "How many changes wait, of which only the last one of each key is written. Together with the interval.",
).by_default("0")
BUFFER_INTERVAL: Final = duration("sink.buffer-flush.interval", "How long they wait at most.").by_default(
    "0 s"
)
_NAMING: Final = text("sink.transaction-naming-strategy", "Changes nothing: a job has one transactional id.")

STARTING: Final[Listed] = (STARTUP, STARTUP_TIME, STARTUP_OFFSETS)
"""The options that say where reading starts."""

ENDING: Final[Listed] = (_BOUNDED, _BOUNDED_TIME, _BOUNDED_OFFSETS, _DISCOVERY, SCAN_PARALLELISM)
"""The options that say where reading ends, and how it is done."""

OF_SOURCES: Final[Listed] = (TOPIC_PATTERN, *STARTING, *ENDING)
"""The options that say how a table is read, which one that is written may have, too."""

OF_SINKS: Final[Listed] = (GUARANTEE, ID_PREFIX, PARALLELISM, _NAMING)
"""The options that say how a table is written."""

OF_BUFFERS: Final[Listed] = (BUFFER_ROWS, BUFFER_INTERVAL)
"""The same, for tables with a key."""

OF_BOTH: Final[Listed] = (TOPIC, _SERVERS, _PROPERTIES)
"""The options that say which topics."""


def properties_of(table: TableRequest) -> dict[str, str]:
    """Return the properties of Kafka's clients: the options `properties.*`."""
    return {
        key.removeprefix(PROPERTIES): value
        for key, value in table.options.items()
        if key.startswith(PROPERTIES)
    }


def know_properties(options: Options) -> None:
    """Accept the properties, and require the servers."""
    options.get(_SERVERS)
    options.under(PROPERTIES)


def topics(options: Options) -> tuple[str, ...]:
    """Return the names of the option 'topic'."""
    return names(options.get(TOPIC, ""))


def names(given: str) -> tuple[str, ...]:
    """Return the names of a list such as 'a;b'.

    >>> names("a; b")
    ('a', 'b')
    """
    return tuple(filter(None, map(str.strip, given.split(";"))))


def table_source_settings(options: Options, table: TableRequest) -> KafkaSourceSettings:
    """Return what is read. Raises ConfigurationError for options that do not fit together."""
    know_properties(options)
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
    names, pattern = topics(options), options.get(TOPIC_PATTERN)
    if bool(names) == (pattern is not None):
        raise ConfigurationError(
            "requires one of the options 'topic' and 'topic-pattern'",
            who=table.who,
            got="both" if names else "none",
        )
    return Subscription(pattern=pattern) if pattern is not None else Subscription(topics=names)


def _startup(options: Options, subscription: Subscription, reset: str) -> KafkaOffsetsInitializer:
    specific, time = options.get(STARTUP_OFFSETS), options.get(STARTUP_TIME)
    found: dict[str, Callable[[], KafkaOffsetsInitializer]] = {
        "earliest-offset": KafkaOffsetsInitializer.earliest,
        "latest-offset": KafkaOffsetsInitializer.latest,
        "group-offsets": lambda: KafkaOffsetsInitializer.committed_offsets(_strategy(options, reset)),
        "timestamp": lambda: KafkaOffsetsInitializer.timestamp(_needed(options, time, STARTUP, STARTUP_TIME)),
        "specific-offsets": lambda: _specific(
            options, subscription, _needed(options, specific, STARTUP, STARTUP_OFFSETS), STARTUP
        ),
    }
    return found[options.get(STARTUP)]()


def _bounded(options: Options, subscription: Subscription) -> KafkaOffsetsInitializer | None:
    mode = options.get(_BOUNDED)
    specific, time = options.get(_BOUNDED_OFFSETS), options.get(_BOUNDED_TIME)
    if mode == "unbounded":
        return None
    found: dict[str, Callable[[], KafkaOffsetsInitializer]] = {
        "latest-offset": KafkaOffsetsInitializer.latest,
        "group-offsets": lambda: KafkaOffsetsInitializer.committed_offsets(KafkaOffsetResetStrategy.LATEST),
        "timestamp": lambda: KafkaOffsetsInitializer.timestamp(
            _needed(options, time, _BOUNDED, _BOUNDED_TIME)
        ),
        "specific-offsets": lambda: _specific(
            options, subscription, _needed(options, specific, _BOUNDED, _BOUNDED_OFFSETS), _BOUNDED
        ),
    }
    return found[mode]()


def _strategy(options: Options, reset: str) -> KafkaOffsetResetStrategy:
    try:
        return KafkaOffsetResetStrategy[reset.strip().upper()]
    except KeyError:
        raise options.wrong("properties.auto.offset.reset", "one of earliest, latest, none") from None


def _needed(options: Options, value: T | None, mode: Option[str], option: Option[T]) -> T:
    if value is None:
        raise options.wrong(mode.key, f"the option '{option.key}' for such a value")
    return value


def _specific(
    options: Options, subscription: Subscription, offsets: _Offsets, mode: Option[str]
) -> KafkaOffsetsInitializer:
    if len(subscription.topics) != 1:
        raise options.wrong(mode.key, "a single topic for such a value")
    topic = subscription.topics[0]
    return KafkaOffsetsInitializer.offsets(
        {KafkaTopicPartition(topic, partition): offset for partition, offset in offsets.items()}
    )
