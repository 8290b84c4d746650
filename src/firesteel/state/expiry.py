"""When state with a time to live expires, and the form in which it is kept.

Flink: TtlValue, TtlUtils, AbstractTtlDecorator. Whatever may expire on its own (a value, an element of a list, an entry
of a map) is kept as a pair of the value and the processing time of its last access, called its stamp; in the store the
stamp (8 bytes, big-endian, signed) comes before the value's own bytes, of which None has none. Time stands still
within an epoch, so that an epoch that is run again expires the same.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any, Final

from firesteel.common.typeinfo import TypeInformation
from firesteel.state.codecs import ValueCodec
from firesteel.state.ttl import StateTtlConfig

Stamped = tuple[Any, int]
"""A value and its stamp (milliseconds)."""

STAMP_SIZE: Final = 8
_pack_stamp: Final = struct.Struct(">q").pack
_unpack_stamp: Final = struct.Struct(">q").unpack_from


class Expiry:
    """The rule by which one state expires, and the clock it goes by.

    `now` is the epoch's processing time (milliseconds); what has a stamp of `horizon` or before is expired.
    `refreshes`: reading gives a new stamp. `returns_expired`: what is expired may be read as long as it is there.

    >>> from firesteel.common.time import Time
    >>> expiry = Expiry(StateTtlConfig.new_builder(Time.seconds(1)).build(), now=5000)
    >>> expiry.shows(("a", 4001)), expiry.shows(("a", 4000))
    (True, False)
    """

    __slots__ = ("_ttl", "horizon", "now", "refreshes", "returns_expired")

    def __init__(self, config: StateTtlConfig, now: int) -> None:
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
        """Tell whether a value may be read."""
        return self.returns_expired or stamped[1] > self.horizon

    def fold(self, function: Callable[[Any, Any], Any]) -> Callable[[Stamped, Stamped], Stamped]:
        """Lift a function of two values to stamped ones; it leaves out the expired (Flink: TtlReduceFunction)."""

        def folded(one: Stamped, two: Stamped) -> Stamped:
            horizon = self.horizon
            if self.returns_expired or (one[1] > horizon and two[1] > horizon):
                return function(one[0], two[0]), self.now
            if two[1] > horizon:
                return two[0], self.now
            return (one[0], self.now) if one[1] > horizon else one

        return folded


class StampedCodec(ValueCodec):
    """How stamped values become bytes; `schema` is that of the value."""

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
        """Encode a stamped value, which may be a stamped None."""
        return self.encode(value)

    def decode_nullable(self, data: bytes) -> Any:
        """Return what `encode_nullable` was given."""
        return self.decode(data)

    def _encode_all_stamped(self, values: list[Any]) -> Iterable[bytes]:
        return map(self.encode, values)
