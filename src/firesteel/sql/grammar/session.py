"""SHOW, DESCRIBE, USE, DROP, SET, modules, jars and jobs."""

from __future__ import annotations

import re
from typing import Final, Literal, cast

from firesteel.sql.grammar.moving import Moving
from firesteel.sql.lexer import TokenKind
from firesteel.sql.statements.parts import ObjectKind, Statement
from firesteel.sql.statements.session import (
    ChangeJars,
    ClientCommand,
    Describe,
    DescribeJob,
    Drop,
    LoadModule,
    Pattern,
    ResetOption,
    SetOption,
    Show,
    ShowCreate,
    ShowPartitions,
    StopJob,
    UnloadModule,
    UseCatalog,
    UseDatabase,
    UseModules,
)

_SCOPED: Final = {
    "TABLES": 2, "VIEWS": 2, "MODELS": 2, "MATERIALIZED TABLES": 2, "DATABASES": 1, "FUNCTIONS": 2, "PROCEDURES": 2,
    "USER FUNCTIONS": 2,
}  # fmt: skip
_PATTERNS: Final = {
    **dict.fromkeys(("TABLES", "VIEWS", "MODELS", "COLUMNS", "MATERIALIZED TABLES"), ("LIKE",)),
    **dict.fromkeys(
        ("CATALOGS", "DATABASES", "FUNCTIONS", "PROCEDURES", "USER FUNCTIONS"), ("LIKE", "ILIKE")
    ),
}
_SHOWN: Final = (
    "CATALOGS", "COLUMNS", "CREATE", "CURRENT", "DATABASES", "FULL", "FUNCTIONS", "JARS", "JOBS", "MATERIALIZED",
    "MODELS", "MODULES", "PARTITIONS", "PROCEDURES", "TABLES", "USER", "VIEWS",
)  # fmt: skip
_SECOND: Final = {
    "CURRENT": ("CATALOG", "DATABASE"),
    "FULL": ("MODULES",),
    "USER": ("FUNCTIONS",),
    "MATERIALIZED": ("TABLES",),
}
_DROPPED: Final = ("TABLE", "VIEW", "DATABASE", "CATALOG", "FUNCTION", "MODEL", "MATERIALIZED")
_UNQUOTED: Final = re.compile(
    r"(?P<key>[^'\s=]+)\s*=\s*(?:'(?P<quoted>(?:[^']|'')*)'|(?P<value>[^;\s]+))\Z", re.DOTALL
)


class Session(Moving):
    """Parses statements about the session."""

    def show(self) -> Statement:
        """Return the statement that begins with SHOW."""
        start = self.index
        self.needs("SHOW")
        if self.sees("CONNECTIONS"):
            raise self.unsupported("SHOW CONNECTIONS")
        what = self.needs_one_of(*_SHOWN)
        if what == "CREATE":
            return self._show_create(start)
        if what == "PARTITIONS":
            table = self.name("the name of a table")
            partition = self.partition() if self.takes("PARTITION") else ()
            return ShowPartitions(self.span_from(start), table, partition)
        if what in _SECOND:
            what = f"{what} {self.needs_one_of(*_SECOND[what])}"
        scope = None
        if what == "COLUMNS":
            self.needs_one_of("FROM", "IN")
            scope = self.name("the name of a table")
        elif what in _SCOPED and self.takes_one_of("FROM", "IN"):
            most = _SCOPED[what]
            scope = self.name("the name of a catalog" if most == 1 else "the name of a database", most=most)
        pattern = self._pattern(_PATTERNS.get(what, ()))
        return Show(self.span_from(start), what, scope, pattern)

    def _pattern(self, allowed: tuple[str, ...]) -> Pattern | None:
        if not allowed or not self.sees_one_of(("NOT", *allowed)):
            return None
        negated = self.takes("NOT")
        word = self.needs_one_of(*allowed)
        return Pattern(self.string("a pattern as a string"), word == "ILIKE", negated)

    def _kind(self, *words: str) -> ObjectKind:
        word = self.needs_one_of(*words)
        if word == "MATERIALIZED":
            self.needs("TABLE")
            return ObjectKind.MATERIALIZED_TABLE
        return ObjectKind(word)

    def _show_create(self, start: int) -> ShowCreate:
        or_alter = self.takes("OR", "ALTER")
        if or_alter:
            kind = self._kind("MATERIALIZED")
        else:
            kind = self._kind("TABLE", "VIEW", "CATALOG", "MODEL", "MATERIALIZED")
        name = self.name(most=1 if kind is ObjectKind.CATALOG else 3)
        return ShowCreate(self.span_from(start), kind, name, or_alter)

    def describe(self) -> Statement:
        """Return the statement that begins with DESCRIBE or DESC."""
        start = self.index
        self.needs_one_of("DESCRIBE", "DESC")
        if self.sees("JOB") and self.at(1).key != ".":
            self.advance()
            job = self.string("the id of a job as a string")
            return DescribeJob(self.span_from(start), job)
        kind = ObjectKind.TABLE
        if self.sees_one_of(("CATALOG", "DATABASE", "FUNCTION", "MODEL")) and self.at(1).key != ".":
            kind = ObjectKind(self.advance().key)
        extended = self.takes("EXTENDED")
        name = self.name("the name of a table" if kind is ObjectKind.TABLE else "a name")
        return Describe(self.span_from(start), kind, name, extended)

    def use(self) -> Statement:
        """Return the statement that begins with USE."""
        start = self.index
        self.needs("USE")
        if self.sees("CATALOG") and self.at(1).key != ".":
            self.advance()
            catalog = self.name("the name of a catalog", most=1)
            return UseCatalog(self.span_from(start), catalog)
        if self.takes("MODULES"):
            modules = tuple(self.listed(lambda: self.name("the name of a module", most=1)))
            return UseModules(self.span_from(start), modules)
        database = self.name("the name of a database", most=2)
        return UseDatabase(self.span_from(start), database)

    def drop(self) -> Drop:
        """Return the statement that begins with DROP."""
        start = self.index
        self.needs("DROP")
        temporary = self.takes("TEMPORARY")
        system = self.takes("SYSTEM")
        if self.sees("CONNECTION"):
            raise self.unsupported("DROP CONNECTION")
        at = self.at()
        kind = self._kind("FUNCTION") if system else self._kind(*_DROPPED)
        if temporary and kind in {ObjectKind.CATALOG, ObjectKind.DATABASE, ObjectKind.MATERIALIZED_TABLE}:
            raise self.error("TABLE, VIEW, FUNCTION or MODEL", token=at)
        if_exists = self.if_exists()
        name = self.name(f"the name of a {kind.value.lower()}")
        word = self.takes_one_of("RESTRICT", "CASCADE") if kind is ObjectKind.DATABASE else ""
        cascade = word == "CASCADE" if word else None
        return Drop(self.span_from(start), kind, name, if_exists, temporary, system, cascade)

    def set_option(self) -> SetOption:
        """Return the statement that begins with SET.

        Keys and values may be without quotes, as in Flink's shell.
        """
        start = self.index
        self.needs("SET")
        if self.at().kind is TokenKind.END:
            return SetOption(self.span_from(start), None, None)
        if self.at().kind is not TokenKind.STRING:
            return self._unquoted(start)
        key = self.string()
        self.needs("=")
        value = self.string("the value as a string")
        return SetOption(self.span_from(start), key, value)

    def _unquoted(self, start: int) -> SetOption:
        written = self.source.text[self.at().start : self.tokens[-1].start].strip()
        found = _UNQUOTED.match(written)
        if found is None:
            raise self.error("'key' = 'value'", hint="quote the key and the value with single quotes")
        self.index = len(self.tokens) - 1
        quoted = found["quoted"]
        value = found["value"] if quoted is None else quoted.replace("''", "'")
        return SetOption(self.span_from(start), found["key"], value)

    def reset_option(self) -> ResetOption:
        """Return the statement that begins with RESET."""
        start = self.index
        self.needs("RESET")
        if self.at().kind is TokenKind.END:
            return ResetOption(self.span_from(start), None)
        if self.at().kind is TokenKind.STRING:
            key = self.string()
        else:
            key = self.source.text[self.at().start : self.tokens[-1].start].strip()
            if not re.fullmatch(r"[^'\s]+", key):
                raise self.error("the key of an option as a string")
            self.index = len(self.tokens) - 1
        return ResetOption(self.span_from(start), key)

    def load_module(self) -> LoadModule:
        """Return the statement that begins with LOAD."""
        start = self.index
        self.needs("LOAD", "MODULE")
        module = self.name("the name of a module", most=1)
        options = self.with_options()
        return LoadModule(self.span_from(start), module, options)

    def unload_module(self) -> UnloadModule:
        """Return the statement that begins with UNLOAD."""
        start = self.index
        self.needs("UNLOAD", "MODULE")
        module = self.name("the name of a module", most=1)
        return UnloadModule(self.span_from(start), module)

    def change_jars(self) -> ChangeJars:
        """Return the statement that begins with ADD or REMOVE."""
        start = self.index
        how = cast(Literal["ADD", "REMOVE"], self.needs_one_of("ADD", "REMOVE"))
        self.needs("JAR")
        path = self.string("a path as a string")
        return ChangeJars(self.span_from(start), how, path)

    def stop_job(self) -> StopJob:
        """Return the statement that begins with STOP."""
        start = self.index
        self.needs("STOP", "JOB")
        job = self.string("the id of a job as a string")
        savepoint = self.takes("WITH", "SAVEPOINT")
        drain = savepoint and self.takes("WITH", "DRAIN")
        if self.sees("WITH", "DRAIN"):
            raise self.error("'WITH SAVEPOINT' before 'WITH DRAIN'")
        return StopJob(self.span_from(start), job, savepoint, drain)

    def client_command(self) -> ClientCommand:
        """Return a command of the shell."""
        start = self.index
        command = self.needs_one_of("HELP", "CLEAR", "QUIT", "EXIT")
        return ClientCommand(self.span_from(start), command)
