"""The contents of one state in a snapshot: by key, and in the order of keys."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import Any, Final, NamedTuple

from firesteel.common.errors import StateError
from firesteel.functions.windows import WINDOW_CODEC
from firesteel.queryable.copies import Snapshot
from firesteel.queryable.forms import Form
from firesteel.saved.entries import RowReader, StoredRow, value_type
from firesteel.state.keys.composite import (
    BROADCAST_GROUP,
    KEY_START,
    compose_keyed,
    group_prefix,
    key_segment,
    read_key_segment,
)
from firesteel.state.keys.encoding import NATURAL_TAG, NEGATIVE_TAG, STR_TAG
from firesteel.state.keys.groups import StateKey, key_group, state_key_bytes
from firesteel.state.values.expiry import recorded_expiry
from firesteel.state.values.schemas import Schema

_PLAIN: Final = ("value", "reducing", "aggregating")
_MAPS: Final = ("map", "broadcast")
_STAMP: Final = 8


class _Absent:
    """The type of `ABSENT`."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()
"""What is at a key without state."""


class Windowed(NamedTuple):
    """What a key has in one window; the window is `None` for timers without one."""

    window: Any
    content: Any


class Bounds(NamedTuple):
    """A range of keys as bytes in their order; `prefix` is what all of them begin with."""

    prefix: bytes = b""
    start: bytes = b""
    end: bytes | None = None


class Page(NamedTuple):
    """Some keys with what they have, and where the next page starts (None: this is the last one)."""

    items: list[tuple[Any, Any]]
    next: bytes | None


class Stored(NamedTuple):
    """The entries of one key, as they are stored. A timer, or an entry of broadcast state, stands for itself.

    `place` is where it stands in the order of keys.
    """

    place: bytes
    entries: list[tuple[bytes, bytes]]


class StateContents:
    """Reads one state. What is at a key is in the snapshot's epoch, in a form.

    That is the value, a list of elements, the entries of a map, and a list of `Windowed` for each of them in windows;
    for timers it is a list of `Windowed` with the times (milliseconds). Broadcast state has entries in place of keys.
    Values that had expired by the epoch are left out.
    """

    def __init__(self, snapshot: Snapshot, schema: Schema, form: Form) -> None:
        assert snapshot.entries is not None
        self.who = f"state '{schema['name']}' of {snapshot.operator.who}"
        self._entries = snapshot.entries
        self._snapshot = snapshot
        self._schema = schema
        self._form = form
        self._kind: str = schema["kind"]
        self._scope: str = schema["scope"]
        self._stamped = bool(schema.get("ttl"))
        self._rule = recorded_expiry(schema)
        decoders = snapshot.decoders.get((schema["id"], type(form)))
        if decoders is None:
            decoders = RowReader(schema, WINDOW_CODEC), form.values(value_type(schema), self.who)
            snapshot.decoders[schema["id"], type(form)] = decoders
        self._reader: RowReader = decoders[0]
        self._value: Callable[[bytes], Any] = decoders[1]

    def of(self, keys: Sequence[StateKey]) -> list[Any]:
        """Return what is at each key, `ABSENT` where nothing is."""
        with self._snapshot.turn:
            if self._scope == "keyed" and self._kind in _PLAIN:
                most = self._snapshot.operator.max_parallelism
                return self._single(list(map(compose_keyed(self._schema["id"], most), keys)))
            if self._scope == "broadcast":
                head = group_prefix(self._schema["id"], BROADCAST_GROUP)
                return self._single([head + state_key_bytes(key) for key in keys])
            return [self._together(self._at(key)) for key in keys]

    def entries_of(self, key: StateKey, places: Sequence[StateKey]) -> list[Any]:
        """Return the values of some entries of the map at a key. Raises StateError if the state is no map."""
        self.require_map()
        head = self._head(key)
        with self._snapshot.turn:
            return self._single([head + state_key_bytes(place) for place in places])

    def entries_page(self, key: StateKey | None, after: bytes, most: int) -> Page:
        """Return entries of the map at a key, or of broadcast state (no key), in the order in which they are stored.

        `after` is what the last page named as its `next`; the first one follows ``b""``.
        """
        self.require_map()
        head = self._head(key)
        items: list[tuple[Any, Any]] = []
        with self._snapshot.turn:
            for composite, data in self._live(self._entries.scan(head, head + after)):
                if len(items) == most:
                    return Page(items, composite[len(head) :])
                (row,) = self._reader.rows([(composite, data)])
                items.append((self._form.key(row.place), self._decoded(row)))
        return Page(items, None)

    def page(self, bounds: Bounds, after: bytes, most: int) -> Page:
        """Return up to `most` keys with what they have, in order: numbers first, then texts, then all others.

        `after` is as in `entries_page`.
        """
        if self._scope == "broadcast":
            return self.entries_page(None, after, most)
        if self._scope == "timers":
            return self._page_of_timers(after, most)
        items: list[tuple[Any, Any]] = []
        with self._snapshot.turn:
            for segment, found in groupby(self._merged(bounds, after), lambda entry: entry[0]):
                if len(items) == most:
                    return Page(items, segment)
                content = self._together(self._reader.rows(entry for _, entry in found))
                if content is not ABSENT:
                    items.append((self._form.key(read_key_segment(segment, 0)[0]), content))
        return Page(items, None)

    def stored(self, start: bytes, most: int) -> list[Stored]:
        """Return what is stored at up to `most` keys from a place on, in the order of keys, but what has expired."""
        with self._snapshot.turn:
            entries = self._entries_in_order(start)
            return [
                Stored(place, [entry for _, entry in found])
                for place, found in islice(groupby(entries, lambda entry: entry[0]), most)
            ]

    def key_of(self, stored: Stored) -> Any:
        """Return the key of what is stored, in the form."""
        row = next(iter(self._reader.rows(stored.entries)))
        if self._scope == "broadcast":
            return self._form.key(row.place)
        return self._form.key(row.key or "")

    def content_of(self, stored: Stored) -> Any:
        """Return what is stored, in the form."""
        rows = self._reader.rows(stored.entries)
        return next(map(self._decoded, rows)) if self._scope == "broadcast" else self._together(rows)

    def group_sizes(self, most: int) -> Iterator[tuple[int, int, bool]]:
        """Yield for each key group how many entries it has, their bytes, and whether that are all.

        At most so many entries of a group are counted; others may read between two groups.
        """
        for group in range(self._snapshot.operator.max_parallelism):
            with self._snapshot.turn:
                found = self._entries.scan(group_prefix(self._schema["id"], group))
                sizes = [len(key) + len(data) for key, data in islice(found, most + 1)]
            yield min(len(sizes), most), sum(sizes[:most]), len(sizes) <= most

    def require_map(self) -> None:
        """Raise StateError unless the state has entries."""
        if self._kind not in _MAPS or self._scope == "windowed":
            raise StateError("has no entries", who=self.who, got=f"a state of the kind {self._kind}")

    def _head(self, key: StateKey | None) -> bytes:
        if key is None:
            return group_prefix(self._schema["id"], BROADCAST_GROUP)
        group = key_group(key, self._snapshot.operator.max_parallelism)
        return group_prefix(self._schema["id"], group) + key_segment(key)

    def _single(self, composites: list[bytes]) -> list[Any]:
        found = self._entries.get_many(sorted(composites))
        if self._stamped:
            found = dict(self._live(found.items()))
            return [
                self._value(data[_STAMP:]) if (data := found.get(composite)) is not None else ABSENT
                for composite in composites
            ]
        value, get = self._value, found.get
        return [ABSENT if (data := get(composite)) is None else value(data) for composite in composites]

    def _at(self, key: StateKey) -> Iterator[StoredRow]:
        if self._scope != "timers":
            return self._reader.rows(self._live(self._entries.scan(self._head(key))))
        group = key_group(key, self._snapshot.operator.max_parallelism)
        rows = self._reader.rows(self._entries.scan(group_prefix(self._schema["id"], group)))
        return (row for row in rows if row.key == key)

    def _live(self, entries: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
        """Leave out what has expired."""
        rule, now = self._rule, self._snapshot.now
        if rule is None:
            yield from entries
            return
        for composite, data in entries:
            left = rule.kept(data, now)
            if left is not None:
                yield composite, left

    def _entries_in_order(self, start: bytes) -> Iterator[tuple[bytes, tuple[bytes, bytes]]]:
        """Yield all entries from a place on, in the order of places, each after its place."""
        if self._scope == "broadcast":
            head = group_prefix(self._schema["id"], BROADCAST_GROUP)
            found = self._live(self._entries.scan(head, head + start))
            return ((entry[0][len(head) :], entry) for entry in found)
        if self._scope == "timers":
            heads = [
                group_prefix(self._schema["id"], group)
                for group in range(self._snapshot.operator.max_parallelism)
            ]
            parts = [
                ((entry[0][KEY_START:], entry) for entry in self._entries.scan(head, head + start))
                for head in heads
            ]
            return heapq.merge(*parts, key=lambda entry: entry[0])
        return self._merged(Bounds(), start)

    def _merged(self, bounds: Bounds, after: bytes) -> Iterator[tuple[bytes, tuple[bytes, bytes]]]:
        """Yield the entries of a range of keys, in the order of keys, each with the segment of its key."""
        start = max(bounds.start, after)
        parts = [
            self._within(group_prefix(self._schema["id"], group), bounds, start)
            for group in range(self._snapshot.operator.max_parallelism)
        ]
        return heapq.merge(*parts, key=lambda entry: entry[1][0][KEY_START:])

    def _within(
        self, head: bytes, bounds: Bounds, start: bytes
    ) -> Iterator[tuple[bytes, tuple[bytes, bytes]]]:
        last, segment = None, b""
        for entry in self._live(self._entries.scan(head + bounds.prefix, head + start)):
            composite = entry[0]
            if last is None or not composite.startswith(last):
                _, end = read_key_segment(composite, KEY_START)
                last, segment = composite[:end], composite[KEY_START:end]
                if bounds.end is not None and segment >= bounds.end:
                    return
            yield segment, entry

    def _page_of_timers(self, after: bytes, most: int) -> Page:
        items: list[tuple[Any, Any]] = []
        groups = range(self._snapshot.operator.max_parallelism)
        with self._snapshot.turn:
            scans = (self._timers_of(group, after) for group in groups)
            for place, row in heapq.merge(*scans, key=lambda timer: timer[0]):
                if len(items) == most:
                    return Page(items, place)
                window = None if row.namespace is None else self._form.window(row.namespace)
                items.append((self._form.key(row.key or ""), [Windowed(window, row.place)]))
        return Page(items, None)

    def _timers_of(self, group: int, after: bytes) -> Iterator[tuple[bytes, StoredRow]]:
        head = group_prefix(self._schema["id"], group)
        for composite, data in self._entries.scan(head, head + after):
            (row,) = self._reader.rows([(composite, data)])
            yield composite[KEY_START:], row

    def _together(self, rows: Iterable[StoredRow]) -> Any:
        """Return what rows of one key come to."""
        if self._scope == "timers":
            timers = [
                Windowed(None if row.namespace is None else self._form.window(row.namespace), row.place)
                for row in rows
            ]
            return timers or ABSENT
        if self._scope != "windowed":
            return self._content(rows)
        found = groupby(rows, key=lambda row: row.namespace)
        return [Windowed(self._form.window(window), self._content(mine)) for window, mine in found] or ABSENT

    def _content(self, rows: Iterable[StoredRow]) -> Any:
        if self._kind in _PLAIN:
            return next(map(self._decoded, rows), ABSENT)
        if self._kind == "list":
            return list(map(self._decoded, rows)) or ABSENT
        pairs = [(self._form.key(row.place), self._decoded(row)) for row in rows]
        return self._form.mapping(pairs) if pairs else ABSENT

    def _decoded(self, row: StoredRow) -> Any:
        return self._value(row.value) if row.value else None


def keys_within(prefix: str | None, start: StateKey | None, end: StateKey | None, who: str) -> Bounds:
    """Return the bounds of keys: texts with a prefix, or numbers or texts from `start` to before `end`.

    Raises StateError for keys without an order, and for two kinds of them.

    >>> keys_within("us", None, None, "state 'a'").prefix, keys_within(None, 3, 5, "state 'a'").start.hex()
    (b'\\tus', '060000000000000003')
    """
    if prefix is not None:
        if start is not None or end is not None:
            raise StateError("has keys with a prefix, or from one to another", who=who, got="both")
        return Bounds(_start_of(prefix))
    kinds = {type(bound) for bound in (start, end) if bound is not None}
    if not kinds:
        return Bounds()
    if len(kinds) > 1 or not kinds <= {str, int}:
        raise StateError(
            "has ranges of keys that are texts, or numbers", who=who, got=f"{start!r} to {end!r}"
        )
    first, last = _ORDERS[kinds.pop()]
    return Bounds(
        start=first if start is None else _start_of(start), end=last if end is None else _start_of(end)
    )


def _start_of(key: Any) -> bytes:
    segment = key_segment(key)
    return segment[:-2] if type(key) is str else segment


_ORDERS: Final[dict[type, tuple[bytes, bytes]]] = {
    str: (STR_TAG, bytes([STR_TAG[0] + 1])),
    int: (bytes([NEGATIVE_TAG]), bytes([NATURAL_TAG + 1])),
}
"""Where the keys of a kind begin, and where they end."""
