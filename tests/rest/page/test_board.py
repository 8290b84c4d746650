"""What the overview asks for: all jobs once, and then only those that have changed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import pytest

from firesteel.control.views.metrics import read_metrics, write_metrics
from firesteel.rest.calls import Call, Refusal
from firesteel.rest.page.board import Board, JobRow, row_of
from firesteel.rest.page.recent import MOST_POINTS, Recent, Seen
from firesteel.rest.page.shared import Shared
from firesteel.rest.routes.page import flow, recent, recent_of_vertex
from firesteel.rest.standing import standing
from harness.waiting import until
from tests.rest.in_process import NUMBERS, Server

ROW = JobRow("", "job", "RUNNING", "STREAMING", "ok", 1, None, 1, 0)


@dataclass
class Record:
    id: str


@dataclass
class Jobs:
    """Jobs by id, and how often each was looked at; a look takes `cost` seconds."""

    rows: dict[str, JobRow] = field(default_factory=dict)
    looks: list[str] = field(default_factory=list)
    time: float = 0.0
    cost: float = 0.0

    def __post_init__(self) -> None:
        self.board = Board(self.look, lambda: self.time)

    def add(self, job_id: str, **changes: Any) -> None:
        self.rows[job_id] = msgspec.structs.replace(self.rows.get(job_id, ROW), id=job_id, **changes)

    def look(self, record: Any) -> JobRow:
        self.looks.append(record.id)
        self.time += self.cost
        return self.rows[record.id]

    def ask(self, known: str = "", after: float = 0.0) -> Any:
        self.time += after
        records: Any = [Record(job_id) for job_id in self.rows]
        return self.board.changes(lambda: records, known)


def ids(changes: Any) -> list[str]:
    return [row.id for row in changes.jobs]


def test_only_changes_are_sent():
    jobs = Jobs()
    jobs.add("a")
    jobs.add("b")
    first = jobs.ask()
    assert (first.all, ids(first), first.gone) == (True, ["a", "b"], [])
    second = jobs.ask(first.version, after=2)
    assert (second.all, ids(second), second.version) == (False, [], first.version)
    jobs.add("b", status="FAILED", end=2)
    jobs.add("c")
    third = jobs.ask(first.version, after=2)
    assert (third.all, ids(third)) == (False, ["b", "c"])
    assert ids(jobs.ask(third.version, after=2)) == []
    assert ids(jobs.ask(first.version)) == ["b", "c"]


def test_a_job_that_is_gone_is_named_to_those_who_know_it():
    jobs = Jobs()
    jobs.add("a")
    known = jobs.ask().version
    del jobs.rows["a"]
    changes = jobs.ask(known, after=2)
    assert (ids(changes), changes.gone) == ([], ["a"])
    assert jobs.ask(changes.version).gone == jobs.ask("").gone == []


def test_all_pages_share_a_look_and_ended_jobs_are_looked_at_once():
    jobs = Jobs()
    jobs.add("running")
    jobs.add("ended", status="FINISHED", end=5)
    for _ in range(50):
        jobs.ask()
    assert jobs.looks == ["running", "ended"]
    jobs.ask(after=1.1)
    assert jobs.looks == ["running", "ended", "running"]


def test_what_is_at_hand_is_answered_without_a_look():
    jobs = Jobs()
    jobs.add("a")
    assert jobs.board.at_hand("") is None
    first = jobs.ask()
    at_hand = jobs.board.at_hand("")
    assert at_hand is not None
    assert (ids(at_hand), at_hand.version) == (["a"], first.version)
    jobs.time += 1.1
    assert jobs.board.at_hand("") is None


def test_an_answer_is_shared_for_a_while():
    time, computed = [0.0], []
    shared = Shared[int](1.0, lambda: time[0])
    for _ in range(3):
        assert shared.of("a", lambda: computed.append(1) or len(computed)) == 1
    time[0] = 1.0
    assert shared.at_hand("a") is None
    assert shared.of("a", lambda: computed.append(1) or len(computed)) == 2
    for number in range(1_000):
        shared.of(str(number), lambda: 7)
    assert len(shared._values) <= 256


def test_looking_takes_a_tenth_of_a_core_at_most():
    jobs = Jobs(cost=1.0)
    jobs.add("a")
    jobs.ask()
    jobs.ask(after=8.9)
    assert jobs.looks == ["a"]
    jobs.ask(after=0.2)
    assert jobs.looks == ["a", "a"]


@pytest.mark.parametrize(
    "known", ["", "1", "other-1", "-", "x" * 5000, "RUN-", "RUN-7", "RUN-٣", "RUN-" + "9" * 40]
)
def test_a_version_of_another_board_is_none(known: str):
    jobs = Jobs()
    jobs.add("a")
    run = jobs.ask().version.partition("-")[0]
    changes = jobs.ask(known.replace("RUN", run))
    assert (changes.all, ids(changes)) == (True, ["a"])


def test_rows_of_real_jobs(server: Server):
    row = row_of(standing(server.record))
    assert (row.name, row.status, row.parallelism, row.end) == ("measured", "RUNNING", 2, None)
    assert row.records_in == row.records_out
    assert row.records_in is not None
    assert 0 < row.records_in <= NUMBERS
    assert row.busy is not None
    assert 0 < row.busy <= 1
    assert row.bottleneck
    failed = row_of(standing(server.failed))
    assert (failed.status, failed.health, failed.records_in, failed.end) == ("FAILED", "failed", None, 2_000)


def test_the_flow_of_a_job_has_all_vertices_in_one_answer(server: Server):
    flow = server.get("JOB/flow")
    assert [vertex["id"] for vertex in flow["vertices"]] == list(server.vertices.values())
    (source, middle, last) = flow["vertices"]
    assert source["records_out"] == last["records_in"] > 0
    assert all(0 <= vertex[name] <= 1 for vertex in flow["vertices"] for name in ("busy", "backpressured"))
    assert flow["bottleneck"]["vertex"] in {*server.vertices.values(), None}
    assert middle["bytes_in"] == pytest.approx(source["bytes_out"], abs=0.2)
    assert {vertex["lag"] for vertex in flow["vertices"]} == {None}  # the watermarks have come to the end
    again = server.get(f"JOB/flow?after={flow['measured_at']}")
    assert (again["vertices"], again["shape"]) == (None, flow["shape"])
    with pytest.raises(Refusal, match="after"):
        server.get("JOB/flow?after=now")


def test_a_vertex_has_its_subtasks_and_operators_in_one_answer(server: Server):
    found = server.get(f"{server.vertex('sum')}/flow")
    (one, other) = found["subtasks"]
    assert (one["key_groups"], other["key_groups"]) == ([0, 63], [64, 127])
    (flow,) = (each for each in server.get("JOB/flow")["vertices"] if each["id"] == found["id"])
    assert one["records_in"] + other["records_in"] == pytest.approx(flow["records_in"], abs=0.2)
    assert flow["busy"] == max(one["busy"], other["busy"])
    assert [operator["name"] for operator in found["operators"]] == ["sum", "Sink: out"]
    counting, out = found["operators"]
    assert counting["state_entries"] == one["state_entries"] + other["state_entries"] == 4
    assert (out["state_entries"], out["location"][-3:] != "") == (None, True)
    assert found["skew"]["records_in"] == 0
    assert found["skew"]["state_entries"] >= 0
    same = server.get(f"{server.vertex('same')}/flow")
    assert [subtask["key_groups"] for subtask in same["subtasks"]] == [None, None]
    with pytest.raises(Refusal, match="not found"):
        server.get(f"JOB/vertices/{'0' * 32}/flow")


def test_the_epochs_of_a_job_have_their_phases_and_what_admission_learnt(server: Server):
    found = server.get("JOB/epochs")
    assert [epoch["epoch"] for epoch in found["epochs"]] == [1, 2, 3, 4]
    assert (found["limited"], found["failures"]) == (True, [])
    assert found["target"] > 0
    for epoch in found["epochs"]:
        assert (epoch["records"], epoch["limit"]) == (10, 10)
        phases = [epoch[name] for name in ("plan", "run", "wait", "commit", "publish")]
        assert min(phases) >= 0
        assert epoch["run"] > 0
    assert all(epoch["stored"] > 0 for epoch in found["epochs"])
    (failure, *_) = server.get("JOB/epochs", job=server.failed)["failures"]
    assert failure["at"] > 0
    assert "Error" in failure["kind"]


def test_the_log_is_read_in_whole_lines(server: Server, monkeypatch: pytest.MonkeyPatch):
    def part(query: str = "") -> tuple[int, int, str]:
        found = server.get(f"JOB/log/part{query}")
        return found["start"], found["end"], found["text"]

    log = server.record.log
    before = log.read_bytes()
    try:
        log.write_text("first\nsecond\nthird")
        assert part() == (0, 13, "first\nsecond\n")
        assert part("?after=13") == (13, 13, "")
        log.write_text("first\nsecond\nthird\n")
        assert part("?after=13") == (13, 19, "third\n")
        assert part("?after=99") == (99, 99, "")
        monkeypatch.setattr("firesteel.rest.routes.logs.MOST", 10)
        assert part() == (13, 19, "third\n")
        assert part("?before=13") == (6, 13, "second\n")
        assert part("?before=6") == (0, 6, "first\n")
        assert part("?after=0") == (0, 6, "first\n")
        log.write_text("x" * 25 + "\n")
        assert part("?after=10") == (10, 20, "x" * 10)
        for wrong in ("?after=x", "?before=-1", "?after=٣"):
            with pytest.raises(Refusal):
                part(wrong)
    finally:
        log.write_bytes(before)


def test_the_last_line_of_an_ended_job_may_have_no_end(server: Server):
    log = server.failed.log
    log.write_text("started\nkilled")
    assert server.get("JOB/log/part?after=8", job=server.failed)["text"] == "killed"


def test_another_parallelism_is_another_shape(server: Server):
    said, before = server.said(), server.get("JOB/flow")
    server.say(parallelism=3)
    try:
        after = until(lambda: (flow := server.get("JOB/flow"))["parallelism"] == 3 and flow)
        assert after["shape"] != before["shape"]
    finally:
        server.say(parallelism=said.parallelism)


def test_what_pages_have_seen_is_remembered(server: Server):
    """Each measurement once, of the job and of each vertex."""
    storage = standing(server.record).storage()
    before = read_metrics(storage)
    assert before is not None
    cluster = replace(server.cluster, flows=Shared(0.0), recent=Recent())
    (vertex, *_) = server.vertices.values()
    call = Call(cluster, {"jobid": server.record.id, "vertexid": vertex}, {})
    assert recent(call) == {"points": []}
    first, same = flow(call), flow(call)
    assert same["measured_at"] == first["measured_at"]
    try:
        write_metrics(storage, msgspec.structs.replace(before, measured_at=before.measured_at + 5))
        second = flow(call)
    finally:
        write_metrics(storage, before)
    assert recent(call)["points"] == [
        {"at": each["measured_at"], "values": each["totals"]} for each in (first, second)
    ]
    assert recent_of_vertex(call)["points"] == [
        {"at": each["measured_at"], "values": each["vertices"][0]} for each in (first, second)
    ]


def test_what_is_remembered_has_bounds():
    one = Recent()
    for at in range(1, MOST_POINTS + 11):
        one.note("job", Seen(at, {}, {}))
    assert [seen.at for seen in one.of("job")] == [*range(11, MOST_POINTS + 11)]
    many = Recent(most_rows=6)
    for job in ("first", "second", "first", "third"):
        many.note(job, Seen(len(many.of(job)) + 1, {}, {"vertex": {}}))
    assert {job: len(many.of(job)) for job in ("first", "second", "third")} == {
        "first": 2,
        "second": 0,
        "third": 1,
    }
