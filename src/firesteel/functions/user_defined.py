"""Functions of your own in SQL: scalar, table and aggregate functions (PyFlink: pyflink.table.udf).

Contract, for one function object in one worker process: `open(function_context)` once, then `eval` any number of times,
over many epochs, then `close()` once. The object is pickled and sent to the workers, so create connections and other
objects that cannot be pickled in `open`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from firesteel.common.errors import UnsupportedError

if TYPE_CHECKING:
    from firesteel.common.metrics import MetricGroup
    from firesteel.functions.base import RuntimeContext

__all__ = [
    "AggregateFunction",
    "AsyncScalarFunction",
    "FunctionContext",
    "ImperativeAggregateFunction",
    "ScalarFunction",
    "TableAggregateFunction",
    "TableFunction",
    "UserDefinedFunction",
]


class FunctionContext:
    """Describes the task that a function runs in."""

    def __init__(self, context: RuntimeContext) -> None:
        self._context = context

    def get_metric_group(self) -> MetricGroup:
        """Return the group to register this function's metrics in."""
        return self._context.get_metrics_group()

    def get_job_parameter(self, key: str, default_value: str) -> str:
        """Return the job's global parameter `key`, or `default_value`."""
        return self._context.get_job_parameter(key, default_value)

    def get_task_name(self) -> str:
        """Return the name of the operator."""
        return self._context.get_task_name()

    def get_task_name_with_subtasks(self) -> str:
        """Return the name with the subtask's number, counted from one, and the parallelism: "MyTask (3/6)"."""
        return self._context.get_task_name_with_subtasks()

    def get_number_of_parallel_subtasks(self) -> int:
        """Return the operator's parallelism."""
        return self._context.get_number_of_parallel_subtasks()

    def get_max_number_of_parallel_subtasks(self) -> int:
        """Return the operator's max parallelism: the number of key groups."""
        return self._context.get_max_number_of_parallel_subtasks()

    def get_index_of_this_subtask(self) -> int:
        """Return this subtask's number, from 0 to parallelism - 1."""
        return self._context.get_index_of_this_subtask()

    def get_attempt_number(self) -> int:
        """Return the number of earlier attempts of this subtask: 0 at the first attempt."""
        return self._context.get_attempt_number()


class UserDefinedFunction(ABC):  # noqa: B024 - what a function computes with is its kind's business
    """What all functions have: when they begin and end, and whether equal arguments give equal results."""

    def open(self, function_context: FunctionContext) -> None:
        """Prepare for work, such as opening connections. Called once, before `eval`."""

    def close(self) -> None:
        """Release what `open` acquired. Called once, even if the job failed."""

    def is_deterministic(self) -> bool:
        """Return whether equal arguments always give equal results."""
        return True


class ScalarFunction(UserDefinedFunction):
    """A function that has one value for its arguments."""

    @abstractmethod
    def eval(self, *args: Any) -> Any:
        """Return the value; None is NULL."""


class AsyncScalarFunction(UserDefinedFunction):
    """A function that has one value for its arguments and waits for it, as for the answer of a service.

    Several calls run at once, in one thread. Results have the order of the rows.
    """

    @abstractmethod
    async def eval(self, *args: Any) -> Any:
        """Return the value; None is NULL."""


class TableFunction(UserDefinedFunction):
    """A function that has any number of rows for its arguments."""

    @abstractmethod
    def eval(self, *args: Any) -> Any:
        """Return or yield the rows: tuples, Rows, or values of the only column. None is no row."""


class ImperativeAggregateFunction(UserDefinedFunction):
    """A function of the rows of a group, which it gathers in an accumulator.

    Contract: a group's accumulator is made once, changed in place row by row in the order of the rows, and kept in the
    state of the query between epochs; so it must be a value that can be pickled. Arguments that are NULL are None.
    """

    @abstractmethod
    def create_accumulator(self) -> Any:
        """Return the accumulator of a group without rows."""

    @abstractmethod
    def accumulate(self, accumulator: Any, *args: Any) -> None:
        """Add a row's arguments."""

    def retract(self, accumulator: Any, *args: Any) -> None:
        """Take back the arguments of a row that was added; needed where the input has updates or deletes."""
        raise self._missing("retract")

    def merge(self, accumulator: Any, accumulators: Iterable[Any]) -> None:
        """Add other accumulators; needed where windows are merged: sessions, and slices of windows that overlap."""
        raise self._missing("merge")

    def get_result_type(self) -> Any:
        """Return the type of the result; asked for if `udaf` or `udtaf` is not told."""
        raise self._missing("get_result_type")

    def get_accumulator_type(self) -> Any:
        """Return the type of the accumulator. Nothing asks for it: any value that can be pickled is one."""
        raise self._missing("get_accumulator_type")

    def _missing(self, method: str) -> UnsupportedError:
        return UnsupportedError(
            f"requires the method {method}()",
            who=f"{type(self).__name__}",
            hint=f"write {method} in the class",
        )


class AggregateFunction(ImperativeAggregateFunction):
    """A function that has one value for the rows of a group."""

    @abstractmethod
    def get_value(self, accumulator: Any) -> Any:
        """Return the value; None is NULL."""


class TableAggregateFunction(ImperativeAggregateFunction):
    """A function that has any number of rows for the rows of a group.

    Contract: `emit_value` may be asked at any time, and more than once for the same accumulator; it gives the same rows
    then, because rows that it gave before are taken back.
    """

    @abstractmethod
    def emit_value(self, accumulator: Any) -> Iterable[Any]:
        """Return or yield the rows: tuples, Rows, or values of the only column. None is no row."""
