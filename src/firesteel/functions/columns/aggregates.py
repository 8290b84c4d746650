"""What an aggregating operator computes, as data."""

from __future__ import annotations

from dataclasses import dataclass

from firesteel.common.logical_types import LogicalType, RowType
from firesteel.functions.columns.python_functions import PythonAggregate


@dataclass(frozen=True)
class Aggregation:
    """One aggregate function over columns of the input.

    `arguments` and `filter` are places of columns; `types` are those of the arguments, which are cast already. `filter`
    is a column of booleans: other rows than those with TRUE do not count. `shown` is the call as the user knows it.
    `user` is the function if it is one of the user's, which has times in `zone`.
    """

    function: str
    arguments: tuple[int, ...]
    types: tuple[LogicalType, ...]
    type: LogicalType
    shown: str
    distinct: bool = False
    filter: int | None = None
    ignore_nulls: bool = False
    order: tuple[tuple[int, bool], ...] = ()
    user: PythonAggregate | None = None
    zone: str = "UTC"


@dataclass(frozen=True)
class GroupAggregate:
    """Aggregates by key: `output` has the keys, then a column for each aggregation.

    `retracts` means that the input has other kinds of changes than inserts. `update_before` means that the receiver
    needs the old row of an update. `time_to_live` (milliseconds) is how long a group lives after its last change (None:
    for ever). `key_groups` are known from the edge. Without keys there is one group, which exists from the start in
    BATCH mode, and from the first row in STREAMING mode, as in Flink.
    """

    input: RowType
    output: RowType
    keys: tuple[int, ...]
    aggregations: tuple[Aggregation, ...]
    retracts: bool = False
    update_before: bool = True
    time_to_live: int | None = None
