"""Numbers with a name (PyFlink: pyflink.common.constants)."""

from __future__ import annotations

from typing import Final

MAX_LONG_VALUE: Final = 0x7FFFFFFFFFFFFFFF
"""The greatest value of a LONG."""

MIN_LONG_VALUE: Final = -MAX_LONG_VALUE - 1
"""The least value of a LONG."""

DEFAULT_OUTPUT_TAG: Final = ""
"""The name of an operator's main output."""
