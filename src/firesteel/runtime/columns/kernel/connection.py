"""The process's connection to DuckDB, and what is prepared on it.

Contract: there is one connection a process, made when it is needed first, with one thread (Spark runs one task a core).
It reads no file and loads no extension. Whoever uses it holds `LOCK`. A process that was forked makes its own.
"""

from __future__ import annotations

import atexit
import os
import warnings
from threading import RLock
from typing import Any, Final

import duckdb
import pyarrow as pa

from firesteel.runtime.columns.kernel.functions import function_of

LOCK: Final = RLock()

_CONFIGURATION: Final[dict[str, Any]] = {
    "threads": 1,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
}
_SETTINGS: Final = (
    "SET enable_external_access = false",
    "SET enable_progress_bar = false",
    "SET arrow_large_buffer_size = false",
    "SET preserve_insertion_order = true",
    "SET TimeZone = 'UTC'",
)
_ALL: Final = 1 << 30


class Connection:
    """DuckDB in memory, with the functions that statements have needed so far."""

    def __init__(self) -> None:
        self._duckdb: Any = duckdb.connect(":memory:", config=_CONFIGURATION)
        self._functions: set[str] = set()
        self._names = 0
        for setting in _SETTINGS:
            self._duckdb.execute(setting)

    def add_functions(self, names: tuple[str, ...]) -> None:
        """Make vectorised functions known to statements; see `firesteel.runtime.columns.kernel.functions`."""
        for name in names:
            if name in self._functions:
                continue
            function = function_of(name)
            self._duckdb.create_function(
                name,
                function.compute,
                list(function.parameters),
                function.result,
                type="arrow",
                null_handling="special",
                side_effects=not function.deterministic,
            )
            self._functions.add(name)

    def prepare(self, source: object, before: str, after: str) -> str:
        """Prepare the statement ``before`` + the name under which `source` is read + ``after``; return its name."""
        self._names += 1
        name = f"s{self._names}"
        self._duckdb.register(f"in_{name}", source)
        self._duckdb.execute(f"PREPARE {name} AS {before} in_{name}{after}")
        return name

    def release(self, name: str) -> None:
        """Forget a statement and its source."""
        self._duckdb.execute(f"DEALLOCATE {name}")
        self._duckdb.unregister(f"in_{name}")

    def run(self, name: str) -> pa.RecordBatch | None:
        """Return the rows of a prepared statement; None if there are none."""
        with warnings.catch_warnings():  # it recommends an interface that plans the statement at each call
            warnings.simplefilter("ignore", UserWarning)
            self._duckdb.execute(f"EXECUTE {name}")
            rows = self._duckdb.to_arrow_reader(_ALL).read_all()
        parts = rows.combine_chunks().to_batches()
        return parts[0] if parts else None

    def close(self) -> None:
        """Close the connection; statements on it cannot run any more."""
        self._duckdb.close()


_open: Final[dict[int, Connection]] = {}


def connection() -> Connection:
    """Return the process's connection."""
    process = os.getpid()
    found = _open.get(process)
    if found is None:
        _open.clear()
        found = _open[process] = Connection()
    return found


@atexit.register
def _close() -> None:
    found = _open.pop(os.getpid(), None)
    if found is not None:
        found.close()
