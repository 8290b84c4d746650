"""Saved state as DataFrames: one for each state, read in Spark's tasks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from firesteel.common.errors import StateError
from firesteel.common.typeinfo import TypeInformation, Types
from firesteel.functions.windows import WINDOW_CODEC
from firesteel.saved.arrangements import layout_text
from firesteel.saved.columns import type_of_keys
from firesteel.saved.entries import StoredRow
from firesteel.saved.inspection import SavedOperator, SavedState
from firesteel.saved.row_columns import RowColumns, RowTypes
from firesteel.spark.session import open_session
from firesteel.spark.shipped import Preparation
from firesteel.spark.state_processor.identifier import Operator, find_operator
from firesteel.spark.state_processor.spark_columns import readable
from firesteel.spark.state_processor.tasks import ReadArrangementTask, ReadTask
from firesteel.state.keys.groups import user_key
from firesteel.state.values.schemas import Schema, schema_text


class SavepointReader:
    """Reads a savepoint, or a kept epoch of a state directory (Flink: SavepointReader).

    Only manifests are read until you use a DataFrame; then each Spark task reads a range of key groups. Pass an
    operator as an `OperatorIdentifier`, or as text: its uid, its name, or the beginning of its id. The columns of a
    DataFrame are described in `firesteel.saved.row_columns`. Types are those that the states were declared with. Keys,
    which are never declared, have the type of some of them. A type that you pass instead must hold all of them exactly;
    `Types.PICKLED_BYTE_ARRAY()` takes anything.

    Methods raise StateError for an operator or a state that does not exist, and list those that do. If a file is
    damaged, using a DataFrame raises Spark's PythonException with a message that names the file.
    """

    def __init__(self, saved: SavedState, spark: SparkSession) -> None:
        self._saved = saved
        self._spark = spark

    @classmethod
    def read(
        cls, location: str | Path, *, epoch: int | None = None, spark: SparkSession | None = None
    ) -> SavepointReader:
        """Open a savepoint, or an epoch of a state directory (default: the last).

        `spark` defaults to the active session; if there is none, one is started. Raises StateError if the savepoint or
        epoch does not exist.
        """
        saved = SavedState.open(str(location), epoch)
        return cls(saved, session(spark))

    @property
    def epoch(self) -> int:
        """The number of the epoch to read."""
        return self._saved.manifest.epoch

    def states(self) -> DataFrame:
        """Return a row for each state: its operator, name, scope, kind, type and time to live (milliseconds).

        The scope is keyed, windowed, broadcast, timers, operator (operator list state) or arrangement.
        """
        rows = [row for operator in self._saved.operators() for row in _described(operator)]
        return self._spark.createDataFrame(rows, _STATES)

    def positions(self) -> DataFrame:
        """Return how far each split of each source has been read."""
        rows = [
            (operator.id, operator.snapshot.name, split, position.position, position.finished)
            for operator in self._saved.operators()
            for split, position in self._saved.positions(operator).items()
        ]
        return self._spark.createDataFrame(rows, _POSITIONS)

    def watermarks(self) -> DataFrame:
        """Return the watermark (milliseconds) of each subtask of each operator."""
        rows = [
            (operator.id, operator.snapshot.name, subtask, watermark)
            for operator in self._saved.operators()
            for subtask, watermark in enumerate(operator.snapshot.watermarks)
        ]
        return self._spark.createDataFrame(rows, _WATERMARKS)

    def read_keyed_state(
        self,
        operator: Operator,
        name: str,
        *,
        key_type: TypeInformation | None = None,
        map_key_type: TypeInformation | None = None,
        value_type: TypeInformation | None = None,
        expired: bool = False,
    ) -> DataFrame:
        """Return a value, list, map, reducing or aggregating state: a row for each value, element or entry.

        The value of an aggregating state is the accumulator. Expired entries are left out unless `expired`.
        """
        types = RowTypes(key_type, map_key_type, value_type)
        return self._read(operator, name, "keyed", types, expired)

    def read_window_state(
        self,
        operator: Operator,
        name: str = "window-contents",
        *,
        key_type: TypeInformation | None = None,
        map_key_type: TypeInformation | None = None,
        value_type: TypeInformation | None = None,
        expired: bool = False,
    ) -> DataFrame:
        """Return a state of a window operator, by key and window (default: the contents of the windows)."""
        types = RowTypes(key_type, map_key_type, value_type)
        return self._read(operator, name, "windowed", types, expired)

    def read_broadcast_state(
        self,
        operator: Operator,
        name: str,
        *,
        map_key_type: TypeInformation | None = None,
        value_type: TypeInformation | None = None,
    ) -> DataFrame:
        """Return a broadcast state, a row for each entry."""
        return self._read(operator, name, "broadcast", RowTypes(None, map_key_type, value_type), False)

    def read_timers(
        self, operator: Operator, domain: str = "event", *, key_type: TypeInformation | None = None
    ) -> DataFrame:
        """Return the timers that are set, in the domain "event" or "processing" time."""
        return self._read(operator, domain, "timers", RowTypes(key_type), False)

    def read_list_state(
        self, operator: Operator, name: str, *, value_type: TypeInformation | None = None
    ) -> DataFrame:
        """Return an operator list state, union or not: a row for each element, by subtask and position."""
        found = find_operator(self._saved, operator)
        parts = found.lists().get(name)
        if parts is None:
            raise StateError(
                f"has no list state '{name}'", who=found.who, got=", ".join(found.lists()) or "none at all"
            )
        schema: Schema = {"scope": "broadcast", "kind": "list", "name": name, "type": parts[0].schema}
        columns = RowColumns(schema, RowTypes(value=value_type), f"list state '{name}' of {found.who}")
        rows = [
            StoredRow(None, None, position, element, None)
            for part in parts
            for position, element in enumerate(part.elements[slice(*part.kept_range)])
        ]
        table = pa.Table.from_batches(columns.batches(rows), columns.arrow_schema)
        subtasks = [subtask for subtask, part in enumerate(parts) for _ in range(*part.kept_range)]
        return self._spark.createDataFrame(table.add_column(0, "subtask", pa.array(subtasks, pa.int32())))

    def read_arrangement(self, operator: Operator, name: str, *, expired: bool = False) -> DataFrame:
        """Return an arrangement, the state of an operator of tables: its rows with the columns that it has.

        A multiset also has the column `$weight`, how often there is such a row, and state with a time to live
        `$written`, the time of the last write in milliseconds. Expired rows are left out unless `expired`.
        """
        found = find_operator(self._saved, operator)
        arrangement = found.arrangement(name)
        ranges = arrangement.ranges(self._spark.sparkContext.defaultParallelism)
        columns = readable(arrangement.schema)
        task = ReadArrangementTask(
            Preparation.of_driver(),
            self._saved.storage.url,
            arrangement,
            tuple(ranges),
            columns,
            expired,
            f"arrangement '{name}' of {found.who}",
        )
        frame = self._spark.range(0, len(ranges), 1, len(ranges))
        return frame.mapInArrow(task, from_arrow_schema(columns))

    def _read(self, operator: Operator, name: str, scope: str, types: RowTypes, expired: bool) -> DataFrame:
        found = find_operator(self._saved, operator)
        schema = found.state(name, (scope,))
        if types.key is None and scope != "broadcast":
            types = types._replace(key=self._key_type(found))
        who = f"state '{name}' of {found.who}"
        columns = RowColumns(schema, types, who)
        ranges = found.ranges(self._spark.sparkContext.defaultParallelism, broadcast=scope == "broadcast")
        task = ReadTask(
            Preparation.of_driver(),
            self._saved.storage.url,
            self._saved.slice(found, [schema], expired=expired),
            tuple(ranges),
            types,
            who,
        )
        frame = self._spark.range(0, len(ranges), 1, len(ranges))
        return frame.mapInArrow(task, from_arrow_schema(columns.arrow_schema))

    def _key_type(self, operator: SavedOperator) -> TypeInformation:
        keys = self._saved.some_keys(operator, WINDOW_CODEC)
        return type_of_keys(list(map(user_key, keys))) or Types.PICKLED_BYTE_ARRAY()


def session(spark: SparkSession | None) -> SparkSession:
    """Return the session to use: the given one, the active one, or a new one with all cores of this machine."""
    if spark is not None:
        return spark
    active = SparkSession.getActiveSession()
    return active if active is not None else open_session("local[*]", 1, {})


_STATES = (
    "operator_id string, operator string, parallelism int, max_parallelism int, state string, scope string, "
    "kind string, type string, ttl_ms bigint"
)
_POSITIONS = "operator_id string, operator string, split string, position bigint, finished boolean"
_WATERMARKS = "operator_id string, operator string, subtask int, watermark bigint"


def _described(operator: SavedOperator) -> Iterator[tuple[Any, ...]]:
    snapshot = operator.snapshot
    place = operator.id, snapshot.name, snapshot.parallelism, operator.max_parallelism
    for schema in operator.states():
        ttl = schema.get("ttl")
        duration = ttl["ms"] if isinstance(ttl, dict) else None
        yield (*place, schema["name"], schema["scope"], schema["kind"], schema_text(schema), duration)
    for name, parts in operator.lists().items():
        text = schema_text({"kind": "list", "type": parts[0].schema})
        yield (*place, name, "operator", f"{parts[0].mode.value} list", text, None)
    for found in operator.arrangements:
        layout = found.layout
        text = layout_text(layout)
        yield (*place, found.name, "arrangement", layout.kind.value, text, layout.time_to_live)
