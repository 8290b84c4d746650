"""What a job's drivers have printed and logged: whole, or a part at a time for those who follow it."""

from __future__ import annotations

from typing import Any, Final

from firesteel.rest.calls import PLAIN, Call, Route, Text
from firesteel.rest.records import JobRecord

MOST: Final = 1 << 16
"""The bytes of a part."""

_MOST_DIGITS: Final = 18


def job_log(call: Call) -> Text:
    """What a job's drivers have printed and logged, also after its end."""
    record = call.record()
    return Text(record.log.read_text(errors="replace") if record.log.is_file() else "")


def part(call: Call) -> dict[str, Any]:
    """Whole lines of a job's log, at most 64 KiB: the last ones, those from `after` on, or those that end at `before`.

    The two are places in bytes, such as the `start` and the `end` of another part.
    """
    record = call.record()
    if (end := call.query_number("before", _MOST_DIGITS)) is not None:
        return _part(record, max(0, end - MOST), end, is_start=end <= MOST)
    if (start := call.query_number("after", _MOST_DIGITS)) is not None:
        return _part(record, start, start + MOST, is_start=True)
    size = record.log.stat().st_size if record.log.is_file() else 0
    return _part(record, max(0, size - MOST), size, is_start=size <= MOST)


def _part(record: JobRecord, start: int, end: int, *, is_start: bool) -> dict[str, Any]:
    """Return the lines between two places; `is_start` is whether the first of them begins a line.

    A line that is longer than a part comes in pieces. One that has no end yet comes later, or when the job has ended.
    """
    data = b""
    if record.log.is_file():
        with record.log.open("rb") as file:
            file.seek(start)
            data = file.read(end - start)
    if not is_start and b"\n" in data:
        skipped = data.index(b"\n") + 1
        start, data = start + skipped, data[skipped:]
    whole = data.rfind(b"\n") + 1
    if whole < len(data):
        is_last = len(data) < end - start
        if record.outcome() is None if is_last else whole > 0:
            data = data[:whole]
    return {"start": start, "end": start + len(data), "text": data.decode(errors="replace")}


ROUTES: Final = (
    Route("GET", "/jobs/:jobid/log", job_log, produces=(PLAIN,)),
    Route("GET", "/jobs/:jobid/log/part", part, query=("after", "before")),
)
