"""The regular join: all rows of both inputs are kept, and each change meets the rows of the other side.

    changes of A ⋈ B  =  (change of A) ⋈ B  +  (A with its change) ⋈ (change of B)

A row whose side keeps those without a partner, and a row of a semi join, is stored with the number of its partners:
when that number leaves or reaches 0, the row alone comes or goes. Source: Flink's StreamingJoinOperator and
StreamingSemiAntiJoinOperator (OuterJoinRecordStateView).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.functions.columns.joins import KEEPING, Join, Side
from firesteel.runtime.columns.aggregates.segments import Segments
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.joins.changes import Weighted, net, repeated, weighted
from firesteel.runtime.columns.joins.pairs import Condition, alone, equal_pairs, paired, unmatchable
from firesteel.runtime.columns.joins.sides import JoinSide, Partners
from firesteel.runtime.columns.materialize.entries import groups_of
from firesteel.runtime.columns.settling import SettlingOperator
from firesteel.runtime.operator import Epoch, OperatorContext
from firesteel.state.arrangements.columns import Mask, Numbers

_MOST_WAITING: Final = 1 << 18
_MOST_SENT: Final = 1 << 18
_KEYS_AT_ONCE: Final = 1 << 14

_SIDES: Final[tuple[Side, Side]] = (0, 1)


class JoinOperator(SettlingOperator):
    """Sends how the join of two inputs changes: what goes, then what comes, once in an epoch or after many changes."""

    def __init__(self, join: Join) -> None:
        self._join = join
        self._schema = to_arrow_schema(join.output)
        self._sides = (JoinSide(join, 0), JoinSide(join, 1))

    def open(self, context: OperatorContext) -> None:
        """Declare the arrangements of both sides."""
        super().open(context)
        assert context.arrangements is not None
        for side, name in zip(self._sides, ("left", "right"), strict=True):
            side.declare(context.arrangements, name)
        self._condition = Condition(self._join, context.who)

    def begin_epoch(self, epoch: Epoch) -> None:
        """Start an epoch."""
        super().begin_epoch(epoch)
        self._waiting: tuple[list[ColumnBatch], list[ColumnBatch]] = ([], [])
        self._count = 0
        self._sending: list[Weighted] = []
        self._sent_rows = 0

    def process(self, batch: ColumnBatch, port: int) -> None:
        """Let changes of a side wait."""
        self._waiting[port].append(batch)
        self._count += len(batch)
        if self._count >= _MOST_WAITING:
            self._work()

    def close(self) -> None:
        """Release what was prepared."""
        self._condition.close()
        super().close()

    def _work(self) -> None:
        waiting, self._waiting, self._count = self._waiting, ([], []), 0
        for side in _SIDES:
            if waiting[side]:
                self._change(side, weighted(waiting[side]))
        self._send()

    def _change(self, side: Side, changes: Weighted) -> None:
        """Take changes of a side: those that have no partner anyway, then the others by their keys."""
        lonely = unmatchable(self._join, side, changes.rows)
        if lonely.any():
            if KEEPING[self._join.kind][side]:
                self._alone(side, changes.where(lonely))
            changes = changes.where(~lonely)
        for part in self._parts(side, changes):
            self._meet(side, *part)

    def _parts(self, side: Side, changes: Weighted) -> Iterator[tuple[Weighted, pa.RecordBatch, Segments]]:
        """Yield changes with their keys and groups, in parts of not too many keys."""
        keys = self._sides[side].keyed(changes.rows)
        groups = groups_of(keys, keys.schema.names)
        if len(groups) <= _KEYS_AT_ONCE:
            if len(groups):
                yield changes, keys, groups
            return
        for start in range(0, len(groups), _KEYS_AT_ONCE):
            end = groups.starts[start + _KEYS_AT_ONCE : start + _KEYS_AT_ONCE + 1]
            places = groups.order[groups.starts[start] : int(end[0]) if len(end) else None]
            yield from self._parts(
                side, Weighted(changes.rows.take(pa.array(places)), changes.weights[places])
            )

    def _meet(self, side: Side, changes: Weighted, keys: pa.RecordBatch, groups: Segments) -> None:
        """Let changes of a side meet the rows of the other one."""
        own, other = self._sides[side], self._sides[1 - side]
        mine = np.zeros(len(changes.weights), np.int64)
        for found in other.parts_with_keys(keys.take(pa.array(groups.firsts))):
            theirs = self._pair(side, changes, groups, found, mine)
            if other.counts:
                self._move(_SIDES[1 - side], found, theirs)
        kept, partners = own.known_partners(changes, mine)
        own.store(kept, partners)
        if own.counts:
            self._appear(side, kept.where(self._shows(side, partners)))

    def _pair(
        self, side: Side, changes: Weighted, groups: Segments, found: Partners, mine: Numbers
    ) -> Numbers:
        """Add pairs to what is sent and the partners of changes to `mine`; return the partners of the rows found."""
        own, other = self._sides[side], self._sides[1 - side]
        theirs = np.zeros(len(found.weights), np.int64)
        for pairs in equal_pairs(groups, found.keys):
            here, there = pairs = self._condition.of(side, changes.rows, found.rows, pairs)
            if own.counts:
                np.add.at(mine, here, found.weights[there])
            if other.counts:
                np.add.at(theirs, there, changes.weights[here])
            if self._join.pairs and len(here):
                weights = changes.weights[here] * found.weights[there]
                self._add(paired(side, changes.rows, found.rows, pairs), weights)
        return theirs

    def _move(self, side: Side, found: Partners, more: Numbers) -> None:
        """Change the numbers of partners of rows that are kept, and send those that begin or cease to be alone."""
        moved = np.flatnonzero(more)
        rows, weights, before = found.rows.take(pa.array(moved)), found.weights[moved], found.partners[moved]
        after = before + more[moved]
        self._sides[side].move(rows, weights, before, after)
        shown = self._shows(side, after).astype(np.int64) - self._shows(side, before)
        self._appear(side, Weighted(rows, weights * shown).where(shown != 0))

    def _appear(self, side: Side, changes: Weighted) -> None:
        """Send rows that begin or cease to be in the result by themselves."""
        self._alone(side, changes)

    def _shows(self, side: Side, partners: Numbers) -> Mask:
        """Return which rows of a side are in the result by themselves, by the numbers of their partners."""
        alone: Mask = partners == 0
        return alone if KEEPING[self._join.kind][side] else ~alone

    def _alone(self, side: Side, changes: Weighted) -> None:
        """Send rows of a side by themselves."""
        if not len(changes.weights):
            return
        rows = changes.rows
        self._add(
            alone(side, rows, self._sides[1 - side].schema) if self._join.pairs else rows, changes.weights
        )

    def _add(self, rows: pa.RecordBatch, weights: Numbers) -> None:
        self._sending.append(Weighted(rows, weights))
        self._sent_rows += rows.num_rows
        if self._sent_rows >= _MOST_SENT:
            self._send()

    def _send(self) -> None:
        sending, self._sending, self._sent_rows = self._sending, [], 0
        if any(len(part.weights) and part.weights.min() < 0 for part in sending):
            rows = pa.concat_batches([part.rows for part in sending])
            sending = [net(Weighted(rows, np.concatenate([part.weights for part in sending])))]
        for changes in sending:
            self._replace(*(self._as_output(part) for part in repeated(changes)))

    def _as_output(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        return pa.RecordBatch.from_arrays(rows.columns, schema=self._schema)


class FinalJoinOperator(JoinOperator):
    """The join of inputs that end: pairs are sent as they are found, rows without a partner when all are known."""

    def finish(self) -> None:
        """Send what is known now that both inputs have ended."""
        self._work()
        for side in _SIDES:
            for rows, weights, partners in self._sides[side].all():
                self._alone(side, Weighted(rows, weights).where(self._shows(side, partners)))
                self._send()
        super().finish()

    def _appear(self, side: Side, changes: Weighted) -> None:
        """Send nothing: more partners may come."""
