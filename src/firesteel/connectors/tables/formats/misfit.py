"""A record that is no row of the table's type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from firesteel.common.errors import ConnectorError

_SHOWN: Final = 200


@dataclass(frozen=True)
class Misfit:
    """`number` is its place among the records of the block, `text` what it says, `why` what is wrong."""

    number: int
    text: str
    why: str

    def error(self, path: str, position: int, option: str) -> ConnectorError:
        """Return the error for this record of a block that starts at a byte of a file; `option` skips such records."""
        shown = self.text if len(self.text) <= _SHOWN else f"{self.text[:_SHOWN]}..."
        return ConnectorError(
            f"requires a row of the table in record {self.number + 1} after byte {position}",
            who=f"file {path}",
            got=f"{shown!r} ({self.why})",
            hint=f"with '{option}' = 'true' what does not fit is skipped",
        )
