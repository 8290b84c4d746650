"""CREATE TABLE: columns, keys, watermarks and options to a table whose names and types are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlglot import exp

from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.casts import supports_implicit_cast
from firesteel.common.logical_types.temporal import regular
from firesteel.functions.columns.connectors import TableDistribution
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
from firesteel.sql.binding.table_elements import (
    bound_distribution,
    computed,
    declared_column,
    key_columns,
    known_column,
    written_watermark,
)
from firesteel.sql.statements import parts
from firesteel.sql.statements.create import CreateTable

_STRATEGIES: Final = {
    "OPTIONS": "OVERWRITING",
    "WATERMARKS": "INCLUDING",
    "GENERATED": "INCLUDING",
    "METADATA": "INCLUDING",
    "CONSTRAINTS": "INCLUDING",
    "DISTRIBUTION": "INCLUDING",
    "PARTITIONS": "INCLUDING",
}


@dataclass(frozen=True)
class _Base:
    """What LIKE takes over, and how."""

    table: ResolvedTable
    strategies: Mapping[str, str]

    def takes(self, feature: str) -> bool:
        return self.strategies[feature] != "EXCLUDING"


def bind_table(create: CreateTable, context: Context, row: RowType | None = None) -> ResolvedTable:
    """Return the table that a statement describes; see `firesteel.sql.binding.statements.bind_table`."""
    return _Definition(create, context, row).table()


class _Definition:
    """One CREATE TABLE."""

    def __init__(self, create: CreateTable, context: Context, row: RowType | None) -> None:
        self._create = create
        self._row = row
        self._context = context
        self._text = context.text
        self._base = self._like()
        self._columns: dict[str, TableColumn] = {}

    def table(self) -> ResolvedTable:
        """Return the table."""
        create = self._create
        self._take_columns()
        self._define_columns()
        if self._row is not None:
            self._columns = self._with_those_of_query(self._row)
        key = self._primary_key()
        if self._row is not None:
            self._require_not_null(key or ())
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
            self._distribution(),
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
            self._check_name(column.name.parts[0], column)
            if self._row is not None and isinstance(column, parts.NamedColumn):
                continue
            found = declared_column(column, self._text)
            self._columns[found.name] = found

    def _require_not_null(self, key: Sequence[str]) -> None:
        """Refuse a primary key after PRIMARY KEY (...) with columns that can be NULL in the query."""
        for name in key if self._create.keys else ():
            if self._columns[name].type.nullable:
                place = self._create.keys[0].span
                raise self._text.wrong(place, "requires columns that are NOT NULL in PRIMARY KEY", got=name)

    def _with_those_of_query(self, row: RowType) -> dict[str, TableColumn]:
        """Return the columns that are declared alone, then those of the query, with the types that are declared."""
        query = self._create.query
        assert query is not None
        given: dict[str, TableColumn] = {}
        for field in row.fields:
            if field.name in given:
                raise self._text.wrong(
                    query, "requires different names of columns", got=f"{field.name} twice"
                )
            given[field.name] = PhysicalColumn(field.name, regular(field.type))
        if any(isinstance(column, parts.NamedColumn) for column in self._create.columns):
            return self._in_order(given)
        for column in self._create.columns:
            self._check_overriding(column, given)
        declared = self._columns
        alone = {name: column for name, column in declared.items() if name not in given}
        return {**alone, **{name: declared.get(name, column) for name, column in given.items()}}

    def _in_order(self, given: Mapping[str, TableColumn]) -> dict[str, TableColumn]:
        """Return the columns of a query in the order in which the table names them."""
        names = [
            known_column(column.name, "AS and a query", given, self._text) for column in self._create.columns
        ]
        if len(set(names)) != len(given):
            place = self._create.columns[-1].span
            raise self._text.wrong(
                place, f"requires the names of all {len(given)} columns", got=str(len(names))
            )
        return {name: given[name] for name in names}

    def _check_overriding(self, column: parts.Column, given: Mapping[str, TableColumn]) -> None:
        (name,) = column.name.parts
        if name not in given:
            return
        declared = self._columns[name]
        if isinstance(column, parts.PhysicalColumn) and column.key is not None:
            declared = replace(declared, type=declared.type.copy(nullable=False))
        if not isinstance(declared, PhysicalColumn):
            what = f"defines the column {name}, which the query has, too"
            raise self._text.wrong(column.name.span, what)
        if not supports_implicit_cast(given[name].type, declared.type):
            requirement = f"requires a type of {name} that its values in the query can be cast to"
            got = f"{given[name].type} for {declared.type}"
            raise self._text.wrong(column.span, requirement, got=got)

    def _check_name(self, name: str, column: parts.Column) -> None:
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

    def _compute_columns(self) -> None:
        read = [column for column in self._columns.values() if not isinstance(column, ComputedColumn)]
        own = {
            column.name.parts[0]: column
            for column in self._create.columns
            if isinstance(column, parts.ComputedColumn)
        }
        for name, column in self._columns.items():
            if not isinstance(column, ComputedColumn):
                continue
            if name in own:
                value = computed(own[name].expression, self._columns, self._context)
            else:
                assert self._base is not None
                value = self._moved(column.expression, self._base.table.read, read, name)
            self._columns[name] = replace(column, type=value.type, expression=value)

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
        return key_columns(key, self._columns, self._text)

    def _watermark(self) -> WatermarkSpec | None:
        base = self._base.table.watermark if self._base and self._base.takes("WATERMARKS") else None
        marks = self._create.watermarks
        if len(marks) > 1:
            raise self._text.wrong(marks[1].span, "requires only one WATERMARK")
        if not marks:
            if base is None or self._base is None:
                return None
            columns = list(self._columns.values())
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
        return written_watermark(mark, self._columns, self._context)

    def _partition_keys(self) -> tuple[str, ...]:
        base = self._base.table.partition_keys if self._base else ()
        written = self._create.partitioned_by
        if written and base and self._base and self._base.takes("PARTITIONS"):
            hint = "use EXCLUDING PARTITIONS"
            raise self._text.wrong(
                written[0].span, "has PARTITIONED BY, and so has the table after LIKE", hint=hint
            )
        for column in written:
            known_column(column, "PARTITIONED BY", self._columns, self._text)
            if not isinstance(self._columns[column.parts[0]], PhysicalColumn):
                raise self._text.wrong(
                    column.span, "requires physical columns in PARTITIONED BY", got=column.parts[0]
                )
        return tuple(column.parts[0] for column in written) or base

    def _distribution(self) -> TableDistribution | None:
        base = self._base.table.distribution if self._base else None
        written = self._create.distribution
        if written is None:
            return base  # as in Flink, whatever the strategy
        if base is not None and self._base and self._base.takes("DISTRIBUTION"):
            hint = "use EXCLUDING DISTRIBUTION"
            raise self._text.wrong(
                written.span, "has DISTRIBUTED BY, and so has the table after LIKE", hint=hint
            )
        return bound_distribution(written, self._columns, self._text)

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
