# SPDX-License-Identifier: Apache-2.0
"""`marline ps` on real programs: each way to hang is named, on both MPIs, and a program that merely computes is left in
peace. MARLINE_MPI_WATCH; the gdb helper's part stands in test_gdb.py."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import CROWDED, SECONDS, Result, clean_environment, wait_for

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "python"))
from marline.ps.answers import NoAnswer  # noqa: E402
from marline.ps.client import Door, Request, ask  # noqa: E402

MPIS = ("openmpi", "mpich")
Document = dict[str, Any]


@pytest.fixture(scope="module", params=MPIS)
def mpi(request: pytest.FixtureRequest, build: Path) -> str:
    if not (build / "lib" / "marline" / request.param / "libmarline-mpi.so").exists():
        pytest.skip(f"this build has no library for {request.param}")
    return str(request.param)


@pytest.fixture(scope="module")
def hangs(mpi: str, build: Path, compiled: Callable[..., Path]) -> Path:
    return compiled(f"mpicc.{mpi}", "hangs.c", "-g", "-fopenmp", f"-I{ROOT}/include", f"-L{build}/lib", "-lmarline",
                    f"-Wl,-rpath,{build}/lib")  # fmt: skip


class Job:
    """Two ranks that run until the test ends."""

    def __init__(self, marline: Path, process: subprocess.Popen[str], output: Path) -> None:
        self.marline, self.process, self.output = marline, process, output

    def pid(self, rank: int = 0) -> int:
        found = wait_for(lambda: re.search(rf"rank {rank}: pid (\d+)", self.output.read_text()), self.output.read_text)
        return int(found[1])

    def ps(self, *arguments: str, rank: int = 0) -> Result:
        words = [str(self.marline), "ps", str(self.pid(rank)), "--seconds", "0.5", *arguments]
        return subprocess.run(words, env=clean_environment(), capture_output=True, text=True, timeout=SECONDS,
                              check=False)

    def document(self, rank: int = 0) -> Document:
        result = self.ps("--json", rank=rank)
        assert result.stdout, result.stderr
        return dict(json.loads(result.stdout))

    def at_rest(self) -> Document:
        """The report once nothing moves any more."""
        found: Document = wait_for(lambda: one
                                   if (one := self.document())["state"] not in ("computing", "idle") else None,
                                   self.output.read_text)  # fmt: skip
        return found


@pytest.fixture
def start(build: Path, tmp_path: Path) -> Iterator[Callable[..., Job]]:
    started = []

    def start_one(program: Path, *arguments: str, launch: tuple[str, ...] = (), **changes: str) -> Job:
        marline, output = build / "bin" / "marline", tmp_path / "output"
        words = list(launch) or [marline, "run", "-n", "2", "-t", "2", "--", program, *arguments]
        with output.open("w") as stream:
            process = subprocess.Popen([str(word) for word in words], env=clean_environment(**CROWDED, **changes),
                                       stdin=subprocess.DEVNULL, stdout=stream, stderr=stream, text=True,
                                       start_new_session=True)  # fmt: skip
        started.append(Job(marline, process, output))
        return started[-1]

    yield start_one
    for job in started:
        end(job)


def end(job: Job) -> None:
    """The launcher, and the ranks, which launchers put into sessions of their own."""
    for pid in re.findall(r"pid (\d+)", job.output.read_text()):
        with suppressed():
            os.kill(int(pid), signal.SIGKILL)
    with suppressed():
        os.killpg(job.process.pid, signal.SIGTERM)
    try:
        job.process.wait(10)
    except subprocess.TimeoutExpired:
        os.killpg(job.process.pid, signal.SIGKILL)
        job.process.wait()


@contextmanager
def suppressed() -> Iterator[None]:
    try:
        yield
    except ProcessLookupError:
        pass


def waiting(document: Document) -> dict[str, Document]:
    """By label, or by the operation where there is none."""
    return {f"{rank['rank']} {one['label'] or one['operation']}": one
            for rank in document["ranks"] for one in rank["waiting"]}  # fmt: skip


def functions(one: Document) -> list[str]:
    return [frame.split()[0] for frame in one["stack"]]


def test_a_receive_without_a_send(hangs: Path, start: Callable[..., Job]) -> None:
    job = start(hangs, "recv")
    found = job.at_rest()
    assert found["state"] == "hung"
    receiver = waiting(found)["0 receiver"]
    assert (receiver["operation"], receiver["values"]["peer"], receiver["values"]["tag"]) == ("MPI_Recv", 1, 7)
    assert receiver["values"]["bytes"] == 8
    assert functions(receiver)[:2] == ["receive", "one_receives"]
    assert all(re.search(r"hangs\.c:\d+$", frame) for frame in receiver["stack"])
    assert receiver["needs"].startswith("rank 1 sends nothing of that kind")
    assert waiting(found)["1 MPI_Finalize"]["needs"].startswith("rank 0 has not called it")


def test_the_report_as_text(hangs: Path, start: Callable[..., Job]) -> None:
    job = start(hangs, "recv")
    job.at_rest()
    for rank in (0, 1):  # any process of the job leads to all
        result = job.ps(rank=rank)
        assert result.returncode == 1
        assert "HUNG: nothing moves, and nothing can." in result.stdout
        assert "task 'receiver' (tied, of worker" in result.stdout
        assert "waits in MPI_Recv from rank 1, tag 7, MPI_COMM_WORLD, 8 bytes" in result.stdout
        assert "receive hangs.c:" in result.stdout
        assert max(map(len, result.stdout.splitlines())) <= 118


def test_a_request_that_is_bound_to_a_task(hangs: Path, start: Callable[..., Job]) -> None:
    """No task waits for it: what is left is the barrier, and a word on the request."""
    found = start(hangs, "bound").at_rest()
    problems = {rank["rank"]: rank["problems"] for rank in found["ranks"]}
    assert any(text.startswith("1 request open that a task is bound to") for text in problems[0])
    assert not any("bound" in text for text in problems[1])


def test_requests_are_known_by_how_they_began(hangs: Path, start: Callable[..., Job]) -> None:
    job = start(hangs, "requests")
    found = job.at_rest()
    assert found["state"] == "hung"
    halo = waiting(found)["0 halo"]
    assert [(one["operation"], *(one["values"][name] for name in ("peer", "tag", "count")))
            for one in halo["requests"]] == [("MPI_Irecv", 1, 7, 1), ("MPI_Issend", 1, 8, 1)]  # fmt: skip
    assert "MPI_Irecv from rank 1, tag 7: no match: rank 1 sends tag 9 in MPI_COMM_WORLD (task 'halo')" in halo["needs"]
    assert ("MPI_Issend to rank 1, tag 8: no match: rank 1 receives tag 7 in MPI_COMM_WORLD (task "
            "'halo')") in halo["needs"]  # fmt: skip
    text = " ".join(job.ps().stdout.split())
    assert ("waits in MPI_Waitall of MPI_Irecv from rank 1, tag 7, MPI_COMM_WORLD, 1 element; "
            "MPI_Issend to rank 1, tag 8, MPI_COMM_WORLD, 1 element") in text  # fmt: skip


def test_a_persistent_request_outside_of_tasks(hangs: Path, start: Callable[..., Job]) -> None:
    found = start(hangs, "persistent").at_rest()
    assert found["state"] == "hung"
    wait = waiting(found)["0 MPI_Wait"]
    assert [(one["operation"], one["values"]["peer"], one["values"]["count"]) for one in wait["requests"]] == [
        ("MPI_Recv_init", -1, 2)]  # fmt: skip
    assert wait["needs"] == "no rank of the communicator sends that"


def test_another_tag(hangs: Path, start: Callable[..., Job]) -> None:
    found = start(hangs, "tag").at_rest()
    assert found["state"] == "hung"
    needs = waiting(found)["0 receiver"]["needs"]
    assert "rank 1 has sent tag 8 in MPI_COMM_WORLD (8 bytes), which nobody receives" in needs
    assert "sends tag 9 in MPI_COMM_WORLD (task 'sender')" in needs
    assert waiting(found)["1 sender"]["needs"] == "no match: rank 0 receives tag 7 in MPI_COMM_WORLD (task 'receiver')"
    assert [(one["rank"], one["from"], one["tag"], one["bytes"]) for one in found["unmatched"]] == [(0, 1, 8, 8)]


def test_another_communicator(hangs: Path, start: Callable[..., Job]) -> None:
    found = start(hangs, "comm").at_rest()
    assert "sends tag 7 in other" in waiting(found)["0 receiver"]["needs"]


def test_a_cycle_over_ranks(hangs: Path, start: Callable[..., Job]) -> None:
    found = start(hangs, "cycle").at_rest()
    assert found["state"] == "hung"
    assert len(found["cycles"]) == 1
    takers = {(rank, waiting(found)[f"{rank} taker"]["id"]) for rank in (0, 1)}
    assert {(rank, one) for rank, one in found["cycles"][0]} == takers
    assert any(reason.startswith("cycle: rank 0 task 'taker' -> rank 1 task 'taker'") for reason in found["reasons"])


def test_taskwait_on_a_child_that_hangs(hangs: Path, start: Callable[..., Job]) -> None:
    found = start(hangs, "taskwait").at_rest()
    parent, child = waiting(found)["0 parent"], waiting(found)["0 child"]
    assert (parent["wait"], parent["needs"]) == ("taskwait", "1 child: task 'child'")
    assert parent["providers"] == [[0, child["id"]]]
    assert child["operation"] == "MPI_Recv"


def test_a_lock_of_a_task_that_hangs(hangs: Path, start: Callable[..., Job]) -> None:
    found = start(hangs, "lock").at_rest()
    wants = waiting(found)["0 wants"]
    assert wants["wait"] == "lock"
    assert "held, it seems, by task 'holder'" in wants["needs"]


def test_a_collective_that_one_rank_does_not_call(hangs: Path, start: Callable[..., Job]) -> None:
    found = start(hangs, "collective").at_rest()
    needs = waiting(found)["0 meets"]["needs"]
    assert needs == "rank 1 has not called it: its task 'receiver' waits in MPI_Recv"


def test_a_call_that_a_helper_thread_makes(hangs: Path, start: Callable[..., Job]) -> None:
    found = start(hangs, "helper").at_rest()
    assert found["state"] == "hung"
    duplicates = waiting(found)["0 duplicates"]
    assert duplicates["operation"] == "MPI_Comm_dup"
    assert duplicates["needs"].startswith("rank 1 has not called it")


def test_threads_that_block_outside_of_tasks(hangs: Path, start: Callable[..., Job]) -> None:
    found = start(hangs, "blocked").at_rest()
    assert found["state"] == "hung"
    calls = {rank["rank"]: one for rank in found["ranks"] for one in rank["waiting"]}
    assert [calls[rank]["kind"] for rank in (0, 1)] == ["thread", "thread"]
    assert [calls[rank]["values"]["tag"] for rank in (0, 1)] == [6, 5]
    assert functions(calls[1]) == ["receive"]


def test_mpi_itself_hangs(hangs: Path, start: Callable[..., Job]) -> None:
    found = start(hangs, "stuck").at_rest()
    reduces = waiting(found)["0 reduces"]
    assert reduces["operation"] == "MPI_Reduce"
    assert reduces["needs"].startswith("rank 1 is not in it")
    assert functions(reduces)[0] == "stuck_mode"


@pytest.mark.parametrize("mode", ["compute", "sleep"])
def test_no_alarm_where_a_rank_works(hangs: Path, start: Callable[..., Job], mode: str) -> None:
    job = start(hangs, mode, MARLINE_MPI_WATCH="0.5")
    wait_for(lambda: "0 receiver" in waiting(job.document()), job.output.read_text)
    for _ in range(3):
        found = job.document()
        assert found["state"] == "computing"
        assert any("runs task 'worker'" in reason for reason in found["reasons"])
        assert "rank 0 waits for rank 1, which goes on" in found["reasons"]
    assert job.ps().returncode == 0
    assert "MARLINE_MPI_WATCH" not in job.output.read_text()


def test_watching(hangs: Path, start: Callable[..., Job]) -> None:
    job = start(hangs, "recv", MARLINE_MPI_WATCH="0.5")
    wait_for(lambda: "why" in job.output.read_text(), job.output.read_text)
    time.sleep(1.5)  # it does not say it twice
    output = job.output.read_text()
    assert output.count("marline: MARLINE_MPI_WATCH: nothing has moved for 0.5 s") == 1
    assert "HUNG" in output
    assert "task 'receiver'" in output


def on_two_nodes(mpi: str, build: Path, *words: str) -> tuple[str, ...]:
    """As if: each rank has a host name of its own, by which it can be reached."""
    if subprocess.run(["unshare", "--uts", "hostname", "127.0.0.2"], capture_output=True, check=False).returncode != 0:
        pytest.skip("host names cannot be changed here")
    start = ("sh", "-c", 'hostname "$0" && exec "$@"')
    rank = (str(build / "bin" / "marline"), "run", "-t", "2", "--", *words)
    return (f"mpirun.{mpi}", "-n", "1", "unshare", "--uts", *start, "127.0.0.2", *rank,
            ":", "-n", "1", "unshare", "--uts", *start, "127.0.0.3", *rank)  # fmt: skip


def test_ranks_of_other_nodes(mpi: str, hangs: Path, build: Path, start: Callable[..., Job]) -> None:
    job = start(hangs, launch=on_two_nodes(mpi, build, str(hangs), "tag"))
    found = job.at_rest()
    assert [rank["host"] for rank in found["ranks"]] == ["127.0.0.2", "127.0.0.3"]
    assert "sends tag 9 in MPI_COMM_WORLD (task 'sender')" in waiting(found)["0 receiver"]["needs"]
    first = ask(Door(job.pid()), Request(sections=("mpi_peers",)))["sections"]["mpi_peers"]
    there = first["ranks"][1]
    assert len(first["secret"]) == 32
    assert ask(Door(there["pid"], there["host"], there["port"], first["secret"]), Request())["pid"] == job.pid(1)
    with pytest.raises(NoAnswer):
        ask(Door(there["pid"], there["host"], there["port"], "0" * 32), Request())


def test_the_list_has_the_ranks(hangs: Path, start: Callable[..., Job], build: Path) -> None:
    job = start(hangs, "recv")
    job.at_rest()
    listing = subprocess.run([build / "bin" / "marline", "ps"], capture_output=True, text=True, timeout=SECONDS,
                             check=True)
    for rank in (0, 1):
        assert re.search(rf"^{job.pid(rank)} +{rank} of 2 .*/hangs-\d+$", listing.stdout, re.MULTILINE)


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def test_the_launchers_of_a_job_stand_for_it(hangs: Path, start: Callable[..., Job]) -> None:
    """`marline run`, the mpirun below it, and what else is between it and the ranks."""
    job = start(hangs, "recv")
    job.at_rest()
    above = [parent(job.pid(1))]
    while above[-1] != job.process.pid:
        above.append(parent(above[-1]))
    assert len(above) >= 2
    for pid in above:
        words = [str(job.marline), "ps", str(pid), "--json", "--seconds", "0.1"]
        found = subprocess.run(words, env=clean_environment(), capture_output=True, text=True, timeout=SECONDS,
                               check=False)  # fmt: skip
        assert found.stdout, found.stderr
        assert [rank["pid"] for rank in json.loads(found.stdout)["ranks"]] == [job.pid(0), job.pid(1)]


def test_two_jobs_below_one_process_have_to_be_named(hangs: Path, start: Callable[..., Job]) -> None:
    jobs = [start(hangs, "recv")]
    jobs[0].at_rest()
    own = str(os.getpid())
    words = [jobs[0].marline, "ps", own, "--json", "--seconds", "0.1"]
    assert json.loads(subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False).stdout)
    first = {jobs[0].pid(0), jobs[0].pid(1)}
    jobs[0].output.rename(jobs[0].output.with_suffix(".first"))
    jobs[0].output = jobs[0].output.with_suffix(".first")
    jobs.append(start(hangs, "recv"))
    jobs[1].at_rest()
    result = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (result.returncode, len(result.stderr.splitlines())) == (125, 1), result.stderr
    said = re.fullmatch(rf"marline: below process {own} \(.*\) run 2 programs on Marline: name one of (\d+), (\d+)\n",
                        result.stderr)  # fmt: skip
    assert said and {int(said[1]), int(said[2])} == {min(first), min(jobs[1].pid(0), jobs[1].pid(1))}


def test_a_process_that_is_not_there(marline: Callable[..., Result]) -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    result = marline("ps", str(process.pid))
    assert (result.returncode, result.stdout) == (125, "")
    assert result.stderr == (f"marline: there is no process {process.pid} on this machine; `marline ps` lists those "
                             "that run on Marline\n")  # fmt: skip


def test_a_process_without_marline(marline: Callable[..., Result]) -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        result = marline("ps", str(process.pid))
        process.kill()
    assert (result.returncode, len(result.stderr.splitlines())) == (125, 1)
    assert f"process {process.pid} (sleep) does not run on Marline" in result.stderr


def test_without_mpi(build: Path, compiled: Callable[..., Path], tmp_path: Path) -> None:
    program = compiled("gcc-12", "waits.c", "-g", "-fopenmp", f"-I{ROOT}/include", f"-L{build}/lib", "-lmarline",
                       f"-Wl,-rpath,{build}/lib")  # fmt: skip
    words = [str(build / "bin" / "marline"), "run", "-t", "2", "--", str(program)]
    for inspect in ("true", "false"):
        with subprocess.Popen(words, env=clean_environment(MARLINE_INSPECT=inspect), stdout=subprocess.PIPE,
                              text=True) as one:
            try:
                assert one.stdout is not None
                pid = one.stdout.readline().strip()
                ask = [words[0], "ps", pid, "--seconds", "0.2"]
                result = wait_for(lambda: answer_at_rest(ask), str)  # noqa: B023
            finally:
                os.kill(int(pid), signal.SIGKILL)
        if inspect == "false":
            assert result.returncode == 125
        else:
            assert "WAITING: nothing moves; what the tasks wait for is out of sight." in result.stdout
            assert "waits in an event" in result.stdout
            assert "waits_here waits.c:" in result.stdout


def answer_at_rest(words: list[str]) -> Result | None:
    result = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
    return result if result.returncode != 0 else None
