"""Side outputs: lines that cannot be read go to a separate stream, with the reason.

python examples/side_outputs.py
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from firesteel.common import Types
from firesteel.datastream import OutputTag, StreamExecutionEnvironment
from firesteel.datastream.functions import ProcessFunction

LINES = ['{"item": "tea", "price": 3}', "not json", '{"item": "milk"}', '{"item": "jam", "price": 4}']
UNREADABLE = OutputTag("unreadable", Types.STRING())


class Parse(ProcessFunction):
    def process_element(self, value: str, ctx: ProcessFunction.Context) -> Iterator[Any]:
        try:
            order = json.loads(value)
            yield f"{order['item']} costs {order['price']}"
        except (ValueError, KeyError) as error:
            yield UNREADABLE, f"{value!r}: {type(error).__name__}"


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(1)
orders = env.from_collection(LINES, Types.STRING()).process(Parse(), Types.STRING())
orders.print("orders")
orders.get_side_output(UNREADABLE).print("unreadable")
env.execute("orders and what is none")
