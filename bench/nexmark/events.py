"""Seeded events of an auction house, as columns, in the proportions of Nexmark.

Of 50 events one is a new person, three are new auctions and 46 are bids. Half of the bids go to the hot auction, the
first of each hundred; three quarters of the bids come from the hot bidder, and three quarters of the auctions from the
hot seller, of each hundred people. The other bids go to one of the last hundred auctions, or to one that comes soon.
Prices are spread evenly over six powers of ten. Texts fill events to 200, 500 and 100 bytes on average (a person, an
auction, a bid), half of the bids come by one of four channels, and nine of ten channels show an id in their address.

Event `n` happens `n / RATE` seconds after `START`: times are logical, so that every run has the same answers. A block
of events depends on the seed and on its number only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

SEED: Final = 20260101
RATE: Final = 10_000
"""Events in a second of event time."""

START: Final = np.datetime64("2026-01-01T07:58:00", "ms").astype(int)
"""In milliseconds since 1970: soon a bid is no longer before daytime."""

BLOCK: Final = 100_000
"""Events that are made at once: whole rounds of 50."""

ROUND: Final = 50
_AUCTIONS: Final = 3
_FIRST_BID: Final = 1 + _AUCTIONS
_FIRST_ID: Final = 1000
_FIRST_CATEGORY: Final = 10
_CATEGORIES: Final = 5
_HOT: Final = 100
_ACTIVE_PEOPLE: Final = 1000
_IN_FLIGHT: Final = 100
_LEAD: Final = 10
_CHANNELS: Final = 10_000
_POOL: Final = 1 << 20

_STATES: Final = ("AZ", "CA", "ID", "OR", "WA", "WY")
_CITIES: Final = (
    *("Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland"),
    *("Bend", "Redmond", "Seattle", "Kent", "Cheyenne"),
)
_FIRST_NAMES: Final = (
    *("Peter", "Paul", "Luke", "John", "Saul", "Vicky"),
    *("Kate", "Julie", "Sarah", "Deiter", "Walter"),
)
_LAST_NAMES: Final = ("Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris")
_HOT_CHANNELS: Final = ("Google", "Facebook", "Baidu", "Apple")

_TIME: Final = pa.timestamp("ms")
PERSON: Final = pa.struct(
    [
        ("id", pa.int64()),
        *((name, pa.string()) for name in ("name", "emailAddress", "creditCard", "city", "state")),
        ("dateTime", _TIME),
        ("extra", pa.string()),
    ]
)
AUCTION: Final = pa.struct(
    [
        ("id", pa.int64()),
        ("itemName", pa.string()),
        ("description", pa.string()),
        ("initialBid", pa.int64()),
        ("reserve", pa.int64()),
        ("dateTime", _TIME),
        ("expires", _TIME),
        ("seller", pa.int64()),
        ("category", pa.int64()),
        ("extra", pa.string()),
    ]
)
BID: Final = pa.struct(
    [
        ("auction", pa.int64()),
        ("bidder", pa.int64()),
        ("price", pa.int64()),
        ("channel", pa.string()),
        ("url", pa.string()),
        ("dateTime", _TIME),
        ("extra", pa.string()),
    ]
)
SCHEMA: Final = pa.schema(
    [("event_type", pa.int32()), ("person", PERSON), ("auction", AUCTION), ("bid", BID)]
)

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Block:
    """The events of a block by kind: their places in the block, and their columns."""

    people: Numbers
    auctions: Numbers
    bids: Numbers
    person: pa.StructArray
    auction: pa.StructArray
    bid: pa.StructArray

    def wide(self) -> pa.RecordBatch:
        """Return the events in their order, as rows with one of three structures each."""
        count = len(self.people) + len(self.auctions) + len(self.bids)
        kinds = np.full(count, 2, np.int32)
        kinds[self.people], kinds[self.auctions] = 0, 1
        parts = (
            (self.people, self.person),
            (self.auctions, self.auction),
            (self.bids, self.bid),
        )
        return pa.RecordBatch.from_arrays(
            [pa.array(kinds), *(_spread(places, rows, count) for places, rows in parts)], schema=SCHEMA
        )


class Events:
    """Makes blocks of events.

    >>> Events().block(0, 50).bid.slice(0, 1).to_pylist()[0]["auction"] >= 1000
    True
    """

    def __init__(self, seed: int = SEED) -> None:
        self._seed = seed
        made = np.random.default_rng([seed])
        self._letters = made.integers(97, 123, _POOL, np.uint8)
        self._words = np.where(made.integers(0, 13, _POOL) == 0, 32, self._letters).astype(np.uint8)
        self._channels, self._urls = self._known_channels(made)

    def block(self, number: int, count: int = BLOCK) -> Block:
        """Return the first `count` events of a block, a multiple of `ROUND`."""
        made = np.random.default_rng([self._seed, number])
        events = np.arange(number * BLOCK, number * BLOCK + count, dtype=np.int64)
        places = events - number * BLOCK
        offset = events % ROUND
        of = [offset == 0, (offset > 0) & (offset < _FIRST_BID), offset >= _FIRST_BID]
        return Block(
            places[of[0]],
            places[of[1]],
            places[of[2]],
            self._people(made, events[of[0]]),
            self._auctions(made, events[of[1]]),
            self._bids(made, events[of[2]]),
        )

    def _people(self, made: np.random.Generator, events: Numbers) -> pa.StructArray:
        count = len(events)
        name = _joined(" ", _one_of(made, _FIRST_NAMES, count), _one_of(made, _LAST_NAMES, count))
        mail = _joined("", self._text(made, count, 3, 7), "@", self._text(made, count, 3, 5), ".com")
        digits = [
            pa.array(made.integers(10_000, 20_000, count)).cast(pa.string()) for _ in range(4)
        ]  # the first digit is left out
        card = _joined(" ", *(pc.utf8_slice_codeunits(part, 1) for part in digits))
        city, state = _one_of(made, _CITIES, count), _one_of(made, _STATES, count)
        extra = self._filling(made, 200 - 8, name, mail, card, city, state)
        columns = [_ids(_last_person(events)), name, mail, card, city, state, _times(events), extra]
        return pa.StructArray.from_arrays(columns, fields=list(PERSON))

    def _auctions(self, made: np.random.Generator, events: Numbers) -> pa.StructArray:
        count = len(events)
        hot = made.integers(0, 4, count) > 0
        seller = np.where(hot, _last_person(events) // _HOT * _HOT, _some_person(made, events))
        ahead = _IN_FLIGHT * ROUND // _AUCTIONS * 1000 // RATE  # until so many auctions have come
        expires = _millis(events) + 1 + made.integers(0, max(2 * ahead, 1), count)
        first, more = _prices(made, count), _prices(made, count)
        name, description = (self._words_of(made, count, most) for most in (20, 100))
        columns = [
            *(_ids(_last_auction(events)), name, description, pa.array(first), pa.array(first + more)),
            *(_times(events), pa.array(expires).view(_TIME), _ids(seller)),
            pa.array(_FIRST_CATEGORY + made.integers(0, _CATEGORIES, count)),
            self._filling(made, 500 - 48, name, description),
        ]
        return pa.StructArray.from_arrays(columns, fields=list(AUCTION))

    def _bids(self, made: np.random.Generator, events: Numbers) -> pa.StructArray:
        count = len(events)
        last = _last_auction(events)
        lowest = np.maximum(last - _IN_FLIGHT, 0)
        some = lowest + made.integers(0, last - lowest + 1 + _LEAD)
        auction = np.where(made.integers(0, 2, count) > 0, last // _HOT * _HOT, some)
        hot = _last_person(events) // _HOT * _HOT + 1
        bidder = np.where(made.integers(0, 4, count) > 0, hot, _some_person(made, events))
        few = made.integers(0, len(_HOT_CHANNELS), count)
        many = len(_HOT_CHANNELS) + made.integers(0, _CHANNELS, count)
        channel = pa.array(np.where(made.integers(0, 2, count) > 0, few, many))
        columns = [
            *(_ids(auction), _ids(bidder), pa.array(_prices(made, count))),
            *(self._channels.take(channel), self._urls.take(channel), _times(events)),
            self._filling(made, 100 - 32, count=count),
        ]
        return pa.StructArray.from_arrays(columns, fields=list(BID))

    def _known_channels(self, made: np.random.Generator) -> tuple[pa.Array, pa.Array]:
        count = len(_HOT_CHANNELS) + _CHANNELS
        parts = [
            pc.replace_substring(self._words_of(made, count, 5, trimmed=False), " ", "_") for _ in range(3)
        ]
        urls = _joined("", "https://www.nexmark.com/", _joined("/", *parts), "/item.htm?query=1")
        ids = pa.array(made.integers(0, 1 << 31, count)).cast(pa.string())
        shown = (made.integers(0, 10, count) > 0) & (np.arange(count) >= len(_HOT_CHANNELS))
        names = [*_HOT_CHANNELS, *(f"channel-{number}" for number in range(_CHANNELS))]
        return pa.array(names), pc.if_else(pa.array(shown), _joined("", urls, "&channel_id=", ids), urls)

    def _words_of(
        self, made: np.random.Generator, count: int, most: int, *, trimmed: bool = True
    ) -> pa.Array:
        texts = self._text(made, count, 3, most, self._words)
        return pc.utf8_trim_whitespace(texts) if trimmed else texts

    def _filling(
        self, made: np.random.Generator, size: int, *others: pa.Array, count: int | None = None
    ) -> pa.Array:
        """Return texts that fill events up to a size on average, give or take a fifth."""
        if others:
            taken = sum(pc.binary_length(column).to_numpy(zero_copy_only=False) for column in others)
            left = size - np.asarray(taken, np.int64)
        else:
            left = np.full(count or 0, size)
        spread = np.round(left * 0.2).astype(np.int64)
        lengths = left - spread + made.integers(0, np.maximum(2 * spread, 1))
        return _cut(made, lengths, self._letters)

    def _text(
        self,
        made: np.random.Generator,
        count: int,
        least: int,
        most: int,
        pool: npt.NDArray[np.uint8] | None = None,
    ) -> pa.Array:
        lengths = made.integers(least, most, count)
        return _cut(made, lengths, self._letters if pool is None else pool)


def _cut(made: np.random.Generator, lengths: Numbers, pool: npt.NDArray[np.uint8]) -> pa.Array:
    """Return texts of these lengths out of a pool of letters."""
    ends = np.cumsum(lengths)
    starts = made.integers(0, len(pool) - int(lengths.max(initial=0)), len(lengths))
    places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - (ends - lengths), lengths)
    offsets = np.concatenate([[0], ends]).astype(np.int32)
    return pa.StringArray.from_buffers(len(lengths), pa.py_buffer(offsets), pa.py_buffer(pool[places]))


def _spread(places: Numbers, rows: pa.StructArray, count: int) -> pa.Array:
    indices = np.zeros(count, np.int64)
    absent = np.ones(count, bool)
    indices[places] = np.arange(len(places))
    absent[places] = False
    return rows.take(pa.array(indices, mask=absent))


def _joined(between: str, *parts: pa.Array | str) -> pa.Array:
    return pc.binary_join_element_wise(*parts, between)


def _one_of(made: np.random.Generator, values: tuple[str, ...], count: int) -> pa.Array:
    return pa.array(values).take(pa.array(made.integers(0, len(values), count)))


def _prices(made: np.random.Generator, count: int) -> Numbers:
    prices: Numbers = np.round(10 ** (made.random(count) * 6) * 100).astype(np.int64)
    return prices


def _millis(events: Numbers) -> Numbers:
    millis: Numbers = START + events * 1000 // RATE
    return millis


def _times(events: Numbers) -> pa.Array:
    return pa.array(_millis(events)).view(_TIME)


def _ids(numbers: Numbers) -> pa.Array:
    return pa.array(numbers + _FIRST_ID)


def _last_person(events: Numbers) -> Numbers:
    return events // ROUND


def _last_auction(events: Numbers) -> Numbers:
    """Return the number of the last auction before or at an event; -1 stands for none."""
    offset = events % ROUND
    whole = events // ROUND * _AUCTIONS
    last: Numbers = whole + np.minimum(offset, _AUCTIONS) - 1
    return last


def _some_person(made: np.random.Generator, events: Numbers) -> Numbers:
    people = _last_person(events) + 1
    active = np.minimum(people, _ACTIVE_PEOPLE)
    some: Numbers = people - active + made.integers(0, active + _LEAD)
    return some
