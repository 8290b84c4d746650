"""What tasks without state need of durable state: nothing."""

from __future__ import annotations

from typing import Any


class Stateless:
    """A `TaskState` that nobody may ask for state."""

    def attach(self, *_arguments: Any) -> Any:
        raise AssertionError

    persist = attach

    def release(self) -> None:
        pass
