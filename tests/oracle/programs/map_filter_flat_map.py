"""map, filter and flat_map: plain functions, lambdas, generators, objects; what each may return.

order: kept
"""

from pyflink.common import Types
from pyflink.datastream import FilterFunction, FlatMapFunction, MapFunction, StreamExecutionEnvironment


class Scale(MapFunction):
    def open(self, runtime_context):
        self.factor = 10

    def map(self, value):
        return value * self.factor


class Repeat(FlatMapFunction):
    def flat_map(self, value):
        for _ in range(value):
            yield value


class Odd(FilterFunction):
    def filter(self, value):
        return value % 2 == 1


def words(line):
    return line.split()


def maybe(value):
    if value > 1:
        yield value
        yield -value


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([0, 1, 2, 3], type_info=Types.INT())
lines = env.from_collection(["to be", "", "or not"], type_info=Types.STRING())


def show(title, stream):
    print(f"-- {title}", flush=True)
    stream.print()
    env.execute()


show("map object", numbers.map(Scale(), Types.INT()))
show("map untyped", numbers.map(lambda n: None if n == 2 else (n, "x")))
show("flat_map object", numbers.flat_map(Repeat(), Types.INT()))
show("flat_map list", lines.flat_map(words, Types.STRING()))
show("flat_map generator", numbers.flat_map(maybe, Types.INT()))
show("flat_map characters", lines.flat_map(lambda line: line[:2], Types.STRING()))
show("flat_map range", numbers.flat_map(lambda n: range(n), Types.INT()))
show("filter object", numbers.filter(Odd()))
show("filter truthy", lines.filter(lambda line: line))
show("filter none", numbers.filter(lambda n: None))
