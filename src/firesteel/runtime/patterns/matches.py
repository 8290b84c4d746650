"""The partial matches of one key, and the events they share (Flink: NFAState, SharedBuffer).

A match is a chain of **links**, from its last event to its first. Partial matches with a common past share its links.
In Flink, edges of a buffer carry versions that say which belong to a match; a chain says it by itself. Links and events
are counted by who refers to them, so they go when nobody does.

Few links are **young**: they are stored with their events in the summary of the key, which is read and written at
once. When there are more of them, all go to the `Tables`, where each is written once, so a long match costs what is new
in it. The links of an event are all young, or none is.

Contract: changes are made in memory, and `settle` writes them to the tables, which change in no other way, and returns
the summary. What is in tables, and what events are, is read when it is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from firesteel.runtime.patterns.shelves import NO_LINK, UNREAD, Event, Link, Shelves, Tables, Young

_FIRST_YOUNG: Final = -2
"""The number of the first young link; that of the next one is less by one."""

Run = tuple[int, Link, int, int, int]
"""A partial match: the state that it waits in, its last link, the times of its first and its last event (milliseconds),
and the number of its first event.
"""

Summary = tuple[Any, ...]
"""What is read of a key at once, flat, as that is encoded fastest.

The next numbers of events and of links in the tables; how many counts of links and of events are there; the time of the
timer; how many partial and completed matches and young links follow. Then these: matches with the numbers of their last
links; young links with the number of the one before, the name of the step, the number of the event; the events of young
links with their numbers, as bytes.
"""

_HEAD: Final = 8
_NEXT_LINK: Final = 1
_RUNS: Final = 5
_COMPLETED: Final = 6
"""The places of the next number of links in the tables, and of how many partial and completed matches there are."""
_FEW: Final = 16
"""The number of partial matches that are looked at for each event without keeping them in memory."""
_RUN: Final = 5
_START: Final = 2
"""The place of the time of the first event within a match."""
_LINK: Final = 3
_EVENT: Final = 2


def waiting_in(summary: Summary) -> tuple[Sequence[int], int]:
    """Return the states that partial matches wait in, and how many completed matches are held back."""
    runs: int = summary[_RUNS]
    return summary[_HEAD : _HEAD + _RUN * runs : _RUN], summary[_COMPLETED]


class KeyMatches:
    """The partial and completed matches of one key; the module has the contract.

    `runs` are partial matches in the order of their first events; they are replaced, never changed. `completed` are
    those that are complete and held back, in the order of a `JavaQueue`. `timer` is the time of the earliest timer that
    is known to be set for the key, None if none is. `summary` is what was last written. `states` belongs to the
    matcher: those of the runs `stated`. Without `young` no link is.
    """

    __slots__ = (
        "_next_event", "_next_link", "_shelves", "_tables", "_written", "_young", "completed", "runs",
        "stated", "states", "summary", "timer",
    )  # fmt: skip

    def __init__(
        self,
        tables: Tables,
        summary: Summary | None = None,
        young: Young | None = None,
    ) -> None:
        self._tables = tables
        self._young = young
        self._shelves: Shelves | None = None
        self._next_event = self._next_link = 0
        self.timer: int | None = None
        self.runs: list[Run] = []
        self.completed: list[Run] = []
        self.summary = summary
        self.states: tuple[int, ...] = ()
        self.stated: list[Run] | None = None
        if summary is not None:
            self._load(summary)
        self._written = self.runs, self.timer

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
                assert self._shelves is not None
                self._shelves.links.note(link)
                self._shelves.events.note(event)
            if previous is None:
                return
            self._read(previous)
            previous.uses -= 1
            link = previous
        if link.stored:
            assert self._shelves is not None
            self._shelves.links.note(link)

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
        if event.value is UNREAD:
            if event.stored:
                assert self._shelves is not None
                event.value = self._shelves.events.entries.get(event.number)
            else:
                assert self._young is not None
                assert event.data is not None
                event.value = self._young.decode(event.data)
        return event.value

    def match(self, path: list[tuple[str, Event]]) -> dict[str, list[Any]]:
        """Return the events of a path by step; steps are in the order of their first events."""
        events: dict[str, list[Any]] = {}
        for name, event in path:
            events.setdefault(name, []).append(self.value(event))
        return events

    def settle(self) -> Summary | None:
        """Write what has changed, and return the summary; None if there are no matches.

        The matches are not used afterwards: the next ones are made of the summary.
        """
        if self.runs is self._written[0] and self.timer == self._written[1]:
            return self.summary
        matches = [*self.runs, *self.completed]
        young = _young(matches)
        if self._young is None or len(young) > self._young.most:
            for link in young:
                self._store(link)
            young = []
        if self._shelves is not None:
            self._shelves.settle()
        self.summary = self._summary(matches, young) if matches else None
        return self.summary

    def _summary(self, matches: list[Run], young: list[Link]) -> Summary:
        shelves = self._shelves
        counts = (0, 0) if shelves is None else (shelves.links.shared, shelves.events.shared)
        flat: list[Any] = [self._next_event, self._next_link, *counts, self.timer]
        flat += len(self.runs), len(self.completed), len(young)
        for place, link in enumerate(young):
            link.number = _FIRST_YOUNG - place
        for state, tip, start, last, first in matches:
            flat += state, tip.number, start, last, first
        events: dict[int, Event] = {}
        for link in young:
            event, previous = link.event, link.previous
            flat += NO_LINK if previous is None else previous.number, link.name, event.number
            events[event.number] = event
        for number, event in events.items():
            flat += number, self._encoded(event)
        return tuple(flat)

    def _load(self, summary: Summary) -> None:
        self._next_event, self._next_link, links, events, self.timer, runs, completed, young = summary[:_HEAD]
        if self._next_link:
            self._shelves = Shelves(self._tables, links, events)
        first_link = _HEAD + _RUN * (runs + completed)
        first_event = first_link + _LINK * young
        found = self._young_links(summary, first_link, first_event)
        matches = []
        for place in range(_HEAD, first_link, _RUN):
            state, number, start, last, first = summary[place : place + _RUN]
            tip = found[_FIRST_YOUNG - number] if number <= _FIRST_YOUNG else self._link(number, found)
            if not tip.stored:
                tip.uses += 1
            matches.append((state, tip, start, last, first))
        self.runs, self.completed = matches[:runs], matches[runs:]

    def _young_links(self, summary: Summary, first_link: int, first_event: int) -> list[Link]:
        events = {}
        for place in range(first_event, len(summary), _EVENT):
            number = summary[place]
            events[number] = Event(number, UNREAD, 0, 0, summary[place + 1])
        young: list[Link] = []
        for place in range(first_link, first_event, _LINK):
            before, name, number = summary[place : place + _LINK]
            previous = None if before == NO_LINK else self._link(before, young)
            if previous is not None and not previous.stored:
                previous.uses += 1
            event = events[number]
            event.uses += 1
            young.append(Link(previous, name, event))
        return young

    def _encoded(self, event: Event) -> bytes:
        if event.data is None:
            assert self._young is not None
            event.data = self._young.encode(event.value)
        return event.data

    def _link(self, number: int, young: list[Link]) -> Link:
        if number <= _FIRST_YOUNG:
            return young[_FIRST_YOUNG - number]
        assert self._shelves is not None
        return self._shelves.link(number)

    def _store(self, link: Link) -> None:
        """Write a young link, whose previous one is written already, and its event."""
        shelves = self._shelves
        if shelves is None:
            shelves = self._shelves = Shelves(self._tables, 0, 0)
        event, previous = link.event, link.previous
        if event.stored:
            shelves.events.note(event)
        else:
            shelves.events.put(event.number, event, self.value(event))
        link.number = self._next_link
        self._next_link += 1
        before = NO_LINK if previous is None else previous.number
        shelves.links.put(link.number, link, (before, link.name, event.number))

    def _read(self, link: Link) -> None:
        if link.event is UNREAD:
            assert self._shelves is not None
            self._shelves.read(link)


def states_of(summary: Summary) -> tuple[int, ...] | None:
    """Return the states in which the partial matches of a summary wait; None if there are many."""
    runs = summary[_RUNS]
    return summary[_HEAD : _HEAD + _RUN * runs : _RUN] if runs <= _FEW else None


def last_start(summary: Summary) -> int | None:
    """Return when the last partial match began, if a summary has nothing but partial matches, and tables have nothing.

    None if it has more: then the matches must be read to be ended.
    """
    if summary[_NEXT_LINK] or summary[_COMPLETED] or not summary[_RUNS]:
        return None
    start: int = summary[_HEAD + _RUN * (summary[_RUNS] - 1) + _START]
    return start


def pruned(matches: KeyMatches, runs: list[Run], bound: int) -> list[Run]:
    """Return the matches that start with the event `bound` or later; the others go."""
    if not runs or min(run[4] for run in runs) >= bound:
        return runs
    for run in runs:
        if run[4] < bound:
            matches.use(run[1], -1)
    return [run for run in runs if run[4] >= bound]


def _young(matches: Iterable[Run]) -> list[Link]:
    """Return the links of matches that are not in the tables, each after the one before it."""
    found: dict[Link, None] = {}
    for match in matches:
        link: Link | None = match[1]
        chain = []
        while link is not None and not link.stored and link not in found:
            chain.append(link)
            link = link.previous
        chain.reverse()
        found.update(dict.fromkeys(chain))
    return [*found]
