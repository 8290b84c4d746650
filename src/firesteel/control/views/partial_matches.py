"""The partial matches of patterns, in a savepoint or a kept epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

from firesteel.common.errors import StateError
from firesteel.functions.windows import WINDOW_CODEC
from firesteel.runtime.patterns.live import SHAPE, SUMMARIES, TABLES, YOUNG
from firesteel.runtime.patterns.matches import KeyMatches, Run
from firesteel.runtime.patterns.shelves import Table, Tables
from firesteel.runtime.patterns.states import waits_for
from firesteel.saved.arrangements import Groups
from firesteel.saved.columns import UNREADABLE
from firesteel.saved.entries import StoredRow, value_decoder, value_type
from firesteel.saved.inspection import SavedOperator, SavedState
from firesteel.state.keys.groups import StateKey, user_key

_EVENTS: Final = TABLES[1]


@dataclass(frozen=True)
class PartialMatch:
    """A partial match of a key, as an epoch has left it.

    `waits_for` is the step whose event it waits for; "not b" if it is a match once its time is over without an event of
    the step b. `start` and `last` are the times of its first and its last event (milliseconds), `events` are its events
    by step. One that is `complete` is held back, by its skip strategy, until a match that began earlier is decided.
    """

    key: Any
    waits_for: str
    start: int
    last: int
    events: dict[str, list[Any]]
    complete: bool = False


def partial_matches(
    saved: SavedState,
    operator: SavedOperator,
    key: StateKey | None = None,
    unreadable: Callable[[bytes], Any] | None = None,
) -> Iterator[PartialMatch]:
    """Yield the partial matches of one key, or of all, in the order of their first events.

    `unreadable` makes something else of events whose class is not known here; without it they raise StateError, as an
    operator without a pattern does.
    """
    reading = _Reading(saved, operator, unreadable)
    if key is not None:
        yield from reading.matches(lambda name: reading.of_key(name, key))
        return
    for groups in operator.ranges():
        yield from reading.matches(lambda name, groups=groups: reading.of_groups(name, groups))  # type: ignore[misc]


class _Reading:
    """Reads the states of one operator."""

    def __init__(
        self, saved: SavedState, operator: SavedOperator, unreadable: Callable[[bytes], Any] | None
    ) -> None:
        self._saved = saved
        self._operator = operator
        self._unreadable = unreadable
        self._names = waits_for(_shape(saved, operator))

    def matches(self, rows: Callable[[str], Iterator[StoredRow]]) -> Iterator[PartialMatch]:
        """Yield the matches of the keys whose rows there are, by the name of the state."""
        summaries = {row.key: self._decoded(SUMMARIES, row.value) for row in rows(SUMMARIES)}
        tables = [self._table(name, rows) if summaries else {} for name in TABLES]
        for key, summary in summaries.items():
            # They are only read, and dicts read as tables do.
            mine = Tables(*(cast(Table, table.get(key, {})) for table in tables))
            matches = KeyMatches(mine, summary, YOUNG._replace(decode=partial(self._decoded, _EVENTS)))
            for run in matches.runs:
                yield self._match(key, matches, run, complete=False)
            for run in matches.completed:
                yield self._match(key, matches, run, complete=True)

    def of_key(self, name: str, key: StateKey) -> Iterator[StoredRow]:
        """Yield the rows of a state at a key."""
        schema = self._operator.snapshot.states.get(f"keyed:{name}")
        if schema is not None:
            yield from self._saved.rows(self._operator, schema, WINDOW_CODEC, key=key)

    def of_groups(self, name: str, groups: Groups) -> Iterator[StoredRow]:
        """Yield the rows of a state at the keys of some groups."""
        schema = self._operator.snapshot.states.get(f"keyed:{name}")
        if schema is not None:
            part = self._saved.slice(self._operator, [schema])
            yield from part.rows(self._saved.storage, groups, WINDOW_CODEC)

    def _match(self, key: StateKey | None, matches: KeyMatches, run: Run, *, complete: bool) -> PartialMatch:
        state, link, start, last, _ = run
        assert key is not None
        events = matches.match(matches.path(link))
        return PartialMatch(
            user_key(key), "" if complete else self._names[state], start, last, events, complete
        )

    def _table(self, name: str, rows: Callable[[str], Iterator[StoredRow]]) -> dict[Any, dict[Any, Any]]:
        table: dict[Any, dict[Any, Any]] = {}
        for row in rows(name):
            table.setdefault(row.key, {})[user_key(row.place)] = self._decoded(name, row.value)
        return table

    def _decoded(self, name: str, data: bytes) -> Any:
        who = f"state '{name}' of {self._operator.who}"
        schema = self._operator.snapshot.states[f"keyed:{name}"]
        try:
            return value_decoder(value_type(schema), who)(data)
        except UNREADABLE as error:
            if self._unreadable is not None and name == _EVENTS:
                return self._unreadable(data)
            raise StateError(
                "requires the classes of the program's events",
                who=who,
                got=f"{type(error).__name__}: {error}",
                hint="run it where the program's modules can be imported",
            ) from error


def _shape(saved: SavedState, operator: SavedOperator) -> list[str]:
    """Return the shape of the pattern. Raises StateError, which lists the operators with one, if there is none."""
    for part in operator.lists().get(SHAPE, ()):
        decode = value_decoder(part.schema, f"the pattern of {operator.who}")
        for element in part.elements[slice(*part.kept_range)]:
            shape: list[str] = decode(element)
            return shape
    others = [each.snapshot.name for each in saved.operators() if SHAPE in each.lists()]
    raise StateError(
        "requires an operator that looks for one pattern",
        who=operator.who,
        got="one without a pattern, or with many",
        hint=f"these have one: {', '.join(others)}" if others else None,
    )
