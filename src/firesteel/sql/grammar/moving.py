"""INSERT, statement sets, DELETE, UPDATE, and what wraps them: EXPLAIN, COMPILE PLAN, EXECUTE."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, Literal, cast

from sqlglot import exp

from firesteel.sql.grammar.altering import Altering
from firesteel.sql.nodes import Call
from firesteel.sql.statements.create import CreateMaterializedTable, CreateTable
from firesteel.sql.statements.parts import Assignment, Statement
from firesteel.sql.statements.queries import (
    AnalyzeTable,
    CallProcedure,
    CompilePlan,
    Delete,
    ExecutePlan,
    Explain,
    Explainable,
    Insert,
    Query,
    StatementSet,
    Truncate,
    Update,
)

_DETAILS: Final = ("ESTIMATED_COST", "CHANGELOG_MODE", "JSON_EXECUTION_PLAN", "PLAN_ADVICE")


class Moving(Altering):
    """Parses statements that move rows."""

    def whole(self) -> Query:
        """Return the query that is a statement."""
        start = self.index
        query = self.whole_query()
        return Query(self.span_from(start), query)

    def _target(self, alias: bool) -> exp.Table:
        start = self.index
        table = self.table_name()
        if self.sees("/*+"):
            table.set("hints", [self.hint()])
        if alias and (self.takes("AS") or self.sees_name()):
            begin = self.index
            table.set("alias", self.mark(exp.TableAlias(this=self.identifier("an alias")), begin))
        return self.mark(table, start)

    def insert(self) -> Insert:
        """Return the statement that begins with INSERT."""
        start = self.index
        if self.sees("UPSERT"):
            raise self.unsupported("UPSERT", hint="use INSERT: a primary key makes it an upsert")
        self.needs("INSERT")
        overwrite = self.needs_one_of("INTO", "OVERWRITE") == "OVERWRITE"
        table = self._target(alias=False)
        partition = self.partition() if self.takes("PARTITION") else ()
        listed = self.sees("(") and not self._sees_query_in_parentheses()
        columns = None
        if listed:
            columns = tuple(self.in_parentheses(lambda: self.listed(self.name)))
        query = self.whole_query()
        conflict = None
        if self.takes("ON"):
            self.needs("CONFLICT", "DO")
            conflict = self.needs_one_of("ERROR", "NOTHING", "DEDUPLICATE")
        how = cast(Literal["ERROR", "NOTHING", "DEDUPLICATE"] | None, conflict)
        return Insert(self.span_from(start), table, overwrite, partition, columns, query, how)

    def _sees_query_in_parentheses(self) -> bool:
        depth = 0
        while self.at(depth).key == "(":
            depth += 1
        return self.sees_query(depth)

    def statement_set(self) -> StatementSet:
        """Return the statement set that follows: ``STATEMENT SET BEGIN ... END`` or ``BEGIN STATEMENT SET.

        ... END``, which may be empty.
        """
        start = self.index
        may_be_empty = self.takes("BEGIN")
        if may_be_empty:
            self.needs("STATEMENT", "SET", ";")
        else:
            self.takes("EXECUTE")
            self.needs("STATEMENT", "SET", "BEGIN")
        inserts: list[Insert] = []
        while not (inserts or may_be_empty) or not self.takes("END"):
            if not self.sees_one_of(("INSERT", "UPSERT")):
                raise self.error("'INSERT' or 'END'", keys=["INSERT", "END"])
            inserts.append(self.insert())
            self.needs(";")
        return StatementSet(self.span_from(start), tuple(inserts))

    def explain(self) -> Explain:
        """Return the statement that begins with EXPLAIN."""
        start = self.index
        self.needs("EXPLAIN")
        details: list[str] = []
        if self.takes("PLAN"):
            self.needs("FOR")
        elif self.sees_one_of(_DETAILS):
            details = self.listed(lambda: self.needs_one_of(*_DETAILS))
        statement = self._explained()
        return Explain(self.span_from(start), tuple(details), statement)

    def _explained(self) -> Explainable:
        if self.sees_one_of(("INSERT", "UPSERT")):
            return self.insert()
        if self.sees("STATEMENT", "SET") or self.sees("EXECUTE", "STATEMENT"):
            return self.statement_set()
        if self.sees_one_of(("CREATE", "REPLACE")):
            at = self.at()
            created = self.create() if self.sees("CREATE") else self.replace()
            if not isinstance(created, (CreateTable, CreateMaterializedTable)) or created.query is None:
                raise self.error("a query, an INSERT, a statement set or CREATE TABLE ... AS", token=at)
            return created
        self.takes("EXECUTE")
        return self.whole()

    def compile_plan(self) -> CompilePlan:
        """Return the statement that begins with COMPILE."""
        start = self.index
        self.needs("COMPILE")
        execute = self.takes("AND", "EXECUTE")
        self.needs("PLAN")
        path = self.string("a path as a string")
        if_not_exists = not execute and self.if_not_exists()
        self.needs("FOR")
        statement = self.statement_set() if self.sees("STATEMENT") else self.insert()
        return CompilePlan(self.span_from(start), path, if_not_exists, execute, statement)

    def execute(self) -> Statement:
        """Return the statement that begins with EXECUTE."""
        start = self.index
        if self.sees("EXECUTE", "STATEMENT"):
            return self.statement_set()
        self.needs("EXECUTE")
        if self.takes("PLAN"):
            path = self.string("a path as a string")
            return ExecutePlan(self.span_from(start), path)
        found = self.insert() if self.sees_one_of(("INSERT", "UPSERT")) else self.whole()
        return replace(found, span=self.span_from(start))

    def delete(self) -> Delete:
        """Return the statement that begins with DELETE."""
        start = self.index
        self.needs("DELETE", "FROM")
        table = self._target(alias=True)
        where = self.expression() if self.takes("WHERE") else None
        return Delete(self.span_from(start), table, where)

    def update(self) -> Update:
        """Return the statement that begins with UPDATE."""
        start = self.index
        self.needs("UPDATE")
        table = self._target(alias=True)
        self.needs("SET")
        assignments = tuple(self.listed(self._assignment))
        where = self.expression() if self.takes("WHERE") else None
        return Update(self.span_from(start), table, assignments, where)

    def _assignment(self) -> Assignment:
        column = self.column_name()
        self.needs("=")
        return Assignment(column, self.expression())

    def truncate(self) -> Truncate:
        """Return the statement that begins with TRUNCATE."""
        start = self.index
        self.needs("TRUNCATE", "TABLE")
        table = self.name("the name of a table")
        return Truncate(self.span_from(start), table)

    def call_procedure(self) -> CallProcedure:
        """Return the statement that begins with CALL."""
        start = self.index
        self.needs("CALL")
        begin = self.index
        names = [self.identifier("the name of a procedure")]
        while self.takes("."):
            names.append(self.identifier("a part of a name"))
        call = self.call(names, begin)
        if not isinstance(call, Call):
            raise self.refused("calls a procedure with FILTER or OVER", self.span_from(begin))
        return CallProcedure(self.span_from(start), call)

    def analyze(self) -> AnalyzeTable:
        """Return the statement that begins with ANALYZE."""
        start = self.index
        self.needs("ANALYZE", "TABLE")
        table = self.name("the name of a table")
        partition = self.partition(open_values=True) if self.takes("PARTITION") else ()
        self.needs("COMPUTE", "STATISTICS")
        if not self.takes("FOR"):
            return AnalyzeTable(self.span_from(start), table, partition, None)
        if self.takes("ALL"):
            self.needs("COLUMNS")
            return AnalyzeTable(self.span_from(start), table, partition, "ALL")
        self.needs("COLUMNS")
        columns = tuple(self.listed(self.column_name))
        return AnalyzeTable(self.span_from(start), table, partition, columns)
