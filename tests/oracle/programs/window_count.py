"""Count windows, tumbling and sliding: a window that is not full at the end of the input does not fire.

order: kept
"""

from pyflink.common import Types
from pyflink.datastream import ProcessWindowFunction, StreamExecutionEnvironment
from pyflink.datastream.window import CountTrigger, CountTumblingWindowAssigner, GlobalWindows, PurgingTrigger


class Numbers(ProcessWindowFunction):
    def process(self, key, context, elements):
        yield key, [value[1] for value in elements]


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
data = [("a" if i % 3 else "b", i) for i in range(14)]
stream = env.from_collection(data, type_info=Types.TUPLE([Types.STRING(), Types.INT()]))
keyed = stream.key_by(lambda v: v[0], Types.STRING())


def show(title, result):
    print(f"-- {title}", flush=True)
    result.print()
    env.execute()


show("tumbling", keyed.count_window(3).process(Numbers()))
show("sliding", keyed.count_window(4, 2).process(Numbers()))
show("sliding wide", keyed.count_window(2, 3).process(Numbers()))
show("tumbling reduce", keyed.count_window(2).reduce(lambda a, b: (a[0], a[1] + b[1])))
show(
    "global purging",
    keyed.window(GlobalWindows.create()).trigger(PurgingTrigger.of(CountTrigger.of(3))).process(Numbers()),
)
show("global keeping", keyed.window(GlobalWindows.create()).trigger(CountTrigger.of(3)).process(Numbers()))
show("global never", keyed.window(GlobalWindows.create()).process(Numbers()))
show("all", stream.window_all(CountTumblingWindowAssigner.of(5)).reduce(lambda a, b: ("all", a[1] + b[1])))
