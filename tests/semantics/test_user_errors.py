"""What code of a program raises, or returns against its word, is the program's error: operator, line, record."""

from __future__ import annotations

import asyncio
import datetime as dt
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from firesteel.common import Configuration, Time, Types, WatermarkStrategy
from firesteel.common.errors import (
    FiresteelError,
    KeyEncodingError,
    SerializationError,
    TypeMismatchError,
    UserFunctionError,
)
from firesteel.common.watermark_strategy import TimestampAssigner
from firesteel.datastream import (
    AsyncDataStream,
    AsyncFunction,
    DataStream,
    KeyedProcessFunction,
    MapFunction,
    ProcessFunction,
    StreamExecutionEnvironment,
)
from firesteel.datastream.state import ValueStateDescriptor
from firesteel.datastream.window import TumblingEventTimeWindows
from firesteel.testing import ManualClock, executing

ENDINGS = [SystemExit, KeyboardInterrupt, asyncio.CancelledError]
BAD = 3
opened: list[int] = []
"""The attempts in which a function of the running test was opened."""


class Opening(MapFunction):
    """Notes each attempt."""

    def open(self, runtime_context: Any) -> None:
        opened.append(runtime_context.get_attempt_number())

    def map(self, value: Any) -> Any:
        return value


def failing(make: Callable[[DataStream], DataStream]) -> FiresteelError:
    """Run a program over the numbers 0 to 4, with two restarts; return its error."""
    opened.clear()
    options = {
        "restart-strategy.type": "fixed-delay",
        "restart-strategy.fixed-delay.attempts": "2",
        "restart-strategy.fixed-delay.delay": "1 s",
    }
    with executing("process", parallelism=2, clock=ManualClock(1_000_000)):
        configuration = Configuration()
        for name, value in options.items():
            configuration.set_string(name, value)
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(2)
        stream = env.from_collection(list(range(5))).map(Opening()).set_parallelism(1)
        with pytest.raises(FiresteelError) as raised:
            list(make(stream).execute_and_collect())
    assert __file__.rsplit("/", 1)[1] in str(raised.value.who)
    return raised.value


def raising(ending: type[BaseException]) -> Callable[[Any], Any]:
    def call(value: Any) -> Any:
        if value == BAD:
            raise ending("enough")
        return value

    return call


class Processing(ProcessFunction):
    def __init__(self, ending: type[BaseException]) -> None:
        self._call = raising(ending)

    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield self._call(value)


class KeyedProcessing(KeyedProcessFunction):
    process_element = Processing.process_element
    __init__ = Processing.__init__


class OnTimer(KeyedProcessFunction):
    def __init__(self, ending: type[BaseException]) -> None:
        self._call = raising(ending)

    def process_element(self, value: Any, ctx: Any) -> None:
        ctx.timer_service().register_event_time_timer(value)

    def on_timer(self, timestamp: int, ctx: Any) -> None:
        self._call(timestamp)


class InOpen(MapFunction):
    def __init__(self, ending: type[BaseException]) -> None:
        self._ending = ending

    def open(self, runtime_context: Any) -> None:
        raise self._ending("enough")

    def map(self, value: Any) -> Any:
        return value


class Asynchronous(AsyncFunction):
    def __init__(self, ending: type[BaseException]) -> None:
        self._call = raising(ending)

    async def async_invoke(self, value: Any) -> list[Any]:
        await asyncio.sleep(0)
        return [self._call(value)]


def summed(stream: DataStream, ending: type[BaseException]) -> DataStream:
    call = raising(ending)
    return stream.key_by(lambda value: 0).reduce(lambda _left, right: call(right))


def windowed(stream: DataStream, ending: type[BaseException]) -> DataStream:
    call = raising(ending)
    times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp(int))
    keyed = stream.assign_timestamps_and_watermarks(times).key_by(lambda value: 0)
    window = keyed.window(TumblingEventTimeWindows.of(Time.seconds(1)))
    return window.reduce(lambda _left, right: call(right))


PLACES: dict[str, Callable[[DataStream, type[BaseException]], DataStream]] = {
    "map": lambda stream, ending: stream.map(raising(ending)),
    "filter": lambda stream, ending: stream.filter(raising(ending)),
    "flat_map": lambda stream, ending: stream.flat_map(lambda value: [raising(ending)(value)]),
    "process": lambda stream, ending: stream.process(Processing(ending)),
    "keyed process": lambda stream, ending: stream.key_by(lambda value: 0).process(KeyedProcessing(ending)),
    "key_by": lambda stream, ending: stream.key_by(raising(ending)).map(lambda value: value),
    "reduce": summed,
    "window": windowed,
    "async": lambda stream, ending: AsyncDataStream.unordered_wait(
        stream, Asynchronous(ending), Time.seconds(10)
    ),
}


@pytest.mark.parametrize("ending", [*ENDINGS, StopIteration], ids=lambda ending: ending.__name__)
@pytest.mark.parametrize("place", PLACES)
def test_an_exception_that_would_end_a_process_is_one_of_the_function(
    place: str, ending: type[BaseException]
) -> None:
    error = failing(lambda stream: PLACES[place](stream, ending))
    assert type(error) is UserFunctionError
    assert error.got == f"the record {BAD}"
    if ending is not StopIteration:  # Python makes a RuntimeError of it in generators
        assert f"the function raised {ending.__name__}: enough" in str(error)
    assert opened == [0, 1, 2]


@pytest.mark.parametrize("ending", ENDINGS, ids=lambda ending: ending.__name__)
@pytest.mark.parametrize("make", [InOpen, OnTimer])
def test_it_is_so_where_there_is_no_record(make: Any, ending: type[BaseException]) -> None:
    def program(stream: DataStream) -> DataStream:
        if make is InOpen:
            return stream.map(make(ending))
        return stream.key_by(lambda value: 0).process(make(ending))

    error = failing(program)
    assert type(error) is UserFunctionError
    assert f"the function raised {ending.__name__}: enough" in str(error)
    assert opened == [0, 1, 2]


class Stamp(TimestampAssigner):
    def __init__(self, stamp: Callable[[Any], Any]) -> None:
        self._stamp = stamp

    def extract_timestamp(self, value: Any, record_timestamp: int) -> Any:
        return self._stamp(value)


class Index:
    """A number of a type of its own, as those of numpy are."""

    def __init__(self, value: int) -> None:
        self._value = value

    def __index__(self) -> int:
        return self._value


NO_TIMES = {
    "None": (lambda value: None, "got a NoneType: None"),
    "one None": (lambda value: None if value == BAD else value, "got a NoneType: None"),
    "float": (lambda value: value / 2, "got a float: 0.0"),
    "datetime": (
        lambda value: dt.datetime(2020, 1, 1),
        r"got a datetime: datetime.datetime\(2020, 1, 1, 0, 0\)",
    ),
    "str": (str, "got a str: '0'"),
}


@pytest.mark.parametrize("name", NO_TIMES)
def test_a_timestamp_that_is_none(name: str) -> None:
    stamp, got = NO_TIMES[name]
    times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp(stamp))
    error = failing(lambda stream: stream.assign_timestamps_and_watermarks(times))
    assert type(error) is TypeMismatchError
    with pytest.raises(TypeMismatchError, match=f"requires its timestamp assigner to return an int.*{got}"):
        raise error
    assert error.details == f"record: {BAD if name == 'one None' else 0}"
    assert opened == [0]


def test_a_timestamp_may_be_a_number_of_another_library() -> None:
    with executing("process"):
        env = StreamExecutionEnvironment.get_execution_environment()
        times = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Stamp(Index))
        stream = env.from_collection([7]).assign_timestamps_and_watermarks(times).process(Times())
        assert list(stream.execute_and_collect()) == [7]


class Times(ProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[int]:
        assert type(ctx.timestamp()) is int
        yield ctx.timestamp()


class SetsTimer(KeyedProcessFunction):
    def __init__(self, time: Any) -> None:
        self._time = time

    def process_element(self, value: Any, ctx: Any) -> None:
        ctx.timer_service().register_event_time_timer(self._time)


@pytest.mark.parametrize("time", [None, 1.5, dt.datetime(2020, 1, 1)])
def test_a_timer_at_no_time(time: Any) -> None:
    error = failing(lambda stream: stream.key_by(lambda value: 0).process(SetsTimer(time)))
    assert type(error) is TypeMismatchError
    assert f"a timer requires a time as an int, in milliseconds; got a {type(time).__name__}" in str(error)
    assert error.details == "record: 0"
    assert opened == [0]


class Keeps(KeyedProcessFunction):
    """Keeps a value per key."""

    def __init__(self, value_type: Any, make: Callable[[Any], Any]) -> None:
        self._type, self._make = value_type, make

    def open(self, runtime_context: Any) -> None:
        self._state = runtime_context.get_state(ValueStateDescriptor("kept", self._type))

    def process_element(self, value: Any, ctx: Any) -> None:
        self._state.update(self._make(value))


class Refuses:
    """Cannot be pickled, and says so with an exception of its own."""

    def __reduce__(self) -> Any:
        raise ValueError("not me")


def lock(value: Any) -> Any:
    return threading.Lock() if value == BAD else value


def refuses(value: Any) -> Any:
    return Refuses() if value == BAD else value


@pytest.mark.parametrize("make", [lock, refuses])
def test_a_value_that_cannot_be_pickled(make: Callable[[Any], Any]) -> None:
    programs: list[Callable[[DataStream], DataStream]] = [
        lambda stream: stream.map(make),
        lambda stream: stream.flat_map(lambda value: [make(value)]),
        lambda stream: stream.map(lambda value: (value, make(value))).rebalance(),
    ]
    for program in programs:
        error = failing(program)
        assert type(error) is SerializationError
        assert "so each must be picklable; got a " in str(error)
        assert error.details == f"record: {BAD}"
        assert opened == [0]


@pytest.mark.parametrize("make", [lock, refuses])
def test_a_state_that_cannot_be_pickled(make: Callable[[Any], Any]) -> None:
    error = failing(lambda stream: stream.key_by(lambda value: 0).process(Keeps(None, lambda _: make(BAD))))
    assert isinstance(error, SerializationError)
    assert "state 'kept'" in str(error)
    assert opened == [0]


MISFITS: dict[str, Callable[[DataStream], DataStream]] = {
    "map": lambda stream: stream.map(lambda value: "x" if value == BAD else value, Types.INT()),
    "flat_map": lambda stream: stream.flat_map(lambda value: ["x" if value == BAD else value], Types.INT()),
    "process": lambda stream: stream.key_by(lambda value: 0).process(Strings(), Types.INT()),
    "key": lambda stream: stream.key_by(lambda value: "x" if value == BAD else value, Types.INT()).map(str),
    "state": lambda stream: stream.key_by(lambda value: 0).process(
        Keeps(Types.INT(), lambda value: "x" if value == BAD else value)
    ),
}


class Strings(KeyedProcessFunction):
    def process_element(self, value: Any, ctx: Any) -> Iterator[Any]:
        yield "x" if value == BAD else value


@pytest.mark.parametrize("name", MISFITS)
def test_a_value_that_does_not_fit_its_type(name: str) -> None:
    error = failing(MISFITS[name])
    assert type(error) is TypeMismatchError
    assert "'x'" in str(error)
    if name != "state":
        assert error.details == f"record: {BAD}"
    assert opened == [0]


def test_a_key_that_cannot_be_one_is_not_tried_again() -> None:
    error = failing(lambda stream: stream.key_by(lambda value: object()).map(str))
    assert type(error) is KeyEncodingError
    assert opened == [0]


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
@pytest.mark.parametrize("ending", [SystemExit, KeyboardInterrupt])
def test_on_spark_the_worker_lives_on(ending: type[BaseException]) -> None:
    with executing("spark", parallelism=2):
        env = StreamExecutionEnvironment.get_execution_environment()
        env.set_parallelism(2)
        with pytest.raises(
            UserFunctionError, match=f"the function raised {ending.__name__}: enough"
        ) as raised:
            list(env.from_collection(list(range(5))).map(raising(ending)).execute_and_collect())
    assert raised.value.got == f"the record {BAD}"
