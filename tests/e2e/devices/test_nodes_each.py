# SPDX-License-Identifier: Apache-2.0
"""Ranks of an MPI program that are each other's devices: every rank runs main, and device k is a worker beside rank
k."""

import os
import re
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import time

import pytest
from conftest import CROWDED, SECONDS
from nodes_support import COMPILERS, MARK, MPIS, clean_environment, jobs, members, only  # noqa: F401  (a fixture)

MANDATORY = CROWDED | {"OMP_TARGET_OFFLOAD": "mandatory"}


@pytest.fixture(params=MPIS)
def mpi(request) -> str:
    if shutil.which(f"mpicc.{request.param}") is None:
        pytest.skip(f"no {request.param}")
    return request.param


def build_with(compiled, mpi, monkeypatch, kind, source="nodes_each.c"):
    compiler, *flags = COMPILERS[kind]
    monkeypatch.setenv("OMPI_CC", compiler)
    monkeypatch.setenv("MPICH_CC", compiler)
    return compiled(f"mpicc.{mpi}", source, *flags)


@pytest.fixture(params=COMPILERS)
def both(request, compiled, mpi, monkeypatch):
    return build_with(compiled, mpi, monkeypatch, request.param)


@pytest.fixture
def each(compiled, mpi, monkeypatch):
    return build_with(compiled, mpi, monkeypatch, "gcc")


def all_right(count: int, devices: int = 0) -> list[str]:
    return [f"rank {rank} right {devices or count} wrong 0 other 1" for rank in range(count)]


@pytest.mark.parametrize("nodes_as", ["", "apart", "a,b,a"])
def test_every_rank_uses_every_device_at_once(jobs, both, nodes_as):
    words = ["--nodes-as", nodes_as] if nodes_as else []
    result = jobs.run("-n", 3, "--devices=nodes", *words, both, "all", **MANDATORY)
    assert (result.returncode, sorted(result.stdout.splitlines())) == (0, all_right(3)), result.stderr


def test_the_user_s_mpirun(jobs, each, mpi):
    result = jobs.mpirun(mpi, 2, jobs.command, "run", "--devices", "nodes", each, "all")
    assert (result.returncode, sorted(result.stdout.splitlines())) == (0, all_right(2)), result.stderr


def with_mpi_library(jobs, mpi) -> list[str]:
    libraries = f"{jobs.library / 'marline' / mpi / 'libmarline-mpi.so'}:{jobs.library / 'libmarline.so'}"
    return ["env", "MARLINE_DEVICES=nodes", f"LD_PRELOAD={libraries}",
            f"LD_LIBRARY_PATH={jobs.library / 'marline/compat'}"]  # fmt: skip


def test_plain_mpirun(jobs, each, mpi):
    result = jobs.mpirun(mpi, 2, *with_mpi_library(jobs, mpi), each, "all")
    assert (result.returncode, sorted(result.stdout.splitlines())) == (0, all_right(2)), result.stderr


def may_be_two_machines() -> bool:
    """Processes of another PID namespace count as being on another machine, which an address of this one reaches."""
    parts = subprocess.run(["unshare", "-pf", "true"], stderr=subprocess.DEVNULL, check=False)
    addresses = subprocess.run(["hostname", "-I"], capture_output=True, text=True, check=False).stdout
    return parts.returncode == 0 and re.search(r"\d+\.\d+\.\d+\.\d+", addresses) is not None


def two_machines(jobs, compiled, monkeypatch, tmp_path, network: str):
    """With the first process of its namespace all others end there, so that one stays until the other rank has
    ended."""
    if not may_be_two_machines():
        pytest.skip("no other PID namespace, or no address but the loopback's")
    if shutil.which("mpicc.openmpi") is None:
        pytest.skip("no openmpi")
    program = build_with(compiled, "openmpi", monkeypatch, "gcc")
    rank = shlex.join(map(str, [*with_mpi_library(jobs, "openmpi"), program, "all"]))
    ended = shlex.quote(str(tmp_path / "ended"))
    one = shlex.quote(f"{rank}; s=$?; touch {ended}; exit $s")
    other = shlex.quote(f"{rank}; s=$?; while [ $s = 0 ] && [ ! -e {ended} ]; do sleep 0.1; done; exit $s")
    return jobs.shell(f"export MARLINE_NETWORK={network}; exec mpirun.openmpi --mca btl tcp,self -n 1 sh -c {one} "
                      f": -n 1 unshare -pf sh -c {other}")  # fmt: skip


@pytest.mark.parametrize("network", ["auto", "0.0.0.0/0"])
def test_ranks_on_two_machines(jobs, compiled, monkeypatch, tmp_path, network):
    """Agents and workers are reached by TCP."""
    result = two_machines(jobs, compiled, monkeypatch, tmp_path, network)
    assert (result.returncode, sorted(result.stdout.splitlines())) == (0, all_right(2)), result.stderr


@pytest.mark.parametrize(("network", "says"), [
    ("203.0.113.0/24", "MARLINE_NETWORK=203.0.113.0/24: this machine has no address there"),
    ("eth", 'MARLINE_NETWORK="eth" is not usable: expected an IPv4 network with the bits that count'),
])  # fmt: skip
def test_a_network_that_machines_do_not_have(jobs, compiled, monkeypatch, tmp_path, network, says):
    result = two_machines(jobs, compiled, monkeypatch, tmp_path, network)
    assert result.returncode != 0
    assert says in result.stderr


def test_plain_mpirun_without_the_library_for_mpi(jobs, each, mpi):
    result = jobs.mpirun(mpi, 2, *jobs.preloaded(), each, "all", MARLINE_DEVICES="nodes")
    assert result.returncode != 0
    assert "MPI_Init was called without libmarline-mpi: start the program by `marline run`" in result.stderr


def test_a_rank_with_other_devices_is_waited_for_aloud(jobs, compiled, monkeypatch):
    """A line after 10 s: the ranks' exchange in MPI_Init does not end."""
    program = build_with(compiled, "mpich", monkeypatch, "gcc")
    rank = [*map(str, with_mpi_library(jobs, "mpich")), str(program), "all"]
    other = [word.replace("MARLINE_DEVICES=nodes", "MARLINE_DEVICES=none") for word in rank]
    words = ["mpirun.mpich", "-n", "1", *rank, ":", "-n", "1", *other]
    with subprocess.Popen(words, env=clean_environment(**MANDATORY), text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:  # fmt: skip
        line = process.stderr.readline()
        process.terminate()
    assert ("rank 0 waits in MPI_Init for other ranks to tell where their devices are; start all ranks with the "
            "same") in line  # fmt: skip


def test_one_rank(jobs, each):
    result = jobs.run("-n", 1, "--devices=nodes", each, "all", **MANDATORY)
    assert (result.returncode, result.stdout.splitlines()) == (0, all_right(1)), result.stderr


def test_a_worker_as_two_devices_is_refused_before_mpi_init(jobs, each):
    """How many there are is known only when the workers have been asked."""
    result = jobs.run("-n", 2, "--devices=nodes", each, "all", MARLINE_NODE_DEVICES="2", **MANDATORY)
    assert result.returncode != 0
    assert "is used before MPI_Init" in result.stderr


def test_a_worker_as_two_devices(jobs, both):
    result = jobs.run("-n", 2, "--devices=nodes", both, "parts", MARLINE_NODE_DEVICES="2", **MANDATORY)
    assert (result.returncode, sorted(result.stdout.splitlines())) == (0, all_right(2, 4)), result.stderr


def test_a_region_before_mpi_init(jobs, both):
    result = jobs.run("-n", 2, "--devices=nodes", both, "early", **MANDATORY)
    assert result.returncode != 0
    assert ("a device on the node of another rank is used before MPI_Init, in which the ranks tell each other where "
            "they are: use it after MPI_Init") in result.stderr  # fmt: skip


def test_ranks_without_a_launcher(jobs, each):
    result = jobs.run("--devices=nodes", each, "all")
    assert result.returncode == 125
    assert ("whose ranks are each other's devices: start them by -n RANKS, by mpirun, or by srun "
            "--mpi=pmix") in only(result)  # fmt: skip


def test_too_many_ranks(jobs, each):
    result = jobs.run("-n", 256, "--devices=nodes", each, "nothing")
    assert result.returncode == 125
    assert "-n 256: ranks that are each other's devices are at most 255" in only(result)


def test_names_for_another_number_of_ranks(jobs, each, mpi):
    result = jobs.mpirun(mpi, 2, *with_mpi_library(jobs, mpi), each, "all", MARLINE_NODES_AS="a,b,c")
    assert result.returncode != 0
    assert "MARLINE_NODES_AS has 3 names, but the job has 2 ranks" in result.stderr


@pytest.mark.parametrize("nodes_as", ["", "apart"])
def test_a_worker_that_crashes_is_named_by_the_ranks(jobs, both, nodes_as):
    words = ["--nodes-as", nodes_as] if nodes_as else []
    result = jobs.run("-n", 2, "--devices=nodes", *words, both, "crash", **MANDATORY)
    assert result.returncode != 0
    assert re.search(r"device 1 \(node, beside rank 1 for rank 0, on \S+\) has ended by signal 11 \(Segmentation "
                     r"fault\) at address 0", result.stderr), result.stderr  # fmt: skip


@pytest.mark.parametrize("nodes_as", ["a,a", "a,b"])
@pytest.mark.parametrize("which", [0, 1])
def test_a_worker_or_a_rank_that_is_killed_ends_the_job(jobs, each, mpi, which, nodes_as):
    mark = secrets.token_hex(8)
    words = [f"mpirun.{mpi}", "-n", "2", *with_mpi_library(jobs, mpi), each, "busy"]
    environment = clean_environment(**MANDATORY, **{MARK: mark}, MARLINE_NODES_AS=nodes_as)
    with subprocess.Popen(list(map(str, words)), env=environment, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # fmt: skip
        os.kill(int(process.stdout.readline().split()[which]), signal.SIGKILL)
        errors = process.communicate(timeout=SECONDS)[1]
    deadline = time.monotonic() + SECONDS
    while members(mark) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert process.returncode != 0 and members(mark) == []
    if which == 0:
        assert re.search(r"device 1 \(node, beside rank 1 for rank 0, on \S+\) has gone, so the program cannot go on: "
                         "it has ended", errors), errors  # fmt: skip


def test_a_rank_that_exits_early_ends_the_job(jobs, each):
    result = jobs.run("-n", 2, "--devices=nodes", each, "exit", **MANDATORY)
    assert result.returncode != 0


@pytest.fixture
def files(tmp_path):
    return [tmp_path / name for name in "12"]


def test_workers_outlive_the_rank_beside_them(jobs, both, files):
    result = jobs.run("-n", 3, "--devices=nodes", both, "late", *files, **MANDATORY)
    assert (result.returncode, result.stdout) == (0, "late 3\n"), result.stderr


def test_a_rank_that_has_ended_starts_no_worker(jobs, each, files):
    result = jobs.run("-n", 3, "--devices=nodes", each, "never", *files, **MANDATORY)
    assert result.returncode != 0
    assert re.search(r"rank 1 on \S+ starts no worker for rank 0 \(.*\): a rank that has ended starts none",
                     result.stderr)


def test_a_stranger_gets_no_worker_and_does_no_harm(jobs, each, mpi):
    """It meets the socket of an agent, and does not know the secret."""
    words = [f"mpirun.{mpi}", "-n", "2", *with_mpi_library(jobs, mpi), each, "stay"]
    with subprocess.Popen(list(map(str, words)), env=clean_environment(**MANDATORY), text=True, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # fmt: skip
        agent = int(re.fullmatch(r"parent (\d+)", process.stdout.readline().strip())[1])
        answers = [greeting_of_a_stranger(name) for name in sockets_of(agent)]
        output, errors = process.communicate("\n", timeout=SECONDS)
    assert answers and all(len(answer) <= 24 for answer in answers)  # a challenge, and nothing after it
    assert (process.returncode, output) == (0, "done\n"), errors


def test_a_worker_that_is_stopped_is_named(jobs, each, mpi):
    """No `marline run` has started it."""
    words = [f"mpirun.{mpi}", "-n", "2", *with_mpi_library(jobs, mpi), each, "busy"]
    with subprocess.Popen(list(map(str, words)), env=clean_environment(**MANDATORY), text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:  # fmt: skip
        worker = int(process.stdout.readline().split()[0])
        os.kill(worker, signal.SIGSTOP)
        while "is stopped" not in (line := process.stderr.readline()):
            assert line
        os.kill(worker, signal.SIGKILL)
        process.communicate(timeout=SECONDS)
    expected = (rf"device 1 \(node, beside rank 1 for rank 0, on \S+, pid {worker}\) is stopped by SIGSTOP; the "
                "program waits")  # fmt: skip
    assert re.search(expected, line), line


def test_silent_strangers_do_not_keep_ranks_from_their_devices(jobs, each, mpi):
    """Of this user, so that they are heard; they come before the first use of a device."""
    words = [f"mpirun.{mpi}", "-n", "2", *with_mpi_library(jobs, mpi), each, "first"]
    mark, silent = secrets.token_hex(8), []
    environment = clean_environment(**MANDATORY, **{MARK: mark})
    with subprocess.Popen(list(map(str, words)), env=environment, text=True, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:  # fmt: skip
        assert process.stdout.readline() == "ready\n"
        agents, deadline = set(), time.monotonic() + SECONDS
        while len(agents) < 2 and time.monotonic() < deadline:  # ranks hand their listeners to agents while they go on
            agents = {name for member in members(mark) if link(f"/proc/{member}/exe") == str(each)
                      for name in sockets_of(member) if "marline" not in name}  # fmt: skip
        for name in list(agents) * 40:
            silent.append(socket.socket(socket.AF_UNIX))
            silent[-1].connect("\0" + name[1:])
        output, errors = process.communicate("\n", timeout=SECONDS)
    assert len(agents) == 2
    assert (process.returncode, output) == (0, "done\n"), errors


def link(name: str) -> str:
    try:
        return os.readlink(name)
    except FileNotFoundError:
        return ""  # the file has been closed, or the process has ended


def sockets_of(process: int) -> list[str]:
    """The abstract names at which a process listens: MPI has datagrams' sockets with a name, too."""
    listening = "00010000"  # __SO_ACCEPTCON in the column of flags
    own = {link(f"/proc/{process}/fd/{file}") for file in os.listdir(f"/proc/{process}/fd")}
    with open("/proc/net/unix") as table:
        rows = [row for line in table if len(row := line.split()) == 8]
    return [row[7] for row in rows if row[3] == listening and row[7].startswith("@") and f"socket:[{row[6]}]" in own]


def greeting_of_a_stranger(name: str) -> bytes:
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.settimeout(SECONDS)
        stranger.connect("\0" + name[1:])
        magic, words = 0x32657269776C726D, (0, 2, 0, 3)
        hello = magic.to_bytes(8, "little") + b"".join(word.to_bytes(4, "little") for word in words) + bytes(16)
        stranger.sendall(hello + bytes(8) + bytes(128))
        answer = b""
        try:
            while piece := stranger.recv(4096):
                answer += piece
        except ConnectionResetError:
            pass  # it has not read all
        return answer
