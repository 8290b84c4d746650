"""How many sessions a gateway has, and for how long: the options of Flink's gateway, with its names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Self

import msgspec

from firesteel.common.errors import ConfigurationError
from firesteel.common.quantities import duration_ms
from firesteel.common.suggestions import suggestion

IDLE: Final = "sql-gateway.session.idle-timeout"
CHECK: Final = "sql-gateway.session.check-interval"
MOST: Final = "sql-gateway.session.max-num"
_KEYS: Final = (IDLE, CHECK, MOST)


class Limits(msgspec.Struct, frozen=True):
    """The bounds of sessions; 0 stands for none, as in Flink.

    A session without a request for `idle_ms` is closed; every `check_ms` it is looked whether there is one. At most
    `most_sessions` are open, of which Flink has a million.
    """

    idle_ms: int = 600_000
    check_ms: int = 60_000
    most_sessions: int = 100

    @classmethod
    def of(cls, configuration: Mapping[str, str]) -> Self:
        """Return what options say. Raises ConfigurationError for one that there is not, or a wrong value.

        >>> Limits.of({"sql-gateway.session.idle-timeout": "1 h"})
        Limits(idle_ms=3600000, check_ms=60000, most_sessions=100)
        """
        for key in configuration:
            if key not in _KEYS:
                hint = suggestion(key, _KEYS)
                raise ConfigurationError("requires an option of the SQL gateway", got=repr(key), hint=hint)
        standard = cls()
        return cls(
            duration_ms(IDLE, configuration.get(IDLE, str(standard.idle_ms))),
            duration_ms(CHECK, configuration.get(CHECK, str(standard.check_ms))),
            _number(MOST, configuration.get(MOST, str(standard.most_sessions))),
        )

    @property
    def closes_idle(self) -> bool:
        """Whether sessions that no request comes for are closed."""
        return self.idle_ms > 0 and self.check_ms > 0

    def allows(self, sessions: int) -> bool:
        """Return whether one more may be opened beside so many."""
        return self.most_sessions <= 0 or sessions < self.most_sessions


def _number(key: str, text: str) -> int:
    if not re.fullmatch(r"-?\d+", text.strip()):
        raise ConfigurationError("requires a whole number", who=f"option {key!r}", got=repr(text))
    return int(text)
