"""Links and events of matches, and the tables in which those of long matches are stored; see `matches`.

Links and events are read when they are needed. They are written once and never change; counts of those who refer to
them are stored only if they are not 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

UNREAD: Final[Any] = object()
"""Stands for what is not read yet."""

NO_LINK: Final = -1


class Table(Protocol):
    """Entries of the current key by number; a MapState is one."""

    def get(self, key: Any) -> Any:
        """Return an entry; None if there is none."""

    def put(self, key: Any, value: Any) -> None:
        """Write an entry."""

    def remove(self, key: Any) -> None:
        """Remove an entry, if there is one."""


class Tables(NamedTuple):
    """Where the matches of a key are stored.

    `links` has the number of the link before, the name of the step and the number of the event.
    """

    links: Table
    events: Table
    link_counts: Table
    event_counts: Table


class Young(NamedTuple):
    """How many links of a key are stored in its summary at the most, and what makes bytes of their events, and back."""

    most: int
    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]


class Event:
    """An event that was taken; numbers rise in the order of events.

    `data` are its bytes, if they are known. `uses` and `stored` are as those of a link.
    """

    __slots__ = ("data", "number", "stored", "uses", "value")

    def __init__(
        self, number: int, value: Any, uses: int = 0, stored: int = 0, data: bytes | None = None
    ) -> None:
        self.number = number
        self.value = value
        self.uses = uses
        self.stored = stored
        self.data = data


class Link:
    """An event in a match, for the step `name`, and what was before it.

    `uses` is how many links and matches refer to it, `stored` how many there were when it was last written to the
    tables; 0 if it is not there. `number` is that in the tables, or, if it is young, that in the summary. `totals` is
    what conditions have added up so far, for those who want it; it is never stored.
    """

    __slots__ = ("event", "name", "number", "previous", "stored", "totals", "uses")

    def __init__(self, previous: Link | None, name: str, event: Event) -> None:
        self.previous = previous
        self.name = name
        self.event = event
        self.uses = self.stored = 0
        self.number = NO_LINK
        self.totals: dict[object, Any] | None = None


T = TypeVar("T", Link, Event)


class _Shelf(Generic[T]):
    """The stored links, or the stored events, of a key: those that are known, and what has changed.

    `shared` is how many counts are stored: if none is, none is looked for.
    """

    __slots__ = ("_changed", "_counts", "_gone", "entries", "known", "shared")

    def __init__(self, entries: Table, counts: Table, shared: int) -> None:
        self.entries = entries
        self.known: dict[int, T] = {}
        self.shared = shared
        self._counts = counts
        self._changed: dict[int, T] = {}
        self._gone: list[T] = []

    def uses(self, number: int) -> int:
        """Return how many refer to an entry."""
        return (self._counts.get(number) or 1) if self.shared else 1

    def put(self, number: int, thing: T, entry: Any) -> None:
        """Write an entry."""
        self.entries.put(number, entry)
        thing.stored = 1
        self.known[number] = self._changed[number] = thing

    def note(self, thing: T) -> None:
        """Take note that others refer to a stored thing than before, or nobody does."""
        if thing.uses:
            self._changed[thing.number] = thing
        else:
            self._gone.append(thing)
            self._changed.pop(thing.number, None)

    def settle(self) -> None:
        """Write counts, and remove what is gone."""
        for number, thing in self._changed.items():
            if thing.uses != thing.stored:
                self._count(number, thing.stored, thing.uses)
                thing.stored = thing.uses
        for thing in self._gone:
            self._count(thing.number, thing.stored, 1)
            self.entries.remove(thing.number)
            del self.known[thing.number]
        self._changed.clear()
        self._gone.clear()

    def _count(self, number: int, before: int, now: int) -> None:
        if now != 1:
            self._counts.put(number, now)
        elif before != 1:
            self._counts.remove(number)
        self.shared += (now != 1) - (before != 1)


class Shelves:
    """The stored links and events of a key."""

    __slots__ = ("events", "links")

    def __init__(self, tables: Tables, links: int, events: int) -> None:
        self.links: _Shelf[Link] = _Shelf(tables.links, tables.link_counts, links)
        self.events: _Shelf[Event] = _Shelf(tables.events, tables.event_counts, events)

    def link(self, number: int) -> Link:
        """Return a stored link, which may be unread."""
        link = self.links.known.get(number)
        if link is None:
            link = self.links.known[number] = Link(None, "", UNREAD)
            link.number = number
            link.stored = 1
        return link

    def read(self, link: Link) -> None:
        """Read a link."""
        previous, link.name, number = self.links.entries.get(link.number)
        link.previous = None if previous == NO_LINK else self.link(previous)
        link.uses = link.stored = self.links.uses(link.number)
        event = self.events.known.get(number)
        if event is None:
            uses = self.events.uses(number)
            event = self.events.known[number] = Event(number, UNREAD, uses, uses)
        link.event = event

    def settle(self) -> None:
        """Write counts, and remove what is gone."""
        self.links.settle()
        self.events.settle()
