"""A keyed CoProcessFunction that joins two streams through state shared by both inputs, whatever their order.

order: any
"""

from pyflink.common import Types
from pyflink.datastream import KeyedCoProcessFunction, StreamExecutionEnvironment
from pyflink.datastream.state import ListStateDescriptor


class Join(KeyedCoProcessFunction):
    def open(self, runtime_context):
        self.orders = runtime_context.get_list_state(ListStateDescriptor("orders", Types.STRING()))
        self.payments = runtime_context.get_list_state(ListStateDescriptor("payments", Types.INT()))

    def process_element1(self, value, ctx):
        self.orders.add(value[1])
        for amount in self.payments.get():
            yield ctx.get_current_key(), value[1], amount

    def process_element2(self, value, ctx):
        self.payments.add(value[1])
        for order in self.orders:
            yield ctx.get_current_key(), order, value[1]


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
orders = env.from_collection(
    [("ann", "book"), ("bob", "lamp"), ("ann", "pen")],
    type_info=Types.TUPLE([Types.STRING(), Types.STRING()]),
)
payments = env.from_collection(
    [("ann", 12), ("cid", 3), ("bob", 40), ("ann", 2)], type_info=Types.TUPLE([Types.STRING(), Types.INT()])
)
joined = orders.connect(payments).key_by(lambda o: o[0], lambda p: p[0], Types.STRING())
joined.process(Join(), Types.TUPLE([Types.STRING(), Types.STRING(), Types.INT()])).print()
env.execute()
both_keyed = orders.key_by(lambda o: o[0]).connect(payments.key_by(lambda p: p[0]))
both_keyed.process(Join()).print("untyped")
env.execute()
