"""CREATE TABLE: columns, keys, watermarks and options to a table whose names and types are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlglot import exp

from firesteel.common.logical_types import Field, LocalZonedTimestampType, TimestampType
from firesteel.common.logical_types.temporal import is_proctime
from firesteel.common.places import Span
from firesteel.common.suggestions import suggestion
from firesteel.relational.expressions import Expression, InputRef, rewritten
from firesteel.relational.tables import (
    ComputedColumn,
    MetadataColumn,
    PhysicalColumn,
    ResolvedTable,
    TableColumn,
    WatermarkSpec,
)
from firesteel.sql.binding.catalog import qualified
from firesteel.sql.binding.context import Context
from firesteel.sql.binding.expressions import Expressions
from firesteel.sql.binding.scope import Relation, Scope
from firesteel.sql.binding.types import type_of
from firesteel.sql.statements import parts
from firesteel.sql.statements.create import CreateTable

_STRATEGIES: Final = {
    "OPTIONS": "OVERWRITING",
    "WATERMARKS": "INCLUDING",
    "GENERATED": "INCLUDING",
    "METADATA": "INCLUDING",
    "CONSTRAINTS": "INCLUDING",
    "PARTITIONS": "INCLUDING",
}
_MOST_DIGITS: Final = 3


@dataclass(frozen=True)
class _Base:
    """What LIKE takes over, and how."""

    table: ResolvedTable
    strategies: Mapping[str, str]

    def takes(self, feature: str) -> bool:
        return self.strategies[feature] != "EXCLUDING"


def bind_table(create: CreateTable, context: Context) -> ResolvedTable:
    """Return the table that a statement describes; see `firesteel.sql.binding.statements.bind_table`."""
    if create.query is not None:
        raise context.text.unsupported(create.query, "CREATE TABLE with a query")
    if create.distribution is not None:
        raise context.text.unsupported(create.distribution.span, "DISTRIBUTED BY")
    return _Definition(create, context).table()


class _Definition:
    """One CREATE TABLE."""

    def __init__(self, create: CreateTable, context: Context) -> None:
        self._create = create
        self._context = context
        self._text = context.text
        self._base = self._like()
        self._columns: dict[str, TableColumn] = {}

    def table(self) -> ResolvedTable:
        """Return the table."""
        create = self._create
        self._take_columns()
        self._define_columns()
        key = self._primary_key()
        self._columns = {
            name: replace(column, type=column.type.copy(nullable=False)) if name in (key or ()) else column
            for name, column in self._columns.items()
        }
        self._compute_columns()
        columns = tuple(self._columns.values())
        return ResolvedTable(
            qualified(create.name.parts, self._context.path),
            columns,
            self._watermark(),
            key,
            self._partition_keys(),
            self._options(),
            create.comment,
        )

    def _like(self) -> _Base | None:
        like = self._create.like
        if like is None:
            return None
        span = like.table.span
        names = [exp.Identifier(this=part, quoted=True).copy() for part in like.table.parts]
        for name, place in zip(names, like.table.part_spans, strict=True):
            name.meta.update(start=place.start, end=place.end)
        found = self._context.object(names)
        if not isinstance(found, ResolvedTable):
            raise self._text.wrong(span, "requires a table after LIKE", got=f"the view {like.table}")
        strategies = dict(_STRATEGIES)
        for option in sorted(like.options, key=lambda option: option.feature != "ALL"):
            features = _STRATEGIES if option.feature == "ALL" else (option.feature,)
            strategies.update(dict.fromkeys(features, option.merging))
        return _Base(found, strategies)

    def _take_columns(self) -> None:
        for column in self._base.table.columns if self._base else ():
            assert self._base is not None
            feature = {ComputedColumn: "GENERATED", MetadataColumn: "METADATA"}.get(type(column))
            if feature is None or self._base.takes(feature):
                self._columns[column.name] = column

    def _define_columns(self) -> None:
        """Define all columns but the computed ones, of which only the place is kept."""
        for column in self._create.columns:
            (name,) = column.name.parts
            self._check_name(name, column)
            match column:
                case parts.PhysicalColumn():
                    kind = type_of(column.type, self._text)
                    self._columns[name] = PhysicalColumn(name, kind, column.comment)
                case parts.MetadataColumn():
                    kind = type_of(column.type, self._text)
                    key = column.metadata if column.metadata is not None else name
                    self._columns[name] = MetadataColumn(name, kind, key, column.virtual, column.comment)
                case parts.ComputedColumn():
                    nothing = InputRef(TimestampType(), -1)
                    self._columns[name] = ComputedColumn(name, nothing.type, nothing, column.comment)
                case _:
                    raise self._text.wrong(column.span, "requires the type of the column", got=name)

    def _check_name(self, name: str, column: parts.Column) -> None:
        if not name.strip():
            raise self._text.wrong(column.name.span, "requires a column name that is not blank")
        old = self._columns.get(name)
        if old is None:
            return
        feature = {parts.ComputedColumn: "GENERATED", parts.MetadataColumn: "METADATA"}.get(type(column))
        defined = [other.name.parts[0] for other in self._create.columns]
        if defined.count(name) > 1 or self._base is None:
            raise self._text.wrong(
                column.name.span, "requires different names of columns", got=f"{name} twice"
            )
        same = isinstance(old, ComputedColumn | MetadataColumn) and feature is not None
        same = same and isinstance(old, ComputedColumn) == (feature == "GENERATED")
        if same and self._base.strategies[str(feature)] == "OVERWRITING":
            return
        hint = f"use OVERWRITING {feature} to replace it" if same else None
        raise self._text.wrong(
            column.name.span, f"defines the column {name}, which the table after LIKE has, too", hint=hint
        )

    def _read(self) -> list[TableColumn]:
        return [column for column in self._columns.values() if not isinstance(column, ComputedColumn)]

    def _compute_columns(self) -> None:
        read = self._read()
        scope = _scope(read)
        own = {
            column.name.parts[0]: column
            for column in self._create.columns
            if isinstance(column, parts.ComputedColumn)
        }
        for name, column in self._columns.items():
            if not isinstance(column, ComputedColumn):
                continue
            if name in own:
                value = self._computed(own[name], scope)
            else:
                assert self._base is not None
                value = self._moved(column.expression, self._base.table.read, read, name)
            self._columns[name] = replace(column, type=value.type, expression=value)

    def _computed(self, column: parts.ComputedColumn, scope: Scope) -> Expression:
        computed = [name for name, other in self._columns.items() if isinstance(other, ComputedColumn)]
        for node in column.expression.find_all(exp.Column):
            name = node.args["catalog"] if node.args.get("catalog") else node.this
            if node.name in computed and not node.args.get("table"):
                raise self._text.wrong(
                    name,
                    "requires columns that are not computed themselves",
                    got=f"the computed column {node.name}",
                )
        return Expressions(self._context, scope, "a computed column").bind(column.expression)

    def _moved(
        self, value: Expression, old: Sequence[TableColumn], new: Sequence[TableColumn], name: str
    ) -> Expression:
        """Return an expression of the table after LIKE over the columns of this one."""
        places = {column.name: place for place, column in enumerate(new)}
        like = self._create.like
        assert like is not None

        def move(part: Expression) -> Expression:
            if not isinstance(part, InputRef):
                return part
            column = old[part.index].name
            if column not in places:
                raise self._text.wrong(
                    like.span, f"leaves out the column {column}, which {name} is computed of"
                )
            return InputRef(new[places[column]].type, places[column])

        return rewritten(value, move)

    def _primary_key(self) -> tuple[str, ...] | None:
        keys = list(self._create.keys)
        keys += [
            column.key
            for column in self._create.columns
            if isinstance(column, parts.PhysicalColumn) and column.key is not None
        ]
        base = self._base.table.primary_key if self._base and self._base.takes("CONSTRAINTS") else None
        if not keys:
            return base
        if len(keys) > 1:
            raise self._text.wrong(keys[1].span, "requires only one PRIMARY KEY")
        (key,) = keys
        if base is not None:
            hint = "use EXCLUDING CONSTRAINTS"
            raise self._text.wrong(key.span, "has a PRIMARY KEY, and so has the table after LIKE", hint=hint)
        if key.enforced is not False:
            hint = "Flink and Firesteel own no data: they cannot enforce a key"
            raise self._text.wrong(key.span, "requires NOT ENFORCED after PRIMARY KEY", hint=hint)
        names = [name.parts[0] for name in key.columns]
        for name, column in zip(names, key.columns, strict=True):
            self._known(name, column.span, "PRIMARY KEY")
            if not isinstance(self._columns[name], PhysicalColumn):
                raise self._text.wrong(column.span, "requires physical columns in PRIMARY KEY", got=name)
            if names.count(name) > 1:
                raise self._text.wrong(column.span, "requires each column once in PRIMARY KEY", got=name)
        return tuple(names)

    def _known(self, name: str, place: Span, clause: str) -> None:
        if name not in self._columns:
            hint = suggestion(name, self._columns)
            raise self._text.wrong(place, f"requires a column of the table in {clause}", got=name, hint=hint)

    def _watermark(self) -> WatermarkSpec | None:
        base = self._base.table.watermark if self._base and self._base.takes("WATERMARKS") else None
        columns = list(self._columns.values())
        marks = self._create.watermarks
        if len(marks) > 1:
            raise self._text.wrong(marks[1].span, "requires only one WATERMARK")
        if not marks:
            if base is None or self._base is None:
                return None
            value = self._moved(base.expression, self._base.table.columns, columns, "the watermark")
            return WatermarkSpec(base.column, value)
        (mark,) = marks
        if base is not None and self._base is not None:
            strategy = self._base.strategies["WATERMARKS"]
            if strategy != "OVERWRITING":
                hint = "use OVERWRITING WATERMARKS or EXCLUDING WATERMARKS"
                raise self._text.wrong(
                    mark.span, "has a WATERMARK, and so has the table after LIKE", hint=hint
                )
        return self._written_watermark(mark, columns)

    def _written_watermark(self, mark: parts.Watermark, columns: Sequence[TableColumn]) -> WatermarkSpec:
        name = mark.column.parts[0]
        self._known(name, mark.column.part_spans[0], "WATERMARK")
        if len(mark.column.parts) > 1:
            raise self._text.unsupported(mark.column.span, "a watermark on a field of a row")
        kind = self._columns[name].type
        if is_proctime(kind):
            raise self._text.wrong(
                mark.column.span,
                "requires a column of event time for WATERMARK",
                got=f"{name}, which is PROCTIME()",
            )
        allowed = "TIMESTAMP(p) or TIMESTAMP_LTZ(p) with p from 0 to 3"
        if not isinstance(kind, TimestampType | LocalZonedTimestampType) or kind.precision > _MOST_DIGITS:
            raise self._text.wrong(
                mark.column.span,
                f"requires a column of {allowed} for WATERMARK",
                got=f"{name} {kind}",
                hint=f"add a computed column, for example ts AS CAST({name} AS TIMESTAMP(3))",
            )
        value = Expressions(self._context, _scope(columns), "WATERMARK").bind(mark.expression)
        if value.type.root is not kind.root or getattr(value.type, "precision", 9) > _MOST_DIGITS:
            raise self._text.wrong(
                mark.expression, f"requires a watermark of the type of {name}, {kind}", got=str(value.type)
            )
        return WatermarkSpec(name, value)

    def _partition_keys(self) -> tuple[str, ...]:
        base = self._base.table.partition_keys if self._base else ()
        written = self._create.partitioned_by
        if written and base and self._base and self._base.takes("PARTITIONS"):
            hint = "use EXCLUDING PARTITIONS"
            raise self._text.wrong(
                written[0].span, "has PARTITIONED BY, and so has the table after LIKE", hint=hint
            )
        for column in written:
            self._known(column.parts[0], column.span, "PARTITIONED BY")
            if not isinstance(self._columns[column.parts[0]], PhysicalColumn):
                raise self._text.wrong(
                    column.span, "requires physical columns in PARTITIONED BY", got=column.parts[0]
                )
        return tuple(column.parts[0] for column in written) or base

    def _options(self) -> dict[str, str]:
        strategy = self._base.strategies["OPTIONS"] if self._base else "EXCLUDING"
        found = dict(self._base.table.options) if self._base and strategy != "EXCLUDING" else {}
        seen: set[str] = set()
        for option in self._create.options or ():
            if option.key in seen:
                raise self._text.wrong(option.span, "requires each option once", got=option.key)
            if option.key in found and strategy != "OVERWRITING":
                hint = "use OVERWRITING OPTIONS or EXCLUDING OPTIONS"
                raise self._text.wrong(
                    option.span, f"has the option {option.key}, and so has the table after LIKE", hint=hint
                )
            seen.add(option.key)
            found[option.key] = option.value
        return found


def _scope(columns: Sequence[TableColumn]) -> Scope:
    return Scope((Relation((), tuple(Field(column.name, column.type) for column in columns)),))
