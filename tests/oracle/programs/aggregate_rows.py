"""sum, min, max, min_by and max_by on rows, by position and by field name.

order: kept
"""

from pyflink.common import Row, Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
data = [
    Row(id="a", amount=3.5, note="first"),
    Row(id="a", amount=1.25, note="second"),
    Row(id="b", amount=5.0, note="third"),
    Row(id="a", amount=9.0, note="fourth"),
    Row(id="b", amount=4.0, note="fifth"),
]
typed = Types.ROW_NAMED(["id", "amount", "note"], [Types.STRING(), Types.DOUBLE(), Types.STRING()])
keyed = env.from_collection(data, type_info=typed).key_by(lambda row: row.id, Types.STRING())
for name in ("sum", "min", "max", "min_by", "max_by"):
    print(f"-- {name}", flush=True)
    getattr(keyed, name)("amount").print("name")
    env.execute()
    getattr(keyed, name)(1).print("position")
    env.execute()
