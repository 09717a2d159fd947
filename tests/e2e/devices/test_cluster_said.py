# SPDX-License-Identifier: Apache-2.0
"""What mistakes say on a cluster: each line of the guide's table is one that such a mistake brings about, and a mistake
with a line that is not in the table fails here."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Result, emulated_gpus
from nodes_support import Jobs, built, gpu_program, jobs  # noqa: F401  (a fixture)

ROOT = Path(__file__).resolve().parents[3]
GUIDE = ROOT / "docs" / "guide" / "cluster.md"


def lines_of_guide() -> list[str]:
    """The texts in the first column of the table."""
    table = GUIDE.read_text().partition("## What mistakes say")[2].split("\n## ")[0]
    cells = [row.split(" | ")[0] for row in table.splitlines() if row.startswith("| `")]
    return [text for cell in cells for text in re.findall("`([^`]+)`", cell)]


def pattern(line: str) -> str:
    """Addresses and names of nodes differ; the guide leaves quotes out."""
    text = re.escape(line).replace(r"0x\.\.\.", "0x[0-9a-f]+").replace("NODE", r"\S+")
    return text.replace(r"declare\ target", "[`']?declare target[`']?")


class Mistakes:
    """Programs and options that are wrong."""

    def __init__(self, jobs: Jobs, compiled: Callable[..., Path], build: Path):
        self._jobs, self._compiled, self._build = jobs, compiled, build

    def options(self, *words: str, devices: str = "cluster", **changes: str) -> Result:
        program = built(self._compiled, "gcc", "cluster.c")
        count = changes.pop("count", "3")
        return self._jobs.run("-n", count, f"--devices={devices}", "-t", 1, "--", program, *words, **changes)

    def program(self, what: str, *flags: str, **changes: str) -> Result:
        program = built(self._compiled, "clang", "cluster_wrong.c", f"-I{ROOT / 'include'}", *flags)
        return self._jobs.run("-n", 3, "--devices=cluster", "-t", 1, "--", program, what, **changes)

    def unordered(self) -> Result:
        program = built(self._compiled, "gcc", "cluster_unordered.c")
        return self._jobs.run("-n", 2, "--devices=cluster", "-t", 2, "--", program, "unordered",
                              MARLINE_CLUSTER_WRITES="check")

    def kinds(self, name: str, *words: object, **changes: str) -> Result:
        """Node 1 of the cluster is a GPU, nodes 2 and 3 are processors."""
        emulated = emulated_gpus(self._build, 1, OMP_TARGET_OFFLOAD="mandatory", **changes)
        return self._jobs.run("-n", 4, "--devices=cluster:all", "--nodes-as", "0,0,0,0", "-t", 1, "--",
                              gpu_program(self._build, name), *words, **emulated)  # fmt: skip

    def ranks(self, by_mpirun: bool) -> Result:
        program = self._compiled("mpicc.openmpi", "cluster.c", "-fopenmp", "-Wl,--no-as-needed")
        if by_mpirun:
            return self._jobs.mpirun("openmpi", 2, *self._jobs.preloaded(), program, MARLINE_DEVICES="cluster")
        return self._jobs.run("-n", 2, "--devices=cluster", program)


MISTAKES: dict[str, Callable[[Mistakes], Result]] = {
    "MARLINE_DEVICES names cluster,": lambda by: by.options(count="1"),
    "MARLINE_CLUSTER_WRITES": lambda by: by.options(MARLINE_CLUSTER_WRITES="map,depend"),
    "which its depend clauses": lambda by: by.options("unnamed", MARLINE_CLUSTER_WRITES="check"),
    "which a construct that has no order": lambda by: by.program("raises", MARLINE_CLUSTER_WRITES="check"),
    "which overlap 400 bytes": lambda by: by.program("overlaps"),
    "comes neither before nor behind it": lambda by: by.unordered(),
    "MARLINE_CLUSTER_PLACEMENT": lambda by: by.options(MARLINE_CLUSTER_PLACEMENT="later"),
    "MARLINE_CLUSTER_SENDS": lambda by: by.options(MARLINE_CLUSTER_SENDS="late"),
    "MARLINE_CLUSTER_MEMORY": lambda by: by.options(MARLINE_CLUSTER_MEMORY="much"),
    "more on node 1": lambda by: by.options(MARLINE_CLUSTER_MEMORY="1k"),
    "marline_task_node": lambda by: by.options("no_such_node"),
    "needs each of the job's": lambda by: by.options(MARLINE_NODE_DEVICES="2"),
    "needs each worker as one device": lambda by: by.options(MARLINE_NODE_DEVICES="2",
                                                             OMP_AVAILABLE_DEVICES="*[0],*[3:2]"),
    "the ranks of a program": lambda by: by.ranks(by_mpirun=False),
    "the ranks of an MPI program": lambda by: by.ranks(by_mpirun=True),
    "names nodes twice": lambda by: by.options(devices="cluster,nodes"),
    "the declare target variable x (8 bytes)": lambda by: by.program("", "-DADDRESS"),
    "a pointer to a declare target variable": lambda by: by.program("attaches"),
    "a copy to 64 bytes": lambda by: by.program("copies"),
    "has gone": lambda by: by.options("killed"),
    "has changed the static variable": lambda by: by.program("counts"),
    "MARLINE_DEVICES names cluster:gpu": lambda by: by.options(devices="cluster:gpu"),
    "the program has no image": lambda by: by.kinds("emulator_device_cluster_gpu_chain", "chain", 4, 1000),
    "no worker has a GPU": lambda by: by.options(devices="cluster:all"),
    "is to run on node 2": lambda by: by.kinds("emulator_device_cluster_gpu_chain", "apart", 4, 1000),
    "the declare target variable x is": lambda by: by.kinds("emulator_device_cluster_constants"),
    "does not give addresses": lambda by: by.kinds("cluster_all_pointers", MARLINE_EMULATOR_ADDRESSES="no"),
    "device 1": lambda by: by.options("crash", MARLINE_CLUSTER_PLACEMENT="roundrobin"),
}


@pytest.mark.parametrize("line", lines_of_guide())
def test_a_mistake_says_what_the_guide_says(jobs, compiled, build, line):
    makers = [make for begin, make in MISTAKES.items() if line.startswith(begin)]
    assert len(makers) == 1, f"no mistake here makes the guide's line {line!r}"
    text = pattern(line.replace(" x (8 bytes)", " address (8 bytes)")).replace(r"\ x\ is", r" \w+ is")
    result = makers[0](Mistakes(jobs, compiled, build))
    assert result.returncode != 0 or "marline: warning: " in result.stderr
    assert any(re.search(text, one) for one in result.stderr.splitlines()), result.stderr


def test_variables_of_the_program_may_change(jobs, compiled, build):
    result = Mistakes(jobs, compiled, build).program("")
    assert (result.returncode, result.stdout) == (0, "value=1\n")
    assert "warning" not in result.stderr


def test_objects_that_a_first_use_constructs_are_no_mistake(jobs, compiled):
    program = built(compiled, "clang", "cluster_objects.cpp")
    result = jobs.run("-n", 3, "--devices=cluster", "-t", 1, "--", program, OMP_TARGET_OFFLOAD="mandatory")
    assert (result.returncode, result.stdout) == (0, "sum=28\n")
    assert "warning" not in result.stderr


def test_each_mistake_is_in_the_guide():
    lines = lines_of_guide()
    assert all(any(line.startswith(begin) for line in lines) for begin in MISTAKES)
