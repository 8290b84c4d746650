"""CREATE."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from sqlglot import exp

from firesteel.sql.grammar.elements import Elements
from firesteel.sql.statements.create import (
    CreateCatalog,
    CreateDatabase,
    CreateFunction,
    CreateMaterializedTable,
    CreateModel,
    CreateTable,
    CreateView,
    Resource,
)
from firesteel.sql.statements.parts import (
    Column,
    ComputedColumn,
    Element,
    MetadataColumn,
    NamedColumn,
    PhysicalColumn,
    PrimaryKey,
    Statement,
    Watermark,
)

_KINDS: Final = ("TABLE", "VIEW", "CATALOG", "DATABASE", "FUNCTION", "MODEL", "MATERIALIZED")
_STARTS: Final = (
    "FROM_BEGINNING",
    "FROM_NOW",
    "FROM_TIMESTAMP",
    "RESUME_OR_FROM_BEGINNING",
    "RESUME_OR_FROM_NOW",
    "RESUME_OR_FROM_TIMESTAMP",
)
_LANGUAGES: Final = ("PYTHON", "JAVA", "SCALA", "SQL")


class Creating(Elements):
    """Parses CREATE."""

    def create(self) -> Statement:
        """Return the statement that begins with CREATE."""
        start = self.index
        self.needs("CREATE")
        or_alter = self.sees("OR", "ALTER")
        or_replace = not or_alter and self.sees("OR")
        if or_alter or or_replace:
            self.needs("OR", "ALTER" if or_alter else "REPLACE")
        temporary = self.takes("TEMPORARY")
        system = self.takes("SYSTEM")
        if self.sees("CONNECTION"):
            raise self.unsupported("CREATE CONNECTION")
        before = self.at()
        kind = self.needs_one_of("FUNCTION") if system else self.needs_one_of(*_KINDS)
        self._check_prefix(kind, or_alter, or_replace, temporary, system, before.start)
        parts: dict[str, Any] = {"if_not_exists": False}
        if kind == "MATERIALIZED":
            self.needs("TABLE")
            return self._create_materialized_table(start, or_alter or or_replace)
        if kind in {"TABLE", "VIEW", "MODEL", "FUNCTION"}:
            parts["temporary"] = temporary
        if kind in {"TABLE", "VIEW", "MODEL"}:
            parts["or_replace"] = or_replace
        parts["if_not_exists"] = self.if_not_exists()
        return self._create_kind(kind, start, parts, system)

    def replace(self) -> CreateTable:
        """Return the statement that begins with REPLACE: a table with AS and a query."""
        start = self.index
        self.needs("REPLACE", "TABLE")
        parts: dict[str, Any] = {"temporary": False, "or_replace": False, "if_not_exists": False}
        found = self._create_table(start, {**parts, "replaces": True})
        if found.query is None:
            raise self.error("AS and a query", keys=["AS"])
        return found

    def _create_kind(self, kind: str, start: int, parts: dict[str, Any], system: bool) -> Statement:
        match kind:
            case "TABLE":
                return self._create_table(start, parts)
            case "VIEW":
                return self._create_view(start, parts)
            case "FUNCTION":
                return self._create_function(start, parts, system)
            case "MODEL":
                return self._create_model(start, parts)
        parts["name"] = self.name(f"the name of a {kind.lower()}", most=1 if kind == "CATALOG" else 2)
        parts["comment"] = self.comment()
        parts["options"] = self.with_options()
        created = CreateCatalog if kind == "CATALOG" else CreateDatabase
        return created(span=self.span_from(start), **parts)

    def _check_prefix(
        self, kind: str, or_alter: bool, or_replace: bool, temporary: bool, system: bool, at: int
    ) -> None:
        span = self.source.span(at, at + len(kind))
        if or_alter and kind != "MATERIALIZED":
            raise self.refused(f"cannot be CREATE OR ALTER {kind}", span, hint="use CREATE OR REPLACE")
        if or_replace and kind not in {"TABLE", "VIEW", "MODEL"}:
            raise self.refused(f"cannot be CREATE OR REPLACE {kind}", span)
        if temporary and kind in {"CATALOG", "DATABASE", "MATERIALIZED"}:
            raise self.refused(f"cannot be CREATE TEMPORARY {kind}", span)
        if system and not temporary:
            raise self.refused(
                "cannot be CREATE SYSTEM FUNCTION", span, hint="use CREATE TEMPORARY SYSTEM FUNCTION"
            )

    def _schema(self) -> dict[str, Any]:
        elements: Sequence[Element] = ()
        if self.takes("("):
            elements = self.listed(self.element)
            self.needs(")")
        columns = [one for one in elements if isinstance(one, _COLUMNS)]
        watermarks = [one for one in elements if isinstance(one, Watermark)]
        keys = [one for one in elements if isinstance(one, PrimaryKey)]
        if len(watermarks) > 1:
            raise self.refused("has more than one watermark", watermarks[1].span)
        keys += [one.key for one in columns if isinstance(one, PhysicalColumn) and one.key is not None]
        if len(keys) > 1:
            raise self.refused("has more than one primary key", keys[1].span)
        return {
            "columns": tuple(columns),
            "watermarks": tuple(watermarks),
            "keys": tuple(one for one in elements if isinstance(one, PrimaryKey)),
        }

    def _layout(self) -> dict[str, Any]:
        parts: dict[str, Any] = {"comment": self.comment()}
        parts["distribution"] = self.distribution() if self.takes("DISTRIBUTED") else None
        parts["partitioned_by"] = ()
        if self.takes("PARTITIONED"):
            self.needs("BY")
            parts["partitioned_by"] = self.column_names()
        parts["options"] = self.with_options()
        return parts

    def _create_table(self, start: int, parts: dict[str, Any]) -> CreateTable:
        parts |= {"name": self.name("the name of a table"), **self._schema(), **self._layout()}
        parts["like"] = self.table_like() if self.takes("LIKE") else None
        parts["query"] = self.whole_query() if parts["like"] is None and self.takes("AS") else None
        if parts["query"] is None:
            self._refuse_untyped(parts["columns"])
        return CreateTable(span=self.span_from(start), **parts)

    def _refuse_untyped(self, columns: Sequence[Column]) -> None:
        for column in columns:
            if isinstance(column, NamedColumn):
                raise self.refused(
                    "requires a type for each column", column.span, got=f"{column.name} without one",
                    hint="leave types out only before AS and a query",
                )  # fmt: skip

    def _create_materialized_table(self, start: int, or_alter: bool) -> CreateMaterializedTable:
        parts: dict[str, Any] = {"or_alter": or_alter, "if_not_exists": self.if_not_exists()}
        parts["name"] = self.name("the name of a table")
        parts |= {**self._schema(), **self._layout()}
        parts["start"] = self._start_mode() if self.takes("START_MODE") else None
        parts["freshness"] = None
        if self.takes("FRESHNESS"):
            self.needs("=")
            parts["freshness"] = self.freshness()
        parts["refresh"] = None
        if self.takes("REFRESH_MODE"):
            self.needs("=")
            parts["refresh"] = self.needs_one_of("FULL", "CONTINUOUS")
        self.needs("AS")
        parts["query"] = self.whole_query()
        return CreateMaterializedTable(span=self.span_from(start), **parts)

    def freshness(self) -> exp.Expr:
        """Return the interval that follows."""
        if not self.sees("INTERVAL"):
            raise self.error("an interval")
        return self.primary()

    def _start_mode(self) -> exp.Expr:
        self.needs("=")
        begin = self.index
        word = self.needs_one_of(*_STARTS)
        if not self.sees("("):
            return self.mark(exp.Var(this=word), begin)
        self.index = begin
        return self.call()

    def _create_view(self, start: int, parts: dict[str, Any]) -> CreateView:
        name = self.name("the name of a view")
        columns = self.column_names() if self.sees("(") else None
        comment = self.comment()
        self.needs("AS")
        query = self.whole_query()
        return CreateView(
            self.span_from(start), name=name, columns=columns, comment=comment, query=query, **parts
        )

    def _create_function(self, start: int, parts: dict[str, Any], system: bool) -> CreateFunction:
        parts["name"] = self.name("the name of a function", most=1 if system else 3)
        self.needs("AS")
        parts["target"] = self.string("the function's class as a string")
        parts["language"] = self.needs_one_of(*_LANGUAGES) if self.takes("LANGUAGE") else None
        parts["resources"] = ()
        if self.sees("USING"):
            if parts["language"] in {"PYTHON", "SQL"}:
                raise self.error("no USING: it is for JAVA and SCALA")
            self.needs("USING")
            parts["resources"] = tuple(self.listed(self._resource))
        parts["options"] = self.with_options()
        return CreateFunction(span=self.span_from(start), system=system, **parts)

    def _resource(self) -> Resource:
        return Resource(self.needs_one_of("JAR", "ARTIFACT"), self.string("a path as a string"))

    def _create_model(self, start: int, parts: dict[str, Any]) -> CreateModel:
        parts["name"] = self.name("the name of a model")
        for word, key in (("INPUT", "inputs"), ("OUTPUT", "outputs")):
            columns = self.in_parentheses(lambda: self.listed(self.column)) if self.takes(word) else None
            self._refuse_untyped(columns or ())
            parts[key] = None if columns is None else tuple(columns)
        parts["comment"] = self.comment()
        parts["options"] = self.with_options()
        parts["query"] = self.whole_query() if self.takes("AS") else None
        return CreateModel(span=self.span_from(start), **parts)


_COLUMNS: Final = (PhysicalColumn, MetadataColumn, ComputedColumn, NamedColumn)
