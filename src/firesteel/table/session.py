"""A session: its catalogs, its options, and the environment that its jobs run in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from firesteel.common.configuration import Configuration
from firesteel.common.logical_types import ObjectIdentifier
from firesteel.datastream.stream_execution_environment import StreamExecutionEnvironment
from firesteel.relational.tables import ResolvedTable
from firesteel.table.catalog.binding import BoundCatalog
from firesteel.table.catalog.manager import CatalogManager
from firesteel.table.catalog.objects import CatalogObject
from firesteel.table.environment_settings import MODE
from firesteel.table.module import LoadedModule, Module
from firesteel.table.table_config import TableConfig
from firesteel.table.upkeep import Maintainer

PARALLELISM: Final = "table.exec.resource.default-parallelism"
"""The option that goes before 'parallelism.default'; -1 is as if it were not set."""

CORE: Final = "core"
"""The module of the built-in functions."""

Submit = Callable[[str, Mapping[str, str]], None]
"""Makes a job, which somebody else runs, of a compiled plan and the session's options."""


@dataclass
class Session:
    """What the statements of one session share.

    `environment` is that of a program with streams; without it each job has an environment of its own. `modules` are
    the ones in use, of those that are `loaded`; `module_options` are those of LOAD MODULE. `state_names` counts the
    jobs by name. With `submit` the jobs of INSERTs do not run in this process, with a `maintainer` not those that keep
    materialised tables fresh.
    """

    manager: CatalogManager
    environment: StreamExecutionEnvironment | None = None
    config: TableConfig = field(default_factory=lambda: TableConfig(Configuration()))
    modules: list[str] = field(default_factory=lambda: [CORE])
    loaded: dict[str, Module] = field(default_factory=lambda: {CORE: Module(CORE)})
    module_options: dict[str, Mapping[str, str]] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=count)
    state_names: Counter[str] = field(default_factory=Counter)
    submit: Submit | None = None
    maintainer: Maintainer | None = None

    def __post_init__(self) -> None:
        self.defaults = dict(self.config.to_map())
        self.manager.functions.modules = lambda: [
            LoadedModule(name, self.loaded[name], self.module_options.get(name)) for name in self.modules
        ]

    @property
    def streaming(self) -> bool:
        """Whether jobs run in STREAMING mode."""
        return self.config.get(MODE, "streaming").lower() != "batch"

    @property
    def zone(self) -> str:
        """The session's time zone."""
        return self.config.get_local_timezone()

    def unnamed(self, begin: str = "UnnamedTable$") -> ObjectIdentifier:
        """Return a name that nothing has."""
        return self.manager.qualified((f"{begin}{next(self.numbers)}",))

    def job_environment(self) -> StreamExecutionEnvironment:
        """Return the environment of the next job, with the session's options: a new one, or that of the program."""
        environment = self.environment or StreamExecutionEnvironment()
        environment.configure(self.config.get_configuration())
        parallelism = self.config.get(PARALLELISM, "-1")
        if parallelism != "-1":
            environment.configure(Configuration.from_dict({"parallelism.default": parallelism}))
        return environment

    @contextmanager
    def holding(self, found: CatalogObject) -> Iterator[ObjectIdentifier]:
        """Keep a table or a view for a while, instead of a temporary one of its name; its name is the result."""
        temporary = self.manager.temporary
        before = temporary.get(found.identifier)
        self.manager.add(found, temporary=True, replace=True)
        try:
            yield found.identifier
        finally:
            del temporary[found.identifier]
            if before is not None:
                temporary[found.identifier] = before

    def resolved(self, identifier: ObjectIdentifier) -> ResolvedTable | None:
        """Return a table of the catalogs, None if there is none of this name."""
        found = self.catalog.find(identifier)
        return found if isinstance(found, ResolvedTable) else None

    @property
    def catalog(self) -> BoundCatalog:
        """The catalogs as the binder sees them."""
        return BoundCatalog(self.manager)
