"""A result that may not be there yet (Java: java.util.concurrent.CompletableFuture)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from threading import Thread
from typing import Any

__all__ = ["CompletableFuture"]


class CompletableFuture:
    """What an asynchronous call returns: a future's result, through `py_class` if one is given.

    >>> CompletableFuture.completed(3).result()
    3
    """

    def __init__(self, future: Future[Any], py_class: Callable[[Any], Any] | None = None) -> None:
        self._future = future
        self._py_class = py_class

    @staticmethod
    def completed(value: Any) -> CompletableFuture:
        """A future that has its result already."""
        future: Future[Any] = Future()
        future.set_result(value)
        return CompletableFuture(future)

    @staticmethod
    def of(call: Callable[[], Any], name: str = "firesteel-future") -> CompletableFuture:
        """A future for what `call` returns or raises; it runs in a thread that does not keep the program alive."""
        future: Future[Any] = Future()

        def run() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(call())
            except BaseException as error:
                future.set_exception(error)

        Thread(target=run, name=name, daemon=True).start()
        return CompletableFuture(future)

    def cancel(self) -> bool:
        """Give the result up if it is not being worked on; whether it is given up now."""
        return self._future.cancel()

    def cancelled(self) -> bool:
        """Whether it was given up before there was a result."""
        return self._future.cancelled()

    def done(self) -> bool:
        """Whether there is a result or an error, or it was given up."""
        return self._future.done()

    def result(self) -> Any:
        """Wait for the result; raises the error if there is one, CancelledError if it was given up."""
        value = self._future.result()
        return value if self._py_class is None else self._py_class(value)

    def exception(self) -> BaseException | None:
        """The error if there is one by now, else None."""
        if not self._future.done():
            return None
        try:
            return self._future.exception()
        except CancelledError as error:
            return error

    def __str__(self) -> str:
        state = "cancelled" if self.cancelled() else "completed" if self.done() else "not completed"
        return f"CompletableFuture[{state}]"
