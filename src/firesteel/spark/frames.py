"""DataFrames of Spark as files that tables read, and files that tables have written as DataFrames.

A DataFrame is computed once, by Spark, into Parquet files; what reads the table then sees always the same rows, from
whichever subtask and however often.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from firesteel.common.errors import ConnectorError, ProgramError
from firesteel.common.logical_types import RowType
from firesteel.common.logical_types.arrow import from_arrow_schema, to_arrow_schema
from firesteel.connectors.files.systems import system_of
from firesteel.spark.errors import first_cause

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_ending: Final = sys.modules[__name__]
"""Lives as long as the process."""

_MICROS: Final = "spark.sql.parquet.outputTimestampType"


def staging_directory(path: str | None, name: str) -> str:
    """Return a directory for files that nothing else uses: below `path`, or on this machine, gone when it ends."""
    if path is not None:
        return f"{path.rstrip('/')}/{name}"
    directory = tempfile.mkdtemp(prefix="firesteel-spark-")
    weakref.finalize(_ending, shutil.rmtree, directory, ignore_errors=True)
    return f"{directory}/{name}"


def active_session() -> SparkSession:
    """Return the session that is active, or a new one."""
    from pyspark.sql import SparkSession

    from firesteel.spark.session import open_session

    session: SparkSession = SparkSession.getActiveSession() or open_session(None, 1, {})
    return session


def row_of_frame(frame: DataFrame) -> RowType:
    """Return the type of the rows of a DataFrame. Raises UnsupportedError for a type that tables do not have."""
    from pyspark.sql.pandas.types import to_arrow_schema

    schema = to_arrow_schema(frame.schema, timezone="UTC")
    return from_arrow_schema(schema).copy(nullable=False)


def require_frame(frame: object, who: str) -> None:
    """Raise ProgramError for what is no DataFrame of Spark."""
    if not hasattr(frame, "sparkSession") or not hasattr(frame, "writeTo"):
        raise ProgramError("requires a DataFrame of Spark", who=who, got=type(frame).__name__)


def stage(frame: DataFrame, directory: str, who: str) -> None:
    """Compute a DataFrame into Parquet files. Raises ConnectorError if Spark fails."""
    configuration = frame.sparkSession.conf
    before = configuration.get(_MICROS) or "INT96"
    configuration.set(_MICROS, "TIMESTAMP_MICROS")  # the older form has no zone
    try:
        frame.write.mode("error").parquet(directory)
    except Exception as error:
        raise spark_failed(error, who, "compute") from error
    finally:
        configuration.set(_MICROS, before)


def read_back(session: SparkSession, directory: str, row: RowType) -> DataFrame:
    """Return the rows of Parquet files, of a type that tables have, as a DataFrame; no files are no rows."""
    from pyspark.sql.pandas.types import from_arrow_schema as spark_schema

    schema = spark_schema(to_arrow_schema(row), prefer_timestamp_ntz=True)
    try:
        paths = [found.path for found in system_of(directory).find(directory)]
    except FileNotFoundError:
        paths = []
    return session.read.schema(schema).parquet(*paths) if paths else session.createDataFrame([], schema)


def loaded(
    session: SparkSession,
    table: str | None,
    form: str | None,
    path: str | None,
    options: dict[str, str],
    who: str,
) -> DataFrame:
    """Return a table of Spark's catalog, or what a data source has."""
    try:
        if table is not None:
            return session.table(table)
        return session.read.format(form or "").options(**options).load(path)
    except Exception as error:
        raise spark_failed(error, who, "find") from error


def selected(frame: DataFrame, names: Sequence[str], who: str) -> DataFrame:
    """Return the columns of a DataFrame by their names. Raises ProgramError if there is none of a name."""
    missing = [name for name in names if name not in frame.columns]
    if missing:
        known = ", ".join(frame.columns)
        raise ProgramError(
            f"requires columns that Spark's table has: {known}", who=who, got=", ".join(missing)
        )
    return frame.select(*(frame[f"`{name}`"] for name in names))


def spark_failed(error: Exception, who: str, what: str) -> ConnectorError:
    """Return the error that Spark could not do something."""
    cause = first_cause(str(error))
    return ConnectorError(f"requires that Spark can {what} it", who=who, got=cause)
