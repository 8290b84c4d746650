"""The surroundings of a program: settings from the command line or the shell rather than from its code.

Precedence, lowest first: Firesteel's defaults; the program's settings of its environment; the environment variables
`FIRESTEEL_PARALLELISM`, `FIRESTEEL_MASTER`, `FIRESTEEL_STATE_DIR`, `FIRESTEEL_LOG_FORMAT` and `FIRESTEEL_CONF` (lines
of KEY=VALUE); the `Ambient` that the command line sets for the program it runs. A parallelism set on a single operation
has precedence over all of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from typing import Final

from firesteel.common.errors import ConfigurationError
from firesteel.common.log_formats import LOG_FORMAT, LOG_FORMAT_VARIABLE
from firesteel.control import JobHandle, JobListener, JobSettings
from firesteel.control.clock import Clock
from firesteel.control.launch import ExecutorFactory
from firesteel.graph import Graph

Launcher = Callable[[Graph, JobSettings], JobHandle]
"""The function that `execute` calls: `firesteel.control.launch`, or one that only looks at the graph."""


@dataclass(frozen=True)
class Ambient:
    """Settings that take precedence over the program's own; None for those that are not set.

    `configuration` holds options as a program would pass them to `configure`. `listeners` watch the jobs of the
    program. `launcher` is called in place of `firesteel.control.launch`, `worker_setup` in each worker process before
    anything of the program is unpickled there. `restore_from` and `allow_non_restored_state` are those of
    `JobSettings`. Jobs run on `executor` and use `clock` (None: Spark, the machine's clock); `adapt` may change a job's
    settings last of all.
    """

    parallelism: int | None = None
    master: str | None = None
    state_dir: str | None = None
    configuration: dict[str, str] = field(default_factory=dict)
    listeners: tuple[JobListener, ...] = ()
    launcher: Launcher | None = None
    worker_setup: Callable[[], None] | None = None
    restore_from: str | None = None
    allow_non_restored_state: bool = False
    executor: ExecutorFactory | None = None
    clock: Clock | None = None
    adapt: Callable[[JobSettings], JobSettings] | None = None

    def within(self, outer: Ambient) -> Ambient:
        """Return the settings of a program that this surrounds, with `outer` around it.

        >>> inner, outer = Ambient(parallelism=3), Ambient(parallelism=2, master="local[2]")
        >>> both = inner.within(outer)
        >>> both.parallelism, both.master
        (3, 'local[2]')
        """
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        said = {name: value for name, value in own.items() if value not in (None, (), False)}
        return replace(outer, **{**said, "configuration": {**outer.configuration, **self.configuration}})


_current: Final[ContextVar[Ambient | None]] = ContextVar("ambient", default=None)


@contextmanager
def surrounded_by(ambient: Ambient) -> Iterator[None]:
    """Surround programs that run in this context by `ambient`, and by the surroundings of the context.

    >>> with surrounded_by(Ambient(parallelism=3)):
    ...     current_ambient().parallelism
    3
    """
    token = _current.set(ambient.within(_current.get() or Ambient()))
    try:
        yield
    finally:
        _current.reset(token)


def current_ambient() -> Ambient:
    """Return the current surroundings of the program.

    Raises ConfigurationError for an invalid environment variable.
    """
    shell = Ambient(
        parallelism=_parallelism(os.environ.get("FIRESTEEL_PARALLELISM", "")),
        master=os.environ.get("FIRESTEEL_MASTER") or None,
        state_dir=os.environ.get("FIRESTEEL_STATE_DIR") or None,
        configuration={**_log_format(), **_options(os.environ.get("FIRESTEEL_CONF", ""))},
    )
    return (_current.get() or Ambient()).within(shell)


def _parallelism(text: str) -> int | None:
    if not text:
        return None
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise ConfigurationError(
        "requires a whole number of at least 1", who="FIRESTEEL_PARALLELISM", got=repr(text)
    )


def _log_format() -> dict[str, str]:
    found = os.environ.get(LOG_FORMAT_VARIABLE)
    return {LOG_FORMAT: found} if found else {}


def _options(text: str) -> dict[str, str]:
    options = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        key, equals, value = line.partition("=")
        if not equals:
            raise ConfigurationError("requires lines of KEY=VALUE", who="FIRESTEEL_CONF", got=repr(line))
        options[key.strip()] = value.strip()
    return options
