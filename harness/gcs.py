"""What obstore asks of Google Cloud Storage, answered on this machine: moto's S3, for which requests are translated.

obstore speaks Google's XML API, whose requests and answers are those of S3 but for a few headers. The emulators in
package registries (fake-gcs-server, gcp-storage-emulator) know the JSON API, and cannot list or write by the other.
So tests with this server show that the client is used as it wants to be; how Google's own server behaves they do not.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from harness import s3

SCHEME: Final = "gs"
_COPIED: Final = "HTTP_X_GOOG_COPY_SOURCE"
_GENERATION: Final = "HTTP_X_GOOG_IF_GENERATION_MATCH"


def environment(endpoint: str) -> dict[str, str]:
    """Return the environment variables with which a client finds the server at `endpoint`."""
    nobody = dict.fromkeys(("client_email", "private_key", "private_key_id"), "")
    account = {"gcs_base_url": endpoint, "disable_oauth": True, **nobody}
    return {"GOOGLE_SERVICE_ACCOUNT_KEY": json.dumps(account), "GOOGLE_ALLOW_HTTP": "true"}


def new_bucket(endpoint: str) -> str:
    """Create a bucket and return its name, which has no characters that the client escapes."""
    return s3.create_bucket(endpoint, f"bucket{uuid.uuid4().hex[:12]}")


@contextmanager
def serving() -> Iterator[str]:
    """Serve objects on a free port; yield the server's URL."""
    with s3.serving(_AsGoogle) as url:
        yield url


class _AsGoogle:
    """Turns Google's headers into Amazon's, and says that somebody has asked: moto turns others away."""

    def __init__(self, application: Any) -> None:
        self._application = application

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        credential = f"{s3.ACCESS_KEY}/20200101/us-east-1/s3/aws4_request"
        environ["HTTP_AUTHORIZATION"] = (
            f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders=host, Signature=none"
        )
        if _COPIED in environ:
            environ["HTTP_X_AMZ_COPY_SOURCE"] = environ.pop(_COPIED)
        if environ.pop(_GENERATION, None) == "0":  # there is no object yet
            environ["HTTP_IF_NONE_MATCH"] = "*"
        answer: Iterable[bytes] = self._application(environ, start_response)
        return answer
