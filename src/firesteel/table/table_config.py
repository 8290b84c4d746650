"""TableConfig: the options of a session."""

from __future__ import annotations

import datetime as dt
import time

from firesteel.common.configuration import Configuration
from firesteel.common.errors import UnsupportedError
from firesteel.common.quantities import duration_ms
from firesteel.common.zones import java_zone
from firesteel.table.known_options import check_option
from firesteel.table.sql_dialect import SqlDialect

__all__ = ["TableConfig"]

ZONE = "table.local-time-zone"
_RETENTION = "table.exec.state.ttl"
_DEFAULT_ZONE = "default"
_PYTHON = "python.executable"
_CODE_LENGTH = "table.generated-code.max-length"


class TableConfig:
    """Options by Flink's keys; they apply to the statements that are executed after they are set.

    >>> config = TableConfig(Configuration()).set("parallelism.default", "2")
    >>> config.get("parallelism.default", "1")
    '2'
    """

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration

    @staticmethod
    def get_default() -> TableConfig:
        """Return a config without any options."""
        return TableConfig(Configuration())

    def get(self, key: str, default_value: str) -> str:
        """Return the value of an option, or the default."""
        return self._configuration.get_string(key, default_value)

    def set(self, key: str, value: str) -> TableConfig:
        """Set an option.

        Raises ConfigurationError for a misspelt name and for values that it cannot take, UnsupportedError for a value
        that would give other answers in Flink.
        """
        check_option(key, value)
        if key == ZONE:
            zone_of(value)
        if key == _RETENTION:
            duration_ms(key, value)
        self._configuration.set_string(key, value)
        return self

    def unset(self, key: str) -> None:
        """Remove an option, so that its default applies again."""
        self._configuration.remove_config(key)

    def to_map(self) -> dict[str, str]:
        """Return all options that are set."""
        return self._configuration.to_dict()

    def get_configuration(self) -> Configuration:
        """Return the options, which you can change."""
        return self._configuration

    def add_configuration(self, configuration: Configuration) -> None:
        """Set options."""
        for key, value in configuration.to_dict().items():
            self.set(key, value)

    def get_python_executable(self) -> str | None:
        """Return the Python that workers run, None if none was set."""
        return self.get(_PYTHON, "") or None

    def set_python_executable(self, python_exec: str) -> None:
        """Set the Python that workers run."""
        self.set(_PYTHON, python_exec)

    def get_local_timezone(self) -> str:
        """Return the session's time zone, that of this machine if none was set."""
        name = self.get(ZONE, _DEFAULT_ZONE)
        return _machine_zone() if name == _DEFAULT_ZONE else name

    def set_local_timezone(self, timezone_id: str) -> None:
        """Set the session's time zone, e.g. Europe/Berlin; raises ConfigurationError for unknown ones."""
        self.set(ZONE, timezone_id)

    def get_idle_state_retention(self) -> dt.timedelta:
        """Return how long state lives after its last change; zero: for ever."""
        return dt.timedelta(milliseconds=duration_ms(_RETENTION, self.get(_RETENTION, "0")))

    def set_idle_state_retention(self, duration: dt.timedelta) -> None:
        """Set how long state lives after its last change; zero: for ever."""
        self.set(_RETENTION, f"{duration // dt.timedelta(milliseconds=1)} ms")

    def get_sql_dialect(self) -> SqlDialect:
        """Return the dialect of statements: Flink's own."""
        return SqlDialect.DEFAULT

    def set_sql_dialect(self, sql_dialect: SqlDialect) -> None:
        """Set the dialect of statements; raises UnsupportedError for that of Hive."""
        if sql_dialect is not SqlDialect.DEFAULT:
            raise UnsupportedError("is not supported", who=str(sql_dialect), hint="write Flink's SQL")

    def get_max_generated_code_length(self) -> int:
        """Return the length at which Flink splits the code that it generates; it shows here only."""
        return int(self.get(_CODE_LENGTH, "4000"))

    def set_max_generated_code_length(self, max_generated_code_length: int) -> None:
        """Set the length at which Flink splits the code that it generates; it shows here only, as none is generated."""
        self.set(_CODE_LENGTH, str(max_generated_code_length))


def zone_of(name: str) -> dt.tzinfo:
    """Return a session's time zone by its name, as Flink accepts it. Raises ConfigurationError for unknown ones.

    >>> str(zone_of("Europe/Berlin")), str(zone_of("GMT+01:30"))
    ('Europe/Berlin', 'UTC+01:30')
    """
    return java_zone(_machine_zone() if name == _DEFAULT_ZONE else name, f"option {ZONE!r}")


def _machine_zone() -> str:
    if not time.timezone and not time.daylight:
        return "UTC"
    local = getattr(dt.datetime.now().astimezone().tzinfo, "key", None)
    return local or _offset_name()


def _offset_name() -> str:
    offset = dt.datetime.now().astimezone().strftime("%z")
    return f"GMT{offset[:3]}:{offset[3:5]}"
