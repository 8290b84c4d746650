"""Process table functions: functions of tables, with state and timers for each set of rows.

Firesteel's own names in Python for Flink's ProcessTableFunction, which PyFlink lacks. Times are milliseconds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Any

from firesteel.functions.changelog_mode import ChangelogMode
from firesteel.functions.user_defined import UserDefinedFunction

__all__ = [
    "ArgumentTrait",
    "ChangelogContext",
    "ChangelogFunction",
    "OnTimerContext",
    "ProcessTableContext",
    "ProcessTableFunction",
    "SortDirection",
    "TableSemantics",
    "TimeContext",
]


class ArgumentTrait(Enum):
    """What a call gives for an argument that is a table."""

    ROW_SEMANTIC_TABLE = "row"
    """Rows, each by itself: there is neither state nor a timer."""

    SET_SEMANTIC_TABLE = "set"
    """Sets of rows with equal values in the columns of PARTITION BY."""

    OPTIONAL_PARTITION_BY = "optional partition"
    """A table as a set may have no PARTITION BY; all its rows are one set then, of one subtask."""

    PASS_COLUMNS_THROUGH = "pass columns through"
    """All columns of the table go before those of the result, not those of PARTITION BY alone; there are no timers."""

    SUPPORT_UPDATES = "support updates"
    """The table may change: rows come with their kinds. Partitioned by its upsert key, it gives new rows of updates."""

    REQUIRE_UPDATE_BEFORE = "require update_before"
    """Of an update both rows come; needs SUPPORT_UPDATES."""

    REQUIRE_FULL_DELETE = "require full delete"
    """A row that goes comes with all its columns, as it always does here; needs SUPPORT_UPDATES."""

    REQUIRE_ON_TIME = "require on_time"
    """The call names the table's time attribute: ``on_time => DESCRIPTOR(ts)``."""

    TABLE_AS_ROW = "row"  # noqa: PIE796 - another name
    """The name of ROW_SEMANTIC_TABLE before Flink 2.2."""

    TABLE_AS_SET = "set"  # noqa: PIE796 - another name
    """The name of SET_SEMANTIC_TABLE before Flink 2.2."""


class SortDirection(Enum):
    """How a column of ORDER BY is sorted."""

    ASC_NULLS_FIRST = "ascending, NULL first"
    ASC_NULLS_LAST = "ascending, NULL last"
    DESC_NULLS_FIRST = "descending, NULL first"
    DESC_NULLS_LAST = "descending, NULL last"


class TableSemantics(ABC):
    """What a call says of a table."""

    @abstractmethod
    def partition_by_columns(self) -> list[int]:
        """Return the places of the columns of PARTITION BY."""

    @abstractmethod
    def order_by_columns(self) -> list[int]:
        """Return the places of the columns of ORDER BY."""

    @abstractmethod
    def order_by_directions(self) -> list[SortDirection]:
        """Return how each column of ORDER BY is sorted."""

    @abstractmethod
    def time_column(self) -> int | None:
        """Return the place of the column of on_time, None without one."""

    @abstractmethod
    def column_names(self) -> list[str]:
        """Return the names of the columns."""

    @abstractmethod
    def changelog_mode(self) -> ChangelogMode:
        """Return which kinds of changes come."""


class TimeContext(ABC):
    """The time of a row or a timer, and the timers of the set.

    A timer fires when the watermark reaches its time, after a failure, too; one of the past fires with the next
    watermark. To give a name a time again replaces its timer; a time without a name has one timer.
    """

    @abstractmethod
    def time(self) -> int | None:
        """Return the time of the row, by on_time, or of the timer that fires; None without one."""

    @abstractmethod
    def current_watermark(self) -> int | None:
        """Return the watermark, the least of all tables; None before the first one."""

    @abstractmethod
    def table_watermark(self) -> int | None:
        """Return the watermark of the table that the row is of; None before the first one, and for a timer.

        Raises ProgramError for a table without ORDER BY beside another one, whose watermark is not known here.
        """

    @abstractmethod
    def register_on_time(self, time: int, name: str | None = None) -> None:
        """Register a timer. Raises ProgramError without on_time, for rows by themselves, with pass-through columns."""

    @abstractmethod
    def clear_timer(self, timer: str | int) -> None:
        """Delete a timer by its name, or one without a name by its time, if there is one."""

    @abstractmethod
    def clear_all_timers(self) -> None:
        """Delete all timers of the set."""


class ProcessTableContext(ABC):
    """What a function can ask while it is called; valid during the call."""

    @abstractmethod
    def time_context(self) -> TimeContext:
        """Return times and timers."""

    @abstractmethod
    def table_semantics_for(self, argument: str) -> TableSemantics:
        """Return what the call says of a table, by the argument's name. Raises ProgramError for another name."""

    @abstractmethod
    def get_changelog_mode(self) -> ChangelogMode:
        """Return which kinds of changes the call may give."""

    @abstractmethod
    def clear_state(self, name: str) -> None:
        """Delete an entry of the set's state. Raises ProgramError for another name."""

    @abstractmethod
    def clear_all_state(self) -> None:
        """Delete the set's state."""

    @abstractmethod
    def clear_all_timers(self) -> None:
        """Delete the set's timers."""

    @abstractmethod
    def clear_all(self) -> None:
        """Delete the set's state and timers."""


class OnTimerContext(ProcessTableContext):
    """The context of a timer that fires."""

    @abstractmethod
    def current_timer(self) -> str | None:
        """Return the timer's name, None for one without a name."""


class ProcessTableFunction(UserDefinedFunction):
    """A function that turns the rows of tables into any number of rows.

    Contract: `eval(ctx, *state, *arguments)` is called for each row of each table, once if there is none; the argument
    of this table is the Row with its kind, those of other tables are None, others have the values of the call. State
    has the order of its declaration: a ROW is a Row whose fields can be set (None before), an ARRAY a ListState, a MAP
    a MapState. Entries are of the set that the row is in, and kept when the call returns.
    """

    @abstractmethod
    def eval(self, ctx: ProcessTableContext, *args: Any) -> Any:
        """Return or yield the rows: tuples, Rows, or values of the only column. None is no row.

        A Row may be of another kind than INSERT if the function is a ChangelogFunction, too.
        """

    def on_timer(self, ctx: OnTimerContext, *state: Any) -> Any:
        """Return or yield the rows of a timer that fires."""


class ChangelogContext(ABC):
    """What a function knows when it is asked which kinds of changes it gives."""

    @abstractmethod
    def get_table_changelog_mode(self, pos: int) -> ChangelogMode | None:
        """Return which changes come from the argument at a place, None for one that is no table."""

    @abstractmethod
    def get_required_changelog_mode(self) -> ChangelogMode:
        """Return which changes what reads the result can do with."""


class ChangelogFunction(ABC):
    """A process table function that also extends this class may give updates and deletes.

    Contract: tables are sets of rows, without on_time and without pass-through columns. With new rows of updates alone
    the columns of PARTITION BY are the key by which they replace others. A row that goes has all its columns.
    """

    @abstractmethod
    def get_changelog_mode(self, changelog_context: ChangelogContext) -> ChangelogMode:
        """Return which kinds of changes the function gives.

        It is asked while the query is planned, perhaps several times: first whether it updates at all, then with and
        without UPDATE_BEFORE among what is required. The same question must have the same answer.
        """
