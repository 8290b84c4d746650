"""sum, min, max, min_by and max_by on values that are no records: only position 0 exists.

order: kept
"""

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([4, 7, 2, 9, 6, 1], type_info=Types.LONG())
keyed = numbers.key_by(lambda n: n % 2 == 0, Types.BOOLEAN())
for name in ("sum", "min", "max", "min_by", "max_by"):
    print(f"-- {name}", flush=True)
    getattr(keyed, name)().print()
    env.execute()
words = env.from_collection(["b", "a", "c"], type_info=Types.STRING())
words.key_by(lambda word: "all", Types.STRING()).sum().print("concatenation")
env.execute()
