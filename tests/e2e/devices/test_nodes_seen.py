# SPDX-License-Identifier: Apache-2.0
"""What can be seen of devices on other nodes from outside: `marline ps` names a region that hangs, its device, node and
process, also where that is another machine; traces have lanes of all devices, and arrows for copies."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import CROWDED, SECONDS, clean_environment
from nodes_support import COMPILERS, MARK, MPIS, Jobs, built, jobs, members  # noqa: F401  (a fixture)

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python"))
from marline.trace.analysis import Analysis  # noqa: E402
from marline.trace.views.export import load  # noqa: E402

SECRET = "0123456789abcdef0123456789abcdef"


@pytest.fixture(params=COMPILERS)
def hanging(request, compiled) -> Path:
    return built(compiled, request.param, "nodes_hangs.c", "-g")


class Hanging:
    """A job of nodes_hangs.c: process 0, and two workers, the second of which does not come to an end."""

    def __init__(self, jobs: Jobs, output: Path):
        self._jobs, self._output = jobs, output
        self.pids: list[int] = []

    def wait_until_it_hangs(self) -> None:
        until = time.monotonic() + SECONDS
        while not (found := re.search(r"pids (\d+) (\d+) (\d+)", self._output.read_text())):
            assert time.monotonic() < until, self._output.read_text()
            time.sleep(0.05)
        self.pids = [int(one) for one in found.groups()]

    def ps(self, process: int, *words: str) -> str:
        command = [self._jobs.command, "ps", str(self.pids[process]), "--seconds", "0.5", *words]
        result = subprocess.run(command, env=clean_environment(), capture_output=True, text=True, timeout=SECONDS)
        assert result.stdout, result.stderr
        return result.stdout

    def document(self, process: int = 0) -> dict:
        """The report once nothing moves any more, and two regions run."""
        until = time.monotonic() + SECONDS
        while True:
            found = json.loads(self.ps(process, "--json"))
            kernels = [one["runs"] for worker in found["ranks"][0]["workers"] for one in worker["kernels"]]
            if (found["state"], sum(kernels), len(kernels)) == ("waiting", 2, 3):
                return found
            assert time.monotonic() < until, found


@pytest.fixture
def start(jobs, tmp_path) -> Iterator[Callable[..., Hanging]]:
    """start([words, changes of the environment], ...): one job of these commands."""
    mark = f"seen-{os.getpid()}-{time.monotonic_ns()}"
    output = tmp_path / "output"
    started = []

    def start_all(*commands: tuple[list[str], dict[str, str]]) -> Hanging:
        for words, changes in commands:
            with output.open("a") as stream:
                environment = clean_environment(OMP_NUM_THREADS="2", **changes, **{MARK: mark})
                started.append(subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=stream,
                                                stderr=stream))  # fmt: skip
        job = Hanging(jobs, output)
        job.wait_until_it_hangs()
        return job

    yield start_all
    for member in members(mark):
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):  # the others' end is its end, too
            if Path(f"/proc/{member}/comm").read_text() != "marline-remover\n":  # removes the launcher's folder
                os.kill(member, signal.SIGKILL)
    for process in started:
        process.wait()


def check_regions(found: dict, job: Hanging, nodes: list[str]) -> None:
    idle, hung = found["ranks"][0]["workers"]
    assert [(one["device"], one["node"], one["pid"]) for one in (idle, hung)] == list(zip((0, 1), nodes, job.pids[1:]))
    assert idle["kernels"] == [] and idle["idle_nanoseconds"] > 0
    where = re.compile(r"the target region (at \S*/|in main )nodes_hangs\.c:22")
    assert all(where.fullmatch(one["where"]) for one in hung["kernels"])
    assert all(one["nanoseconds"] > 0 for one in hung["kernels"])


@pytest.mark.parametrize("nodes_as", [["one", "one", "one"], ["head", "near", "far"]])
def test_ps_shows_the_region_that_hangs(jobs, hanging, start, nodes_as):
    words = [jobs.command, "run", "-n", "3", "--devices=nodes", "--nodes-as", ",".join(nodes_as), "--", str(hanging)]
    job = start((words, {}))
    check_regions(job.document(), job, nodes_as[1:])
    text = " ".join(job.ps(0).split())
    device = rf"device 1 \(pid {job.pids[2]} on {nodes_as[2]}\)"
    assert re.search(rf"{device} does not come to the end of the target region .*nodes_hangs\.c:22 \(2 times\)",
                     text), text
    assert re.search(rf"device 0 \(pid {job.pids[1]} on {nodes_as[1]}\): idle for [0-9.]+ [mu]?s", text)
    assert re.search(rf"{device}: 2 regions running, 1 region waiting for a thread", text)
    check_regions(job.document(process=2), job, nodes_as[1:])  # by a worker's number the same


def test_ps_reaches_workers_on_other_machines(jobs, compiled, start):
    """As if: worker 2 sees other processes than the others do, and has a name of its own, by which it can be
    reached."""
    far = ["unshare", "--uts", "--pid", "--fork", "--mount-proc", "sh", "-c", 'hostname "$0" && exec "$@"', "127.0.0.3"]
    if subprocess.run([*far, "true"], capture_output=True).returncode != 0:
        pytest.skip("namespaces cannot be made here")
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        address = f"tcp:127.0.0.1:{one.getsockname()[1]}"
    program = [*jobs.preloaded(), str(built(compiled, "gcc", "nodes_hangs.c", "-g"))]
    variables = {"MARLINE_DEVICES": "nodes", "MARLINE_JOB": SECRET, "MARLINE_JOB_COUNT": "3",
                 "MARLINE_JOB_ADDRESS": address}  # fmt: skip
    job = start(*(([*before, *program], variables | {"MARLINE_JOB_NUMBER": str(number)})
                  for number, before in enumerate(([], [], far))))  # fmt: skip
    found = job.document()
    check_regions(found, job, [os.uname().nodename, "127.0.0.3"])
    assert [one["host"] for one in found["ranks"][0]["workers"]] == [os.uname().nodename, "127.0.0.3"]


@pytest.mark.parametrize("mpi", MPIS)
def test_ps_reaches_workers_of_ranks_on_other_nodes(jobs, build, compiled, start, mpi):
    """A rank's worker listens nowhere: the rank's relay leads to it."""
    if not (build / "lib" / "marline" / mpi / "libmarline-mpi.so").exists():
        pytest.skip(f"this build has no library for {mpi}")
    if subprocess.run(["unshare", "--uts", "hostname", "127.0.0.2"], capture_output=True).returncode != 0:
        pytest.skip("host names cannot be changed here")
    program = compiled(f"mpicc.{mpi}", "nodes_mpi_hangs.c", "-g", "-fopenmp")
    run = [jobs.command, "run", "-t", "2", "--devices=nodes:1", "--", str(program)]
    rank = ["-n", "1", "unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"']
    job = start(([f"mpirun.{mpi}", *rank, "127.0.0.2", *run, ":", *rank, "127.0.0.3", *run], CROWDED))
    until = time.monotonic() + SECONDS
    while True:
        found = json.loads(job.ps(0, "--json"))
        (idle,), (hung,) = (one["workers"] for one in found["ranks"])
        if found["state"] == "waiting" and hung["kernels"]:
            break
        assert time.monotonic() < until, found
    assert (idle["node"], idle["kernels"]) == ("127.0.0.2", [])
    assert (hung["node"], hung["pid"], hung["device"]) == ("127.0.0.3", job.pids[2], 0)
    kernels = [(one["where"], one["runs"]) for one in hung["kernels"]]
    assert kernels == [("the target region in main nodes_mpi_hangs.c:22", True)]


# GDB -----------------------------------------------------------------------------------------------------------------


def test_gdb_on_a_worker_shows_the_region(jobs, hanging, start):
    """As the guide says, for code of Clang as well: its image is a file that GDB finds by the loader's path."""
    if shutil.which("gdb") is None:
        pytest.skip("gdb is not installed")
    job = start(([jobs.command, "run", "-n", "3", "--devices=nodes", "--", str(hanging)], {}))
    job.document()
    words = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-p", str(job.pids[2]),
             "-ex", "thread apply all backtrace"]  # fmt: skip
    result = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS)
    if "ptrace: Operation not permitted" in result.stderr:
        pytest.skip("this system does not let gdb trace processes")
    assert re.search(r" at \S*nodes_hangs\.c:26\b", result.stdout), result.stdout + result.stderr


# Traces --------------------------------------------------------------------------------------------------------------

BLOCKS, BLOCK_BYTES = 4, 1 << 20  # of nodes_copies.c


@pytest.fixture(scope="module")
def traced(build, compiled, tmp_path_factory) -> Path:
    """A folder with the trace of nodes_copies.c, and chrome.json."""
    folder = tmp_path_factory.mktemp("nodes")
    program = compiled("gcc-12", "nodes_copies.c", "-fopenmp", "-g")
    words = [build / "bin" / "marline", "trace", "-n", "3", "-t", "1", "--devices=nodes", "--nodes-as", "head,near,far",
             "-o", folder / "trace", "--chrome", folder / "chrome.json", program]  # fmt: skip
    result = subprocess.run([str(word) for word in words], env=clean_environment(), capture_output=True, text=True,
                            timeout=SECONDS)  # fmt: skip
    assert (result.returncode, result.stdout.splitlines()[0]) == (0, str(BLOCKS + 1)), result.stderr
    return folder


def chains(events: list[dict]) -> dict[tuple[str, str], list[tuple[dict, dict]]]:
    """The copies' arrows by the lanes that they lead from and to: the bars at both ends."""
    lanes = {(one["pid"], one["tid"]): one["args"]["name"] for one in events if one.get("name") == "thread_name"}
    bars = [one for one in events if one["ph"] == "X"]

    def bar_at(end: dict) -> dict:
        return next(one for one in bars if (one["pid"], one["tid"]) == (end["pid"], end["tid"])
                    and one["ts"] <= end["ts"] < one["ts"] + one["dur"])  # fmt: skip

    found: dict[tuple[str, str], list[tuple[dict, dict]]] = {}
    ends = {(one["id"], one["ph"]): one for one in events if one.get("cat") == "flow" and one["name"] == "copy"}
    for (number, phase), begin in ends.items():
        if phase == "s":
            pair = begin, ends[number, "f"]
            names = tuple(lanes[one["pid"], one["tid"]] for one in pair)
            found.setdefault(names, []).append((bar_at(pair[0]), bar_at(pair[1])))
    return found


def test_copies_are_arrows_between_lanes(traced):
    """From the host to device 0, on to device 1, and back, for each block; the lanes say where the devices are."""
    found = chains(json.loads((traced / "chrome.json").read_text())["traceEvents"])
    host, first, second = "host: transfers", "device 0 (node-near-1): transfers", "device 1 (node-far-2): transfers"
    assert set(found) == {(host, first), (first, second), (second, host), (host, second)}
    blocks = {names: [pair for pair in pairs if pair[0]["args"]["bytes"] == BLOCK_BYTES]
              for names, pairs in found.items()}  # fmt: skip
    assert {names: len(pairs) for names, pairs in blocks.items()} == {
        (host, first): BLOCKS, (first, second): BLOCKS, (second, host): BLOCKS + 1, (host, second): 1}  # fmt: skip
    for pairs in found.values():
        for source, sink in pairs:
            assert (source["ts"], source["dur"], source["args"]) == (sink["ts"], sink["dur"], sink["args"])
    for there, on, back in zip(blocks[host, first], blocks[first, second], blocks[second, host]):
        assert there[1]["ts"] < on[0]["ts"] < back[0]["ts"]
    assert {one["name"] for pair in blocks[first, second] for one in pair} == {"to device 1", "from device 0"}


def test_both_devices_have_the_copies_between_them(traced):
    rows = {row["device"]: row for row in Analysis(load(traced / "trace"))["devices"].document()}
    assert rows[0]["from_device"]["bytes"] == BLOCKS * BLOCK_BYTES  # all of it to device 1
    assert rows[1]["to_device"]["bytes"] >= (BLOCKS + 1) * BLOCK_BYTES


def test_workers_that_begin_main_are_not_recorded(jobs, build, compiled, tmp_path):
    """A program that opens its regions late, and starts its OpenMP runtime before."""
    library = compiled("gcc-12", "nodes_opened.c", "-fopenmp", "-shared", "-fPIC")
    opens = ("import ctypes, sys; library = ctypes.CDLL(sys.argv[1]); ctypes.CDLL(None).omp_get_max_threads(); "
             "print(library.in_library(1, ctypes.byref(ctypes.c_int())))")  # fmt: skip
    words = [build / "bin" / "marline", "trace", "-n", "3", "-t", "1", "--devices=nodes", "-o", tmp_path / "trace",
             sys.executable, "-c", opens, library]  # fmt: skip
    result = jobs.watched([str(word) for word in words], "", None, {"OMP_TARGET_OFFLOAD": "mandatory"})
    assert (result.returncode, result.stdout.splitlines()[0]) == (0, "41"), result.stderr
    assert "nothing is recorded" not in result.stderr
    assert [file.name for file in (tmp_path / "trace").glob("*.json")] == ["rank0000.json"]


def test_a_process_of_a_job_may_come_when_others_record(jobs, tmp_path):
    (tmp_path / "rank0000.json").write_text("{}")
    result = jobs.run("--trace", tmp_path, "--devices=nodes", "true", MARLINE_JOB_NUMBER="1", MARLINE_JOB_COUNT="2")
    assert (result.returncode, result.stderr) == (0, "")
