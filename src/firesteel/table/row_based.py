"""The operations of tables whose functions get whole rows, or give several columns (PyFlink: Table.map)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from firesteel.common.errors import ProgramError
from firesteel.datastream.streams.node_settings import call_site
from firesteel.relational.logical.nodes import LogicalNode
from firesteel.table.expressing.operations import Grouping, Operation, trees_of
from firesteel.table.expressing.row_based import WHOLE, Aggregated, flat_mapped, mapped, with_rows
from firesteel.table.expressing.tree import Call, Name, TableRows, Tree, value_of
from firesteel.table.expression import Expression
from firesteel.table.user_functions import UserDefinedFunctionWrapper
from firesteel.table.whole_frames import of_whole_frames

if TYPE_CHECKING:
    from firesteel.table.table import Table


class RowBased(ABC):
    """The row-based operations of `Table`.

    Each takes a call of a function, or the function itself: then a Row with all columns is its argument, or a
    DataFrame if the function is one of pandas. Functions of another kind raise ProgramError.
    """

    _plan: LogicalNode

    def map(self, func: Expression[Any] | UserDefinedFunctionWrapper) -> Table:
        """Return a row for each row: what a scalar function gives.

        The result of type ROW has its fields as columns; any other is the column f0.

        >>> from firesteel.common.types import Row
        >>> from firesteel.table import EnvironmentSettings, TableEnvironment
        >>> from firesteel.table.udf import udf
        >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        >>> orders = environment.from_elements([("tea", 4), ("jam", 3)], ["what", "pieces"])
        >>> doubled = udf(lambda row: Row(row.what, 2 * row.pieces), result_type="ROW<what STRING, pieces BIGINT>")
        >>> orders.map(doubled).execute().print()
        +--------------------------------+----------------------+
        |                           what |               pieces |
        +--------------------------------+----------------------+
        |                            tea |                    8 |
        |                            jam |                    6 |
        +--------------------------------+----------------------+
        2 rows in set
        """
        return self._of(mapped(self._calling("map", func)))

    def flat_map(self, func: Expression[Any] | UserDefinedFunctionWrapper) -> Table:
        """Return any number of rows for each row: those that a table function gives.

        >>> from firesteel.table import EnvironmentSettings, TableEnvironment
        >>> from firesteel.table.expressions import col
        >>> from firesteel.table.udf import udtf
        >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        >>> orders = environment.from_elements([("tea", 2), ("jam", 1)], ["what", "pieces"])
        >>> single = udtf(lambda what, pieces: [what] * pieces, result_types="STRING")
        >>> orders.flat_map(single(col("what"), col("pieces"))).to_pandas()["f0"].tolist()
        ['tea', 'tea', 'jam']
        """
        return self._of(flat_mapped(self._calling("flat_map", func)))

    def aggregate(self, func: Expression[Any] | UserDefinedFunctionWrapper) -> AggregatedTable:
        """Return what an aggregate function gives for all rows, of which `select` has to follow.

        A result of type ROW has its fields as columns; an alias with several names says what they are called.
        """
        return AggregatedTable(self, Aggregated(self._calling("aggregate", func)))

    def flat_aggregate(self, func: Expression[Any] | UserDefinedFunctionWrapper) -> FlatAggregateTable:
        """Return the rows that a table aggregate function gives for all rows, of which `select` has to follow.

        >>> from firesteel.table import EnvironmentSettings, TableAggregateFunction, TableEnvironment
        >>> from firesteel.table.expressions import col
        >>> from firesteel.table.udf import udtaf
        >>> class Dearest(TableAggregateFunction):
        ...     def create_accumulator(self):
        ...         return []
        ...     def accumulate(self, accumulator, price):
        ...         accumulator.append(price)
        ...     def emit_value(self, accumulator):
        ...         return sorted(accumulator)[-2:]
        >>> environment = TableEnvironment.create(EnvironmentSettings.in_batch_mode())
        >>> orders = environment.from_elements([("tea", 4), ("jam", 3), ("oil", 9)], ["what", "price"])
        >>> dearest = udtaf(Dearest(), result_type="BIGINT")
        >>> orders.flat_aggregate(dearest(col("price")).alias("p")).select(col("p")).to_pandas()["p"].tolist()
        [4, 9]
        """
        return FlatAggregateTable(self, Aggregated(self._calling("flat_aggregate", func)))

    def process(self, func: UserDefinedFunctionWrapper | str, *arguments: Expression[Any]) -> Table:
        """Return what a process table function gives for the rows, each by itself or all as one set.

        `func` is what `udptf` has made, or a name. Other arguments follow as in SQL, by their places or names:
        ``descriptor("ts").as_argument("on_time")``. Flink's name in Java; PyFlink has none.
        """
        return PartitionedTable(self, ()).process(func, *arguments)

    def partition_by(self, *fields: Expression[Any]) -> PartitionedTable:
        """Return sets of the rows with equal values of columns, for process table functions."""
        return PartitionedTable(self, trees_of(fields, "partition_by"))

    def as_argument(self, name: str) -> Expression[Any]:
        """Return the rows as the argument of a name, for `TableEnvironment.from_call`."""
        return PartitionedTable(self, ()).as_argument(name)

    @abstractmethod
    def _of(self, plan: LogicalNode) -> Table:
        """Return the table of another plan, of the same environment."""

    @abstractmethod
    def _operation(self, method: str, expressions: Any = ()) -> Operation:
        """Return an operation of the table."""

    def _calling(self, method: str, func: object, *without: str) -> Operation:
        """Return the operation that calls a function; columns `without` are not in whole rows."""
        if isinstance(func, Expression):
            return self._operation(method, [func])
        if not isinstance(func, UserDefinedFunctionWrapper):
            raise ProgramError(
                "requires a function with its types, or a call of it",
                who=call_site(method),
                got=type(func).__name__,
                hint="udf(...), udtf(...), udaf(...) or udtaf(...)",
            )
        call, plan = self._of_whole_rows(func, without)
        return self._of(plan)._operation(method, [Expression(call)])

    def _of_whole_rows(
        self, func: UserDefinedFunctionWrapper, without: Sequence[str] = ()
    ) -> tuple[Tree, LogicalNode]:
        """Return the call of a function for whole rows, and the plan with what it reads."""
        function, plan = func.signature, self._plan
        if getattr(function, "form", None) == "pandas":
            names = [name for name in plan.row.field_names if name not in without]
            call: Tree = Call(function.name, tuple(map(Name, names)), of_whole_frames(function, names))
        else:
            plan = with_rows(plan, *without)
            call = Call(function.name, (Name(WHOLE),), function)
        return (Call("as", (call, *map(value_of, func.names))) if func.names else call), plan


class PartitionedTable:
    """Sets of rows with equal values of columns, each perhaps in an order.

    Flink's name in Java; PyFlink has none.
    """

    def __init__(self, table: RowBased, keys: Sequence[Tree], order: Sequence[Tree] = ()) -> None:
        self._table = table
        self._keys = keys
        self._order = order

    def order_by(self, *fields: Expression[Any]) -> PartitionedTable:
        """Return the sets in an order: first a time attribute, ascending, then any columns."""
        return PartitionedTable(self._table, self._keys, trees_of(fields, "order_by"))

    def as_argument(self, name: str) -> Expression[Any]:
        """Return the sets as the argument of a name, for `TableEnvironment.from_call`."""
        rows = TableRows(self._table._plan, tuple(self._keys), tuple(self._order))
        return Expression(Call("ASSIGNMENT", (value_of(name), rows)))

    def process(self, func: UserDefinedFunctionWrapper | str, *arguments: Expression[Any]) -> Table:
        """Return what a process table function gives for the sets; see `Table.process`."""
        operation = self._table._operation("process", arguments).of_rows(self._keys, self._order)
        return self._table._of(given_to(operation, func))


def given_to(operation: Operation, func: object) -> LogicalNode:
    """Return what a function of tables gives, by what `udptf` has made or by its name.

    Raises ProgramError for anything else.
    """
    if isinstance(func, str):
        return operation.given_to(func)
    if isinstance(func, UserDefinedFunctionWrapper):
        return operation.given_to(func.signature.name, func.signature)
    raise ProgramError(
        "requires what udptf(...) has made, or its name", who=operation.who, got=type(func).__name__
    )


class AggregatedTable:
    """Groups of rows with what an aggregate function gives for each."""

    def __init__(self, table: RowBased, aggregated: Aggregated) -> None:
        self._table = table
        self._aggregated = aggregated

    def select(self, *fields: Expression[Any]) -> Table:
        """Return columns: what rows are grouped by, and what the function gives; no aggregates are among them."""
        return self._table._of(self._aggregated.selected(self._table._operation("select", fields)))


class FlatAggregateTable(AggregatedTable):
    """Groups of rows with each row that a table aggregate function gives for them."""


def grouped(
    table: RowBased, grouping: Grouping, method: str, func: Expression[Any] | UserDefinedFunctionWrapper
) -> Aggregated:
    """Return groups of a table's rows with what a function gives for each; whole rows are without the window's time."""
    time = None if grouping.window is None else grouping.window.time
    without = [time.name] if isinstance(time, Name) else []
    return Aggregated(table._calling(method, func, *without), grouping)
