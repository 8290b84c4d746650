"""Tables of expressions: ``from_elements([row(1, "a"), row(2, lit("b").upper_case)])``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import RowType
from firesteel.relational.expressions import Call as Cast
from firesteel.relational.logical.nodes import LogicalNode, Project
from firesteel.relational.rules.substitution import refs
from firesteel.sql.binding.catalog import CatalogView
from firesteel.sql.binding.sources import no_table
from firesteel.table.elements import VALUE, Names
from firesteel.table.expressing.operations import Operation, trees_of
from firesteel.table.expressing.tree import Call, Kind, Tree, value_of
from firesteel.table.types import DataType

_METHOD = "from_elements"


def of_expressions(
    elements: Sequence[Any], schema: DataType | Names | None, catalog: CatalogView, who: str
) -> LogicalNode:
    """Return the rows that expressions stand for: of ``row(...)`` its values, of another one the column `value`.

    Values are cast to the types of a schema. Raises ProgramError for elements that are no expressions, and for rows of
    another number of columns.
    """
    rows = [_parts(tree) for tree in trees_of(elements, _METHOD)]
    names, kinds = _columns(schema, len(rows[0]))
    plan: LogicalNode | None = None
    for row in rows:
        if len(row) != len(names):
            raise ProgramError(f"requires rows of {len(names)} columns", who=who, got=f"{len(row)} values")
        trees = tuple(
            Call("as", (tree if kind is None else Call("cast", (tree, kind)), value_of(name)))
            for tree, kind, name in zip(row, kinds, names, strict=True)
        )
        made = Operation(no_table(), catalog, _METHOD, trees).selected()
        plan = made if plan is None else Operation(plan, catalog, "union_all").combined(made)
    assert plan is not None
    return _as_declared(plan, kinds)


def _as_declared(plan: LogicalNode, kinds: Sequence[Kind | None]) -> LogicalNode:
    """Return rows whose columns may be NULL where a schema says so, even if no value is."""
    fields = plan.row.fields
    types = [field.type if kind is None else kind.type for field, kind in zip(fields, kinds, strict=True)]
    if all(field.type.nullable or not kind.nullable for field, kind in zip(fields, types, strict=True)):
        return plan
    columns = [
        Cast(kind, "CAST", (ref,)) if kind.nullable and not ref.type.nullable else ref
        for kind, ref in zip(types, refs(plan.row, range(len(fields))), strict=True)
    ]
    return Project(plan, tuple(columns), tuple(plan.row.field_names))


def _parts(tree: Tree) -> tuple[Tree, ...]:
    return tree.arguments if isinstance(tree, Call) and tree.function == "row" else (tree,)


def _columns(schema: DataType | Names | None, count: int) -> tuple[list[str], Sequence[Kind | None]]:
    """Return the names of the columns, and the types that they are cast to."""
    if isinstance(schema, DataType):
        kind = schema.logical_type
        row = kind if isinstance(kind, RowType) else RowType.of({VALUE: kind})
        return list(row.field_names), [Kind(child) for child in row.children]
    names = list(schema) if schema else [f"f{place}" for place in range(count)]
    return names, [None] * len(names)
