"""What calls of process table functions can ask.

Source: Flink's AbstractProcessTableOperator.RunnerContext and WritableInternalTimeContext.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NoReturn

from firesteel.common.errors import ProgramError
from firesteel.functions.changelog_mode import ChangelogMode
from firesteel.functions.process import KeyedProcessFunction, ProcessFunction
from firesteel.functions.process_tables import OnTimerContext, TableSemantics, TimeContext

if TYPE_CHECKING:
    from firesteel.functions.columns.process_tables import CalledTable, TableCall, TableProcess

_BEGINNING: Final = -(2**63)


class RowContext(OnTimerContext, TimeContext):
    """What a call for a row by itself asks, of which there is neither state nor a timer; a context of times, too."""

    def __init__(self, call: TableCall, ctx: Any, table: CalledTable | None) -> None:
        self._call = call
        self._ctx: ProcessFunction.Context = ctx
        self._table = table

    def time_context(self) -> TimeContext:
        return self

    def current_timer(self) -> str | None:
        return None

    def table_semantics_for(self, argument: str) -> TableSemantics:
        for table in self._call.tables:
            if table.argument == argument:
                return table
        raise self._error("requires the name of an argument that is a table", argument)

    def get_changelog_mode(self) -> ChangelogMode:
        return ChangelogMode.of(self._call.mode)

    def clear_state(self, name: str) -> None:
        raise self._error("requires the name of an entry of the state", name)

    def clear_all_state(self) -> None:
        """Delete nothing: there is no state."""

    def clear_all(self) -> None:
        self.clear_all_state()
        self.clear_all_timers()

    def time(self) -> int | None:
        timed = self._table is not None and self._table.time is not None
        return self._ctx.timestamp() if timed else None

    def current_watermark(self) -> int | None:
        return _known(self._ctx.timer_service().current_watermark())

    def table_watermark(self) -> int | None:
        return None if self._table is None else self.current_watermark()

    def register_on_time(self, time: int, name: str | None = None) -> None:
        self._refuse_timer(f"the time {time}")

    def clear_timer(self, timer: str | int) -> None:
        self._refuse_timer(f"the timer {timer}")

    def clear_all_timers(self) -> None:
        """Delete nothing: there are no timers."""

    def _refuse_timer(self, got: str) -> NoReturn:
        raise self._error(
            "requires on_time for a timer, and tables as sets without pass-through columns", got
        )

    def _error(self, requirement: str, got: str) -> ProgramError:
        return ProgramError(requirement, who=self._call.who, got=got)


class SetContext(RowContext):
    """What a call for a row of a set asks; `watermark` is that of the row's table, if the row comes with it."""

    def __init__(
        self,
        process: TableProcess,
        ctx: KeyedProcessFunction.Context,
        table: CalledTable | None,
        watermark: int | None = None,
    ) -> None:
        super().__init__(process.call, ctx, table)
        self._process = process
        self._watermark = watermark
        self.cleared: set[str] = set()

    def clear_state(self, name: str) -> None:
        if name not in self._process.states:
            super().clear_state(name)
        self._process.states[name].clear()
        self.cleared.add(name)

    def clear_all_state(self) -> None:
        for name in self._process.states:
            self.clear_state(name)

    def table_watermark(self) -> int | None:
        if self._watermark is not None:
            return _known(self._watermark)
        if self._table is not None and len(self._call.tables) > 1:
            raise self._error(
                "requires ORDER BY for the watermark of one of several tables", self._table.argument
            )
        return super().table_watermark()

    def register_on_time(self, time: int, name: str | None = None) -> None:
        tables = self._call.tables
        if any(table.passes for table in tables) or all(table.time is None for table in tables):
            self._refuse_timer(f"the time {time}")
        if name is None:
            self._process.unnamed.put(time, True)
        else:
            self.clear_timer(name)
            self._process.named.put(name, time)
        self._ctx.timer_service().register_event_time_timer(time)

    def clear_timer(self, timer: str | int) -> None:
        # The kernel's timer may stand for others of its time; one that finds none does nothing.
        if isinstance(timer, str):
            self._process.named.remove(timer)
        else:
            self._process.unnamed.remove(timer)

    def clear_all_timers(self) -> None:
        for time in {*self._process.unnamed.keys(), *self._process.named.values()}:
            self._ctx.timer_service().delete_event_time_timer(time)
        self._process.unnamed.clear()
        self._process.named.clear()


class TimerContext(SetContext):
    """What a call for a timer asks."""

    def __init__(self, process: TableProcess, ctx: KeyedProcessFunction.Context, name: str | None) -> None:
        super().__init__(process, ctx, None)
        self._name = name

    def current_timer(self) -> str | None:
        return self._name

    def time(self) -> int | None:
        timestamp: int | None = self._ctx.timestamp()
        return timestamp


def _known(watermark: int) -> int | None:
    return None if watermark == _BEGINNING else watermark
