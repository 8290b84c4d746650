"""Asynchronous calls per record."""

from __future__ import annotations

import inspect
from typing import Any

from firesteel.common.errors import ProgramError
from firesteel.common.time import Time
from firesteel.common.typeinfo import TypeInformation
from firesteel.datastream.streams.node_settings import call_site
from firesteel.datastream.streams.plain import DataStream
from firesteel.functions.async_functions import (
    NO_RETRY_STRATEGY,
    AsyncFunction,
    AsyncRetryStrategy,
)
from firesteel.graph.checks import require, shown
from firesteel.graph.operations import AsyncOp

__all__ = ["AsyncDataStream"]


class AsyncDataStream:
    """Applies an AsyncFunction with at most `capacity` calls in flight; each has a `timeout` that includes its retries.

    Ordered: results keep the order of the records. Unordered: results are emitted as they are ready, but do not
    overtake watermarks.
    """

    @staticmethod
    def unordered_wait(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Time,
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Await each record's call; emit results as they are ready."""
        return _add(
            data_stream, async_function, timeout, NO_RETRY_STRATEGY, capacity, output_type, ordered=False
        )

    @staticmethod
    def unordered_wait_with_retry(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Time,
        async_retry_strategy: AsyncRetryStrategy[Any],
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Await each record's call, with retries by the strategy; emit results as they are ready."""
        return _add(
            data_stream, async_function, timeout, async_retry_strategy, capacity, output_type, ordered=False
        )

    @staticmethod
    def ordered_wait(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Time,
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Await each record's call; results keep the order of the records."""
        return _add(
            data_stream, async_function, timeout, NO_RETRY_STRATEGY, capacity, output_type, ordered=True
        )

    @staticmethod
    def ordered_wait_with_retry(
        data_stream: DataStream,
        async_function: AsyncFunction[Any, Any],
        timeout: Time,
        async_retry_strategy: AsyncRetryStrategy[Any],
        capacity: int = 100,
        output_type: TypeInformation | None = None,
    ) -> DataStream:
        """Await each record's call, with retries by the strategy; results keep the order of the records."""
        return _add(
            data_stream, async_function, timeout, async_retry_strategy, capacity, output_type, ordered=True
        )


def _add(
    stream: DataStream,
    function: AsyncFunction[Any, Any],
    timeout: Time,
    strategy: AsyncRetryStrategy[Any],
    capacity: int,
    output_type: TypeInformation | None,
    ordered: bool,
) -> DataStream:
    who = call_site("ordered_wait" if ordered else "unordered_wait")
    require(stream, (DataStream,), who, "pass the stream as the first argument")
    require(function, (AsyncFunction,), who, "subclass AsyncFunction")
    require(timeout, (Time,), who, "write it as Time.seconds(5)")
    require(strategy, (AsyncRetryStrategy,), who, "see AsyncRetryStrategy.fixed_delay(...)")
    if not inspect.iscoroutinefunction(function.async_invoke):
        raise ProgramError(
            "requires an async_invoke that is a coroutine function",
            who=who,
            got=shown(function.async_invoke),
            hint="declare it with 'async def'",
        )
    if strategy is not NO_RETRY_STRATEGY and timeout.to_milliseconds() <= 0:
        raise ProgramError("requires a timeout when there are retries", who=who, got=str(timeout))
    operation = AsyncOp(function, timeout.to_milliseconds(), capacity, ordered, strategy)
    return stream._values()._then(operation, "async wait operator", output_type)
