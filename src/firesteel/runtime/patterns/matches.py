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
from typing import Any, Final, NamedTuple, Protocol

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
    not stored.
    """

    __slots__ = ("event", "name", "number", "previous", "stored", "uses")

    def __init__(self, previous: Link | None, name: str, event: Event) -> None:
        self.previous = previous
        self.name = name
        self.event = event
        self.uses = self.stored = 0
        self.number = _NO_LINK


Run = tuple[int, Link, int, int, int]
"""A partial match: the state that it waits in, its last link, the times of its first and its last event (milliseconds),
and the number of its first event.
"""

StoredRun = tuple[int, int, int, int, int]
"""The same, with the number of the link."""

Summary = tuple[int, int, tuple[StoredRun, ...], tuple[StoredRun, ...]]
"""What is read of a key at once: the next numbers of events and of links, partial and completed matches."""


class KeyMatches:
    """The partial and completed matches of one key; the module has the contract.

    `runs` are partial matches in the order of their first events, `completed` those that are complete and held back.
    """

    __slots__ = (
        "_changed_events", "_changed_links", "_events", "_gone_events", "_gone_links", "_links", "_next_event",
        "_next_link", "_tables", "completed", "runs",
    )  # fmt: skip

    def __init__(self, tables: Tables, summary: Summary | None = None) -> None:
        self._tables = tables
        self._links: dict[int, Link] = {}
        self._events: dict[int, Event] = {}
        self._changed_links: dict[int, Link] = {}
        self._changed_events: dict[int, Event] = {}
        self._gone_links: list[Link] = []
        self._gone_events: list[Event] = []
        self._next_event, self._next_link, runs, completed = summary or (0, 0, (), ())
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
            previous = link.previous
            if link.stored:
                self._gone_links.append(link)
                self._changed_links.pop(link.number, None)
            self._leave(link.event)
            if previous is None:
                return
            self._read(previous)
            previous.uses -= 1
            link = previous
        if link.stored:
            self._changed_links[link.number] = link

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

    def match(self, path: list[tuple[str, Event]]) -> dict[str, list[Any]]:
        """Return the events of a path by step; steps are in the order of their first events."""
        events: dict[str, list[Any]] = {}
        for name, event in path:
            if event.value is _UNREAD:
                event.value = self._tables.events.get(event.number)
            events.setdefault(name, []).append(event.value)
        return events

    def settle(self) -> Summary | None:
        """Write what has changed, and return what is to be read at once; None if there are no matches."""
        runs = tuple([self._stored(run) for run in self.runs])
        completed = tuple([self._stored(run) for run in self.completed.items])
        _settle_counts(self._tables.link_counts, self._changed_links, self._gone_links)
        _settle_counts(self._tables.event_counts, self._changed_events, self._gone_events)
        for link in self._gone_links:
            self._links.pop(link.number, None)
            self._tables.links.remove(link.number)
        for event in self._gone_events:
            self._events.pop(event.number, None)
            self._tables.events.remove(event.number)
        self._gone_links.clear()
        self._gone_events.clear()
        if not runs and not completed:
            return None
        return self._next_event, self._next_link, runs, completed

    def _leave(self, event: Event) -> None:
        event.uses -= 1
        if event.stored:
            if event.uses:
                self._changed_events[event.number] = event
            else:
                self._gone_events.append(event)
                self._changed_events.pop(event.number, None)

    def _run(self, run: StoredRun) -> Run:
        state, link, start, last, first = run
        return state, self._known(link), start, last, first

    def _stored(self, run: Run) -> StoredRun:
        state, tip, start, last, first = run
        new = [*_unstored(tip)]
        for link in reversed(new):
            self._store(link)
        return state, tip.number, start, last, first

    def _store(self, link: Link) -> None:
        event, previous, tables = link.event, link.previous, self._tables
        if not event.stored:
            tables.events.put(event.number, event.value)
            event.stored = 1
            self._events[event.number] = event
        self._changed_events[event.number] = event
        link.number = self._next_link
        self._next_link += 1
        tables.links.put(
            link.number, (_NO_LINK if previous is None else previous.number, link.name, event.number)
        )
        link.stored = 1
        self._links[link.number] = self._changed_links[link.number] = link

    def _known(self, number: int) -> Link:
        link = self._links.get(number)
        if link is None:
            link = self._links[number] = Link(None, "", _UNREAD)
            link.number = number
            link.stored = 1
        return link

    def _read(self, link: Link) -> None:
        if link.event is not _UNREAD:
            return
        previous, link.name, number = self._tables.links.get(link.number)
        link.previous = None if previous == _NO_LINK else self._known(previous)
        link.uses = link.stored = self._tables.link_counts.get(link.number) or 1
        event = self._events.get(number)
        if event is None:
            uses = self._tables.event_counts.get(number) or 1
            event = self._events[number] = Event(number, _UNREAD, uses, uses)
        link.event = event


def _unstored(link: Link | None) -> Iterator[Link]:
    while link is not None and not link.stored:
        yield link
        link = link.previous


def _settle_counts(table: Table, changed: dict[int, Any], gone: list[Any]) -> None:
    for number, counted in changed.items():
        if counted.uses != counted.stored:
            if counted.uses == 1:
                table.remove(number)
            else:
                table.put(number, counted.uses)
            counted.stored = counted.uses
    changed.clear()
    for counted in gone:
        if counted.stored != 1:
            table.remove(counted.number)
