"""The expiry of state with a time to live, and its stored form.

Flink: TtlValue, TtlUtils, AbstractTtlDecorator. Each part that expires separately (a value, a list element, a map
entry) is kept as a pair of the value and its stamp, the processing time of its last access. In the store the stamp (8
bytes, big-endian, signed) comes before the bytes of the value; None has no bytes. Time does not change within an epoch,
so a repeated epoch expires the same entries.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final

from firesteel.common.typeinfo import TypeInformation
from firesteel.state.keys.composite import state_prefix
from firesteel.state.ttl import StateTtlConfig
from firesteel.state.values.chunks import join_elements, split_elements
from firesteel.state.values.codecs import ValueCodec
from firesteel.state.values.schemas import Schema

Stamped = tuple[Any, int]
"""A value and its stamp (milliseconds)."""

STAMP_SIZE: Final = 8
_pack_stamp: Final = struct.Struct(">q").pack
_unpack_stamp: Final = struct.Struct(">q").unpack_from


class Expiry:
    """The rule by which one state expires, with its clock.

    `now` is the epoch's processing time (milliseconds); a stamp at or before `horizon` is expired. `refreshes`:
    reading sets a new stamp. `returns_expired`: an expired value can be read until it is removed.

    >>> from firesteel.common.time import Time
    >>> expiry = Expiry(StateTtlConfig.new_builder(Time.seconds(1)).build(), now=5000)
    >>> expiry.shows(("a", 4001)), expiry.shows(("a", 4000))
    (True, False)
    """

    __slots__ = ("_ttl", "config", "horizon", "now", "refreshes", "returns_expired")

    def __init__(self, config: StateTtlConfig, now: int) -> None:
        self.config = config
        self._ttl = config.get_ttl().to_milliseconds()
        self.refreshes = config.get_update_type() is StateTtlConfig.UpdateType.OnReadAndWrite
        self.returns_expired = (
            config.get_state_visibility() is StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp
        )
        self.begin(now)

    def begin(self, now: int) -> None:
        """Set the clock."""
        self.now = now
        self.horizon = now - self._ttl

    def shows(self, stamped: Stamped) -> bool:
        """Return whether a value can be read."""
        return self.returns_expired or stamped[1] > self.horizon

    def fold(self, function: Callable[[Any, Any], Any]) -> Callable[[Stamped, Stamped], Stamped]:
        """Lift a function of two values to stamped values; expired ones are left out (Flink: TtlReduceFunction)."""

        def folded(one: Stamped, two: Stamped) -> Stamped:
            horizon = self.horizon
            if self.returns_expired or (one[1] > horizon and two[1] > horizon):
                return function(one[0], two[0]), self.now
            if two[1] > horizon:
                return two[0], self.now
            return (one[0], self.now) if one[1] > horizon else one

        return folded


class StampedCodec(ValueCodec):
    """Converts stamped values to bytes and back; `schema`, `own` and `lend` are those of the value."""

    __slots__ = ()

    def __init__(self, type_info: TypeInformation | None, who: str) -> None:
        super().__init__(type_info, who)
        coerce, encode, decode = self.coerce, self.encode, self.decode

        def encode_stamped(stamped: Stamped) -> bytes:
            value, stamp = stamped
            return _pack_stamp(stamp) if value is None else _pack_stamp(stamp) + encode(value)

        def decode_stamped(data: bytes) -> Stamped:
            body = data[STAMP_SIZE:]
            return (decode(body) if body else None), _unpack_stamp(data)[0]

        if coerce is not None:
            self.coerce = lambda stamped: (coerce(stamped[0]), stamped[1])
        self.encode = encode_stamped
        self.encode_all = self._encode_all_stamped
        self.decode = decode_stamped

    def encode_nullable(self, value: Any) -> bytes:
        """Encode a stamped value or a stamped None."""
        return self.encode(value)

    def decode_nullable(self, data: bytes) -> Any:
        """Return what `encode_nullable` was given."""
        return self.decode(data)

    def _encode_all_stamped(self, values: list[Any]) -> Iterable[bytes]:
        return map(self.encode, values)


@dataclass(frozen=True)
class ExpiryRule:
    """Decides which stored entries of one state are expired; `ttl_ms` is the time to live in milliseconds.

    The composite keys of the state start with `prefix`. A value starts with its stamp: the time of its last access in
    milliseconds, as 8 bytes, big-endian and signed. Stamps are never negative, so their bytes have the same order, and
    an entry is expired at `now` if and only if ``value[:8] <= rule.limit(now)``. This works on a whole Arrow column
    (`binary_slice(values, 0, 8)`, `less_equal`). With `in_chunks` (lists) a value is a chunk of elements, each with its
    own stamp; then use `kept`, which returns what is left.
    """

    state_id: int
    ttl_ms: int
    in_chunks: bool

    @property
    def prefix(self) -> bytes:
        """The prefix of the composite keys of the state."""
        return state_prefix(self.state_id)

    def limit(self, now_ms: int) -> bytes:
        """Return the last stamp that is expired at `now_ms`, as bytes; it is before all stamps if none is expired.

        >>> ExpiryRule(state_id=1, ttl_ms=1000, in_chunks=False).limit(5000).hex()
        '0000000000000fa0'
        """
        return _pack_stamp(now_ms - self.ttl_ms) if now_ms >= self.ttl_ms else b""

    def kept(self, value: bytes, now_ms: int) -> bytes | None:
        """Return the part of a stored value that is not expired at `now_ms`: the value, a shorter chunk, or None."""
        limit = self.limit(now_ms)
        if not self.in_chunks:
            return None if value[:STAMP_SIZE] <= limit else value
        elements = split_elements(value)
        live = [element for element in elements if element[:STAMP_SIZE] > limit]
        if len(live) == len(elements):
            return value
        return join_elements(live) if live else None

    def is_expired(self, value: bytes, now_ms: int) -> bool:
        """Return whether a stored value is completely expired at `now_ms`."""
        return self.kept(value, now_ms) is None


def expiry_rule(schema: Schema) -> ExpiryRule | None:
    """Return the rule by which compaction may drop the expired entries of a state, from its recorded schema.

    None if the state does not expire (timers never do), if its time to live was not recorded, or if the program
    disables clean-up (`disable_cleanup_in_background` and no strategy).

    `now` must be the processing time of a committed epoch: time continues from there, so dropped entries
    could not be seen again.
    """
    ttl = schema.get("ttl")
    return recorded_expiry(schema) if isinstance(ttl, dict) and ttl["cleanup"] else None


def recorded_expiry(schema: Schema) -> ExpiryRule | None:
    """Return the rule by which a state expires, even if clean-up is disabled; None as for `expiry_rule`."""
    ttl = schema.get("ttl")
    return ExpiryRule(schema["id"], ttl["ms"], schema["kind"] == "list") if isinstance(ttl, dict) else None


def ttl_schema(config: StateTtlConfig) -> Schema:
    """Return the time to live of a state as a manifest records it.

    >>> from firesteel.common.time import Time
    >>> ttl_schema(StateTtlConfig.new_builder(Time.seconds(1)).build())
    {'ms': 1000, 'update': 'OnCreateAndWrite', 'visibility': 'NeverReturnExpired', 'cleanup': True}
    """
    strategies = config.get_cleanup_strategies()
    return {
        "ms": config.get_ttl().to_milliseconds(),
        "update": config.get_update_type().name,
        "visibility": config.get_state_visibility().name,
        "cleanup": strategies.is_cleanup_in_background()
        or strategies.in_full_snapshot()
        or strategies.get_incremental_cleanup_strategy() is not None
        or strategies.get_rocksdb_compact_filter_cleanup_strategy() is not None,
    }
