"""A number sequence source, names, uids, project, chaining hints and a job's result.

order: any
"""

from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource

env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1).set_max_parallelism(16)
print(env.get_parallelism(), env.get_max_parallelism())
sequence = env.from_source(
    NumberSequenceSource(1, 5), WatermarkStrategy.no_watermarks(), "numbers", Types.LONG()
)
named = sequence.map(lambda n: (n, n * n, str(n)), Types.TUPLE([Types.LONG(), Types.LONG(), Types.STRING()]))
named.name("squares").uid("squares-1").set_description("n squared").start_new_chain()
print(named.get_name(), named.get_type())
projected = named.project(2, 0).disable_chaining().slot_sharing_group("default").set_buffer_timeout(100)
print(projected.get_type())
projected.print("projected").name("out").uid("out-1")
named.filter(lambda t: t[0] > 3).print("large")
result = env.execute("a job")
print(type(result).__name__)
sequence.key_by(lambda n: n % 2, Types.LONG()).sum().print()
env.execute_async("another").get_job_execution_result().result()
