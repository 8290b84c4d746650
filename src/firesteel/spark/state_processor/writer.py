"""New savepoints, from DataFrames and from existing savepoints."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Final, Self

import msgspec
from pyspark.sql import DataFrame, SparkSession

from firesteel import __version__
from firesteel.checkpoint.manifest import (
    Layer,
    Manifest,
    OperatorSnapshot,
    SourceProgress,
    runs_of,
    split_runs,
)
from firesteel.checkpoint.objects import Storage
from firesteel.checkpoint.savepoint import complete_savepoint, copy_runs, require_empty
from firesteel.common.errors import ProgramError
from firesteel.saved.inspection import SavedOperator, SavedState
from firesteel.saved.row_writing import Written
from firesteel.spark.errors import engine_error
from firesteel.spark.shipped import ANSWER, Preparation
from firesteel.spark.state_processor.bootstrap import StateBootstrapTransformation, StateSource
from firesteel.spark.state_processor.identifier import Operator, OperatorIdentifier, find_operator
from firesteel.spark.state_processor.reader import session
from firesteel.spark.state_processor.tasks import ENTRIES, EncodeTask, Target, WriteTask
from firesteel.state.arrangements.names import moved, operator_of, state_name
from firesteel.state.live.durable import RunRef
from firesteel.state.values.catalog import StateCatalog
from firesteel.state.values.schemas import Schema

LARGEST: Final = 1 << 15
"""The largest max parallelism, as in Flink."""


@dataclass
class _Change:
    """The changes of an operator: states from DataFrames, and removed states (by scope and name)."""

    name: str
    transformation: StateBootstrapTransformation | None = None
    removed: set[str] = field(default_factory=set)

    def sources(self) -> list[StateSource]:
        return [] if self.transformation is None else self.transformation.sources


class SavepointWriter:
    """Writes a savepoint that a job can be started from (Flink: SavepointWriter).

    Begin with `new_savepoint`, or with `from_existing_savepoint` to change one; then add your changes and call `write`.
    Only changed operators are written again, by Spark's tasks, each for a range of key groups; the runs of others are
    copied. All methods except `write` return this object. The positions of sources are kept; a job reads a source
    without a position from its beginning.
    """

    def __init__(self, saved: SavedState | None, manifest: Manifest, spark: SparkSession) -> None:
        self._saved = saved
        self._manifest = manifest
        self._spark = spark
        self._changes: dict[str, _Change] = {}

    @classmethod
    def new_savepoint(
        cls, max_parallelism: int = 128, *, spark: SparkSession | None = None
    ) -> SavepointWriter:
        """Begin an empty savepoint for a job with this max parallelism (a program's default is 128)."""
        if not 0 < max_parallelism <= LARGEST:
            raise ProgramError(
                f"requires a max parallelism from 1 to {LARGEST}",
                who="a savepoint",
                got=repr(max_parallelism),
            )
        now = int(time.time() * 1000)
        manifest = Manifest(
            uuid.uuid4().hex, 1, max_parallelism, {}, {}, {}, now, False, now, __version__, compacted=1
        )
        return cls(None, manifest, session(spark))

    @classmethod
    def from_existing_savepoint(
        cls, location: str | Path, *, epoch: int | None = None, spark: SparkSession | None = None
    ) -> SavepointWriter:
        """Begin with a savepoint, or a kept epoch (default: the last) of a state directory, which does not change.

        Raises StateError if the savepoint or epoch does not exist.
        """
        saved = SavedState.open(str(location), epoch)
        return cls(saved, saved.manifest, session(spark))

    def with_operator(
        self, identifier: OperatorIdentifier, transformation: StateBootstrapTransformation
    ) -> Self:
        """Set states of an operator, and replace those with the same names; it keeps its other states."""
        if not isinstance(identifier, OperatorIdentifier):
            raise ProgramError(
                "requires an OperatorIdentifier",
                who="with_operator",
                got=repr(identifier),
                hint="OperatorIdentifier.for_uid(...)",
            )
        known = self._manifest.operators.get(identifier.operator_id)
        name = identifier.uid or identifier.operator_id if known is None else known.name
        change = self._changes.setdefault(identifier.operator_id, _Change(name))
        if change.transformation is not None:
            raise ProgramError("requires one transformation", who=f"operator '{name}'", got="a second one")
        change.transformation = transformation
        return self

    def remove_state(self, operator: Operator, name: str) -> Self:
        """Remove a state or an arrangement of an operator.

        Raises StateError, which lists the states, if it does not exist.
        """
        found = find_operator(self._before(), operator)
        state = state_name(found.id, name)
        if state in found.snapshot.arrangements:
            kept = {key: layout for key, layout in found.snapshot.arrangements.items() if key != state}
            snapshot = msgspec.structs.replace(found.snapshot, arrangements=kept)
            return self._replaced(
                operators={**self._manifest.operators, found.id: snapshot},
                layers={key: value for key, value in self._manifest.layers.items() if key != state},
            )
        schema = found.state(name)
        change = self._changes.setdefault(found.id, _Change(found.snapshot.name))
        change.removed.add(f"{schema['scope']}:{schema['name']}")
        return self

    def remove_operator(self, operator: Operator) -> Self:
        """Remove an operator with all its state and, for a source, its positions."""
        gone = find_operator(self._before(), operator).id
        self._changes.pop(gone, None)
        return self._replaced(
            operators={key: value for key, value in self._manifest.operators.items() if key != gone},
            sources={key: value for key, value in self._manifest.sources.items() if key != gone},
            layers={key: value for key, value in self._manifest.layers.items() if operator_of(key) != gone},
        )

    def change_operator_identifier(self, operator: Operator, identifier: OperatorIdentifier) -> Self:
        """Change the uid or id of an operator to the one that a changed program gives it."""
        old, new = find_operator(self._before(), operator).id, identifier.operator_id
        if new != old and new in self._manifest.operators:
            raise ProgramError("requires an id that is free", who="an operator", got=identifier.uid or new)
        if old in self._changes:
            self._changes[new] = self._changes.pop(old)
        manifest = self._manifest
        renamed = {state: moved(state, new) for state in manifest.layers if operator_of(state) == old}
        return self._replaced(
            operators={
                new if key == old else key: _moved(value, new) if key == old else value
                for key, value in manifest.operators.items()
            },
            sources={new if key == old else key: value for key, value in manifest.sources.items()},
            layers={renamed.get(key, key): value for key, value in manifest.layers.items()},
        )

    def write(self, location: str | Path) -> str:
        """Write the savepoint into an empty directory and return its URL.

        Raises StateError if the directory is not empty, StateCorruptedError if a run of the original savepoint is
        damaged, TypeMismatchError or ProgramError, which name the state and the key, for a row that cannot be written,
        EngineError if Spark fails. After an error the files in the directory are not a savepoint.
        """
        target = Storage.of(location)
        require_empty(target)
        manifest = self._manifest
        layers = {key: found for key, found in manifest.layers.items() if key not in self._changes}
        if self._saved is not None:
            copy_runs(self._saved.storage, [*runs_of(layers), *split_runs(manifest.sources)], target)
        operators = dict(manifest.operators)
        for operator_id, change in self._changes.items():
            operators[operator_id], runs = self._write_operator(operator_id, change, target)
            if runs:
                layers[operator_id] = [Layer(1, manifest.epoch, True, runs)]
        changed = msgspec.structs.replace(
            manifest,
            operators=operators,
            layers=layers,
            created_at=int(time.time() * 1000),
            finished=False,
            wakeups=self._wakeups(),
            lineage=uuid.uuid4().hex,
            restored_from="" if self._saved is None else self._saved.storage.url,
        )
        complete_savepoint(changed, target)
        return target.url

    def _write_operator(
        self, operator_id: str, change: _Change, target: Storage
    ) -> tuple[OperatorSnapshot, list[RunRef]]:
        before = self._operator(operator_id, change.name)
        kept, schemas = self._schemas(before, change)
        ranges = before.ranges(self._spark.sparkContext.defaultParallelism)
        by_path = {f"{schema['scope']}:{schema['name']}": schema for schema in schemas}
        encoded = [
            self._encoded(source, by_path[source.path], change, before.max_parallelism, len(ranges))
            for source in change.sources()
        ]
        frame = (
            reduce(DataFrame.union, encoded) if encoded else self._spark.createDataFrame([], ENTRIES.spark)
        )
        saved = self._saved
        task = WriteTask(
            Preparation.of_driver(),
            Target(target.url, operator_id, self._manifest.epoch),
            tuple(ranges),
            {schema["id"]: schema for schema in schemas},
            saved.slice(before, kept, expired=True) if saved is not None and kept else None,
            "" if saved is None else saved.storage.url,
            f"operator '{change.name}'",
        )
        written = frame.repartitionById(len(ranges), frame["target"]).sortWithinPartitions("key")
        try:
            answers = written.mapInArrow(task, ANSWER.spark).collect()
        except Exception as error:
            failure = engine_error(error)
            failure.requirement = f"could not write the state of operator '{change.name}'"
            raise failure from None
        runs = [run for run in map(task.read, answers) if run is not None]
        return _snapshot_after(before, change, by_path), sorted(runs, key=lambda run: run.first_group)

    def _encoded(
        self, source: StateSource, schema: Schema, change: _Change, max_parallelism: int, parts: int
    ) -> DataFrame:
        assert change.transformation is not None
        written = Written(
            schema, change.transformation.key_type, max_parallelism, self._manifest.processing_time
        )
        who = f"{source.who} of operator '{change.name}'"
        task = EncodeTask(Preparation.of_driver(), written, source.columns, parts, who)
        return source.frame.mapInArrow(task, ENTRIES.spark)

    def _schemas(self, before: SavedOperator, change: _Change) -> tuple[list[Schema], list[Schema]]:
        """Return the schemas of states that stay, and those of all states after the change."""
        gone = change.removed | {source.path for source in change.sources()}
        kept = {path: schema for path, schema in before.snapshot.states.items() if path not in gone}
        catalog = StateCatalog()
        catalog.restore(kept)
        for source in change.sources():
            types = {name: part for name, part in source.declared.items() if name != "kind"}
            catalog.declare(source.scope, source.name, source.declared["kind"], types)
        return list(kept.values()), list(catalog.schemas().values())

    def _operator(self, operator_id: str, name: str) -> SavedOperator:
        manifest = self._manifest
        snapshot = manifest.operators.get(operator_id)
        if snapshot is None:
            snapshot = OperatorSnapshot(name, 1, [], [], {}, [], manifest.max_parallelism)
        return SavedOperator(
            operator_id,
            snapshot,
            tuple(manifest.layers.get(operator_id, ())),
            snapshot.max_parallelism or manifest.max_parallelism,
            SourceProgress(),
        )

    def _wakeups(self) -> list[int]:
        """Return when a job must run an epoch for processing time timers: at once, if there may be any."""
        written = any(
            source.path == "timers:processing"
            for change in self._changes.values()
            for source in change.sources()
        )
        return [self._manifest.processing_time] if written else self._manifest.wakeups

    def _before(self) -> SavedState:
        if self._saved is None:
            raise ProgramError("requires an existing savepoint", who="this method", got="a new one")
        return SavedState(self._saved.storage, self._manifest)

    def _replaced(self, **fields: object) -> Self:
        self._manifest = msgspec.structs.replace(self._manifest, **fields)
        return self


def _moved(snapshot: OperatorSnapshot, operator_id: str) -> OperatorSnapshot:
    """Return the manifest's entry for an operator under another id: arrangements have it in their names."""
    arrangements = {moved(state, operator_id): layout for state, layout in snapshot.arrangements.items()}
    return msgspec.structs.replace(snapshot, arrangements=arrangements)


def _snapshot_after(before: SavedOperator, change: _Change, states: dict[str, Schema]) -> OperatorSnapshot:
    """Return the manifest's entry for a changed operator.

    The kinds of keys in its new rows are not known. A program may declare the key type of the rows, or none: then its
    key selector returns such keys anyway.
    """
    snapshot = msgspec.structs.replace(before.snapshot, states=dict(states))
    if change.transformation is None:
        return snapshot
    declared = change.transformation.key_type
    types = before.snapshot.key_types or ([] if declared is None else [declared, None])
    return msgspec.structs.replace(snapshot, key_types=types, key_kinds=None)
