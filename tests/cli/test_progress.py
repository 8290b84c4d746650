"""What a running job shows."""

from __future__ import annotations

import io
import logging

import pytest
from rich.console import Console

from firesteel.cli.progress import LogDisplay, Progress, TerminalDisplay, describe_epoch
from firesteel.common.time import MAX_WATERMARK, MIN_WATERMARK
from firesteel.control.listeners import EpochStats


class RecordingDisplay:
    first_after = 2.0
    every = 1.0

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.closed = False

    def show(self, line: str) -> None:
        self.lines.append(line)

    def close(self) -> None:
        self.closed = True


class Clock:
    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def epoch(number: int, records: int = 1000, *, finished: bool = False) -> EpochStats:
    return EpochStats(number, records, 0, 500.0, None, None, finished)


def test_short_jobs_show_nothing() -> None:
    display, clock = RecordingDisplay(), Clock()
    progress = Progress(display, clock)
    clock.seconds += 1.9
    progress.on_epoch(epoch(1, finished=True))
    assert display.lines == []
    assert display.closed


def test_epochs_are_shown_at_the_displays_pace() -> None:
    display, clock = RecordingDisplay(), Clock()
    progress = Progress(display, clock)
    for number in range(1, 11):
        clock.seconds += 0.5
        progress.on_epoch(epoch(number))
    assert [line.split(" | ")[0] for line in display.lines] == ["epoch 4", "epoch 6", "epoch 8", "epoch 10"]
    assert display.lines[-1] == "epoch 10 | 10,000 records | 2,000 records/s"


def test_the_rate_is_that_of_the_last_seconds() -> None:
    display, clock = RecordingDisplay(), Clock()
    progress = Progress(display, clock)
    for number in range(1, 31):
        clock.seconds += 1
        progress.on_epoch(epoch(number, 10_000 if number < 20 else 100))
    assert display.lines[-1].endswith("| 100 records/s")


def test_the_next_job_of_a_program_starts_from_zero() -> None:
    display, clock = RecordingDisplay(), Clock()
    progress = Progress(display, clock)
    clock.seconds += 10
    progress.on_epoch(epoch(1, finished=True))
    clock.seconds += 5
    progress.on_epoch(epoch(1, 10))
    assert display.lines[-1] == "epoch 1 | 10 records | 2 records/s"


@pytest.mark.parametrize(
    ("watermark", "lag", "expected"),
    [
        (None, None, "epoch 1 | 5 records | 2 records/s"),
        (MIN_WATERMARK, None, "epoch 1 | 5 records | 2 records/s"),
        (MAX_WATERMARK, None, "epoch 1 | 5 records | 2 records/s | watermark at the end"),
        (0, 90_000, "epoch 1 | 5 records | 2 records/s | watermark 1970-01-01 00:00:00 | lag 90.0 s"),
        (10**17, None, "epoch 1 | 5 records | 2 records/s | watermark 100000000000000000 ms"),
    ],
)
def test_an_epoch_in_one_line(watermark: int | None, lag: int | None, expected: str) -> None:
    assert describe_epoch(EpochStats(1, 5, 5, 1.0, watermark, lag, False), 5, 2.0) == expected


def test_on_a_terminal_the_line_is_drawn_over_and_erased() -> None:
    screen = io.StringIO()
    display = TerminalDisplay(Console(file=screen, force_terminal=True, width=20))
    display.show("epoch 1 | a line longer than the terminal is wide")
    display.show("epoch 2")
    display.close()
    assert "epoch 1 | a line lo…" in screen.getvalue()
    assert screen.getvalue().count("\x1b[2K") >= 2
    display.close()


def test_elsewhere_it_is_a_line_of_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="firesteel.progress"):
        LogDisplay().show("epoch 7")
    assert caplog.messages == ["epoch 7"]
