# SPDX-License-Identifier: Apache-2.0
"""MARLINE_TRACE_RING on real programs: what remains of one that is killed, copies of one that runs, at a command, at a
signal and when it hangs. The reader's rules are tested in test_ring_handmade.py."""
from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import CROWDED, EXHAUSTIVE, LLVM, SECONDS, Result, clean_environment, wait_for

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "python"))
from marline.trace.analysis import Analysis  # noqa: E402
from marline.trace.read.reader import read_trace  # noqa: E402

RECORDER = "lib/marline/libmarline-trace.so"
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(build: Path, tmp_path: Path) -> Iterator[Start]:
    """Starts a program under `marline run --trace DIR`; killed at the end of the test, with all that it has started."""
    started = []

    def start_one(*words: str | Path, **changes: str) -> subprocess.Popen[str]:
        output = (tmp_path / "output").open("w")
        command = [build / "bin" / "marline", "run", "--trace", tmp_path / "trace", *words]
        process = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=output, text=True, start_new_session=True,
                                   env=clean_environment(MARLINE_TRACE_RING="1M", **CROWDED, **changes))  # fmt: skip
        started.append(process)
        return process

    yield start_one
    for pid in map(int, re.findall(r"pid (\d+)", (tmp_path / "output").read_text())):
        kill(pid)
    for process in started:
        kill(process.pid)
        process.wait(SECONDS)


def kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def pid_of(tmp_path: Path) -> int:
    text = lambda: (tmp_path / "output").read_text()  # noqa: E731
    return int(wait_for(lambda: re.search(r"pid (\d+)\n", text()), text)[1])


@pytest.fixture(scope="module")
def program(compiled: Callable[..., Path]) -> Path:
    return compiled("gcc-12", "ring.c", "-g", "-fopenmp")


def test_a_running_job_is_copied_and_a_killed_one_is_read(
    start: Start, program: Path, marline: Callable[..., Result], tmp_path: Path
) -> None:
    """10^5 tasks in a ring of 1 MiB, which has room for some 12,000: it has the last tasks and none of the first, and
    knows the long task, whose creation it has overwritten. Two copies and a report while it runs, a third by the
    signal."""
    start("-t", "3", "--", program, "3000", MARLINE_TRACE_SIGNAL="USR1")
    pid = pid_of(tmp_path)
    first, second, at_signal = tmp_path / "first", tmp_path / "second", tmp_path / "trace.signal1"
    copied = marline("ps", "--trace", first, str(pid))
    assert copied.returncode == 0, copied.stderr
    assert copied.stdout == f"{first}: what 1 rank recorded last; marline report {first}\n"
    os.kill(pid, signal.SIGUSR1)
    wait_for(lambda: "trace.signal1" in (tmp_path / "output").read_text(), (tmp_path / "output").read_text)
    assert marline("ps", "--trace", second, str(pid)).returncode == 0
    report = marline("ps", "--report", str(pid))
    assert report.returncode == 0, report.stderr
    assert re.search(r"^ring-0 3000\n1 rank x 3 threads on Marline", report.stdout)
    assert re.search(r"long_task ring.c:\d+ \(1\)", " ".join(report.stdout.split())), report.stdout
    again = marline("ps", "--trace", second, str(pid))
    assert again.returncode == 125 and f"{second} is not empty" in again.stderr and again.stderr.count("\n") == 1
    kill(pid)
    copies = [read_trace(folder) for folder in (first, at_signal, second, tmp_path / "trace")]
    ends = [trace.began + int(trace.time.max()) for trace in copies]
    assert ends == sorted(ends) and ends[0] < ends[-1]
    assert all(trace.began > 0 and len(trace.began_before) >= 1 for trace in copies)
    for trace in copies if EXHAUSTIVE else copies[-1:]:
        of = Analysis(trace)
        kinds = of["kinds"]
        count = Counter(kinds.names[one].split()[0] for one in kinds.of_task.tolist())
        assert count["first_tasks"] == 0 and count["last_tasks"] >= 500 and count["long_task"] == 1, count
        assert count["middle_tasks"] < 100_000
        assert not any("records are missing" in one for one in of["integrity"].incomplete), of["integrity"].incomplete
        (line,) = [one for one in of["integrity"].incomplete if "keeps the end" in one]
        assert re.search(r"long_task ring.c:\d+ \(1\)", line)
        assert kinds.names[kinds.of_task[of["tasks"].running.argmax()]].startswith("long_task")


def test_report_of_a_job_without_a_ring(build: Path, program: Path, marline: Callable[..., Result]) -> None:
    words = [str(build / "bin" / "marline"), "run", "-t", "3", "--", str(program), "3000"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=clean_environment()) as process:
        assert process.stdout is not None
        pid = process.stdout.readline().split()[1]
        found = marline("ps", "--report", "--seconds", "0.2", pid)
        refused = marline("ps", "--trace", "nowhere", pid)
        kill(int(pid))
    # One thread runs the long task, two have nothing to do but ten tasks in 20 ms.
    shares = re.search(r"^ all +3 +([\d.]+)% +([\d.]+)% +([\d.]+)%", found.stdout, re.MULTILINE)
    assert shares, found.stdout + found.stderr
    assert 25 < float(shares[1]) and abs(sum(float(one) for one in shares.groups()) - 100) < 0.2
    assert "MARLINE_TRACE_RING=64M" in found.stdout
    assert refused.returncode == 125 and not Path("nowhere").exists()
    assert refused.stderr == (f"marline: process {pid} keeps no ring of its last records: start the job with "
                              "MARLINE_TRACE_RING=64M and `marline run --trace DIR`\n")  # fmt: skip


def test_a_hang_leaves_its_trace(
    start: Start, build: Path, compiled: Callable[..., Path], tmp_path: Path
) -> None:
    """Two ranks that each wait for the other's message: MARLINE_MPI_WATCH reports it, and copies both rings."""
    if not (build / "lib" / "marline" / "openmpi" / "libmarline-mpi.so").exists():
        pytest.skip("this build has no library for Open MPI")
    hangs = compiled("mpicc.openmpi", "hangs.c", "-g", "-fopenmp", f"-I{ROOT}/include", f"-L{build}/lib", "-lmarline",
                     f"-Wl,-rpath,{build}/lib")  # fmt: skip
    start("-n", "2", "-t", "2", "--", hangs, "tag", MARLINE_MPI_WATCH="0.5")
    folder = tmp_path / "trace.hang"
    line = f"marline: {folder}: what 2 ranks recorded last; marline report {folder}"
    wait_for(lambda: line in (tmp_path / "output").read_text(), (tmp_path / "output").read_text)
    of = Analysis(read_trace(folder))
    assert sorted(of.trace.ranks) == [0, 1]
    inside = [one for one in of["integrity"].incomplete if "had not returned" in one]
    assert inside, of["integrity"].incomplete


def test_a_thread_that_ends_leaves_its_records_to_the_ring(build: Path, tmp_path: Path) -> None:
    """200 threads, each with a region of its own, under LLVM's runtime: the node's file holds no window of them,
    and the ring knows the last ones."""
    source = r"""
#include <pthread.h>
static void* one(void* unused) {
  #pragma omp parallel num_threads(1)
  for (int i = 0; i < 100; i++) {
    #pragma omp task
    { }
  }
  return unused;
}
int main(void) {
  for (int i = 0; i < 200; i++) {
    pthread_t thread;
    pthread_create(&thread, 0, one, 0);
    pthread_join(thread, 0);
  }
}
"""
    (tmp_path / "threads.c").write_text(source)
    subprocess.run(["clang-19", "-fopenmp=libomp", f"-L{LLVM}", "-O1", "threads.c", "-o", "threads", "-lpthread"],
                   check=True, cwd=tmp_path)  # fmt: skip
    (tmp_path / "trace").mkdir()
    subprocess.run([tmp_path / "threads"], check=True, timeout=SECONDS, env=clean_environment(
        LD_LIBRARY_PATH=str(LLVM), LD_PRELOAD=str(build / RECORDER), MARLINE_TRACE_DIR=str(tmp_path / "trace"),
        MARLINE_TRACE_RING="1M"))  # fmt: skip
    (file,) = (tmp_path / "trace").glob("node.*.mtr")
    assert file.stat().st_size < 10 << 16  # threads that end leave their windows to others
    trace = read_trace(tmp_path / "trace")
    threads = set(trace.thread.tolist())
    assert trace.began > 0 and max(threads) >= 200 and min(threads - {1}) > 50
    assert (tmp_path / "trace" / "rank0000.ring").stat().st_size <= 2 << 20


@pytest.mark.parametrize("changes, words", [
    ({"MARLINE_TRACE_RING": "64"}, 'MARLINE_TRACE_RING="64" is not usable'),
    ({"MARLINE_TRACE_RING": "all"}, "expected a size from 1M to 64G, like 64M"),
    ({"MARLINE_TRACE_RING": "1M", "MARLINE_TRACE_LIMIT": "1G"},
     'MARLINE_TRACE_LIMIT="1G" is not usable: expected nothing beside MARLINE_TRACE_RING'),
    ({"MARLINE_TRACE_SIGNAL": "USR1"}, 'MARLINE_TRACE_SIGNAL="USR1" is not usable: expected MARLINE_TRACE_RING'),
    ({"MARLINE_TRACE_RING": "1M", "MARLINE_TRACE_SIGNAL": "KILL"}, "expected USR1 or USR2"),
])  # fmt: skip
def test_a_bad_value_is_one_line(program: Path, marline: Callable[..., Result], tmp_path: Path,
                                 changes: dict[str, str], words: str) -> None:  # fmt: skip
    result = marline("run", "-t", "1", "--trace", tmp_path / "trace", "--", program, **changes)
    assert result.returncode == 2 and words in result.stderr and result.stderr.count("\n") == 1, result.stderr


def test_a_rank_without_a_ring_survives_the_signal(build: Path, tmp_path: Path) -> None:
    """A job gets it as a whole; the description of a rank that is left out names no ring."""
    source, program = tmp_path / "raise.c", tmp_path / "raise"
    source.write_text("#include <signal.h>\n#include <stdio.h>\nint main(void) {\n#pragma omp parallel\n;\n"
                      "return raise(SIGUSR1) + (puts(\"goes on\") < 0); }\n")
    subprocess.run(["gcc", "-fopenmp", source, "-o", program], check=True, timeout=SECONDS)
    environment = clean_environment(MARLINE_TRACE_RING="1M", MARLINE_TRACE_SIGNAL="USR1", MARLINE_TRACE_RANKS="0",
                                    OMPI_COMM_WORLD_RANK="1", OMPI_COMM_WORLD_SIZE="2")  # fmt: skip
    result = subprocess.run([build / "bin" / "marline", "run", "--trace", tmp_path / "trace", program], env=environment,
                            capture_output=True, text=True, timeout=SECONDS, check=False)  # fmt: skip
    assert (result.returncode, result.stdout) == (0, "goes on\n"), result.stderr
    assert not list((tmp_path / "trace").glob("*.ring"))
    assert '"ring": ""' in (tmp_path / "trace" / "rank0001.json").read_text()


def test_two_questions_are_refused(marline: Callable[..., Result]) -> None:
    result = marline("ps", "--trace", "somewhere", "--report", "1")
    assert result.returncode == 125
    assert result.stderr == "marline: --trace and --report are two different questions: give one of them\n"
