"""Removes expired entries from the state itself, a part in each epoch, together with the epoch's changes.

Nothing else would: a key that never occurs again is not read, and compaction drops expired entries from its runs only,
not from the working copies. A removal by a sweep is a change of the epoch like any other. So working copies and runs
stay equal, and a failed epoch has removed nothing.

An epoch looks at `PER_CHANGE` stored entries for each one that the epoch before changed, and at least at `LEAST`; an
epoch that changes nothing looks at none. So the work follows the changes: a state with a steady stream of new keys
stores about half as many entries again as are alive. To remove a key costs up to as much as to write it: if every
record is a new key that expires, a job takes about 1.4 times the processor time.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from firesteel.state.keys.composite import group_prefix
from firesteel.state.live.durable import StateReader
from firesteel.state.live.spill import overlaid
from firesteel.state.ttl import StateTtlConfig
from firesteel.state.values.chunks import Entry
from firesteel.state.values.expiry import STAMP_SIZE, ExpiryRule, expiry_rule
from firesteel.state.values.schemas import Schema

PER_CHANGE: Final = 2
LEAST: Final = 1024
RETURNS_EXPIRED: Final = StateTtlConfig.StateVisibility.ReturnExpiredIfNotCleanedUp.name


def sweep_rule(schema: Schema) -> ExpiryRule | None:
    """Return the rule by which a state is swept; None if it does not expire or its clean-up is off.

    A state that returns expired values until their removal is not swept: reads would reveal the time of the sweep. Its
    expired entries are removed when they are read, and by compaction.
    """
    rule = expiry_rule(schema)
    return None if rule is None or schema["ttl"]["visibility"] == RETURNS_EXPIRED else rule


class Sweep:
    """The position of the sweep of one subtask's state.

    It starts at a random place within `groups`, the subtask's key groups. Otherwise instances that live only for a few
    epochs would look at the same entries again and again.
    """

    def __init__(self, groups: range) -> None:
        self._at: bytes | None = None
        self._next: bytes | None = None
        self._group = random.choice(groups) if groups else 0
        self._state = random.random()
        self._changed = 0
        self._counted = 0

    def begin(self) -> None:
        """Start an epoch: the result of `beside` is in the store."""
        self._at, self._next = self._next, None
        self._changed, self._counted = self._counted, 0

    def beside(
        self, changes: Iterator[Entry], reader: StateReader, rules: Sequence[ExpiryRule], now: int
    ) -> Iterator[Entry]:
        """Return an epoch's sorted changes, merged with deletes of expired entries that the epoch did not change.

        `rules` are those of the states that expire, `now` is the epoch's processing time (milliseconds), `reader` the
        state without the changes.
        """
        first = next(changes, None) if rules else None
        if first is None:
            return changes
        return overlaid(self._counting(chain((first,), changes)), self._expired(reader, rules, now))

    def _counting(self, changes: Iterable[Entry]) -> Iterator[Entry]:
        self._counted = 0
        for change in changes:
            self._counted += 1
            yield change

    def _expired(self, reader: StateReader, rules: Sequence[ExpiryRule], now: int) -> Iterator[Entry]:
        ordered = sorted(rules, key=lambda rule: rule.state_id)
        at = self._at
        if at is None:
            at = group_prefix(ordered[int(self._state * len(ordered))].state_id, self._group)
        left = max(LEAST, PER_CHANGE * self._changed)
        for rule in ordered:
            if rule.prefix < at[: len(rule.prefix)]:
                continue
            limit = rule.limit(now)
            for key, value in reader.scan(rule.prefix, at):
                if left == 0:
                    self._next = key
                    return
                left -= 1
                if not rule.in_chunks:
                    if value[:STAMP_SIZE] <= limit:
                        yield key, None
                elif (kept := rule.kept(value, now)) != value:
                    yield key, kept
        self._next = b""
