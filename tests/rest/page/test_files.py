"""The page's files: found by their version, kept by browsers, compressed, and with a policy that runs nothing else."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from firesteel.common.errors import ConfigurationError
from firesteel.rest.calls import Cluster, Right
from firesteel.rest.dispatcher import Dispatcher
from firesteel.rest.page.files import STATIC, PageFiles
from firesteel.rest.page.flink_ui import FlinkUi
from firesteel.rest.routes import GROUPS
from firesteel.rest.security import Security
from firesteel.rest.server import application

LOCAL = "http://127.0.0.1:8081"
TOKEN = "v" * 16

MOST_SCRIPT = 300_000
"""Bytes of script, compressed."""


def client(directory: Path, security: Security, flink_ui: FlinkUi | None = None) -> TestClient:
    cluster = Cluster(Dispatcher(directory, 4), directory / "programs", LOCAL, 0)
    web = application(cluster, GROUPS, security, flink_ui=flink_ui)
    return TestClient(web, base_url=LOCAL, raise_server_exceptions=False)


@pytest.fixture
def service(tmp_path: Path) -> TestClient:
    return client(tmp_path, Security())


def folder(service: TestClient) -> str:
    found = re.search(r'"(page/[0-9a-f]{16}/)app\.js"', service.get("/").text)
    assert found is not None
    return f"/{found[1]}"


def test_the_page_and_all_that_it_names_is_there(service: TestClient):
    index = service.get("/")
    assert (index.status_code, index.headers["content-type"]) == (200, "text/html; charset=utf-8")
    named = re.findall(r'(?:src|href)="(page/[^"]+)"', index.text)
    assert len(named) == 5
    for path in named:
        assert service.get(f"/{path}").status_code == 200, path


def test_each_module_that_is_imported_is_there():
    for module in STATIC.rglob("*.js"):
        for name in re.findall(r'(?:from|import\() ?"([^"]+)"', module.read_text()):
            assert (module.parent / name).is_file(), (module, name)


def test_browsers_keep_files_for_ever_and_ask_for_the_page_itself_again(service: TestClient):
    assert service.get("/").headers["cache-control"] == "no-cache"
    answer = service.get(folder(service) + "views/job.js")
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    for path in ("/", folder(service) + "page.css"):
        tag = service.get(path).headers["etag"]
        again = service.get(path, headers={"if-none-match": tag})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        assert service.get(path, headers={"if-none-match": 'W/"other"'}).status_code == 200


def test_another_text_is_another_version(tmp_path: Path):
    shutil.copytree(STATIC, tmp_path / "static")
    before = PageFiles(tmp_path / "static").version
    assert before == PageFiles().version
    (tmp_path / "static" / "views" / "job.js").write_text("// other\n")
    assert PageFiles(tmp_path / "static").version != before


@pytest.mark.parametrize(
    "name", ["none.js", "../board.py", "..%2fboard.py", "index.html", "", "views", "%00"]
)
def test_there_are_no_other_files(service: TestClient, name: str):
    assert service.get(folder(service) + name).status_code == 404
    assert service.get(f"/page/{'0' * 16}/{name}").status_code == 404


def test_files_are_compressed_for_those_who_take_it(service: TestClient):
    path = folder(service) + "dom.js"
    with service.stream("GET", path, headers={"accept-encoding": "br, gzip"}) as answer:
        packed = b"".join(answer.iter_raw())
        assert answer.headers["content-encoding"] == "gzip"
    plain = service.get(path, headers={"accept-encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert gzip.decompress(packed) == plain.content == (STATIC / "dom.js").read_bytes()
    assert plain.headers["vary"] == "Accept-Encoding"


@pytest.fixture(params=["jar", "directory", "directory of web"])
def flink_ui(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The files of a UI, as they can be given."""
    web = tmp_path / "unpacked" / "web"
    (web / "assets").mkdir(parents=True)
    (web / "index.html").write_text("<html>Flink</html>")
    (web / "main.0f.js").write_text("run()")
    (web / "assets" / "icon.svg").write_text("<svg/>")
    if request.param == "jar":
        made = shutil.make_archive(str(tmp_path / "ui"), "zip", tmp_path / "unpacked")
        return Path(made)
    return web if request.param == "directory" else web.parent


def test_flinks_web_ui_is_beside_the_paths_that_it_asks_for(flink_ui: Path, tmp_path: Path):
    service = client(tmp_path, Security(), FlinkUi(flink_ui))
    for path, media_type in {
        "/flink/": "text/html; charset=utf-8",
        "/flink/index.html": "text/html; charset=utf-8",
        "/flink/main.0f.js": "text/javascript; charset=utf-8",
        "/flink/assets/icon.svg": "image/svg+xml",
    }.items():
        answer = service.get(path)
        assert (answer.status_code, answer.headers["content-type"]) == (200, media_type)
        again = service.get(path, headers={"if-none-match": answer.headers["etag"]})
        assert again.status_code == 304
    assert service.get("/flink", follow_redirects=False).headers["location"].endswith("/flink/")
    assert service.get("/flink/overview").json() == service.get("/overview").json()
    assert service.get("/flink/assets/..%2F..%2Fprogram").status_code == 404
    assert service.get("/").text != service.get("/flink/").text


def test_flinks_web_ui_gets_no_more_than_a_token_allows(flink_ui: Path, tmp_path: Path):
    service = client(tmp_path, Security({TOKEN: Right.VIEWER}), FlinkUi(flink_ui))
    assert service.get("/flink/").status_code == 200
    assert service.get("/flink/overview").status_code == 401
    headers = {"Authorization": f"Bearer {TOKEN}"}
    assert service.get("/flink/overview", headers=headers).status_code == 200
    assert service.post(f"/flink/jobs/{'0' * 32}/stop", headers=headers).status_code == 403


def test_what_is_no_web_ui_is_refused(tmp_path: Path):
    (tmp_path / "text").write_text("no archive")
    for place, got in ("text", "File is not a zip file"), ("none", "No such file"), (".", "no index.html"):
        with pytest.raises(ConfigurationError, match=got):
            FlinkUi(tmp_path / place)


def test_the_page_is_small():
    assert PageFiles().size(".js") < MOST_SCRIPT


def test_nothing_runs_that_is_not_a_file_of_the_server(service: TestClient):
    answer = service.get("/")
    policy = dict(part.strip().split(" ", 1) for part in answer.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["require-trusted-types-for"] == "'script'"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\bstyle=|\bon\w+=", answer.text) == []


def test_no_module_makes_html_of_a_text():
    """Browsers with trusted types refuse it; this holds for the others."""
    dangerous = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc"
    )
    assert [path.name for path in STATIC.rglob("*.js") if dangerous.search(path.read_text())] == []


def test_the_page_needs_no_token_and_its_data_does(tmp_path: Path):
    service = client(tmp_path, Security({TOKEN: Right.VIEWER}))
    assert service.get("/").status_code == 200
    assert service.get(folder(service) + "app.js").status_code == 200
    assert service.get("/page/jobs").status_code == 401
    answer = service.get("/page/jobs", headers={"authorization": f"Bearer {TOKEN}"})
    assert (answer.status_code, answer.json()["jobs"]) == (200, [])


def test_modules_that_need_no_browser(tmp_path: Path):
    node = shutil.which("node")
    if node is None:
        pytest.skip("no node on the PATH, which runs the page's modules")
    shutil.copytree(STATIC, tmp_path / "static")
    (tmp_path / "package.json").write_text('{"type": "module"}')
    shutil.copy(Path(__file__).with_name("modules.test.mjs"), tmp_path)
    done = subprocess.run(
        [node, "--test", "--test-reporter=tap"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout
    assert "# fail 0" in done.stdout
