"""Contracts of connectors as tests for pytest: what every source and every sink must do, whoever has written it.

Describe your system as a `SourceSystem` or a `SinkSystem`, and name it in a class of tests:

    from firesteel.testing.contracts import SinkContract, SinkSystem

    class Shelf(SinkSystem):
        def __init__(self, directory):
            self.directory = directory

        def sink(self):
            return ShelfSink(self.directory)

        def rows(self):
            return [line for path in self.directory.glob("[!.]*") for line in path.read_text().splitlines()]

    class TestShelf(SinkContract):
        def system(self, directory):
            return Shelf(directory)

pytest then runs the contract's tests: ranges read again, jobs of several epochs and parallelisms, a driver that dies at
each kind of step, a change of parallelism, a process that is killed while it commits. The tests need pytest, and no
server but your own. Firesteel's own connectors pass the same tests.
"""

from firesteel.testing.contracts.sinks import SinkContract, SinkSystem
from firesteel.testing.contracts.sources import (
    BadRecordContract,
    ContinuousSourceContract,
    ContinuousSourceSystem,
    SourceContract,
    SourceSystem,
)

__all__ = [
    "BadRecordContract",
    "ContinuousSourceContract",
    "ContinuousSourceSystem",
    "SinkContract",
    "SinkSystem",
    "SourceContract",
    "SourceSystem",
]
