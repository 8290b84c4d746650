"""The gateway in its process, behind its socket."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from firesteel.rest.calls import Refusal
from firesteel.rest.gateway.forwarding import GatewayProcess, GatewaySettings
from firesteel.rest.gateway.limits import Limits
from harness.waiting import until


def test_idle_sessions_are_closed(tmp_path: Path) -> None:
    settings = GatewaySettings(str(tmp_path), 1, None, True, Limits(idle_ms=20, check_ms=20))
    process = GatewayProcess(msgspec.json.encode(settings).decode(), tmp_path / "log")
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
