"""The settings of a Kafka sink."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from firesteel.common.errors import ConfigurationError
from firesteel.connectors.kafka.settings import Properties, Property, checked_properties
from firesteel.functions.sink import DeliveryGuarantee

DEFAULT_PREFIX: Final = "firesteel"

_PATIENCE: Final = Property(
    "max.block.ms", "milliseconds", "How long a call is repeated that the brokers do not answer.", "60000"
)
_TIMEOUT: Final = Property(
    "transaction.timeout.ms",
    "milliseconds",
    "How long producing an epoch may take; the broker's `transaction.max.timeout.ms` is the limit.",
    "300000",
)
_LARGEST: Final = Property(
    "max.request.size", "bytes", "How large a record may be, if that is less than its topic takes."
)
_CHOICES: Final = ("fail", "publish", "skip")
_UNKNOWN_EPOCH: Final = Property(
    "firesteel.unknown.epoch",
    f"one of {', '.join(_CHOICES)}",
    "What becomes of an epoch of which the broker cannot know any more whether it was published.",
    _CHOICES[0],
)

SINK_PROPERTIES: Final = (_PATIENCE, _TIMEOUT, _LARGEST, _UNKNOWN_EPOCH)
"""The properties that the sink itself follows."""

_DECIDED: Final = {
    DeliveryGuarantee.EXACTLY_ONCE: ("transactional.id", "enable.idempotence", "acks"),
    DeliveryGuarantee.AT_LEAST_ONCE: ("transactional.id",),
    DeliveryGuarantee.NONE: ("transactional.id",),
}
"""Properties that each guarantee decides."""


@dataclass(frozen=True, slots=True)
class KafkaSinkSettings:
    """Everything about a Kafka sink but how its records are made; picklable. Times are milliseconds.

    `who` names the sink and its topic in errors. `properties` are those of the clients. A
    call that the broker does not answer is tried again for `patience_ms`. A record has at most `largest` bytes, if that
    is given, and never more than its topic takes. `unknown_epoch` says what happens to an epoch of which the broker
    cannot know any more whether it was published: "fail", "publish" or "skip".
    """

    properties: Properties
    who: str
    guarantee: DeliveryGuarantee
    prefix: str
    patience_ms: int
    transaction_timeout_ms: int
    largest: int | None
    unknown_epoch: str

    def transactional_id(self, job_id: str, operator_id: str) -> str:
        """Return the name of this sink of a job: its transactional id, and the group that has its last epoch."""
        scope = hashlib.blake2b(f"{job_id}\0{operator_id}".encode(), digest_size=8).hexdigest()
        return f"{self.prefix}-{scope}"


def sink_settings(
    properties: Mapping[str, str], who: str, guarantee: DeliveryGuarantee, prefix: str | None
) -> KafkaSinkSettings:
    """Return the settings of properties. Raises ConfigurationError for what is missing or wrong.

    >>> servers = {"bootstrap.servers": "kafka:9092"}
    >>> sink_settings(servers, "KafkaSink", DeliveryGuarantee.EXACTLY_ONCE, "shop").transactional_id("job", "sink")
    'shop-1a5db186c712d543'
    """
    if not properties.get("bootstrap.servers"):
        raise ConfigurationError("requires bootstrap servers", who=who)
    if guarantee is DeliveryGuarantee.EXACTLY_ONCE and not prefix:
        raise ConfigurationError("requires a prefix of transactional ids", who=who, got=repr(prefix))
    taken = [name for name in _DECIDED[guarantee] if name in properties]
    if taken:
        raise ConfigurationError(
            "requires properties that its guarantee does not decide", who=who, got=", ".join(taken)
        )
    unknown = properties.get(_UNKNOWN_EPOCH.key, _UNKNOWN_EPOCH.default)
    if unknown not in _CHOICES:
        raise ConfigurationError(
            f"requires {_UNKNOWN_EPOCH.what} as {_UNKNOWN_EPOCH.key!r}", who=who, got=repr(unknown)
        )
    own = {known.key for known in SINK_PROPERTIES}
    return KafkaSinkSettings(
        checked_properties({name: text for name, text in properties.items() if name not in own}, who),
        who,
        guarantee,
        prefix or "",
        _number(properties, _PATIENCE, who) or _PATIENCE.milliseconds,
        _number(properties, _TIMEOUT, who) or _TIMEOUT.milliseconds,
        _number(properties, _LARGEST, who),
        unknown,
    )


def _number(properties: Mapping[str, str], wanted: Property, who: str) -> int | None:
    given = properties.get(wanted.key)
    if given is None:
        return None
    if not given.strip().isdecimal() or int(given) == 0:
        raise ConfigurationError(
            f"requires a whole number above 0 as {wanted.key!r}", who=who, got=repr(given)
        )
    return int(given)
