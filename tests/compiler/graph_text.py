"""Graphs as text, for fixtures: a line per node.

    name: operation [word=value ...] [<- input [PARTITIONING] [!side] [chained], ... [| second port]]

The words of a node are `parallelism`, `max`, `uid`, `chaining`, `slots` (the slot sharing group) and, for a source,
`own` (the parallelism it insists on), `unbounded` (without a value) and `strategy` (`times`: timestamps and watermarks,
`only-times`: timestamps), and `uncoerced`. An input without a partitioning is AUTO. A line `batch` stands for
a graph in BATCH mode.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from firesteel.common.watermark_strategy import TimestampAssigner, WatermarkStrategy
from firesteel.connectors.collection import CollectionSource
from firesteel.connectors.discard import DiscardingSink
from firesteel.functions.elements import CoMapFunction
from firesteel.functions.source import Boundedness
from firesteel.graph import Edge, Graph, Location, Node
from firesteel.graph.nodes import (
    AUTO,
    Broadcast,
    Custom,
    Forward,
    Global,
    KeyBy,
    Partitioning,
    Rebalance,
    Rescale,
    Shuffle,
)
from firesteel.graph.operations import (
    CoMapOp,
    FilterOp,
    MapOp,
    Operation,
    SinkOp,
    SourceOp,
    TimestampsOp,
)


class _Times(TimestampAssigner):
    def extract_timestamp(self, value: Any, record_timestamp: int) -> int:
        return int(value)


class _Source(CollectionSource[int]):
    def __init__(self, own: int | None, unbounded: bool, exact: bool) -> None:
        super().__init__([1, 2, 3])
        self.makes_exact_values = exact
        self.preferred_parallelism = own
        self._unbounded = unbounded

    @property
    def boundedness(self) -> Boundedness:
        return Boundedness.CONTINUOUS_UNBOUNDED if self._unbounded else Boundedness.BOUNDED


class _Both(CoMapFunction):
    def map1(self, value: Any) -> Any:
        return value

    map2 = map1


_PARTITIONINGS: Final[dict[str, Partitioning]] = {
    part.label: part
    for part in (
        AUTO,
        Forward(),
        Rebalance(),
        Rescale(),
        Shuffle(),
        Global(),
        Broadcast(),
        KeyBy(str),
        Custom(lambda key, width: 0, str),
    )
}
_WORDS: Final = {
    "parallelism": "parallelism",
    "max": "max_parallelism",
    "uid": "uid",
    "chaining": "chaining",
    "slots": "slot_sharing_group",
}
_NUMBERS: Final = ("parallelism", "max")


def parse(text: str) -> Graph:
    """Return the graph that the text shows; the line of a node in the program is its line in the text."""
    nodes: list[Node] = []
    numbers: dict[str, int] = {}
    lines = text.strip().splitlines()
    batch = lines[:1] == ["batch"]
    for line, content in enumerate(lines[batch:], 1):
        head, _, inputs = content.partition(" <- ")
        name, _, rest = head.partition(": ")
        kind, *words = rest.split()
        fields = dict(word.partition("=")[::2] for word in words)
        numbers[name] = len(nodes)
        ports = tuple(
            tuple(_edge(part, numbers) for part in port.split(", ")) for port in inputs.split(" | ") if port
        )
        chosen: dict[str, Any] = {
            field: int(fields[word]) if word in _NUMBERS else fields[word]
            for word, field in _WORDS.items()
            if word in fields
        }
        operation = _operation(kind, fields)
        chosen["coerces"] = "uncoerced" not in fields
        nodes.append(Node(numbers[name], name, operation, ports, Location("job.py", line), **chosen))
    return Graph(tuple(nodes), batch)


def show(graph: Graph) -> str:
    """Return the text of a graph."""
    names = {node.id: node.name for node in graph.nodes}
    lines = ["batch"] if graph.batch else []
    for node in graph.nodes:
        words = " ".join(_words(node))
        inputs = " | ".join(", ".join(_shown(edge, names) for edge in port) for port in node.inputs)
        lines.append(f"{node.name}: {words}" + (f" <- {inputs}" if inputs else ""))
    return "\n".join(lines)


def _operation(kind: str, fields: dict[str, str]) -> Operation:
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(_Times())
    match kind:
        case "source":
            own = int(fields["own"]) if "own" in fields else None
            source = _Source(own, "unbounded" in fields, "exact" in fields)
            return SourceOp(source, strategy if "strategy" in fields else None)
        case "timestamps":
            return TimestampsOp(strategy)
        case "map":
            return MapOp(str)
        case "filter":
            return FilterOp(bool)
        case "both":
            return CoMapOp(_Both())
        case "sink":
            return SinkOp(DiscardingSink())
    raise AssertionError(f"no operation {kind!r}")


def _edge(text: str, numbers: dict[str, int]) -> Edge:
    source, *words = text.split()
    partitioning, side = AUTO, None
    for word in words:
        if word.startswith("!"):
            side = word[1:]
        elif word != "chained":
            partitioning = _PARTITIONINGS[word]
    return Edge(numbers[source], partitioning, side, "chained" in words)


def _words(node: Node) -> Iterator[str]:
    operation = node.operation
    kinds = {SourceOp: "source", MapOp: "map", FilterOp: "filter", CoMapOp: "both", SinkOp: "sink"}
    yield kinds.get(type(operation), "timestamps")
    if isinstance(operation, SourceOp):
        if operation.source.preferred_parallelism is not None:
            yield f"own={operation.source.preferred_parallelism}"
        if operation.source.boundedness is not Boundedness.BOUNDED:
            yield "unbounded"
        if operation.source.makes_exact_values:
            yield "exact"
    if isinstance(operation, SourceOp | TimestampsOp) and operation.strategy is not None:
        assert operation.strategy.timestamp_assigner is not None
        yield f"strategy={'only-times' if operation.strategy.generator_factory is None else 'times'}"
    if not node.coerces:
        yield "uncoerced"
    for word, field in _WORDS.items():
        value = getattr(node, field)
        if value is not None and (field, value) != ("chaining", "always"):
            yield f"{word}={value}"


def _shown(edge: Edge, names: dict[int, str]) -> str:
    parts = [names[edge.source]]
    if edge.partitioning is not AUTO:
        parts.append(edge.partitioning.label)
    if edge.side_output is not None:
        parts.append(f"!{edge.side_output}")
    if edge.chained:
        parts.append("chained")
    return " ".join(parts)
