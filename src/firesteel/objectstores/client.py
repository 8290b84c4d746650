"""Object stores behind an unreliable network: how long requests are retried, and the errors afterwards.

obstore itself retries a request, after growing pauses, if the server answers 429 or 5xx or the connection is lost. It
gives up if a response breaks off, if a request that is not idempotent (a conditional put) gets no response, or if an
interrupted multipart upload turns out to be complete. Then `persevere` repeats the operation from its start. It is for
operations that can be repeated.

``FIRESTEEL_STORAGE_TIMEOUT`` (seconds, default 30) is how long to wait for a store that does not respond. It consists
of the time for retries of an operation (one half), the last pause (a sixth), and the time in which a connection can be
silent, including the sending of one part of 5 MiB (a third).
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
from firesteel.objectstores.credentials import require_credentials, without_credentials

TIMEOUT_VARIABLE: Final = "FIRESTEEL_STORAGE_TIMEOUT"
_DEFAULT_TIMEOUT: Final = 30.0
_FIRST_PAUSE: Final = 0.1

_PLAIN_HTTP: Final = ("AWS_ALLOW_HTTP", "AZURE_ALLOW_HTTP", "GOOGLE_ALLOW_HTTP")
"""obstore reads these itself, but only for clients without their own options."""

_MISSING_BUCKET: Final = ("NoSuchBucket", "ContainerNotFound", "The specified bucket does not exist")

T = TypeVar("T")


def connect(url: str) -> Any:
    """Return obstore's store for a URL.

    Raises ValueError or an error of obstore for an unusable URL, NoCredentialsError if nothing provides credentials.
    """
    timeout = patience()
    require_credentials(url)
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


def persevere(operation: Callable[[], T], may_pass: Callable[[Exception], bool] | None = None) -> T:
    """Repeat an operation until it succeeds, fails permanently, or its time is up.

    `may_pass` says whether an error may be temporary; without it, the texts of obstore's errors do.
    """
    timeout = patience()
    judge = may_pass or _may_pass
    deadline = time.monotonic() + timeout / 2
    pause = _FIRST_PAUSE
    while True:
        try:
            return operation()
        except (BaseError, OSError) as error:
            if not judge(error) or time.monotonic() > deadline:
                raise
        time.sleep(pause)
        pause = min(pause * 2, timeout / 6)


def is_missing_bucket(error: Exception) -> bool:
    """Return whether something other than the object is missing."""
    return any(said in str(error) for said in _MISSING_BUCKET)


def reason(error: Exception) -> str:
    """Return the text of an error without possible secrets: queries of URLs, and quoted parts of a request."""
    said = str(error).partition("\n\nDebug source")[0]
    facts = [re.search(f"<{name}>([^<]*)</{name}>", said) for name in ("Code", "Message")]
    said, _, _ = said.partition("<")
    said = re.sub(r"(https?://[^\s?]*)\?\S*", r"\1", said)
    said = re.sub(r", max_retries: \d+, retry_timeout: \S+", "", said)
    answer = ": ".join(fact[1] for fact in facts if fact)
    if not answer and "TimedOut" in str(error):
        answer = "(no answer in time)"
    return " ".join([*said.split(), *answer.split()]) or type(error).__name__


def explained(error: Exception) -> tuple[str, str]:
    """Return what an error of a store says, without possible secrets, and a hint."""
    if without_credentials(error):
        hint = (
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (and AWS_REGION), or what the store's provider calls "
            "them, for the driver and the workers; see docs/deployment.md"
        )
        return "no credentials in the environment, and none from the machine", hint
    hint = "check that the storage can be reached, that it has room, and that you may write to it"
    return reason(error), hint


def _may_pass(error: Exception) -> bool:
    """Return whether an error may be temporary, judged by its text: Python does not know its kind."""
    said = str(error)
    lost = "HTTP error: error sending request" in said or "response body" in said
    return lost or "NoSuchUpload" in said


def patience() -> float:
    """Return how many seconds to wait for a store that does not respond."""
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
