# SPDX-License-Identifier: Apache-2.0
"""libompd: what a debugger learns from it of threads, regions, tasks and variables, at the stops of a program
(programs/debugged.c), at OMPD's breakpoints and in a core file; and LLVM's GDB plug-in on top of it.

The debugger is ompd_session.py, which GDB runs."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import LLVM, PROGRAMS, SECONDS, clean_environment

HERE = Path(__file__).parent
SESSION = HERE / "ompd_session.py"
PLUGIN = LLVM.parent / "share" / "gdb" / "python" / "ompd"
FORMAT = "%L of %N"
SETTINGS = {"OMP_NUM_THREADS": "3,2", "OMP_PROC_BIND": "spread,close", "OMP_CANCELLATION": "true",
            "OMP_STACKSIZE": "3M", "OMP_MAX_TASK_PRIORITY": "5", "OMP_THREAD_LIMIT": "9", "OMP_AFFINITY_FORMAT": FORMAT,
            "OMP_TOOL_LIBRARIES": "/nothing/here.so"}  # fmt: skip
AT_WORK = "ompt_state_work_parallel"
AT_BARRIER = "ompt_state_wait_barrier_implicit_parallel"
Facts = dict[str, Any]

pytestmark = pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed")


def debug(build: Path, *words: str | Path, **changes: str) -> str:
    library_path = f"{build}/lib/marline/compat:{build}/lib"
    environment = clean_environment(**({"LD_LIBRARY_PATH": library_path, "OMP_DEBUG": "enabled"} | changes))
    gdb = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-iex", "set auto-load safe-path /"]
    result = subprocess.run([*gdb, *words], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            timeout=SECONDS, check=False)  # fmt: skip
    if "Could not trace the inferior process" in result.stderr:
        pytest.skip("this system does not let gdb trace processes")
    return result.stdout + result.stderr


def facts_of(output: str) -> Facts:
    lines = [line for line in output.splitlines() if line.startswith("FACTS ")]
    assert len(lines) == 1, output
    facts: Facts = json.loads(lines[0].removeprefix("FACTS "))
    return facts


@pytest.fixture(scope="module", params=["gcc-12", "clang-19"])
def program(request: pytest.FixtureRequest, compiled: Callable[..., Path]) -> Path:
    flags = ["-g", "-fopenmp"]
    if str(request.param).startswith("clang"):
        flags.append(f"-L{LLVM}")
    return compiled(str(request.param), "debugged.c", *flags)


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("core") / "core"


@pytest.fixture(scope="module")
def session(build: Path, program: Path, core: Path) -> Facts:
    changes = SETTINGS | {"DUMP_AT": "4", "DUMP": str(core)}
    facts = facts_of(debug(build, "-ex", f"source {SESSION}", program, **changes))
    assert facts["valid"]
    assert facts["exit"] == 0
    return facts


SOURCE = (PROGRAMS / "debugged.c").read_text().splitlines()


def function_of(code: list[int] | None) -> str:
    """The function of the program that contains the task's code; none for an initial task."""
    if code is None:
        return ""
    heads = [line for line in SOURCE[: code[1]] if re.match(r"\w.*\w+\(.*\) \{", line)]
    return re.findall(r"(\w+)\(\w*\) \{", heads[-1])[0]


def test_the_process_names_the_library(build: Path, session: Facts) -> None:
    assert Path(session["path"]) == build / "lib" / "marline" / "libompd.so"
    assert list(session["stops"]) == ["1", "2", "3", "4", "5", "6"]


def test_threads(session: Facts) -> None:
    stops = session["stops"]
    assert [len(stop["threads"]) for stop in stops.values()] == [1, 3, 3, 3, 3, 3]
    for stop in stops.values():
        assert all(thread["same"] for thread in stop["threads"])
        states = {thread["lwp"]: thread["state"] for thread in stop["threads"]}
        serial = stop["regions"][0]["level"] == 0
        assert states[stop["lwp"]] == ("ompt_state_work_serial" if serial else AT_WORK)
    initial = stops["1"]["lwp"]
    assert {thread["lwp"]: thread["state"] for thread in stops["2"]["threads"]}[initial] == AT_BARRIER


def test_regions(session: Facts) -> None:
    stops = session["stops"]
    shapes = {where: [(region["level"], region["active"], region["size"]) for region in stop["regions"]]
              for where, stop in stops.items()}  # fmt: skip
    assert shapes == {"1": [(0, 0, 1)], "2": [(1, 1, 3), (0, 0, 1)], "3": [(2, 1, 1), (1, 1, 3), (0, 0, 1)],
                      "4": [(1, 1, 2), (0, 0, 1)], "5": [(1, 1, 2), (0, 0, 1)], "6": [(0, 0, 1)]}  # fmt: skip
    for stop in stops.values():
        assert stop["in_current_region"]
        assert {region["members"][0]["lwp"] for region in stop["regions"] if region["level"] < 2} == {
            stops["1"]["lwp"]
        }
    members = stops["2"]["regions"][0]["members"]
    assert len({member["lwp"] for member in members}) == 3
    assert members[1]["lwp"] == stops["2"]["lwp"]
    assert [member["state"] for member in members[:2]] == [AT_BARRIER, AT_WORK]
    assert [function_of(member["code"]) for member in members] == ["outer"] * 3


def test_tasks(session: Facts) -> None:
    stops = session["stops"]
    kinds = {where: [task["implicit"] for task in stop["tasks"]] for where, stop in stops.items()}
    assert kinds == {"1": [1], "2": [1, 1], "3": [1, 1, 1], "4": [0, 0, 1, 1], "5": [0, 0, 0, 1, 1], "6": [1]}
    codes = {where: [task["code"] for task in stop["tasks"]] for where, stop in stops.items()}
    assert [function_of(code) for code in codes["3"]] == ["inner", "outer", ""]
    assert [function_of(code) for code in codes["5"]] == ["tasks"] * 4 + [""]
    assert len({tuple(code) for code in codes["5"][:4]}) == 4
    assert codes["4"] == codes["5"][1:]
    for stop in stops.values():
        assert [task["final"] for task in stop["tasks"]] == [0] * len(stop["tasks"])
        assert stop["stack"] == stop["tasks"]  # each task here runs on top of its creator, which waits


def test_frames(session: Facts) -> None:
    """The frames of the tasks on one stack lie one above the other."""
    waiting = session["stops"]["5"]["stack"][:3]
    frames = [frame for task in waiting for frame in (task["enter"], task["exit"]) if frame]
    assert len(frames) == 5
    assert frames == sorted(frames)


def test_breakpoints(session: Facts) -> None:
    events = session["events"]
    regions = {end: [event[1:3] for event in events if event[0] == f"parallel_{end}"] for end in ("begin", "end")}
    assert regions == {"begin": [[1, 3], [2, 1], [1, 2]], "end": [[2, 1], [1, 3], [1, 2]]}
    opener = [function_of(event[3]) for event in events if event[0] == "parallel_begin"]
    assert opener == ["", "outer", ""]
    begun, ended = ([event[1:] for event in events if event[0] == f"task_{end}"] for end in ("begin", "end"))
    assert sorted(begun) == sorted(ended)
    assert sorted(function_of(event[2]) for event in begun) == ["inner"] + ["outer"] * 3 + ["tasks"] * 5
    names = [event[0] for event in events]
    assert names.count("thread_begin") == names.count("thread_end") == 3
    assert names[0] == "thread_begin"


def test_final_tasks(build: Path, program: Path) -> None:
    facts = facts_of(debug(build, "-ex", f"source {SESSION}", program, OMP_NUM_THREADS="2", FINAL="1"))
    tasks = facts["stops"]["5"]["tasks"]
    assert [(task["implicit"], task["final"]) for task in tasks] == [(0, 1), (0, 1), (0, 1), (1, 0), (1, 0)]
    assert [function_of(task["code"]) for task in tasks] == ["tasks"] * 4 + [""]


def test_variables(session: Facts) -> None:
    inside, outside = (session["stops"][where]["icvs"] for where in "46")
    processors = len(os.sched_getaffinity(0))
    numbers = {"stacksize-var": 3 << 20, "cancel-var": 1, "max-task-priority-var": 5, "debug-var": 1, "tool-var": 1,
               "display-affinity-var": 0, "num-procs-var": processors, "ompd-num-procs-var": processors,
               "thread-limit-var": 9, "max-active-levels-var": 3, "dyn-var": 0}  # fmt: skip
    for values in (inside, outside):
        assert {name: values[name][0] for name in numbers} == numbers
        assert values["run-sched-var"] == [None, "dynamic,7"]
        assert values["affinity-format-var"] == [None, FORMAT]
        assert values["tool-libraries-var"] == [None, "/nothing/here.so"]
        assert values["tool-verbose-init-var"] == [None, "disabled"]
    # A list of one element is a number.
    assert (outside["nthreads-var"], inside["nthreads-var"]) == ([None, "3,2"], [2, "2"])
    assert (outside["bind-var"], inside["bind-var"]) == ([None, "4,3"], [3, "3"])
    own = ("levels-var", "active-levels-var", "team-size-var", "thread-num-var", "implicit-task-var", "final-task-var")
    assert [outside[name][0] for name in own] == [0, 0, 1, 0, 1, 0]
    assert [inside[name][0] for name in own] == [1, 1, 2, 0, 0, 0]
    assert session["stops"]["3"]["icvs"]["thread-num-var"][0] == 0
    assert session["stops"]["2"]["icvs"]["thread-num-var"][0] == 1


def test_a_core_file(build: Path, program: Path, session: Facts, core: Path) -> None:
    dead = facts_of(debug(build, "-ex", f"source {SESSION}", program, core))
    live = session["stops"]["4"]
    assert {name: value for name, value in dead["facts"].items() if name != "threads"} == {
        name: value for name, value in live.items() if name != "threads"
    }
    assert sorted(map(str, dead["facts"]["threads"])) == sorted(map(str, live["threads"]))
    assert dead["version"] == 202011
    assert {"OMP_NUM_THREADS=3,2", "OMP_CANCELLATION=TRUE", "OMP_DEBUG=enabled"} <= set(dead["variables"])


def test_without_the_variable(build: Path, program: Path) -> None:
    """No library is named, and no breakpoint is ever reached."""
    assert facts_of(debug(build, "-ex", f"source {SESSION}", program, OMP_DEBUG="")) == {"valid": False}
    show = ["-ex", "set breakpoint pending on", "-ex", "rbreak ^ompd_bp_", "-ex", "break stop_here if where == 6",
            "-ex", "run", "-ex", "print *(void**) &ompd_dll_locations", "-ex", "print where"]  # fmt: skip
    output = debug(build, *show, program, OMP_DEBUG="")
    assert "$1 = (void *) 0x0\n$2 = 6\n" in output, output


needs_plugin = pytest.mark.skipif(not PLUGIN.exists(), reason="LLVM's GDB plug-in (libomp-19-dev) is not installed")


def plugin(build: Path, program: Path, threads: str, where: int, *commands: str) -> str:
    words = ["set pagination off", "set breakpoint pending on", f"source {PLUGIN}/__init__.py", "ompd init",
             f"break stop_here if where == {where}", "continue", *commands]  # fmt: skip
    arguments = [word for command in words for word in ("-ex", command)]
    output = debug(build, *arguments, program, OMP_NUM_THREADS=threads)
    if "OMPD support could not be loaded" in output:
        pytest.skip("LLVM's GDB plug-in does not load here: it is for another Python")
    assert "Loaded OMPD lib successfully!" in output
    return output


@needs_plugin
def test_llvm_plugin(build: Path, program: Path) -> None:
    output = plugin(build, program, "3", 5, "ompd threads", "ompd parallel", "ompd icvs", "ompd bt on", "bt")
    assert "Traceback" not in output, output
    assert "An error occur" not in output, output
    assert len(re.findall(r"is an OpenMP thread; state: ompt_state_", output)) == 3
    assert "Parallel Region: Nesting Level 1: Team Size: 2" in output
    assert re.search(r"^team-size-var +parallel +2$", output, re.MULTILINE)
    assert re.search(r"^run-sched-var +task +dynamic,7$", output, re.MULTILINE)
    frames = [line for line in output.splitlines() if line.startswith("#") and "debugged.c" in line]
    assert 'stop_here "#pragma omp task"' in frames[0]
    assert sum("work_until" in line or "fiber" in line for line in frames) == 0


@needs_plugin
def test_llvm_plugin_tests(build: Path, program: Path) -> None:
    """The plug-in's own tests of each function, with right arguments and wrong ones."""
    names = re.findall(r'arg == "(ompd_\w+)"', (PLUGIN / "ompd.py").read_text())
    assert len(names) > 30
    last = ["ompd_finalize"]
    commands = [f"ompdtestapi {name}" for name in [*(name for name in names if name not in last), *last]]
    output = plugin(build, program, "4,3,2", 2, *commands)
    assert "Failed" not in output, output
    assert output.count("Testing ") >= len(names)
    assert output.count("Success") > 100
