"""A job to look at: orders and refunds, users of whom one spends more than all others, and an operator that is slow.

A file `poison` in the first directory makes it fail once.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from firesteel.common import Configuration, Duration, Encoder, Time, Types, WatermarkStrategy
from firesteel.common.watermark_strategy import TimestampAssigner
from firesteel.datastream import KeyedProcessFunction, StreamExecutionEnvironment
from firesteel.datastream.connectors.file_system import FileSink, RollingPolicy
from firesteel.datastream.connectors.number_seq import NumberSequenceSource
from firesteel.datastream.state import MapStateDescriptor, ValueStateDescriptor
from firesteel.datastream.window import TumblingEventTimeWindows

PRODUCTS = ("lamp", "desk", "chair", "shelf", "rug")
COUNTRIES = ("AT", "DE", "FR", "IT", "PT", "SE")
MOST_USERS = 400
BIG = 900
ORDER = Types.TUPLE([Types.STRING(), Types.STRING(), Types.STRING(), Types.INT(), Types.LONG()])


def order_of(number):
    user = 7 if number % 3 == 0 else number * 7919 % MOST_USERS
    price = 10 + number * 31 % 990
    country = COUNTRIES[number % len(COUNTRIES)]
    return f"user{user}", PRODUCTS[number % len(PRODUCTS)], country, price, int(time.time() * 1000)


def refund_of(number):
    user, product, country, price, at = order_of(number * 5)
    return user, product, country, -price, at


def checked(poison):
    def check(order):
        if poison.exists():
            poison.unlink(missing_ok=True)  # several tasks may find it at once
            raise ValueError(f"an order without a user: {order[0]}")
        return order

    return check


class OrderTime(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[4]


class Spend(KeyedProcessFunction):
    """What each user has spent, by product."""

    def open(self, runtime_context):
        self.total = runtime_context.get_state(ValueStateDescriptor("total", Types.LONG()))
        self.products = runtime_context.get_map_state(
            MapStateDescriptor("by product", Types.STRING(), Types.LONG())
        )

    def process_element(self, value, ctx):
        user, product, _, price, _ = value
        self.total.update((self.total.value() or 0) + price)
        self.products.put(product, (self.products.get(product) or 0) + price)
        look_up_rating()
        if price > BIG:
            yield f"{user} {price} {self.total.value()}"


def look_up_rating():
    time.sleep(0.0005)


def lines_to(directory):
    sink = FileSink.for_row_format(str(directory), Encoder.simple_string_encoder())
    return sink.with_rolling_policy(RollingPolicy.on_checkpoint_rolling_policy()).build()


def main():
    taken, put, name = sys.argv[1:]
    options = {
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "3",
        "firesteel.epoch.max-records": "2000",  # else the first epochs, of which no cost is known yet, take long
    }
    env = StreamExecutionEnvironment.get_execution_environment(Configuration.from_dict(options))
    no_time = WatermarkStrategy.no_watermarks()
    orders = env.from_source(NumberSequenceSource(0, 10**9), no_time, "orders", Types.LONG()).map(
        order_of, ORDER
    )
    refunds = env.from_source(NumberSequenceSource(0, 10**9), no_time, "refunds", Types.LONG())
    refunds = refunds.filter(lambda number: number % 10 == 0).map(refund_of, ORDER).name("as refunds")
    event_time = WatermarkStrategy.for_bounded_out_of_orderness(Duration.of_seconds(1))
    event_time = event_time.with_timestamp_assigner(OrderTime())
    bookings = (
        orders.name("as orders").union(refunds).map(checked(Path(taken) / "poison"), ORDER).name("check")
    )
    bookings = bookings.assign_timestamps_and_watermarks(event_time).name("event time")
    spent = (
        bookings.key_by(lambda order: order[0]).process(Spend(), Types.STRING()).name("spend").uid("spend")
    )
    spent.sink_to(lines_to(Path(put) / "big")).name("big orders")
    sales = bookings.key_by(lambda order: order[2]).window(TumblingEventTimeWindows.of(Time.seconds(5)))
    sales = sales.reduce(lambda one, other: (*one[:3], one[3] + other[3], other[4])).name("sales by country")
    sales.map(str, Types.STRING()).name("as text").sink_to(lines_to(Path(put) / "sales")).name("sales")
    env.execute(name)


if __name__ == "__main__":
    main()
