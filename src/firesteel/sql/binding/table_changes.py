"""ALTER TABLE of columns, watermarks and keys: a declared table and a change to another declared table.

As in Flink, the whole table is bound again after a change, so that the type of a computed column follows the types of
the columns that it is computed of. A column that something else needs is neither renamed nor dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Literal, TypeVar

from firesteel.common.errors import SqlError
from firesteel.common.places import Span
from firesteel.common.suggestions import suggestion
from firesteel.relational.expressions import Expression, references
from firesteel.relational.tables import ComputedColumn, PhysicalColumn, TableColumn, WatermarkSpec
from firesteel.sql.binding.context import Context
from firesteel.sql.binding.places import Text
from firesteel.sql.binding.table_elements import (
    DeclaredTable,
    Written,
    bound_distribution,
    computed,
    declared_column,
    key_columns,
    watermark_of,
    written_watermark,
)
from firesteel.sql.statements.alter import Alter, ChangeElements, DropColumns, DropPart, RenameColumn
from firesteel.sql.statements.parts import ComputedColumn as Computed
from firesteel.sql.statements.parts import Distribution, Name, Placed, PrimaryKey, Watermark
from firesteel.sql.statements.parts import PhysicalColumn as Physical

Part = TypeVar("Part", Watermark, PrimaryKey, Distribution)


def bind_change(alter: Alter, table: DeclaredTable, context: Context) -> DeclaredTable:
    """Return the changed table; see `firesteel.sql.binding.statements.bind_change`."""
    change = _Change(table, context, alter)
    match alter.action:
        case ChangeElements(how, elements):
            change.elements(how, elements)
        case RenameColumn(column, name):
            change.rename(column, name)
        case DropColumns(columns):
            change.drop_columns(columns)
        case DropPart() as part:
            change.drop_part(part)
        case _:
            raise context.text.unsupported(alter.span, "this kind of ALTER TABLE")
    return change.table()


class _Change:
    """A table that is changed: its columns in their order, and what is computed of them."""

    def __init__(self, declared: DeclaredTable, context: Context, alter: Alter) -> None:
        self._declared = declared
        self._context = context
        self._text: Text = context.text
        self._span = alter.span
        self._statement = f"ALTER {alter.kind.value}"
        self._columns: dict[str, TableColumn] = {column.name: column for column in declared.table.columns}
        self._computed = dict(declared.computed)
        self._key = declared.table.primary_key
        self._key_name = declared.key_name
        spec = declared.table.watermark
        self._time_column = None if spec is None else spec.column
        self._watermark = declared.watermark
        self._mark: Watermark | None = None
        self._distribution = declared.table.distribution

    # --- ADD and MODIFY ---

    def elements(
        self,
        how: Literal["ADD", "MODIFY"],
        elements: Sequence[Placed | Watermark | PrimaryKey | Distribution],
    ) -> None:
        """Add or replace columns, then the watermark, the primary key and the distribution."""
        placed = [element for element in elements if isinstance(element, Placed)]
        order = self._order(how, placed)
        for one in placed:
            self._put(how, one)
        self._columns = {name: self._columns[name] for name in order}
        for mark in self._only(Watermark, elements, "WATERMARK"):
            self._require_part(how, self._watermark is not None, mark.span, "watermark")
            self._watermark = Written(mark.expression, self._text.source)
            self._mark = mark
        keys: list[object] = [*elements]
        keys += [one.column.key for one in placed if isinstance(one.column, Physical)]
        for key in self._only(PrimaryKey, keys, "PRIMARY KEY"):
            self._require_part(how, self._key is not None, key.span, "primary key")
            self._key = key_columns(key, self._columns, self._text)
            self._key_name = None if key.name is None else key.name.parts[0]
        for buckets in self._only(Distribution, elements, "DISTRIBUTION"):
            self._require_part(how, self._distribution is not None, buckets.span, "distribution")
            self._distribution = bound_distribution(buckets, self._columns, self._text)

    def _only(self, kind: type[Part], elements: Iterable[object], what: str) -> list[Part]:
        found = [element for element in elements if isinstance(element, kind)]
        if len(found) > 1:
            raise self._text.wrong(found[1].span, f"requires only one {what}")
        return found

    def _require_part(self, how: str, there: bool, span: Span, what: str) -> None:
        if how == "ADD" and there:
            hint = f"{self._statement} ... MODIFY changes it, DROP {what.upper()} removes it"
            raise self._text.wrong(span, f"adds a {what} to a table that has one", hint=hint)
        if how == "MODIFY" and not there:
            raise self._text.wrong(span, f"changes the {what} of a table that has none", hint="use ADD")

    def _order(self, how: str, placed: Sequence[Placed]) -> list[str]:
        """Return the names of all columns in their new order."""
        order = list(self._columns)
        seen: set[str] = set()
        for one in placed:
            (name,) = one.column.name.parts
            if name in seen:
                raise self._text.wrong(
                    one.column.name.span, "requires different names of columns", got=f"{name} twice"
                )
            seen.add(name)
            if how == "ADD" and name in order:
                raise self._text.wrong(one.column.name.span, "adds a column that the table has", got=name)
            if how == "MODIFY":
                self._known(one.column.name, order)
            _move(order, name, self._target(one, order))
        return order

    def _target(self, one: Placed, order: Sequence[str]) -> str | bool | None:
        """Return the column to go behind, True for the first place, None for none in particular."""
        return one.first or (None if one.after is None else self._known(one.after, order))

    def _put(self, how: str, one: Placed) -> None:
        column = declared_column(one.column, self._text)
        if how == "MODIFY" and column.comment is None:
            column = replace(column, comment=self._columns[column.name].comment)
        self._columns[column.name] = column
        self._computed.pop(column.name, None)
        if isinstance(one.column, Computed):
            self._computed[column.name] = Written(one.column.expression, self._text.source)

    # --- RENAME and DROP ---

    def rename(self, column: Name, name: Name) -> None:
        """Give a column another name, which the primary key takes over."""
        old, new = self._known(column, self._columns), name.parts[0]
        self._require_free(old, column.span)
        if new in self._columns:
            raise self._text.wrong(name.span, "requires a name that no other column has", got=new)
        self._columns = {
            new if key == old else key: replace(found, name=new) if key == old else found
            for key, found in self._columns.items()
        }
        self._computed = {new if key == old else key: found for key, found in self._computed.items()}
        if self._key is not None:
            self._key = tuple(new if key == old else key for key in self._key)

    def drop_columns(self, columns: Sequence[Name]) -> None:
        """Remove columns, and with them what is computed of them if that goes, too."""
        names = [self._known(column, self._columns) for column in columns]
        for name, column in zip(names, columns, strict=True):
            if names.count(name) > 1:
                raise self._text.wrong(column.span, "requires each column once", got=name)
            self._require_free(name, column.span, dropped=names)
            if self._key is not None and name in self._key:
                raise self._text.wrong(
                    column.span, f"drops the column {name} of the primary key", hint="DROP PRIMARY KEY first"
                )
        self._columns = {name: found for name, found in self._columns.items() if name not in names}
        self._computed = {name: found for name, found in self._computed.items() if name not in names}

    def drop_part(self, part: DropPart) -> None:
        """Remove the primary key, the watermark or the distribution."""
        match part.what:
            case "PRIMARY KEY" | "CONSTRAINT":
                if self._key is None:
                    raise self._text.wrong(self._span, "drops the primary key of a table that has none")
                self._check_constraint(part.constraint)
                self._key = self._key_name = None
            case "WATERMARK":
                if self._watermark is None:
                    raise self._text.wrong(self._span, "drops the watermark of a table that has none")
                self._watermark = self._time_column = None
            case "DISTRIBUTION":
                if self._distribution is None:
                    raise self._text.wrong(self._span, "drops the distribution of a table that has none")
                self._distribution = None

    def _check_constraint(self, constraint: Name | None) -> None:
        assert self._key is not None
        known = self._key_name or f"PK_{'_'.join(self._key)}"
        if constraint is not None and constraint.parts[0] != known:
            got, hint = constraint.parts[0], f"the table has {known}"
            raise self._text.wrong(constraint.span, "requires the name of a constraint", got=got, hint=hint)

    def _require_free(self, name: str, span: Span, dropped: Sequence[str] = ()) -> None:
        """Refuse to touch a column that computed columns, the watermark or the partitions need."""
        table = self._declared.table
        read = [column.name for column in table.read]
        for column in table.columns:
            if isinstance(column, ComputedColumn) and column.name not in dropped:
                self._require_unread(
                    name, span, column.expression, read, f"the computed column {column.name}"
                )
        if table.distribution is not None and name in table.distribution.keys:
            raise self._text.wrong(span, f"changes the column {name}, which the table is distributed by")
        if name in table.partition_keys:
            raise self._text.wrong(span, f"changes the column {name}, which the table is partitioned by")
        if table.watermark is not None:
            if name == table.watermark.column:
                raise self._text.wrong(span, f"changes the column {name}, which the watermark needs")
            every = [column.name for column in table.columns]
            self._require_unread(name, span, table.watermark.expression, every, "the watermark")

    def _require_unread(
        self, name: str, span: Span, value: Expression, names: Sequence[str], reader: str
    ) -> None:
        if name in {names[place] for place in references(value)}:
            raise self._text.wrong(span, f"changes the column {name}, which {reader} needs")

    def _known(self, name: Name, columns: Iterable[str]) -> str:
        if len(name.parts) > 1:
            raise self._text.unsupported(name.span, f"{self._statement} of a field of a row")
        known = list(columns)
        if name.parts[0] not in known:
            hint = suggestion(name.parts[0], known)
            raise self._text.wrong(name.span, "requires a column of the table", got=name.parts[0], hint=hint)
        return name.parts[0]

    # --- the table after the change ---

    def table(self) -> DeclaredTable:
        """Return the table, all of it bound anew."""
        for name in self._key or ():
            column = self._columns[name]
            if not isinstance(column, PhysicalColumn):
                raise self._text.wrong(self._span, "requires physical columns in PRIMARY KEY", got=name)
            self._columns[name] = replace(column, type=column.type.copy(nullable=False))
        for name, column in self._columns.items():
            if isinstance(column, ComputedColumn):
                value = self._bound(self._computed[name], f"the computed column {name}")
                self._columns[name] = replace(column, type=value.type, expression=value)
        spec = self._bound_watermark()
        table = replace(
            self._declared.table,
            columns=tuple(self._columns.values()),
            primary_key=self._key,
            watermark=spec,
            distribution=self._distribution,
        )
        return DeclaredTable(table, self._computed, self._watermark, self._key_name)

    def _bound(self, written: Written, what: str) -> Expression:
        try:
            return computed(written.node, self._columns, self._context_of(written))
        except SqlError as error:
            raise self._without_meaning(written, what, error) from error

    def _bound_watermark(self) -> WatermarkSpec | None:
        if self._mark is not None:
            return written_watermark(self._mark, self._columns, self._context)
        if self._watermark is None or self._time_column is None:
            return None
        context = self._context_of(self._watermark)
        try:
            return watermark_of(
                self._time_column, self._watermark.node, self._columns, context, self._watermark.node
            )
        except SqlError as error:
            raise self._without_meaning(self._watermark, "the watermark", error) from error

    def _context_of(self, written: Written) -> Context:
        return replace(self._context, text=Text(written.source, self._text.who))

    def _without_meaning(self, written: Written, what: str, error: SqlError) -> SqlError:
        """Return the error that what the change did not mention means nothing any more."""
        if written.source is self._text.source:
            return error
        requirement = f"leaves {what}, {written.shown}, without a meaning: it {error.requirement}"
        return self._text.wrong(self._span, requirement, got=error.got)


def _move(order: list[str], name: str, target: str | bool | None) -> None:
    """Put a name in its place; one that is not there yet and has no place in particular comes last.

    As in Flink, a column that is to follow itself comes first.
    """
    if name in order and not target:
        return
    if name in order:
        order.remove(name)
    if target is True or target == name:
        order.insert(0, name)
    elif target:
        order.insert(order.index(str(target)) + 1, name)
    else:
        order.append(name)
