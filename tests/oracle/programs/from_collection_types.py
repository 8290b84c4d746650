"""from_collection with and without types, and what a function gets from it.

order: any
"""

import decimal

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
cases = [
    ("untyped", None, [1, "a", (1, 2), None, {"k": 1}, 2.5]),
    ("tuple", Types.TUPLE([Types.STRING(), Types.FLOAT()]), [("a", 110.1), ("b", 20.0)]),
    ("row", Types.ROW([Types.INT(), Types.STRING()]), [Row(1, "a"), (2, "b")]),
    ("named row", Types.ROW_NAMED(["id", "info"], [Types.INT(), Types.STRING()]), [(1, "a"), Row(2, "b")]),
    ("string", Types.STRING(), ["a", "b"]),
    ("double", Types.DOUBLE(), [1.0, 2.5]),
    ("decimal", Types.BIG_DEC(), [decimal.Decimal("1.10")]),
    ("boolean", Types.BOOLEAN(), [True]),
    ("map", Types.MAP(Types.STRING(), Types.INT()), [{"a": 1}]),
]
for name, typed, values in cases:
    print(f"-- {name}", flush=True)
    stream = env.from_collection(values, type_info=typed)
    stream.print()
    stream.map(lambda value: f"{type(value).__name__} {value!r}", Types.STRING()).print()
    env.execute()
