"""Table: a query that a program holds (Flink: org.apache.flink.table.api.Table)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from firesteel.common.errors import ProgramError
from firesteel.datastream.streams.node_settings import call_site
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.table.explain_detail import ExplainDetail
from firesteel.table.expressing.batch_times import with_time
from firesteel.table.expressing.operations import Grouping, Operation, trees_of
from firesteel.table.expressing.row_based import WHOLE
from firesteel.table.expression import Expression
from firesteel.table.expressions import col
from firesteel.table.later import Incomplete
from firesteel.table.resolved_schema import ResolvedSchema, schema_of_row
from firesteel.table.row_based import AggregatedTable, FlatAggregateTable, PartitionedTable, RowBased, grouped
from firesteel.table.table_descriptor import TableDescriptor
from firesteel.table.table_pipeline import TablePipeline
from firesteel.table.table_result import TableResult
from firesteel.table.table_schema import TableSchema
from firesteel.table.user_functions import UserDefinedFunctionWrapper
from firesteel.table.window import GroupWindow, OverWindow

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from firesteel.table.table_environment import TableEnvironment

__all__ = [
    "AggregatedTable",
    "FlatAggregateTable",
    "GroupWindowedTable",
    "GroupedTable",
    "OverWindowedTable",
    "PartitionedTable",
    "Table",
    "WindowGroupedTable",
]


class Table(RowBased, Incomplete):
    """The rows of a query, which nothing computes until they are asked for.

    `str(table)` is a name under which SQL finds the table: ``env.sql_query(f"SELECT * FROM {table}")``. A column that
    has the name of no method is an attribute, too: ``table.price`` is ``col("price")``.

    >>> from firesteel.table import EnvironmentSettings, TableEnvironment
    >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
    >>> orders = environment.from_elements([("tea", 4), ("jam", 3), ("tea", 5)], ["what", "price"])
    >>> totals = orders.group_by(col("what")).select(col("what"), col("price").sum.alias("total"))
    >>> totals.order_by(col("what")).execute().print()
    +--------------------------------+----------------------+
    |                           what |                total |
    +--------------------------------+----------------------+
    |                            jam |                    3 |
    |                            tea |                    9 |
    +--------------------------------+----------------------+
    2 rows in set
    """

    def __init__(
        self, plan: LogicalNode, environment: TableEnvironment, declared: ResolvedSchema | None = None
    ) -> None:
        self._plan = plan
        self._environment = environment
        self._declared = declared

    # --- columns ---

    def select(self, *fields: Expression[Any]) -> Table:
        """Return the columns that expressions stand for; aggregates among them are over all rows."""
        return self._of(self._operation("select", fields).selected())

    def alias(self, field: str, *fields: str) -> Table:
        """Return the table with other names of its first columns."""
        names = self._plan.row.field_names
        given = (field, *fields)
        if len(given) > len(names):
            who = call_site("alias")
            raise ProgramError(f"requires at most {len(names)} names", who=who, got=str(len(given)))
        pairs = zip(names, [*given, *names[len(given) :]], strict=True)
        return self._of(self._operation("alias", [col(old).alias(new) for old, new in pairs]).selected())

    def add_columns(self, *fields: Expression[Any]) -> Table:
        """Return the table with more columns."""
        return self._of(self._operation("add_columns", fields).added(replaces=False))

    def add_or_replace_columns(self, *fields: Expression[Any]) -> Table:
        """Return the table with more columns, or with others in the places of those of their names."""
        return self._of(self._operation("add_or_replace_columns", fields).added(replaces=True))

    def rename_columns(self, *fields: Expression[Any]) -> Table:
        """Return the table with other names of some columns: ``rename_columns(col("a").alias("b"))``."""
        return self._of(self._operation("rename_columns", fields).renamed())

    def drop_columns(self, *fields: Expression[Any]) -> Table:
        """Return the table without some columns."""
        return self._of(self._operation("drop_columns", fields).dropped())

    # --- rows ---

    def filter(self, predicate: Expression[bool]) -> Table:
        """Return the rows for which a condition is true."""
        return self._of(self._operation("filter", [predicate]).filtered())

    def where(self, predicate: Expression[bool]) -> Table:
        """Return the rows for which a condition is true."""
        return self._of(self._operation("where", [predicate]).filtered())

    def distinct(self) -> Table:
        """Return each row once."""
        return self._of(self._operation("distinct").distinct())

    def order_by(self, *fields: Expression[Any]) -> Table:
        """Return the rows in an order: of ``col("a")``, or downwards of ``col("a").desc``."""
        return self._of(self._operation("order_by", fields).ordered())

    def offset(self, offset: int) -> Table:
        """Return the rows without the first ones, in the order of `order_by` before it."""
        return self._of(self._operation("offset").limited(offset=offset))

    def fetch(self, fetch: int) -> Table:
        """Return the first rows, in the order of `order_by` before it."""
        return self._of(self._operation("fetch").limited(fetch=fetch))

    def limit(self, fetch: int, offset: int = 0) -> Table:
        """Return some of the rows, in the order of `order_by` before it."""
        return self._of(self._operation("limit").limited(offset=offset, fetch=fetch))

    # --- groups and windows ---

    def group_by(self, *fields: Expression[Any]) -> GroupedTable:
        """Return groups of the rows, of which `select` computes columns."""
        return GroupedTable(self, Grouping(trees_of(fields, "group_by")))

    def window(self, window: GroupWindow) -> GroupWindowedTable:
        """Return the rows in the windows of a time attribute, by which `group_by` has to group them.

        In BATCH mode the time may be any TIMESTAMP, or a BIGINT of milliseconds since 1970 in UTC.
        """
        if not isinstance(window, GroupWindow):
            raise ProgramError(
                "requires a window with a name",
                who=call_site("window"),
                got=type(window).__name__,
                hint='Tumble.over(lit(5).minutes).on(col("ts")).alias("w")',
            )
        if self._environment._session.streaming:
            return GroupWindowedTable(self, window)
        plan, timed = with_time(self._plan, window)
        return GroupWindowedTable(self._of(plan), timed)

    def over_window(self, *over_windows: OverWindow) -> OverWindowedTable:
        """Return the rows with windows around each, over which `select` computes aggregates."""
        for window in over_windows:
            if not isinstance(window, OverWindow):
                raise ProgramError(
                    "requires windows with names",
                    who=call_site("over_window"),
                    got=type(window).__name__,
                    hint='Over.partition_by(col("a")).order_by(col("ts")).alias("w")',
                )
        return OverWindowedTable(self, over_windows)

    # --- several tables ---

    def join(self, right: Table, join_predicate: Expression[bool] | None = None) -> Table:
        """Return the pairs of rows for which a condition is true; all pairs without one."""
        return self._joined("join", right, join_predicate)

    def left_outer_join(self, right: Table, join_predicate: Expression[bool] | None = None) -> Table:
        """Return the pairs of rows for which a condition is true, and the rows of this table without a partner."""
        return self._joined("left_outer_join", right, join_predicate)

    def right_outer_join(self, right: Table, join_predicate: Expression[bool]) -> Table:
        """Return the pairs of rows for which a condition is true, and the rows of the other without a partner."""
        return self._joined("right_outer_join", right, join_predicate)

    def full_outer_join(self, right: Table, join_predicate: Expression[bool]) -> Table:
        """Return the pairs of rows for which a condition is true, and the rows of both without a partner."""
        return self._joined("full_outer_join", right, join_predicate)

    def join_lateral(
        self,
        table_function_call: Expression[Any] | UserDefinedFunctionWrapper,
        join_predicate: Expression[bool] | None = None,
    ) -> Table:
        """Return each row with those that a table function gives for it: ``join_lateral(f(col("a")).alias("b"))``.

        The function itself, ``f.alias("b")``, takes whole rows.
        """
        return self._lateral("join_lateral", table_function_call, join_predicate)

    def left_outer_join_lateral(
        self,
        table_function_call: Expression[Any] | UserDefinedFunctionWrapper,
        join_predicate: Expression[bool] | None = None,
    ) -> Table:
        """Return each row with those that a table function gives for it, and with NULLs if there are none."""
        return self._lateral("left_outer_join_lateral", table_function_call, join_predicate)

    def union(self, right: Table) -> Table:
        """Return the rows of both tables, each once."""
        return self._combined("union", right)

    def union_all(self, right: Table) -> Table:
        """Return the rows of both tables."""
        return self._combined("union_all", right)

    def intersect(self, right: Table) -> Table:
        """Return the rows that are in both tables, each once."""
        return self._combined("intersect", right)

    def intersect_all(self, right: Table) -> Table:
        """Return the rows that are in both tables, as often as in the one with fewer of them."""
        return self._combined("intersect_all", right)

    def minus(self, right: Table) -> Table:
        """Return the rows that are not in the other table, each once."""
        return self._combined("minus", right)

    def minus_all(self, right: Table) -> Table:
        """Return the rows as often as they are more often in this table than in the other."""
        return self._combined("minus_all", right)

    # --- changes as rows ---

    def to_changelog(self, *arguments: Expression[Any]) -> Table:
        """Return a row for each change, with the code of its kind in a first column.

        Arguments are those of TO_CHANGELOG in SQL, by their names: ``descriptor("code").as_argument("op")``.
        """
        return self._of(self._operation("to_changelog", arguments).of_rows().given_to("TO_CHANGELOG"))

    def from_changelog(self, *arguments: Expression[Any]) -> Table:
        """Return the table that rows change, each of which has the code of a change in a column.

        Arguments are those of FROM_CHANGELOG in SQL, by their names, as for `to_changelog`.
        """
        return self._of(self._operation("from_changelog", arguments).of_rows().given_to("FROM_CHANGELOG"))

    # --- results ---

    def execute(self) -> TableResult:
        """Start the job that computes the rows, and return them as they come."""
        return self._environment._execute_table(self)

    def execute_insert(
        self, table_path_or_descriptor: str | TableDescriptor, overwrite: bool = False
    ) -> TableResult:
        """Start the job that writes the rows to a table."""
        return self.insert_into(table_path_or_descriptor, overwrite).execute()

    def insert_into(
        self, table_path_or_descriptor: str | TableDescriptor, overwrite: bool = False
    ) -> TablePipeline:
        """Return what writes the rows to a table, alone or in a StatementSet."""
        target = self._environment._sink(table_path_or_descriptor, self, overwrite)
        return TablePipeline(target, self._environment._session)

    def to_pandas(self) -> pd.DataFrame:
        """Compute the rows and return them as a pandas DataFrame; of rows that change, the last ones."""
        return self.execute().to_pandas()

    def to_spark(self, spark: SparkSession, staging: str | None = None) -> DataFrame:
        """Compute the rows and return them as a DataFrame of a session of Spark; Firesteel's own, not PyFlink's.

        On a cluster, `staging` is a directory that all workers share. Raises ProgramError in STREAMING mode.
        """
        return self._environment._to_spark(self, spark, staging)

    def to_arrow(self) -> pa.Table:
        """Compute the rows and return them as an Arrow table; of rows that change, the last ones."""
        return self.execute().to_arrow()

    def get_resolved_schema(self) -> ResolvedSchema:
        """Return the columns; of a table of the catalog also how they are declared, its watermark and its key."""
        return self._declared or schema_of_row(self._plan.row)

    def get_schema(self) -> TableSchema:
        """Return the columns in the old way of PyFlink; `get_resolved_schema` is the new one."""
        return TableSchema.of_row(self._plan.row)

    def print_schema(self) -> None:
        """Print the columns with their types."""
        print(self.get_resolved_schema())  # noqa: T201 - that is what it does

    def explain(self, *extra_details: ExplainDetail) -> str:
        """Return the plan that `execute` would run, as text."""
        return self._environment._explain([self._plan], extra_details)

    def print_explain(self, *extra_details: ExplainDetail) -> None:
        """Print the plan that `execute` would run."""
        print(self.explain(*extra_details))  # noqa: T201 - that is what it does

    def __str__(self) -> str:
        return self._environment._name_of(self)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and "_plan" in vars(self) and name in self._plan.row.field_names:
            return col(name)
        return super().__getattr__(name)

    def _operation(self, method: str, expressions: Sequence[Expression[Any]] = ()) -> Operation:
        catalog = self._environment._session.catalog
        return Operation(self._plan, catalog, method, trees_of(expressions, method))

    def _of(self, plan: LogicalNode) -> Table:
        return Table(plan, self._environment)

    def _joined(self, method: str, right: Table, predicate: Expression[bool] | None) -> Table:
        operation = self._operation(method, [] if predicate is None else [predicate])
        return self._of(operation.joined(_table(right, method)._plan))

    def _lateral(
        self,
        method: str,
        call: Expression[Any] | UserDefinedFunctionWrapper,
        predicate: Expression[bool] | None,
    ) -> Table:
        conditions = [] if predicate is None else [predicate]
        if not isinstance(call, UserDefinedFunctionWrapper):
            [tree] = trees_of([call], method)
            return self._of(self._operation(method, conditions).beside(tree))
        tree, plan = self._of_whole_rows(call)
        joined = self._of(self._of(plan)._operation(method, conditions).beside(tree))
        return joined.drop_columns(col(WHOLE))

    def _combined(self, method: str, right: Table) -> Table:
        return self._of(self._operation(method).combined(_table(right, method)._plan))


def _table(given: object, method: str) -> Table:
    if isinstance(given, Table):
        return given
    raise ProgramError("requires a Table", who=call_site(method), got=type(given).__name__)


class GroupedTable(Incomplete):
    """Groups of rows."""

    def __init__(self, table: Table, grouping: Grouping) -> None:
        self._table = table
        self._grouping = grouping

    def select(self, *fields: Expression[Any]) -> Table:
        """Return columns of the groups: what they are grouped by, and aggregates."""
        table = self._table
        return table._of(table._operation("select", fields).selected(self._grouping))

    def aggregate(self, func: Expression[Any] | UserDefinedFunctionWrapper) -> AggregatedTable:
        """Return what an aggregate function gives for each group; see `Table.aggregate`."""
        return AggregatedTable(self._table, grouped(self._table, self._grouping, "aggregate", func))

    def flat_aggregate(self, func: Expression[Any] | UserDefinedFunctionWrapper) -> FlatAggregateTable:
        """Return the rows that a table aggregate function gives for each group; see `Table.flat_aggregate`."""
        return FlatAggregateTable(self._table, grouped(self._table, self._grouping, "flat_aggregate", func))


class GroupWindowedTable(Incomplete):
    """Rows in windows, which are not grouped yet."""

    def __init__(self, table: Table, window: GroupWindow) -> None:
        self._table = table
        self._window = window

    def group_by(self, *fields: Expression[Any]) -> WindowGroupedTable:
        """Return groups of the rows in each window. Raises ProgramError if the window is not among the keys."""
        keys = trees_of(fields, "group_by")
        name = self._window.name
        if not any(str(key) == name for key in keys):
            raise ProgramError(
                "requires the window among the keys",
                who=call_site("group_by"),
                hint=f"group_by(col({name!r}))",
            )
        return WindowGroupedTable(self._table, Grouping(keys, self._window))


class WindowGroupedTable(GroupedTable):
    """Groups of the rows in windows; ``col("w").start`` and the like are properties of the window `w`."""


class OverWindowedTable(Incomplete):
    """Rows with windows around each."""

    def __init__(self, table: Table, windows: Sequence[OverWindow]) -> None:
        self._table = table
        self._windows = windows

    def select(self, *fields: Expression[Any]) -> Table:
        """Return columns of the rows, among them aggregates over the windows: ``col("a").sum.over(col("w"))``."""
        table = self._table
        return table._of(table._operation("select", fields).selected(overs=self._windows))
