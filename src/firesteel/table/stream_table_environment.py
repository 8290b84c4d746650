"""StreamTableEnvironment: tables and streams in one program."""

from __future__ import annotations

from firesteel.datastream.stream_execution_environment import StreamExecutionEnvironment
from firesteel.table.environment_settings import EnvironmentSettings
from firesteel.table.table_environment import TableEnvironment, new_session

__all__ = ["StreamTableEnvironment"]


class StreamTableEnvironment(TableEnvironment):
    """A session whose jobs run in the environment of a program with streams."""

    @staticmethod
    def create(  # type: ignore[override]
        stream_execution_environment: StreamExecutionEnvironment | None = None,
        environment_settings: EnvironmentSettings | None = None,
    ) -> StreamTableEnvironment:
        """Return a new session."""
        environment = stream_execution_environment or StreamExecutionEnvironment()
        settings = environment_settings or EnvironmentSettings.in_streaming_mode()
        return StreamTableEnvironment(new_session(settings, environment))
