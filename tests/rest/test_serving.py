"""The server as a process: started once for a directory, beyond this machine only with tokens and TLS."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest

from firesteel.rest.serving import listening

pytestmark = pytest.mark.long

TOKEN = "0123456789abcdef"


def firesteel(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "firesteel.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    directory = tmp_path_factory.mktemp("certificate")
    chain, key = directory / "cert.pem", directory / "key.pem"
    names = "subjectAltName=DNS:localhost,IP:127.0.0.1"
    options = f"-x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -addext {names}"
    command = ["openssl", "req", *options.split(), "-keyout", str(key), "-out", str(chain)]
    subprocess.run(command, check=True, capture_output=True)
    return chain, key


def test_a_directory_is_served_once_and_until_it_is_stopped(tmp_path: Path):
    cluster = tmp_path / "cluster"
    assert firesteel("cluster", "status", cluster).returncode == 1
    started = firesteel("cluster", "start", cluster, "--port", "0")
    assert started.returncode == 0, started.stderr
    try:
        assert started.stdout.strip() in firesteel("cluster", "status", cluster).stdout
        again = firesteel("cluster", "start", cluster, "--port", "0")
        assert again.returncode == 1
        assert "is served already" in again.stderr
        taken = started.stdout.strip().rpartition(":")[2]
        other = firesteel("cluster", "start", tmp_path / "other", "--port", taken)
        assert "cannot be listened at" in other.stderr
        anew = firesteel("cluster", "start", tmp_path / "other", "--host", "0.0.0.0")
        assert "requires tokens" in anew.stderr
        assert "cannot be listened at" not in anew.stderr
    finally:
        assert firesteel("cluster", "stop", cluster).returncode == 0
    assert firesteel("cluster", "status", cluster).returncode == 1


def test_small_answers_go_at_once():
    """Else an answer of two parts waits for the client's acknowledgement of the first, which takes 40 ms."""

    async def served() -> int:
        found: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        def connected(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            option = writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            found.set_result(option)
            writer.close()

        with listening("127.0.0.1", 0) as listener:
            async with await asyncio.start_server(connected, sock=listener):
                _, writer = await asyncio.open_connection(*listener.getsockname())
                option = await found
                writer.close()
                return option

    assert asyncio.run(served())


def test_a_server_that_was_killed_serves_no_more_though_its_process_is_known_for_a_while(tmp_path: Path):
    cluster = tmp_path / "cluster"
    command = [sys.executable, "-m", "firesteel.cli", "cluster", "start", str(cluster), "--port", "0"]
    with subprocess.Popen([*command, "--foreground"]) as server:
        deadline, moment = time.monotonic() + 120, threading.Event()
        while not (cluster / "server.json").exists():
            assert time.monotonic() < deadline
            moment.wait(0.05)
        server.kill()
        os.waitid(os.P_PID, server.pid, os.WEXITED | os.WNOWAIT)  # nobody has taken leave of it
        assert firesteel("cluster", "status", cluster).returncode == 1
        again = firesteel("cluster", "start", cluster, "--port", "0")
        assert again.returncode == 0, again.stderr
    assert firesteel("cluster", "stop", cluster).returncode == 0


def test_tls_with_certificates_of_clients_and_tokens(tmp_path: Path, certificate: tuple[Path, Path]):
    cluster, tokens = tmp_path / "cluster", tmp_path / "tokens"
    tokens.write_text(f"viewer {TOKEN}\n")
    chain, key = certificate
    options = ["--port", "0", "--tokens", tokens, "--tls-certificate", chain, "--tls-key", key]
    refused = firesteel("cluster", "start", cluster, "--host", "0.0.0.0", "--tokens", tokens)
    assert "requires TLS to listen beyond this machine" in refused.stderr
    started = firesteel("cluster", "start", cluster, *options, "--tls-clients", chain)
    assert started.returncode == 0, started.stderr
    try:
        url = f"{started.stdout.strip()}/overview"
        known, unknown = (ssl.create_default_context(cafile=str(chain)) for _ in range(2))
        known.load_cert_chain(chain, key)
        with pytest.raises((URLError, ssl.SSLError, ConnectionError)):
            urlopen(Request(url, headers={"Authorization": f"Bearer {TOKEN}"}), context=unknown)
        with pytest.raises(HTTPError) as error:
            urlopen(url, context=known)
        assert error.value.code == 401
        error.value.close()
        with urlopen(Request(url, headers={"Authorization": f"Bearer {TOKEN}"}), context=known) as answer:
            assert answer.status == 200
        assert TOKEN not in (cluster / "server.log").read_text()
    finally:
        firesteel("cluster", "stop", cluster)
