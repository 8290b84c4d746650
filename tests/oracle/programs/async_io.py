"""Asynchronous functions: ordered and unordered, several results or none, a timeout's own result.

order: any
"""

import asyncio

from pyflink.common import Time, Types
from pyflink.datastream import AsyncDataStream, AsyncFunction, StreamExecutionEnvironment


class Lookup(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(0.01 * (5 - value))
        return [] if value == 2 else [f"{value} found", f"{value} again"]


class Slow(AsyncFunction):
    async def async_invoke(self, value):
        await asyncio.sleep(30 if value == 1 else 0)
        return [value]

    def timeout(self, value):
        return [-value]


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
numbers = env.from_collection([1, 2, 3, 4], type_info=Types.INT())
ordered = AsyncDataStream.ordered_wait(numbers, Lookup(), Time.seconds(20), 2, Types.STRING())
ordered.print("ordered")
unordered = AsyncDataStream.unordered_wait(numbers, Lookup(), Time.seconds(20), 4, Types.STRING())
unordered.print("unordered")
AsyncDataStream.ordered_wait(numbers, Slow(), Time.seconds(1), 4, Types.INT()).print("timeout")
env.execute()
