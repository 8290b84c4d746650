"""Joins with `FOR SYSTEM_TIME AS OF` processing time: rows of a table are looked up.

Source: Flink's CommonPhysicalLookupJoin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from firesteel.common.errors import ProgramError, UnsupportedError
from firesteel.common.logical_types import BigIntType, Field, RowType
from firesteel.common.logical_types.arrow import to_arrow
from firesteel.common.logical_types.columns import to_column
from firesteel.functions.columns import joins, lookups
from firesteel.functions.columns.lookups import LookupCalls, LookupTable
from firesteel.functions.columns.program import Program
from firesteel.relational.expressions import Call, Expression, InputRef, Literal
from firesteel.relational.logical.joins import different_names, equality
from firesteel.relational.logical.nodes import Filter, LogicalNode, Project, TableScan, Watermark
from firesteel.relational.logical.temporal_joins import LookupHint, TemporalJoin, plain_times
from firesteel.relational.options import PlanOptions
from firesteel.relational.physical.joins import KIND_NAMES, pair_condition
from firesteel.relational.physical.node import Keys, PhysicalNode, Shown, UnaryNode
from firesteel.relational.physical.texts import infix
from firesteel.relational.rules.substitution import ALWAYS, all_of, conjuncts, moved, refs, substituted
from firesteel.relational.tables import ResolvedTable, delivery_order, shown_name
from firesteel.relational.translation import program

WHO: Final = "Lookup join"
_NUMBER: Final = "$key"

Lookups = Callable[[ResolvedTable, tuple[str, ...], LookupCalls], LookupTable | None]
"""How rows of a table are looked up by some columns; None if they cannot be."""


class _Table(NamedTuple):
    """What a right side is: columns and conditions over the columns of a table."""

    scan: TableScan
    columns: tuple[Expression, ...]
    conditions: tuple[Expression, ...]


class DeliveredTable(NamedTuple):
    """What a right side is: columns and a condition over `delivered`, the columns that a table's connector delivers."""

    table: ResolvedTable
    delivered: RowType
    columns: tuple[Expression, ...]
    condition: Expression | None


class Key(NamedTuple):
    """A column of the table, by its place, and what it must equal: a column of the left rows, or a constant."""

    column: int
    value: int | Literal


@dataclass(frozen=True)
class LookupJoin(UnaryNode):
    """Left rows with the rows of a table that have their keys.

    `delivered` are the columns of the table, of which `columns` and `condition` make the `right` ones. `rest` is what
    else must be TRUE of a pair, over the left columns and the right ones.
    """

    table: ResolvedTable
    lookup: LookupTable = field(compare=False, repr=False)
    kind: joins.JoinKind
    keys: tuple[Key, ...]
    delivered: RowType
    columns: tuple[Expression, ...]
    condition: Expression | None
    right: RowType
    rest: Expression | None
    type: RowType
    hint: LookupHint
    calls: LookupCalls

    @property
    def row(self) -> RowType:
        """Return the columns of the result."""
        return self.type

    @property
    def upsert_keys(self) -> Keys:
        """Return those of the left side, if a row of it has one partner at most."""
        key = self.table.primary_key
        names = {self.delivered.field_names[known.column] for known in self.keys}
        return self.input.upsert_keys if key is not None and {*key} <= names else frozenset()

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the table, the kind, how it is asked, the keys, conditions and columns."""
        names = self.delivered.field_names
        yield "table", shown_name(self.table)
        yield "joinType", KIND_NAMES[self.kind]
        if self.lookup.asynchronous:
            mode = "ORDERED" if self.hint.ordered else "UNORDERED"
            yield "async", f"{mode}, {self.calls.timeout}ms, {self.calls.capacity}"
        retry = self.hint.retry
        if retry is not None:
            yield "retry", f"lookup_miss, FIXED_DELAY, {retry.delay}ms, {retry.attempts}"
        own = self.input.row.field_names
        yield (
            "lookup",
            ", ".join(
                f"{names[key.column]}={own[key.value] if isinstance(key.value, int) else infix(key.value, [])}"
                for key in self.keys
            ),
        )
        if self.condition is not None:
            yield "where", shown(self.condition, names)
        if self.rest is not None:
            pair = different_names([*own, *self.right.field_names])
            yield "joinCondition", shown(self.rest, pair)
        yield "select", ", ".join(self.row.field_names)

    def connected(self, lookup: Lookups) -> LookupJoin:
        """Return the same join of a table that is connected anew.

        Raises UnsupportedError if its rows cannot be looked up.
        """
        names = tuple(self.delivered.field_names[key.column] for key in self.keys)
        return replace(self, lookup=looked_up(lookup, self.table, names, self.calls))

    def lookup_join(self, zone: str) -> lookups.LookupJoin:
        """Return what the operator does."""
        fields = self.delivered.fields
        join = joins.Join(
            self.kind,
            self.input.row,
            self.right,
            self.row,
            condition=pair_condition(self.input.row, self.right, self.rest, zone),
        )
        return lookups.LookupJoin(
            join,
            self.lookup,
            RowType(tuple(fields[key.column] for key in self.keys), nullable=False),
            tuple(
                key.value
                if isinstance(key.value, int)
                else to_column([key.value.value], fields[key.column].type.copy(True), fields[key.column].name)
                for key in self.keys
            ),
            self._program(zone),
            self.hint.retry,
        )

    def _program(self, zone: str) -> Program | None:
        """Return what makes the right columns of the table's rows; None if they are the same."""
        width = len(self.delivered.fields)
        if self.condition is None and self.columns == refs(self.delivered, range(width)):
            return None
        number = BigIntType(nullable=False)
        given = RowType((*self.delivered.fields, Field(_NUMBER, number)), nullable=False)
        values = (*self.columns, InputRef(number, width))
        return program(given, values, [*self.right.field_names, _NUMBER], self.condition, zone)


def lookup_join_node(
    node: TemporalJoin, left: PhysicalNode, lookup: Lookups, options: PlanOptions
) -> PhysicalNode:
    """Return the lookup join of a planned left side.

    Raises UnsupportedError if the right side is no table whose rows can be looked up, and ProgramError if no column of
    it must equal anything.
    """
    found = delivered_table(node.right)
    if found is None:
        raise _unsupported("the result of a query")
    table, delivered, columns, condition = found
    keys, rest = _keys_and_rest(node.condition, len(left.row.fields), columns)
    if not keys:
        raise ProgramError(
            f"requires an equality condition on fields of table {shown_name(table)}",
            who=WHO,
            got="none, with a column of the table as it is on one side, and a value of the same type on the other",
            hint="cast the value of the left table to the type of the column",
        )
    hint = node.hint or LookupHint()
    calls = LookupCalls(
        hint.asynchronous,
        options.lookup_capacity if hint.capacity is None else hint.capacity,
        options.lookup_timeout if hint.timeout is None else hint.timeout,
    )
    names = tuple(delivered.field_names[key.column] for key in keys)
    return LookupJoin(
        left,
        table,
        looked_up(lookup, table, names, calls),
        node.kind,
        keys,
        delivered,
        columns,
        condition,
        plain_times(node.right.row),
        rest,
        node.row,
        hint,
        calls,
    )


def looked_up(
    lookup: Lookups, table: ResolvedTable, names: tuple[str, ...], calls: LookupCalls
) -> LookupTable:
    """Return how rows of a table are looked up by some columns. Raises UnsupportedError if they cannot be."""
    found = lookup(table, names, calls)
    if found is None:
        raise _unsupported(f"the table {shown_name(table)}")
    return found


def delivered_table(node: LogicalNode) -> DeliveredTable | None:
    """Return the table that a relation is computed of, row by row; None if it is of none."""
    found = _table_of(node)
    if found is None:
        return None
    table, order = found.scan.table, delivery_order(found.scan.table.read)
    now = {place: order.index(place) for place in range(len(order))}
    columns = tuple(moved(column, now) for column in found.columns)
    conditions = [moved(condition, now) for condition in found.conditions]
    fields = tuple(Field(table.read[place].name, table.read[place].type) for place in order)
    delivered = RowType(fields, nullable=False)
    return DeliveredTable(table, delivered, columns, all_of(conditions) if conditions else None)


def _unsupported(what: str) -> UnsupportedError:
    return UnsupportedError(
        f"is not supported yet with {what}, whose rows cannot be looked up",
        who="Processing-time temporal join",
        hint="join with a table of the connector jdbc, filesystem or python, or FOR SYSTEM_TIME AS OF a row time",
    )


def _table_of(node: LogicalNode) -> _Table | None:
    """Return the table that a relation is computed of, row by row; None if it is of none."""
    if isinstance(node, TableScan):
        return _Table(node, refs(node.row, range(len(node.row.fields))), ())
    if not isinstance(node, Watermark | Filter | Project):
        return None
    below = _table_of(node.input)
    if below is None or isinstance(node, Watermark):
        return below
    if isinstance(node, Filter):
        return below._replace(conditions=(*below.conditions, substituted(node.condition, below.columns)))
    return below._replace(columns=tuple(substituted(value, below.columns) for value in node.expressions))


def _keys_and_rest(
    condition: Expression, width: int, columns: tuple[Expression, ...]
) -> tuple[tuple[Key, ...], Expression | None]:
    """Return the keys, in the order of the table's columns, and what else the condition says."""
    keys: dict[int, Key] = {}
    rest: list[Expression] = []
    for part in conjuncts(condition):
        key = _key(part, width, columns)
        if key is not None and key.column not in keys:
            keys[key.column] = key
        elif part != ALWAYS:
            rest.append(part)
    return tuple(keys[column] for column in sorted(keys)), all_of(rest) if rest else None


def _key(part: Expression, width: int, columns: tuple[Expression, ...]) -> Key | None:
    """Return the key that a part of a condition is; None if it is none."""
    found = equality(part, width)
    if found is not None:
        column = columns[found.right.index] if isinstance(found.right, InputRef) else None
        if found.null_safe or not (isinstance(found.left, InputRef) and isinstance(column, InputRef)):
            return None
        same = to_arrow(found.left.type) == to_arrow(column.type)
        return Key(column.index, found.left.index) if same else None
    if not (isinstance(part, Call) and part.function == "="):
        return None
    for one, other in (part.arguments, part.arguments[::-1]):
        if not (isinstance(one, InputRef) and one.index >= width and isinstance(other, Literal)):
            continue
        column = columns[one.index - width]
        if isinstance(column, InputRef) and to_arrow(column.type) == to_arrow(other.type):
            return Key(column.index, other) if other.value is not None else None
    return None
