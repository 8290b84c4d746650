"""Processes that are measured: what they say, how they fail, and that nothing of them stays."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from bench.part import RunError
from bench.process import sampling, started

PATIENCE_S = 60


def gone(pid: int) -> bool:
    """Whether no process of the session is left."""
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_what_it_writes_is_read() -> None:
    program = "import os, sys; print(os.environ['MORE']); print('two'); print('said', file=sys.stderr)"
    with started("it", ["-c", program], PATIENCE_S, environment={"MORE": "one"}) as process:
        lines = list(process.output)
    assert lines == ["one\n", "two\n"]
    assert process.errors == "said\n"


def test_a_failure_tells_what_was_said() -> None:
    with (
        pytest.raises(RunError, match=r"^it: ended with 3\nread by nobody\n\nsaid$"),
        started(
            "it",
            ["-c", "import sys; print('read by nobody'); sys.stderr.write('said'); sys.exit(3)"],
            PATIENCE_S,
        ),
    ):
        pass


def test_one_that_takes_too_long_is_killed_with_those_it_started() -> None:
    """Whoever is left would hold the pipe that is read to its end here."""
    waiting = "import signal; signal.pause()"
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', '{waiting}'])"
    with (
        pytest.raises(RunError, match=r"^it: took more than 0.5 s$"),
        started("it", ["-c", program], 0.5) as process,
    ):
        process.output.read()


def test_it_ends_when_the_one_who_waits_is_interrupted() -> None:
    with (
        pytest.raises(KeyboardInterrupt),
        started("it", ["-c", "import signal; signal.pause()"], PATIENCE_S) as process,
    ):
        signal.raise_signal(signal.SIGINT)
    assert gone(process.pid)


def test_what_looking_raises_is_raised_where_the_context_is_left() -> None:
    looked = threading.Event()

    def look() -> None:
        looked.set()
        raise RunError("nothing to see")

    with pytest.raises(RunError, match="nothing to see"), sampling(look, 0.001):
        assert looked.wait(PATIENCE_S)
