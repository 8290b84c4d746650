"""Which columns a name can stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from firesteel.common.logical_types import Field, LogicalType
from firesteel.common.suggestions import suggestion
from firesteel.relational.expressions import InputRef
from firesteel.sql.binding.places import Text


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
    """The relations of FROM, side by side in one row."""

    relations: tuple[Relation, ...] = ()

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

    def column(self, parts: Sequence[exp.Identifier], text: Text) -> tuple[InputRef, int]:
        """Return the column that a name begins with, and the number of parts up to it; the rest are fields.

        The longest beginning that is the name of a relation counts, as in Flink.
        """
        names = tuple(part.name for part in parts)
        for length in range(len(names) - 1, 0, -1):
            for relation in self.relations:
                if relation.answers_to(names[:length]):
                    found = relation.named(names[length])
                    return _only(found, parts[length], relation.fields, text), length + 1
        candidates = [ref for relation in self.relations for ref in relation.named(names[0])]
        if not candidates and len(names) > 1:
            raise self.no_relation(parts[0], text)
        return _only(candidates, parts[0], self.fields, text), 1

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


def _only(found: list[InputRef], part: exp.Identifier, fields: Sequence[Field], text: Text) -> InputRef:
    if not found:
        hint = suggestion(part.name, [field.name for field in fields])
        raise text.wrong(part, "requires the name of a column", got=part.name, hint=hint)
    if len(found) > 1:
        raise text.wrong(part, "names a column that is not the only one of this name", got=part.name)
    return found[0]
