"""Asynchronous enrichment: looks up the customer of each order in a slow service, many at a time, results in order.

    python examples/async_enrichment.py

The function calls a stand-in for a service; with an asynchronous database client it looks the same.
"""

from __future__ import annotations

import asyncio

from firesteel.common import Time, Types
from firesteel.datastream import AsyncDataStream, AsyncFunction, StreamExecutionEnvironment

CUSTOMERS = {1: "Ann", 2: "Bea"}
Order = tuple[int, str]


class FindCustomer(AsyncFunction):
    async def async_invoke(self, value: Order) -> list[str]:
        number, item = value
        await asyncio.sleep(0.05)  # the service takes its time
        return [f"{CUSTOMERS.get(number, 'somebody')} ordered {item}"]

    def timeout(self, value: Order) -> list[str]:
        return [f"customer {value[0]} ordered {value[1]}"]


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
orders = env.from_collection([(1, "tea"), (2, "jam"), (3, "milk"), (1, "bread")])
AsyncDataStream.ordered_wait(orders, FindCustomer(), Time.seconds(10), 100, Types.STRING()).print()
env.execute("orders with names")
