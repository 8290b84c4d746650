"""What a source is told: which partitions, from where to where, and how it behaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from firesteel.common.errors import ConfigurationError
from firesteel.connectors.kafka.settings import Properties, checked_properties
from firesteel.connectors.kafka.source.offsets import KafkaOffsetsInitializer
from firesteel.connectors.kafka.source.subscription import Subscription
from firesteel.functions.source import Boundedness

_DISCOVERY_MS: Final = 300_000
_PATIENCE_MS: Final = 60_000

_RESETS: Final = ("earliest", "latest", "none")


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
    discovery_ms: int = _DISCOVERY_MS
    patience_ms: int = _PATIENCE_MS
    commits: bool = True
    forgiving: bool = False
    who: str = "KafkaSource"

    @property
    def group(self) -> str | None:
        """The consumer group."""
        return dict(self.properties).get("group.id")

    @property
    def committed_only(self) -> bool:
        """Whether only what transactions have committed is read."""
        return dict(self.properties).get("isolation.level") == "read_committed"

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
    reset = _taken(left, "auto.offset.reset", "none").lower()
    if reset not in _RESETS:
        raise _wrong("auto.offset.reset", f"one of {', '.join(_RESETS)}", reset, who)
    prefix = _taken(left, "client.id.prefix", "")
    commits = _taken(left, "commit.offsets.on.checkpoint", "true").lower() == "true"
    patience = _whole(left, "default.api.timeout.ms", _PATIENCE_MS, who)
    discovery = _whole(left, "partition.discovery.interval.ms", _DISCOVERY_MS, who)
    # The job itself commits offsets, when an epoch is committed.
    for name in ("enable.auto.commit", "auto.commit.interval.ms", "register.consumer.metrics"):
        left.pop(name, None)
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


def _taken(left: dict[str, object], name: str, default: str) -> str:
    value = left.pop(name, None)
    return default if value is None else str(value).strip()


def _whole(left: dict[str, object], name: str, default: int, who: str) -> int:
    text = _taken(left, name, str(default))
    try:
        return int(text)
    except ValueError:
        raise _wrong(name, "milliseconds", text, who) from None


def _wrong(name: str, requirement: str, got: str, who: str) -> ConfigurationError:
    return ConfigurationError(f"requires {requirement} as the property {name!r}", who=who, got=repr(got))
