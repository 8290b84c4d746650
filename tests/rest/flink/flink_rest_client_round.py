"""What `flink-rest-client` asks of a cluster, by an interpreter that has it: HOST PORT JOB JOB JOB DIRECTORY PROGRAM.

It looks at the first job, cancels the second and stops the third.

It prints what it was told, as one object of JSON.
"""

import json
import sys
import time

from flink_rest_client import FlinkRestClient

host, port, one, two, three, directory, program = sys.argv[1:]
client = FlinkRestClient.get(host=host, port=int(port))
jobs, said = client.jobs, {}


def waited(trigger):
    while (answer := trigger.status)["status"]["id"] == "IN_PROGRESS":
        time.sleep(0.2)
    return answer


said["overview"] = client.overview()
said["config"] = client.config()
said["datasets"] = client.datasets()
said["running"] = sorted(job["jid"] for job in jobs.overview() if job["state"] == "RUNNING")
said["ids"] = sorted(jobs.job_ids())
said["job"] = jobs.get(one)
said["job_config"] = jobs.get_config(one)
said["exceptions"] = jobs.get_exceptions(one)
said["result"] = jobs.get_execution_result(one)
said["plan"] = jobs.get_plan(one)
said["accumulators"] = jobs.get_accumulators(one)
said["names"] = jobs.metric_names()
said["metrics"] = jobs.metrics(metric_names=["numRestarts"])
said["own"] = jobs.get_metrics(one, metric_names=["numRestarts", "uptime"])
said["checkpointing"] = jobs.get_checkpointing_configuration(one)
said["checkpoints"] = jobs.get_checkpoint_ids(one)
said["details"] = jobs.get_checkpoint_details(one, said["checkpoints"][0], show_subtasks=True)
vertex = jobs.get_vertex(one, jobs.get_vertex_ids(one)[1])
said["vertex"] = vertex.details()
said["backpressure"] = vertex.backpressure()
said["vertex_names"] = vertex.metric_names()
said["vertex_metrics"] = vertex.metrics(metric_names=["0.numRecordsIn", "1.numRecordsIn"])
said["times"] = vertex.subtasktimes()
said["at"] = vertex.taskmanagers()
said["watermarks"] = vertex.watermarks()
said["subtasks"] = vertex.subtasks.subtask_ids()
said["subtask"] = vertex.subtasks.get(0)
said["subtask_metrics"] = vertex.subtasks.metrics(metric_names=["numRecordsIn"])
said["attempt"] = vertex.subtasks.get_attempt(0)
said["attempt_accumulators"] = vertex.subtasks.get_attempt_accumulators(0)
said["managers"] = client.taskmanagers.taskmanager_ids()
said["manager"] = client.taskmanagers.get(said["managers"][0])
said["manager_names"] = client.taskmanagers.metric_names()
said["manager_metrics"] = client.taskmanagers.get_metrics(said["managers"][0])
said["manager_logs"] = client.taskmanagers.get_logs(said["managers"][0])
said["server_config"] = client.jobmanager.config()
said["server_metrics"] = client.jobmanager.metrics()
said["server_log"] = client.jobmanager.get_log(client.jobmanager.logs()[0]["name"])
said["savepoint"] = waited(jobs.create_savepoint(one, directory))
said["stopped"] = waited(jobs.stop(three, directory))
said["cancelled"] = jobs.terminate(two)
said["uploaded"] = client.jars.upload(program)
said["jars"] = client.jars.all()["files"]
said["deleted"] = client.jars.delete(said["jars"][0]["id"])
try:
    jobs.get("0" * 32)
except Exception as error:
    said["unknown"] = str(error)
print(json.dumps(said))
