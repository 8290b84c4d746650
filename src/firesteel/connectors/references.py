"""References to environment variables, `${NAME}`: what is stored names its secrets without containing them."""

from __future__ import annotations

import os
import re
from typing import Final

from firesteel.common.errors import ConnectorError

REFERENCE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def expanded(text: str, who: str) -> str:
    """Return a text with the values of the variables that it refers to. Raises ConnectorError for one that is not set.

    >>> import os
    >>> os.environ["COLOUR"] = "red"
    >>> expanded("a ${COLOUR} door", "SqlSink")
    'a red door'
    """

    def value(match: re.Match[str]) -> str:
        found = os.environ.get(match[1])
        if found is None:
            raise ConnectorError(
                f"requires the environment variable {match[1]}",
                who=who,
                got="a process in which it is not set",
                hint="set it for the driver and for the workers (spark.executorEnv.NAME sets it on a cluster)",
            )
        return found

    return REFERENCE.sub(value, text)
