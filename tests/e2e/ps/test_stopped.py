# SPDX-License-Identifier: Apache-2.0
"""Launchers that are stopped or killed at any time: while they start, while they start others, while the program runs.
The status is the signal's, there is at most a line for it, and nothing stays: no process, no folder. The moments are
random, from the one on at which the command heeds signals; MARLINE_EXHAUSTIVE=1 tries more of them. Moments that must
be chosen are those of tests/unit/launch_child_test.cpp."""

import os
import random
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from conftest import CROWDED, EXHAUSTIVE, PROGRAMS, SECONDS, Result, clean_environment

MARK = "MARLINE_TEST_MARK"
TIMES = 40 if EXHAUSTIVE else 2  # of each kind
SPAN = 1.2  # seconds, in which even a job of MPI has begun


def processes(mark: str) -> list[int]:
    """All that have the mark in their environment, whoever their parents are."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            if folder.name.isdecimal() and f"{MARK}={mark}".encode() in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def heeds_signals(pid: int) -> bool:
    """Whether it has a handler for SIGTERM: neither the loader nor the interpreter has one."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    caught = next(int(line.split()[1], 16) for line in lines if line.startswith("SigCgt:"))
    return bool(caught >> (signal.SIGTERM - 1) & 1)


def wait_until(holds: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < until, what
        time.sleep(0.005)


@pytest.fixture(params=["alone", "trace", "nodes", "openmpi", "mpich"])
def words(request: pytest.FixtureRequest, build: Path, compiled: Callable[..., Path], tmp_path: Path) -> list[str]:
    command, kind = str(build / "bin" / "marline"), request.param
    if kind in ("openmpi", "mpich"):
        if shutil.which(f"mpicc.{kind}") is None or not (build / "lib" / "marline" / kind).exists():
            pytest.skip(f"no {kind}")
        program = compiled(f"mpicc.{kind}", "stopped.c", "-fopenmp", "-DUSE_MPI")
        return [command, "run", "-n", "2", "-t", "1", str(program)]
    program = str(compiled("gcc-12", "stopped.c", "-fopenmp"))
    return [command, *{"alone": ["run", "-t", "2"], "trace": ["trace", "-t", "2", "-o", str(tmp_path / "trace")],
                       "nodes": ["run", "-n", "3", "-t", "1", "--devices=nodes"]}[kind], program]  # fmt: skip


def stop(words: list[str], folder: Path, how: Callable[[subprocess.Popen[str]], None], delay: float) -> tuple[int, str]:
    """Status and errors. Nothing stays."""
    mark = secrets.token_hex(8)
    folder.mkdir()
    environment = clean_environment(**CROWDED, **{MARK: mark, "TMPDIR": str(folder)})
    with subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, text=True,
                          stderr=subprocess.PIPE, start_new_session=True) as process:  # fmt: skip
        try:
            wait_until(lambda: heeds_signals(process.pid), "it heeds no signals")
            time.sleep(delay)
            how(process)
            _, errors = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
    wait_until(lambda: processes(mark) == [], "processes stay")
    left = [path.name for path in folder.iterdir() if path.name.startswith("marline")]
    assert left == [], "folders stay"
    return process.returncode, errors


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_a_launcher_is_stopped(words: list[str], number: int, tmp_path: Path) -> None:
    dice = random.Random(f"{words[1:]} {number}" if not EXHAUSTIVE else None)
    for turn in range(TIMES):
        delay = dice.random() * SPAN
        status, errors = stop(words, tmp_path / str(turn), partial(subprocess.Popen.send_signal, sig=number), delay)
        shutil.rmtree(tmp_path / "trace", ignore_errors=True)
        assert status == -number, (delay, errors)
        assert "Traceback" not in errors, (delay, errors)
        lines = [line for line in errors.splitlines() if "has not ended" in line and "launcher" not in line]
        assert lines == [], delay  # the line about the launcher: Hydra, if the signal comes while it starts


def test_ctrl_c_reaches_the_whole_group(build: Path, compiled: Callable[..., Path], tmp_path: Path) -> None:
    """As at a terminal: also members that are just starting."""
    program = compiled("gcc-12", "stopped.c", "-fopenmp")
    words = [str(build / "bin" / "marline"), "run", "-n", "3", "-t", "1", "--devices=nodes", str(program)]
    dice = random.Random(3)
    for turn in range(TIMES):
        delay = dice.random() * SPAN
        status, errors = stop(words, tmp_path / str(turn),
                              lambda launcher: os.killpg(launcher.pid, signal.SIGINT), delay)  # fmt: skip
        assert status == -signal.SIGINT and "Traceback" not in errors, (delay, errors)


@pytest.fixture
def alone(build: Path, compiled: Callable[..., Path]) -> list[str]:
    return [str(build / "bin" / "marline"), "run", str(compiled("gcc-12", "stopped.c", "-fopenmp"))]


def test_at_the_start_it_says_so(alone: list[str], tmp_path: Path) -> None:
    """The program is a named pipe, which has no writer: so this is the start for ever."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    pipe.chmod(0o700)
    line = "marline: stopped by signal {} ({}) before the program had started\n"
    for number, name in ((signal.SIGTERM, "Terminated"), (signal.SIGINT, "Interrupt")):
        send = partial(subprocess.Popen.send_signal, sig=number)
        status, errors = stop([*alone[:2], str(pipe)], tmp_path / name, send, 0.3)
        assert (status, errors) == (-number, line.format(int(number), name))


def test_signals_that_the_caller_ignores_stay_so(alone: list[str], tmp_path: Path) -> None:
    """nohup marline run ..."""
    with subprocess.Popen(["nohup", *alone], env=clean_environment(TMPDIR=str(tmp_path)), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:  # fmt: skip
        assert process.stdout is not None
        wait_until(lambda: heeds_signals(process.pid), "it heeds no signals")
        process.send_signal(signal.SIGHUP)
        assert process.stdout.readline() == "ready\n"
        process.kill()


def test_programs_have_the_signals_of_a_shell(marline: Callable[..., Result], alone: list[str]) -> None:
    """Python ignores SIGPIPE and SIGXFSZ, as it wants errors instead: `marline run ./app | head` must not."""
    assert marline("run", alone[-1], "pipe").stdout == "pipe=0 size=0\n"


@pytest.fixture
def others_folder() -> Iterator[Path]:
    """Which other users can enter."""
    made = Path(subprocess.run(["mktemp", "-d"], check=True, capture_output=True, text=True).stdout.strip())
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)


def test_a_program_that_may_be_executed_only(build: Path, others_folder: Path) -> None:
    program = others_folder / "program"
    subprocess.run(["gcc-12", "-fopenmp", PROGRAMS / "stopped.c", "-o", program], check=True)
    program.chmod(0o311)
    user = 54321 if os.getuid() == 0 else os.getuid()
    words = [build / "bin" / "marline", "run", program, "pipe"]
    result = subprocess.run(words, user=user, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert result.returncode == 125
    assert f"{program} may be executed but not read (its mode is 0311)" in result.stderr
