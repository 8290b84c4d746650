"""EnvironmentSettings: how a TableEnvironment begins (Flink: org.apache.flink.table.api.EnvironmentSettings)."""

from __future__ import annotations

from typing import Final

from firesteel.common.configuration import Configuration
from firesteel.table.catalog.manager import BUILT_IN_CATALOG, BUILT_IN_DATABASE

__all__ = ["EnvironmentSettings"]

MODE: Final = "execution.runtime-mode"


class EnvironmentSettings:
    """The mode, the built-in catalog and database, and options; they cannot be changed later.

    >>> EnvironmentSettings.in_batch_mode().is_streaming_mode()
    False
    """

    class Builder:
        """Collects settings; STREAMING mode unless it is told otherwise."""

        def __init__(self) -> None:
            self._configuration = Configuration()
            self._catalog, self._database = BUILT_IN_CATALOG, BUILT_IN_DATABASE

        def with_configuration(self, config: Configuration) -> EnvironmentSettings.Builder:
            """Add options."""
            self._configuration.add_all(config)
            return self

        def in_batch_mode(self) -> EnvironmentSettings.Builder:
            """Run queries over bounded input, with final rows as results."""
            self._configuration.set_string(MODE, "BATCH")
            return self

        def in_streaming_mode(self) -> EnvironmentSettings.Builder:
            """Run queries that follow their input."""
            self._configuration.set_string(MODE, "STREAMING")
            return self

        def with_built_in_catalog_name(self, built_in_catalog_name: str) -> EnvironmentSettings.Builder:
            """Set the name of the first catalog."""
            self._catalog = built_in_catalog_name
            return self

        def with_built_in_database_name(self, built_in_database_name: str) -> EnvironmentSettings.Builder:
            """Set the name of the first database."""
            self._database = built_in_database_name
            return self

        def build(self) -> EnvironmentSettings:
            """Return the settings."""
            return EnvironmentSettings(self._configuration, self._catalog, self._database)

    def __init__(self, configuration: Configuration, catalog: str, database: str) -> None:
        self._configuration = Configuration(configuration)
        self._catalog, self._database = catalog, database

    def get_built_in_catalog_name(self) -> str:
        """Return the name of the first catalog."""
        return self._catalog

    def get_built_in_database_name(self) -> str:
        """Return the name of the first database."""
        return self._database

    def is_streaming_mode(self) -> bool:
        """Return whether queries follow their input."""
        return self._configuration.get_string(MODE, "streaming").lower() != "batch"

    def get_configuration(self) -> Configuration:
        """Return the options."""
        return self._configuration

    @staticmethod
    def new_instance() -> EnvironmentSettings.Builder:
        """Return a builder."""
        return EnvironmentSettings.Builder()

    @staticmethod
    def in_streaming_mode() -> EnvironmentSettings:
        """Return the settings of STREAMING mode."""
        return EnvironmentSettings.new_instance().in_streaming_mode().build()

    @staticmethod
    def in_batch_mode() -> EnvironmentSettings:
        """Return the settings of BATCH mode."""
        return EnvironmentSettings.new_instance().in_batch_mode().build()
