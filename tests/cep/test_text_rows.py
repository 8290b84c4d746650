"""The rows that texts of patterns select: their types, in tables, of partial matches, of streams of several types."""

from __future__ import annotations

from decimal import Decimal

import pytest

from firesteel.cep import CEP
from firesteel.common import Row, Types, WatermarkStrategy
from firesteel.common.errors import ProgramError
from firesteel.common.watermark_strategy import TimestampAssigner
from firesteel.datastream import OutputTag, StreamExecutionEnvironment
from firesteel.datastream.functions import ProcessFunction
from firesteel.table import StreamTableEnvironment
from tests.cep.texts import Thing, of_text

ORDER = Types.ROW_NAMED(
    ["id", "price", "amount", "rate", "note", "at", "place"],
    [
        Types.STRING(),
        Types.INT(),
        Types.BIG_DEC(),
        Types.DOUBLE(),
        Types.PICKLED_BYTE_ARRAY(),
        Types.LONG(),
        Types.ROW_NAMED(["city"], [Types.STRING()]),
    ],
)
TYPES = {
    "x.id": Types.STRING(),
    "x.price": Types.INT(),
    "x.place.city": Types.STRING(),
    "x.place": Types.ROW_NAMED(["city"], [Types.STRING()]),
    "x": ORDER,
    "y": Types.LIST(ORDER),
    "last(y)": ORDER,
    "first(y.amount)": Types.BIG_DEC(),
    "list(y.price)": Types.LIST(Types.INT()),
    "count(y)": Types.LONG(),
    "sum(y.price)": Types.LONG(),
    "sum(y.amount)": Types.BIG_DEC(),
    "sum(y.rate)": Types.DOUBLE(),
    "avg(y.price)": Types.DOUBLE(),
    "avg(y.amount)": Types.BIG_DEC(),
    "max(y.price)": Types.INT(),
    "x.price + 1": Types.LONG(),
    "x.price / 2": Types.DOUBLE(),
    "x.price * x.rate": Types.DOUBLE(),
    "x.amount - x.price": Types.BIG_DEC(),
    "x.amount * x.rate": None,
    "-x.price": Types.LONG(),
    "x.id || '!'": Types.STRING(),
    "x.price > 3 and x.id is null": Types.BOOLEAN(),
    "upper(x.id)": Types.STRING(),
    "length(x.id)": Types.LONG(),
    "sqrt(x.price)": Types.DOUBLE(),
    "abs(x.price)": Types.LONG(),
    "round(x.rate)": Types.LONG(),
    "coalesce(x.id, 'none')": Types.STRING(),
    "coalesce(x.price, 0.5)": Types.DOUBLE(),
    "coalesce(x.price, 'none')": None,
    "x.note": None,
    "3": Types.LONG(),
    "0.5": Types.DOUBLE(),
    "'a'": Types.STRING(),
    "true": Types.BOOLEAN(),
    "null": None,
    ":n": Types.BIG_DEC(),
    ":n + 1": Types.BIG_DEC(),
    "99999999999999999999": Types.BIG_INT(),
}


@pytest.mark.parametrize("expression", TYPES)
def test_a_column_has_the_type_of_its_expression(expression):
    text = f"select {expression} as c, 'x' as known from every x = Event -> y = Event+"
    parameters = {"n": Decimal(1)} if ":n" in expression else {}
    row = of_text(text, parameters, event=ORDER).row_type
    assert row.get_field_names() == ["c", "known"]
    assert row.get_field_types() == [TYPES[expression] or Types.PICKLED_BYTE_ARRAY(), Types.STRING()]


def test_rows_of_streams_without_types_have_none():
    assert of_text("select x.id from every x = Event").row_type is None
    assert of_text("select * from every x = Event", event=Types.PICKLED_BYTE_ARRAY()).row_type is None


def test_all_steps_have_the_type_of_the_event():
    row = of_text(
        "select * from every x = Event -> y = Event{2} -> Event", event=Types.TUPLE([Types.INT()])
    ).row_type
    assert row.get_field_names() == ["x", "y"]
    assert row.get_field_types() == [Types.TUPLE([Types.INT()]), Types.LIST(Types.TUPLE([Types.INT()]))]


PRICES = [
    ("tea", 120, 1_000),
    ("tea", 45, 2_000),
    ("cup", 110, 2_500),
    ("tea", 40, 3_000),
    ("cup", 30, 14_000),
]
PRICE = Types.ROW_NAMED(["shop", "price", "at"], [Types.STRING(), Types.INT(), Types.LONG()])
DROPS = """
    select high.shop, high.price - last(low.price) as fall, list(low.price) as lows
    from every high = Event(price > 100) -> low = Event(price < 50){1,2} -> Event(price < 50)
    within 10 seconds partition by shop
"""


class Third(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value[2]


def prices(env, rows=PRICES, type_info=PRICE):
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Third())
    stream = env.from_collection(rows, type_info).set_parallelism(1)
    return stream.assign_timestamps_and_watermarks(strategy)


def environment():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(2)
    return env


def test_rows_are_what_their_type_says():
    found = CEP.pattern_text(prices(environment()), DROPS).rows()
    assert str(found.get_type()) == "RowTypeInfo(shop: String, fall: Long, lows: ListTypeInfo<Integer>)"
    assert [*found.execute_and_collect()] == [Row(shop="tea", fall=75, lows=[45])]


def test_rows_go_into_tables():
    env = environment()
    tables = StreamTableEnvironment.create(env)
    found = CEP.pattern_text(prices(env), DROPS).rows()
    tables.create_temporary_view("drops", found)
    result = tables.sql_query(
        "SELECT shop, SUM(fall) AS fall, SUM(CARDINALITY(lows)) FROM drops GROUP BY shop"
    )
    assert [tuple(row) for row in result.execute().collect()] == [("tea", 75, 1)]


def test_partial_matches_without_time_give_rows_of_the_same_columns():
    matches = CEP.pattern_text(prices(environment()), DROPS)
    late = OutputTag("late", matches.row_type)
    found = matches.rows(timed_out=late)
    rows = [*found.union(found.get_side_output(late)).execute_and_collect()]
    assert sorted(rows, key=repr) == [
        Row(shop="cup", fall=None, lows=[]),
        Row(shop="tea", fall=75, lows=[45]),
        Row(shop="tea", fall=80, lows=[45, 40]),
    ]


def test_rows_of_partial_matches_have_the_time_at_which_it_ran_out():
    late = OutputTag("late")
    text = """
        select a.shop from every a = Event(price > 100) -> b = Event(price = 30) within 10 seconds partition by shop
    """

    class Times(ProcessFunction):
        def process_element(self, value, ctx):
            yield value.shop, ctx.timestamp()

    found = CEP.pattern_text(prices(environment()), text).rows(timed_out=late)
    times = found.get_side_output(late).process(Times())
    found.print()
    assert sorted(times.execute_and_collect()) == [("cup", 12_500), ("tea", 11_000)]


def test_only_a_tag_says_where_partial_matches_go():
    with pytest.raises(
        ProgramError, match=r"rows \(.*test_text_rows.py:\d+\) requires an OutputTag; got a str: 'late'"
    ):
        CEP.pattern_text(prices(environment()), DROPS).rows(timed_out="late")


class Order(Thing):
    pass


class Payment(Thing):
    pass


UNPAID = """
    select o.id, p.amount from every o = Order(total > 10) -> p = Payment(order = o.id and amount >= o.total)
"""


def test_one_stream_may_have_events_of_several_classes():
    events = [
        Order(id=1, total=20),
        Order(id=2, total=5),
        Payment(order=1, amount=5),
        Payment(order=1, amount=20),
    ]
    stream = environment().from_collection(events).set_parallelism(1)
    found = CEP.pattern_text(stream, UNPAID, types={"Order": Order, "Payment": Payment})
    assert [*found.in_processing_time().rows().execute_and_collect()] == [Row(id=1, amount=20)]


def test_one_stream_may_have_events_whose_field_names_their_type():
    events = [
        {"type": "Order", "id": 1, "total": 20},
        {"type": "Refund", "order": 1, "amount": 99},
        {"type": "Payment", "order": 1, "amount": 20},
    ]
    found = CEP.pattern_text(environment().from_collection(events).set_parallelism(1), UNPAID, kind="type")
    assert [*found.in_processing_time().rows().execute_and_collect()] == [Row(id=1, amount=20)]


def test_a_stream_gives_rows():
    env = StreamExecutionEnvironment.get_execution_environment()
    text = """
        select low.price, high.price - low.price as fall   -- the fall
        from every high = Event(price > :limit) -> low = Event(price < high.price * 0.5)
        within 1 minute 30 seconds
        partition by shop
        after match skip past last event
    """
    prices = [("tea", 120), ("cup", 200), ("tea", 70), ("cup", 150), ("tea", 50), ("cup", 20)]
    events = env.from_collection([{"shop": shop, "price": price} for shop, price in prices])
    found = CEP.pattern_text(events, text, parameters={"limit": 100}).in_processing_time().rows()
    assert sorted(row["fall"] for row in found.execute_and_collect()) == [70, 180]


BOUGHT = "select a from every a = Event(price = 1) "


def test_a_text_whose_state_only_grows_is_warned_of_in_its_own_words(caplog):
    def warnings_of(steps):
        caplog.clear()
        CEP.pattern_text(prices(environment()), BOUGHT + steps).rows()
        return [record.getMessage() for record in caplog.records]

    (warning,) = warnings_of("-> b = Event(price = 2)+")
    assert warning.startswith("CEP.pattern_text (")
    assert "the step 'b' may take events without an end" in warning
    assert "within 10 seconds after the steps, or until (...) or consecutive after the step" in warning
    assert warnings_of("-> b = Event(price = 2)+ within 10 seconds") == []
    assert warnings_of("-> b = Event(price = 2)+ until (price = 3)") == []
    assert warnings_of("-> b = Event(price = 2)+ consecutive") == []
    (warning,) = warnings_of("+ consecutive next b = Event(price = 2)")
    assert "the step 'a' begins the pattern" in warning
    assert "within 10 seconds after the steps, or until (...) or {1,100} after the step" in warning
    assert warnings_of("{1,100} consecutive next b = Event(price = 2)") == []
