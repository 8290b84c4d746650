"""How print shows a value of every type.

order: kept
"""

import datetime as dt
import decimal

from pyflink.common import Instant, Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
one = env.from_collection([0], type_info=Types.INT())
cases = [
    ("string", Types.STRING(), ["text", "", "a'b\"c", "naïve ☃"]),
    ("boolean", Types.BOOLEAN(), [True, False]),
    ("byte", Types.BYTE(), [-128, 127]),
    ("short", Types.SHORT(), [-32768]),
    ("int", Types.INT(), [-(2**31)]),
    ("long", Types.LONG(), [2**63 - 1]),
    ("float", Types.FLOAT(), [0.1, 1e10, 1.0, -0.0, float("nan"), float("inf"), 1e-5, 16777216.0]),
    (
        "double",
        Types.DOUBLE(),
        [0.1, 1e10, 1e7, 123456.789, -0.0, float("nan"), float("-inf"), 1e-3, 1e-4, 1e100],
    ),
    ("big decimal", Types.BIG_DEC(), [decimal.Decimal("1.50"), decimal.Decimal("1E+3")]),
    ("date", Types.SQL_DATE(), [dt.date(2020, 2, 29)]),
    ("time", Types.SQL_TIME(), [dt.time(1, 2, 3)]),
    (
        "timestamp",
        Types.SQL_TIMESTAMP(),
        [dt.datetime(2020, 2, 29, 1, 2, 3, 4000), dt.datetime(2020, 1, 1)],
    ),
    ("instant", Types.INSTANT(), [Instant.of_epoch_milli(1), Instant.of_epoch_milli(1_600_000_000_000)]),
    (
        "tuple",
        Types.TUPLE([Types.STRING(), Types.INT(), Types.DOUBLE()]),
        [("a", 1, 2.0), ("", 0, -1.5)],
    ),
    (
        "nested",
        Types.TUPLE([Types.TUPLE([Types.INT(), Types.BOOLEAN()]), Types.LIST(Types.INT())]),
        [((1, True), [1, 2])],
    ),
    ("row", Types.ROW([Types.STRING(), Types.INT()]), [Row("a", 1), Row(None, None)]),
    ("named row", Types.ROW_NAMED(["x", "y"], [Types.DOUBLE(), Types.BOOLEAN()]), [Row(x=1.5, y=True)]),
    ("row in tuple", Types.TUPLE([Types.ROW([Types.INT(), Types.STRING()])]), [(Row(1, "x"),)]),
    (
        "tuple in row",
        Types.ROW([Types.TUPLE([Types.INT(), Types.STRING()]), Types.LIST(Types.STRING())]),
        [Row((1, "x"), ["p", "q"])],
    ),
    ("list", Types.LIST(Types.STRING()), [["a", "b"], []]),
    ("map", Types.MAP(Types.STRING(), Types.DOUBLE()), [{"a": 1.0}, {}]),
    ("basic array", Types.TUPLE([Types.BASIC_ARRAY(Types.INT())]), [([1, 2, 3],)]),
    ("list in map", Types.MAP(Types.STRING(), Types.LIST(Types.BOOLEAN())), [{"k": [True, False]}]),
    ("untyped", None, [None, True, 1.0, 1e10, "text", (1, "a"), ["a"], {"k": 1.5}, Row(1, "x")]),
    (
        "untyped objects",
        None,
        [Row(a=1, b="x"), decimal.Decimal("1.5"), dt.date(2020, 1, 2), {1}, (None,)],
    ),
]
for name, typed, values in cases:
    print(f"-- {name}", flush=True)
    one.flat_map(lambda _, values=values: values, output_type=typed).print()
    env.execute()
