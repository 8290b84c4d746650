"""The logical nodes of `FOR SYSTEM_TIME AS OF`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

from firesteel.common.logical_types import BooleanType, Field, RowType
from firesteel.common.logical_types.temporal import is_proctime, regular
from firesteel.functions.columns.lookups import Retry
from firesteel.relational.expressions import Expression, references
from firesteel.relational.logical.joins import joined_row
from firesteel.relational.logical.nodes import LogicalNode, UnaryNode

TemporalKind = Literal["INNER", "LEFT"]
"""LEFT keeps left rows for which there is no version."""

TEMPORAL_KINDS: Final[dict[str, TemporalKind]] = {"INNER": "INNER", "LEFT": "LEFT"}


@dataclass(frozen=True)
class LookupHint:
    """What the hint LOOKUP says of a table; None is what the session or the connector says (times in milliseconds).

    Rows come out in their order, whether `ordered` or not.
    """

    asynchronous: bool | None = None
    ordered: bool = True
    capacity: int | None = None
    timeout: int | None = None
    retry: Retry | None = None


@dataclass(frozen=True)
class TemporalJoin(LogicalNode):
    """Each left row with the right row that is valid at its time, if the condition is TRUE for both.

    `time` is the place of a time attribute of the left relation. If it is one of event time, `version_time` is the
    place of the right relation's, and the right rows are versions: changes of a relation with a primary key. In
    processing time (`version_time` is None) right rows are looked up as left rows come. `condition` is over the left
    columns and then the right ones.
    """

    left: LogicalNode
    right: LogicalNode
    kind: TemporalKind
    condition: Expression
    time: int
    version_time: int | None
    hint: LookupHint | None = None

    def __post_init__(self) -> None:
        assert isinstance(self.condition.type, BooleanType)
        width = len(self.left.row.fields) + len(self.right.row.fields)
        assert all(0 <= index < width for index in references(self.condition))
        assert self.looks_up == (self.version_time is None)

    @property
    def inputs(self) -> tuple[LogicalNode, ...]:
        """Return both sides."""
        return self.left, self.right

    def with_inputs(self, inputs: tuple[LogicalNode, ...]) -> TemporalJoin:
        """Return the join of other relations."""
        left, right = inputs
        return replace(self, left=left, right=right)

    @property
    def looks_up(self) -> bool:
        """Return whether the time is processing time."""
        return is_proctime(self.left.row.fields[self.time].type)

    @property
    def row(self) -> RowType:
        """Return the columns of both sides; the right ones are no time attributes any more."""
        return joined_row(self.left.row, plain_times(self.right.row), self.kind)


@dataclass(frozen=True)
class Versions(UnaryNode):
    """All rows that have been the last one of their partition by time, in the order in which they came."""

    partition: tuple[int, ...]
    time: int

    @property
    def row(self) -> RowType:
        """Return the columns of the input."""
        return self.input.row


def plain_times(row: RowType) -> RowType:
    """Return columns of which none is a time attribute.

    >>> from firesteel.common.logical_types import TimestampKind, TimestampType
    >>> row = RowType.of({"ts": TimestampType(3, TimestampKind.ROWTIME)}, nullable=False)
    >>> plain_times(row).fields[0].type.kind.name
    'REGULAR'
    """
    return RowType(tuple(Field(field.name, regular(field.type)) for field in row.fields), nullable=False)
