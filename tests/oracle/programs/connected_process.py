"""A CoProcessFunction without keys: contexts, side outputs, both inputs.

order: any
"""

from pyflink.common import Types
from pyflink.datastream import CoProcessFunction, OutputTag, StreamExecutionEnvironment

tag = OutputTag("odd", Types.STRING())


class Route(CoProcessFunction):
    def process_element1(self, value, ctx):
        if value % 2:
            yield tag, f"odd {value}"
        else:
            yield f"even {value} at {ctx.timestamp()}"

    def process_element2(self, value, ctx):
        return [value.upper(), (tag, value)]


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([1, 2, 3], type_info=Types.INT())
letters = env.from_collection(["x", "y"], type_info=Types.STRING())
routed = numbers.connect(letters).process(Route(), Types.STRING())
routed.print("main")
routed.get_side_output(tag).print("side")
env.execute()
