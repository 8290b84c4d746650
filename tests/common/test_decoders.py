"""Decoders of types: threads share them from the first one on, and nothing of the package makes its own."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from firesteel.common.decoders import json_decoder, msgpack_decoder

PACKAGE = Path(__file__).parents[2] / "src" / "firesteel"
OWN = {
    "common/decoders.py",
    "connectors/tables/formats/json_columns.py",  # makes the struct, too, and shares neither
    "formats/json_decoding.py",  # the same
    "state/keys/encoding.py",  # plain tuples
}

DECODED_BY_THREADS = """
import sys
import threading

import msgspec

from firesteel.common.decoders import json_decoder

sys.setswitchinterval(1e-6)
for _ in range(1_000):
    inner = msgspec.defstruct("Inner", [("x", dict[str, int] | None, None)])
    kind = msgspec.defstruct("Outer", [("a", str | None, None), ("inner", inner | None, None), ("b", int, 0)])
    ready = threading.Barrier(4)

    def decode():
        ready.wait()
        DECODE

    threads = [threading.Thread(target=decode) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""
SAFE = """json_decoder(kind).decode('{"a": "x", "inner": {"x": {}}, "b": 1}')"""


class Pair(msgspec.Struct, frozen=True):
    a: int
    b: str


def made_elsewhere() -> Iterator[str]:
    for path in sorted(PACKAGE.rglob("*.py")):
        if str(path.relative_to(PACKAGE)) in OWN:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("msgspec."):
                what = ast.unparse(node.func).rpartition(".")[2]
                typed = {keyword.arg for keyword in node.keywords} & {"type"}
                if (what in {"decode", "convert"} and (typed or len(node.args) > 1)) or (
                    what == "Decoder" and (typed or node.args)
                ):
                    yield f"{path.relative_to(PACKAGE)}:{node.lineno}"


def test_a_type_has_one_decoder():
    assert json_decoder(Pair) is json_decoder(Pair)
    assert json_decoder(Pair) is not json_decoder(Pair, strict=False)
    assert msgpack_decoder(Pair) is msgpack_decoder(Pair)


def test_what_is_decoded():
    assert json_decoder(Pair).decode(b'{"a": 1, "b": "x"}') == Pair(1, "x")
    assert json_decoder(Pair, strict=False).decode(b'{"a": "1", "b": "x"}') == Pair(1, "x")
    assert msgpack_decoder(Pair).decode(msgspec.msgpack.encode(Pair(1, "x"))) == Pair(1, "x")
    with pytest.raises(msgspec.ValidationError):
        json_decoder(Pair).decode(b'{"a": "1", "b": "x"}')


def test_threads_decode_a_type_for_the_first_time():
    program = DECODED_BY_THREADS.replace("DECODE", SAFE)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_other_typed_decoder_is_made():
    assert list(made_elsewhere()) == []
