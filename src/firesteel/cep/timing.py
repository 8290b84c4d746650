"""What streams in which patterns are looked for have in common: the time they work in, and late events."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

from firesteel.datastream import OutputTag
from firesteel.datastream.streams.node_settings import call_site
from firesteel.graph.checks import require

__all__ = ["Timing"]


class Timing:
    """A stream that works in event time unless `in_processing_time` is called; setters return a new one."""

    _event_time: bool = True
    _late_tag: OutputTag | None = None

    def in_event_time(self) -> Self:
        """Take events in the order of their timestamps, as the watermark passes them."""
        return self._with(_event_time=True)

    def in_processing_time(self) -> Self:
        """Take events as they come; their time is the processing time."""
        return self._with(_event_time=False)

    def side_output_late_data(self, late_data_output_tag: OutputTag) -> Self:
        """Send events that the watermark has passed when they come to a side output instead of dropping them."""
        require(late_data_output_tag, (OutputTag,), call_site("side_output_late_data"), "pass an OutputTag")
        return self._with(_late_tag=late_data_output_tag)

    def _with(self, **changes: Any) -> Self:
        changed = copy(self)
        changed.__dict__.update(changes)
        return changed
