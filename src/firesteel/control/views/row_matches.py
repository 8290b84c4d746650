"""The partial matches of MATCH_RECOGNIZE, in a savepoint or a kept epoch."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from firesteel.control.views.found_matches import PartialMatch, Waiting
from firesteel.runtime.columns.matching.entries import ShortEntries
from firesteel.runtime.columns.matching.noted import ENTRIES, MATCHES, Noted
from firesteel.runtime.columns.matching.plain_values import column_of
from firesteel.runtime.patterns.matches import KeyMatches, Run, Summary, waiting_in
from firesteel.runtime.patterns.shelves import Tables
from firesteel.runtime.patterns.states import waits_for
from firesteel.saved.arrangements import Groups, SavedArrangement
from firesteel.saved.inspection import SavedOperator, SavedState
from firesteel.state.arrangements.hashing import hash_columns, key_groups
from firesteel.state.keys.groups import StateKey, user_key

_ENTRY: Final = ("part", "number", "value")

Key = tuple[Any, ...]
"""The values of the columns of a key."""


class _Stored(NamedTuple):
    """What is stored of a key; `entries` are those of its `Tables`, None if they are stored one by one."""

    summary: Summary
    timer: int | None
    entries: tuple[dict[int, Any], ...] | None


def noted_of(operator: SavedOperator) -> Noted | None:
    """Return what is noted of the pattern of an operator; None if it is none of MATCH_RECOGNIZE."""
    notes = (found.layout.note for found in operator.arrangements if found.name == MATCHES)
    return next((Noted.read(note) for note in notes if note), None)


class RowMatches:
    """The partial matches of one operator."""

    def __init__(self, saved: SavedState, operator: SavedOperator, noted: Noted) -> None:
        self._storage = saved.storage
        self._short = operator.arrangement(MATCHES)
        self._long = operator.arrangement(ENTRIES)
        self._noted = noted
        self._rows = noted.schema
        self._names = waits_for(noted.shape)

    def matches(self, key: StateKey | None = None) -> Iterator[PartialMatch]:
        """Yield the partial matches of a key, or of all, in the order of their first rows."""
        if key is None:
            larger = max(self._short, self._long, key=lambda found: found.size)
            for groups in larger.ranges():
                yield from self._within(groups, None)
            return
        columns = self._columns_of(user_key(key))
        if columns is not None:
            (group,) = key_groups(hash_columns(columns), self._short.max_parallelism).tolist()
            yield from self._within((group, group), tuple(column[0].as_py() for column in columns))

    def waiting(self, most_keys: int) -> tuple[list[Waiting], bool]:
        """Return how many partial matches wait in the states, of about this many keys, and whether these are all."""
        counts, keys = Waiting(self._noted.shape, None, None, Counter()), 0
        for groups in self._short.ranges():
            for batch in self._short.batches(self._storage, groups):
                for value in batch.column("value").to_pylist():
                    states, held_back = waiting_in(_Stored(*pickle.loads(value)).summary)
                    counts.states.update(states)
                    counts.held_back += held_back
                keys += batch.num_rows
                if keys > most_keys:
                    return [counts], False
        return [counts], True

    def _columns_of(self, key: Any) -> list[pa.Array] | None:
        """Return a key as columns of one row; None if no row can have it."""
        kinds = [self._short.layout.rows.field(name).type for name in self._short.layout.keys]
        parts = key if len(kinds) > 1 else (key,)
        if not self._noted.keys or not isinstance(parts, tuple) or len(parts) != len(kinds):
            return None
        try:
            return [_column(part, kind) for part, kind in zip(parts, kinds, strict=True)]
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
            return None

    def _within(self, groups: Groups, only: Key | None) -> Iterator[PartialMatch]:
        """Yield the matches of the keys in some key groups, or only those of one of them."""
        # Not all keys can be looked up in a dict, and NaN is not equal to itself; their texts can, and are.
        found = {
            repr(key): (key, _Stored(*pickle.loads(value)))
            for key, value in self._read(self._short, groups, "value")
            if only is None or repr(key) == repr(only)
        }
        long: dict[str, tuple[dict[int, Any], ...]] = {
            word: ({}, {}, {}, {}) for word, (_, stored) in found.items() if stored.entries is None
        }
        for key, part, number, value in self._read(self._long, groups, *_ENTRY) if long else ():
            if repr(key) in long:
                long[repr(key)][part][number] = pickle.loads(value)
        for word, (key, stored) in found.items():
            entries = long[word] if stored.entries is None else stored.entries
            matches = KeyMatches(Tables(*map(ShortEntries, entries)), stored.summary)
            for run in matches.runs:
                yield self._match(key, matches, run, complete=False)
            for run in matches.completed:
                yield self._match(key, matches, run, complete=True)

    def _read(self, arrangement: SavedArrangement, groups: Groups, *names: str) -> Iterator[tuple[Any, ...]]:
        """Yield the keys of rows, and columns of them."""
        keys = self._short.layout.keys
        for batch in arrangement.batches(self._storage, groups):
            columns = [batch.column(name).to_pylist() for name in (*keys, *names)]
            yield from zip(zip(*columns[: len(keys)], strict=True), *columns[len(keys) :], strict=True)

    def _match(self, key: Key, matches: KeyMatches, run: Run, *, complete: bool) -> PartialMatch:
        state, link, start, last, _ = run
        events = {
            variable: [self._shown(row) for row in rows]
            for variable, rows in matches.match(matches.path(link)).items()
        }
        shown = None if not self._noted.keys else key if len(key) > 1 else key[0]
        return PartialMatch(shown, "" if complete else self._names[state], start, last, events, complete)

    def _shown(self, row: tuple[Any, ...]) -> dict[str, Any]:
        """Return what stayed of a row, by what the query calls it."""
        return {
            field.name: column_of([value], field.type)[0].as_py()
            for field, value in zip(self._rows, row, strict=True)
        }


def _column(value: Any, kind: pa.DataType) -> pa.Array:
    """Return the column of one value; a time may be a text."""
    if isinstance(value, str) and pa.types.is_temporal(kind):
        return pc.cast(pa.array([value]), kind)
    return pa.array([value], kind)
