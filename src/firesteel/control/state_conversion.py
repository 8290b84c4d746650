"""The conversion of saved state to the types that a program declares now."""

from __future__ import annotations

import msgspec

from firesteel.checkpoint.compaction import merged_layer, tasks_after
from firesteel.checkpoint.manifest import Layer, Manifest, taken_over
from firesteel.checkpoint.savepoint import self_contained
from firesteel.common.errors import StateEvolutionRequired, StateMismatchError
from firesteel.control.executor import Executor
from firesteel.control.journal import Journal
from firesteel.state.values.evolution import Converter, converter, migrate_schemas


def evolve(journal: Journal, executor: Executor, change: StateEvolutionRequired) -> None:
    """Convert a state to its declared types, and commit the result: the job then continues from it.

    All of the operator's state is merged into one layer, in which the values of that state have their new form. One
    more manifest takes it over, under a new lineage. (Flink also converts a state as a whole when it is restored.)
    Raises StateMismatchError, which names the operator and a value that does not fit.
    """
    assert journal.last is not None
    number = journal.epoch + 1
    manifest = self_contained(journal.log, journal.epoch)
    operator = change.operator_id
    snapshot = manifest.operators[operator]
    recorded = {**snapshot.states[change.path], **change.recorded}
    conversion = converter(recorded, change.declared, manifest.processing_time)
    try:
        layers = _converted(manifest, operator, conversion, executor)
    except StateMismatchError as error:
        error.who = f"{change.operator}: {error.who}"
        raise
    states = migrate_schemas(snapshot.states, change.path, change.declared)
    converted = msgspec.structs.replace(
        manifest,
        operators={**manifest.operators, operator: msgspec.structs.replace(snapshot, states=states)},
        layers={**manifest.layers, operator: layers},
    )
    journal.reset(taken_over(converted, number, f"epoch {journal.epoch}"))


def _converted(manifest: Manifest, operator: str, conversion: Converter, executor: Executor) -> list[Layer]:
    layers = manifest.layers.get(operator, [])
    if not layers:
        return []
    tasks = tasks_after(manifest, operator, layers, len(layers), converters=(conversion,))
    return [merged_layer(tasks, [executor.merge(task) for task in tasks])]
