# SPDX-License-Identifier: Apache-2.0
"""`marline check`: which tasks are suspended under a mutex is found, and which deferred target regions map frames that
have been left; and nothing else is taken for that."""

import re
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import CROWDED, PROGRAMS, SECONDS, clean_environment, device_flags, run

ROOT = Path(__file__).resolve().parents[3]
FOUND = 123
LAUNCHERS = {"openmpi": "mpirun.openmpi", "mpich": "mpirun.mpich"}
WRAPPERS = {"openmpi": "mpicc.openmpi", "mpich": "mpicc.mpich"}


def line_of(source: str, mark: str) -> int:
    lines = (PROGRAMS / source).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if f" here: {mark}" in line)


def places(stderr: str) -> int:
    """How many the last line says there are."""
    last = stderr.strip().splitlines()[-1]
    found = re.match(r"marline: check: (no|\d+) (task|place)", last)
    assert found, stderr
    return 0 if found[1] == "no" else int(found[1])


@pytest.fixture(params=["g++-12", "clang++-19"])
def tasks(request, build, compiled) -> Path:
    flags = ["-g", "-fopenmp", "-std=c++17", f"-I{ROOT}/include", f"-L{build}/lib", "-lmarline"]
    flags += ["-L/usr/lib/llvm-19/lib"] if request.param.startswith("clang") else []
    return compiled(request.param, "mutex_tasks.cpp", *flags)


def test_says_who_and_where(marline, tasks):
    result = marline("check", "-t", "2", tasks, "guard")
    assert (result.returncode, result.stdout) == (FOUND, "done\n"), result.stderr
    assert places(result.stderr) == 1
    head, rest = re.split(r"  suspended (?:in marline_event_wait, called )?at\n", result.stderr)
    assert re.search(r'task "guard" \(.* ?mutex_tasks\.cpp:\d+\) was suspended while it held a mutex\n', head)
    suspended, _, locked = rest.partition(" locked at\n")
    assert f"guard mutex_tasks.cpp:{line_of('mutex_tasks.cpp', 'suspend')}\n" in suspended
    assert locked.startswith(f"    guard mutex_tasks.cpp:{line_of('mutex_tasks.cpp', 'lock guard')}\n")


@pytest.mark.parametrize("case", ["reader", "yield", "undeferred", "recursion", "implicit"])
def test_finds(marline, tasks, case):
    result = marline("check", "-t", "2", tasks, case)
    assert (result.returncode, places(result.stderr)) == (FOUND, 1), result.stderr


def test_finds_it_on_one_thread(marline, tasks):
    result = marline("check", "-t", "1", tasks, "taskwait")
    assert (result.returncode, places(result.stderr)) == (FOUND, 1), result.stderr


def test_in_a_lock_of_openmp(marline, tasks):
    result = marline("check", "-t", "1", tasks, "openmp_lock")
    assert (result.returncode, places(result.stderr)) == (FOUND, 1), result.stderr
    assert f"mutex_tasks.cpp:{line_of('mutex_tasks.cpp', 'OpenMP lock')}\n" in result.stderr


def test_what_is_held_follows_the_task(marline, tasks):
    result = marline("check", tasks, "moves")
    assert (result.returncode, places(result.stderr)) == (FOUND, 1), result.stderr
    suspended, _, _ = result.stderr.partition(" locked at\n")
    assert re.search(rf" mutex_tasks\.cpp:{line_of('mutex_tasks.cpp', 'with it')}\n", suspended)


def test_one_report_for_a_place(marline, tasks):
    result = marline("check", "-t", "2", tasks, "many")
    assert (result.returncode, places(result.stderr)) == (FOUND, 1), result.stderr
    assert "held a mutex, 5 times\n" in result.stderr


@pytest.mark.parametrize("case", ["released", "handed_over", "condition", "around", "crowd"])
def test_no_false_alarm(marline, tasks, case):
    result = marline("check", "-t", "2", tasks, case, "7")
    assert (result.returncode, places(result.stderr)) == (7, 0), result.stderr


def test_a_hang_is_explained_when_it_is_ended(build, tasks):
    words = [build / "bin" / "marline", "check", tasks, "hang"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=clean_environment()) as process:  # fmt: skip
        for _ in range(2):
            assert process.stdout.readline() == "locking\n"  # the second comes after the first has yielded
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == -signal.SIGINT
    assert places(errors) == 1
    assert "1 did not end in order" in errors


def test_without_openmp(marline):
    result = marline("check", "true")
    assert result.returncode == 0
    assert "nothing was checked" in result.stderr


def test_a_refusal_is_passed_on(marline):
    result = marline("check", "/no/such/program")
    assert result.returncode == 127
    assert "check:" not in result.stderr


@pytest.fixture(params=list(LAUNCHERS))
def exchange(request, build, compiled) -> tuple[str, Path]:
    if not (build / "lib" / "marline" / request.param / "libmarline-mpi.so").exists():
        pytest.skip(f"this build has no library for {request.param}")
    return request.param, compiled(WRAPPERS[request.param], "mutex_mpi.c", "-fopenmp", "-g")


def test_receive_under_a_mutex(marline, exchange):
    result = marline("check", "-n", "2", exchange[1], "locked")
    assert (result.returncode, places(result.stderr)) == (FOUND, 1), result.stderr
    assert "in 2 processes" in result.stderr
    head, _, rest = result.stderr.partition("suspended in MPI_Recv, called at\n")
    assert f"receive mutex_mpi.c:{line_of('mutex_mpi.c', 'receive')}\n" in rest
    assert f"locked at\n    receive mutex_mpi.c:{line_of('mutex_mpi.c', 'lock')}\n" in rest


def test_receive_without_a_mutex(marline, exchange):
    result = marline("check", "-n", "2", exchange[1])
    assert (result.returncode, places(result.stderr)) == (0, 0), result.stderr


def test_under_the_users_launcher(build, exchange):
    mpi, program = exchange
    result = run([LAUNCHERS[mpi], "-n", "2", build / "bin" / "marline", "check", program, "locked"], **CROWDED)
    assert result.returncode != 0
    assert result.stderr.count("1 place where a task was suspended under a mutex, in 1 process\n") == 1
    assert result.stderr.count("no task was suspended under a mutex, in 1 process\n") == 1


@pytest.fixture(params=["gcc-12", "clang-19", "clang-19 -fno-omit-frame-pointer"])
def frames(request, build, compiled) -> Path:
    compiler, *more = request.param.split()
    return compiled(compiler, "left_frames.c", "-g", "-fopenmp", *more, *device_flags(build, compiler))


def regions(stderr: str) -> int:
    """Of how many regions the frames were left, as the last line says."""
    found = re.search(r", (\d+) target regions? whose frames? (was|were) left, in 1 process$", stderr.strip())
    return int(found[1]) if found else 0


@pytest.mark.parametrize("device", ["host", "process"])
@pytest.mark.parametrize("case", ["returns", "returns_after_many", "ends", "region_ends"])
def test_finds_a_frame_that_was_left(marline, frames, case, device):
    result = marline("check", "-t", "2", frames, case, MARLINE_DEVICES=device)
    assert (result.returncode, regions(result.stderr)) == (FOUND, 1), result.stderr
    behind = "  its creator has ended\n" if case == "ends" else "  has left the frame, at\n"
    created, separator, left = result.stderr.partition(behind)
    assert separator, result.stderr
    assert re.search(r"a target region \(.*\) maps a frame that its creator left before the region was complete\n"
                     r"  created \(512 bytes at 0x[0-9a-f]+\) at\n    forgets ", created)  # fmt: skip
    assert case != "returns" or f"    returns left_frames.c:{line_of('left_frames.c', 'left')}\n" in left


@pytest.mark.parametrize("device", ["host", "process"])
@pytest.mark.parametrize("threads", ["1", "4"])
@pytest.mark.parametrize("case", ["waits", "waits_held", "waits_for_group", "waits_for_data", "waits_around_task",
                                  "waits_around_region", "of_caller", "of_heap", "nest", "switches"])  # fmt: skip
def test_frames_that_are_there(marline, frames, case, threads, device):
    result = marline("check", "-t", threads, frames, case, MARLINE_DEVICES=device)
    assert (result.returncode, result.stdout, regions(result.stderr)) == (0, "done\n", 0), result.stderr


def test_a_child_finds_locks_free(compiled):
    program = compiled("gcc-12", "check_lock.c", f"-I{ROOT}/check", f"{ROOT}/check/lock.c")
    result = run([program])
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stderr


def test_is_loaded_by_the_command_alone(build):
    for library in [build / "lib" / "libmarline.so", *(build / "lib" / "marline").glob("*/libmarline-mpi.so")]:
        needed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
        assert "libmarline-check" not in needed
