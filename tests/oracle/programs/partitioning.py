"""Partitionings: what arrives, and where it is determined, at which subtask.

order: any
prefix: hidden
"""

from pyflink.common import Types
from pyflink.datastream import MapFunction, StreamExecutionEnvironment


class Where(MapFunction):
    def open(self, runtime_context):
        self.here = f"{runtime_context.get_index_of_this_subtask()}/{runtime_context.get_number_of_parallel_subtasks()}"

    def map(self, value):
        return f"{value}@{self.here}"


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
numbers = env.from_collection(list(range(6)), type_info=Types.INT())


def show(title, stream):
    print(f"-- {title}", flush=True)
    stream.print()
    env.execute()


show("rebalance", numbers.rebalance().map(lambda n: n, Types.INT()))
show("shuffle", numbers.shuffle().map(lambda n: n, Types.INT()))
show("rescale", numbers.rescale().map(lambda n: n, Types.INT()))
show("forward", numbers.map(lambda n: n, Types.INT()).forward().map(lambda n: n + 100, Types.INT()))
show("broadcast", numbers.broadcast().map(Where(), Types.STRING()))
show(
    "custom", numbers.partition_custom(lambda key, n: key % n, lambda n: n // 2).map(Where(), Types.STRING())
)
show("to one", numbers.map(Where(), Types.STRING()).set_parallelism(1))
show("non parallel", numbers.rebalance().map(Where(), Types.STRING()).force_non_parallel())
