# SPDX-License-Identifier: Apache-2.0
"""Life in a real process: libraries that come and go, threads that are cancelled, signals, and processes that may do
less than usual: few threads, little memory, no /proc and /sys. Either it works, perhaps with fewer threads and a line
about that, or it ends with one clear line."""

import os
import re
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import Result, run

NOBODY = 64999  # a user without other processes: a limit on processes counts them all


@pytest.fixture(scope="module")
def life(build: Path, compiled: Callable[..., Path]) -> Iterator[Callable[..., Result]]:
    """life("signals") runs that case, after the words of `within`, which confine it. The program lies where other users
    may read it."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        program = shutil.copy(compiled("gcc-12", "life.c", "-fopenmp"), folder)
        words = ["env", f"LD_PRELOAD={build}/lib/libmarline.so", program]
        yield lambda case, *within, **changes: run([*within, *words, case], **({"OMP_NUM_THREADS": "4"} | changes))


@pytest.mark.parametrize("case", ["region", "cancelled", "signals"])
def test_works(life: Callable[..., Result], case: str) -> None:
    result = life(case)
    assert (result.returncode, result.stdout) == (0, "threads=4 tasks=1000\n"), result.stderr


def test_a_fault_that_is_sent_ends_the_program(life: Callable[..., Result]) -> None:
    result = life("killed")
    assert (result.returncode, result.stdout, result.stderr) == (-signal.SIGSEGV, "", "")


@pytest.mark.parametrize("compiler", ["gcc-12", "clang-19"])
def test_a_library_that_uses_openmp_comes_and_goes(
    build: Path, compiled: Callable[..., Path], compiler: str
) -> None:
    library = compiled(compiler, "plugin.c", "-fopenmp", "-shared", "-fPIC", "-L/usr/lib/llvm-19/lib")
    host = compiled("gcc-12", "plugin_reloads.c", "-pthread")
    result = run([host, library], LD_LIBRARY_PATH=f"{build}/lib/marline/compat", OMP_NUM_THREADS="4")
    assert (result.returncode, result.stdout) == (0, "threads=240\n"), result.stderr


def test_no_proc_and_no_sys(life: Callable[..., Result]) -> None:
    within = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"]), "sh", "-c"]
    bare = "umount -l /proc && { umount -l /sys 2>/dev/null; test ! -e /proc/self; }"
    if run([*within, bare]).returncode != 0:
        pytest.skip("this process may not make a mount namespace")
    result = life("region", *within, f'{bare} && exec "$0" "$@"')
    assert (result.returncode, result.stdout) == (0, "threads=4 tasks=1000\n"), result.stderr


def test_too_few_threads_allowed(build: Path, life: Callable[..., Result]) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can become a user without other processes")
    user = ["setpriv", f"--reuid={NOBODY}", "--clear-groups"]
    if run([*user, "test", "-r", build / "lib" / "libmarline.so"]).returncode != 0:
        pytest.skip("another user cannot read this build")
    result = life("region", *user, "prlimit", "--nproc=3", OMP_NUM_THREADS="16")
    assert result.returncode == 0, result.stderr
    assert re.fullmatch(r"threads=[1-3] tasks=1000\n", result.stdout)
    # The cause is the number of threads, not their stacks, for which pthread_create has the same error.
    assert re.fullmatch(r"marline: warning: cannot start a thread: this user may have 3 processes and threads "
                        r"\(`ulimit -u`\), .*OMP_NUM_THREADS.*\n", result.stderr)  # fmt: skip


def test_more_threads_than_a_team_has(life: Callable[..., Result]) -> None:
    result = life("region", OMP_NUM_THREADS="1500")
    if "cannot start a thread" in result.stderr:
        pytest.skip("this machine has no 1,024 threads for a process")
    assert (result.returncode, result.stdout) == (0, "threads=1024 tasks=1000\n"), result.stderr
    assert result.stderr == "marline: warning: a region asks for 1500 threads: Marline's teams have at most 1024\n"


def test_little_memory_means_fewer_threads(life: Callable[..., Result]) -> None:
    result = life("region", "prlimit", "--as=60000000", OMP_NUM_THREADS="16")
    assert result.returncode == 0, result.stderr
    found = re.fullmatch(r"threads=(\d+) tasks=1000\n", result.stdout)
    assert found is not None and int(found[1]) < 16
    lines = result.stderr.splitlines()
    assert any("cannot start a thread" in line for line in lines)
    assert all(line.startswith("marline: warning: ") for line in lines), result.stderr
