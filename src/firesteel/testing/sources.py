"""A source that follows a script: records, records with timestamps, and failures at a chosen place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firesteel.functions.source import Boundedness, RecordBatches, Source, Split, Timestamped


@dataclass(frozen=True)
class Fail:
    """Stands for a record: reading it raises `error` the first `times` times, counted in the directory `marks`."""

    error: Exception
    marks: str
    times: int = 1

    def strike(self) -> None:
        """Raise the error, unless it was raised `times` times."""
        directory = Path(self.marks)
        directory.mkdir(parents=True, exist_ok=True)
        struck = len(list(directory.iterdir()))
        if struck < self.times:
            (directory / str(struck)).touch()
            raise self.error


class ScriptedSource(Source[Any]):
    """Reads one split per script, record by record.

    With `timestamped=True` the scripts hold `(value, timestamp)` pairs (milliseconds) and the values are
    emitted with those timestamps. With `bounded=False` the splits never end; they only have nothing more to read.

    >>> list(ScriptedSource(["a", "b"]).read(Split("0", 0, 2, 0), 0, 2))
    [['a'], ['b']]
    """

    def __init__(self, *scripts: Sequence[Any], bounded: bool = True, timestamped: bool = False) -> None:
        self._scripts = [list(script) for script in scripts]
        self._bounded = bounded
        self._timestamped = timestamped

    @property
    def boundedness(self) -> Boundedness:
        """BOUNDED or not, as constructed."""
        return Boundedness.BOUNDED if self._bounded else Boundedness.CONTINUOUS_UNBOUNDED

    def splits(self, known: frozenset[str]) -> Iterable[Split]:
        """Return a split per script."""
        return [
            Split(str(number), 0, len(script) if self._bounded else None, number)
            for number, script in enumerate(self._scripts)
            if str(number) not in known
        ]

    def available(self, split: Split, position: int, now: int) -> int:
        """Return the script's length."""
        return len(self._scripts[split.payload])

    def read(self, split: Split, start: int, end: int) -> RecordBatches[Any]:
        """Yield the script's records one by one; a `Fail` raises instead and yields nothing."""
        for item in self._scripts[split.payload][start:end]:
            if isinstance(item, Fail):
                item.strike()
            elif self._timestamped:
                yield Timestamped([item[0]], [item[1]])
            else:
                yield [item]
        return None
