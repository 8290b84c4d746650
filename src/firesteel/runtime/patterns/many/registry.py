"""Which patterns an operator looks for, and when: broadcast state, the same in all subtasks.

Each pattern, and each version of one, has a number of its own, which tells its partial matches from those of others. It
is looked for in events from a time on until another time; nothing depends on when a subtask learns of it, as long as it
comes in time. When no event before its end can come any more, it is forgotten.

Subtasks forget at different times, as their watermarks differ. So nothing but the numbers that have state may depend on
what is forgotten: only a pattern without an end has an id and a version that later definitions are compared with.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from firesteel.common.time import MIN_WATERMARK
from firesteel.runtime.patterns.many.dispatch import Dispatch, Waiting
from firesteel.runtime.patterns.many.running import RunningPattern
from firesteel.state.descriptors import MapStateDescriptor
from firesteel.state.live.backend import KeyedStateBackend

RECORDS: Final = "patterns"
"""The name of the broadcast state with a `Record` for the number of each pattern."""

NEVER: Final = 1 << 64
"""The end of a pattern that has none (milliseconds)."""


class Record(NamedTuple):
    """What is stored of a pattern.

    It is looked for from `since` until `until` (milliseconds, exclusive; None: without end). `definition` has the parts
    of one of a stream of definitions, `shape` is that of the automaton.
    """

    id: str
    version: int | None
    since: int
    until: int | None
    definition: Any
    shape: list[str]


class Current(NamedTuple):
    """The patterns that are looked for in events from one time on until another (milliseconds, exclusive)."""

    begin: int
    end: int
    patterns: dict[int, RunningPattern]
    dispatch: Dispatch[RunningPattern]
    waiting: Waiting[RunningPattern]


class PatternRegistry:
    """The patterns of one subtask.

    `start` makes a pattern of what is stored of it, None if there is none any more; `stop` is told of one that is
    forgotten. Contract: `load` when an epoch begins, before anything else.
    """

    def __init__(
        self,
        backend: KeyedStateBackend,
        start: Callable[[int, Record], RunningPattern | None],
        stop: Callable[[RunningPattern], None],
    ) -> None:
        self._records = backend.broadcast_state(MapStateDescriptor(RECORDS, None, None))
        self._counts = backend.broadcast_state(MapStateDescriptor("pattern-counts", None, None))
        self._start = start
        self._stop = stop
        self._revision = 0
        self._lost = False
        self._at_times: dict[int, Current] = {}
        self._latest: dict[str, RunningPattern] = {}
        self.patterns: dict[int, RunningPattern] = {}

    def load(self) -> None:
        """Take over what this subtask has stored since, maybe in another process."""
        revision = self._counts.get("revision") or 0
        if revision == self._revision:
            return
        if not self._revision and self._counts.get("scheduled"):
            self._lost = True  # another subtask, whose keys are here now, may not have come as far
        stored = {number: Record(*record) for number, record in self._records.items()}
        for number in [number for number in self.patterns if number not in stored]:
            self._stop(self.patterns.pop(number))
        for number, record in stored.items():
            known = self.patterns.get(number) or self._start(number, record)
            if known is None:
                self._records.remove(number)
                self._lost = True
            else:
                known.until = NEVER if record.until is None else record.until
                self.patterns[number] = known
        self._note(revision)

    def latest(self, id_: str) -> RunningPattern | None:
        """Return the pattern of this id that has no end."""
        return self._latest.get(id_)

    def add(self, id_: str, version: int | None, since: int | None, definition: Any = None) -> None:
        """Look for a pattern from a time on (None: at once), instead of others of this id.

        Raises what `start` raises if it means nothing; then nothing has changed.
        """
        number = self._counts.get("next") or 0
        begin = MIN_WATERMARK if since is None else since
        pattern = self._start(number, Record(id_, version, begin, None, definition, []))
        assert pattern is not None
        self.end(id_, since)
        self.patterns[number] = pattern
        record = Record(id_, version, begin, None, definition, pattern.shape)
        self._records.put(number, (*record,))
        self._counts.put("next", number + 1)
        self._change()

    def end(self, id_: str, at: int | None) -> None:
        """Look for no pattern of this id from a time on (None: at once)."""
        until = MIN_WATERMARK if at is None else at
        if at is not None:
            self._counts.put("scheduled", 1)
        for number, pattern in self.patterns.items():
            if pattern.id == id_ and until < pattern.until:
                pattern.until = until
                record = Record(*self._records.get(number))
                self._records.put(number, (*record._replace(until=until),))
        self._change()

    def at(self, time: int) -> Current:
        """Return the patterns that are looked for in events of a time."""
        for current in self._at_times.values():
            if current.begin <= time < current.end:
                return current
        begin, end = -NEVER, NEVER
        for pattern in self.patterns.values():
            for limit in (pattern.since, pattern.until):
                if limit <= time:
                    begin = max(begin, limit)
                else:
                    end = min(end, limit)
        patterns = {
            number: pattern
            for number, pattern in self.patterns.items()
            if pattern.since <= time < pattern.until
        }
        found = self._at_times[begin] = Current(
            begin, end, patterns, Dispatch(patterns.values()), Waiting(patterns.values())
        )
        return found

    def forget(self, before: int) -> bool:
        """Forget patterns that end at `before` (milliseconds) or earlier; return whether any has been forgotten."""
        ended = [number for number, pattern in self.patterns.items() if pattern.until <= before]
        for number in ended:
            self._stop(self.patterns.pop(number))
            self._records.remove(number)
        if not ended and not self._lost:
            return False
        self._lost = False
        self._change()
        return True

    def _change(self) -> None:
        revision = self._revision + 1
        self._counts.put("revision", revision)
        self._note(revision)

    def _note(self, revision: int) -> None:
        self._revision = revision
        self._at_times.clear()
        self._latest = {each.id: each for each in self.patterns.values() if each.until == NEVER}
