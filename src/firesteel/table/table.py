"""Table: a query that a program holds (Flink: org.apache.flink.table.api.Table)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firesteel.relational.logical.nodes import LogicalNode
from firesteel.table.explain_detail import ExplainDetail
from firesteel.table.later import Incomplete
from firesteel.table.resolved_schema import ResolvedSchema, schema_of_row
from firesteel.table.table_descriptor import TableDescriptor
from firesteel.table.table_result import TableResult

if TYPE_CHECKING:
    import pandas as pd

    from firesteel.table.table_environment import TableEnvironment

__all__ = ["Table"]


class Table(Incomplete):
    """The rows of a query, which nothing computes until they are asked for.

    `str(table)` is a name under which SQL finds the table: ``env.sql_query(f"SELECT * FROM {table}")``.
    """

    def __init__(self, plan: LogicalNode, environment: TableEnvironment) -> None:
        self._plan = plan
        self._environment = environment

    def execute(self) -> TableResult:
        """Start the job that computes the rows, and return them as they come."""
        return self._environment._execute_table(self)

    def execute_insert(
        self, table_path_or_descriptor: str | TableDescriptor, overwrite: bool = False
    ) -> TableResult:
        """Start the job that writes the rows to a table."""
        return self._environment._insert([(table_path_or_descriptor, self, overwrite)])

    def to_pandas(self) -> pd.DataFrame:
        """Compute the rows and return them as a pandas DataFrame; of rows that change, the last ones."""
        return self.execute().to_pandas()

    def get_resolved_schema(self) -> ResolvedSchema:
        """Return the columns."""
        return schema_of_row(self._plan.row)

    def get_schema(self) -> ResolvedSchema:
        """Return the columns."""
        return self.get_resolved_schema()

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
