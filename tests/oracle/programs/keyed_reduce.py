"""reduce on a keyed stream emits the running result of a key, also for its first element.

order: kept
"""

from pyflink.common import Types
from pyflink.datastream import ReduceFunction, StreamExecutionEnvironment


class Longest(ReduceFunction):
    def reduce(self, value1, value2):
        return value2 if len(value2) > len(value1) else value1


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
pairs = env.from_collection(
    [("a", 1), ("b", 10), ("a", 2), ("a", 3), ("b", 20)], type_info=Types.TUPLE([Types.STRING(), Types.INT()])
)
pairs.key_by(lambda pair: pair[0], key_type=Types.STRING()).reduce(lambda a, b: (a[0], a[1] + b[1])).print(
    "sum"
)
env.execute()

words = env.from_collection(["to", "tea", "be", "ten", "better", "two"])
words.key_by(lambda word: word[0]).reduce(Longest()).print()
env.execute()
