"""Which columns a name can stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from firesteel.common.logical_types import Field, LogicalType
from firesteel.common.logical_types.temporal import regular
from firesteel.common.suggestions import suggestion
from firesteel.relational.expressions import Expression, InputRef, rewritten, shifted
from firesteel.sql.binding.places import Text
from firesteel.sql.binding.values import OuterRef

Merged = tuple[str, Expression]
"""A column that USING or NATURAL makes of two, by its name alone."""


@dataclass(frozen=True)
class Relation:
    """An item of FROM: its name (an alias, or up to three parts), and its columns from place `first` on."""

    name: tuple[str, ...]
    fields: tuple[Field, ...]
    first: int = 0

    def answers_to(self, prefix: tuple[str, ...]) -> bool:
        """Return whether the parts before a column's name mean this relation."""
        return self.name[-len(prefix) :] == prefix

    def refs(self) -> tuple[InputRef, ...]:
        """Return a reference to each column."""
        return tuple(InputRef(field.type, self.first + place) for place, field in enumerate(self.fields))

    def named(self, name: str) -> list[InputRef]:
        """Return the columns of a name, which are several only where a query has repeated one."""
        return [ref for ref, field in zip(self.refs(), self.fields, strict=True) if field.name == name]


@dataclass(frozen=True)
class Scope:
    """The relations of FROM, side by side in one row; `merged` are columns of USING, which hide those of their names.

    A merged column is found by its name alone; the two that it is made of, by the names of their relations. What is not
    found here is looked for in `outer`, the query around a subquery.
    """

    relations: tuple[Relation, ...] = ()
    merged: tuple[Merged, ...] = ()
    outer: Scope | None = None

    @property
    def names(self) -> list[str]:
        """Return the names of all columns."""
        return [field.name for field in self.fields]

    @property
    def fields(self) -> tuple[Field, ...]:
        """Return the fields of the row."""
        return tuple(field for relation in self.relations for field in relation.fields)

    @property
    def types(self) -> list[LogicalType]:
        """Return the types of all columns."""
        return [field.type for field in self.fields]

    def shown(self) -> list[tuple[str, Expression]]:
        """Return what an asterisk stands for: merged columns once and first, then all others."""
        hidden = {name for name, _ in self.merged}
        return [
            *self.merged,
            *(
                (field.name, ref)
                for relation in self.relations
                for field, ref in zip(relation.fields, relation.refs(), strict=True)
                if field.name not in hidden
            ),
        ]

    def beside(self, other: Scope) -> Scope:
        """Return the columns of both, those of the other one after these."""
        width = len(self.fields)
        moved = tuple(replace(relation, first=relation.first + width) for relation in other.relations)
        merged = tuple((name, shifted(value, width)) for name, value in other.merged)
        return Scope((*self.relations, *moved), (*self.merged, *merged))

    def nullable(self, can_be: bool) -> Scope:
        """Return the same columns, which `can_be` NULL now."""
        if not can_be:
            return self
        relations = (
            replace(
                relation, fields=tuple(Field(field.name, field.type.copy(True)) for field in relation.fields)
            )
            for relation in self.relations
        )
        return Scope(tuple(relations), tuple((name, _nullable(value)) for name, value in self.merged))

    def with_plain_times(self) -> Scope:
        """Return the same columns, of which none is a time attribute any more."""
        relations = (
            replace(
                relation,
                fields=tuple(Field(field.name, regular(field.type)) for field in relation.fields),
            )
            for relation in self.relations
        )
        merged = ((name, replace(value, type=regular(value.type))) for name, value in self.merged)
        return Scope(tuple(relations), tuple(merged))

    def merging(self, columns: Sequence[Merged]) -> Scope:
        """Return the scope with further merged columns, which replace those of their names."""
        names = {name for name, _ in columns}
        kept = [known for known in self.merged if known[0] not in names]
        return replace(self, merged=(*columns, *kept))

    def column(self, parts: Sequence[exp.Identifier], text: Text) -> tuple[Expression, int]:
        """Return the column that a name begins with, and the number of parts up to it; the rest are fields.

        The longest beginning that is the name of a relation counts, as in Flink.
        """
        found, used = self._found(parts, text)
        around, depth = self.outer, 1
        while not found and around is not None:
            outer, outer_used = around._found(parts, text)
            if outer:
                value = _only(outer, parts[outer_used - 1], around.fields, text)
                return _outer(value, depth), outer_used
            around, depth = around.outer, depth + 1
        if not found and used == 1 and len(parts) > 1:
            raise self.no_relation(parts[0], text)
        return _only(found, parts[used - 1], self.fields, text), used

    def _found(self, parts: Sequence[exp.Identifier], text: Text) -> tuple[list[Expression], int]:
        names = tuple(part.name for part in parts)
        for length in range(len(names) - 1, 0, -1):
            for relation in self.relations:
                if relation.answers_to(names[:length]):
                    ref = _only(relation.named(names[length]), parts[length], relation.fields, text)
                    return [ref], length + 1
        return self.named(names[0]), 1

    def named(self, name: str) -> list[Expression]:
        """Return the columns that a name alone can stand for."""
        merged = [value for known, value in self.merged if known == name]
        return merged or [ref for relation in self.relations for ref in relation.named(name)]

    def relation(self, parts: Sequence[exp.Identifier]) -> Relation | None:
        """Return the relation of a name."""
        names = tuple(part.name for part in parts)
        return next((relation for relation in self.relations if relation.answers_to(names)), None)

    def no_relation(self, part: exp.Identifier, text: Text) -> Exception:
        """Make the error that a name is that of no relation and of no column."""
        known = [relation.name[-1] for relation in self.relations if relation.name]
        hint = suggestion(part.name, [*known, *self.names])
        return text.wrong(
            part, "requires the name of a table in FROM or of a column", got=part.name, hint=hint
        )


def only(
    found: Sequence[Expression], part: exp.Expr, name: str, fields: Sequence[Field], text: Text
) -> Expression:
    """Return the column that a name stands for; raises SqlValidationError if there is none, or more than one."""
    if not found:
        hint = suggestion(name, [field.name for field in fields])
        raise text.wrong(part, "requires the name of a column", got=name, hint=hint)
    if len(found) > 1:
        raise text.wrong(part, "names a column that is not the only one of this name", got=name)
    return found[0]


def _only(
    found: Sequence[Expression], part: exp.Identifier, fields: Sequence[Field], text: Text
) -> Expression:
    return only(found, part, part.name, fields, text)


def _outer(value: Expression, depth: int) -> Expression:
    """Return a value of a query around as a subquery has it."""
    return rewritten(
        value, lambda part: OuterRef(part.type, part.index, depth) if isinstance(part, InputRef) else part
    )


def _nullable(value: Expression) -> Expression:
    return replace(value, type=value.type.copy(True))
