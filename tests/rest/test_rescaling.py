"""A job is rescaled within the slots of its cluster."""

from __future__ import annotations

from starlette.testclient import TestClient

from firesteel.rest.routes import GROUPS
from firesteel.rest.security import Security
from firesteel.rest.server import application
from tests.rest.in_process import Server

LOCAL = "http://127.0.0.1:8081"
REFUSED = "requires a parallelism of at most 4, the slots that it has and those that are free; got 5"


def test_a_rescale_for_which_slots_are_missing_is_refused(server: Server):
    web = application(server.cluster, GROUPS, Security())
    service = TestClient(web, base_url=LOCAL)
    job = f"/jobs/{server.record.id}"
    asked = service.post(f"{job}/rescale", json={"parallelism": 5}).json()["request-id"]
    answer = service.get(f"{job}/requests/{asked}")
    assert answer.status_code == 500
    assert REFUSED in answer.text
    bounds = {
        vertex: {"parallelism": {"lowerBound": 1, "upperBound": 5}} for vertex in server.vertices.values()
    }
    answer = service.put(f"{job}/resource-requirements", json=bounds)
    assert answer.status_code == 409
    assert REFUSED in answer.text
