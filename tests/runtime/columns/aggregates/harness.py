"""Runs aggregates over changes in memory: epochs, subtasks, and the table that the changes give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from firesteel.common.logical_types import Field, LogicalType, RowType
from firesteel.common.logical_types.arrow import to_arrow_schema
from firesteel.common.logical_types.columns import to_column
from firesteel.common.types import RowKind
from firesteel.functions.columns.aggregates import Aggregation, GroupAggregate
from firesteel.functions.epoch import EpochFacts
from firesteel.relational.expressions import InputRef
from firesteel.relational.functions.aggregates import resolve_aggregate
from firesteel.relational.translation import program
from firesteel.runtime.columns.aggregates.computed import ComputedLocalAggregateOperator
from firesteel.runtime.columns.aggregates.operators import (
    FinalAggregateOperator,
    GroupAggregateOperator,
    LocalAggregateOperator,
)
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.keying import KeyColumnsEdge
from firesteel.runtime.operator import Epoch, Operator, OperatorContext
from firesteel.runtime.output import Output
from firesteel.state.arrangements.arrangement import Arrangement
from firesteel.state.arrangements.layout import Layout
from firesteel.state.arrangements.live import LiveArrangements

MAX_PARALLELISM = 128

Change = tuple[int, tuple[Any, ...]]
"""A kind and a row."""


class InMemory(LiveArrangements):
    """Arrangements that nobody stores."""

    def __init__(self) -> None:
        super().__init__("test", {})
        self.all: list[Arrangement] = []

    def declare(self, name: str, layout: Layout) -> Arrangement:
        self.all.append(super().declare(name, layout))
        return self.all[-1]


class Collected:
    """Keeps the batches that it gets."""

    def __init__(self) -> None:
        self.batches: list[ColumnBatch] = []

    def receive(self, batch: Any) -> None:
        self.batches.append(batch)

    def receive_watermark(self, watermark: int | None) -> None:
        assert watermark == 0, f"epochs begin at 0 here, and nothing advances it: {watermark}"

    def take(self) -> list[ColumnBatch]:
        batches, self.batches = self.batches, []
        return batches


class Subtask:
    """An operator with its state and what it emits."""

    def __init__(self, operator: Operator[ColumnBatch]) -> None:
        self.operator = operator
        self.output = Collected()
        self.arrangements = InMemory()
        operator.open(
            OperatorContext(
                job_id="job", job_name="job", operator_id="op", name="op", who="op", subtask=0, parallelism=1,
                max_parallelism=MAX_PARALLELISM, attempt=0, job_parameters={}, output=Output([self.output]),
                side_outputs={}, arrangements=self.arrangements,
            )
        )  # fmt: skip

    def begin(self, number: int, now: int, *, final: bool) -> None:
        for arrangement in self.arrangements.all:
            arrangement.advance(now)
        facts = EpochFacts(number, "a", now, final)
        self.operator.begin_epoch(Epoch(facts, 0))

    def end(self, *, final: bool) -> list[ColumnBatch]:
        if final:
            self.operator.finish()
        self.operator.end_epoch()
        for arrangement in self.arrangements.all:
            arrangement.changes()
        return self.output.take()


class Query:
    """An aggregate in one or two phases at some parallelism."""

    def __init__(
        self, spec: GroupAggregate, parallelism: int = 1, *, local: bool = False, bounded: bool = False
    ) -> None:
        self.spec = spec
        self.locals = [Subtask(_local(spec, bounded)) for _ in range(parallelism if local else 0)]
        groups = FinalAggregateOperator if bounded else GroupAggregateOperator
        self.subtasks = [Subtask(groups(spec, partial=local)) for _ in range(parallelism)]
        names = (spec.output if local else spec.input).field_names
        keys = tuple(names[: len(spec.keys)] if local else [names[place] for place in spec.keys])
        self.edge = KeyColumnsEdge(keys, parallelism, MAX_PARALLELISM)
        self.number = 0

    def epoch(
        self, batches: Sequence[ColumnBatch], now: int = 0, *, final: bool = False
    ) -> list[ColumnBatch]:
        """Process the batches of an epoch; return the changes."""
        self.number += 1
        for subtask in (*self.locals, *self.subtasks):
            subtask.begin(self.number, now, final=final)
        if self.locals:
            for place, batch in enumerate(batches):
                self.locals[place % len(self.locals)].operator.process(batch, 0)
            batches = [batch for subtask in self.locals for batch in subtask.end(final=final)]
        for batch in batches:
            moved, targets = self.edge.direct(ColumnBatch.decode(memoryview(batch.encode()[1])))
            parts = [(0, moved)] if targets is None else moved.scatter(targets, len(self.subtasks))
            for target, part in parts:
                self.subtasks[target].operator.process(part, 0)
        return [batch for subtask in self.subtasks for batch in subtask.end(final=final)]


def _local(spec: GroupAggregate, bounded: bool) -> LocalAggregateOperator:
    if not bounded:
        return LocalAggregateOperator(spec)
    row = spec.input
    columns = [InputRef(field.type, place) for place, field in enumerate(row.fields)]
    return ComputedLocalAggregateOperator(spec, program(row, columns, row.field_names))


def batch_of(row: RowType, changes: Sequence[Change]) -> ColumnBatch:
    """Return changes as a batch."""
    schema = to_arrow_schema(row)
    columns = [
        to_column([values[place] for _, values in changes], field.type, field.name)
        for place, field in enumerate(row.fields)
    ]
    kinds = np.array([kind for kind, _ in changes], np.int8)
    rows = pa.RecordBatch.from_arrays(columns, schema=schema)
    return ColumnBatch(rows, None if (kinds == RowKind.INSERT.value).all() else kinds)


class Table:
    """The table that changes give, each of which must be valid; `keys` is the number of columns that identify a row."""

    def __init__(self, keys: int, *, upsert: bool = False) -> None:
        self.rows: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        self._keys = keys
        self._upsert = upsert

    def apply(self, batches: Sequence[ColumnBatch]) -> None:
        for batch in batches:
            columns = [column.to_pylist() for column in batch.rows.columns]
            for kind, row in zip(
                batch.all_kinds().tolist(), zip(*map(frozen, columns), strict=True), strict=True
            ):
                self._change(RowKind(kind), row)

    def _change(self, kind: RowKind, row: tuple[Any, ...]) -> None:
        key = row[: self._keys]
        if kind is RowKind.INSERT:
            assert key not in self.rows, f"{row} is there already"
            self.rows[key] = row
        elif kind is RowKind.UPDATE_AFTER:
            assert not self._upsert or key in self.rows
            assert self._upsert or key not in self.rows, f"{row}: no -U before +U"
            self.rows[key] = row
        else:
            old = self.rows.pop(key)
            assert old == row, f"{kind} {row} instead of {old}"


def frozen(values: list[Any]) -> list[Any]:
    """Return values that can be compared and hashed; NaN equals itself."""
    return [_frozen(value) for value in values]


def _frozen(value: Any) -> Any:
    if isinstance(value, float) and value != value:
        return "NaN"
    if isinstance(value, list):
        items = list(map(_frozen, value))
        return tuple(sorted(items) if items and isinstance(items[0], tuple) else items)
    return value


def row_of(*types: LogicalType) -> RowType:
    """Return a row with columns a, b, c, ..."""
    return RowType(tuple(Field("abcdefgh"[place], kind) for place, kind in enumerate(types)), nullable=False)


def call(
    row: RowType, function: str, *arguments: int, distinct: bool = False, filter: int | None = None
) -> Aggregation:
    """Return an aggregation with the result type that SQL gives it."""
    kinds = tuple(row.fields[place].type for place in arguments)
    references = [InputRef(kind, place) for kind, place in zip(kinds, arguments, strict=True)]
    resolved = resolve_aggregate(function, references)
    kind = resolved.type.copy(nullable=True) if resolved.function.of_nothing else resolved.type
    text = f"{function}({', '.join(map(str, arguments))})"
    return Aggregation(resolved.function.name, arguments, kinds, kind, text, distinct, filter)


def aggregate(row: RowType, keys: Sequence[int], *calls: Aggregation, **more: Any) -> GroupAggregate:
    """Return an aggregate whose columns are k0, k1, ... and r0, r1, ..."""
    fields = [Field(f"k{number}", row.fields[place].type) for number, place in enumerate(keys)]
    fields += [Field(f"r{number}", call.type) for number, call in enumerate(calls)]
    return GroupAggregate(row, RowType(tuple(fields), nullable=False), tuple(keys), calls, **more)
