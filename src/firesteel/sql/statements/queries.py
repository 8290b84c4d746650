"""Statements that move rows, and what can be done with those statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from firesteel.sql.nodes import Call
from firesteel.sql.statements.create import CreateMaterializedTable, CreateTable
from firesteel.sql.statements.parts import Assignment, Name, Partition, Statement


@dataclass(frozen=True, slots=True)
class Query(Statement):
    """SELECT, VALUES, WITH or a set operation: `query` is sqlglot's node."""

    query: exp.Expr


@dataclass(frozen=True, slots=True)
class Insert(Statement):
    """``INSERT INTO`` or ``INSERT OVERWRITE``; `columns` is None where no columns are written.

    `table` has the table's name and hints. `conflict` is what ON CONFLICT does: ERROR, NOTHING, DEDUPLICATE or
    None.
    """

    table: exp.Table
    overwrite: bool
    partition: Partition
    columns: tuple[Name, ...] | None
    query: exp.Expr
    conflict: Literal["ERROR", "NOTHING", "DEDUPLICATE"] | None = None


@dataclass(frozen=True, slots=True)
class StatementSet(Statement):
    """Several INSERTs that run as one job: ``EXECUTE STATEMENT SET BEGIN ... END``."""

    inserts: tuple[Insert, ...]


@dataclass(frozen=True, slots=True)
class Delete(Statement):
    """``DELETE FROM table WHERE condition``."""

    table: exp.Table
    where: exp.Expr | None


@dataclass(frozen=True, slots=True)
class Update(Statement):
    """``UPDATE table SET column = value, ... WHERE condition``."""

    table: exp.Table
    assignments: tuple[Assignment, ...]
    where: exp.Expr | None


@dataclass(frozen=True, slots=True)
class Truncate(Statement):
    """``TRUNCATE TABLE table``."""

    table: Name


@dataclass(frozen=True, slots=True)
class CallProcedure(Statement):
    """``CALL procedure(arguments)``."""

    call: Call


@dataclass(frozen=True, slots=True)
class AnalyzeTable(Statement):
    """``ANALYZE TABLE``; `columns` are those to look at, ALL, or None for the table's own statistics only."""

    table: Name
    partition: Partition
    columns: tuple[Name, ...] | Literal["ALL"] | None


Explainable = Query | Insert | StatementSet | CreateTable | CreateMaterializedTable


@dataclass(frozen=True, slots=True)
class Explain(Statement):
    """``EXPLAIN``.

    `details` is a tuple of ESTIMATED_COST, CHANGELOG_MODE, JSON_EXECUTION_PLAN and PLAN_ADVICE.
    """

    details: tuple[str, ...]
    statement: Explainable


@dataclass(frozen=True, slots=True)
class CompilePlan(Statement):
    """``COMPILE PLAN path FOR statement``; with `execute`, ``COMPILE AND EXECUTE PLAN``."""

    path: str
    if_not_exists: bool
    execute: bool
    statement: Insert | StatementSet


@dataclass(frozen=True, slots=True)
class ExecutePlan(Statement):
    """``EXECUTE PLAN path``."""

    path: str
