"""The partial matches of one key, and the events they share (Flink: NFAState, SharedBuffer).

A match is a chain of **links**, from its last event to its first. Partial matches with a common past share its links.
In Flink, edges of a buffer carry versions that say which belong to a match; a chain says it by itself. Links and events
are counted by who refers to them, so they go when nobody does.

Contract: changes are made in memory, and `settle` writes them to the `Tables`, which change in no other way. Links and
events are read when they are needed. They are written once and never change, so a long match costs what is new in it;
counts are stored only if they are not 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from firesteel.runtime.patterns.java_queue import JavaQueue

_UNREAD: Final[Any] = object()
_NO_LINK: Final = -1


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


class Event:
    """An event that was taken; numbers rise in the order of events."""

    __slots__ = ("number", "stored", "uses", "value")

    def __init__(self, number: int, value: Any, uses: int = 0, stored: int = 0) -> None:
        self.number = number
        self.value = value
        self.uses = uses
        self.stored = stored


class Link:
    """An event in a match, for the step `name`, and what was before it.

    `uses` is how many links and matches refer to it, `stored` how many there were when it was last written; 0 if it is
    not stored. `totals` is what conditions have added up so far, for those who want it; it is never stored.
    """

    __slots__ = ("event", "name", "number", "previous", "stored", "totals", "uses")

    def __init__(self, previous: Link | None, name: str, event: Event) -> None:
        self.previous = previous
        self.name = name
        self.event = event
        self.uses = self.stored = 0
        self.number = _NO_LINK
        self.totals: dict[object, Any] | None = None


Run = tuple[int, Link, int, int, int]
"""A partial match: the state that it waits in, its last link, the times of its first and its last event (milliseconds),
and the number of its first event.
"""

StoredRun = tuple[int, int, int, int, int]
"""The same, with the number of the link."""

Summary = tuple[int, int, int, int, tuple[StoredRun, ...], tuple[StoredRun, ...]]
"""What is read of a key at once: the next numbers of events and of links, how many counts of links and of events are
stored, partial and completed matches.
"""

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


class KeyMatches:
    """The partial and completed matches of one key; the module has the contract.

    `runs` are partial matches in the order of their first events, `completed` those that are complete and held back.
    """

    __slots__ = ("_events", "_links", "_next_event", "_next_link", "completed", "runs")

    def __init__(self, tables: Tables, summary: Summary | None = None) -> None:
        self._next_event, self._next_link, links, events, runs, completed = summary or _NO_SUMMARY
        self._links: _Shelf[Link] = _Shelf(tables.links, tables.link_counts, links)
        self._events: _Shelf[Event] = _Shelf(tables.events, tables.event_counts, events)
        self.runs = [self._run(run) for run in runs]
        self.completed = JavaQueue([self._run(run) for run in completed], itemgetter(4))

    def register(self, value: Any) -> Event:
        """Return a new event, which nobody refers to yet."""
        event = Event(self._next_event, value)
        self._next_event += 1
        return event

    def take(self, previous: Link | None, name: str, event: Event) -> Link:
        """Return a new link, which nobody refers to yet; the caller counts its reference to `previous`."""
        event.uses += 1
        return Link(previous, name, event)

    def use(self, link: Link, change: int) -> None:
        """Count references to a link that came, or went; without any it goes, and so does what only it refers to."""
        self._read(link)
        link.uses += change
        while not link.uses:
            event, previous = link.event, link.previous
            event.uses -= 1
            if link.stored:
                self._links.note(link)
            if event.stored:
                self._events.note(event)
            if previous is None:
                return
            self._read(previous)
            previous.uses -= 1
            link = previous
        if link.stored:
            self._links.note(link)

    def path(self, link: Link) -> list[tuple[str, Event]]:
        """Return the steps and events of a match, in their order."""
        found = []
        at: Link | None = link
        while at is not None:
            self._read(at)
            found.append((at.name, at.event))
            at = at.previous
        found.reverse()
        return found

    def before(self, link: Link | None) -> Iterator[Link]:
        """Yield the links of a match from this one back to the first."""
        while link is not None:
            self._read(link)
            yield link
            link = link.previous

    def value(self, event: Event) -> Any:
        """Return the value of an event."""
        if event.value is _UNREAD:
            event.value = self._events.entries.get(event.number)
        return event.value

    def match(self, path: list[tuple[str, Event]]) -> dict[str, list[Any]]:
        """Return the events of a path by step; steps are in the order of their first events."""
        events: dict[str, list[Any]] = {}
        for name, event in path:
            events.setdefault(name, []).append(self.value(event))
        return events

    def settle(self) -> Summary | None:
        """Write what has changed, and return what is to be read at once; None if there are no matches."""
        runs = tuple([self._stored(run) for run in self.runs])
        completed = tuple([self._stored(run) for run in self.completed.items])
        self._links.settle()
        self._events.settle()
        if not runs and not completed:
            return None
        return self._next_event, self._next_link, self._links.shared, self._events.shared, runs, completed

    def _run(self, run: StoredRun) -> Run:
        state, link, start, last, first = run
        return state, self._known(link), start, last, first

    def _stored(self, run: Run) -> StoredRun:
        state, tip, start, last, first = run
        if not tip.stored:
            for link in reversed([*_unstored(tip)]):
                self._store(link)
        return state, tip.number, start, last, first

    def _store(self, link: Link) -> None:
        event, previous = link.event, link.previous
        if event.stored:
            self._events.note(event)
        else:
            self._events.put(event.number, event, event.value)
        link.number = self._next_link
        self._next_link += 1
        before = _NO_LINK if previous is None else previous.number
        self._links.put(link.number, link, (before, link.name, event.number))

    def _known(self, number: int) -> Link:
        link = self._links.known.get(number)
        if link is None:
            link = self._links.known[number] = Link(None, "", _UNREAD)
            link.number = number
            link.stored = 1
        return link

    def _read(self, link: Link) -> None:
        if link.event is not _UNREAD:
            return
        previous, link.name, number = self._links.entries.get(link.number)
        link.previous = None if previous == _NO_LINK else self._known(previous)
        link.uses = link.stored = self._links.uses(link.number)
        event = self._events.known.get(number)
        if event is None:
            uses = self._events.uses(number)
            event = self._events.known[number] = Event(number, _UNREAD, uses, uses)
        link.event = event


_NO_SUMMARY: Final[Summary] = (0, 0, 0, 0, (), ())


def _unstored(link: Link | None) -> Iterator[Link]:
    while link is not None and not link.stored:
        yield link
        link = link.previous
