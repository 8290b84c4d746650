"""Bringing saved state to the types a program declares now."""

from __future__ import annotations

import time
import uuid

import msgspec

from firesteel.common.errors import StateEvolutionRequired
from firesteel.control.executor import Executor
from firesteel.control.journal import Journal
from firesteel.state.compaction import merge_tasks, merged_layer
from firesteel.state.evolution import Converter, converter, migrate_schemas
from firesteel.state.manifest import Layer, Manifest
from firesteel.state.savepoint import self_contained


def evolve(journal: Journal, executor: Executor, change: StateEvolutionRequired) -> None:
    """Convert a state to the types it is declared with, and commit the result: the job then goes on from it.

    All of the operator's state is merged into one layer, in which the values of that state have their new form; a
    further manifest takes it over, under a lineage of its own (Flink, too, converts a state as a whole when it is
    restored). Raises StateMismatchError naming a value that does not fit.
    """
    assert journal.last is not None
    number = journal.epoch + 1
    manifest = self_contained(journal.log, journal.epoch)
    operator = change.operator_id
    snapshot = manifest.operators[operator]
    recorded = {**snapshot.states[change.path], **change.recorded}
    conversion = converter(recorded, change.declared, manifest.processing_time)
    layers = _converted(manifest, operator, conversion, number, executor)
    states = migrate_schemas(snapshot.states, change.path, change.declared)
    journal.reset(
        msgspec.structs.replace(
            manifest,
            epoch=number,
            compacted=number,
            operators={**manifest.operators, operator: msgspec.structs.replace(snapshot, states=states)},
            layers={**manifest.layers, operator: layers},
            lineage=uuid.uuid4().hex,
            restored_from=f"epoch {journal.epoch}",
            created_at=int(time.time() * 1000),
            records=0,
        )
    )


def _converted(
    manifest: Manifest, operator: str, conversion: Converter, epoch: int, executor: Executor
) -> list[Layer]:
    layers = manifest.layers.get(operator, [])
    if not layers:
        return []
    snapshot = manifest.operators[operator]
    tasks = merge_tasks(
        operator,
        layers,
        len(layers),
        max_parallelism=snapshot.max_parallelism or manifest.max_parallelism,
        parallelism=snapshot.parallelism,
        epoch=epoch,
        now=manifest.processing_time,
        converters=(conversion,),
    )
    return [merged_layer(tasks, [executor.merge(task) for task in tasks])]
