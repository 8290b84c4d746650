"""VECTOR_SEARCH: rows meet the rows of a table whose vectors are most similar to theirs.

Source: Flink's StreamPhysicalVectorSearchTableFunction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from firesteel.common.errors import UnsupportedError
from firesteel.common.logical_types import RowType
from firesteel.functions.columns import joins, vectors
from firesteel.functions.columns.lookups import FullCache, LookupCalls, LookupTable, ScannableLookup
from firesteel.functions.columns.program import Program
from firesteel.functions.columns.vectors import Metric
from firesteel.relational.expressions import Call, Expression
from firesteel.relational.functions import FUNCTIONS
from firesteel.relational.logical.vectors import VectorSearch
from firesteel.relational.physical.joins import KIND_NAMES
from firesteel.relational.physical.lookup_joins import Lookups, delivered_table
from firesteel.relational.physical.node import PhysicalNode, Shown, UnaryNode
from firesteel.relational.rules.substitution import is_deterministic, refs
from firesteel.relational.tables import ResolvedTable, shown_name
from firesteel.relational.translation import program

WHO = "VECTOR_SEARCH"


@dataclass(frozen=True)
class VectorSearchTableFunction(UnaryNode):
    """Each row with the `most` rows of a table that are nearest to it.

    `delivered` are the columns of the table, of which `columns` and `condition` make the rows that are searched;
    `found` has these columns, and the score. `searched` is the place of the vector among them, and `query` that in the
    input.
    """

    table: ResolvedTable
    lookup: LookupTable = field(compare=False, repr=False)
    kind: joins.JoinKind
    query: int
    delivered: RowType
    searched: int
    most: int
    metric: Metric
    config: tuple[tuple[str, str], ...]
    columns: tuple[Expression, ...]
    condition: Expression | None
    found: RowType
    type: RowType

    @property
    def row(self) -> RowType:
        """Return the columns of the input, those of the table, and the score."""
        return self.type

    @property
    def inserts_only(self) -> bool:
        """Return that rows never change: a search later on would find others."""
        return True

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the table, the kind, the vectors, how many rows are found, and the columns."""
        yield "table", shown_name(self.table)
        yield "joinType", KIND_NAMES[self.kind]
        yield "columnToSearch", self.found.field_names[self.searched]
        yield "columnToQuery", self.input.row.field_names[self.query]
        yield "topK", str(self.most)
        if self.config:
            yield "config", f"{{{', '.join(f'{key}={value}' for key, value in self.config)}}}"
        if self.condition is not None:
            yield "where", shown(self.condition, self.delivered.field_names)
        yield "select", ", ".join(self.row.field_names)

    def connected(self, lookup: Lookups) -> VectorSearchTableFunction:
        """Return the same search of a table that is connected anew.

        Raises UnsupportedError if not all of its rows can be kept.
        """
        return replace(self, lookup=_kept(lookup, self.table, self.delivered))

    def vector_search(self, zone: str) -> vectors.VectorSearch:
        """Return what the operator does; `zone` is the session's time zone."""
        join = joins.Join(self.kind, self.input.row, self.found, self.row)
        return vectors.VectorSearch(
            join,
            self.lookup,
            self.query,
            self.searched,
            self.most,
            self.metric,
            self._program(zone),
        )

    def _program(self, zone: str) -> Program | None:
        """Return what makes the rows that are searched of the table's; None if they are the same."""
        if self.condition is None and self.columns == refs(self.delivered, range(len(self.delivered.fields))):
            return None
        return program(self.delivered, self.columns, self.found.field_names[:-1], self.condition, zone)


def vector_search_node(node: VectorSearch, given: PhysicalNode, lookup: Lookups) -> PhysicalNode:
    """Return the search of a planned input.

    Raises UnsupportedError if what is searched is no table of which all rows can be kept.
    """
    found = delivered_table(node.searched)
    if found is None:
        raise _unsupported("of the result of a query")
    table, delivered, columns, condition = found
    if not all(map(_is_fixed, columns if condition is None else (*columns, condition))):
        raise _unsupported("with columns that are other ones at each time")
    return VectorSearchTableFunction(
        given,
        table,
        _kept(lookup, table, delivered),
        "LEFT" if node.keeps else "INNER",
        node.query,
        delivered,
        node.column,
        node.most,
        node.metric,
        node.config,
        columns,
        condition,
        node.found,
        node.row,
    )


def _kept(lookup: Lookups, table: ResolvedTable, delivered: RowType) -> LookupTable:
    """Return how all rows of a table are kept. Raises UnsupportedError if they cannot be."""
    found = lookup(table, tuple(delivered.field_names[:1]), LookupCalls(asynchronous=False))
    if (
        found is None
        or not isinstance(found.lookup, ScannableLookup)
        or not isinstance(found.cache, FullCache)
    ):
        raise _unsupported(f"in the table {shown_name(table)}, of which not all rows are kept")
    return found


def _is_fixed(expression: Expression) -> bool:
    """Return whether a value of a row is the same whenever it is computed."""
    timed = (
        isinstance(expression, Call)
        and expression.function in FUNCTIONS
        and FUNCTIONS.find(expression.function).temporal
    )
    return not timed and is_deterministic(expression) and all(map(_is_fixed, expression.operands))


def _unsupported(what: str) -> UnsupportedError:
    return UnsupportedError(
        f"is not supported {what}",
        who=WHO,
        hint="search a table of the connector filesystem, or one of jdbc with 'lookup.cache' = 'FULL'",
    )
