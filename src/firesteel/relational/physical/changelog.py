"""Which kinds of changes each node of a physical plan gives (Flink: FlinkChangelogModeInferenceProgram).

First it is found out, from the sources up, which changes there are; a node or a sink that cannot take them is
refused. Then, from the sinks down, which rows of an update are needed: a sink that finds the old row by its key needs
the new one only, an aggregate needs both to take the old one out of its group. A filter in between makes both
necessary: the old row must go if the new one is filtered out.
"""

from __future__ import annotations

from collections.abc import Sequence

from firesteel.common.errors import ProgramError
from firesteel.relational.physical.node import Changes, PhysicalNode, Updates
from firesteel.relational.physical.nodes import DropUpdateBefore
from firesteel.relational.physical.sinks import Sink, finished, required_updates

_Needs = dict[int, set[Updates]]
"""By the identity of a node, which rows of updates are needed of it."""


def changes_of(node: PhysicalNode) -> Changes:
    """Return which changes a node gives.

    Raises ProgramError, with Flink's words, if a node below takes inserts only and gets others.
    """
    given = tuple(map(changes_of, node.inputs))
    for place, (below, changes) in enumerate(zip(node.inputs, given, strict=True)):
        if changes != Changes() and node.refuses(place):
            raise _refusal(node, node.called, changes, below)
    return node.changes(given)


def with_changelog_modes(
    roots: Sequence[PhysicalNode], time_to_live: int | None = None
) -> list[PhysicalNode]:
    """Return the plans with the mode of each node; a plan without a sink gives new rows only, if it can.

    A node that several plans share gives old rows to all of them if one needs them; the others leave them out. State
    lives for `time_to_live` (milliseconds; None: for ever).

    Raises ProgramError if a sink, or a node, cannot take the changes that it gets.
    """
    needs: _Needs = {}
    ways = [_chosen(root, needs) for root in roots]
    made = [_satisfied(root, way, needs) for root, way in zip(roots, ways, strict=True)]
    return [
        finished(root, time_to_live) if isinstance(root, Sink) else root for root in made if root is not None
    ]


def _chosen(root: PhysicalNode, needs: _Needs) -> Updates:
    """Return the first of the root's ways that all nodes can satisfy, and add what it needs of each node."""
    changes = changes_of(root)
    for way in _ways(root, changes) if isinstance(root, Sink) else (Updates.AFTER, Updates.BOTH):
        asked: _Needs = {}
        if _satisfied(root, way, {}, asked) is not None:
            for key, updates in asked.items():
                needs.setdefault(key, set()).update(updates)
            return way
    raise ProgramError(
        "can't generate a valid execution plan for the given query: a function gives other changes than are needed",
        who=root.called,
        hint="get_changelog_mode can look at get_required_changelog_mode()",
    )


def _satisfied(
    node: PhysicalNode, required: Updates, needs: _Needs, asked: _Needs | None = None
) -> PhysicalNode | None:
    """Return the node such that updates have the required rows, None if that cannot be.

    `needs` is what all plans need of each node; what is asked for here is added to `asked`.
    """
    if asked is not None:
        asked.setdefault(id(node), set()).add(required)
    if required is Updates.AFTER and not node.passes_on and Updates.BOTH in needs.get(id(node), ()):
        both = _satisfied(node, Updates.BOTH, needs)
        assert both is not None
        return DropUpdateBefore.of(both, as_delete=False)
    given = tuple(map(changes_of, node.inputs))
    inputs = []
    for place, below in enumerate(node.inputs):
        needed = node.needs_of(place, required, given)
        done = None if needed is None else _satisfied(below, needed, needs, asked)
        if done is None:
            return None
        inputs.append(done)
    return node.with_inputs(tuple(inputs)).inferred(given, required)


def _ways(sink: Sink, changes: Changes) -> tuple[Updates, ...]:
    """Return what the sink could do with, best first. Raises ProgramError for changes that it cannot take."""
    mode = sink.sink.mode
    missing = Changes(changes.update and not mode.update_after, changes.delete and not mode.delete)
    if missing != Changes():
        hint = (
            None
            if sink.primary_key
            else "declare PRIMARY KEY (...) NOT ENFORCED if the connector can update rows"
        )
        raise _refusal(sink, sink.who, missing, sink.input, hint)
    return required_updates(sink, changes)


def _refusal(
    refusing: PhysicalNode, who: str, changes: Changes, node: PhysicalNode, hint: str | None = None
) -> ProgramError:
    """Make the error that a node cannot take changes; it points at what makes them, if that is written somewhere."""
    origin = node
    while origin.passes_on:
        origin = next(below for below in origin.inputs if changes_of(below) != Changes())
    known = origin.inferred(tuple(map(changes_of, origin.inputs)), Updates.BOTH)
    error = ProgramError(
        f"doesn't support consuming {changes} changes which is produced by node {known.text}",
        who=who,
        hint=hint,
    )
    place = origin.place or refusing.place
    return error if place is None else place.located(error)
