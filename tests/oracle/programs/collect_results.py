"""execute_and_collect: Python values, a limit, closing early, of typed and untyped streams.

order: kept
"""

import datetime as dt

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection(list(range(5)), type_info=Types.INT())

print(list(numbers.execute_and_collect()))
print(numbers.execute_and_collect(limit=3))
print(numbers.execute_and_collect("a name", 2))
with numbers.map(lambda n: (n, str(n))).execute_and_collect() as results:
    for result in results:
        print(type(result).__name__, result)
cases = [
    (Types.TUPLE([Types.INT(), Types.FLOAT()]), (1, 0.1)),
    (Types.ROW_NAMED(["a", "b"], [Types.STRING(), Types.DOUBLE()]), Row("x", 1.5)),
    (Types.ROW([Types.STRING(), Types.BOOLEAN()]), Row("x", True)),
    (Types.LIST(Types.INT()), [1, 2]),
    (Types.MAP(Types.STRING(), Types.INT()), {"k": 1}),
    (Types.SQL_DATE(), dt.date(2020, 1, 2)),
    (Types.FLOAT(), 0.1),
    (Types.STRING(), "text"),
    (None, {"any": [1, None]}),
]
for typed, value in cases:
    stream = numbers.filter(lambda n: n == 0).map(lambda _, value=value: value, output_type=typed)
    for result in stream.execute_and_collect("types"):
        print(type(result).__name__, repr(result))
