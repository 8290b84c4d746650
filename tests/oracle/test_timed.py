"""State expires as in Flink: programs that wait for time to pass, run with a clock that is moved by hand.

Flink was recorded with real pauses. Where Firesteel prints another line than PyFlink did, it is listed here, with the
reason.
"""

from __future__ import annotations

import threading
import time
from typing import Final

import pytest

from firesteel.cli.program import Program, run_job
from firesteel.datastream.ambient import Ambient
from firesteel.testing import ManualClock, executing
from tests.oracle.outputs import TIMED, comparison_of, expected_of

OPERATORS: Final = 6
NEVER, RETURN = "NeverReturnExpired", "ReturnExpiredIfNotCleanedUp"
BOTH = ("OnCreateAndWrite", "OnReadAndWrite")

EMPTY_OF_EXPIRED = {
    # Flink's documentation: with NeverReturnExpired "the expired state behaves as if it does not exist anymore, even if
    # it still has to be removed". Flink's isEmpty does not look at the stamps, so its answer depends on what has been
    # removed yet; Firesteel's does not.
    f"{update} {NEVER} {step} is empty, map: False": f"{update} {NEVER} {step} is empty, map: True"
    for update in BOTH
    for step in (13, 47)
}
READ_TWICE = {
    # PyFlink's state server reads twice where the program reads once: it asks a map for `contains` before each `get`,
    # and a list for `get` to see whether it is null. The first read removes what is expired, and the second, of which
    # the program hears, no longer finds it. In Flink itself (TtlMapState, TtlListState) the first read returns it.
    f"{update} {RETURN} {before}": f"{update} {RETURN} {after}"
    for updates, before, after in (
        (BOTH[:1], "03 read, map: [None, None, None]", "03 read, map: [1, None, None]"),
        (BOTH, "08 read, map: [3, None, None]", "08 read, map: [3, 2, None]"),
        (BOTH, "09 contains, map: [False, False, False]", "09 contains, map: [True, False, False]"),
        (BOTH, "16 read, map: [5, None, None]", "16 read, map: [5, 4, None]"),
        (BOTH, "20 read, map: [None, None, None]", "20 read, map: [None, 6, None]"),
        (BOTH[:1], "24 read, map: [None, None, None]", "24 read, map: [7, None, None]"),
        (BOTH[1:], "08 read, list: [3]", "08 read, list: [2, 3]"),
        (BOTH[1:], "16 read, list: [5]", "16 read, list: [4, 5]"),
        (BOTH[1:], "39 items, list: [2]", "39 items, list: [1, 1, 2]"),
        (BOTH[1:], "41 items, list: [3]", "41 items, list: [2, 3]"),
    )
    for update in updates
}
DIFFERENCES = EMPTY_OF_EXPIRED | READ_TWICE


def test_state_expires_as_in_flink(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = ManualClock(1_000_000)
    pauses = []
    sleep = time.sleep

    def pause(seconds: float) -> None:
        """All operators pause after a step, at the same time; time stands still within an epoch."""
        if not threading.current_thread().name.startswith("firesteel-job"):
            sleep(seconds)
            return
        pauses.append(seconds)
        if len(pauses) % OPERATORS == 0:
            clock.advance(round(seconds * 1000))

    monkeypatch.setattr(time, "sleep", pause)
    program = TIMED / "state_ttl.py"
    with executing("process", epoch_records=1, clock=clock):
        exit_code = run_job(Program(program), Ambient(), pyflink=True)
    output, errors = capfd.readouterr()
    assert exit_code == 0, errors
    flink = expected_of(program.name).read_text(encoding="utf-8").splitlines()
    assert not DIFFERENCES.keys() - set(flink)
    expected = sorted(DIFFERENCES.get(line, line) for line in flink)
    assert comparison_of(program).normalise(output).splitlines() == expected
