"""In BATCH mode, small inputs are read by one subtask, and what is computed of them alone needs no exchange.

    GlobalGroupAggregate over Exchange over LocalGroupAggregate over a small scan  =>  GroupAggregate over the scan

An exchange costs as much as some ten thousand rows do. So rows that are few stay where they are, until they meet others
or become many. Source of the measure: Flink's adaptive batch scheduler, which gives an operator one subtask for each
'execution.batch.adaptive.auto-parallelism.avg-data-volume-per-task' of its input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from firesteel.functions.source import Boundedness
from firesteel.relational.estimates.plans import Estimator
from firesteel.relational.physical.grouping import GroupAggregate, WindowAggregate
from firesteel.relational.physical.lookup_joins import LookupJoin
from firesteel.relational.physical.node import PhysicalNode
from firesteel.relational.physical.nodes import Exchange, Values
from firesteel.relational.physical.once import OncePerNode
from firesteel.relational.physical.scans import TableSourceScan

_OPENING: Final = 256 << 10
"""The bytes that could be read while a file is opened."""


def in_single_subtasks(plans: Sequence[PhysicalNode], small: int) -> list[PhysicalNode]:
    """Return the plans with inputs of up to `small` bytes in one subtask, and without the exchanges that this saves.

    A part of several plans stays one object. Rows that are looked up somewhere keep their subtasks, because waiting for
    answers takes longer than sending rows.
    """
    gathering = _Gathering(small, frozenset(map(id, _looked_up(plans))))
    return [gathering.of(plan).node for plan in plans]


class _Gathered(NamedTuple):
    """A node as it runs; `read` is the bytes that its only subtask reads (None: it has those of the job)."""

    node: PhysicalNode
    read: float | None


class _Gathering:
    def __init__(self, small: int, spared: frozenset[int]) -> None:
        self._small = small
        self._spared = spared
        self._estimator = Estimator()
        self.of = OncePerNode(self._gathered)

    def _gathered(self, node: PhysicalNode) -> _Gathered:
        if isinstance(node, TableSourceScan):
            return self._scanned(node)
        if isinstance(node, Values):
            return _Gathered(node, self._estimator.of(node).size)
        sources = tuple(map(_before_exchange, node.inputs))
        below = [self.of(given) for given in sources]
        reads = [one.read for one in below if one.read is not None]
        exchanged = any(new is not old for new, old in zip(sources, node.inputs, strict=True))
        if len(reads) == len(below) and (not exchanged or self._stays_small(node, sum(reads))):
            return _Gathered(_in_one_phase(node, tuple(one.node for one in below)), sum(reads))
        return _Gathered(node.with_inputs(tuple(self._kept(given) for given in node.inputs)), None)

    def _kept(self, node: PhysicalNode) -> PhysicalNode:
        """Return a node for one that has the job's subtasks."""
        if isinstance(node, Exchange):
            return node.with_inputs((self._kept(node.input),))
        return self.of(node).node

    def _scanned(self, scan: TableSourceScan) -> _Gathered:
        source = None if scan.source is None else scan.source.source
        known = scan.statistics
        if (
            source is None
            or known is None
            or id(scan) in self._spared
            or source.boundedness is not Boundedness.BOUNDED
            or source.preferred_parallelism not in (None, 1)
        ):
            return _Gathered(scan, None)
        read = self._estimator.of(scan).size + known.parts * _OPENING
        return _Gathered(replace(scan, single=True), read) if read <= self._small else _Gathered(scan, None)

    def _stays_small(self, node: PhysicalNode, read: float) -> bool:
        return max(read, self._estimator.of(node).size) <= self._small


def _before_exchange(node: PhysicalNode) -> PhysicalNode:
    """Return where rows come from that an exchange delivers; those of the first of two phases if there are two."""
    below = node.input if isinstance(node, Exchange) else node
    if isinstance(below, GroupAggregate | WindowAggregate) and below.phase == "local":
        return below.input
    return below


def _in_one_phase(node: PhysicalNode, inputs: tuple[PhysicalNode, ...]) -> PhysicalNode:
    made = node.with_inputs(inputs)
    if isinstance(made, GroupAggregate | WindowAggregate) and made.phase == "global":
        return replace(made, phase="single")
    return made


def _looked_up(plans: Sequence[PhysicalNode], *, below: bool = False) -> Iterator[PhysicalNode]:
    """Yield the nodes below lookup joins."""
    for plan in plans:
        if below:
            yield plan
        yield from _looked_up(plan.inputs, below=below or isinstance(plan, LookupJoin))
