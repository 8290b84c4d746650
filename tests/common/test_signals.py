"""Ctrl-C and SIGTERM, wherever they strike."""

from __future__ import annotations

import dis
import gc
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from types import FrameType
from typing import Any

import pytest

from firesteel.common.signals import _held, holding_signals, patiently, result_of
from firesteel.connectors.collect import CollectBuffer

WAIT_S = 60


def interrupted(step: int, call: Callable[[], object]) -> bool:
    """Send Ctrl-C at the step `step` of `call` of those at which Python looks for signals; return whether there is one.

    These follow a call, a jump backwards, and the beginning of a function.
    """
    steps, last = 0, ""

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal steps, last
        frame.f_trace_opcodes = True
        if event == "opcode":
            looks = last.startswith(("CALL", "JUMP_BACKWARD", "RESUME"))
            last = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            steps += looks
            if looks and steps == step:
                signal.raise_signal(signal.SIGINT)
        return trace

    tracing = sys.gettrace()
    gc.disable()  # what it calls in between would be steps, too, and loses the signal
    try:
        sys.settrace(trace)
        call()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(tracing)
        gc.enable()
    return steps >= step


def done_elsewhere(call: Callable[[], object]) -> bool:
    """Whether another thread is through with `call`, rather than waiting for a lock."""
    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(WAIT_S)
    return not thread.is_alive()


def waits() -> dict[str, Callable[[], tuple[Callable[[], object], Callable[[], object]]]]:
    """What the main thread does, beside what another thread must be able to do after a signal in it."""

    def event() -> tuple[Callable[[], object], Callable[[], object]]:
        event = threading.Event()
        return lambda: patiently(event.wait, 0.0), event.set

    def future() -> tuple[Callable[[], object], Callable[[], object]]:
        future: Future[int] = Future()
        future.set_result(1)
        return lambda: result_of(future), lambda: future.add_done_callback(lambda _: None)

    def values() -> tuple[Callable[[], object], Callable[[], object]]:
        buffer = CollectBuffer(capacity=1)
        for value in (1, 2):
            buffer.receive([value])
            held_back = buffer.full
        assert held_back
        return lambda: list(zip(range(2), buffer, strict=False)), lambda: buffer.receive([3])

    def end() -> tuple[Callable[[], object], Callable[[], object]]:
        buffer = CollectBuffer()
        buffer.finish()
        return lambda: list(buffer), lambda: buffer.receive([3])

    def close() -> tuple[Callable[[], object], Callable[[], object]]:
        buffer = CollectBuffer()
        return buffer.close, lambda: buffer.receive([3])

    return {"event": event, "future": future, "values": values, "end": end, "close": close}


@pytest.mark.parametrize("name", waits())
def test_a_signal_at_any_step_leaves_no_lock_taken(name):
    begin = waits()[name]
    step = 1
    while interrupted(step, (parts := begin())[0]):
        assert done_elsewhere(parts[1]), f"a signal at step {step}"
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
        assert not _held.holding
        step += 1
    assert step > 10


@pytest.fixture
def came():
    """The signals that have come to handlers that raise nothing."""
    numbers: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _: numbers.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    yield numbers
    for number, handler in before.items():
        signal.signal(number, handler)


def test_signals_come_in_order_at_the_end_of_the_outermost_block(came):
    with holding_signals():
        with holding_signals():
            signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
        assert came == []
    assert came == [signal.SIGTERM, signal.SIGINT]


def test_a_wait_hands_out_one_signal_that_raises():
    with holding_signals():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                patiently(threading.Event().wait)
        assert not patiently(threading.Event().wait, 0.0)


def test_a_signal_that_comes_just_before_a_wait_ends_it():
    """Python has looked for signals, and goes on to wait for a lock: nothing wakes it."""
    event, calls = threading.Event(), 0

    def wait(seconds: float | None) -> bool:
        nonlocal calls
        calls += 1
        done = event.wait(seconds)
        if calls == 1:
            signal.raise_signal(signal.SIGINT)
        return done

    with pytest.raises(KeyboardInterrupt):
        patiently(wait)
    assert calls == 1


def test_a_signal_that_the_system_ignores_stays_ignored():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with holding_signals():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_wait_ends_in_time():
    assert not patiently(threading.Event().wait, 0.25)
    event = threading.Event()
    threading.Timer(0.01, event.set).start()
    assert patiently(event.wait)


def test_other_threads_wait_as_ever():
    seconds: list[float | None] = []
    assert done_elsewhere(lambda: patiently(lambda timeout: not seconds.append(timeout), 5.0))
    assert seconds == [5.0]
