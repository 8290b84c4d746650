"""connect with a CoMapFunction and a CoFlatMapFunction: None of a map is dropped.

order: any
"""

from pyflink.common import Types
from pyflink.datastream import CoFlatMapFunction, CoMapFunction, StreamExecutionEnvironment


class Label(CoMapFunction):
    def open(self, runtime_context):
        self.left, self.right = "L", "R"

    def map1(self, value):
        return None if value == 2 else f"{self.left}{value}"

    def map2(self, value):
        return f"{self.right}{value}"


class Spread(CoFlatMapFunction):
    def flat_map1(self, value):
        for i in range(value):
            yield f"left {value}.{i}"

    def flat_map2(self, value):
        if value == "x":
            return None
        return [f"right {value}", f"again {value}"]


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([0, 1, 2, 3], type_info=Types.INT())
letters = env.from_collection(["x", "y"], type_info=Types.STRING())
numbers.connect(letters).map(Label(), Types.STRING()).print("map")
env.execute()
numbers.connect(letters).flat_map(Spread(), Types.STRING()).print("flat_map")
env.execute()
numbers.connect(letters).key_by(lambda n: n % 2, lambda s: len(s)).map(Label()).print("keyed")
env.execute()
