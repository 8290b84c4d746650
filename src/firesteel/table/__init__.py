"""Tables and SQL, with the names of pyflink.table.

>>> environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
>>> environment.execute_sql("SHOW DATABASES").print()
+------------------+
|    database name |
+------------------+
| default_database |
+------------------+
1 row in set
"""

from __future__ import annotations

from firesteel.common.types import Row, RowKind
from firesteel.table.changelog_mode import ChangelogMode
from firesteel.table.environment_settings import EnvironmentSettings
from firesteel.table.explain_detail import ExplainDetail
from firesteel.table.later import missing_class
from firesteel.table.result_kind import ResultKind
from firesteel.table.schema import Schema
from firesteel.table.statement_set import StatementSet
from firesteel.table.stream_table_environment import StreamTableEnvironment
from firesteel.table.table import Table
from firesteel.table.table_config import TableConfig
from firesteel.table.table_descriptor import FormatDescriptor, TableDescriptor
from firesteel.table.table_environment import TableEnvironment
from firesteel.table.table_result import TableResult
from firesteel.table.types import DataTypes
from firesteel.table.udf import FunctionContext, ScalarFunction, TableFunction

__getattr__ = missing_class

__all__ = [
    "ChangelogMode",
    "DataTypes",
    "EnvironmentSettings",
    "ExplainDetail",
    "FormatDescriptor",
    "FunctionContext",
    "ResultKind",
    "Row",
    "RowKind",
    "ScalarFunction",
    "Schema",
    "StatementSet",
    "StreamTableEnvironment",
    "Table",
    "TableConfig",
    "TableDescriptor",
    "TableEnvironment",
    "TableFunction",
    "TableResult",
]
