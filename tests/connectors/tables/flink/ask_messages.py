"""Ask real Flink what its formats make of single messages; the answers are the file `messages.jsonl`.

    python tests/connectors/tables/flink/ask_messages.py PYFLINK_LIB JARS PROTOC

PYFLINK_LIB is the folder pyflink/lib of apache-flink (2.3.0 for the answers that are kept). JARS is a folder with
flink-sql-avro-confluent-registry, flink-sql-avro and flink-sql-protobuf of the same version, from Maven. PROTOC is the
compiler of Protocol Buffers, of the version that flink-sql-protobuf has or an older one; it also writes the descriptors
that the tests read. Java 17 must be on the PATH. A question that Flink refuses has its message as `refused`; a message
or a row that it fails on has an `error`.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[3])]

from message_cases import questions  # noqa: E402
from message_questions import REGISTRY  # noqa: E402
from protobuf_cases import protobuf_questions  # noqa: E402

from harness.registry import SchemaRegistry  # noqa: E402

PROTOS = ("shop.proto", "old_shop.proto")


def compiled(work: Path, jars: str, protoc: str) -> str:
    """Compile the definitions of messages and the program that asks; return the class path."""
    sources = [str(HERE / name) for name in PROTOS]
    command = [protoc, f"-I{HERE}", f"--java_out={work}", "--include_imports"]
    subprocess.run([*command, f"--descriptor_set_out={HERE / 'shop.desc'}", *sources], check=True)
    java = [*map(str, work.rglob("*.java")), str(HERE / "AskMessages.java")]
    subprocess.run(["javac", "-nowarn", "-cp", jars, "-d", str(work / "classes"), *java], check=True)
    return f"{work / 'classes'}:{jars}"


def main() -> None:
    """Write the answers."""
    lib, extra, protoc = sys.argv[1:]
    registry = SchemaRegistry()
    asked = [*questions(), *protobuf_questions()]
    for question in asked:
        for number, schema in question.get("schemas", {}).items():
            registry.keep(int(number), schema)
    with tempfile.TemporaryDirectory() as folder, registry.serving() as url:
        work = Path(folder)
        jars = ":".join(map(str, [*Path(lib).glob("*.jar"), *Path(extra).glob("*.jar")]))
        classes = compiled(work, jars, protoc)
        lines = [json.dumps(question).replace(REGISTRY, url) for question in asked]
        (work / "questions").write_text("\n".join(lines))
        command = ["java", "-Xmx512m", "-cp", classes, "AskMessages", str(work / "questions")]
        subprocess.run([*command, str(work / "answers")], check=True)
        answers = [
            json.loads(line.replace(url, REGISTRY)) for line in (work / "answers").read_text().splitlines()
        ]
    with (HERE / "messages.jsonl").open("w") as file:
        for answer in answers:
            file.write(json.dumps(with_schemas(answer, registry)) + "\n")


def with_schemas(answer: dict[str, Any], registry: SchemaRegistry) -> dict[str, Any]:
    """Return an answer with the schemas that Flink has registered for what it wrote."""
    if answer["ask"] != "encode" or not answer["format"].endswith("confluent") or "answer" not in answer:
        return answer
    found = [message for message in answer["answer"] if isinstance(message, str)]
    return {**answer, "registered": sorted({registry.text(int(message[2:10], 16)) for message in found})}


if __name__ == "__main__":
    main()
