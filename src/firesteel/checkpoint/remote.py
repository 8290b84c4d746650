"""Object stores over a network that fails: how long they are tried, and what is said when they do not answer.

obstore itself tries a request again, after growing pauses, when the server answers 429 or 5xx or the connection is
lost. It gives up where an answer breaks off, where a request that is not idempotent (a conditional put) is not
answered, and when a broken-off upload in parts turns out to have been complete; then `persevere` does the operation
again from its start. All operations of a `Storage` may be done twice.

``FIRESTEEL_STORAGE_TIMEOUT`` (seconds, default 30) is how long a store that does not answer is waited for. It is made
up of the time in which an operation may be tried again (one half), the last pause (a sixth), and the time for which
a connection may be silent, the sending of one part of 5 MiB included (a third).
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final, TypeVar

from obstore.exceptions import BaseError
from obstore.store import from_url

from firesteel.common.errors import ConfigurationError

TIMEOUT_VARIABLE: Final = "FIRESTEEL_STORAGE_TIMEOUT"
_DEFAULT_TIMEOUT: Final = 30.0
_FIRST_PAUSE: Final = 0.1

_PLAIN_HTTP: Final = ("AWS_ALLOW_HTTP", "AZURE_ALLOW_HTTP", "GOOGLE_ALLOW_HTTP")
"""obstore reads these itself, but only for clients without options of their own."""

_MISSING_BUCKET: Final = ("NoSuchBucket", "ContainerNotFound", "The specified bucket does not exist")

_METADATA: Final = ("169.254.169.254", "169.254.170.2", "metadata.google.internal")
"""Where the machines of a cloud learn their credentials, by which clients ask when they have none."""

T = TypeVar("T")


def connect(url: str) -> Any:
    """Return obstore's store for a URL; raises ValueError or one of obstore's errors for one it cannot use."""
    timeout = _timeout()
    pause = timedelta(seconds=timeout / 6)
    first_pause = min(timedelta(seconds=_FIRST_PAUSE), pause)
    return from_url(
        url,
        client_options={
            "allow_http": any(os.environ.get(name, "").lower() in ("1", "true") for name in _PLAIN_HTTP),
            "connect_timeout": pause,
            "read_timeout": timedelta(seconds=timeout / 3),
            "timeout": timedelta(hours=1),
        },
        retry_config={
            "max_retries": 1000,  # the time is the limit
            "retry_timeout": timedelta(seconds=timeout / 2),
            "backoff": {"init_backoff": first_pause, "max_backoff": pause, "base": 2},
        },
    )


def persevere(operation: Callable[[], T]) -> T:
    """Do an operation until it succeeds, fails for a reason that stays, or its time is over."""
    timeout = _timeout()
    deadline = time.monotonic() + timeout / 2
    pause = _FIRST_PAUSE
    while True:
        try:
            return operation()
        except (BaseError, FileNotFoundError) as error:
            if not _may_pass(error) or time.monotonic() > deadline:
                raise
        time.sleep(pause)
        pause = min(pause * 2, timeout / 6)


def is_missing_bucket(error: Exception) -> bool:
    """Return whether it is not the object that is missing."""
    return any(said in str(error) for said in _MISSING_BUCKET)


def without_credentials(error: Exception) -> bool:
    """Return whether the machine was asked for a role's credentials because none were given, and has none."""
    return any(place in str(error) for place in _METADATA)


def reason(error: Exception) -> str:
    """Return what an error says, without what may be secret: queries of URLs, and what servers quote of a request."""
    said = str(error).partition("\n\nDebug source")[0]
    facts = [re.search(f"<{name}>([^<]*)</{name}>", said) for name in ("Code", "Message")]
    said, _, _ = said.partition("<")
    said = re.sub(r"(https?://[^\s?]*)\?\S*", r"\1", said)
    said = re.sub(r", max_retries: \d+, retry_timeout: \S+", "", said)
    answer = ": ".join(fact[1] for fact in facts if fact)
    if not answer and "TimedOut" in str(error):
        answer = "(no answer in time)"
    return " ".join([*said.split(), *answer.split()]) or type(error).__name__


def _may_pass(error: Exception) -> bool:
    """The kind of an error is not known in Python, only what it says."""
    said = str(error)
    lost = "HTTP error: error sending request" in said or "response body" in said
    return lost or "NoSuchUpload" in said


def _timeout() -> float:
    text = os.environ.get(TIMEOUT_VARIABLE, "")
    try:
        timeout = float(text) if text else _DEFAULT_TIMEOUT
        if not 0 < timeout < 86_400:
            raise ValueError
    except ValueError:
        raise ConfigurationError(
            "must be a number of seconds above 0, at most a day", who=TIMEOUT_VARIABLE, got=repr(text)
        ) from None
    return timeout
