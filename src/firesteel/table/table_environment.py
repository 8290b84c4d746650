"""TableEnvironment and StreamTableEnvironment: where programs with tables and SQL begin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from firesteel.common.configuration import Configuration
from firesteel.common.errors import ProgramError
from firesteel.common.excepthook import install_excepthook
from firesteel.common.logical_types import ObjectIdentifier
from firesteel.common.places import Source
from firesteel.datastream.stream_execution_environment import StreamExecutionEnvironment
from firesteel.datastream.streams.node_settings import call_site
from firesteel.functions.columns.python_functions import UserFunction
from firesteel.functions.user_defined import AggregateFunction, TableAggregateFunction
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.sql.binding.catalog import PlannedView
from firesteel.sql.binding.places import Text
from firesteel.sql.binding.sources import no_table, scan
from firesteel.sql.binding.statements import bind_insert, bind_query
from firesteel.sql.script import parse_statement
from firesteel.sql.statements.create import CreateTable
from firesteel.sql.statements.queries import Insert, Query
from firesteel.table.catalog.declared import schema_of
from firesteel.table.catalog.manager import CatalogManager
from firesteel.table.catalog.objects import CatalogTable
from firesteel.table.catalog.stores import catalog_store
from firesteel.table.elements import of_elements, of_pandas
from firesteel.table.environment_catalogs import Catalogs
from firesteel.table.environment_models import Models
from firesteel.table.environment_plans import PlansAndModules
from firesteel.table.environment_settings import EnvironmentSettings
from firesteel.table.explain_detail import ExplainDetail
from firesteel.table.expressed_elements import of_expressions
from firesteel.table.expressing.operations import Operation, trees_of
from firesteel.table.expression import Expression
from firesteel.table.frames import of_frame, to_frame
from firesteel.table.later import Incomplete
from firesteel.table.row_based import given_to
from firesteel.table.running import explain_plans, in_step, run_inserts, run_query
from firesteel.table.schema import schema_of_rows
from firesteel.table.session import Session
from firesteel.table.statement_set import StatementSet
from firesteel.table.statements.execution import Execution
from firesteel.table.statements.explaining import plans_of
from firesteel.table.statements.jobs import sink_of
from firesteel.table.statements.tables import catalog_table
from firesteel.table.table import Table
from firesteel.table.table_config import TableConfig
from firesteel.table.table_descriptor import TableDescriptor, create_statement
from firesteel.table.table_result import TableResult
from firesteel.table.types import DataType
from firesteel.table.udf import UserDefinedFunctionWrapper, udaf, udtaf

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["TableEnvironment"]


class TableEnvironment(Catalogs, Models, PlansAndModules, Incomplete):
    """A session: catalogs of tables, options, and the jobs of its statements.

    >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    >>> _ = environment.execute_sql("CREATE TABLE orders (id BIGINT) WITH ('connector' = 'blackhole')")
    >>> environment.list_tables()
    ['orders']
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    @staticmethod
    def create(environment_settings: EnvironmentSettings | Configuration) -> TableEnvironment:
        """Return a new session."""
        install_excepthook()
        return TableEnvironment(new_session(environment_settings))

    # --- statements and queries ---

    def sql_query(self, query: str) -> Table:
        """Return the table that a query means. Raises SqlError as `execute_sql`."""
        statement = parse_statement(query)
        execution = self._execution(query, "query")
        if not isinstance(statement, Query):
            raise execution.text.wrong(
                statement.span, "requires a query", hint="execute_sql(...) is for statements"
            )
        return Table(bind_query(statement.query, execution.source, execution.catalog), self)

    def from_call(
        self, path_or_function: str | UserDefinedFunctionWrapper, *arguments: Expression[Any]
    ) -> Table:
        """Return what a process table function gives; its arguments are tables, too, by their names.

        ``from_call(f, left.partition_by(col("k")).as_argument("a"), lit(1).as_argument("b"))``. Flink's name in Java;
        PyFlink has none.
        """
        trees = trees_of(arguments, "from_call")
        operation = Operation(no_table(), self._session.catalog, "from_call", trees)
        return Table(given_to(operation, path_or_function), self)

    def explain_sql(self, stmt: str, *extra_details: ExplainDetail) -> str:
        """Return the plan of a statement that EXPLAIN takes, such as a query or an INSERT, as text."""
        return self._explain(plans_of(parse_statement(stmt), self._execution(stmt, "EXPLAIN")), extra_details)

    def create_statement_set(self) -> StatementSet:
        """Return an empty set of INSERTs."""
        return StatementSet(self)

    def get_config(self) -> TableConfig:
        """Return the options, which you can change."""
        return self._session.config

    # --- tables and views ---

    def from_path(self, path: str) -> Table:
        """Return a table or a view of the catalog, by its name as in SQL."""
        plan = self.sql_query(f"SELECT * FROM {path}")._plan
        found = self._manager.find(self._identifier(path))
        return Table(plan, self, schema_of(found) if isinstance(found, CatalogTable) else None)

    def from_descriptor(self, descriptor: TableDescriptor) -> Table:
        """Return a table that is in no catalog."""
        with self._session.holding(self._described(descriptor, self._session.unnamed())) as name:
            return self.from_path(str(name))

    def from_elements(
        self, elements: Iterable[Any], schema: DataType | list[str] | None = None, verify_schema: bool = True
    ) -> Table:
        """Return a table of Python values: tuples, lists, dicts, Rows, single values with their type, or expressions.

        Columns have the names and types of the schema; with names alone, or without a schema, types are inferred.
        `verify_schema` makes no difference: values are always checked. Raises ProgramError for values that do not fit.

        >>> environment = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
        >>> environment.from_elements([(1, "Hi"), (2, "Hello")], ["id", "word"]).print_schema()
        (
          `id` BIGINT,
          `word` STRING
        )
        """
        who, given = call_site("from_elements"), list(elements)
        if any(isinstance(element, Expression) for element in given):
            return Table(of_expressions(given, schema, self._session.catalog, who), self)
        table = of_elements(given, schema, self._session.unnamed(), self._session.zone, who)
        return Table(scan(table), self)

    def from_pandas(
        self,
        pdf: pd.DataFrame,
        schema: DataType | list[str] | list[DataType] | None = None,
        splits_num: int = 1,
    ) -> Table:
        """Return a table of a pandas DataFrame.

        The schema is the type of a row, or the names or types of the columns; otherwise both are those of the frame.
        `splits_num` makes no difference: one task reads the frame. Raises ProgramError for columns that do not fit.
        """
        who = call_site("from_pandas")
        table = of_pandas(pdf, schema, self._session.unnamed(), self._session.zone, who)
        return Table(scan(table), self)

    def from_spark(self, frame: DataFrame, staging: str | None = None) -> Table:
        """Return a table of a DataFrame of Spark, which Spark computes now, once; Firesteel's own, not PyFlink's.

        On a cluster, `staging` is a directory that all workers share. Raises ProgramError for what is no DataFrame.
        """
        who = call_site("from_spark")
        return Table(scan(of_frame(frame, self._session.unnamed(), staging, who)), self)

    def create_table(
        self,
        path: str,
        descriptor: TableDescriptor,
        ignoreIfExists: bool | None = False,  # noqa: N803 - PyFlink's name
    ) -> None:
        """Add a table to the catalog."""
        self._add(path, descriptor, temporary=False, if_not_exists=bool(ignoreIfExists))

    def create_temporary_table(
        self,
        path: str,
        descriptor: TableDescriptor,
        ignoreIfExists: bool | None = False,  # noqa: N803 - PyFlink's name
    ) -> None:
        """Add a temporary table."""
        self._add(path, descriptor, temporary=True, if_not_exists=bool(ignoreIfExists))

    def create_temporary_view(
        self, view_path: str, table_or_data_stream: Table, *fields_or_schema: Any
    ) -> None:
        """Give a table a name for this session; StreamTableEnvironment takes streams, too, with their schema."""
        if fields_or_schema:
            raise ProgramError("takes no schema of a Table", who=call_site("create_temporary_view"))
        self._add_view(view_path, table_or_data_stream, temporary=True)

    def create_view(self, view_path: str, table: Table, ignore_if_exists: bool | None = False) -> None:
        """Give a table a name in the catalog."""
        self._add_view(view_path, table, temporary=False, if_not_exists=bool(ignore_if_exists))

    def drop_table(self, table_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        """Remove a table, and return whether there was one."""
        return self._drop(table_path, "table", if_exists=bool(ignore_if_not_exists))

    def drop_temporary_table(self, table_path: str) -> bool:
        """Remove a temporary table, and return whether there was one."""
        return self._drop(table_path, "table", temporary=True)

    def drop_view(self, view_path: str, ignore_if_not_exists: bool | None = True) -> bool:
        """Remove a view, and return whether there was one."""
        return self._drop(view_path, "view", if_exists=bool(ignore_if_not_exists))

    def drop_temporary_view(self, view_path: str) -> bool:
        """Remove a temporary view, and return whether there was one."""
        return self._drop(view_path, "view", temporary=True)

    # --- functions of your own ---

    def create_temporary_function(self, path: str, function: UserDefinedFunctionWrapper) -> None:
        """Give what `udf` or `udtf` has made a name in a database, for this session."""
        signature = _signature(function, call_site("create_temporary_function"))
        self._manager.functions.add(self._identifier(path), signature, temporary=True)

    def create_temporary_system_function(self, name: str, function: UserDefinedFunctionWrapper) -> None:
        """Give what `udf` or `udtf` has made a name in all databases, for this session.

        It goes before a built-in function of the name.
        """
        signature = _signature(function, call_site("create_temporary_system_function"))
        self._manager.functions.add_system(name, signature)

    def drop_function(self, path: str) -> bool:
        """Remove a function that is not temporary, and return whether there was one."""
        return self._manager.functions.drop(self._identifier(path))

    def drop_temporary_function(self, path: str) -> bool:
        """Remove a temporary function of a database, and return whether there was one."""
        return self._manager.functions.drop(self._identifier(path), temporary=True)

    def drop_temporary_system_function(self, name: str) -> bool:
        """Remove a temporary function of all databases, and return whether there was one."""
        return self._manager.functions.drop_system(name)

    def list_user_defined_functions(self) -> list[str]:
        """Return the names of the functions of your own."""
        return self._manager.functions.names(*self._manager.path)

    # --- what jobs bring along ---

    def add_python_file(self, file_path: str) -> None:
        """Ship to the workers a `.py` file, a zip archive, or a directory, whose content becomes importable."""
        self._add_to("python.files", file_path)

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """Unpack a zip or tar archive in the workers' working directory, once for each executor."""
        self._add_to(
            "python.archives", archive_path if target_dir is None else f"{archive_path}#{target_dir}"
        )

    def set_python_requirements(
        self, requirements_file_path: str, requirements_cache_dir: str | None = None
    ) -> None:
        """Install the packages of a requirements file on each worker machine, once, for this session's jobs only."""
        cache = "" if requirements_cache_dir is None else f"#{requirements_cache_dir}"
        self.get_config().set("python.requirements", f"{requirements_file_path}{cache}")

    def _add_to(self, key: str, path: str) -> None:
        known = self.get_config().get(key, "")
        self.get_config().set(key, f"{known},{path}" if known else path)

    # --- what the classes around this one need ---

    def _execution(self, text: str, who: str) -> Execution:
        return Execution(self._session, Text(Source(text), who))

    def _identifier(self, path: str) -> ObjectIdentifier:
        statement = parse_statement(f"DROP TABLE {path}")
        return self._manager.qualified(statement.name.parts)  # type: ignore[attr-defined]

    def _described(self, descriptor: TableDescriptor, identifier: ObjectIdentifier) -> CatalogTable:
        text = create_statement(descriptor, identifier)
        statement = parse_statement(text)
        assert isinstance(statement, CreateTable)
        return catalog_table(statement, self._execution(text, "table descriptor"))

    def _add(self, path: str, descriptor: TableDescriptor, *, temporary: bool, if_not_exists: bool) -> None:
        found = self._described(descriptor, self._identifier(path))
        self._manager.add(found, temporary=temporary, if_not_exists=if_not_exists)

    def _add_view(self, path: str, table: Table, *, temporary: bool, if_not_exists: bool = False) -> None:
        if not isinstance(table, Table):
            raise ProgramError(
                "requires a Table", who=call_site("create_temporary_view"), got=type(table).__name__
            )
        view = PlannedView(self._identifier(path), table._plan)
        self._manager.add(view, temporary=temporary, if_not_exists=if_not_exists)

    def _drop(self, path: str, kind: str, *, temporary: bool = False, if_exists: bool = True) -> bool:
        return self._manager.drop(self._identifier(path), kind=kind, temporary=temporary, if_exists=if_exists)

    def _name_of(self, table: Table) -> str:
        identifier = self._session.unnamed()
        self._manager.add(PlannedView(identifier, table._plan), temporary=True)
        return f"`{identifier.name}`"

    def _to_spark(self, table: Table, spark: SparkSession, staging: str | None) -> DataFrame:
        return to_frame(table._plan, spark, staging, self._session, call_site("to_spark"))

    def _execute_table(self, table: Table) -> TableResult:
        return run_query(table._plan, self._session)

    def _bind_insert(self, stmt: str) -> LogicalNode:
        statement = parse_statement(stmt)
        execution = self._execution(stmt, "INSERT")
        if not isinstance(statement, Insert):
            raise execution.text.wrong(statement.span, "requires an INSERT statement")
        return bind_insert(statement, execution.source, execution.catalog)

    def _sink(self, target: str | TableDescriptor, table: Table, overwrite: bool) -> LogicalNode:
        if isinstance(target, str):
            return sink_of(table._plan, self._identifier(target), self._session, overwrite=overwrite)
        if target.schema is None:
            target = replace(target, schema=schema_of_rows(table._plan.row))
        with self._session.holding(self._described(target, self._session.unnamed())) as identifier:
            return sink_of(table._plan, identifier, self._session, overwrite=overwrite)

    def _insert(self, targets: Iterable[tuple[str | TableDescriptor, Table, bool]]) -> TableResult:
        return self._run([self._sink(*target) for target in targets])

    def _run(self, sinks: Sequence[LogicalNode]) -> TableResult:
        return in_step(run_inserts(sinks, self._session), self._session)

    def _explain(self, plans: Sequence[LogicalNode], details: Sequence[ExplainDetail]) -> str:
        return explain_plans(plans, tuple(detail.name for detail in details), self._session)


def _signature(function: object, who: str) -> UserFunction:
    if isinstance(function, AggregateFunction):
        function = udaf(function)
    elif isinstance(function, TableAggregateFunction):
        function = udtaf(function)
    if isinstance(function, UserDefinedFunctionWrapper):
        return function.signature
    raise ProgramError(
        "requires a function with its types",
        who=who,
        got=type(function).__name__,
        hint="udf(...) or udtf(...)",
    )


def new_session(
    settings: EnvironmentSettings | Configuration, environment: StreamExecutionEnvironment | None = None
) -> Session:
    """Return a session whose jobs run in an environment, with the settings' options."""
    if isinstance(settings, Configuration):
        settings = EnvironmentSettings.new_instance().with_configuration(settings).build()
    if not isinstance(settings, EnvironmentSettings):
        raise ProgramError(
            "requires EnvironmentSettings",
            who=call_site("create"),
            got=type(settings).__name__,
            hint="e.g. EnvironmentSettings.in_streaming_mode()",
        )
    config = TableConfig(Configuration(settings.get_configuration()))
    catalog, database = settings.get_built_in_catalog_name(), settings.get_built_in_database_name()
    manager = CatalogManager(catalog, database, catalog_store(config.to_map()))
    return Session(manager, environment, config)
