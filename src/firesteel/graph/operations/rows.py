"""Operations on the records of one stream: stateless, keyed, awaited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from firesteel.common.errors import ProgramError
from firesteel.functions.adapt import check_function
from firesteel.functions.async_functions import AsyncFunction, AsyncRetryStrategy
from firesteel.functions.elements import FilterFunction, FlatMapFunction, MapFunction, ReduceFunction
from firesteel.functions.process import KeyedProcessFunction, ProcessFunction
from firesteel.graph.checks import key_hint, require, shown
from firesteel.graph.operations.operation import Operation

FieldMethod = Literal["sum", "min", "max", "min_by", "max_by"]


@dataclass(frozen=True, eq=False)
class MapOp(Operation):
    """Emits one record for each record, keyed or not; `function` is a callable or a MapFunction."""

    kind = "map"
    gives_objects = True
    takes_objects = True

    function: Any

    def check(self, who: str) -> None:
        """Require a callable or a MapFunction."""
        check_function(self.function, MapFunction, "map", who)


@dataclass(frozen=True, eq=False)
class FlatMapOp(Operation):
    """Emits any number of records for each record, keyed or not; `function` is a callable or a FlatMapFunction."""

    kind = "flat_map"
    gives_objects = True
    takes_objects = True

    function: Any

    def check(self, who: str) -> None:
        """Require a callable or a FlatMapFunction."""
        check_function(self.function, FlatMapFunction, "flat_map", who)


@dataclass(frozen=True, eq=False)
class FilterOp(Operation):
    """Emits the records, keyed or not, for which a predicate is true; `function` is a callable or a FilterFunction."""

    kind = "filter"
    passes_on = True
    gives_objects = True
    takes_objects = True

    function: Any

    def check(self, who: str) -> None:
        """Require a callable or a FilterFunction."""
        check_function(self.function, FilterFunction, "filter", who)


@dataclass(frozen=True, eq=False)
class ProjectOp(Operation):
    """Emits tuples of some fields of the tuples."""

    kind = "project"

    positions: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ProcessOp(Operation):
    """A process function on a stream without keys: no timers, no keyed state."""

    kind = "process"
    gives_objects = True
    takes_objects = True

    function: ProcessFunction

    def check(self, who: str) -> None:
        """Require a ProcessFunction."""
        require(self.function, (ProcessFunction,), who, key_hint(self.function))


@dataclass(frozen=True, eq=False)
class KeyedProcessOp(Operation):
    """A process function with keyed state and timers, on a keyed input."""

    kind = "process"
    gives_objects = True

    function: KeyedProcessFunction

    def check(self, who: str) -> None:
        """Require a KeyedProcessFunction."""
        require(
            self.function, (KeyedProcessFunction,), who, "on a keyed stream, subclass KeyedProcessFunction"
        )


@dataclass(frozen=True, eq=False)
class ReduceOp(Operation):
    """The running reduction of each key; in BATCH mode only its last value.

    `function` is a callable or a ReduceFunction, the input is keyed.
    """

    kind = "reduce"
    gives_objects = True
    sorts_in_batch: ClassVar[bool] = False

    function: Any

    def check(self, who: str) -> None:
        """Require a callable or a ReduceFunction."""
        check_function(self.function, ReduceFunction, "reduce", who)


@dataclass(frozen=True, eq=False)
class AggregateFieldOp(Operation):
    """The running sum, min, max, min_by or max_by of a field, by key; field 0 of a plain value is the value."""

    kind = "aggregate"
    gives_objects = True
    sorts_in_batch: ClassVar[bool] = False

    method: FieldMethod
    position: int | str

    def check(self, who: str) -> None:
        """Require a position that is an index or a field's name."""
        if not isinstance(self.position, int | str) or isinstance(self.position, bool):
            raise ProgramError(
                "requires a position that is a field's index or name",
                who=who,
                got=shown(self.position),
                hint=f"write {self.method}(1), or {self.method}('price') for rows with names",
            )


@dataclass(frozen=True, eq=False)
class AsyncOp(Operation):
    """Awaits a call per record: at most `capacity` at once, each for at most `timeout` milliseconds with retries."""

    kind = "async"
    gives_objects = True
    takes_objects = True

    function: AsyncFunction[Any, Any]
    timeout: int
    capacity: int
    ordered: bool
    retry_strategy: AsyncRetryStrategy[Any]

    def check(self, who: str) -> None:
        """Require an AsyncFunction and a capacity of at least one."""
        check_function(self.function, AsyncFunction, None, who)
        if not isinstance(self.capacity, int) or self.capacity < 1:
            raise ProgramError("requires a capacity of at least 1", who=who, got=shown(self.capacity))
