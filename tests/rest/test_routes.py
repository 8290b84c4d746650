"""Paths without a job that runs: submission, what is refused and why, and the description of the service."""

from __future__ import annotations

import io
import stat
import zipfile
from pathlib import Path

import pytest
from openapi_spec_validator import validate
from starlette.testclient import TestClient

from firesteel.common.errors import ConfigurationError
from firesteel.rest.calls import Cluster, Right
from firesteel.rest.dispatcher import Dispatcher, new_job_id
from firesteel.rest.routes import GROUPS
from firesteel.rest.security import Security, read_tokens, require_protection
from firesteel.rest.server import MOST_BODY, application
from tests.rest.shapes import differences, recorded

LOCAL = "http://127.0.0.1:8081"
UNKNOWN = "0" * 31 + "1"
VIEWER, OPERATOR, SUBMITTER = "v" * 16, "o" * 16, "s" * 16
TOKENS = {VIEWER: Right.VIEWER, OPERATOR: Right.OPERATOR, SUBMITTER: Right.SUBMITTER}


def client(
    directory: Path, security: Security | None = None, *, submission: bool = True, most_upload: int = 1 << 20
) -> TestClient:
    cluster = Cluster(
        Dispatcher(directory, 4, secrets={"KEY": "hidden"}), directory / "programs", LOCAL, 0, {}, submission
    )
    web = application(cluster, GROUPS, security or Security(), most_upload)
    return TestClient(web, base_url=LOCAL, raise_server_exceptions=False)


@pytest.fixture
def service(tmp_path: Path) -> TestClient:
    return client(tmp_path)


def upload(service: TestClient, name: str = "main.py", data: bytes = b"print()", path: str = "/v1/programs"):
    return service.post(path, files={"jarfile": (name, data)})


def archive(*files: tuple[str, bytes]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as made:
        for name, content in files:
            made.writestr(name, content)
    return data.getvalue()


def uploaded(service: TestClient, name: str = "main.py", data: bytes = b"print()") -> str:
    answer = upload(service, name, data)
    assert answer.status_code == 200, answer.text
    return answer.json()["filename"].rpartition("/")[2]


@pytest.mark.parametrize("base", ["/jars", "/v1/jars", "/programs", "/v1/programs"])
def test_a_program_is_uploaded_listed_run_and_deleted(service: TestClient, base: str):
    program = upload(service, path=base + ("/upload" if "jars" in base else "")).json()
    assert program["status"] == "success"
    program_id = program["filename"].rpartition("/")[2]
    (listed,) = service.get(base).json()["files"]
    assert (listed["id"], listed["name"]) == (program_id, "main.py")
    job = service.post(f"{base}/{program_id}/run", json={"parallelism": 2}).json()["jobid"]
    assert service.get("/jobs").json() == {"jobs": [{"id": job, "status": "CREATED"}]}
    assert service.delete(f"{base}/{program_id}").json() == {}
    assert service.get(base).json()["files"] == []
    assert service.get(f"/jobs/{job}/status").json() == {"status": "CREATED"}


def test_a_run_that_is_sent_twice_with_an_id_is_one_job(service: TestClient):
    program, job = uploaded(service), new_job_id()
    for _ in range(2):
        assert service.post(f"/jars/{program}/run", json={"jobId": job}).json() == {"jobid": job}
    assert len(service.get("/jobs").json()["jobs"]) == 1


GRAPH = b"""
from firesteel.datastream import StreamExecutionEnvironment

env = StreamExecutionEnvironment.get_execution_environment()
env.from_collection([1, 2]).map(lambda number: number + 1).name("a < b").print()
env.execute("planned")
"""


def test_a_program_is_planned_and_not_run(service: TestClient):
    program = uploaded(service, data=GRAPH)
    found = service.get(f"/jars/{program}/plan?parallelism=2").json()["plan"]
    assert (found["name"], found["type"]) == ("planned", "STREAMING")
    assert [node["parallelism"] for node in found["nodes"]] == [2, 1]
    assert found["nodes"][0]["description"].startswith("a &lt; b<br/>")
    assert service.get("/jobs").json() == {"jobs": []}


def test_a_program_that_cannot_be_planned_says_why(service: TestClient):
    program = uploaded(service, data=b"raise SystemError('broken')")
    answer = service.post(f"/jars/{program}/plan")
    assert (answer.status_code, "broken" in answer.json()["errors"][0]) == (400, True)


def test_answers_are_compressed_if_a_client_takes_it_and_they_are_long(service: TestClient):
    for coding, packed in (("gzip", "gzip"), ("identity", None)):
        headers = {"accept-encoding": coding}
        long, short = (service.get(path, headers=headers) for path in ("/openapi.json", "/overview"))
        assert long.headers.get("content-encoding") == packed
        assert "content-encoding" not in short.headers
        assert long.headers["vary"] == "Accept-Encoding"
        assert long.json()["openapi"].startswith("3.")


def test_an_archive_is_unpacked_with_what_it_requires(service: TestClient, tmp_path: Path):
    data = archive(("main.py", b""), ("package/__init__.py", b""), ("requirements.txt", b"six\n"))
    program = uploaded(service, "job.zip", data)
    job = service.post(f"/programs/{program}/run", json={"entryClass": "package.main"}).json()["jobid"]
    assert (tmp_path / "jobs" / job / "program" / "package" / "__init__.py").is_file()
    assert (tmp_path / "jobs" / job / "program" / "requirements.txt").read_text() == "six\n"


@pytest.mark.parametrize("name", ["../up.py", "/etc/x.py", "..\\up.py"])
def test_a_name_with_a_path_loses_it(service: TestClient, name: str, tmp_path: Path):
    program = uploaded(service, name)
    assert (tmp_path / "programs" / program / "code").is_dir()
    assert "/" not in program.partition("_")[2]


def link() -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as made:
        entry = zipfile.ZipInfo("main.py")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        made.writestr(entry, "/etc/passwd")
    return data.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("job.zip", b"nonsense", "zip archive that can be read"),
        ("job.zip", archive(("../../up.py", b"")), "files below the archive"),
        ("job.zip", archive(("/etc/up.py", b"")), "files below the archive"),
        ("job.zip", link(), "files below the archive"),
        ("job.jar", b"", "Only Python files"),
        ("a b.py", b"", "Only Python files"),
    ],
    ids=["no archive", "above", "absolute", "link", "jar", "space"],
)
def test_uploads_of_nonsense_are_refused_and_leave_nothing(
    service: TestClient, tmp_path: Path, name: str, data: bytes, reason: str
):
    answer = upload(service, name, data)
    assert answer.status_code == 400
    assert reason in answer.json()["errors"][0]
    assert list((tmp_path / "programs").glob("*")) == []


def test_uploads_and_bodies_are_bounded(tmp_path: Path):
    service = client(tmp_path, most_upload=1000)
    assert upload(service, data=b"#" * (MOST_BODY + 2000)).status_code == 413
    parts = (b"#" * 100_000 for _ in range(12))  # without a length in the header
    form = {"content-type": "multipart/form-data; boundary=b"}
    assert service.post("/programs", content=parts, headers=form).status_code == 413
    assert service.post(f"/jobs/{UNKNOWN}/stop", content=b" " * (MOST_BODY + 1)).status_code == 413


def test_a_run_is_refused_with_a_reason(service: TestClient):
    program = uploaded(service)
    for body, reason in [
        ({"parallelism": 5}, "parallelism of at most 4, the slots of this cluster; got 5"),
        ({"parallelism": 0}, "parallelism of at least 1"),
        ({"entryFile": "../other.py"}, "a file of the program"),
        ({"entryClass": "os; rm"}, "the dotted name of a module"),
        ({"secrets": ["OTHER"]}, "secrets that this cluster has"),
        ({"jobId": "../../x"}, "32 hexadecimal digits"),
        ({"parallelism": "two"}, "did not match expected format"),
    ]:
        answer = service.post(f"/programs/{program}/run", json=body)
        assert (answer.status_code, reason in answer.json()["errors"][0]) == (400, True), answer.text
    assert service.post("/programs/none/run").status_code == 404
    assert service.get("/jobs").json() == {"jobs": []}


def test_unknown_jobs_and_paths_are_answered_as_flink_does(service: TestClient):
    seen = 0
    for request in recorded():
        if request.status not in (400, 404):
            continue
        answer = service.request(request.method, request.path)
        assert answer.status_code == request.status, request.name
        assert list(differences(request.answer, answer.json())) == [], request.name
        assert "\tat " not in answer.text
        seen += 1
    assert seen >= 5


def test_paths_of_the_cluster_have_flinks_shape(service: TestClient):
    names = "config overview jars datasets"
    by_name = {request.name: request for request in recorded()}
    for name in names.split():
        request = by_name[f"GET_{name}.200.txt"]
        for path in (request.path, f"/v1{request.path}"):
            answer = service.get(path)
            assert answer.status_code == 200
            assert answer.headers["content-type"] == "application/json; charset=UTF-8"
            assert list(differences(request.answer, answer.json())) == [], name


NASTY = ["..", "%2e%2e", "0" * 32, UNKNOWN, "x" * 5000, "%00", "a%2Fb", "'\"", "-1", "9" * 40]


@pytest.mark.parametrize("text", NASTY)
def test_no_address_makes_the_service_fail(service: TestClient, text: str):
    for route in (route for group in GROUPS for route in group):
        path = "/".join(text if part.startswith(":") else part for part in route.path.split("/"))
        for body in (b"", b"{", b"[]", b'{"parallelism": null}'):
            if route.takes_files:
                continue
            answer = service.request(route.method, path, content=body)
            assert answer.status_code < 500, (route.path, answer.text)


def test_the_description_is_openapi(service: TestClient):
    document = service.get("/openapi.json").json()
    validate(document)
    assert "/v1/jobs/{jobid}/savepoints" in document["paths"]
    body = document["components"]["schemas"]["SavepointBody"]
    assert "target-directory" in body["properties"]
    assert all(route.summary.endswith(".") for group in GROUPS for route in group)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_token_gives_its_rights_and_no_more(tmp_path: Path):
    service = client(tmp_path, Security(TOKENS))
    program = upload_with(service, SUBMITTER)
    stop = f"/jobs/{UNKNOWN}/stop"
    for token, look, end, run in (
        (VIEWER, 200, 403, 403),
        (OPERATOR, 200, 404, 403),
        (SUBMITTER, 200, 404, 200),
        ("x" * 16, 401, 401, 401),
    ):
        headers = bearer(token)
        assert service.get("/overview", headers=headers).status_code == look
        assert service.post(stop, headers=headers).status_code == end
        assert service.post(f"/jars/{program}/run", headers=headers).status_code == run
    assert service.get("/overview").status_code == 401
    assert service.get("/overview").headers["www-authenticate"] == "Bearer"


def test_a_page_is_told_what_its_token_allows(tmp_path: Path):
    service = client(tmp_path, Security(TOKENS), submission=False)
    for right, token, secrets in (
        ("viewer", VIEWER, []),
        ("operator", OPERATOR, []),
        ("submitter", SUBMITTER, ["KEY"]),
    ):
        told = service.get("/page/rights", headers=bearer(token)).json()
        assert told == {"right": right, "submission": False, "secrets": secrets}
    assert service.get("/page/rights").status_code == 401
    assert client(tmp_path).get("/page/rights").json()["right"] == "submitter"


def upload_with(service: TestClient, token: str) -> str:
    answer = service.post("/programs", files={"jarfile": ("main.py", b"")}, headers=bearer(token))
    return answer.json()["filename"].rpartition("/")[2]


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Host": "evil.example:8081"},
    ],
)
def test_requests_that_another_site_makes_a_browser_send_are_refused(
    service: TestClient, headers: dict[str, str]
):
    assert service.get("/overview", headers=headers).status_code == 403
    assert service.patch(f"/jobs/{UNKNOWN}", headers=headers).status_code == 403


def test_the_page_of_the_server_itself_is_served(service: TestClient):
    headers = {"Origin": LOCAL, "Sec-Fetch-Site": "same-origin"}
    assert service.get("/overview", headers=headers).status_code == 200


def test_submission_can_be_switched_off(tmp_path: Path):
    service = client(tmp_path, submission=False)
    answer = upload(service)
    assert (answer.status_code, answer.json()) == (
        403,
        {"errors": ["Submission is switched off on this cluster."]},
    )
    assert service.get("/config").json()["features"]["web-submit"] is False


def test_a_server_beyond_this_machine_requires_tokens_and_tls():
    require_protection("127.0.0.1", {}, tls=False)
    require_protection("::1", {}, tls=False)
    with pytest.raises(ConfigurationError, match="requires tokens to listen beyond this machine"):
        require_protection("0.0.0.0", {}, tls=True)
    with pytest.raises(ConfigurationError, match="requires TLS to listen beyond this machine"):
        require_protection("192.0.2.1", TOKENS, tls=False)
    require_protection("0.0.0.0", TOKENS, tls=True)


@pytest.mark.parametrize("text", ["admin 0123456789abcdef", "viewer short", "0123456789abcdef"])
def test_tokens_that_are_none_are_refused(text: str):
    with pytest.raises(
        ConfigurationError, match="line 1 of the tokens requires lines of ROLE TOKEN"
    ) as error:
        read_tokens(text)
    assert "0123456789abcdef" not in str(error.value)


def test_a_secret_is_in_no_answer(service: TestClient):
    program = uploaded(service)
    job = service.post(f"/jars/{program}/run", json={"secrets": ["KEY"]}).json()["jobid"]
    for path in ("", "/config", "/exceptions", "/log", "/plan"):
        assert "hidden" not in service.get(f"/jobs/{job}{path}").text
    assert "hidden" not in service.get("/jobmanager/config").text


def test_the_logs_of_the_server_and_of_its_session(service: TestClient, tmp_path: Path):
    assert service.get("/jobmanager/logs").json() == {"logs": []}
    assert service.get("/jobmanager/log").text == ""
    (tmp_path / "server.log").write_text("serving\n")
    (tmp_path / "session").mkdir()
    (tmp_path / "session" / "session.log").write_text("[orders] printed\n")
    listed = service.get("/jobmanager/logs").json()["logs"]
    assert [(log["name"], log["size"]) for log in listed] == [("server.log", 8), ("session.log", 17)]
    assert service.get("/jobmanager/log").text == "serving\n"
    assert service.get("/jobmanager/logs/session.log").text == "[orders] printed\n"
    assert service.get("/jobmanager/logs/session.lock").status_code == 404
    assert service.get("/jobmanager/logs/..%2Fserver.log").status_code == 404
