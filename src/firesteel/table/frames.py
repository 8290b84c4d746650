"""Tables from DataFrames of Spark, and DataFrames from tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firesteel.common.errors import ProgramError
from firesteel.common.logical_types import ObjectIdentifier
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.relational.tables import PhysicalColumn, ResolvedTable
from firesteel.spark.frames import read_back, require_frame, row_of_frame, stage, staging_directory
from firesteel.table.catalog.objects import CatalogTable
from firesteel.table.running import run_inserts
from firesteel.table.session import Session
from firesteel.table.statements.jobs import sink_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def of_frame(frame: DataFrame, identifier: ObjectIdentifier, staging: str | None, who: str) -> ResolvedTable:
    """Return a table of a DataFrame, which Spark computes now, below the directory `staging` if that is given.

    Raises ProgramError for what is no DataFrame, UnsupportedError for a type that tables do not have, ConnectorError if
    Spark fails.
    """
    require_frame(frame, who)
    columns = tuple(PhysicalColumn(field.name, field.type) for field in row_of_frame(frame).fields)
    directory = staging_directory(staging, identifier.name)
    stage(frame, directory, who)
    return _files(identifier, columns, directory)


def to_frame(
    plan: LogicalNode, spark: SparkSession, staging: str | None, session: Session, who: str
) -> DataFrame:
    """Run the job of a query and return its rows as a DataFrame.

    Raises ProgramError in STREAMING mode, and what the job raises.
    """
    if session.streaming:
        raise ProgramError(
            "requires BATCH mode: a DataFrame is bounded",
            who=who,
            hint="EnvironmentSettings.in_batch_mode()",
        )
    target = session.unnamed()
    columns = tuple(PhysicalColumn(field.name, field.type) for field in plan.row.fields)
    directory = staging_directory(staging, target.name)
    with session.holding(CatalogTable(_files(target, columns, directory))):
        sink = sink_of(plan, target, session)
    run_inserts([sink], session).wait()
    return read_back(spark, directory, plan.row)


def _files(identifier: ObjectIdentifier, columns: Any, directory: str) -> ResolvedTable:
    options = {"connector": "filesystem", "format": "parquet", "path": directory}
    return ResolvedTable(identifier, columns, options=options)
