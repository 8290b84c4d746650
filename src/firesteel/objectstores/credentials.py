"""Whether an object store has credentials.

obstore looks for S3 credentials in the environment, then asks the container, then the metadata service of the virtual
machine. Anywhere else nothing answers there, and obstore repeats the request as long as any other (15 seconds or more).
So the first connection to that service is made here, with short limits, if it is the only place left to ask.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Final
from urllib.parse import urlsplit

_IN_AMAZON: Final = "169.254.169.254"
_SERVICES: Final = (_IN_AMAZON, "169.254.170.2", "metadata.google.internal")
"""The hosts of metadata services."""

_SOURCES: Final = (
    ("AWS_ACCESS_KEY_ID",),
    ("AWS_SKIP_SIGNATURE",),
    ("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"),
    ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",),
    ("AWS_CONTAINER_CREDENTIALS_FULL_URI",),
)
"""Variables, all of one line, with which obstore does not ask the virtual machine."""

_TRIES: Final = 2
_PATIENCE_S: Final = 1.0
"""The limit of one connection; the service is on the same host, and answers in less than a millisecond."""


class NoCredentialsError(OSError):
    """There are no credentials, neither in the environment nor from the machine."""


def require_credentials(url: str, environment: Mapping[str, str] = os.environ) -> None:
    """Raise NoCredentialsError within about two seconds if nothing can provide credentials for a URL.

    Only S3 is checked. Whether the credentials are correct, the first request shows.
    """
    if urlsplit(url).scheme not in ("s3", "s3a"):
        return
    if any(all(environment.get(name) for name in names) for names in _SOURCES):
        return
    service = urlsplit(environment.get("AWS_METADATA_ENDPOINT") or f"http://{_IN_AMAZON}")
    _require_service(service.hostname or _IN_AMAZON, service.port or 80)


@cache  # of what was found; errors are not kept, so the next attempt asks again
def _require_service(host: str, port: int) -> None:
    for _ in range(_TRIES):
        with suppress(OSError), socket.create_connection((host, port), _PATIENCE_S):
            return
    raise NoCredentialsError


def without_credentials(error: Exception) -> bool:
    """Return whether an error means that neither the environment nor the machine provides credentials."""
    return isinstance(error, NoCredentialsError) or any(service in str(error) for service in _SERVICES)
