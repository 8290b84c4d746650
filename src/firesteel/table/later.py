"""The names of PyFlink's tables that are not there yet, each with its reason; using one says so."""

from __future__ import annotations

from typing import Any, Final, NoReturn

from firesteel.datastream.streams.node_settings import call_site
from firesteel.datastream.unsupported import UnsupportedImportError, UnsupportedNameError

_EXPRESSIONS: Final = "the Table API's expressions are not there yet; write the query in SQL"
_FUNCTIONS: Final = "of functions of your own there are scalar and table functions"
_JAVA: Final = "it is a class of Java, and there is no JVM for it"
_PLANS: Final = "write COMPILE PLAN and EXECUTE PLAN in SQL"
_CATALOGS: Final = "catalogs are kept in memory; CREATE CATALOG makes one"
_MODELS: Final = "models are not part of this version"
_MODULES: Final = "there is one module of functions, core"
_OLD: Final = "it is deprecated in Flink"


def _each(reason: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), reason)


CLASSES: Final = {
    **_each(_EXPRESSIONS, "Expression GroupedTable GroupWindowedTable OverWindowedTable WindowGroupedTable"),
    **_each(_FUNCTIONS, "AggregateFunction AsyncScalarFunction DataView ListView MapView"),
    **_each(_FUNCTIONS, "TableAggregateFunction UserDefinedType"),
    **_each(_PLANS, "CompiledPlan PlanReference TablePipeline"),
    **_each(_MODULES, "Module ModuleEntry"),
    "SqlDialect": "there is Flink's dialect, and no other",
    "TableSchema": "it is deprecated in Flink; Table.get_resolved_schema() returns the columns",
}
"""Classes of `pyflink.table`."""

FUNCTIONS: Final = _each(
    _FUNCTIONS, "AggregateFunction AsyncScalarFunction TableAggregateFunction udaf udtaf"
)
"""Names of `pyflink.table.udf`."""

METHODS: Final = {
    **_each(
        _JAVA, "create_java_function create_java_temporary_function create_java_temporary_system_function"
    ),
    **_each(_PLANS, "compile_plan_sql execute_plan load_plan"),
    **_each(_CATALOGS, "create_catalog get_catalog register_catalog"),
    **_each(_MODELS, "create_model create_temporary_model drop_model drop_temporary_model list_models"),
    **_each(_MODELS, "list_temporary_models"),
    **_each(_MODULES, "list_full_modules load_module"),
    "list_materialized_tables": "materialized tables are not part of this version",
}
"""Methods of table environments."""

STREAM_METHODS: Final = _each(
    f"{_OLD}; use to_data_stream and to_changelog_stream", "to_append_stream to_retract_stream"
)
"""Methods of table environments with streams."""

TABLE_METHODS: Final = {
    **_each(
        _EXPRESSIONS, "add_columns add_or_replace_columns aggregate alias distinct drop_columns fetch filter"
    ),
    **_each(
        _EXPRESSIONS,
        "flat_aggregate flat_map from_changelog full_outer_join group_by intersect intersect_all",
    ),
    **_each(
        _EXPRESSIONS, "join join_lateral left_outer_join left_outer_join_lateral limit map minus minus_all"
    ),
    **_each(
        _EXPRESSIONS, "offset order_by over_window rename_columns right_outer_join select to_changelog union"
    ),
    **_each(_EXPRESSIONS, "union_all where window"),
    "insert_into": _PLANS,
}
"""Methods of tables, which SQL has to express here."""

_OTHERS: Final = {
    "StatementSet.add": _PLANS,
    "StatementSet.compile_plan": _PLANS,
    "StatementSet.attach_as_datastream": "a statement set is a job of its own; use to_data_stream(table)",
    "TableConfig.get_sql_dialect": CLASSES["SqlDialect"],
    "TableConfig.set_sql_dialect": CLASSES["SqlDialect"],
    "TableConfig.get_max_generated_code_length": "no code is generated",
    "TableConfig.set_max_generated_code_length": "no code is generated",
    "TableResult.get_table_schema": CLASSES["TableSchema"],
    "DataTypes.LIST_VIEW": _FUNCTIONS,
    "DataTypes.MAP_VIEW": _FUNCTIONS,
}
LATER: Final = {
    f"pyflink.table.{name}": reason
    for name, reason in {
        **CLASSES,
        **{
            f"{owner}.{name}": METHODS[name]
            for owner in ("TableEnvironment", "StreamTableEnvironment")
            for name in METHODS
        },
        **{f"StreamTableEnvironment.{name}": reason for name, reason in STREAM_METHODS.items()},
        **{f"Table.{name}": reason for name, reason in TABLE_METHODS.items()},
        **{f"udf.{name}": reason for name, reason in FUNCTIONS.items()},
        **_OTHERS,
        "catalog": _CATALOGS,
    }.items()
}
"""Full PyFlink name -> reason; that of a class or a module is the reason of all that is in it."""


def missing_catalog_class(name: str) -> NoReturn:
    """Raise the error for a class of `pyflink.table.catalog`."""
    if not name[:1].isupper():
        raise AttributeError(f"module 'firesteel.table.catalog' has no attribute {name!r}")
    raise UnsupportedImportError(
        "is not supported yet", who=f"firesteel.table.catalog.{name}", hint=LATER["pyflink.table.catalog"]
    )


def missing_function(name: str) -> NoReturn:
    """Raise the error for a name that `firesteel.table.udf` lacks: one that is an ImportError, too."""
    if name not in FUNCTIONS:
        raise AttributeError(f"module 'firesteel.table.udf' has no attribute {name!r}")
    raise UnsupportedImportError(
        "is not supported yet", who=f"firesteel.table.udf.{name}", hint=FUNCTIONS[name]
    )


def missing_class(name: str) -> NoReturn:
    """Raise the error for a name that `firesteel.table` lacks: one that is an ImportError, too."""
    if name not in CLASSES:
        raise AttributeError(f"module 'firesteel.table' has no attribute {name!r}")
    raise UnsupportedImportError("is not supported yet", who=f"firesteel.table.{name}", hint=CLASSES[name])


def later(name: str) -> UnsupportedNameError:
    """Make the error for the use of a name of `pyflink.table`."""
    owner, _, last = name.rpartition(".")
    return UnsupportedNameError(
        "is not supported yet", who=f"{owner}.{call_site(last)}", hint=LATER[f"pyflink.table.{name}"]
    )


class Incomplete:
    """A class of which PyFlink's has more methods; to look up one of these raises UnsupportedNameError."""

    def __getattr__(self, name: str) -> Any:
        owner = type(self).__name__
        if f"pyflink.table.{owner}.{name}" not in LATER:
            raise AttributeError(f"{owner!r} object has no attribute {name!r}")
        raise later(f"{owner}.{name}")
