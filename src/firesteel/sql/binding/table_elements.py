"""What CREATE TABLE and ALTER TABLE declare: columns, computed columns, keys and watermarks.

`columns` are those of the whole table by their names, in their order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sqlglot import exp

from firesteel.common.logical_types import Field, LocalZonedTimestampType, ObjectIdentifier, TimestampType
from firesteel.common.logical_types.temporal import is_proctime
from firesteel.common.places import Source, Span
from firesteel.common.suggestions import suggestion
from firesteel.functions.columns.connectors import TableDistribution
from firesteel.relational.expressions import Expression, InputRef
from firesteel.relational.functions.times import SOURCE_WATERMARK, source_watermark
from firesteel.relational.tables import (
    ComputedColumn,
    MetadataColumn,
    PhysicalColumn,
    ResolvedTable,
    TableColumn,
    WatermarkSpec,
)
from firesteel.sql import nodes
from firesteel.sql.binding.context import Context
from firesteel.sql.binding.expressions import Expressions
from firesteel.sql.binding.maintenance import Maintenance
from firesteel.sql.binding.places import Text
from firesteel.sql.binding.scope import Relation, Scope
from firesteel.sql.binding.types import type_of
from firesteel.sql.statements import parts
from firesteel.sql.writing.parts import quoted_sql

_MOST_DIGITS: Final = 3
Columns = Mapping[str, TableColumn]


@dataclass(frozen=True, eq=False)
class Written:
    """An expression of a declaration, and the text that it stands in; `shown` is how Flink shows it."""

    node: exp.Expr
    source: Source

    @property
    def shown(self) -> str:
        """Return the expression with all names in quotes."""
        return quoted_sql(self.node)


@dataclass(frozen=True, eq=False)
class DeclaredTable:
    """A table, and what it computes as it was written, which is bound again when the table is altered.

    `computed` has the expression of each computed column by the column's name, `watermark` that of the watermark.
    `key_name` is the name of the primary key, None if nobody gave one. `maintenance` is how a materialised table is
    kept fresh, None for another one.
    """

    table: ResolvedTable
    computed: Mapping[str, Written] = field(default_factory=dict)
    watermark: Written | None = None
    key_name: str | None = None
    maintenance: Maintenance | None = None

    @property
    def identifier(self) -> ObjectIdentifier:
        """Return the table's full name."""
        return self.table.identifier


def declared_column(column: parts.Column, text: Text) -> TableColumn:
    """Return a column; of a computed one, the type and the expression are still to be found."""
    (name,) = column.name.parts
    if not name.strip():
        raise text.wrong(column.name.span, "requires a column name that is not blank")
    match column:
        case parts.PhysicalColumn():
            return PhysicalColumn(name, type_of(column.type, text), column.comment)
        case parts.MetadataColumn():
            key = column.metadata if column.metadata is not None else name
            return MetadataColumn(name, type_of(column.type, text), key, column.virtual, column.comment)
        case parts.ComputedColumn():
            nothing = InputRef(TimestampType(), -1)
            return ComputedColumn(name, nothing.type, nothing, column.comment)
    raise text.wrong(column.span, "requires the type of the column", got=name)


def computed(expression: exp.Expr, columns: Columns, context: Context) -> Expression:
    """Return the expression of a computed column, over the columns that the connector delivers."""
    for node in expression.find_all(exp.Column):
        name = node.args["catalog"] if node.args.get("catalog") else node.this
        if isinstance(columns.get(node.name), ComputedColumn) and not node.args.get("table"):
            raise context.text.wrong(
                name,
                "requires columns that are not computed themselves",
                got=f"the computed column {node.name}",
            )
    read = [column for column in columns.values() if not isinstance(column, ComputedColumn)]
    return Expressions(context, _scope(read), "a computed column").bind(expression)


def known_column(name: parts.Name, clause: str, columns: Columns, text: Text) -> str:
    """Return the name of a column that the table has; raises SqlValidationError for another."""
    column = name.parts[0]
    if column not in columns:
        hint = suggestion(column, columns)
        raise text.wrong(
            name.part_spans[0], f"requires a column of the table in {clause}", got=column, hint=hint
        )
    return column


def key_columns(key: parts.PrimaryKey, columns: Columns, text: Text) -> tuple[str, ...]:
    """Return the columns of a primary key: physical ones of the table, each once."""
    if key.enforced is not False:
        hint = "Flink and Firesteel own no data: they cannot enforce a key"
        raise text.wrong(key.span, "requires NOT ENFORCED after PRIMARY KEY", hint=hint)
    names: list[str] = []
    for column in key.columns:
        name = known_column(column, "PRIMARY KEY", columns, text)
        if not isinstance(columns[name], PhysicalColumn):
            raise text.wrong(column.span, "requires physical columns in PRIMARY KEY", got=name)
        if name in names:
            raise text.wrong(column.span, "requires each column once in PRIMARY KEY", got=name)
        names.append(name)
    return tuple(names)


def bound_distribution(found: parts.Distribution, columns: Columns, text: Text) -> TableDistribution:
    """Return how rows are in buckets: by physical columns of the table, in at least one."""
    for column in found.columns:
        name = known_column(column, "DISTRIBUTED BY", columns, text)
        if not isinstance(columns[name], PhysicalColumn):
            raise text.wrong(column.span, "requires physical columns in DISTRIBUTED BY", got=name)
    if found.buckets is not None and found.buckets < 1:
        raise text.wrong(found.span, "requires at least 1 bucket", got=str(found.buckets))
    return TableDistribution(found.kind, tuple(one.parts[0] for one in found.columns), found.buckets)


def written_watermark(mark: parts.Watermark, columns: Columns, context: Context) -> WatermarkSpec:
    """Return the watermark of a time column."""
    text = context.text
    name = known_column(mark.column, "WATERMARK", columns, text)
    if len(mark.column.parts) > 1:
        raise text.unsupported(mark.column.span, "a watermark on a field of a row")
    return watermark_of(name, mark.expression, columns, context, mark.column.span)


def watermark_of(
    name: str, expression: exp.Expr, columns: Columns, context: Context, place: Span | exp.Expr
) -> WatermarkSpec:
    """Return the watermark of a column by its expression; `place` is where errors about the column point."""
    kind = columns[name].type
    if is_proctime(kind):
        raise context.text.wrong(
            place, "requires a column of event time for WATERMARK", got=f"{name}, which is PROCTIME()"
        )
    allowed = "TIMESTAMP(p) or TIMESTAMP_LTZ(p) with p from 0 to 3"
    if not isinstance(kind, TimestampType | LocalZonedTimestampType) or kind.precision > _MOST_DIGITS:
        raise context.text.wrong(
            place,
            f"requires a column of {allowed} for WATERMARK",
            got=f"{name} {kind}",
            hint=f"add a computed column, for example ts AS CAST({name} AS TIMESTAMP(3))",
        )
    if isinstance(expression, nodes.Call) and expression.function.upper() == SOURCE_WATERMARK:
        return WatermarkSpec(name, source_watermark(kind))
    value = Expressions(context, _scope(list(columns.values())), "WATERMARK").bind(expression)
    if value.type.root is not kind.root or getattr(value.type, "precision", 9) > _MOST_DIGITS:
        raise context.text.wrong(
            expression, f"requires a watermark of the type of {name}, {kind}", got=str(value.type)
        )
    return WatermarkSpec(name, value)


def _scope(columns: Sequence[TableColumn]) -> Scope:
    return Scope((Relation((), tuple(Field(column.name, column.type) for column in columns)),))
