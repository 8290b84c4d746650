"""Multipart uploads to S3 that another process completes: the data goes to the object's own key and is not copied.

This is the only module that knows boto3, which is not required: without it, large files are staged and copied as well.
obstore has no uploads that outlive the process that began them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from typing import Any, Final, NamedTuple, TypeVar

from firesteel.common.errors import ConnectorError
from firesteel.objectstores.client import explained, patience, persevere

MARKER: Final = ".upload"
"""What the names of objects end with that name an upload."""

_AT_ONCE: Final = 3
_ENDPOINTS: Final = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_REGIONS: Final = ("AWS_REGION", "AWS_DEFAULT_REGION")
_LOST: Final = (
    "EndpointConnectionError",
    "ConnectionClosedError",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "IncompleteReadError",
    "ResponseStreamingError",
    "HTTPClientError",
)

T = TypeVar("T")


class Upload(NamedTuple):
    """An upload whose parts are all there: its id, and their ETags."""

    id: str
    tags: tuple[str, ...]


class NoSuchUpload(OSError):  # noqa: N818 - an outcome that callers ask for
    """An upload has been completed or aborted."""


def is_available() -> bool:
    """Return whether the client library is there."""
    return find_spec("boto3") is not None


class MultipartUploads:
    """The uploads to one bucket. Raises ConnectorError if the store refuses, NoSuchUpload for one that has ended."""

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket

    def begin(self, key: str) -> str:
        """Begin an upload and return its id."""
        found = self._ask(key, lambda: self._client.create_multipart_upload(Bucket=self._bucket, Key=key))
        return str(found["UploadId"])

    def send(self, key: str, upload: str, number: int, data: bytes) -> str:
        """Send a part, counted from 1, and return its ETag."""
        found = self._ask(
            key,
            lambda: self._client.upload_part(
                Bucket=self._bucket, Key=key, UploadId=upload, PartNumber=number, Body=data
            ),
        )
        return str(found["ETag"])

    def copy(self, key: str, upload: str, number: int, source: str) -> str:
        """Have the store copy an object as a part, and return its ETag."""
        found = self._ask(
            key,
            lambda: self._client.upload_part_copy(
                Bucket=self._bucket,
                Key=key,
                UploadId=upload,
                PartNumber=number,
                CopySource={"Bucket": self._bucket, "Key": source},
            ),
        )
        return str(found["CopyPartResult"]["ETag"])

    def complete(self, key: str, upload: Upload) -> None:
        """Make an object of the parts of an upload."""
        parts = [{"PartNumber": number, "ETag": tag} for number, tag in enumerate(upload.tags, 1)]
        self._ask(
            key,
            lambda: self._client.complete_multipart_upload(
                Bucket=self._bucket, Key=key, UploadId=upload.id, MultipartUpload={"Parts": parts}
            ),
        )

    def abort(self, key: str, upload: str) -> None:
        """Remove an upload that may have ended already."""
        try:
            self._ask(
                key,
                lambda: self._client.abort_multipart_upload(Bucket=self._bucket, Key=key, UploadId=upload),
            )
        except NoSuchUpload:
            return

    def abort_all(self, key: str) -> None:
        """Remove all uploads to a key."""
        found = self._ask(key, lambda: self._client.list_multipart_uploads(Bucket=self._bucket, Prefix=key))
        for upload in found.get("Uploads", ()):
            if upload["Key"] == key:
                self.abort(key, upload["UploadId"])

    @property
    def _client(self) -> Any:
        settings = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
        return _client(frozenset(settings.items()), patience())

    def _ask(self, key: str, operation: Callable[[], T]) -> T:
        from botocore.exceptions import BotoCoreError, ClientError

        try:
            return persevere(lambda: _as_os_error(operation), _may_pass)
        except _AnswerError as error:
            cause = error.__cause__
            assert isinstance(cause, (BotoCoreError, ClientError))
            if _code(cause) == "NoSuchUpload":
                raise NoSuchUpload(key) from None
            got, hint = explained(cause)
            raise ConnectorError(
                "cannot be written", who=f"s3://{self._bucket}/{key}", got=got, hint=hint
            ) from None


class PartSender:
    """Sends the parts of one upload, a few at a time."""

    def __init__(self, uploads: MultipartUploads, key: str, upload: str) -> None:
        self._uploads = uploads
        self._key = key
        self._id = upload
        self._threads = ThreadPoolExecutor(_AT_ONCE, "firesteel-upload")
        self._tags: list[Future[str]] = []

    def send(self, data: bytes) -> None:
        """Send a part; waits while others are under way, and raises what went wrong with an earlier one."""
        if len(self._tags) >= _AT_ONCE:
            self._tags[-_AT_ONCE].result()
        number = len(self._tags) + 1
        self._tags.append(self._threads.submit(self._uploads.send, self._key, self._id, number, data))

    def finish(self) -> Upload:
        """Wait for all parts."""
        tags = tuple(tag.result() for tag in self._tags)
        self._threads.shutdown()
        return Upload(self._id, tags)

    def abort(self) -> None:
        """Give up the upload."""
        self._threads.shutdown(cancel_futures=True)
        self._uploads.abort(self._key, self._id)


def marker(key: str, upload: str) -> bytes:
    """Return the content of the object that names an upload."""
    return json.dumps({"key": key, "upload": upload}).encode()


def named_by(data: bytes) -> tuple[str, str]:
    """Return the key and the id of the upload that a marker names."""
    found: Mapping[str, str] = json.loads(data)
    return found["key"], found["upload"]


class _AnswerError(OSError):
    """An error of the client library, which is its cause."""


def _as_os_error(operation: Callable[[], T]) -> T:
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return operation()
    except (BotoCoreError, ClientError) as error:
        raise _AnswerError(type(error).__name__) from error


def _code(error: Any) -> str:
    return str((getattr(error, "response", None) or {}).get("Error", {}).get("Code", ""))


def _may_pass(error: Exception) -> bool:
    cause = error.__cause__
    response = getattr(cause, "response", None) or {}
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status in (429, 500, 502, 503, 504) or type(cause).__name__ in _LOST


@cache
def _client(settings: frozenset[tuple[str, str]], timeout: float) -> Any:
    """Return the client for some variables of the environment, which are those that obstore reads."""
    import boto3
    from botocore import UNSIGNED
    from botocore.config import Config

    given = dict(settings)
    endpoint = next((given[name] for name in _ENDPOINTS if given.get(name)), None)
    virtual = given.get("AWS_VIRTUAL_HOSTED_STYLE_REQUEST", "").lower() in ("1", "true")
    config = Config(
        connect_timeout=timeout / 6,
        read_timeout=timeout / 3,
        retries={"total_max_attempts": 1},
        s3={"addressing_style": "virtual" if virtual else "path" if endpoint else "auto"},
        # Stores that are compatible with S3 do not know the newer checksums.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        signature_version=UNSIGNED if given.get("AWS_SKIP_SIGNATURE", "").lower() in ("1", "true") else None,
    )
    region = next((given[name] for name in _REGIONS if given.get(name)), "us-east-1")
    return boto3.client("s3", endpoint_url=endpoint, region_name=region, config=config)
