"""Columnar sources and sinks without a job: what a source gives, and what a sink makes visible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from firesteel.common.logical_types import LogicalType, RowType, parse_type
from firesteel.common.logical_types.python_values import from_column
from firesteel.connectors.tables.values import rows_of
from firesteel.functions.columns.connectors import TableRequest
from firesteel.functions.columns.endpoints import Changes, ColumnSink, ColumnSource
from firesteel.functions.epoch import EpochFacts
from firesteel.functions.sink import WriterContext
from firesteel.functions.source import UNLIMITED, Split


def row_type(columns: str) -> RowType:
    """The type of rows with these columns: "a INT, b STRING"."""
    parsed = parse_type(f"ROW<{columns}> NOT NULL")
    assert isinstance(parsed, RowType)
    return parsed


def request(
    columns: str,
    options: Mapping[str, str],
    metadata: Mapping[str, LogicalType] | None = None,
    key: Sequence[str] | None = None,
    partitions: Sequence[str] = (),
) -> TableRequest:
    return TableRequest(
        "table 't'",
        "t",
        row_type(columns),
        metadata or {},
        None if key is None else tuple(key),
        tuple(partitions),
        dict(options),
        False,
    )


def read(source: ColumnSource, *splits: Split, row: RowType) -> list[tuple[Any, ...]]:
    """The rows of some splits, or of all."""
    found: list[tuple[Any, ...]] = []
    for split in splits or tuple(source.splits(frozenset())):
        end = UNLIMITED if split.end is None else split.end
        found += read_range(source, split, split.start, end, row)
    return found


def read_range(
    source: ColumnSource, split: Split, start: int, end: int, row: RowType
) -> list[tuple[Any, ...]]:
    return [
        tuple(value)
        for rows, _ in source.read_columns(split, start, end)
        for value in from_column(rows.to_struct_array(), row)
    ]


Change = tuple[str, tuple[Any, ...]]


def write(
    sink: ColumnSink,
    row: RowType,
    *batches: Sequence[tuple[Any, ...]],
    kinds: Sequence[Sequence[int]] | None = None,
    epoch: int = 1,
    state: Any = None,
    final: bool = True,
    parallelism: int = 1,
    now: int = 0,
) -> Any:
    """Write batches of rows in one epoch, commit it, and return the state for the next."""
    given = [
        (rows_of(row, batch), None if kinds is None else np.array(kinds[number], np.int8))
        for number, batch in enumerate(batches)
    ]
    facts = EpochFacts(epoch, f"try{epoch}", now, final=final)
    return write_changes(sink, *given, context=WriterContext("job", "sink", 0, parallelism, facts, state))


ONLY_EPOCH = WriterContext("job", "sink", 0, 1, EpochFacts(1, "try1", 0, final=True), None)


def write_changes(sink: ColumnSink, *batches: Changes, context: WriterContext = ONLY_EPOCH) -> Any:
    """Write changes in one epoch, commit it, and return the state for the next."""
    writer = sink.create_writer(context)
    for rows, kinds in batches:
        writer.write_columns(rows, kinds)
    committables = writer.prepare_commit()
    following = writer.snapshot_state()
    committer = sink.create_committer()
    committer.commit(committables)
    committer.commit(committables)
    committer.close()
    return following
