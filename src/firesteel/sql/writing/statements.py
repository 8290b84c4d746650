"""Statements to text: a function for each kind."""

from __future__ import annotations

from functools import singledispatch

from firesteel.sql.statements import create as c
from firesteel.sql.statements import queries as q
from firesteel.sql.statements import session as s
from firesteel.sql.statements.alter import Alter
from firesteel.sql.statements.parts import ObjectKind, Statement
from firesteel.sql.writing import parts as p
from firesteel.sql.writing.altering import action

_joined = p.joined


@singledispatch
def written(statement: Statement) -> str:
    """Return a statement as text.

    >>> from firesteel.sql.script import parse_statement
    >>> written(parse_statement("create table t (a int) with ('connector'='print')"))
    "CREATE TABLE `t` (`a` INT) WITH ('connector' = 'print')"
    """
    raise AssertionError(f"no text for {type(statement).__name__}")


@written.register
def _(found: q.Query) -> str:
    return p.sql(found.query)


@written.register
def _(found: q.Insert) -> str:
    into = f"INSERT {'OVERWRITE' if found.overwrite else 'INTO'} {p.sql(found.table)}"
    partition = p.partition(found.partition) if found.partition else None
    conflict = f"ON CONFLICT DO {found.conflict}" if found.conflict else None
    return _joined(into, partition, p.names(found.columns), p.sql(found.query), conflict)


@written.register
def _(found: q.StatementSet) -> str:
    inserts = " ".join(f"{written(insert)};" for insert in found.inserts)
    return f"EXECUTE STATEMENT SET BEGIN {inserts} END" if inserts else "BEGIN STATEMENT SET; END"


@written.register
def _(found: q.Delete) -> str:
    where = None if found.where is None else f"WHERE {p.sql(found.where)}"
    return _joined(f"DELETE FROM {p.sql(found.table)}", where)


@written.register
def _(found: q.Update) -> str:
    where = None if found.where is None else f"WHERE {p.sql(found.where)}"
    changes = ", ".join(p.assignment(one) for one in found.assignments)
    return _joined(f"UPDATE {p.sql(found.table)} SET {changes}", where)


@written.register
def _(found: q.Truncate) -> str:
    return f"TRUNCATE TABLE {found.table}"


@written.register
def _(found: q.CallProcedure) -> str:
    return f"CALL {p.sql(found.call)}"


@written.register
def _(found: q.AnalyzeTable) -> str:
    partition = p.partition(found.partition) if found.partition else None
    columns = None
    if found.columns is not None:
        all_or_some = (
            "ALL COLUMNS" if found.columns == "ALL" else f"COLUMNS {', '.join(map(str, found.columns))}"
        )
        columns = f"FOR {all_or_some}"
    return _joined(f"ANALYZE TABLE {found.table}", partition, "COMPUTE STATISTICS", columns)


@written.register
def _(found: q.Explain) -> str:
    how = ", ".join(found.details) if found.details else "PLAN FOR"
    statement = written(found.statement).removeprefix("EXECUTE ")
    return f"EXPLAIN {how} {statement}"


@written.register
def _(found: q.CompilePlan) -> str:
    execute = "AND EXECUTE" if found.execute else None
    exists = "IF NOT EXISTS" if found.if_not_exists else None
    statement = written(found.statement).removeprefix("EXECUTE ")
    return _joined("COMPILE", execute, "PLAN", p.text(found.path), exists, "FOR", statement)


@written.register
def _(found: q.ExecutePlan) -> str:
    return f"EXECUTE PLAN {p.text(found.path)}"


def _create(kind: str, found: c.CreateTable | c.CreateView | c.CreateModel) -> str:
    return _joined(
        "CREATE",
        "OR REPLACE" if found.or_replace else None,
        "TEMPORARY" if found.temporary else None,
        kind,
        "IF NOT EXISTS" if found.if_not_exists else None,
        str(found.name),
    )


def _layout(found: c.CreateTable | c.CreateMaterializedTable) -> str:
    elements = [p.element(one) for one in (*found.columns, *found.watermarks, *found.keys)]
    distribution = found.distribution
    return _joined(
        p.listed(elements) if elements else None,
        p.comment(found.comment),
        f"DISTRIBUTED {p.distribution(distribution)}" if distribution else None,
        f"PARTITIONED BY {p.listed(found.partitioned_by)}" if found.partitioned_by else None,
        p.with_options(found.options),
    )


@written.register
def _(found: c.CreateTable) -> str:
    like = p.table_like(found.like) if found.like else None
    query = None if found.query is None else f"AS {p.sql(found.query)}"
    start = f"REPLACE TABLE {found.name}" if found.replaces else _create("TABLE", found)
    return _joined(start, _layout(found), like, query)


@written.register
def _(found: c.CreateMaterializedTable) -> str:
    return _joined(
        "CREATE",
        "OR ALTER" if found.or_alter else None,
        "MATERIALIZED TABLE",
        "IF NOT EXISTS" if found.if_not_exists else None,
        str(found.name),
        _layout(found),
        None if found.start is None else f"START_MODE = {p.sql(found.start)}",
        None if found.freshness is None else f"FRESHNESS = {p.sql(found.freshness)}",
        f"REFRESH_MODE = {found.refresh}" if found.refresh else None,
        f"AS {p.sql(found.query)}",
    )


@written.register
def _(found: c.CreateView) -> str:
    columns = p.names(found.columns)
    return _joined(_create("VIEW", found), columns, p.comment(found.comment), f"AS {p.sql(found.query)}")


@written.register(c.CreateCatalog)
@written.register(c.CreateDatabase)
def _(found: c.CreateCatalog | c.CreateDatabase) -> str:
    kind = "CATALOG" if isinstance(found, c.CreateCatalog) else "DATABASE"
    exists = "IF NOT EXISTS" if found.if_not_exists else None
    return _joined(
        "CREATE", kind, exists, str(found.name), p.comment(found.comment), p.with_options(found.options)
    )


@written.register
def _(found: c.CreateFunction) -> str:
    resources = ", ".join(f"{one.kind} {p.text(one.path)}" for one in found.resources)
    return _joined(
        "CREATE",
        "TEMPORARY" if found.temporary else None,
        "SYSTEM" if found.system else None,
        "FUNCTION",
        "IF NOT EXISTS" if found.if_not_exists else None,
        f"{found.name} AS {p.text(found.target)}",
        f"LANGUAGE {found.language}" if found.language else None,
        f"USING {resources}" if resources else None,
        p.with_options(found.options),
    )


@written.register
def _(found: c.CreateModel) -> str:
    inputs, outputs = (
        None if columns is None else f"{word} {p.listed(map(p.element, columns))}"
        for word, columns in (("INPUT", found.inputs), ("OUTPUT", found.outputs))
    )
    query = None if found.query is None else f"AS {p.sql(found.query)}"
    end = _joined(p.comment(found.comment), p.with_options(found.options), query)
    return _joined(_create("MODEL", found), inputs, outputs, end)


@written.register
def _(found: Alter) -> str:
    return _joined(
        "ALTER",
        "TEMPORARY" if found.temporary else None,
        "SYSTEM" if found.system else None,
        found.kind.value,
        "IF EXISTS" if found.if_exists else None,
        str(found.name),
        action(found.action),
    )


@written.register
def _(found: s.Drop) -> str:
    return _joined(
        "DROP",
        "TEMPORARY" if found.temporary else None,
        "SYSTEM" if found.system else None,
        found.kind.value,
        "IF EXISTS" if found.if_exists else None,
        str(found.name),
        {None: None, True: "CASCADE", False: "RESTRICT"}[found.cascade],
    )


@written.register
def _(found: s.Show) -> str:
    pattern = found.pattern
    like = None
    if pattern is not None:
        word = "ILIKE" if pattern.ignores_case else "LIKE"
        like = _joined("NOT" if pattern.negated else None, word, p.text(pattern.text))
    return _joined("SHOW", found.what, f"FROM {found.scope}" if found.scope else None, like)


@written.register
def _(found: s.ShowPartitions) -> str:
    partition = p.partition(found.partition) if found.partition else None
    return _joined(f"SHOW PARTITIONS {found.table}", partition)


@written.register
def _(found: s.ShowCreate) -> str:
    return _joined("SHOW CREATE", "OR ALTER" if found.or_alter else None, found.kind.value, str(found.name))


@written.register
def _(found: s.Describe) -> str:
    kind = None if found.kind is ObjectKind.TABLE else found.kind.value
    return _joined("DESCRIBE", kind, "EXTENDED" if found.extended else None, str(found.name))


@written.register
def _(found: s.UseCatalog) -> str:
    return f"USE CATALOG {found.catalog}"


@written.register
def _(found: s.UseDatabase) -> str:
    return f"USE {found.database}"


@written.register
def _(found: s.UseModules) -> str:
    return f"USE MODULES {', '.join(map(str, found.modules))}"


@written.register
def _(found: s.LoadModule) -> str:
    return _joined(f"LOAD MODULE {found.module}", p.with_options(found.options))


@written.register
def _(found: s.UnloadModule) -> str:
    return f"UNLOAD MODULE {found.module}"


@written.register
def _(found: s.SetOption) -> str:
    if found.key is None or found.value is None:
        return "SET"
    return f"SET {p.text(found.key)} = {p.text(found.value)}"


@written.register
def _(found: s.ResetOption) -> str:
    return "RESET" if found.key is None else f"RESET {p.text(found.key)}"


@written.register
def _(found: s.ChangeJars) -> str:
    return f"{found.how} JAR {p.text(found.path)}"


@written.register
def _(found: s.DescribeJob) -> str:
    return f"DESCRIBE JOB {p.text(found.job)}"


@written.register
def _(found: s.StopJob) -> str:
    savepoint = "WITH SAVEPOINT" if found.savepoint else None
    return _joined(f"STOP JOB {p.text(found.job)}", savepoint, "WITH DRAIN" if found.drain else None)


@written.register
def _(found: s.ClientCommand) -> str:
    return found.command
