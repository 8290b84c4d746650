"""sum, min, max, min_by and max_by on tuples: running results, and which element the other fields come from.

order: kept
"""

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
data = [
    ("a", 3, "first"),
    ("a", 1, "second"),
    ("b", 5, "third"),
    ("a", 1, "fourth"),
    ("a", 7, "fifth"),
    ("b", 5, "sixth"),
]
typed = Types.TUPLE([Types.STRING(), Types.INT(), Types.STRING()])
keyed = env.from_collection(data, type_info=typed).key_by(lambda t: t[0], Types.STRING())
untyped = env.from_collection(data).key_by(lambda t: t[0])
for name in ("sum", "min", "max", "min_by", "max_by"):
    print(f"-- {name}", flush=True)
    getattr(keyed, name)(1).print()
    env.execute()
    getattr(untyped, name)(1).print("untyped")
    env.execute()
