"""INSERT: a query to the rows that a table takes."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from firesteel.common.logical_types import Field, LogicalType
from firesteel.common.logical_types.casts import supports_implicit_cast
from firesteel.common.suggestions import suggestion
from firesteel.relational.expressions import Expression, InputRef, Literal
from firesteel.relational.logical.nodes import LogicalNode, Project, TableSink
from firesteel.relational.tables import ComputedColumn, ResolvedTable
from firesteel.sql.binding.context import Context, name_parts
from firesteel.sql.binding.expressions import Expressions
from firesteel.sql.binding.functions import as_type, written_cast
from firesteel.sql.binding.hints import with_hints
from firesteel.sql.binding.scope import Scope
from firesteel.sql.statements.parts import Name
from firesteel.sql.statements.queries import Insert


def bind_insert(insert: Insert, context: Context) -> TableSink:
    """Return the plan of an INSERT; see `firesteel.sql.binding.statements.bind_insert`."""
    found = context.object(name_parts(insert.table))
    if not isinstance(found, ResolvedTable):
        raise context.text.wrong(
            insert.table, "requires a table to insert into", got=f"the view {found.identifier}"
        )
    table = with_hints(found, insert.table, context)
    plan = context.query(insert.query)
    static = _static_values(insert, table, context)
    targets = _targets(insert, table, static, context)
    _check_width(plan, targets, table, insert, context)
    values: dict[str, Expression] = dict(static)
    for place, (target, given) in enumerate(zip(targets, plan.row.fields, strict=True)):
        values[target.name] = _converted(InputRef(given.type, place), given.name, target, insert, context)
    written = _with_all(plan, values, table, insert, context)
    return TableSink(
        written,
        table,
        insert.overwrite,
        insert.conflict,
        place=context.text.place(insert.table),
    )


def _written(table: ResolvedTable) -> list[Field]:
    return [Field(column.name, column.type) for column in table.written]


def _target(name: Name, table: ResolvedTable, context: Context) -> Field:
    (part,) = name.parts[-1:]
    for field in _written(table):
        if field.name == part:
            return field
    kinds = {column.name: column for column in table.columns}
    if part in kinds:
        kind = "computed" if isinstance(kinds[part], ComputedColumn) else "virtual metadata"
        raise context.text.wrong(
            name.span, "requires columns that can be written", got=f"the {kind} column {part}"
        )
    hint = suggestion(part, [field.name for field in _written(table)])
    raise context.text.wrong(name.span, f"requires a column of {table.identifier}", got=part, hint=hint)


def _static_values(insert: Insert, table: ResolvedTable, context: Context) -> dict[str, Expression]:
    """Return the values of PARTITION (column = value)."""
    found: dict[str, Expression] = {}
    for item in insert.partition:
        target = _target(item.column, table, context)
        if target.name not in table.partition_keys:
            raise context.text.wrong(
                item.column.span,
                "requires columns of PARTITIONED BY in PARTITION",
                got=target.name,
                hint=suggestion(target.name, table.partition_keys),
            )
        if target.name in found:
            raise context.text.wrong(
                item.column.span, "requires each column once in PARTITION", got=target.name
            )
        if item.value is None:
            continue
        value = Expressions(context, Scope(), "PARTITION").bind(item.value)
        found[target.name] = written_cast(value, target.type, False, item.value, context.text)
    return found


def _targets(
    insert: Insert, table: ResolvedTable, static: dict[str, Expression], context: Context
) -> list[Field]:
    """Return the columns that the query's columns go to, in their order."""
    if insert.columns is None:
        return [field for field in _written(table) if field.name not in static]
    found: list[Field] = []
    for name in insert.columns:
        target = _target(name, table, context)
        if target in found or target.name in static:
            raise context.text.wrong(name.span, "requires each column once", got=f"{target.name} twice")
        found.append(target)
    return found


def _check_width(
    plan: LogicalNode, targets: Sequence[Field], table: ResolvedTable, insert: Insert, context: Context
) -> None:
    given = plan.row.fields
    if len(given) == len(targets):
        return
    raise context.text.wrong(
        insert.query,
        f"requires {len(targets)} columns for {table.identifier}: {_shown(targets)}",
        got=f"{len(given)}: {_shown(given)}",
    )


def _shown(fields: Sequence[Field]) -> str:
    return "[" + ", ".join(f"{field.name}: {field.type}" for field in fields) + "]"


def _converted(value: InputRef, name: str, target: Field, insert: Insert, context: Context) -> Expression:
    source, wanted = value.type.copy(nullable=True), _nullable(target.type)
    if not supports_implicit_cast(source, wanted):
        raise context.text.wrong(
            _column_place(insert.query, value.index),
            f"requires a value of {target.type} for the column {target.name}",
            got=f"{name}, which is {value.type}",
            hint=f"write CAST(... AS {wanted})",
        )
    return as_type(value, target.type).at(context.text.place(_column_place(insert.query, value.index)))


def _nullable(kind: LogicalType) -> LogicalType:
    """Return a type without its NOT NULL: whether there are NULLs is looked at when rows are written."""
    return kind.copy(nullable=True)


def _column_place(query: exp.Expr, place: int) -> exp.Expr:
    """Return where a column of a query's result is written, or the query."""
    if not isinstance(query, exp.Select) or any(
        item.find(exp.Star) is not None for item in query.expressions[: place + 1]
    ):
        return query
    return query.expressions[place] if place < len(query.expressions) else query


def _with_all(
    plan: LogicalNode, values: dict[str, Expression], table: ResolvedTable, insert: Insert, context: Context
) -> LogicalNode:
    """Return the plan with all columns of the table, in its order; those without a value are NULL."""
    expressions = []
    for field in _written(table):
        value = values.get(field.name)
        if value is None and not field.type.nullable:
            raise context.text.wrong(
                insert.table,
                "requires a value for each column that is NOT NULL",
                got=f"no value for {field.name}",
            )
        expressions.append(value if value is not None else Literal(field.type, None))
    names = tuple(field.name for field in _written(table))
    refs = tuple(InputRef(field.type, place) for place, field in enumerate(plan.row.fields))
    if tuple(expressions) == refs and plan.row.field_names == list(names):
        return plan
    return Project(plan, tuple(expressions), names)
