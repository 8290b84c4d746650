"""A result that may not be available yet (Java: java.util.concurrent.CompletableFuture)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from threading import Thread
from typing import Any

from firesteel.common.signals import result_of

__all__ = ["CompletableFuture"]


class CompletableFuture:
    """The future of an asynchronous call; its result is passed through `py_class` if you give one.

    >>> CompletableFuture.completed(3).result()
    3
    """

    def __init__(self, future: Future[Any], py_class: Callable[[Any], Any] | None = None) -> None:
        self._future = future
        self._py_class = py_class

    @staticmethod
    def completed(value: Any) -> CompletableFuture:
        """Return a future that already has its result."""
        future: Future[Any] = Future()
        future.set_result(value)
        return CompletableFuture(future)

    @staticmethod
    def of(call: Callable[[], Any], name: str = "firesteel-future") -> CompletableFuture:
        """Return a future for what `call` returns or raises, in a thread that does not keep the program alive."""
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
        """Cancel the future unless its work has begun; return whether it is now cancelled."""
        return self._future.cancel()

    def cancelled(self) -> bool:
        """Return whether the future was cancelled before it had a result."""
        return self._future.cancelled()

    def done(self) -> bool:
        """Return whether there is a result or an error, or the future was cancelled."""
        return self._future.done()

    def result(self) -> Any:
        """Wait for the result and return it. Raises the call's error, or CancelledError if it was cancelled."""
        value = result_of(self._future)
        return value if self._py_class is None else self._py_class(value)

    def exception(self) -> BaseException | None:
        """Return the error if there is one by now, else None."""
        if not self._future.done():
            return None
        try:
            return self._future.exception()
        except CancelledError as error:
            return error

    def __str__(self) -> str:
        state = "cancelled" if self.cancelled() else "completed" if self.done() else "not completed"
        return f"CompletableFuture[{state}]"
