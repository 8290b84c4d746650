"""What a function gets after a value went through a typed edge: ranges, 32-bit floats, tuples and rows.

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
    ("float", Types.FLOAT(), 0.1),
    ("float from int", Types.FLOAT(), 3),
    ("double from int", Types.DOUBLE(), 3),
    ("long", Types.LONG(), 2**40),
    ("boolean from int", Types.BOOLEAN(), 1),
    ("big decimal", Types.BIG_DEC(), decimal.Decimal("3.14")),
    ("date", Types.SQL_DATE(), dt.date(1969, 12, 31)),
    ("time", Types.SQL_TIME(), dt.time(23, 59, 59, 123000)),
    ("timestamp", Types.SQL_TIMESTAMP(), dt.datetime(2020, 2, 29, 1, 2, 3, 456000)),
    ("instant", Types.INSTANT(), Instant.of_epoch_milli(1_600_000_000_001)),
    ("tuple", Types.TUPLE([Types.FLOAT(), Types.INT()]), (0.1, 1)),
    ("named row", Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.FLOAT()]), Row(a=1, b=0.1)),
    ("named from plain", Types.ROW_NAMED(["a", "b"], [Types.INT(), Types.STRING()]), Row(1, "x")),
    ("none in row", Types.ROW([Types.STRING(), Types.ROW([Types.INT()])]), Row(None, Row(None))),
    ("list", Types.LIST(Types.FLOAT()), [0.1, 2.0]),
    ("map", Types.MAP(Types.STRING(), Types.FLOAT()), {"a": 0.1}),
    ("basic array", Types.BASIC_ARRAY(Types.STRING()), ["a", "b"]),
    ("primitive array", Types.PRIMITIVE_ARRAY(Types.INT()), [1, 2]),
    ("bytes", Types.PRIMITIVE_ARRAY(Types.BYTE()), b"\x00\xff"),
    ("object array", Types.OBJECT_ARRAY(Types.TUPLE([Types.INT(), Types.STRING()])), [(1, "a")]),
    ("untyped tuple", None, (1, [2.5], {"k": None})),
]


def describe(value):
    fields = f" fields {value._fields}" if isinstance(value, Row) and hasattr(value, "_fields") else ""
    return f"{type(value).__name__} {value!r}{fields}"


for name, typed, value in cases:
    print(f"-- {name}", flush=True)
    stream = one.map(lambda _, value=value: value, output_type=typed)
    stream.rebalance().map(describe, Types.STRING()).print()
    env.execute()
