# SPDX-License-Identifier: Apache-2.0
"""How jobs with devices on other nodes end: the program's exit status, what runs once and what in each process, workers
and kernels that crash, and mistakes, each of which is one line. Jobs checks that nothing is left (nodes_support.py)."""

import os
import re
import secrets
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from conftest import SECONDS, clean_environment
from nodes_support import COMPILERS, MARK, MPIS, built, jobs, members, only, said  # noqa: F401  (a fixture)

SECRET = "0123456789abcdef0123456789abcdef"


@pytest.fixture(params=COMPILERS)
def kind(request) -> str:
    return request.param


@pytest.fixture
def life(jobs, compiled, kind, tmp_path):
    """life("exit") runs nodes_life.cpp and gives the result, and how many processes ran what."""

    def run(way: str):
        log = tmp_path / "log"
        result = jobs.nodes(built(compiled, kind, "nodes_life.cpp"), way, NODES_LOG=str(log))
        return result, Counter(line.split()[0] for line in log.read_text().splitlines())

    return run


ONCE = {"constructor": 3, "main": 1, "atexit": 1, "destructor": 1}
SUDDENLY = {"constructor": 3, "main": 1}


@pytest.mark.parametrize("way", ["return", "unused"])
def test_workers_run_constructors_and_nothing_else(life, way):
    result, counts = life(way)
    assert (result.returncode, counts, said(result)) == (0, ONCE, [])
    assert result.stdout == ("" if way == "unused" else "value 21\n")


@pytest.mark.parametrize("mpi", [None, *MPIS])
def test_constructors_may_use_devices(jobs, compiled, kind, mpi):
    """The constructors of the program; in workers, which run the same constructors, the region runs on the host."""
    program = built(compiled, kind, "nodes_early.c")
    changes = {"OMP_TARGET_OFFLOAD": "mandatory"}
    if mpi is None:
        result = jobs.nodes(program, **changes)
    else:
        result = jobs.mpirun(mpi, 3, *jobs.preloaded(), program, MARLINE_DEVICES="nodes", **changes)
    assert (result.returncode, result.stdout) == (0, "devices 2 value 6 elsewhere 1 1\n"), result.stderr


@pytest.mark.parametrize(("way", "status", "expected"), [
    ("exit", 3, ONCE), ("_exit", 4, SUDDENLY), ("_exit 0", 0, SUDDENLY), ("quick_exit", 5, SUDDENLY),
    ("abort", -signal.SIGABRT, SUDDENLY), ("fault", -signal.SIGSEGV, SUDDENLY),
])  # fmt: skip
def test_the_job_s_exit_status_is_the_program_s(life, way, status, expected):
    result, counts = life(way)
    assert (result.returncode, counts, result.stdout) == (status, expected, "value 21\n")
    assert said(result) == []


# What ends the program -----------------------------------------------------------------------------------------------


def functions_of(frames: list[str], program: Path) -> list[str]:
    """Of an image, by their names; of the program, by addr2line; without what compilers add to them."""
    found = []
    for frame in frames:
        if frame.startswith(f"{program.name}+"):
            words = ["addr2line", "-f", "-e", str(program), frame.split("+")[1]]
            frame = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        found.append(re.match(r"__omp_offloading|\w+", frame)[0])
    return found


@pytest.mark.parametrize("nodes_as", ["", "head,far"])
def test_a_kernel_s_crash_names_place_and_node(jobs, compiled, kind, nodes_as):
    program = built(compiled, kind, "nodes_inside.c", "-g")
    result = jobs.nodes(program, "crash", count=2, nodes_as=nodes_as)
    where = r"\S*/nodes_inside\.c:\d+" if kind == "clang" else r"nodes_inside-\d+\+0x[0-9a-f]+"
    node = "far" if nodes_as else os.uname().nodename
    worker, head = said(result)
    assert result.returncode == 1
    line = (rf"marline: fatal: device 0 \(node, process 1 of the job on {node}\) has ended by signal 11 "
            rf"\(Segmentation fault\) at address 0, in the target region at {where}; stack: (.*)")  # fmt: skip
    found = re.fullmatch(line, worker)
    assert found, worker
    frames = found[1].split(" < ")
    assert functions_of(frames, program) == ["write_to", "crash" if kind == "gcc" else "__omp_offloading"]
    assert head == (f"marline: fatal: device 0 (node, process 1 of the job on {node}) has gone, so the program "
                       "cannot go on: it has ended")  # fmt: skip


@pytest.mark.parametrize(("what", "stack"), [("call", r"0 < (\S+ )?\S+\+0x[0-9a-f]+"), ("smash", r".+")])
def test_a_damaged_stack_does_not_hide_the_crash(jobs, compiled, kind, what, stack):
    worker, _ = said(jobs.nodes(built(compiled, kind, "nodes_inside.c", "-g", "-fno-stack-protector"), what, count=2))
    assert re.search(rf"has ended by signal \d+ .*, in the target region at \S+; stack: {stack}$", worker), worker


@pytest.mark.parametrize(("what", "does", "nodes_as"), [("from", "reads", ""), ("to", "writes", "0,1")])
def test_a_copy_with_a_wrong_pointer_names_it(jobs, compiled, what, does, nodes_as):
    result = jobs.nodes(built(compiled, "gcc", "nodes_inside.c"), what, count=2, nodes_as=nodes_as)
    worker, _ = said(result)
    assert result.returncode == 1
    line = (rf"device 0 \(node, .*\): a copy {does} where its device has no memory: 4 bytes at 0x[0-9a-f]+; "
            r"is it an address of the program or of another device\?$")  # fmt: skip
    assert re.search(line, worker), worker


@pytest.mark.parametrize("nodes_as", ["", "0,1"])
@pytest.mark.parametrize("what", ["busy", "idle"])
def test_a_worker_that_is_killed_ends_the_program(jobs, compiled, what, nodes_as):
    words = [jobs.command, "run", "-n", "2", "--devices=nodes", *(["--nodes-as", nodes_as] if nodes_as else []), "--",
             str(built(compiled, "gcc", "nodes_inside.c")), what]  # fmt: skip
    with subprocess.Popen(words, env=clean_environment(), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:  # fmt: skip
        os.kill(int(process.stdout.readline()), signal.SIGKILL)
        stderr = process.communicate(timeout=SECONDS)[1]
    assert process.returncode == 1
    assert "has gone, so the program cannot go on: it has ended" in stderr


def served(jobs, compiled, **more) -> tuple[subprocess.Popen, int]:
    """A job of two with a busy device, and the number of its worker."""
    program = built(compiled, "gcc", "nodes_inside.c")
    process = subprocess.Popen([jobs.command, "run", "-n", "2", "--devices=nodes", "--", str(program), "busy"],
                               text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)  # fmt: skip
    return process, int(process.stdout.readline())


def test_a_program_that_is_killed_is_named(jobs, compiled):
    """Its workers end with it and say nothing."""
    mark = secrets.token_hex(8)
    process, worker = served(jobs, compiled, env=clean_environment(**{MARK: mark}))
    own = os.readlink(f"/proc/{worker}/exe")
    head = [one for one in members(mark) if one != worker and os.readlink(f"/proc/{one}/exe") == own]
    os.kill(head[0], signal.SIGKILL)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGKILL
    assert re.search(r"marline: process 0 of the job on \S+: \S+ ended with signal 9 \(Killed\)", stderr), stderr


def test_a_worker_that_is_stopped_is_named(jobs, compiled):
    process, worker = served(jobs, compiled, env=clean_environment())
    os.kill(worker, signal.SIGSTOP)
    while not (line := process.stderr.readline()).startswith("marline: process"):
        assert line
    os.kill(worker, signal.SIGCONT)
    process.terminate()
    process.communicate(timeout=30)
    assert process.returncode == -signal.SIGTERM
    expected = rf"process 1 of the job on \S+: \S+ \(pid {worker}\) is stopped by SIGSTOP; the job waits for it"
    assert re.search(expected, line)


def test_a_job_whose_command_was_stopped_for_a_while_goes_on(jobs, compiled):
    """As by Ctrl-Z and `fg`. For longer than the command waits at a time, which is a second."""
    process, _ = served(jobs, compiled, env=clean_environment())
    process.send_signal(signal.SIGSTOP)
    os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOWAIT)
    time.sleep(1.5)
    process.send_signal(signal.SIGCONT)
    process.terminate()
    process.communicate(timeout=SECONDS)
    assert process.returncode == -signal.SIGTERM


@pytest.mark.parametrize("words", [[], ["-n", "2", "--devices=nodes"]])
def test_a_caller_that_ignores_the_ends_of_children_gets_the_status(jobs, words):
    """Then the system does not tell how a child has ended, unless one asks for it."""
    ended = subprocess.run([jobs.command, "run", *words, "--", "sh", "-c", "exit 3"], env=clean_environment(),
                           preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN), capture_output=True,
                           check=False, timeout=60)  # fmt: skip
    assert ended.returncode == 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("all_of_them", [False, True])
def test_a_signal_ends_the_job(jobs, compiled, number, all_of_them):
    """Of the launcher alone, or of the whole group as by a terminal."""
    program = built(compiled, "gcc", "nodes_inside.c")
    words = [jobs.command, "run", "-n", "3", "--devices=nodes", "--", str(program), "busy"]
    mark = secrets.token_hex(8)
    with subprocess.Popen(words, env=clean_environment(**{MARK: mark}), text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, start_new_session=True) as process:  # fmt: skip
        process.stdout.readline()
        (os.killpg if all_of_them else os.kill)(process.pid, number)
        process.communicate(timeout=SECONDS)
    deadline = time.monotonic() + SECONDS
    while members(mark) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert members(mark) == []
    assert process.returncode == -number


# Mistakes ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def adder(compiled):
    return built(compiled, "gcc", "nodes_sum.c")


@pytest.mark.parametrize("words", [("--devices=nodes",), ("-n", "1", "--devices=nodes")])
def test_nodes_without_workers(jobs, adder, words):
    result = jobs.run(*words, adder)
    assert result.returncode != 0
    assert "MARLINE_DEVICES names nodes, but this process has no workers: start the program by" in only(result)


@pytest.mark.parametrize("number", ["0", "256", "x", ""])
def test_a_wrong_number_of_workers(jobs, adder, number):
    result = jobs.run(f"--devices=nodes:{number}", adder)
    assert result.returncode == 125
    assert f"'nodes:{number}' needs a number from 1 to 255 behind the colon" in only(result)


def test_the_wire_of_mpi_without_mpi(jobs, adder):
    result = jobs.nodes(adder, MARLINE_WIRE="mpi")
    assert (result.returncode, result.stdout) == (125, "")
    assert "MARLINE_WIRE=mpi: these processes are no job of MPI's" in only(result)


def test_too_many_processes(jobs, adder):
    result = jobs.run("-n", 257, "--devices=nodes", adder)
    assert result.returncode == 125
    assert "-n 257: a program can have 255 workers, so a job has at most 256 processes" in only(result)


def test_names_of_nodes_for_another_number_of_processes(jobs, adder):
    result = jobs.nodes(adder, nodes_as="a,b")
    assert result.returncode == 125
    assert "--nodes-as a,b names 2 nodes, but the job has 3 processes: name the node of each" in only(result)


@pytest.mark.parametrize(("changes", "says"), [
    ({"MARLINE_JOB": "abc"}, "MARLINE_JOB is not 32 hexadecimal digits"),
    ({"MARLINE_JOB": SECRET}, "MARLINE_JOB is set, but MARLINE_JOB_COUNT is not"),
    ({"MARLINE_JOB": SECRET, "MARLINE_JOB_COUNT": "2", "MARLINE_JOB_NUMBER": "2"},
     'MARLINE_JOB_NUMBER="2" is not usable: expected a number from 0 to 1'),
    ({"MARLINE_JOB": SECRET, "MARLINE_JOB_COUNT": "2", "MARLINE_JOB_NUMBER": "0"},
     "MARLINE_JOB is set, but MARLINE_JOB_ADDRESS is not"),
    ({"MARLINE_JOB": SECRET, "MARLINE_JOB_COUNT": "2", "MARLINE_JOB_NUMBER": "0", "MARLINE_JOB_ADDRESS": "here"},
     "MARLINE_JOB_ADDRESS=here: expected unix:@NAME or tcp:HOST:PORT"),
])  # fmt: skip
def test_wrong_variables_of_a_job(jobs, adder, changes, says):
    result = jobs.run(adder, MARLINE_DEVICES="nodes", **changes)
    assert result.returncode != 0
    assert says in only(result)


def by_hand(jobs, programs, of_job=(SECRET, SECRET), seconds=30.0):
    """A job of two processes that are started by hand: their exit statuses and lines."""
    address = f"unix:@marline-test-{os.getpid()}-{time.monotonic_ns()}"
    started = [
        subprocess.Popen([*jobs.preloaded(), str(program)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         env=clean_environment(MARLINE_DEVICES="nodes", MARLINE_JOB=secret, MARLINE_JOB_COUNT="2",
                                               MARLINE_JOB_NUMBER=str(number), MARLINE_JOB_ADDRESS=address))
        for number, (program, secret) in enumerate(zip(programs, of_job, strict=True))
    ]  # fmt: skip
    outcomes = []
    for process in reversed(started):
        outcomes.insert(0, (process.communicate(timeout=seconds)[1].splitlines(), process.returncode))
        if of_job[0] != of_job[1]:
            started[0].kill()  # it waits for a process of its job
    return outcomes


def test_a_worker_that_is_another_program(jobs, compiled, adder):
    program, worker = by_hand(jobs, [adder, built(compiled, "gcc", "nodes_inside.c")])
    assert program[1] != 0
    assert len(program[0]) == 1
    assert re.search(r"the program of worker 1, on \S+, is another one than this \(by its build id\): start the same "
                     r"file everywhere", program[0][0])  # fmt: skip
    assert worker[0] == []


def test_a_worker_of_another_job(jobs, adder):
    _, (lines, status) = by_hand(jobs, [adder, adder], (SECRET, SECRET[::-1]))
    assert status == 1
    assert len(lines) == 1 and "has another secret than process 1: it belongs to another job" in lines[0]
