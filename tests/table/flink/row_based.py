"""Row-based operations, and the functions that they call; for PyFlink and for Firesteel alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pyflink.common import Row
from pyflink.table import AggregateFunction, DataTypes, Table, TableAggregateFunction, TableEnvironment
from pyflink.table.expressions import call, col, lit
from pyflink.table.udf import udaf, udf, udtaf, udtf
from pyflink.table.window import Slide, Tumble

BIGINT = DataTypes.BIGINT()
PAIR = DataTypes.ROW([DataTypes.FIELD("a", BIGINT), DataTypes.FIELD("b", BIGINT)])


class Top2(TableAggregateFunction):
    """The two greatest values, each with its rank."""

    def create_accumulator(self) -> list[Any]:
        return []

    def accumulate(self, accumulator: list[Any], *args: Any) -> None:
        [value] = args
        if value is not None:
            accumulator.append(value)

    def retract(self, accumulator: list[Any], *args: Any) -> None:
        [value] = args
        if value is not None:
            accumulator.remove(value)

    def merge(self, accumulator: list[Any], accumulators: Any) -> None:
        for other in accumulators:
            accumulator.extend(other)

    def emit_value(self, accumulator: list[Any]) -> Iterator[Any]:
        for rank, value in enumerate(sorted(accumulator, reverse=True)[:2]):
            yield Row(value, rank + 1)

    def get_accumulator_type(self) -> Any:
        return DataTypes.ARRAY(BIGINT)

    def get_result_type(self) -> Any:
        return PAIR


class Top2OfRows(Top2):
    """The same of whole rows."""

    def accumulate(self, accumulator: list[Any], *args: Any) -> None:
        accumulator.append(args[0][1])


class Greatest(Top2):
    """The greatest value, without a Row around it."""

    def emit_value(self, accumulator: list[Any]) -> Iterator[Any]:
        yield max(accumulator, default=None)

    def get_result_type(self) -> Any:
        return BIGINT


class Total(AggregateFunction):
    """The sum and the number of values."""

    def create_accumulator(self) -> Row:
        return Row(0, 0)

    def accumulate(self, accumulator: Row, *args: Any) -> None:
        accumulator[0] += args[0]
        accumulator[1] += 1

    def retract(self, accumulator: Row, *args: Any) -> None:
        accumulator[0] -= args[0]
        accumulator[1] -= 1

    def merge(self, accumulator: Row, accumulators: Any) -> None:
        for other in accumulators:
            accumulator[0] += other[0]
            accumulator[1] += other[1]

    def get_value(self, accumulator: Row) -> Any:
        return Row(accumulator[0], accumulator[1])

    def get_accumulator_type(self) -> Any:
        return PAIR

    def get_result_type(self) -> Any:
        return PAIR


class TotalOfRows(Total):
    """The same of whole rows."""

    def accumulate(self, accumulator: Row, *args: Any) -> None:
        super().accumulate(accumulator, args[0][1])


class Sum(Total):
    """The sum."""

    def get_value(self, accumulator: Row) -> Any:
        return accumulator[0]

    def get_result_type(self) -> Any:
        return BIGINT


ROWS = [("x", 1), ("y", 5), ("x", 7), ("x", 3), ("y", 2), ("z", 4)]
NOT_RUN = frozenset({"map: value", "map: built-in", "map: built-in text", "map: nested"})
"""What PyFlink plans, and does not run: where it was tried, no row came and no error."""

Cases = dict[str, Callable[[], Table]]


def cases(env: TableEnvironment, visits: Table) -> Cases:
    """Return what makes the table of each case; `visits` has the columns ts (an event time), k and v."""
    t = env.from_elements(ROWS, ["k", "v"])
    top2, rows2, greatest = udtaf(Top2()), udtaf(Top2OfRows()), udtaf(Greatest())
    total, total_rows, total_sum = udaf(Total()), udaf(TotalOfRows()), udaf(Sum())
    square = udf(lambda x: Row(x + 1, x * x), result_type=PAIR)
    plus = udf(lambda x: x + 1, result_type=BIGINT)
    repeated = udtf(lambda k, n: [(k, i) for i in range(n)], result_types=[DataTypes.STRING(), BIGINT])
    env.create_temporary_function("top2", top2)
    env.create_temporary_function("total_sum", total_sum)
    k, v, every = col("k"), col("v"), col("*")
    sums = t.group_by(k).select(k, v.sum.alias("s"))
    ten = Tumble.over(lit(10).seconds).on(col("ts")).alias("w")
    hops = Slide.over(lit(10).seconds).every(lit(5).seconds).on(col("ts")).alias("w")
    by_window = visits.window(ten).group_by(col("w"), k)
    return {
        "map: row": lambda: t.map(square(v)),
        "map: row, other names": lambda: t.map(square(v)).alias("p", "q"),
        "map: alias": lambda: t.map(square(v).alias("p", "q")),
        "map: value": lambda: t.map(plus(v)),
        "map: built-in": lambda: t.map(v + 1),
        "map: built-in text": lambda: t.map(k.upper_case),
        "map: column": lambda: t.map(v),
        "map: nested": lambda: t.map(plus(plus(v))),
        "map: aggregate": lambda: t.map(total_sum(v)),
        "map: table function": lambda: t.map(repeated(k, v)),
        "map: unknown": lambda: t.map(call("nothing", v)),
        "flat_map: rows": lambda: t.flat_map(repeated(k, v)),
        "flat_map: alias": lambda: t.flat_map(repeated(k, v).alias("k", "v")),
        "flat_map: scalar": lambda: t.flat_map(plus(v)),
        "aggregate: all": lambda: t.aggregate(total(v)).select(every),
        "aggregate: names": lambda: t.aggregate(total(v).alias("p", "q")).select(col("q"), col("p") + 1),
        "aggregate: too few names": lambda: t.aggregate(total(v).alias("p")).select(every),
        "aggregate: value": lambda: t.aggregate(total_sum(v)).select(every),
        "aggregate: whole rows": lambda: t.aggregate(udaf(TotalOfRows()).alias("p", "q")).select(col("q")),
        "aggregate: built-in": lambda: t.group_by(k).aggregate(v.sum).select(every),
        "aggregate: by name": lambda: t.aggregate(call("total_sum", v).alias("p")).select(every),
        "aggregate: aggregate behind": lambda: t.aggregate(total_sum(v).alias("p")).select(col("p").sum),
        "aggregate: groups": lambda: t.group_by(k).aggregate(total(v)).select(every),
        "aggregate: groups, names": lambda: (
            t.group_by(k).aggregate(total(v).alias("p", "q")).select(k, col("q"))
        ),
        "aggregate: groups, rows": lambda: t.group_by(k).aggregate(total_rows).select(every),
        "aggregate: computed key": lambda: t.group_by(v % 2).aggregate(total(v)).select(every),
        "aggregate: name twice": lambda: t.group_by(k).aggregate(total(v).alias("k", "q")).select(every),
        "aggregate: not grouped": lambda: t.group_by(k).aggregate(total(v)).select(v),
        "aggregate: table aggregate": lambda: t.group_by(k).aggregate(top2(v)).select(every),
        "aggregate: changes": lambda: sums.aggregate(total(col("s")).alias("p", "q")).select(every),
        "aggregate: nothing": lambda: t.filter(v > 100).aggregate(total(v)).select(every),
        "aggregate: window": lambda: by_window.aggregate(total(v).alias("p", "q")).select(
            k, col("w").start.alias("a"), col("p"), col("q")
        ),
        "aggregate: window, asterisk": lambda: by_window.aggregate(total(v).alias("p", "q")).select(every),
        "aggregate: hops": lambda: (
            visits.window(hops)
            .group_by(col("w"))
            .aggregate(total(v).alias("p", "q"))
            .select(col("w").end.alias("a"), col("p"))
        ),
        "flat: all": lambda: t.flat_aggregate(top2(v)).select(every),
        "flat: names": lambda: t.flat_aggregate(top2(v).alias("p", "r")).select(col("p") + 1, col("r")),
        "flat: too many names": lambda: t.flat_aggregate(top2(v).alias("p", "q", "r")).select(every),
        "flat: groups": lambda: t.group_by(k).flat_aggregate(top2(v)).select(every),
        "flat: groups, rows": lambda: t.group_by(k).flat_aggregate(rows2).select(k, col("a")),
        "flat: value": lambda: t.flat_aggregate(greatest(v)).select(every),
        "flat: computed key": lambda: t.group_by(v % 2).flat_aggregate(top2(v)).select(every),
        "flat: name twice": lambda: t.group_by(k).flat_aggregate(top2(v).alias("k", "r")).select(every),
        "flat: aggregate": lambda: t.flat_aggregate(total_sum(v)).select(every),
        "flat: scalar": lambda: t.flat_aggregate(plus(v)).select(every),
        "flat: by name": lambda: t.flat_aggregate(call("top2", v).alias("p", "r")).select(every),
        "flat: changes": lambda: sums.group_by(col("s") % 2).flat_aggregate(top2(col("s"))).select(every),
        "flat: nothing": lambda: t.filter(v > 100).flat_aggregate(top2(v)).select(every),
        "flat: groups of groups": lambda: (
            t.group_by(k)
            .flat_aggregate(top2(v).alias("p", "r"))
            .select(k, col("p"), col("r"))
            .group_by(col("r"))
            .select(col("r"), col("p").sum.alias("s"))
        ),
    }
