"""Nodes and edges of the dataflow graph.

A node is one operation of the program. Its inputs are **ports**: `inputs[0]` and, for connected streams,
`inputs[1]`, each a tuple of edges (several for a union). An edge names the node that it comes from, the output
of that node (the main one or a side output), and how records are distributed over the subtasks of its target.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from firesteel.common.frames import is_engine

if TYPE_CHECKING:
    from firesteel.common.typeinfo import TypeInformation
    from firesteel.graph.operations import Operation

Chaining = Literal["always", "head", "never"]
"""Whether an operation may be chained: with its input and output, only with its output, or with neither."""


@dataclass(frozen=True, slots=True)
class Location:
    """A line of the user's program.

    >>> str(Location("job.py", 12))
    'job.py:12'
    """

    file: str
    line: int

    @staticmethod
    def of_caller() -> Location:
        """Return the innermost running line outside this package, or the one that `calls_of` names."""
        script = _script.get()
        if script is not None:
            return script
        frame = sys._getframe(1)
        while is_engine(frame.f_code.co_filename) and frame.f_back is not None:
            frame = frame.f_back
        return Location(frame.f_code.co_filename, frame.f_lineno)

    def __str__(self) -> str:
        return f"{_shown(self.file)}:{self.line}"


_script: Final[ContextVar[Location | None]] = ContextVar("script", default=None)


@contextmanager
def calls_of(script: Location) -> Iterator[None]:
    """What is called in the block comes from this line of a script, and not from one of Python.

    >>> with calls_of(Location("report.sql", 3)):
    ...     str(Location.of_caller())
    'report.sql:3'
    """
    token = _script.set(script)
    try:
        yield
    finally:
        _script.reset(token)


@cache
def _shown(file: str) -> str:
    path, here = Path(file), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else path.name


@dataclass(frozen=True)
class Partitioning:
    """How records are distributed over the subtasks of an edge's target."""

    label: ClassVar[str] = ""


@dataclass(frozen=True)
class Auto(Partitioning):
    """Forward if both ends have the same parallelism, otherwise rebalance; the default of an edge."""

    label = "AUTO"


@dataclass(frozen=True)
class Forward(Partitioning):
    """Subtask `i` sends to subtask `i`; requires the same parallelism at both ends."""

    label = "FORWARD"


@dataclass(frozen=True)
class Rebalance(Partitioning):
    """Round robin over all subtasks."""

    label = "REBALANCE"


@dataclass(frozen=True)
class Rescale(Partitioning):
    """Round robin over the subtasks nearest to the sender."""

    label = "RESCALE"


@dataclass(frozen=True)
class Shuffle(Partitioning):
    """A random subtask."""

    label = "SHUFFLE"


@dataclass(frozen=True)
class Global(Partitioning):
    """Subtask 0."""

    label = "GLOBAL"


@dataclass(frozen=True)
class Broadcast(Partitioning):
    """Every subtask."""

    label = "BROADCAST"


@dataclass(frozen=True, eq=False)
class KeyBy(Partitioning):
    """The subtask that owns the key group of the key; `selector` is a callable or a KeySelector."""

    label = "HASH"

    selector: Any
    key_type: TypeInformation | None = None


@dataclass(frozen=True)
class KeyColumns(Partitioning):
    """The subtask that owns the key group of the values in these columns; subtask 0 if there are none."""

    label = "HASH"

    columns: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Custom(Partitioning):
    """The subtask that `partitioner(key, number of subtasks)` returns for the key that `selector` extracts."""

    label = "CUSTOM"

    partitioner: Any
    selector: Any


AUTO: Final = Auto()


@dataclass(frozen=True, slots=True)
class Edge:
    """A flow of records out of node `source`; `side_output` is the id of an OutputTag, None for the main output.

    `chained` means that both ends are in one chain; the compiler sets it.
    """

    source: int
    partitioning: Partitioning = AUTO
    side_output: str | None = None
    chained: bool = False


@dataclass(frozen=True, slots=True)
class QueryPart:
    """What an operator of a query does, as plans show it; `table` is the name of what it reads or writes, if any.

    `choice` says which rows of the table it reads, if not all.
    """

    text: str
    table: str = ""
    choice: str = ""


@dataclass(frozen=True, slots=True)
class Node:
    """One operation of the program.

    `parallelism` and `max_parallelism` are None if those of the job apply, `slot_sharing_group` if that of the
    inputs does. `output_type` is None for values of any type. `query_part` is None in stream programs. `coerces`
    means that results are coerced to `output_type`; the compiler sets it. `location` is the line of the program
    that added the operation.

    >>> from firesteel.graph.operations import MapOp
    >>> Node(1, "parse", MapOp(str), ((Edge(0),),), Location("job.py", 12)).who
    "map 'parse' (job.py:12)"
    """

    id: int
    name: str
    operation: Operation
    inputs: tuple[tuple[Edge, ...], ...]
    location: Location
    parallelism: int | None = None
    max_parallelism: int | None = None
    uid: str | None = None
    uid_hash: str | None = None
    chaining: Chaining = "always"
    output_type: TypeInformation | None = None
    description: str | None = None
    slot_sharing_group: str | None = None
    coerces: bool = True
    query_part: QueryPart | None = None

    @property
    def who(self) -> str:
        """The name of the node in error messages."""
        return f"{self.operation.kind} {self.name!r} ({self.location})"

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges of all ports."""
        return tuple(edge for port in self.inputs for edge in port)

    @property
    def keyed(self) -> bool:
        """Whether port 0 is keyed: all of its edges are partitioned by a key."""
        return bool(self.inputs) and all(isinstance(edge.partitioning, KeyBy) for edge in self.inputs[0])
