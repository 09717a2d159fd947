# SPDX-License-Identifier: Apache-2.0
"""`marline report --dot`, and the size and form of the graph in `--json`: traces made by hand. Graphviz must accept the
files, where it is installed."""
from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from conftest import SECONDS
from handmade import COMPLETE, IMPLICIT, SWITCH, Stream, save
from handmade_ranks import two_ranks
from in_process import document_of, report


def drawn(folder: Path, file: Path) -> tuple[str, str]:
    """The file's text and what the command said of it. Graphviz draws it."""
    result = report(folder, "--dot", file)
    assert result.returncode == 0, result.stderr
    if shutil.which("dot"):
        svg = subprocess.run(["dot", "-Tsvg", file], capture_output=True, text=True, timeout=SECONDS, check=True)
        assert svg.stderr == "" and "</svg>" in svg.stdout
    return file.read_text(), result.stderr


def test_small_graph_task_by_task(tmp_path: Path) -> None:
    text, said = drawn(two_ranks(tmp_path / "trace"), tmp_path / "out.dot")
    what = "graph of 4 tasks and 2 edges"
    assert text.startswith(f"// {what}\ndigraph tasks {{\n")
    assert said == f"marline: {tmp_path}/out.dot: {what}; draw it by `dot -Tsvg`\n"
    nodes = re.findall(r'^  (\d+) \[label="(\w+)\\nrank (\d), task (\d+), ([^"]+)" fillcolor="#\w+"( penwidth=4)?\]$',
                       text, re.MULTILINE)
    assert nodes == [("0", "gemm", "0", "102", "100 ns", " penwidth=4"),
                     ("1", "gemm", "0", "103", "50.0 ns", " penwidth=4"),
                     ("2", "trsm", "0", "104", "40.0 ns", ""), ("3", "trsm", "1", "105", "90.0 ns", "")]  # fmt: skip
    edges = re.findall(r'^  (\d+) -> (\d+) \[tooltip="(\w+)"', text, re.MULTILINE)
    assert edges == [("0", "1", "dependence"), ("2", "3", "message")]


def chain(folder: Path, tasks: int, name: str) -> Path:
    """Tasks of one kind, each after the one before."""
    stream = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=1)
    for at in range(0, len(name), 16):
        low, high = (int.from_bytes(name.encode()[at + part : at + part + 8], "little") for part in (0, 8))
        stream.add(1000, "text", 71, low=low, high=high)
    for number in range(tasks):
        task, time = 1000 + number, 2000 + 20 * number
        stream.add(time, "task_create", task, parent=IMPLICIT, flags=4).add(time, "task_label", task, text=71)
        stream.add(time + 1, "dependence", task, type=3, address=8)
        stream.add(time + 2, "task_schedule", IMPLICIT, next=task, status=SWITCH)
        stream.add(time + 12, "task_schedule", task, next=IMPLICIT, status=COMPLETE)
    folder.mkdir()
    stream.add(1 << 20, "implicit_end", IMPLICIT)
    return save(folder, [stream])


def test_large_graph_by_kind_of_task(tmp_path: Path) -> None:
    text, said = drawn(chain(tmp_path / "trace", 501, r'a "b" \c'), tmp_path / "out.dot")
    what = "graph of 501 tasks and 500 edges, by kind of task: task by task only up to 500 tasks and 4000 edges"
    assert f"out.dot: {what};" in said and text.startswith(f"// {what}\n")
    assert re.findall(r"^  (0 .*) fillcolor", text, re.MULTILINE) == [
        r'0 [label="a \"b\" \\c\n501 tasks, 5.01 us\n501 on the critical path"']
    assert '  0 -> 0 [label="500" tooltip="dependence"]\n' in text


def test_size_and_form_of_the_graph(tmp_path: Path) -> None:
    """A before B; C and D beside them, with a message from C to D."""
    found = document_of(two_ranks(tmp_path / "trace"))["gtdg"]
    assert (found["tasks"], found["dependences"], found["depth"], found["width"]) == (4, 1, 2, 3)
    one_of_four = {"mean": 0.25, "max": 1, "histogram": [{"degree": 0, "tasks": 3}, {"degree": 1, "tasks": 1}]}
    assert found["in_degree"] == found["out_degree"] == one_of_four
    # The send to the receive, and the receive, which had been asked for first, to the end of the send.
    assert (found["edges"]["dependence"], found["edges"]["create"], found["edges"]["message"]) == (1, 4, 2)


def test_a_chain_is_deep_and_narrow(tmp_path: Path) -> None:
    found = document_of(chain(tmp_path / "trace", 40, "task"))["gtdg"]
    assert (found["depth"], found["width"]) == (40, 1)
