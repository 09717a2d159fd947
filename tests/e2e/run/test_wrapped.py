# SPDX-License-Identifier: Apache-2.0
"""`marline run` on a command that starts the program: `env`, `nice`, a shell. What counts is the program that uses
OpenMP, not the command before it."""

import shutil
from pathlib import Path

import pytest

KEEP = {"env": ["env", "A=1"], "nice": ["nice", "-n", "1"], "timeout": ["timeout", "600"], "nohup": ["nohup"],
        "taskset": ["taskset", "-c", "0"], "two": ["nice", "timeout", "600"],
        "library path": ["env", "-u", "LD_PRELOAD"]}  # fmt: skip
CLEAR = {"env": ["env", "-i"], "timeout": ["timeout", "600", "env", "-i"]}
ADVICE = "put `marline run` directly before"


@pytest.fixture
def probe(compiled) -> Path:
    return compiled("gcc-12", "probe.c", "-fopenmp")


def is_served(stdout: str) -> bool:
    return "libmarline" in stdout.split("library=")[1].split()[0]


@pytest.mark.parametrize("wrapper", KEEP)
def test_is_silent_if_the_program_is_served(marline, probe, wrapper):
    if shutil.which(KEEP[wrapper][0]) is None:
        pytest.skip(f"{wrapper} is not installed")
    result = marline("run", *KEEP[wrapper], probe)
    assert (result.returncode, result.stderr) == (0, "")
    assert is_served(result.stdout)


@pytest.mark.parametrize("wrapper", CLEAR)
def test_says_that_the_program_ran_without(marline, probe, wrapper):
    """With the status that the program has without the command."""
    result = marline("run", *CLEAR[wrapper], probe, "exit", "7")
    assert result.returncode == 7 and not is_served(result.stdout)
    assert result.stderr == (f"marline: note: {probe} uses OpenMP, but no process of it has used Marline's: "
                             f"{CLEAR[wrapper][0]} may clear LD_PRELOAD, or not have started it; {ADVICE} {probe}\n")


@pytest.mark.parametrize("command", ["{} && env -i {}", "A='{}'; env -i $A"])
def test_finds_the_program_in_a_shells_command(marline, compiled, probe, command):
    """The first of two programs is served; that says nothing of the second."""
    other = compiled("gcc-12", "probe.c", "-fopenmp", "-O1")
    result = marline("run", "sh", "-c", command.format(*([other, probe][-command.count("{}") :])))
    assert result.returncode == 0
    assert result.stderr.count(f"{ADVICE} {probe}") == 1


def test_says_it_of_a_script(marline, probe, tmp_path):
    script = tmp_path / "job"
    script.write_text(f"#!/bin/sh\nenv -i {probe} exit $1\n")
    script.chmod(0o755)
    result = marline("run", script, "7")
    assert result.returncode == 7
    assert result.stderr == (f"marline: note: no process of {script} has used OpenMP on Marline; build it with "
                             f"-fopenmp, or {ADVICE} the program that uses OpenMP\n")  # fmt: skip


def test_says_nothing_of_a_run_that_was_stopped(marline, probe):
    """The program may not have come to its first instruction."""
    result = marline("run", "env", "-i", probe, "signal", "15")
    assert (result.returncode, result.stderr) == (-15, "")


def test_a_library_is_no_program(marline, compiled):
    host = compiled("gcc-12", "plugin_host.c")
    plugin = compiled("gcc-12", "plugin.c", "-fopenmp", "-shared", "-fPIC")
    result = marline("run", "-t", "2", host, plugin)
    assert (result.returncode, result.stdout) == (0, "threads=2\n")
    assert ADVICE not in result.stderr
