"""CREATE of each kind of object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from firesteel.sql.statements.parts import (
    Column,
    Distribution,
    Name,
    Option,
    PrimaryKey,
    Statement,
    TableLike,
    Watermark,
)


@dataclass(frozen=True, slots=True)
class CreateTable(Statement):
    """``CREATE TABLE``, with LIKE or with AS and a query if that is written.

    `options` is None where no WITH is written. `replaces` is ``REPLACE TABLE`` without CREATE: the table must exist.
    """

    name: Name
    temporary: bool
    or_replace: bool
    if_not_exists: bool
    columns: tuple[Column, ...]
    watermarks: tuple[Watermark, ...]
    keys: tuple[PrimaryKey, ...]
    comment: str | None
    distribution: Distribution | None
    partitioned_by: tuple[Name, ...]
    options: tuple[Option, ...] | None
    like: TableLike | None
    query: exp.Expr | None
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class CreateMaterializedTable(Statement):
    """``CREATE MATERIALIZED TABLE``: a table that is kept as the answer of a query.

    `freshness` is an interval; `start` is a `Call` or a word, as it is written after START_MODE.
    """

    name: Name
    or_alter: bool
    if_not_exists: bool
    columns: tuple[Column, ...]
    watermarks: tuple[Watermark, ...]
    keys: tuple[PrimaryKey, ...]
    comment: str | None
    distribution: Distribution | None
    partitioned_by: tuple[Name, ...]
    options: tuple[Option, ...] | None
    start: exp.Expr | None
    freshness: exp.Expr | None
    refresh: Literal["FULL", "CONTINUOUS"] | None
    query: exp.Expr


@dataclass(frozen=True, slots=True)
class CreateView(Statement):
    """``CREATE VIEW``; `columns` is None where no names are written."""

    name: Name
    temporary: bool
    or_replace: bool
    if_not_exists: bool
    columns: tuple[Name, ...] | None
    comment: str | None
    query: exp.Expr


@dataclass(frozen=True, slots=True)
class CreateCatalog(Statement):
    """``CREATE CATALOG``."""

    name: Name
    if_not_exists: bool
    comment: str | None
    options: tuple[Option, ...] | None


@dataclass(frozen=True, slots=True)
class CreateDatabase(Statement):
    """``CREATE DATABASE``."""

    name: Name
    if_not_exists: bool
    comment: str | None
    options: tuple[Option, ...] | None


@dataclass(frozen=True, slots=True)
class Resource:
    """A file that a function needs: `kind` is JAR or ARTIFACT."""

    kind: str
    path: str


@dataclass(frozen=True, slots=True)
class CreateFunction(Statement):
    """``CREATE FUNCTION name AS 'module.function' LANGUAGE PYTHON``.

    `target` is the class or the Python object. `language` is None where nothing is written, which means Java.
    """

    name: Name
    temporary: bool
    system: bool
    if_not_exists: bool
    target: str
    language: Literal["JAVA", "SCALA", "SQL", "PYTHON"] | None
    resources: tuple[Resource, ...]
    options: tuple[Option, ...] | None


@dataclass(frozen=True, slots=True)
class CreateModel(Statement):
    """``CREATE MODEL``; `inputs` and `outputs` are None where they are not written."""

    name: Name
    temporary: bool
    or_replace: bool
    if_not_exists: bool
    inputs: tuple[Column, ...] | None
    outputs: tuple[Column, ...] | None
    comment: str | None
    options: tuple[Option, ...] | None
    query: exp.Expr | None
