"""The client of a cluster: which job an address means, and what is said where the cluster does not help."""

from __future__ import annotations

import io
import ssl
from email.message import Message
from typing import Any
from urllib.error import HTTPError, URLError

import pytest

from firesteel.common.errors import StateError
from firesteel.rest import client
from firesteel.rest.client import ClusterClient, ClusterJob

URL = "http://127.0.0.1:8081"
LISTED = (
    ("ad1" + "0" * 29, "visits", "FINISHED"),
    ("ad2" + "0" * 29, "visits", "RUNNING"),
    ("b01" + "0" * 29, "ad", "RUNNING"),
    ("c01" + "0" * 29, "twice", "RUNNING"),
    ("c02" + "0" * 29, "twice", "RUNNING"),
    ("d02" + "0" * 29, "over", "FAILED"),
    ("d01" + "0" * 29, "over", "CANCELED"),
)
"""Jobs as a cluster lists them, the newest first."""


@pytest.fixture(autouse=True)
def cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = [{"jid": jid, "name": name, "state": state} for jid, name, state in LISTED]
    monkeypatch.setattr(ClusterClient, "ask", lambda *_: {"jobs": jobs})


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("b01" + "0" * 29, "b01"),
        ("ad2", "ad2"),
        ("visits", "ad2"),  # that which runs, though an older or a newer one has ended
        ("ad", "b01"),  # a name, though ids begin so
        ("over", "d02"),  # the newest of those that have ended
    ],
)
def test_a_job_is_found_by_its_id_its_name_or_the_beginning_of_its_id(asked: str, found: str):
    assert ClusterJob(f"{URL}/jobs/{asked}").id == found + "0" * 29


def test_several_jobs_are_named_and_none_has_a_hint():
    with pytest.raises(StateError, match=f"requires one job 'twice'; got c01{'0' * 29}, c02{'0' * 29}\n"):
        ClusterJob(f"{URL}/jobs/twice")
    with pytest.raises(StateError, match="requires one job 'none'; got none\n  hint: firesteel jobs"):
        ClusterJob(f"{URL}/jobs/none")


def test_a_refused_token_and_an_unknown_certificate_have_hints(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.undo()
    refused = HTTPError(URL, 401, "", Message(), io.BytesIO(b'{"errors": ["requires a valid token"]}'))
    unknown = URLError(ssl.SSLCertVerificationError("certificate verify failed"))
    for error, message in (
        (refused, "got requires a valid token\n  hint: set the variable FIRESTEEL_TOKEN"),
        (unknown, "certificate verify failed.*\n  hint: name the CA of its certificate in .* SSL_CERT_FILE"),
    ):

        def fails(*_: Any, error: Exception = error, **__: Any) -> None:
            raise error

        monkeypatch.setattr(client, "urlopen", fails)
        with pytest.raises(StateError, match=message) as raised:
            ClusterClient(URL).ask("GET", "/jobs")
        assert "urlopen" not in str(raised.value)
