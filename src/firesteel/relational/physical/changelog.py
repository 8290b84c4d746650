"""Which kinds of changes each node of a physical plan gives (Flink: FlinkChangelogModeInferenceProgram).

First it is found out, from the sources up, which changes there are; a node or a sink that cannot take them is
refused. Then, from the sinks down, which rows of an update are needed: a sink that finds the old row by its key needs
the new one only, an aggregate needs both to take the old one out of its group. A filter in between makes both
necessary: the old row must go if the new one is filtered out.
"""

from __future__ import annotations

from firesteel.common.errors import ProgramError
from firesteel.relational.physical.node import Changes, PhysicalNode, Updates
from firesteel.relational.physical.nodes import Sink


def changes_of(node: PhysicalNode) -> Changes:
    """Return which changes a node gives.

    Raises ProgramError, with Flink's words, if a node below takes inserts only and gets others.
    """
    given = tuple(map(changes_of, node.inputs))
    if node.inserts_only:
        for below, changes in zip(node.inputs, given, strict=True):
            if changes != Changes():
                raise _refusal(node.name, changes, below)
    return node.changes(given)


def with_changelog_modes(root: PhysicalNode) -> PhysicalNode:
    """Return the plan with the mode of each node; a plan without a sink gives new rows only, if it can.

    Raises ProgramError if a sink, or a node, cannot take the changes that it gets.
    """
    changes = changes_of(root)
    ways = _ways(root, changes) if isinstance(root, Sink) else (Updates.AFTER, Updates.BOTH)
    for way in ways:
        done = _satisfied(root, way)
        if done is not None:
            return done
    raise AssertionError(f"no changelog modes for {root.text}")


def _satisfied(node: PhysicalNode, required: Updates) -> PhysicalNode | None:
    given = tuple(map(changes_of, node.inputs))
    inputs = []
    for below, changes in zip(node.inputs, given, strict=True):
        needed = node.needs(required, changes)
        done = None if needed is None else _satisfied(below, needed)
        if done is None:
            return None
        inputs.append(done)
    return node.with_inputs(tuple(inputs)).inferred(given, required)


def _ways(sink: Sink, changes: Changes) -> tuple[Updates, ...]:
    """Return what the sink could do with, best first."""
    mode = sink.sink.mode
    missing = Changes(changes.update and not mode.update_after, changes.delete and not mode.delete)
    if missing != Changes():
        hint = (
            None
            if sink.primary_key
            else "declare PRIMARY KEY (...) NOT ENFORCED if the connector can update rows"
        )
        raise _refusal(sink.who, missing, sink.input, hint)
    if not changes.update:
        return (Updates.NONE,)
    if mode.update_before:
        return (Updates.BOTH,)
    _require_key(sink)
    return (Updates.AFTER, Updates.BOTH)


def _require_key(sink: Sink) -> None:
    if sink.primary_key is None:
        return
    written = frozenset(sink.primary_key)
    keys = sink.input.upsert_keys
    if any(key <= written for key in keys):
        return
    names = sink.row.field_names
    shown = " or ".join(sorted(_listed(names, key) for key in keys)) or "no upsert key"
    raise ProgramError(
        f"has the primary key {_listed(names, written)}, which differs from the upsert key of the query",
        who=sink.who,
        got=shown,
        hint="declare the query's key as the primary key, or group the query by the table's",
    )


def _listed(names: list[str], key: frozenset[int]) -> str:
    return f"[{', '.join(names[place] for place in sorted(key))}]"


def _refusal(who: str, changes: Changes, node: PhysicalNode, hint: str | None = None) -> ProgramError:
    origin = node
    while origin.passes_on:
        origin = next(below for below in origin.inputs if changes_of(below) != Changes())
    return ProgramError(
        f"doesn't support consuming {changes} changes which is produced by node {origin.text}",
        who=who,
        hint=hint,
    )
