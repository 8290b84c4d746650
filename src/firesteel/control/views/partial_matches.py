"""The partial matches of patterns, in a savepoint or a kept epoch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, NamedTuple, cast

from firesteel.common.errors import StateError
from firesteel.control.views.found_matches import PartialMatch, Waiting
from firesteel.control.views.row_matches import RowMatches, noted_of
from firesteel.functions.windows import WINDOW_CODEC
from firesteel.runtime.patterns.live import SHAPE, SUMMARIES, TABLES, YOUNG
from firesteel.runtime.patterns.many.live import PATTERNS_OF_KEY, Stored
from firesteel.runtime.patterns.many.registry import RECORDS, Record
from firesteel.runtime.patterns.matches import KeyMatches, Run, Summary, waiting_in
from firesteel.runtime.patterns.shelves import Table, Tables
from firesteel.runtime.patterns.states import waits_for
from firesteel.saved.arrangements import Groups
from firesteel.saved.columns import UNREADABLE
from firesteel.saved.entries import StoredRow, value_decoder, value_type
from firesteel.saved.inspection import SavedOperator, SavedState
from firesteel.state.keys.groups import StateKey, user_key
from firesteel.state.values.schemas import Schema

_EVENTS: Final = TABLES[1]
_SCOPES: Final = ("keyed", "windowed", "broadcast")


class _Pattern(NamedTuple):
    """What is shown of the pattern of a match; `names` are the steps waited for, by the number of the state."""

    shape: list[str]
    names: dict[int, str]
    id: str | None = None
    version: int | None = None


def partial_matches(
    saved: SavedState,
    operator: SavedOperator,
    key: StateKey | None = None,
    unreadable: Callable[[bytes], Any] | None = None,
) -> Iterator[PartialMatch]:
    """Yield the partial matches of one key, or of all, pattern by pattern, in the order of their first events.

    `unreadable` makes something else of events whose class is not known here; without it they raise StateError, as an
    operator without a pattern does.
    """
    noted = noted_of(operator)
    if noted is not None:
        yield from RowMatches(saved, operator, noted).matches(key)
        return
    reading = _Reading(saved, operator, unreadable)
    if key is not None:
        yield from reading.matches(lambda name: reading.of_key(name, key))
        return
    for groups in operator.ranges():
        yield from reading.matches(lambda name, groups=groups: reading.of_groups(name, groups))  # type: ignore[misc]


def looks_for_patterns(operator: SavedOperator) -> bool:
    """Return whether an operator looks for patterns."""
    in_lists = SHAPE in operator.lists() or f"keyed:{PATTERNS_OF_KEY}" in operator.snapshot.states
    return in_lists or noted_of(operator) is not None


def waiting(saved: SavedState, operator: SavedOperator, most_keys: int) -> tuple[list[Waiting], bool]:
    """Return how many partial matches wait in the states of each pattern, and whether these are all.

    At most about `most_keys` keys are read; events are not, so that their classes need not be known. Raises StateError
    for an operator without a pattern.
    """
    noted = noted_of(operator)
    if noted is not None:
        return RowMatches(saved, operator, noted).waiting(most_keys)
    return _Reading(saved, operator, None).waiting(most_keys)


class _Reading:
    """Reads the states of one operator."""

    def __init__(
        self, saved: SavedState, operator: SavedOperator, unreadable: Callable[[bytes], Any] | None
    ) -> None:
        self._saved = saved
        self._operator = operator
        self._unreadable = unreadable
        self._patterns: dict[int | None, _Pattern] = dict(self._many())
        if not self._patterns and self._schema(PATTERNS_OF_KEY) is None:
            self._patterns = {None: _one(saved, operator)}

    def matches(self, rows: Callable[[str], Iterator[StoredRow]]) -> Iterator[PartialMatch]:
        """Yield the matches of the keys whose rows there are, by the name of the state."""
        summaries = [*self._summaries(rows)]
        tables = [self._table(name, rows) if summaries else {} for name in TABLES]
        for key, number, summary in summaries:
            # They are only read, and dicts read as tables do.
            mine = Tables(*(cast(Table, table.get((key, number), {})) for table in tables))
            matches = KeyMatches(mine, summary, YOUNG._replace(decode=partial(self._decoded, _EVENTS)))
            for run in matches.runs:
                yield self._match(key, number, matches, run, complete=False)
            for run in matches.completed:
                yield self._match(key, number, matches, run, complete=True)

    def waiting(self, most_keys: int) -> tuple[list[Waiting], bool]:
        """Return what the function of this name does."""
        counts = {
            number: Waiting(pattern.shape, pattern.id, pattern.version, Counter())
            for number, pattern in self._patterns.items()
        }
        keys: set[Any] = set()
        for groups in self._operator.ranges():
            for key, number, summary in self._summaries(partial(self.of_groups, groups=groups)):
                states, held_back = waiting_in(summary)
                counts[number].states.update(states)
                counts[number].held_back += held_back
                keys.add(key)
                if len(keys) > most_keys:
                    return [*counts.values()], False
        return [*counts.values()], True

    def _many(self) -> Iterator[tuple[int, _Pattern]]:
        """Yield the patterns of an operator that looks for many, by their numbers."""
        schema = self._schema(RECORDS) if self._schema(PATTERNS_OF_KEY) else None
        for row in () if schema is None else self._saved.rows(self._operator, schema, WINDOW_CODEC):
            record = Record(*self._decoded(RECORDS, row.value))
            yield user_key(row.place), _pattern(record.shape, record.id, record.version)

    def _summaries(
        self, rows: Callable[[str], Iterator[StoredRow]]
    ) -> Iterator[tuple[StateKey | None, int | None, Summary]]:
        """Yield what is read first of a key, for each pattern; of a pattern that has ended nothing is left to see."""
        for row in rows(SUMMARIES):
            yield row.key, None, self._decoded(SUMMARIES, row.value)
        for row in rows(PATTERNS_OF_KEY):
            stored: Stored = self._decoded(PATTERNS_OF_KEY, row.value)
            yield from (
                (row.key, number, summary) for number, _, summary in stored if number in self._patterns
            )

    def of_key(self, name: str, key: StateKey) -> Iterator[StoredRow]:
        """Yield the rows of a state at a key."""
        schema = self._schema(name)
        if schema is not None:
            yield from self._saved.rows(self._operator, schema, WINDOW_CODEC, key=key)

    def of_groups(self, name: str, groups: Groups) -> Iterator[StoredRow]:
        """Yield the rows of a state at the keys of some groups."""
        schema = self._schema(name)
        if schema is not None:
            part = self._saved.slice(self._operator, [schema])
            yield from part.rows(self._saved.storage, groups, WINDOW_CODEC)

    def _match(
        self, key: StateKey | None, number: int | None, matches: KeyMatches, run: Run, *, complete: bool
    ) -> PartialMatch:
        state, link, start, last, _ = run
        assert key is not None
        _, names, id_, version = self._patterns[number]
        events = matches.match(matches.path(link))
        waits = "" if complete else names[state]
        return PartialMatch(user_key(key), waits, start, last, events, complete, id_, version)

    def _table(
        self, name: str, rows: Callable[[str], Iterator[StoredRow]]
    ) -> dict[tuple[StateKey | None, int | None], dict[Any, Any]]:
        """Return the table of each key and pattern."""
        tables: dict[tuple[StateKey | None, int | None], dict[Any, Any]] = {}
        for row in rows(name):
            number = None if row.namespace is None else row.namespace.id
            tables.setdefault((row.key, number), {})[user_key(row.place)] = self._decoded(name, row.value)
        return tables

    def _schema(self, name: str) -> Schema | None:
        states = self._operator.snapshot.states
        return next((found for scope in _SCOPES if (found := states.get(f"{scope}:{name}"))), None)

    def _decoded(self, name: str, data: bytes) -> Any:
        who = f"state '{name}' of {self._operator.who}"
        schema = self._schema(name)
        assert schema is not None
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


def _one(saved: SavedState, operator: SavedOperator) -> _Pattern:
    """Return the one pattern of an operator. Raises StateError if there is none."""
    for part in operator.lists().get(SHAPE, ()):
        decode = value_decoder(part.schema, f"the pattern of {operator.who}")
        for element in part.elements[slice(*part.kept_range)]:
            return _pattern(decode(element))
    others = [each.snapshot.name for each in saved.operators() if looks_for_patterns(each)]
    raise StateError(
        "requires an operator that looks for patterns",
        who=operator.who,
        got="one without a pattern",
        hint=f"these have one: {', '.join(others)}" if others else None,
    )


def _pattern(shape: list[str], id_: str | None = None, version: int | None = None) -> _Pattern:
    return _Pattern(shape, waits_for(shape), id_, version)
