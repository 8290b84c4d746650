"""The nodes between sources and sinks that keep nothing of the rows, and given rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.casts import supports_implicit_cast
from firesteel.relational.expressions import Call, Expression, InputRef, Literal, references
from firesteel.relational.functions.times import is_source_watermark
from firesteel.relational.logical.printing import expression_text
from firesteel.relational.physical.node import (
    Changes,
    Keys,
    PassingNode,
    PhysicalNode,
    Shown,
    UnaryNode,
    Updates,
)


@dataclass(frozen=True)
class Values(PhysicalNode):
    """Given rows."""

    rows: tuple[tuple[Literal, ...], ...]
    type: RowType

    @property
    def row(self) -> RowType:
        """Return the type of the rows."""
        return self.type

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the rows."""
        rows = ("{ " + ", ".join(map(expression_text, row)) + " }" for row in self.rows)
        yield "tuples", f"[{', '.join(rows)}]"


@dataclass(frozen=True)
class Calc(UnaryNode):
    """Computes columns of the rows for which the condition is TRUE (None: of all rows)."""

    expressions: tuple[Expression, ...]
    condition: Expression | None
    type: RowType

    passes_on: ClassVar[bool] = True

    @property
    def row(self) -> RowType:
        """Return the type of the columns."""
        return self.type

    @property
    def upsert_keys(self) -> Keys:
        """Return those keys of the input all columns of which are still there, as they are or of a wider type."""
        places: dict[int, int] = {}
        for place, expression in enumerate(self.expressions):
            column = _column_of(expression)
            if column is not None:
                places.setdefault(column, place)
        return frozenset(
            frozenset(places[column] for column in key)
            for key in self.input.upsert_keys
            if key <= places.keys()
        )

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the columns and the condition."""
        names = self.input.row.field_names
        columns = []
        for expression, name in zip(self.expressions, self.type.field_names, strict=True):
            text = shown(expression, names)
            columns.append(text if text == name else f"{text} AS {name}")
        yield "select", ", ".join(columns)
        if self.condition is not None:
            yield "where", shown(self.condition, names)

    def needs(self, required: Updates, given: Changes) -> Updates | None:
        """Pass the requirement on, unless a row that is filtered out could be the new one of an update."""
        if required is Updates.AFTER and self._hides_updates and given.update:
            return None
        return super().needs(required, given)

    @property
    def used(self) -> tuple[int, ...]:
        """Return the columns of the input that are read; one if only the number of rows counts."""
        parts = self.expressions if self.condition is None else (*self.expressions, self.condition)
        return tuple(sorted({place for part in parts for place in references(part)})) or (0,)

    @property
    def changes_nothing(self) -> bool:
        """Return whether the rows that come out are those that come in."""
        places = [one.index for one in self.expressions if isinstance(one, InputRef)]
        same = places == [*range(len(self.input.row.fields))] and len(places) == len(self.expressions)
        return same and self.condition is None and self.type.field_names == self.input.row.field_names

    @property
    def _hides_updates(self) -> bool:
        if self.condition is None:
            return False
        used = set(references(self.condition))
        return not any(used <= key for key in self.input.upsert_keys)


def _column_of(expression: Expression) -> int | None:
    """Return the column that an expression is, after casts that keep different values apart (Flink: isFidelityCast)."""
    match expression:
        case InputRef(index=index):
            return index
        case Call(function="CAST", arguments=(inner,)) if supports_implicit_cast(inner.type, expression.type):
            return _column_of(inner)
    return None


@dataclass(frozen=True)
class WatermarkAssigner(PassingNode):
    """Makes a column the time attribute; the watermark is an expression over the input's columns, or of the source."""

    column: int
    expression: Expression
    type: RowType

    @property
    def of_source(self) -> bool:
        """Whether the rows come with their watermarks."""
        return is_source_watermark(self.expression)

    @property
    def row(self) -> RowType:
        """Return the input's type with the time attribute marked."""
        return self.type

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the time attribute and its watermark."""
        names = self.row.field_names
        yield "rowtime", names[self.column]
        yield "watermark", shown(self.expression, names)


@dataclass(frozen=True)
class Expand(UnaryNode):
    """Each row once for each of the `sets` of GROUPING SETS: without the keys that a set leaves out, with its number.

    `keys` are the places of the keys; a set has those of them that stay. `numbers` are what the last column says.
    """

    keys: tuple[int, ...]
    sets: tuple[tuple[int, ...], ...]
    numbers: tuple[int, ...]
    type: RowType

    passes_on: ClassVar[bool] = True

    @property
    def row(self) -> RowType:
        """Return the input's columns, which can be NULL now if they are keys, and the number."""
        return self.type

    def projections(self) -> list[tuple[Expression, ...]]:
        """Return the columns for each set."""
        *fields, number = self.type.fields
        found: list[tuple[Expression, ...]] = []
        for kept, value in zip(self.sets, self.numbers, strict=True):
            gone = {*self.keys} - {*kept}
            columns = (
                Literal(field.type, None) if place in gone else InputRef(field.type, place)
                for place, field in enumerate(fields)
            )
            found.append((*columns, Literal(number.type, value)))
        return found

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the columns for each set."""
        *names, number = self.row.field_names
        rows = []
        for kept, value in zip(self.sets, self.numbers, strict=True):
            gone = {*self.keys} - {*kept}
            columns = [f"null AS {name}" if at in gone else name for at, name in enumerate(names)]
            rows.append("{" + ", ".join([*columns, f"{value} AS {number}"]) + "}")
        yield "projects", ", ".join(rows)


@dataclass(frozen=True)
class Replicate(UnaryNode):
    """Each row as often as its first column says, without that column."""

    @property
    def row(self) -> RowType:
        """Return the other columns."""
        return RowType(self.input.row.fields[1:], nullable=False)

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the column of the number, and the others."""
        yield "times", self.input.row.field_names[0]
        yield "select", ", ".join(self.row.field_names)

    def changes(self, given: tuple[Changes, ...]) -> Changes:
        """Return that rows come and go if they do so in the input."""
        (below,) = given
        return below if below == Changes() else Changes(update=True, delete=True)

    def needs(self, required: Updates, given: Changes) -> Updates | None:
        """Require the old rows of updates, which may have been there more often."""
        return Updates.BOTH if given.update else Updates.NONE


@dataclass(frozen=True)
class Exchange(PassingNode):
    """Rows with equal values in `keys` go to one subtask; without keys all rows do; `kept` rows are there already.

    `everywhere`: each subtask gets all rows.
    """

    keys: tuple[int, ...]
    kept: bool = False
    everywhere: bool = False

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the distribution."""
        names = self.row.field_names
        hashed = f"hash[{', '.join(names[key] for key in self.keys)}]"
        shown_as = hashed if self.keys else "broadcast" if self.everywhere else "single"
        yield "distribution", f"keep_input_as_is[{shown_as}]" if self.kept else shown_as


@dataclass(frozen=True)
class DropUpdateBefore(PassingNode):
    """The changes without the old rows of updates; with `as_delete` they are deletes instead.

    Leaving them out is right where a new row always follows, deletes are right everywhere. The node is made when modes
    are known, so that nothing asks it for its traits.
    """

    as_delete: bool = False

    @property
    def name(self) -> str:
        """Return what becomes of the old rows."""
        return "UpdateBeforeToDelete" if self.as_delete else "DropUpdateBefore"

    @staticmethod
    def of(given: PhysicalNode, *, as_delete: bool) -> DropUpdateBefore:
        """Return the node over one that has its mode."""
        mode = replace(given.mode, update_before=False, delete=given.mode.delete or as_delete)
        return DropUpdateBefore(given, as_delete, mode=mode)


@dataclass(frozen=True)
class Union(PhysicalNode):
    """The rows of all inputs."""

    parts: tuple[PhysicalNode, ...]
    type: RowType

    passes_on: ClassVar[bool] = True

    @property
    def inputs(self) -> tuple[PhysicalNode, ...]:
        """Return the parts."""
        return self.parts

    def with_inputs(self, inputs: tuple[PhysicalNode, ...]) -> Union:
        """Return the union of other parts."""
        return replace(self, parts=inputs)

    @property
    def row(self) -> RowType:
        """Return the common type."""
        return self.type

    def details(self, shown: Shown) -> Iterator[tuple[str, str]]:
        """Yield the columns."""
        yield "all", "true"
        yield "union", ", ".join(self.row.field_names)
