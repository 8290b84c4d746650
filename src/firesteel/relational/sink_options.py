"""The session's options for the sinks of tables; their names are Flink's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, cast

from firesteel.common.errors import UnsupportedError
from firesteel.functions.columns.sinks import Lengths
from firesteel.relational.option_values import choice, truth

Wanted = Literal["AUTO", "NONE", "FORCE"]
"""Whether something is done: where it is needed, never, or wherever it can be."""

_PREFIX: Final = "table.exec.sink."
_STRATEGIES: Final = ("LEGACY", "ADAPTIVE", "MAP", "VALUE")


@dataclass(frozen=True)
class SinkOptions:
    """What the options `table.exec.sink.*` say.

    `drop_null` is whether rows with NULL in a column that is NOT NULL are left out ('not-null-enforcer'), `lengths` is
    'type-length-enforcer'. `materialize` is 'upsert-materialize', `require_on_conflict` whether INSERT must have ON
    CONFLICT where the query does not have the table's primary key, `shuffle` is 'keyed-shuffle'.
    """

    drop_null: bool = False
    lengths: Lengths = "IGNORE"
    materialize: Wanted = "AUTO"
    require_on_conflict: bool = True
    shuffle: Wanted = "AUTO"

    @staticmethod
    def of(options: Mapping[str, str]) -> SinkOptions:
        """Return what the session's options say.

        Raises ConfigurationError for a value that an option cannot have, UnsupportedError for what is not there yet.

        >>> SinkOptions.of({"table.exec.sink.not-null-enforcer": "DROP"}).drop_null
        True
        """
        nested = choice(
            options, f"{_PREFIX}nested-constraint-enforcer", "IGNORE", "ROWS", "ROWS_AND_COLLECTIONS"
        )
        if nested != "IGNORE":
            raise UnsupportedError(
                f"{nested} is not supported yet", who=f"option '{_PREFIX}nested-constraint-enforcer'"
            )
        # How Flink keeps the rows in its state; ours are kept in one way.
        choice(options, f"{_PREFIX}upsert-materialize-strategy.type", *_STRATEGIES)
        lengths = choice(options, f"{_PREFIX}type-length-enforcer", "IGNORE", "TRIM_PAD", "ERROR")
        return SinkOptions(
            choice(options, f"{_PREFIX}not-null-enforcer", "ERROR", "DROP") == "DROP",
            cast(Lengths, lengths),
            _wanted(options, f"{_PREFIX}upsert-materialize"),
            truth(options, f"{_PREFIX}require-on-conflict", default=True),
            _wanted(options, f"{_PREFIX}keyed-shuffle"),
        )


def _wanted(options: Mapping[str, str], key: str) -> Wanted:
    return cast(Wanted, choice(options, key, "AUTO", "NONE", "FORCE"))
