"""union of several streams, of a stream with itself, and of a keyed stream.

order: any
"""

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pair = Types.TUPLE([Types.STRING(), Types.INT()])
left = env.from_collection([("a", 1), ("b", 2)], type_info=pair)
right = env.from_collection([("a", 3)], type_info=pair)
third = env.from_collection([("c", 4)], type_info=pair)

left.union(right, third).print("three")
env.execute()
left.union(left).print("itself")
env.execute()
left.union(right.key_by(lambda t: t[0])).map(lambda t: t[1] * 10, Types.INT()).print("keyed")
env.execute()
left.union(right, third).key_by(lambda t: t[0]).map(lambda t: t[0], Types.STRING()).print("then keyed")
env.execute()
