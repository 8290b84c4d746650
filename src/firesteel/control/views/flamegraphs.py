"""Flame graphs of operators, from the samples that a job's driver has taken on request."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, Literal

import msgspec

from firesteel.checkpoint.documents import read_document, write_document
from firesteel.checkpoint.objects import Storage

FILE: Final = "flamegraph.json"

CpuKind = Literal["full", "on_cpu", "off_cpu"]
"""All samples, or those in which the thread had the processor, or did not: it waited, or slept."""


class Stack(msgspec.Struct, frozen=True, array_like=True):
    """How often a subtask of the operator with this id was found in a stack, which has the outermost call first."""

    operator: str
    subtask: int
    on_cpu: bool
    calls: tuple[str, ...]
    times: int


class FlameSamples(msgspec.Struct, frozen=True):
    """What was found until `ended_at` (milliseconds), at one look at each task every `interval_ms`."""

    ended_at: int
    interval_ms: int
    stacks: tuple[Stack, ...]


class FlameNode(msgspec.Struct):
    """A call, how many samples were in it, and the calls that it made: Flink's form of a flame graph."""

    name: str
    value: int = 0
    children: list[FlameNode] = []


def read_samples(storage: Storage) -> FlameSamples | None:
    """Return the last samples of a job; None if nobody ever asked for some."""
    return read_document(storage, FILE, FlameSamples, hint=None)


def write_samples(storage: Storage, samples: FlameSamples) -> None:
    """Replace the last samples of a job."""
    write_document(storage, FILE, samples)


def flame_tree(
    samples: FlameSamples, operators: Collection[str], kind: CpuKind = "full", subtask: int | None = None
) -> FlameNode:
    """Return the flame graph of some operators, by their ids: of all their subtasks, or of one.

    >>> stacks = (Stack("a", 0, True, ("run", "parse"), 3), Stack("a", 1, False, ("run",), 1))
    >>> tree = flame_tree(FlameSamples(0, 10, stacks), {"a"})
    >>> tree.value, tree.children[0].name, tree.children[0].children[0].value
    (4, 'run', 3)
    """
    root = FlameNode("root")
    for stack in samples.stacks:
        wanted = kind == "full" or stack.on_cpu is (kind == "on_cpu")
        if wanted and stack.operator in operators and subtask in (None, stack.subtask):
            node = root
            node.value += stack.times
            for call in stack.calls:
                node = _child(node, call)
                node.value += stack.times
    return root


def _child(node: FlameNode, name: str) -> FlameNode:
    for child in node.children:
        if child.name == name:
            return child
    node.children.append(FlameNode(name))
    return node.children[-1]
