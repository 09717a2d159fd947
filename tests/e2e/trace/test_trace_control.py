# SPDX-License-Identifier: Apache-2.0
"""What a program and its environment can say to the recorder: which events, which part of the run, how much, and names
for regions and tasks. Each program runs on LLVM's libomp and on Marline; what was recorded is read back record by
record. Unwanted ends (a full disk, SIGKILL, exec, too few descriptors) leave a trace that can be read.
"""
from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import SECONDS, clean_environment

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("MARLINE_BUILD", ROOT / "build" / "release")).resolve()
RECORDER = BUILD / "lib" / "marline" / "libmarline-trace.so"
LLVM = Path("/usr/lib/llvm-19/lib")
RUNTIMES = {"libomp": LLVM, "marline": BUILD / "lib" / "marline" / "compat"}
sys.path.insert(0, str(ROOT / "python"))

from marline.trace.read import events, reader  # noqa: E402
from marline.trace.read.container import UNIT_BYTES, WINDOW_RECORDS  # noqa: E402

NAMES = {event.number: name for name, event in events.EVENTS.items()}
COMPLETE, EARLY_FULFILL, LATE_FULFILL, SWITCH = 1, 5, 6, 7
EXPLICIT = 0x4

both = pytest.mark.parametrize("runtime", RUNTIMES)


class Records:
    """A trace as rows of plain values, for counting."""

    def __init__(self, folder: Path) -> None:
        self.trace = reader.read_trace(folder)
        self.count = Counter(NAMES[number] for number in self.trace.kind.tolist())

    def rows(self, name: str) -> list[dict[str, Any]]:
        rows = self.trace.select(name)
        columns = {field: self.trace.field(name, field, rows).tolist() for field in events.EVENTS[name].fields}
        columns |= {"task": self.trace.task[rows].tolist(), "thread": self.trace.thread[rows].tolist(),
                    "at": self.trace.time[rows].tolist()}
        return [dict(zip(columns, values)) for values in zip(*columns.values())]

    def texts(self) -> dict[int, str]:
        found: dict[int, bytes] = {}
        for row in self.rows("text"):
            piece = row["low"].to_bytes(8, "little") + row["high"].to_bytes(8, "little")
            found[row["task"]] = found.get(row["task"], b"") + piece
        return {text: data.split(b"\0")[0].decode() for text, data in found.items()}

    def announced(self) -> set[int]:
        return {row["task"] for name in ("task_create", "implicit_begin") for row in self.rows(name)}

    def scheduled(self) -> set[int]:
        ran = {row["next"] for row in self.rows("task_schedule")} - {0}
        return {task for task in ran if task & 0xFFFFFFFF} | {row["task"] for row in self.rows("task_run")}


def build(folder: Path, source: str, *flags: str, compiler: str = "clang-19", suffix: str = ".c") -> Path:
    (folder / f"program{suffix}").write_text(source)
    openmp = ["-fopenmp=libomp", "-fopenmp-version=51", f"-L{LLVM}"] if compiler.startswith("clang") else []
    subprocess.run([compiler, *openmp, "-O1", "-g", f"-I{ROOT / 'include'}", str(folder / f"program{suffix}"), "-o",
                    str(folder / "program"), *flags], check=True, timeout=SECONDS, cwd=folder)
    return folder / "program"


def environment(folder: Path, runtime: str, **changes: str) -> dict[str, str]:
    return clean_environment(LD_LIBRARY_PATH=str(RUNTIMES[runtime]), LD_PRELOAD=str(RECORDER),
                             MARLINE_TRACE_DIR=str(folder / "trace"), OMP_NUM_THREADS="2") | changes


def execute(program: Path, runtime: str = "libomp", check: bool = True, **changes: str
            ) -> subprocess.CompletedProcess[str]:  # fmt: skip
    return subprocess.run([program], env=environment(program.parent, runtime, **changes), capture_output=True,
                          text=True, check=check, timeout=SECONDS)


def record(folder: Path, source: str, runtime: str, *flags: str, **changes: str) -> Records:
    result = execute(build(folder, source, *flags), runtime, **changes)
    assert result.stderr == ""
    return Records(folder / "trace")


def description(folder: Path) -> dict[str, Any]:
    (path,) = (folder / "trace").glob("*.json")
    return dict(json.loads(path.read_text()))


# Records of tasks ----------------------------------------------------------------------------------------------------

LEAVES_AND_PARENTS = r"""
int main(void) {
  #pragma omp parallel
  #pragma omp single
  {
    for (int i = 0; i < 64; i++) {
      #pragma omp task
      { }
    }
    #pragma omp taskwait
    for (int i = 0; i < 8; i++) {
      #pragma omp task
      {
        #pragma omp task
        { }
        #pragma omp taskwait
      }
    }
  }
}
"""


@both
def test_a_task_without_interruption_is_two_records(tmp_path: Path, runtime: str) -> None:
    records = record(tmp_path, LEAVES_AND_PARENTS, runtime)
    parents = {row["parent"] for row in records.rows("task_create")}
    runs = records.rows("task_run")
    created = {row["task"] for row in records.rows("task_create")}
    assert len(created) == 80 and len(runs) == 72
    assert {row["task"] for row in runs} == created - parents
    first = min(row["start"] for row in runs)
    assert all(first <= row["start"] for row in runs) and len({row["task"] for row in runs}) == 72
    ended = {row["task"] for row in records.rows("task_schedule") if row["status"] == COMPLETE}
    assert ended == parents & created and len(ended) == 8
    assert records.count["task_label"] == 0


FULFILMENTS = r"""
#include <omp.h>
#include <stdint.h>
int main(void) {
  omp_event_handle_t early, late, handed = 0;
  #pragma omp parallel
  #pragma omp single
  {
    #pragma omp task detach(early) if(0)
    omp_fulfill_event(early);
    #pragma omp task detach(late) shared(handed)
    __atomic_store_n((uintptr_t *)&handed, (uintptr_t)late, __ATOMIC_RELEASE);
    uintptr_t event;
    while (!(event = __atomic_load_n((uintptr_t *)&handed, __ATOMIC_ACQUIRE))) {
      #pragma omp taskyield
    }
    omp_fulfill_event((omp_event_handle_t)event);
    #pragma omp taskwait
  }
}
"""


@both
def test_fulfilments_are_told(tmp_path: Path, runtime: str) -> None:
    """Of the second task the body may still be running when its event is fulfilled: then this too is early."""
    records = record(tmp_path, FULFILMENTS, runtime)
    told = [row for row in records.rows("task_schedule") if row["status"] in (EARLY_FULFILL, LATE_FULFILL)]
    assert sorted(row["task"] for row in told) == sorted(row["task"] for row in records.rows("task_create"))
    assert EARLY_FULFILL in {row["status"] for row in told} and all(row["next"] == 0 for row in told)


LEAGUE = r"""
int main(void) {
  #pragma omp teams num_teams(70000) thread_limit(1)
  { }
}
"""


def test_a_league_of_more_teams_than_a_record_can_count(tmp_path: Path) -> None:
    records = record(tmp_path, LEAGUE, "marline")
    assert max(row["size"] for row in records.rows("parallel_begin")) == 65535
    teams = [row["index"] for row in records.rows("implicit_begin") if row["size"] == 65535]
    assert len(teams) == 70000 and Counter(teams)[65535] == 70000 - 65535 and len(set(teams)) == 65536


WORKSHARING = r"""
#include <omp.h>
int main(void) {
  omp_lock_t lock;
  int sum = 0;
  omp_init_lock(&lock);
  #pragma omp parallel
  {
    #pragma omp for schedule(dynamic)
    for (int i = 0; i < 100; i++) {
      omp_set_lock(&lock);
      sum++;
      omp_unset_lock(&lock);
    }
    #pragma omp single
    sum++;
    #pragma omp critical
    sum++;
  }
  return sum != 103;
}
"""


@both
def test_worksharing_and_mutexes(tmp_path: Path, runtime: str) -> None:
    records = record(tmp_path, WORKSHARING, runtime)
    begins, ends = records.rows("work_begin"), records.rows("work_end")
    assert Counter(row["kind"] for row in begins) == Counter(row["kind"] for row in ends)
    loops = [row for row in begins if row["kind"] in (1, 10, 11, 12, 13)]
    assert len(loops) == 2 and {row["count"] for row in loops} == {100}
    assert sorted(row["kind"] for row in begins if row not in loops) == [3, 4]  # executes the single; does not
    assert len({row["task"] for row in begins}) == 2
    kinds = {name: Counter(row["kind"] for row in records.rows(name)) for name in ("mutex_acquired", "mutex_released")}
    lock, critical = 1, 5
    for found in kinds.values():
        assert found[lock] == 100 and found[critical] == 2
    threads = Counter(row["thread"] for row in records.rows("thread_begin"))
    assert set(threads.values()) == {1} and len(threads) == 2


# Which part of the run ------------------------------------------------------------------------------------------------

PAUSED = r"""
#include <omp.h>
static int go;
static void hundred(void) {
  for (int i = 0; i < 100; i++) {
    #pragma omp task
    { }
  }
  #pragma omp taskwait
}
int main(void) {
  int wrong = 0;
  #pragma omp parallel
  #pragma omp single
  {
    hundred();
    wrong += omp_control_tool(omp_control_tool_pause, 0, 0) != 0;
    hundred();
    for (int i = 0; i < 3; i++) {
      #pragma omp task
      while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE)) { }
    }
    wrong += omp_control_tool(omp_control_tool_start, 0, 0) != 0;
    __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
    #pragma omp taskwait
    hundred();
    wrong += omp_control_tool(omp_control_tool_flush, 0, 0) != 0;
    wrong += omp_control_tool(77, 0, 0) == 0; /* not a command of ours */
    wrong += omp_control_tool(omp_control_tool_end, 0, 0) != 0;
    hundred();
    wrong += omp_control_tool(omp_control_tool_start, 0, 0) != 0; /* comes too late */
    hundred();
  }
  return wrong;
}
"""


@both
def test_what_happens_while_recording_is_off_is_missing_and_nothing_else(tmp_path: Path, runtime: str) -> None:
    records = record(tmp_path, PAUSED, runtime)
    created = records.rows("task_create")
    late = [row for row in created if row["parent"] == 0]  # three tasks were created while recording was off
    assert len(created) == 203 and len(late) == 3 and all(row["flags"] == EXPLICIT for row in late)
    assert records.scheduled() <= records.announced()
    ends = {row["task"] for row in records.rows("task_schedule") if row["status"] == COMPLETE}
    assert ends | {row["task"] for row in records.rows("task_run")} == {row["task"] for row in created}
    assert_silent_while_off(records)


def assert_silent_while_off(records: Records) -> None:
    """On each thread off and on alternate, and between them stands nothing but its own beginning and end."""
    assert records.count["recording_off"] >= 1
    allowed = {"recording_on", "thread_begin", "thread_end"}
    kinds = np.array([NAMES[kind] for kind in records.trace.kind.tolist()])
    for thread in np.unique(records.trace.thread):
        off = False
        for kind in kinds[records.trace.thread == thread].tolist():
            assert not off or kind in allowed, kind
            off = kind == "recording_off" or (off and kind != "recording_on")


@both
def test_recording_that_starts_off(tmp_path: Path, runtime: str) -> None:
    source = r"""
    #include <marline/trace.h>
    static void region(int tasks) {
      #pragma omp parallel
      #pragma omp single
      for (int i = 0; i < tasks; i++) {
        #pragma omp task
        { }
      }
    }
    int main(void) { region(50); marline_trace_on(); region(20); marline_trace_off(); region(50); return 0; }
    """
    records = record(tmp_path, source, runtime, MARLINE_TRACE_START="off")
    assert records.count["task_create"] == 20 and records.count["parallel_begin"] == 1
    assert records.scheduled() <= records.announced()
    assert_silent_while_off(records)
    assert description(tmp_path)["start"] == "off"


@both
@pytest.mark.parametrize(("words", "kinds"), [
    ("task", {"task_create", "task_run", "task_schedule"}),
    ("dependence", {"task_create", "task_run", "task_schedule", "dependence"}),
    ("sync", {"sync_begin", "sync_end", "wait_begin", "wait_end"}),
    ("region", {"region_begin", "region_end", "text"}), ("memory", {"memory", "pause"}),
])  # fmt: skip
def test_only_the_wanted_events(tmp_path: Path, runtime: str, words: str, kinds: set[str]) -> None:
    source = r"""
    #include <marline/trace.h>
    int main(void) {
      int value = 0;
      #pragma omp parallel
      #pragma omp single
      {
        marline_region_begin("phase");
        #pragma omp task depend(out: value)
        value = 1;
        #pragma omp task depend(in: value)
        {
          #pragma omp task
          { }
          #pragma omp taskwait
        }
        #pragma omp taskwait
        marline_region_end();
      }
      return 0;
    }
    """
    records = record(tmp_path, source, runtime, MARLINE_TRACE_EVENTS=words)
    structure = {"thread_begin", "thread_end", "parallel_begin", "parallel_end", "implicit_begin", "implicit_end"}
    assert set(records.count) - structure == kinds
    assert description(tmp_path)["events"] == (["task", "dependence"] if words == "dependence" else [words])


@pytest.mark.parametrize(("option", "value", "told"), [
    ("MARLINE_TRACE_EVENTS", "task,taks,mpi", ['"taks,mpi"', "task, dependence, sync, mutex, work, mpi, region"]),
    ("MARLINE_TRACE_START", "later", ['="later"', "on or off"]),
    ("MARLINE_TRACE_LIMIT", "many", ['="many"', "500M"]),
    ("MARLINE_TRACE_LIMIT", "99999999999G", ['="99999999999G"', "500M"]),
    ("MARLINE_TRACE_LIMIT", "5 X", ['="5 X"', "500M"]),
])  # fmt: skip
def test_a_wrong_option_is_one_line(tmp_path: Path, option: str, value: str, told: list[str]) -> None:
    result = execute(build(tmp_path, LEAVES_AND_PARENTS), check=False, **{option: value})
    assert (result.returncode, len(result.stderr.splitlines()), result.stdout) == (2, 1, "")
    assert all(word in result.stderr for word in [option, *told])
    assert list((tmp_path / "trace").iterdir()) == []


MANY = r"""
int main(void) {
  #pragma omp parallel
  #pragma omp single
  for (int round = 0; round < 400; round++) {
    for (int i = 0; i < 100; i++) {
      #pragma omp task
      { }
    }
    #pragma omp taskwait
  }
  return 0;
}
"""


@both
def test_limit_on_what_is_written(tmp_path: Path, runtime: str) -> None:
    result = execute(build(tmp_path, MANY), runtime, MARLINE_TRACE_LIMIT="256K")
    assert len(result.stderr.splitlines()) == 1 and "MARLINE_TRACE_LIMIT: 262144 bytes" in result.stderr
    assert "MARLINE_TRACE_LIMIT" in description(tmp_path)["stopped"] and description(tmp_path)["limit"] == 256 << 10
    records = Records(tmp_path / "trace")
    (file,) = (tmp_path / "trace").glob("*.mtr")
    units = 4 + 1 + 2 + 3  # not counted: the head, windows of two threads, and what was under way when it stopped
    assert 4 * WINDOW_RECORDS < len(records.trace.time) and file.stat().st_blocks * 512 < units * UNIT_BYTES
    assert records.scheduled() <= records.announced()


# Names ----------------------------------------------------------------------------------------------------------------

REGIONS = r"""
#include <marline/trace.h>
#include <stdio.h>
int main(void) {
  marline_region_begin("the whole program, from its begin on");
  #pragma omp parallel
  #pragma omp single
  {
    marline_region_begin_rgb("creation", 0x00ff00);
    for (int i = 0; i < 10; i++) {
      if (i == 3) marline_name_task("third", 0xabcdef);
      #pragma omp task untied
      {
        marline_region_begin("outer");
        #pragma omp taskyield
        marline_region_begin("inner");
        #pragma omp taskyield
        marline_region_end();
        marline_region_end();
      }
    }
    marline_region_end();
  }
  marline_region_end();
  puts("done");
  return 0;
}
"""


@both
def test_regions_nest_within_their_task(tmp_path: Path, runtime: str) -> None:
    records = record(tmp_path, REGIONS, runtime)
    texts = records.texts()
    rows = sorted(records.rows("region_begin") + records.rows("region_end"), key=lambda row: (row["task"], row["at"]))
    by_task: dict[int, list[str]] = {}
    for row in rows:
        by_task.setdefault(row["task"], []).append(texts[row["text"]] if "text" in row else "end")
    explicit = {row["task"] for row in records.rows("task_create")}
    assert len(explicit) == 10 and all(by_task[task] == ["outer", "inner", "end", "end"] for task in explicit)
    # The first one was begun before there was a runtime: outside of any task, and then in the initial one.
    others = sorted(names for task, names in by_task.items() if task not in explicit)
    whole = ["the whole program, from its begin on", "end"]
    assert others == [["creation", "end"], whole, whole]
    assert {row["color"] for row in records.rows("region_begin")} == {0, 0x00FF00}
    (label,) = records.rows("task_label")
    assert texts[label["text"]] == "third" and label["color"] == 0xABCDEF


@pytest.mark.parametrize(("compiler", "flags"), [
    ("gcc-12", ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas", "-no-pie"]),
    ("g++-12", ["-x", "c++", "-std=c++11", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wno-unknown-pragmas"]),
    ("clang-19", ["-Wall", "-Wextra", "-Werror", "-pie", "-fPIE"]),
])  # fmt: skip
def test_header_links_nothing_and_costs_nothing_without_recorder(tmp_path: Path, compiler: str,
                                                                 flags: list[str]) -> None:
    """Also in a program without OpenMP, and in an executable that is not position independent."""
    program = build(tmp_path, REGIONS, *flags, compiler=compiler)
    needed = subprocess.run(["readelf", "-d", program], capture_output=True, text=True, check=True).stdout
    assert "marline" not in needed
    bare = subprocess.run([program], env=clean_environment(LD_LIBRARY_PATH=str(LLVM)), capture_output=True, text=True,
                          check=True, timeout=SECONDS)
    assert (bare.stdout, bare.stderr) == ("done\n", "")
    execute(program)
    assert "creation" in Records(tmp_path / "trace").texts().values()


def test_regions_from_fortran(tmp_path: Path) -> None:
    source = r"""
    program regions
      use marline_trace
      implicit none
      call marline_region_begin("from Fortran  ")
      call marline_trace_off()
      call marline_region_begin("unheard")
      call marline_region_end()
      call marline_trace_on()
      call marline_region_end()
    end program
    """
    subprocess.run(["gfortran-12", "-c", ROOT / "include" / "marline" / "marline_trace.f90"], cwd=tmp_path, check=True,
                   timeout=SECONDS)
    program = build(tmp_path, source, "marline_trace.o", compiler="gfortran-12", suffix=".f90")
    execute(program)
    records = Records(tmp_path / "trace")
    assert list(records.texts().values()) == ["from Fortran"]
    assert (records.count["region_begin"], records.count["region_end"], records.count["recording_off"]) == (1, 1, 1)


def test_code_of_a_library_that_was_loaded_later(tmp_path: Path) -> None:
    (tmp_path / "late.c").write_text("void late(void) {\n#pragma omp task\n{ }\n#pragma omp taskwait\n}\n")
    subprocess.run(["clang-19", "-fopenmp=libomp", f"-L{LLVM}", "-shared", "-fPIC", "-Wl,--build-id", "late.c", "-o",
                    "liblate.so"], cwd=tmp_path, check=True, timeout=SECONDS)
    source = r"""
    #include <dlfcn.h>
    #include <omp.h>
    int main(int count, char **arguments) {
      omp_get_max_threads();
      void *library = dlopen("LIBRARY", RTLD_NOW);
      ((void (*)(void))dlsym(library, "late"))();
      return 0;
    }
    """
    library = tmp_path / "liblate.so"
    records = record(tmp_path, source.replace("LIBRARY", str(library)), "libomp")
    notes = subprocess.run(["readelf", "-n", library], capture_output=True, text=True, check=True).stdout
    maps = [entry for entry in description(tmp_path)["maps"] if entry["path"] == str(library)]
    assert maps and all(entry["build_id"] and entry["build_id"] in notes for entry in maps)
    (task,) = records.rows("task_create")
    assert any(entry["begin"] <= task["code"] < entry["end"] for entry in maps)


# Unwanted ends --------------------------------------------------------------------------------------------------------


def test_thousand_threads_on_few_descriptors(tmp_path: Path) -> None:
    source = r"""
    #include <marline/trace.h>
    #include <pthread.h>
    #include <unistd.h>
    static pthread_barrier_t all;
    static void *body(void *unused) {
      marline_region_begin("thread");
      pthread_barrier_wait(&all);
      marline_region_end();
      return unused;
    }
    int main(void) {
      static pthread_t threads[1000];
      pthread_attr_t small;
      pthread_attr_init(&small);
      pthread_attr_setstacksize(&small, 1 << 16);
      pthread_barrier_init(&all, 0, 1000);
      for (int i = 0; i < 1000; i++) if (pthread_create(&threads[i], &small, body, 0)) return 1;
      for (int i = 0; i < 1000; i++) pthread_join(threads[i], 0);
      return dup(1) < 0;
    }
    """
    program = build(tmp_path, source, "-pthread")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < 4096:
        pytest.skip(f"at most {hard} descriptors here")

    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (128, hard))

    result = subprocess.run([program], env=environment(tmp_path, "libomp"), capture_output=True, text=True,
                            timeout=SECONDS, preexec_fn=few, check=True)  # fmt: skip
    assert result.stderr == ""
    records = Records(tmp_path / "trace")
    assert records.count["region_begin"] == records.count["region_end"] == 1000
    assert len(np.unique(records.trace.thread)) == 1000


def test_full_disk(tmp_path: Path) -> None:
    """Room for one window for each thread: the first full one stays, and is read."""
    program = build(tmp_path, MANY)
    (tmp_path / "trace").mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=200k", "none", tmp_path / "trace"]
    if subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("cannot mount a small file system here")
    try:
        result = execute(program)
        assert len(result.stderr.splitlines()) == 1 and "No space left on device" in result.stderr
        assert "No space left" in description(tmp_path)["stopped"]
        records = Records(tmp_path / "trace")
        assert records.trace.cut == [] and records.scheduled() <= records.announced()
        assert len(records.trace.time) >= WINDOW_RECORDS
    finally:
        subprocess.run(["umount", tmp_path / "trace"], check=True)


@both
def test_killed_at_any_moment(tmp_path: Path, runtime: str) -> None:
    source = MANY.replace("round < 400", "1").replace("int main", "#include <stdio.h>\nint main").replace(
        "    #pragma omp taskwait", "    #pragma omp taskwait\n    if (round == 20) { puts(\"on\"); fflush(stdout); }")
    program = build(tmp_path, source)
    moments = random.Random(7)
    for trial in range(12):
        settings = environment(tmp_path, runtime, MARLINE_TRACE_DIR=str(tmp_path / f"trace{trial}"))
        with subprocess.Popen([program], env=settings, stdout=subprocess.PIPE) as running:
            assert running.stdout is not None and running.stdout.readline() == b"on\n"
            time.sleep(moments.random() * 0.05)
            running.send_signal(signal.SIGKILL)
        records = Records(tmp_path / f"trace{trial}")
        assert all("missing at its end" in said for said in records.trace.cut)  # where room was being reserved
        assert records.count["task_create"] >= 2000
        runs = records.rows("task_run")
        assert len({row["task"] for row in runs}) == len(runs) >= 1900
        # A task's creation is written before the task can run anywhere.
        assert records.scheduled() <= records.announced()


def test_exec_leaves_the_trace_alone(tmp_path: Path) -> None:
    source = LEAVES_AND_PARENTS.replace("int main(void) {", "#include <unistd.h>\nint main(int n, char **v) {")
    source = source.rstrip()[:-1] + 'if (n == 1) execl(v[0], v[0], "again", (char *)0);\n  return n != 2;\n}\n'
    result = execute(build(tmp_path, source))
    assert len(result.stderr.splitlines()) == 1 and "File exists" in result.stderr
    assert description(tmp_path)["argv"] == [str(tmp_path / "program")]
    records = Records(tmp_path / "trace")
    assert records.count["task_create"] == 80 and records.scheduled() <= records.announced()


@pytest.mark.parametrize("folder", ["/proc", "/proc/trace", "/dev/null/trace"])
def test_folder_that_cannot_be_written(tmp_path: Path, folder: str) -> None:
    result = execute(build(tmp_path, LEAVES_AND_PARENTS), check=False, MARLINE_TRACE_DIR=folder)
    assert result.returncode == 2
    assert len(result.stderr.splitlines()) == 1 and folder in result.stderr
