"""Everything that README and docs print runs, and prints what they say; every link leads to what it names.

How a page is read, from top to bottom, in a directory of its own:

- a `python` block is saved under the name in its first line, `# name.py`; if a `text` block follows, it is run at once;
- an `sql` block is saved under the name in its first line, `-- name.sql`, and a later `sh` block runs it;
- an `sh` block is run line by line, `./run` and `firesteel` from this checkout; what needs a cluster is only checked
  for options that exist, what a test of its own covers (`./run demo`) only for being there; what installs or starts
  something (`pip install`, `docker run`) is left out;
- a `bash` block is a script: its processes may go on in the background;
- a `text` block is the output of what came before it.

Where a page needs a server, the harness starts one, and the place that the page names stands for the server's.

Each program has a process of its own on the first page; on the other pages all share one (`tests/reader.py`), since
starting Spark takes longer than running them. Some pages need a Spark of their own.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tokenize
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from subprocess import CompletedProcess
from typing import NamedTuple

import pytest

from harness import azurite, gcs, hdfs
from harness.kafka import kafka_broker
from harness.mariadb import mariadb_server
from harness.postgres import postgres_server
from harness.registry import SchemaRegistry
from tests.rest.gateway.gateway_here import GatewayHere

RunPython = Callable[..., CompletedProcess[str]]

PROJECT = Path(__file__).parents[1]
PAGES = [*sorted(PROJECT.glob("*.md")), *sorted((PROJECT / "docs").glob("*.md"))]
LENGTHY = {"state-processor", "kafka", "kafka-tour", "hdfs", "object-stores"}
"""The pages that are only run with --long: all but the first need a server that is fetched first."""

LONG = [pytest.mark.long, pytest.mark.timeout(900)]

SERVERS = {
    "kafka": ["kafka"],
    "kafka-tour": ["kafka"],
    "hdfs": ["hdfs_cluster"],
    "databases": ["postgres", "mariadb"],
    "formats": ["registry"],
    "object-stores": ["azure", "google"],
    "sql-gateway": ["sql_gateway"],
}
"""By page, the fixtures of the servers that its programs need."""

OWN_SPARK = {*SERVERS, "custom-connectors"}
"""The pages whose programs need workers that have been started on the page: with its variables, or in its directory."""

INSTALLING = ("pip", "docker", "export", "moto_server")


BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROCESS_WIDE = re.compile(
    r"sys\.(meta_path\.\w|excepthook=|path\.(insert|append|extend|remove)|path\[:\]=|set\w+\()"
    r"|atexit\.register|_register_atexit|register_at_fork\(|signal\.signal\("
    r"|os\.(dup2|chdir|umask|putenv)\(|os\.environ(\.setdefault|\.update|\[.*\]=)"
    r"|gc\.(freeze|disable|set\w+)\(|\.setLevel\(|co_stacksize=|vars\(sys\.modules|locale\.setlocale"
    r"|warnings\.(simple)?filter|multiprocessing\.set_|socket\.setdefault"
)
"""What has an effect beyond the objects of the caller; in code without blanks and strings."""

LINK = re.compile(r"\[([^\]]+)\]\(([^)\s]+)\)")
IDENTIFIER = re.compile(r"`([A-Za-z_]\w*)`")
CODE_LINES = re.compile(r"^( {4}|```).*", re.MULTILINE)

OWN_PROCESSES = {"README"}
OWN_TESTS = {"demo", "sql-demo", "test", "check", "bench"}
ELSEWHERE = ("spark://", "s3://", "k8s://")
PYFLINK_PROGRAM = (
    (PROJECT / "examples" / "word_count.py").read_text().replace("from firesteel", "from pyflink")
)


class Block(NamedTuple):
    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    return [Block(*match.groups()) for match in BLOCK.finditer(page.read_text())]


class Reader:
    """Does what a reader of the page would do."""

    def __init__(self, directory: Path, run_python: RunPython, places: Mapping[str, str]) -> None:
        self.directory = directory
        self.run_python = run_python
        self.places = places
        self.scripts: list[int] = []
        self.printed: str | None = None
        self.not_run: set[str] = set()
        (directory / "examples").symlink_to(PROJECT / "examples")
        (directory / "program.py").write_text(PYFLINK_PROGRAM)

    def save(self, text: str, mark: str = "# ") -> str:
        first = text.partition("\n")[0]
        assert first.startswith(mark), f"a program begins with its file name, not with {first!r}"
        name = first.removeprefix(mark)
        (self.directory / name).write_text(self.placed(text))
        self.not_run.add(name)
        return name

    def placed(self, text: str) -> str:
        for place, server in self.places.items():
            text = text.replace(place, server)
        return text

    def python(self, *arguments: str) -> None:
        done = self.run_python(*arguments)
        assert done.returncode == 0, f"{arguments}:\n{done.stderr}"
        self.printed = done.stdout
        self.not_run.difference_update(arguments)

    def script(self, text: str) -> None:
        """Run a script; what it has in the background goes on until `close`."""
        programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        path = os.pathsep.join([str(PROJECT / "src"), *sys.path])
        output, errors = self.directory / "printed", self.directory / "errors"
        with output.open("w") as printed, errors.open("a") as log:
            process = subprocess.Popen(
                ["bash", "-e", "-c", text],
                stdout=printed,
                stderr=log,
                cwd=self.directory,
                env={**os.environ, "PATH": programs, "PYTHONPATH": path},
                start_new_session=True,
            )
            self.scripts.append(process.pid)
            assert process.wait() == 0, f"{text}:\n{errors.read_text()}"
        self.printed = output.read_text()
        self.not_run -= {name for name in self.not_run if name in text}

    def close(self) -> None:
        """End what scripts have left running."""
        for script in self.scripts:
            with suppress(ProcessLookupError):
                os.killpg(script, signal.SIGKILL)

    def shell(self, line: str) -> None:
        words = shlex.split(self.placed(line))
        if words[0] == "./run":
            words = words[1:]
        if words[0] in OWN_TESTS or words[:2] == ["python", "-m"]:
            return
        if words[0] == "firesteel":
            if any(place in line for place in ELSEWHERE):
                self.check_options(words)
            else:
                self.python("-m", "firesteel.cli", *words[1:])
        elif words[0] == "pytest":
            subprocess.run([sys.executable, "-m", *words], cwd=self.directory, check=True)
            self.not_run.difference_update(words)
        elif words[0] not in INSTALLING:
            assert words[0] in ("mkdir", "echo"), f"no way to test: {line}"
            subprocess.run(["/bin/sh", "-c", line], cwd=self.directory, check=True)

    def check_options(self, words: list[str]) -> None:
        manual = self.run_python("-m", "firesteel.cli", words[1], "--help").stdout
        for option in (word for word in words if word.startswith("--")):
            assert option in manual
        self.not_run.difference_update(words)


@contextmanager
def reading_python(directory: Path) -> Iterator[RunPython]:
    """A process of `tests/reader.py`, which begins in a directory."""
    with subprocess.Popen(
        [sys.executable, PROJECT / "tests" / "reader.py"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(PROJECT / "src"), *sys.path])},
        cwd=directory,
    ) as process:

        def run(directory: Path, *arguments: str) -> CompletedProcess[str]:
            assert process.stdin is not None
            assert process.stdout is not None
            print(json.dumps([str(directory), arguments]), file=process.stdin, flush=True)
            answer = process.stdout.readline()
            assert answer, f"{arguments} ended the process"
            return CompletedProcess(arguments, *json.loads(answer))

        yield run


@pytest.fixture
def one_python(tmp_path: Path) -> Iterator[RunPython]:
    """Runs `python ARGUMENTS` in one process for the whole test."""
    with reading_python(tmp_path) as run:
        yield partial(run, tmp_path)


@pytest.fixture(scope="module")
def python_of_pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunPython]:
    with reading_python(tmp_path_factory.mktemp("pages")) as run:
        yield run


@pytest.fixture
def shared_python(python_of_pages: RunPython, tmp_path: Path) -> RunPython:
    """Runs `python ARGUMENTS` in the process of all pages that need no server."""
    return partial(python_of_pages, tmp_path)


@pytest.fixture(scope="module")
def kafka() -> Iterator[dict[str, str]]:
    with kafka_broker() as broker:
        yield {"localhost:9092": broker.bootstrap}


@pytest.fixture(scope="module")
def hdfs_cluster() -> Iterator[dict[str, str]]:
    with hdfs.serving() as url:
        yield {"webhdfs://localhost:9870": url}


@pytest.fixture
def registry() -> Iterator[dict[str, str]]:
    with SchemaRegistry().serving() as url:
        yield {"http://localhost:8081": url}


@pytest.fixture
def postgres(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    with postgres_server() as server:
        monkeypatch.setenv("PGPASSWORD", server.password)
        yield {"localhost:5432/shop": f"127.0.0.1:{server.port}/{server.new_database()}"}


@pytest.fixture
def mariadb(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    with mariadb_server() as server:
        monkeypatch.setenv("MARIADB_PASSWORD", server.password)
        yield {"localhost:3306/shop": f"127.0.0.1:{server.port}/{server.new_database()}"}


@pytest.fixture
def azure(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    with azurite.serving() as url:
        for name, value in azurite.environment(url).items():
            monkeypatch.setenv(name, value)
        yield {"az://shop": f"az://{azurite.new_container(url)}"}


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, str]]:
    with gcs.serving() as url:
        for name, value in gcs.environment(url).items():
            monkeypatch.setenv(name, value)
        yield {"gs://shop": f"gs://{gcs.new_bucket(url)}"}


@pytest.fixture
def sql_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with GatewayHere(tmp_path_factory.mktemp("gateway")).listening() as url:
        yield {"http://127.0.0.1:8081": url}


@pytest.mark.spark
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, id=page.stem, marks=LONG if page.stem in LENGTHY else []) for page in PAGES],
)
def test_what_is_printed_runs(page: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    places: dict[str, str] = {}
    for server in SERVERS.get(page.stem, ()):
        places |= request.getfixturevalue(server)
    own, shared = page.stem in OWN_PROCESSES, page.stem not in OWN_SPARK
    python = request.getfixturevalue("run_python" if own else "shared_python" if shared else "one_python")
    reader = Reader(tmp_path, python, places)
    request.addfinalizer(reader.close)
    found = blocks(page)
    for block, following in pairwise([*found, Block("", "")]):
        match block.language:
            case "python":
                name = reader.save(block.text)
                if following.language == "text":
                    reader.python(name)
            case "sql":
                reader.save(block.text, "-- ")
            case "sh":
                for line in block.text.splitlines():
                    reader.shell(line)
            case "bash":
                reader.script(block.text)
            case "text":
                assert reader.printed == block.text
            case "mermaid":  # tests/control/test_machine.py compares it with the code
                continue
            case language:
                pytest.fail(f"a block of an unknown kind: {language!r}")
    assert not reader.not_run, "saved, but never run"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_to_what_they_name(page: Path) -> None:
    for text, target in LINK.findall(CODE_LINES.sub("", page.read_text())):
        if "://" in target:
            continue
        path, _, section = target.partition("#")
        file = (page.parent / path) if path else page
        assert file.exists(), f"{page.name}: {target}"
        name = IDENTIFIER.fullmatch(text)
        if name and file.suffix == ".py":
            assert re.search(rf"\b{name[1]}\b", file.read_text()), f"{page.name}: {target} has no {name[1]}"
        if section:
            titles = re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE)
            assert section in {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, todo = set(), [PROJECT / "README.md"]
    while todo:
        page = todo.pop().resolve()
        if page in reached:
            continue
        reached.add(page)
        links = (page.parent / target.partition("#")[0] for _, target in LINK.findall(page.read_text()))
        todo.extend(link for link in links if link.suffix == ".md" and link.exists())
    assert {page.resolve() for page in PAGES} <= reached


def test_the_run_script_names_what_the_pages_use(project: Path) -> None:
    usage = subprocess.run([str(project / "run")], capture_output=True, text=True, check=True).stdout
    used = {name for page in PAGES for name in re.findall(r"\./run (\w+)", page.read_text())}
    assert used >= {"demo", "test", "check", "bench"}
    for command in used & OWN_TESTS:
        assert re.search(rf"^  {command}\b", usage, re.MULTILINE)


def code_alone(path: Path) -> str:
    """The text of a module without blanks, strings and comments."""
    dropped = {tokenize.STRING, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT}
    with path.open() as lines:
        return "".join(
            token.string for token in tokenize.generate_tokens(lines.readline) if token.type not in dropped
        )


def test_the_page_lists_all_that_is_changed_for_the_whole_process() -> None:
    page = PROJECT / "docs" / "deployment.md"
    section = page.read_text().partition("## What Firesteel changes in your process")[2].partition("\n## ")[0]
    listed = {(page.parent / target).resolve() for _, target in LINK.findall(section)}
    changing = {path for path in (PROJECT / "src").rglob("*.py") if PROCESS_WIDE.search(code_alone(path))}
    assert len(changing) > 10
    assert sorted(changing - listed) == []
