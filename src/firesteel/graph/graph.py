"""The graph of a program: built node by node, then frozen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any

from firesteel.common.errors import ProgramError
from firesteel.graph.nodes import Edge, Node
from firesteel.graph.operations import SinkOp, SourceOp
from firesteel.graph.uids import Identity, identities, operator_ids


@dataclass(frozen=True)
class Graph:
    """The nodes of a job, in topological order. Node ids are unique in it, but need not be consecutive.

    `batch` means that the job runs in BATCH mode; the compiler sets it.
    """

    nodes: tuple[Node, ...]
    batch: bool = False

    @cached_property
    def by_id(self) -> dict[int, Node]:
        """The nodes by their ids."""
        return {node.id: node for node in self.nodes}

    @cached_property
    def operator_ids(self) -> dict[int, str]:
        """The stable operator id of each node id (see `firesteel.graph.uids`)."""
        return operator_ids(self.nodes)

    @cached_property
    def identities(self) -> dict[int, Identity]:
        """What the parts of queries are known by, by their node ids."""
        return identities(self.nodes)

    @cached_property
    def takes_at_once(self) -> bool:
        """Whether the job takes all of its input in one epoch."""
        return self.batch and any(node.operation.at_once for node in self.nodes)

    @property
    def sources(self) -> Iterator[tuple[Node, SourceOp]]:
        """The nodes that read a source, each with its operation."""
        return ((node, node.operation) for node in self.nodes if isinstance(node.operation, SourceOp))

    @property
    def sinks(self) -> Iterator[tuple[Node, SinkOp]]:
        """The nodes that write to a sink, each with its operation."""
        return ((node, node.operation) for node in self.nodes if isinstance(node.operation, SinkOp))

    def map_nodes(self, change: Callable[[Node], Node]) -> Graph:
        """Return the graph with each node changed by `change`."""
        return replace(self, nodes=tuple(change(node) for node in self.nodes))

    def map_edges(self, change: Callable[[Node, Edge], Edge]) -> Graph:
        """Return the graph with each edge changed by `change`, which also receives the node that the edge enters."""
        return self.map_nodes(
            lambda node: replace(
                node, inputs=tuple(tuple(change(node, edge) for edge in port) for port in node.inputs)
            )
        )

    @property
    def fingerprint(self) -> str:
        """32 hexadecimal digits that two programs share if they have the same operators (by their ids)."""
        ids = sorted(self.operator_ids.values())
        return blake2b("".join(ids).encode(), digest_size=16).hexdigest()


class GraphBuilder:
    """Collects the nodes of a program, in the order of their creation.

    Contract: `add` checks a node and gives it its id; `replace` changes a node; `build` freezes the
    `pending` nodes and everything upstream of them. Operations are pending from `add` to `clear`; sources never are. As
    in Flink, an operation runs even if no sink follows it, but a source that nothing reads does not run.
    """

    def __init__(self) -> None:
        self._nodes: list[Node] = []
        self._pending: list[int] = []

    def add(self, node: Node) -> int:
        """Add a node and return its id (the one in `node` is ignored). Raises ProgramError if it is not well-formed."""
        number = len(self._nodes)
        node = replace(node, id=number)
        node.operation.check(f"{node.operation.kind} ({node.location})")
        if any(not 0 <= edge.source < number for edge in node.edges):
            raise ProgramError(
                "requires input from the same environment",
                who=node.who,
                got="a stream of another one",
                hint="make all streams of a program from one StreamExecutionEnvironment",
            )
        self._nodes.append(node)
        if not isinstance(node.operation, SourceOp):
            self._pending.append(number)
        return number

    def replace(self, id: int, **changes: Any) -> Node:
        """Change fields of a node and return the changed node."""
        self._nodes[id] = node = replace(self._nodes[id], **changes)
        return node

    def __getitem__(self, id: int) -> Node:
        return self._nodes[id]

    def build(self, roots: Iterable[int] | None = None) -> Graph:
        """Freeze the nodes `roots` (by default all pending ones) and everything upstream.

        Raises ProgramError if there are none, or if two of them have the same operator id.
        """
        wanted = list(self._pending if roots is None else roots)
        if not wanted:
            raise ProgramError(
                "requires at least one operation, typically a sink",
                who="execute()",
                got="a program without any",
                hint="add a sink: stream.print(), stream.sink_to(...)",
            )
        reached: set[int] = set()
        while wanted:
            number = wanted.pop()
            if number not in reached:
                reached.add(number)
                wanted.extend(edge.source for edge in self._nodes[number].edges)
        graph = Graph(tuple(self._nodes[number] for number in sorted(reached)))
        assert graph.operator_ids
        return graph

    @contextmanager
    def apart(self) -> Iterator[GraphBuilder]:
        """Add nodes that are not pending afterwards: whoever adds them builds them.

        >>> builder = GraphBuilder()
        >>> with builder.apart() as other:
        ...     other is builder
        True
        """
        pending = list(self._pending)
        try:
            yield self
        finally:
            self._pending = pending

    def clear(self) -> None:
        """Clear the pending nodes. The nodes remain, so existing streams can be used again."""
        self._pending.clear()
