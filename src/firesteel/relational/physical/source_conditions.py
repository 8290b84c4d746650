"""Conditions as sources take them: on partitions, which they decide, and on rows, of which they know bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from firesteel.common.logical_types import Field, LogicalTypeRoot, RowType
from firesteel.functions.columns.program import Program
from firesteel.functions.columns.pushdowns import (
    Comparison,
    Condition,
    Junction,
    Like,
    NullTest,
    Operator,
)
from firesteel.relational.expressions import Call, Expression, InputRef, Literal, references
from firesteel.relational.functions import FUNCTIONS
from firesteel.relational.rules.substitution import moved
from firesteel.relational.tables import PhysicalColumn, ResolvedTable
from firesteel.relational.translation import program
from firesteel.runtime.columns.batch import ColumnBatch
from firesteel.runtime.columns.kernel.statement import Statement

_R = LogicalTypeRoot
_ORDERED: Final = frozenset(
    {
        *(_R.BOOLEAN, _R.VARCHAR, _R.TINYINT, _R.SMALLINT, _R.INTEGER, _R.BIGINT, _R.DECIMAL, _R.DOUBLE),
        *(_R.DATE, _R.TIMESTAMP_WITHOUT_TIME_ZONE),
    }
)
"""The types whose values Python orders as Flink does."""

_MIRRORED: Final[dict[Operator, Operator]] = {
    "=": "=",
    "<>": "<>",
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
}
_NEGATED: Final[dict[Operator, Operator]] = {
    "=": "<>",
    "<>": "=",
    "<": ">=",
    "<=": ">",
    ">": "<=",
    ">=": "<",
}


@dataclass(frozen=True)
class PartitionFilter:
    """A condition over the partition columns of a table, at places of `ResolvedTable.read`; `zone` is the session's."""

    condition: Expression
    zone: str

    def choice(self, table: ResolvedTable) -> KernelChoice:
        """Return the choice of partitions for which the condition is TRUE."""
        places = sorted({*references(self.condition)})
        row = RowType(
            tuple(Field(table.read[place].name, table.read[place].type) for place in places), nullable=False
        )
        condition = moved(self.condition, {place: now for now, place in enumerate(places)})
        return KernelChoice(program(row, [condition], ["chosen"], zone=self.zone))


@dataclass(frozen=True)
class KernelChoice:
    """The partitions for which the only column of a program is TRUE."""

    program: Program

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the partition columns that the condition reads."""
        return tuple(self.program.input.field_names)

    def __call__(self, values: pa.RecordBatch) -> list[bool]:
        """Return whether each row is TRUE."""
        statement = Statement(self.program, "a condition on partitions")
        try:
            found = statement.run(ColumnBatch(values)).rows.column(0)
        finally:
            statement.close()
        return [one is True for one in found.to_pylist()]


def chooses_partitions(condition: Expression, table: ResolvedTable) -> bool:
    """Return whether a condition over `ResolvedTable.read` says the same of a partition at any time."""
    names = {table.read[place].name for place in references(condition)}
    return bool(names) and names <= {*table.partition_keys} and _is_lasting(condition)


def _is_lasting(expression: Expression) -> bool:
    if isinstance(expression, Call) and expression.function in FUNCTIONS:
        function = FUNCTIONS.find(expression.function)
        if not function.deterministic or function.temporal:
            return False
    return all(map(_is_lasting, expression.operands))


def condition_of(expression: Expression, table: ResolvedTable) -> Condition | None:
    """Return a condition over `ResolvedTable.read` that rows of the table can be left out by; None if there is none.

    Such conditions compare columns of the rows, which are no partition's, with constants.
    """
    return _Translation(table).of(expression, negated=False)


@dataclass(frozen=True)
class _Translation:
    table: ResolvedTable

    def of(self, expression: Expression, *, negated: bool) -> Condition | None:
        match expression:
            case Call(function="NOT", arguments=(inner,)):
                return self.of(inner, negated=not negated)
            case Call(function="AND" | "OR" as function, arguments=parts):
                found = [self.of(part, negated=negated) for part in parts]
                known = tuple(part for part in found if part is not None)
                return Junction(known, (function == "OR") != negated) if len(known) == len(found) else None
            case InputRef() if expression.type.root is _R.BOOLEAN:
                name = self._name(expression)
                return None if name is None else Comparison(name, "=", not negated)
            case Call(function="LIKE", arguments=(InputRef() as column, Literal(value=str() as pattern))):
                name = self._name(column)
                plain = column.type.root is _R.VARCHAR and "\\" not in pattern and not negated
                return Like(name, pattern) if plain and name is not None else None
            case Call(function="IS NULL" | "IS NOT NULL" as function, arguments=(InputRef() as column,)):
                name = self._name(column)
                return None if name is None else NullTest(name, (function == "IS NOT NULL") != negated)
            case Call(function="IN", arguments=(InputRef() as column, *values)) if not negated:
                compared = [self._comparison(column, "=", value, negated=False) for value in values]
                known = tuple(part for part in compared if part is not None)
                return Junction(known, any_of=True) if len(known) == len(values) else None
            case Call(function=name, arguments=(InputRef() as column, Literal() as value)) if (
                name in _MIRRORED
            ):
                return self._comparison(column, name, value, negated=negated)
            case Call(function=name, arguments=(Literal() as value, InputRef() as column)) if (
                name in _MIRRORED
            ):
                return self._comparison(column, _MIRRORED[name], value, negated=negated)
        return None

    def _comparison(
        self, column: InputRef, operator: Operator, value: Expression, *, negated: bool
    ) -> Condition | None:
        name = self._name(column)
        if name is None or column.type.root not in _ORDERED:
            return None
        if not isinstance(value, Literal) or value.value is None:
            return None
        if negated and isinstance(value.value, float):
            return None  # NaN is neither smaller nor not smaller
        return Comparison(name, _NEGATED[operator] if negated else operator, value.value)

    def _name(self, column: InputRef) -> str | None:
        """Return the name of a column of the rows; None for what the rows do not have."""
        read = self.table.read[column.index]
        of_rows = isinstance(read, PhysicalColumn) and read.name not in self.table.partition_keys
        return read.name if of_rows else None
