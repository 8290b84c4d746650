"""What a source is told: which partitions, from where to where, and how it behaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from firesteel.common.errors import ConfigurationError
from firesteel.connectors.kafka.settings import Properties, Property, checked_properties
from firesteel.connectors.kafka.source.offsets import KafkaOffsetsInitializer
from firesteel.connectors.kafka.source.subscription import Subscription
from firesteel.functions.source import Boundedness

_RESETS: Final = ("earliest", "latest", "none")
_RESET: Final = Property(
    "auto.offset.reset",
    f"one of {', '.join(_RESETS)}",
    "With `earliest`, reading goes on behind what retention has deleted before it was read. In SQL it also says where "
    "a partition begins of which the group has committed no offset, for `group-offsets`.",
    "none",
)
_COMMITS: Final = Property(
    "commit.offsets.on.checkpoint",
    "true or false",
    "Whether the offsets of each epoch are committed to the group, if there is one.",
    "true",
)
_DISCOVERY: Final = Property(
    "partition.discovery.interval.ms",
    "milliseconds",
    "How often new partitions, and new topics of a pattern, are looked for; 0: never.",
    "300000",
)
_PATIENCE: Final = Property(
    "default.api.timeout.ms",
    "milliseconds",
    "How long a cluster is waited for that does not answer.",
    "60000",
)
_CLIENT: Final = Property("client.id.prefix", "a text", "The client's name, without `client.id`.")
_GROUP: Final = Property("group.id", "a text", "The consumer group, which committed offsets need.")
_ISOLATION: Final = Property(
    "isolation.level",
    "one of read_uncommitted, read_committed",
    "Whether records of transactions that are open or aborted are read.",
    "read_uncommitted",
)
_IGNORED: Final = tuple(
    Property(name, "anything", "Changes nothing: the job itself commits offsets, and has its own metrics.")
    for name in ("enable.auto.commit", "auto.commit.interval.ms", "register.consumer.metrics")
)

SOURCE_PROPERTIES: Final = (
    *(_GROUP, _ISOLATION, _RESET, _COMMITS, _DISCOVERY, _PATIENCE, _CLIENT),
    *_IGNORED,
)
"""The properties that the source itself follows."""


@dataclass(frozen=True)
class KafkaSourceSettings:
    """What a source reads; `properties` are in the form of `checked_properties`, without those of the source itself.

    Reading of each partition ends at `stop`; the source is at its end when all of them are, if it is `bounded` or does
    not look for new ones. It looks for them every `discovery_ms` (0: only at first). With `forgiving`, reading goes on
    where the log begins if retention has deleted what comes next. With `commits`, offsets are committed to the group.
    """

    properties: Properties
    subscription: Subscription
    start: KafkaOffsetsInitializer
    stop: KafkaOffsetsInitializer | None
    bounded: bool = False
    discovery_ms: int = _DISCOVERY.milliseconds
    patience_ms: int = _PATIENCE.milliseconds
    commits: bool = True
    forgiving: bool = False
    who: str = "KafkaSource"

    @property
    def group(self) -> str | None:
        """The consumer group."""
        return dict(self.properties).get(_GROUP.key)

    @property
    def committed_only(self) -> bool:
        """Whether only what transactions have committed is read."""
        return dict(self.properties).get(_ISOLATION.key) == "read_committed"

    @property
    def boundedness(self) -> Boundedness:
        """Whether the source comes to an end."""
        ends = self.bounded or (self.stop is not None and not self.discovery_ms)
        return Boundedness.BOUNDED if ends else Boundedness.CONTINUOUS_UNBOUNDED


def source_settings(
    given: Mapping[str, object],
    subscription: Subscription,
    start: KafkaOffsetsInitializer,
    stop: KafkaOffsetsInitializer | None = None,
    *,
    bounded: bool = False,
    who: str = "KafkaSource",
) -> KafkaSourceSettings:
    """Return the settings of a source with properties of Flink's. Raises ConfigurationError for what cannot be kept."""
    left = dict(given)
    reset = _taken(left, _RESET).lower()
    if reset not in _RESETS:
        raise _wrong(_RESET, reset, who)
    prefix = _taken(left, _CLIENT)
    commits = _taken(left, _COMMITS).lower() == "true"
    patience, discovery = _whole(left, _PATIENCE, who), _whole(left, _DISCOVERY, who)
    for ignored in _IGNORED:
        left.pop(ignored.key, None)
    if prefix:
        left.setdefault("client.id", prefix)
    settings = KafkaSourceSettings(
        checked_properties(left, who),
        subscription,
        start,
        stop,
        bounded=bounded,
        discovery_ms=max(discovery, 0),
        patience_ms=patience,
        commits=commits,
        forgiving=reset == "earliest",
        who=who,
    )
    _check(settings)
    return settings


def _check(settings: KafkaSourceSettings) -> None:
    if not dict(settings.properties).get("bootstrap.servers"):
        raise ConfigurationError(
            "requires the servers of a cluster",
            who=settings.who,
            got="no property 'bootstrap.servers'",
            hint="such as localhost:9092",
        )
    asks = [one for one in (settings.start, settings.stop) if one is not None and one.needs_group]
    if asks and not settings.group:
        raise ConfigurationError(
            "requires a consumer group for the offsets that it has committed",
            who=settings.who,
            got="no property 'group.id'",
        )


def _taken(left: dict[str, object], wanted: Property) -> str:
    value = left.pop(wanted.key, None)
    return wanted.default if value is None else str(value).strip()


def _whole(left: dict[str, object], wanted: Property, who: str) -> int:
    text = _taken(left, wanted)
    try:
        return int(text)
    except ValueError:
        raise _wrong(wanted, text, who) from None


def _wrong(wanted: Property, got: str, who: str) -> ConfigurationError:
    return ConfigurationError(
        f"requires {wanted.what} as the property {wanted.key!r}", who=who, got=repr(got)
    )
