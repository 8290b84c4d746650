"""The dialect of SQLAlchemy: `firesteel://host:port/database`.

::

    engine = create_engine("firesteel://localhost:8081/my_catalog.my_database")
    pandas.read_sql("SELECT * FROM orders", engine)

The password of the URL is the token; parameters of the URL are options of the session, but `tls=true`, which means
https. `connect_args={"init": [...]}` are statements to begin with: a session has no tables but those of its catalogs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final

from sqlalchemy import types
from sqlalchemy.engine import URL, Connection, default
from sqlalchemy.engine.interfaces import ReflectedColumn, ReflectedPrimaryKeyConstraint
from sqlalchemy.exc import NoSuchTableError
from sqlalchemy.sql import compiler

from firesteel import dbapi
from firesteel.common.logical_types import (
    DecimalType,
    LocalZonedTimestampType,
    LogicalType,
    LogicalTypeRoot,
    VarCharType,
    parse_type,
)
from firesteel.common.logical_types.logical_type import escaped_identifier
from firesteel.common.logical_types.strings import CharType
from firesteel.sql.reserved import RESERVED

_R = LogicalTypeRoot
_DEFAULT_PORT: Final = 8081
_KEY: Final = re.compile(r"PRI\((.*)\)")
_TYPES: Final[dict[LogicalTypeRoot, type[types.TypeEngine[Any]]]] = {
    _R.BOOLEAN: types.Boolean,
    _R.TINYINT: types.SmallInteger,
    _R.SMALLINT: types.SmallInteger,
    _R.INTEGER: types.Integer,
    _R.BIGINT: types.BigInteger,
    _R.FLOAT: types.Float,
    _R.DOUBLE: types.Double,
    _R.BINARY: types.LargeBinary,
    _R.VARBINARY: types.LargeBinary,
    _R.DATE: types.Date,
    _R.TIME_WITHOUT_TIME_ZONE: types.Time,
    _R.TIMESTAMP_WITHOUT_TIME_ZONE: types.DateTime,
    _R.ARRAY: types.JSON,
    _R.MAP: types.JSON,
    _R.ROW: types.JSON,
}


class FiresteelTypeCompiler(compiler.GenericTypeCompiler):
    """Types as Flink's SQL has them."""

    def visit_string(self, type_: Any, **kw: Any) -> str:
        """Return the type of text without a length, too."""
        return "STRING" if type_.length is None else f"VARCHAR({type_.length})"

    visit_VARCHAR = visit_string  # noqa: N815 - the names that SQLAlchemy looks for
    visit_unicode = visit_string
    visit_text = visit_string
    visit_unicode_text = visit_string
    visit_TEXT = visit_string  # noqa: N815

    def visit_large_binary(self, type_: Any, **kw: Any) -> str:
        """Return the type of bytes."""
        return "BYTES"

    def visit_datetime(self, type_: Any, **kw: Any) -> str:
        """Return the type of times, with the session's zone or without."""
        return "TIMESTAMP_LTZ(6)" if type_.timezone else "TIMESTAMP(6)"

    def visit_double(self, type_: Any, **kw: Any) -> str:
        """Return the type of floating point numbers of 64 bits."""
        return "DOUBLE"

    visit_DOUBLE = visit_double  # noqa: N815


class FiresteelIdentifierPreparer(compiler.IdentifierPreparer):
    """Names in back quotes."""

    def __init__(self, dialect: Any) -> None:
        super().__init__(dialect, initial_quote="`")
        self.reserved_words = {word.lower() for word in RESERVED}


class FiresteelDialect(default.DefaultDialect):
    """SQL gateways for SQLAlchemy."""

    name = "firesteel"
    driver = "rest"
    preparer: type[compiler.IdentifierPreparer] = FiresteelIdentifierPreparer
    type_compiler_cls = FiresteelTypeCompiler
    default_paramstyle = "qmark"
    supports_statement_cache = True
    supports_native_boolean = True
    supports_native_decimal = True
    supports_sane_rowcount = False
    supports_sane_multi_rowcount = False
    supports_alter = False
    supports_default_values = False
    postfetch_lastrowid = False
    insert_returning = False

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        """Return the driver."""
        return dbapi

    def create_connect_args(self, url: URL) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments of `firesteel.dbapi.connect`."""
        options = {key: value if isinstance(value, str) else value[-1] for key, value in url.query.items()}
        scheme = "https" if options.pop("tls", "false").lower() == "true" else "http"
        address = f"{scheme}://{url.host or 'localhost'}:{url.port or _DEFAULT_PORT}"
        return [address], {"options": options, "token": url.password}

    def on_connect_url(self, url: URL) -> Callable[[Any], None] | None:
        """Return what makes the database of the URL that in use."""
        if not url.database:
            return None
        name = ".".join(escaped_identifier(part) for part in re.split(r"[./]", url.database))

        def use(connection: Any) -> None:
            try:
                connection.cursor().execute(f"USE {name}")
            except BaseException:  # SQLAlchemy forgets a connection that it cannot begin with
                connection.close()
                raise

        return use

    def do_rollback(self, dbapi_connection: Any) -> None:
        """Do nothing: there are no transactions."""

    def do_ping(self, dbapi_connection: Any) -> bool:
        """Return whether the session is there."""
        dbapi_connection.cursor().execute("SHOW CURRENT DATABASE")
        return True

    def is_disconnect(self, e: Any, connection: Any, cursor: Any) -> bool:
        """Return whether an error says that the session is gone."""
        return isinstance(e, dbapi.OperationalError) or "it may have been idle" in str(e)

    def _get_default_schema_name(self, connection: Connection) -> str:
        return str(_column(connection, "SHOW CURRENT DATABASE")[0])

    def get_schema_names(self, connection: Connection, **kw: Any) -> list[str]:
        """Return the databases of the catalog in use."""
        return _column(connection, "SHOW DATABASES")

    def get_table_names(self, connection: Connection, schema: str | None = None, **kw: Any) -> list[str]:
        """Return the tables of a database, without its views."""
        views = set(self.get_view_names(connection, schema))
        return [name for name in _column(connection, f"SHOW TABLES{_within(schema)}") if name not in views]

    def get_view_names(self, connection: Connection, schema: str | None = None, **kw: Any) -> list[str]:
        """Return the views of a database."""
        return _column(connection, f"SHOW VIEWS{_within(schema)}")

    def has_table(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> bool:
        """Return whether there is a table or a view."""
        return table_name in _column(connection, f"SHOW TABLES{_within(schema)}")

    def get_columns(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> list[ReflectedColumn]:
        """Return the columns of a table. Raises NoSuchTableError."""
        return [
            {
                "name": row["name"],
                "type": _sqlalchemy_type(parse_type(_plain_type(row["type"]))),
                "nullable": row["null"],
                "default": None,
                "comment": row.get("comment"),
            }
            for row in self._described(connection, table_name, schema)
        ]

    def get_pk_constraint(
        self, connection: Connection, table_name: str, schema: str | None = None, **kw: Any
    ) -> ReflectedPrimaryKeyConstraint:
        """Return the primary key of a table."""
        keys = [row["key"] for row in self._described(connection, table_name, schema) if row["key"]]
        found = _KEY.fullmatch(keys[0]) if keys else None
        return {
            "constrained_columns": [] if found is None else found[1].split(", "),
            "name": None,
        }

    def get_foreign_keys(self, connection: Connection, table_name: str, *_: Any, **kw: Any) -> list[Any]:
        """Return none: there are no such constraints."""
        return []

    def get_indexes(self, connection: Connection, table_name: str, *_: Any, **kw: Any) -> list[Any]:
        """Return none: there are no indexes."""
        return []

    def _described(self, connection: Connection, table_name: str, schema: str | None) -> list[dict[str, Any]]:
        if not self.has_table(connection, table_name, schema):
            raise NoSuchTableError(table_name)
        names = [name for name in (schema, table_name) if name]
        path = ".".join(map(escaped_identifier, names))
        return [dict(row) for row in connection.exec_driver_sql(f"DESCRIBE {path}").mappings()]


def _column(connection: Connection, statement: str) -> list[str]:
    return [str(row[0]) for row in connection.exec_driver_sql(statement)]


def _within(schema: str | None) -> str:
    return "" if schema is None else f" FROM {escaped_identifier(schema)}"


def _plain_type(text: str) -> str:
    """Return the type of a column without what DESCRIBE says of time attributes."""
    return re.sub(r" \*\w+\*", "", text)


def _sqlalchemy_type(data_type: LogicalType) -> types.TypeEngine[Any]:
    match data_type:
        case DecimalType():
            return types.Numeric(data_type.precision, data_type.scale)
        case VarCharType() | CharType():
            return types.String()
        case LocalZonedTimestampType():
            return types.DateTime(timezone=True)
    return _TYPES.get(data_type.root, types.NullType)()
