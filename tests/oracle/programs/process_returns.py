"""What process_element may return: a generator, a list, a tuple, a set of one, nothing.

order: kept
"""

from pyflink.common import Types
from pyflink.datastream import ProcessFunction, StreamExecutionEnvironment


class Returns(ProcessFunction):
    def process_element(self, value, ctx):
        if value == 0:
            return None
        if value == 1:
            return ["list", "of two"]
        if value == 2:
            return ("tuple", "is iterated")
        if value == 3:
            return (part for part in ("a", "generator"))
        if value == 4:
            return []
        if value == 5:
            return "str"
        return {"key": "of dict"}


class Yields(ProcessFunction):
    def process_element(self, value, ctx):
        if value % 2:
            yield value, ctx.timestamp()
        yield None


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection(list(range(7)), type_info=Types.INT())
numbers.process(Returns(), Types.STRING()).print()
env.execute()
numbers.process(Yields()).print()
env.execute()
