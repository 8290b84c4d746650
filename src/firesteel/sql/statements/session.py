"""Statements about the session: what is in catalogs, what is in use, options, modules, jars, jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from firesteel.sql.statements.parts import Name, ObjectKind, Option, Partition, Statement


@dataclass(frozen=True, slots=True)
class Drop(Statement):
    """``DROP kind name``."""

    kind: ObjectKind
    name: Name
    if_exists: bool
    temporary: bool = False
    system: bool = False
    cascade: bool | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """``[NOT] LIKE 'text'`` or ILIKE, of SHOW."""

    text: str
    ignores_case: bool
    negated: bool


@dataclass(frozen=True, slots=True)
class Show(Statement):
    """``SHOW what [FROM scope] [LIKE pattern]``.

    `what` is CATALOGS, DATABASES, TABLES, MATERIALIZED TABLES, VIEWS, COLUMNS, FUNCTIONS, USER FUNCTIONS, MODELS,
    PROCEDURES, MODULES, FULL MODULES, JARS, JOBS, CURRENT CATALOG or CURRENT DATABASE. `scope` is the name after
    FROM or IN.
    """

    what: str
    scope: Name | None = None
    pattern: Pattern | None = None


@dataclass(frozen=True, slots=True)
class ShowPartitions(Statement):
    """``SHOW PARTITIONS table [PARTITION (...)]``."""

    table: Name
    partition: Partition


@dataclass(frozen=True, slots=True)
class ShowCreate(Statement):
    """``SHOW CREATE kind name``; `or_alter` is for materialized tables."""

    kind: ObjectKind
    name: Name
    or_alter: bool = False


@dataclass(frozen=True, slots=True)
class Describe(Statement):
    """``DESCRIBE [kind] [EXTENDED] name``; the kind is TABLE where none is written."""

    kind: ObjectKind
    name: Name
    extended: bool


@dataclass(frozen=True, slots=True)
class UseCatalog(Statement):
    """``USE CATALOG name``."""

    catalog: Name


@dataclass(frozen=True, slots=True)
class UseDatabase(Statement):
    """``USE [catalog.]database``."""

    database: Name


@dataclass(frozen=True, slots=True)
class UseModules(Statement):
    """``USE MODULES a, b``."""

    modules: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class LoadModule(Statement):
    """``LOAD MODULE name [WITH (options)]``."""

    module: Name
    options: tuple[Option, ...] | None


@dataclass(frozen=True, slots=True)
class UnloadModule(Statement):
    """``UNLOAD MODULE name``."""

    module: Name


@dataclass(frozen=True, slots=True)
class SetOption(Statement):
    """``SET 'key' = 'value'``; both are None for SET alone, which lists the options."""

    key: str | None
    value: str | None


@dataclass(frozen=True, slots=True)
class ResetOption(Statement):
    """``RESET 'key'``; the key is None for RESET alone, which resets all."""

    key: str | None


@dataclass(frozen=True, slots=True)
class ChangeJars(Statement):
    """``ADD JAR path`` or ``REMOVE JAR path``."""

    how: Literal["ADD", "REMOVE"]
    path: str


@dataclass(frozen=True, slots=True)
class DescribeJob(Statement):
    """``DESCRIBE JOB 'id'``."""

    job: str


@dataclass(frozen=True, slots=True)
class StopJob(Statement):
    """``STOP JOB 'id' [WITH SAVEPOINT] [WITH DRAIN]``."""

    job: str
    savepoint: bool
    drain: bool


@dataclass(frozen=True, slots=True)
class ClientCommand(Statement):
    """A command of the shell: HELP, CLEAR, QUIT or EXIT."""

    command: str
