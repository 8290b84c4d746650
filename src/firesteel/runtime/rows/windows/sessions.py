"""Sessions by event time with the default trigger: the loops made for them.

The records of a batch are joined into sessions key by key before they meet the sessions in state. A session that grows
does not take its timers along: its first timers stay until its end was due or the epoch ends, and are then set again.
So within an epoch a session costs timers per gap, not per record, and the state between epochs is the same as with the
general path.
"""

from __future__ import annotations

from typing import Any

from firesteel.functions.sessions import DynamicEventTimeSessionWindows
from firesteel.functions.windows import TimeWindow
from firesteel.runtime.failures import RAISED, user_failure
from firesteel.runtime.rows.windows.by_record import RecordByRecord
from firesteel.runtime.rows.windows.merging import MergingWindowSet
from firesteel.runtime.rows.windows.panes import Panes

_new_window = tuple.__new__


class SessionPanes:
    """Sessions with a fixed gap (milliseconds).

    Contract: call `settle` before an epoch ends; only then are the timers of a session exact. If a record of a key
    would be late on its own, the key takes the general path: the order of arrival decides whether a session saves that
    record.
    """

    def __init__(self, panes: Panes, general: RecordByRecord, sessions: MergingWindowSet, gap: int) -> None:
        self._panes = panes
        self._general = general
        self._sessions = sessions
        self._gap = gap
        self._keyed, self._scope = panes.keyed, panes.windowed
        self._timers = panes.event_timers
        self._contents = panes.contents
        self._outgrown: dict[tuple[Any, TimeWindow], TimeWindow] = {}
        """A dict from key and session to the window whose timers are set, if that is another window."""

    def take(self, keys: list[Any], values: list[Any], times: list[int]) -> None:
        """Add a batch of records with timestamps."""
        if not times:
            return
        groups = _by_key(keys, values, times)
        gap, panes = self._gap, self._panes
        live = panes.clock.watermark + 2 - gap
        if min(times) < live:
            late = {key for key, time in zip(keys, times, strict=True) if time < live}
            self._take_late(late, keys, values, times)
            for key in late:
                del groups[key]
        add = self._add
        try:
            for key, (members, stamps) in groups.items():
                low, high = (stamps[0], stamps[0]) if len(stamps) == 1 else (min(stamps), max(stamps))
                if high - low <= gap:
                    add(key, low, high + gap, members)
                else:
                    self._take_apart(key, members, stamps, [stamp + gap for stamp in stamps])
        except RAISED as error:
            raise user_failure(error, panes.who) from error

    def fire(self, watermark: int) -> None:
        """Fire and clean up the sessions that have ended."""
        keyed, scope, contents, panes = self._keyed, self._scope, self._contents, self._panes
        get = contents.get if panes.lateness else contents.last
        for time, (key, window) in self._timers.pop_due(watermark):
            keyed.current = key
            state_window = self._sessions.state_window(window)
            if state_window is None:
                self._set_anew(key, window)
                continue
            scope.current = (key, state_window)
            if time == window.max_timestamp():
                found = get()
                if found is not None:
                    panes.emit(key, window, found, time)
            if time == panes.cleanup_time(window):
                scope.current = (key, state_window)
                contents.clear()
                panes.clear_process_state(key, window)
                keyed.current = key
                self._sessions.retire(window)

    def settle(self) -> None:
        """Set the timers of every session that has outgrown its timers."""
        for (key, window), timed in self._outgrown.items():
            self._move_timers(key, timed, window)
        self._outgrown.clear()

    def _add(self, key: Any, start: int, end: int, values: list[Any]) -> None:
        """Add records that form one session which has not ended."""
        self._keyed.current = key
        sessions = self._sessions.mapping()
        touched = [window for window in sessions if window[0] <= end and window[1] >= start]
        if not touched:
            window = _new_window(TimeWindow, (start, end))
            state_window = sessions[window] = window
            self._sessions.keep(sessions)
            self._panes.register((key, window))
        elif len(touched) == 1 and touched[0][1] > self._panes.clock.watermark + 1:
            window = touched[0]
            state_window = sessions[window]
            if start < window[0] or end > window[1]:
                self._grow(key, window, _new_window(TimeWindow, (min(start, window[0]), max(end, window[1]))))
        else:
            self._settle_all(key, touched)
            self._general.add_session(key, TimeWindow(start, end), values)
            return
        self._scope.current = (key, state_window)
        self._contents.add_all(values)

    def _grow(self, key: Any, window: TimeWindow, grown: TimeWindow) -> None:
        sessions = self._sessions.mapping()
        sessions[grown] = sessions.pop(window)
        self._sessions.keep(sessions)
        self._outgrown[key, grown] = self._outgrown.pop((key, window), window)

    def _set_anew(self, key: Any, timed: TimeWindow) -> None:
        """Set the timers of the session that has outgrown the window whose timer was due."""
        for window in self._sessions.mapping():
            if window.start <= timed.start and timed.end <= window.end:
                if self._outgrown.pop((key, window), None) is not None:
                    self._move_timers(key, timed, window)
                return

    def _settle_all(self, key: Any, windows: list[TimeWindow]) -> None:
        for window in windows:
            timed = self._outgrown.pop((key, window), None)
            if timed is not None:
                self._move_timers(key, timed, window)

    def _move_timers(self, key: Any, timed: TimeWindow, window: TimeWindow) -> None:
        panes = self._panes
        if timed.end - 1 > panes.clock.watermark:
            self._timers.delete(timed.end - 1, (key, timed))
        if panes.lateness:
            panes.delete_cleanup(key, timed)
        panes.register((key, window))

    def _take_late(self, late: set[Any], keys: list[Any], values: list[Any], times: list[int]) -> None:
        """Take the records of some keys one by one."""
        for key in late:
            self._keyed.current = key
            self._settle_all(key, list(self._sessions.mapping()))
        chosen = [index for index, key in enumerate(keys) if key in late]
        self._general.take(
            [keys[index] for index in chosen],
            [values[index] for index in chosen],
            [times[index] for index in chosen],
        )

    def _take_apart(self, key: Any, values: list[Any], starts: list[int], ends: list[int]) -> None:
        """Add the records of a key, each as a separate window, session by session."""
        in_time = sorted(range(len(starts)), key=starts.__getitem__)
        low, high = starts[in_time[0]], ends[in_time[0]]
        members: list[int] = []
        for index in in_time:
            if starts[index] > high:
                self._add(key, low, high, [values[member] for member in sorted(members)])
                low, members = starts[index], []
            high = max(high, ends[index]) if members else ends[index]
            members.append(index)
        self._add(key, low, high, [values[member] for member in sorted(members)])


class DynamicSessionPanes(SessionPanes):
    """Sessions whose gap depends on the record."""

    def __init__(
        self,
        panes: Panes,
        general: RecordByRecord,
        sessions: MergingWindowSet,
        assigner: DynamicEventTimeSessionWindows[Any],
    ) -> None:
        super().__init__(panes, general, sessions, 0)
        self._gap_after = assigner.gap_after

    def take(self, keys: list[Any], values: list[Any], times: list[int]) -> None:
        """Add a batch of records with timestamps."""
        panes, gap_after, watermark = self._panes, self._gap_after, self._panes.clock.watermark
        iterator = iter(values)
        try:
            ends = [time + gap_after(value) for value, time in zip(iterator, times, strict=True)]
        except RAISED as error:
            raise user_failure(error, panes.who, values, iterator) from error
        late = {key for key, end in zip(keys, ends, strict=True) if end - 1 <= watermark}
        if late:
            self._take_late(late, keys, values, times)
        groups = _by_key(keys, list(zip(values, ends, strict=True)), times)
        try:
            for key, (members, stamps) in groups.items():
                if key not in late:
                    self._take_apart(
                        key, [value for value, _ in members], stamps, [end for _, end in members]
                    )
        except RAISED as error:
            raise user_failure(error, panes.who) from error


def _by_key(keys: list[Any], values: list[Any], times: list[int]) -> dict[Any, tuple[list[Any], list[int]]]:
    """Return the records of each key, and their timestamps, in order of arrival."""
    groups: dict[Any, tuple[list[Any], list[int]]] = {}
    for key, value, time in zip(keys, values, times, strict=True):
        group = groups.get(key)
        if group is None:
            groups[key] = [value], [time]
        else:
            group[0].append(value)
            group[1].append(time)
    return groups
