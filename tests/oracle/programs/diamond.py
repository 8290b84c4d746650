"""A graph that forks and joins: two branches of one stream, a union, then keyed sums; several sinks in one job.

order: any
"""

from pyflink.common import Types
from pyflink.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pair = Types.TUPLE([Types.STRING(), Types.INT()])
words = env.from_collection(["a", "bb", "a", "ccc", "bb"], type_info=Types.STRING())
lengths = words.map(lambda word: (word, len(word)), pair)
ones = words.map(lambda word: (word, 1), pair).filter(lambda t: t[0] != "ccc")
joined = lengths.union(ones)
joined.print("joined")
counts = joined.key_by(lambda t: t[0], Types.STRING()).map(lambda t: t[1], Types.INT())
counts.key_by(lambda n: "all", Types.STRING()).map(lambda n: "seen", Types.STRING()).print("seen")
words.key_by(len, Types.INT()).reduce(lambda a, b: a + b).print("reduced")
env.execute()
