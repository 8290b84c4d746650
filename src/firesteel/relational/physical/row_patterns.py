"""The node of MATCH_RECOGNIZE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import LogicalTypeFamily, RowType
from firesteel.common.logical_types.temporal import is_time_attribute
from firesteel.functions.columns.row_patterns import RowPattern
from firesteel.relational.expressions import Expression, SortKey
from firesteel.relational.logical import row_patterns as logical
from firesteel.relational.logical.row_patterns import shown_columns
from firesteel.relational.physical.node import PhysicalNode, Shown, UnaryNode
from firesteel.relational.physical.nodes import Exchange
from firesteel.relational.row_patterns import Definition


@dataclass(frozen=True)
class Match(UnaryNode):
    """The matches of a pattern among the rows of each partition; see the logical node."""

    partition: tuple[int, ...]
    order: tuple[SortKey, ...]
    pattern: RowPattern
    definitions: tuple[Definition, ...]
    measures: tuple[Expression, ...]
    type: RowType

    @property
    def row(self) -> RowType:
        """Return the type of the partition's columns and of the measures."""
        return self.type

    @property
    def shown(self) -> tuple[int, ...]:
        """Return the columns of the input that the result begins with."""
        return shown_columns(self.pattern, self.partition, self.order, len(self.input.row.fields))

    @property
    def called(self) -> str:
        """Return the name that Flink's errors have."""
        return "Match Recognize"

    @property
    def inserts_only(self) -> bool:
        """Return that updates are refused."""
        return True

    @property
    def state(self) -> str:
        """Return the rows that wait, and those of partial matches."""
        return "the rows behind the watermark, and those of partial matches"

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the clauses."""
        names = self.input.row.field_names
        if self.partition:
            yield "partitionBy", ", ".join(names[place] for place in self.partition)
        yield (
            "orderBy",
            ", ".join(f"{names[key.index]} {'ASC' if key.ascending else 'DESC'}" for key in self.order),
        )
        if self.measures:
            aliases = self.type.field_names[-len(self.measures) :]
            texts = (shown(measure, names) for measure in self.measures)
            yield "measures", ", ".join(map("{} AS {}".format, texts, aliases))
        pattern = self.pattern
        rows = f"{'ALL ROWS' if pattern.all_rows else 'ONE ROW'} PER MATCH"
        yield "rowsPerMatch", f"{rows} WITH TIMED OUT MATCHES" if pattern.timed_out else rows
        yield "after", f"SKIP {pattern.after}{f' {pattern.skips_to}' if pattern.skips_to else ''}"
        yield "pattern", str(pattern)
        if pattern.within is not None:
            yield "within", f"{pattern.within} ms"
        if self.definitions:
            texts = (f"{one.variable}={shown(one.condition, names)}" for one in self.definitions)
            yield "define", f"{{{', '.join(texts)}}}"


def match_node(node: logical.MatchRecognize, below: PhysicalNode, *, batch: bool) -> PhysicalNode:
    """Return what looks for matches in the rows of a node.

    Raises ProgramError, with Flink's reasons, unless the order begins with a time attribute that ascends; in BATCH mode
    any date or time may be the first.
    """
    first = node.order[0]
    field = below.row.fields[first.index]
    fits = field.type.has_family(LogicalTypeFamily.DATETIME) if batch else is_time_attribute(field.type)
    if not fits:
        raise ProgramError(
            "requires a time attribute as the first column of its ORDER BY",
            who="MATCH_RECOGNIZE",
            got=f"{field.name} {field.type}",
            hint="declare a WATERMARK for the column, or use a column AS PROCTIME()",
        )
    if not first.ascending:
        raise ProgramError(
            "requires an order that ascends in its time attribute", who="MATCH_RECOGNIZE", got="DESC"
        )
    return Match(
        Exchange(below, node.partition),
        node.partition,
        node.order,
        node.pattern,
        node.definitions,
        node.measures,
        node.type,
    )
