"""Broadcast state: rules that arrive while the job runs reach every subtask, and apply to all payments.

    python examples/broadcast_rules.py

The rules are a separate stream. Each subtask of the payments has all rules, in state that only the broadcast side can
change.
"""

from __future__ import annotations

from collections.abc import Iterator

from firesteel.common import Types
from firesteel.datastream import StreamExecutionEnvironment
from firesteel.datastream.functions import BroadcastProcessFunction
from firesteel.datastream.state import MapStateDescriptor

RULES = MapStateDescriptor("limits", Types.STRING(), Types.INT())
Rule = tuple[str, int]
Payment = tuple[str, str, int]


class Check(BroadcastProcessFunction):
    def process_broadcast_element(self, value: Rule, ctx: BroadcastProcessFunction.Context) -> None:
        country, limit = value
        ctx.get_broadcast_state(RULES).put(country, limit)

    def process_element(self, value: Payment, ctx: BroadcastProcessFunction.ReadOnlyContext) -> Iterator[str]:
        name, country, amount = value
        limit = ctx.get_broadcast_state(RULES).get(country)
        if limit is not None and amount > limit:
            yield f"{name} paid {amount} in {country}, where the limit is {limit}"


env = StreamExecutionEnvironment.get_execution_environment()
env.set_parallelism(2)
rules = env.from_collection([("FR", 500), ("DE", 300)]).broadcast(RULES)
payments = env.from_collection(
    [("Ann", "DE", 250), ("Bea", "FR", 501), ("Cem", "IT", 900), ("Dan", "DE", 301)]
)
payments.rebalance().connect(rules).process(Check()).print()
env.execute("payments above a limit")
