"""What tasks without state need of durable state: nothing."""

from __future__ import annotations

from typing import Any


class Stateless:
    """A `TaskState` that nobody may ask for state, nor for room for output."""

    def attach(self, *_arguments: Any) -> Any:
        raise AssertionError

    persist = use_of = put = get = remove = attach

    @property
    def outputs(self) -> Stateless:
        return self

    def release(self) -> None:
        pass
