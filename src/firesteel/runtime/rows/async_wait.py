"""Asynchronous calls per record (Flink: AsyncWaitOperator).

All calls of a batch end before its results are emitted, so a watermark never overtakes a record, and an epoch never
ends with calls in flight. Ordered results keep the order of the records; unordered results are emitted as they
complete.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from firesteel.common.errors import RecordError
from firesteel.functions.async_functions import AsyncFunction, AsyncRetryStrategy
from firesteel.runtime.batch import RowBatch
from firesteel.runtime.failures import RAISED, summary, user_failure
from firesteel.runtime.operator import OperatorContext
from firesteel.runtime.rows.function import FunctionOperator


class AsyncOperator(FunctionOperator):
    """Keeps at most `capacity` calls in flight; each call, with its retries, gets `timeout` milliseconds."""

    function: AsyncFunction[Any, Any]

    def __init__(
        self,
        function: AsyncFunction[Any, Any],
        timeout: int,
        capacity: int,
        ordered: bool,
        retry_strategy: AsyncRetryStrategy[Any],
    ) -> None:
        super().__init__(function)
        self._timeout = timeout / 1000
        self._capacity = capacity
        self._ordered = ordered
        self._retry = retry_strategy

    def open(self, context: OperatorContext) -> None:
        self._loop = asyncio.new_event_loop()
        super().open(context)

    def process(self, batch: RowBatch, port: int) -> None:
        self._loop.run_until_complete(self._process(batch))
        self.collector.flush()

    def close(self) -> None:
        super().close()
        self._loop.close()

    async def _process(self, batch: RowBatch) -> None:
        slots = asyncio.Semaphore(self._capacity)
        stamps = batch.stamps()

        async def call(position: int) -> int:
            async with slots:
                results[position] = await self._call(batch.values[position])
            return position

        results: list[Any] = [None] * len(batch.values)
        calls = [asyncio.ensure_future(call(position)) for position in range(len(batch.values))]
        try:
            for done in calls if self._ordered else asyncio.as_completed(calls):
                position = await done
                self.emit_all(results[position], stamps[position], "async_invoke()")
                results[position] = None
        finally:
            for pending in calls:
                pending.cancel()

    async def _call(self, value: Any) -> Iterable[Any]:
        """Return the results for a record.

        Only the operator's own limit leads to `timeout()`: a TimeoutError that the function raises is a failure.
        """
        limit = asyncio.timeout(self._timeout)
        try:
            async with limit:
                results = await self._with_retries(value)
        except RAISED as error:
            if _is_cancelled(error):
                raise
            if not limit.expired():
                raise user_failure(error, self.context.who, [value], iter(())) from error
        if limit.expired():
            results = self._timed_out(value)
        return self._checked(results, value)

    def _timed_out(self, value: Any) -> Any:
        if type(self.function).timeout is AsyncFunction.timeout:
            raise RecordError(
                f"requires async_invoke() to answer within {self._timeout:g} s",
                who=self.context.who,
                got=f"no answer for the record {summary(value)}",
                hint="raise the timeout, or override timeout(value) to give a result instead",
            )
        try:
            return self.function.timeout(value)
        except RAISED as error:
            raise user_failure(error, self.context.who, [value], iter(())) from error

    def _checked(self, results: Any, value: Any) -> Iterable[Any]:
        """Raise PyFlink's own error for a result that is not a list (pyflink/fn_execution: ResultHandler)."""
        if isinstance(results, Iterable):
            return results
        problem = "cannot be none" if results is None else "should be of list type"
        raise RecordError(
            "requires async_invoke() and timeout() to return a list",
            who=self.context.who,
            got=f"{summary(results)} for the record {summary(value)}",
            hint=f"The result of AsyncFunction {problem}, please check the methods 'async_invoke' and 'timeout' "
            f"of class '{type(self.function).__name__}'.",
        )

    async def _with_retries(self, value: Any) -> Any:
        predicate = self._retry.get_retry_predicate()
        on_result, on_error = predicate.result_predicate(), predicate.exception_predicate()
        attempt = 1
        while True:
            try:
                result = await self.function.async_invoke(value)
            except Exception as error:
                if on_error is None or not on_error(error) or not self._retry.can_retry(attempt):
                    raise
            else:
                if on_result is None or not on_result(result) or not self._retry.can_retry(attempt):
                    return result
            await asyncio.sleep(self._retry.get_backoff_time_millis(attempt) / 1000)
            attempt += 1


def _is_cancelled(error: BaseException) -> bool:
    """Return whether the operator cancelled this call because another one failed."""
    task = asyncio.current_task()
    return isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling() > 0
