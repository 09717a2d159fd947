# SPDX-License-Identifier: Apache-2.0
"""docs/guide/ten-minutes.md: a reader who types its commands in order gets what the page shows. Its programs are the
files beside it. Times, shares and names of processes may differ from the page's, all other words may not. The first
block, which installs a wheel, is run by tests/install/test_wheel.py."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import CROWDED, SECONDS, clean_environment, run_without_hang

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "guide" / "ten-minutes.md"
PROGRAMS = ROOT / "docs" / "guide" / "programs"
IMAGES = ROOT / "docs" / "images"
INSTALL, RUN, TRACE, TRACE_TASKS, HANG, PS = range(6)  # the page's blocks of commands
# Losses in any program's report when other programs use the cores. The page was written on a quiet machine.
OF_A_BUSY_MACHINE = {"imbalance", "busy cores"}

Block = tuple[str, str]  # what stands behind its ```, and its text


def blocks() -> list[Block]:
    return re.findall(r"^```(\w*)\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)


def commands() -> list[str]:
    return [text for kind, text in blocks() if kind == "sh"]


def output_after(number: int) -> str:
    """What the page shows of the output of this block of commands."""
    found = blocks()
    at = [at for at, (kind, _) in enumerate(found) if kind == "sh"][number]
    assert found[at + 1][0] == ""
    return found[at + 1][1]


def shape(text: str) -> str:
    """Without what differs from run to run: times, shares, names of processes, tasks and machines, which of two ranks
    is late, and line breaks."""
    text = re.sub(r"[\d.,]+ (ns|us|ms|s|%)(?![\w/])", "TIME", re.sub(r"\s+", " ", text))
    text = re.sub(r"(pid|thread) \d+", r"\1 N", re.sub(r"\bon [\w.-]+(?=[,)])", "on HOST", text))
    text = re.sub(r"rank \d mostly for rank \d", "rank N mostly for rank N", text)
    return re.sub(r"task [0-9a-f]{5,}", "task N", text).strip()


def missing(shown: str, output: str) -> list[str]:
    """The parts of what the page shows, between lines of `...`, that the output has not."""
    return [part for part in re.split(r"^\.\.\.$", shown, flags=re.MULTILINE) if shape(part) not in shape(output)]


def biggest_loss(report: str) -> str:
    """What the report, in JSON, would say on a quiet machine."""
    causes = json.loads(report)["causes"]
    first = next(cause for cause in causes if cause["name"] not in OF_A_BUSY_MACHINE)
    return f"biggest loss {first['text']} try next {first['advice']}"


class Terminal:
    """A shell for each block of commands, in one folder, with the page's programs in it."""

    def __init__(self, folder: Path, mpi: str, bin_folder: Path) -> None:
        self.folder = folder
        tools = folder / "tools"
        tools.mkdir()
        for name in ("mpicc", "mpirun"):
            if shutil.which(f"{name}.{mpi}") is None:
                pytest.skip(f"{name}.{mpi} is not installed")
            (tools / name).write_text(f'#!/bin/sh\nexec {shutil.which(f"{name}.{mpi}")} "$@"\n')
            (tools / name).chmod(0o755)
        for program in PROGRAMS.iterdir():
            shutil.copy(program, folder)
        self.environment = clean_environment(PATH=f"{bin_folder}:{tools}:{os.environ['PATH']}", **CROWDED)

    def words(self, block: str) -> list[str]:
        return ["bash", "-e", "-c", f"exec 2>&1; cd '{self.folder}'\n{block}"]

    def run(self, block: str, statuses: tuple[int, ...] = (0,)) -> str:
        result = run_without_hang(self.words(block), self.environment, SECONDS)
        assert result.returncode in statuses, result.stdout
        return result.stdout


@pytest.fixture
def terminal(build, tmp_path, request) -> Terminal:
    return Terminal(tmp_path, request.param, build / "bin")


def heat(output: str) -> str:
    return re.search(r"^heat [\d.]+ after \d+ steps", output, re.MULTILINE)[0]


def test_the_page_shows_the_programs():
    """The first one whole, of the other what has changed."""
    first, *others = [text for kind, text in blocks() if kind == "c"]
    assert first == (PROGRAMS / "laser.c").read_text()
    assert len(others) == 2
    assert [text for text in others if text not in (PROGRAMS / "laser_tasks.c").read_text()] == []


def test_pictures_are_there_and_small():
    for picture in IMAGES.glob("ten-minutes-*.png"):
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert picture.stat().st_size <= 60_000


@pytest.mark.parametrize("terminal", ["openmpi", "mpich"], indirect=True)
def test_commands(terminal):
    """As printed, in the page's order. Both programs compute the same."""
    output = terminal.run(commands()[RUN])
    assert missing(output_after(RUN), output) == []
    output, shown = terminal.run(commands()[TRACE]), output_after(TRACE)
    assert shape(biggest_loss(terminal.run("marline report laser.trace --json"))) in shape(shown)
    assert missing(re.sub(r"^biggest loss.*(?=^marline:)", "...\n", shown, flags=re.DOTALL | re.M), output) == []
    tasks = terminal.run(commands()[TRACE_TASKS])
    assert missing(output_after(TRACE_TASKS), tasks) == []
    assert heat(tasks) == heat(output)
    for name in ("before.png", "after.png"):
        assert (terminal.folder / name).read_bytes().startswith(b"\x89PNG")


@pytest.fixture
def hanging(terminal) -> Iterator[subprocess.Popen[str]]:
    """The block that makes a mistake and starts the program. Ctrl-C ends it."""
    shell = subprocess.Popen(terminal.words(commands()[HANG]), env=terminal.environment, start_new_session=True)
    yield shell
    os.killpg(shell.pid, signal.SIGINT)
    try:
        shell.wait(SECONDS)
    finally:
        if shell.returncode is None:
            os.killpg(shell.pid, signal.SIGKILL)


@pytest.mark.parametrize("terminal", ["mpich", "openmpi"], indirect=True)
def test_the_hang_is_explained(terminal, hanging):
    """In another terminal, as soon as nothing moves."""
    ps, ps_pid = commands()[PS].splitlines()
    program = re.escape(str(terminal.folder / "wrong"))
    end, report = time.monotonic() + SECONDS, ""
    while "HUNG" not in report:
        assert time.monotonic() < end and hanging.poll() is None, report
        if found := re.search(rf"^(\d+) .*{program}$", terminal.run(ps), re.MULTILINE):
            report = terminal.run(ps_pid.replace("PID", found[1]), statuses=(0, 1))
        else:
            time.sleep(0.2)
    assert missing(output_after(PS), report) == []
