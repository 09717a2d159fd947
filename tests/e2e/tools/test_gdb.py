# SPDX-License-Identifier: Apache-2.0
"""tools/gdb/marline.py: GDB shows the stacks of suspended tasks, and the program goes on unharmed after it."""

import platform
import re
import resource
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import SECONDS, clean_environment

ROOT = Path(__file__).resolve().parents[3]
COMMANDS = ROOT / "tools" / "gdb" / "marline.py"

pytestmark = [
    pytest.mark.skipif(shutil.which("gdb") is None, reason="gdb is not installed"),
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the command knows x86-64's saved registers only"),
]


def debug(build: Path, program: Path, threads: int, *commands: str) -> str:
    words = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", f"source {COMMANDS}"]
    for command in commands:
        words += ["-ex", command]
    environment = clean_environment(LD_LIBRARY_PATH=f"{build}/lib/marline/compat:{build}/lib",
                                    OMP_NUM_THREADS=str(threads))  # fmt: skip
    result = subprocess.run([*words, program], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                            text=True, timeout=SECONDS, check=False)  # fmt: skip
    if "Could not trace the inferior process" in result.stderr:
        pytest.skip("this system does not let gdb trace processes")
    return result.stdout + result.stderr


def stacks(output: str) -> dict[str, str]:
    """The backtraces, by the line above each."""
    blocks = output.split("\n\n")
    found = {}
    for block in blocks:
        lines = block.splitlines()
        for i, line in enumerate(lines):
            if " task 0x" in line and line.startswith(("tied", "untied", "implicit")):
                found[line] = "\n".join(lines[i + 1 :])
    return found


@pytest.fixture(scope="module", params=["gcc-12", "clang-19"])
def program(request: pytest.FixtureRequest, build: Path, compiled: Callable[..., Path]) -> Path:
    flags = ["-g", "-fopenmp", f"-I{ROOT}/include", f"-L{build}/lib", "-lmarline", f"-Wl,-rpath,{build}/lib"]
    if str(request.param).startswith("clang"):
        flags.append("-L/usr/lib/llvm-19/lib")
    return compiled(str(request.param), "suspended.c", *flags)


@pytest.mark.parametrize("threads", [1, 2])
def test_stacks_of_suspended_tasks(build: Path, program: Path, threads: int) -> None:
    output = debug(build, program, threads, "break stop_here", "run", "marline fibers", "continue")
    found = stacks(output)
    waiting = {head: stack for head, stack in found.items() if " in waits_here (" in stack}
    assert len(waiting) == 4, output
    assert sum("untied task" in head for head in waiting) == 2
    assert sum("'even number'" in head for head in waiting) == sum("'odd number'" in head for head in waiting) == 2
    assert sum("to be resumed by worker" in head for head in waiting) == 2
    for stack in waiting.values():
        assert "marline::wait_event" in stack or "marline::(anonymous namespace)::suspend" in stack
        assert "suspended.c:" in stack
    reasons = sorted(stack.splitlines()[0] for stack in waiting.values())
    assert reasons == ["waits for an event"] * 2 + ["waits for take(part 0)", "waits for take(part 2)"]
    on_fibers = [stack for stack in waiting.values() if "in marline_fiber_start ()" in stack.splitlines()[-1]]
    on_threads = [stack for stack in waiting.values() if "start_thread" in stack or " in main (" in stack]
    # Each thread may suspend one tied task over its barrier, on its own stack, or come too late to take any.
    assert len(on_threads) <= threads, output
    assert len(on_fibers) + len(on_threads) == 4
    assert "\ndone\n" in output
    assert "exited normally" in output


@pytest.mark.skipif(Path("/proc/sys/kernel/core_pattern").read_text().startswith("|"), reason="cores go to a program")
def test_a_core_file(build: Path, program: Path, tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_CORE)
    if limits[1] != resource.RLIM_INFINITY:
        pytest.skip("no core files here (ulimit -c)")
    script = f"ulimit -c unlimited; cd {tmp_path}; exec \"$@\""
    # With one thread, the program comes to its end only when all four are suspended.
    environment = clean_environment(LD_LIBRARY_PATH=f"{build}/lib/marline/compat:{build}/lib", OMP_NUM_THREADS="1",
                                    ABORTS="1")  # fmt: skip
    subprocess.run(["sh", "-c", script, "sh", program], env=environment, capture_output=True, timeout=SECONDS,
                   check=False)
    cores = list(tmp_path.glob("core*"))
    if not cores:
        pytest.skip("the system writes no core file")
    output = debug(build, program, 2, f"core-file {cores[0]}", "marline fibers")
    assert "4 suspended tasks" in output
    assert sorted(re.findall("^waits for .*$", output, re.MULTILINE)) == (
        ["waits for an event"] * 2 + ["waits for take(part 0)", "waits for take(part 2)"])  # fmt: skip
    assert len(re.findall(r"in waits_here \+ \d+ at .*suspended\.c:\d+$", output, re.MULTILINE)) == 4


def test_registers_come_back(build: Path, program: Path) -> None:
    show = "info registers rax rbx rbp rsp r12 r13 r14 r15 rip orig_rax"
    output = debug(build, program, 2, "break stop_here", "run", "echo before\\n", show, "echo between\\n",
                   "marline fibers 2", "echo after\\n", show, "echo end\\n", "kill")  # fmt: skip
    before, _, rest = output.partition("before\n")[2].partition("between\n")
    between, _, after = rest.partition("after\n")
    assert before.strip().startswith("rax")
    assert before == after.partition("end\n")[0]
    assert len(stacks(between)) == 2
    assert "4 suspended tasks, 2 of them shown" in between


def test_without_a_process(build: Path, program: Path) -> None:
    assert "marline fibers: no process" in debug(build, program, 1, "marline fibers")
