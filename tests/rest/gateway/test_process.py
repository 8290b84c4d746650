"""The gateway in its process, behind its socket."""

from __future__ import annotations

import socket
import subprocess
from pathlib import Path

import msgspec
import pytest

from firesteel.rest.calls import Refusal
from firesteel.rest.gateway.forwarding import GatewayProcess, GatewaySettings
from firesteel.rest.gateway.limits import Limits
from harness.waiting import until


def test_a_process_that_is_about_to_end_is_replaced(tmp_path: Path) -> None:
    process = GatewayProcess(settings(tmp_path, Limits()), tmp_path / "log")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(process._socket)  # and nobody listens any more
    process._process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    wait, stdin = process._process.wait, process._process.stdin
    assert stdin is not None

    def ended(timeout: float | None = None) -> int:
        stdin.close()
        return wait(timeout)

    process._process.wait = ended  # type: ignore[method-assign]
    try:
        assert "sessionHandle" in process.ask("POST", "/v1/sessions", b"{}").text
    finally:
        process.close()


def settings(directory: Path, limits: Limits) -> str:
    return msgspec.json.encode(GatewaySettings(str(directory), 1, None, True, limits)).decode()


def test_idle_sessions_are_closed(tmp_path: Path) -> None:
    process = GatewayProcess(settings(tmp_path, Limits(idle_ms=20, check_ms=20)), tmp_path / "log")
    try:
        opened = process.ask("POST", "/v1/sessions", b"{}")
        handle = msgspec.json.decode(opened.text)["sessionHandle"]

        def gone() -> bool:
            try:
                process.ask("GET", f"/v1/sessions/{handle}", b"")
            except Refusal:
                return True
            return False

        assert until(gone)
        with pytest.raises(Refusal, match="may have been idle"):
            process.ask("POST", f"/v1/sessions/{handle}/heartbeat", b"{}")
    finally:
        process.close()
