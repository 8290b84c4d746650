"""The names of PyFlink's tables that are not there yet; using one says so."""

from __future__ import annotations

from typing import Any, Final, NoReturn

from firesteel.datastream.streams.node_settings import call_site
from firesteel.datastream.unsupported import UnsupportedImportError, UnsupportedNameError

_IN_SQL: Final = "write it in SQL: execute_sql(...) and sql_query(...)"
CLASSES: Final = (
    "AggregateFunction", "AsyncScalarFunction", "CatalogDescriptor", "ChangelogMode",
    "CompiledPlan", "DataView", "Expression", "FunctionContext", "GroupWindowedTable",
    "GroupedTable", "ListView", "MapView", "ModelDescriptor", "Module", "ModuleEntry",
    "OverWindowedTable", "PlanReference", "ScalarFunction", "SqlDialect", "TableAggregateFunction",
    "TableFunction", "TablePipeline", "TableSchema", "UserDefinedType", "WindowGroupedTable",
)  # fmt: skip
METHODS: Final = (
    "add_python_archive", "add_python_file", "compile_plan_sql", "create_catalog",
    "create_java_function", "create_java_temporary_function",
    "create_java_temporary_system_function", "create_model", "create_temporary_function",
    "create_temporary_model", "create_temporary_system_function", "drop_function", "drop_model",
    "drop_temporary_function", "drop_temporary_model", "drop_temporary_system_function",
    "execute_plan", "from_elements", "from_pandas", "get_catalog", "list_full_modules",
    "list_functions", "list_materialized_tables", "list_models", "list_temporary_models",
    "list_user_defined_functions", "load_module", "load_plan", "register_catalog",
    "set_python_requirements", "to_append_stream", "to_retract_stream", "unload_module",
    "use_modules",
)  # fmt: skip


def missing_class(name: str) -> NoReturn:
    """Raise the error for a name that `firesteel.table` lacks: one that is an ImportError, too."""
    if name not in CLASSES:
        raise AttributeError(f"module 'firesteel.table' has no attribute {name!r}")
    raise UnsupportedImportError("is not supported yet", who=f"firesteel.table.{name}", hint=_IN_SQL)


def missing_method(owner: str, name: str, known: tuple[str, ...], hint: str = _IN_SQL) -> Any:
    """Raise the error for a method that a class lacks."""
    if name not in known:
        raise AttributeError(f"{owner!r} object has no attribute {name!r}")
    raise UnsupportedNameError("is not supported yet", who=f"{owner}.{call_site(name)}", hint=hint)
