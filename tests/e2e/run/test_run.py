# SPDX-License-Identifier: Apache-2.0
"""`marline run` on programs without MPI: Marline serves them, and streams, arguments, signals and exit status pass."""

import re
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import SECONDS, clean_environment

COMPILERS = ["gcc-12", "clang-14", "clang-19"]
LLVM_LIB = "-L/usr/lib/llvm-19/lib"
OMP_H = "/usr/lib/llvm-19/lib/clang/19/include"


@pytest.fixture(params=COMPILERS)
def probe(request, compiled) -> Path:
    flags = ["-fopenmp", "-idirafter", OMP_H, LLVM_LIB] if request.param.startswith("clang") else ["-fopenmp"]
    return compiled(request.param, "probe.c", *flags)


@pytest.fixture
def gcc_probe(compiled) -> Path:
    return compiled("gcc-12", "probe.c", "-fopenmp")


def served_by(output: str) -> Path:
    return Path(re.search(r"library=(\S+)", output)[1]).resolve()


def test_serves_the_program(marline, build, probe):
    result = marline("run", "-t", "2", "--", probe)
    assert (result.returncode, result.stderr) == (0, "")
    assert served_by(result.stdout) == (build / "lib" / "libmarline.so").resolve()
    assert "threads=2" in result.stdout


@pytest.mark.parametrize("option", ["-t", "--threads"])
def test_words_of_the_number_of_threads(marline, gcc_probe, option):
    assert "threads=3" in marline("run", option, "3", "--", gcc_probe).stdout


@pytest.mark.parametrize("option", ["-n", "-np", "--np"])
def test_words_of_the_number_of_ranks(marline, gcc_probe, option):
    """As the launchers have them. That there is no MPI is said of the number."""
    assert marline("run", option, "3", "--", gcc_probe).stderr.startswith("marline: -n 3: ")


def test_help_is_asked_for_in_two_ways(marline):
    asked = marline("help", "run")
    assert (asked.returncode, asked.stdout) == (0, marline("run", "--help").stdout)
    assert marline("help", "bogus").returncode == 2


def test_an_rpath_to_the_stock_runtime_does_not_take_calls_away(marline, build, compiled):
    stock = subprocess.run(["gcc-12", "-print-file-name=libgomp.so.1"], capture_output=True, text=True, check=True)
    folder = Path(stock.stdout.strip()).resolve().parent
    program = compiled("gcc-12", "probe.c", "-fopenmp", f"-Wl,--disable-new-dtags,-rpath,{folder}")
    result = marline("run", "-t", "2", "--", program)
    assert (result.returncode, result.stderr) == (0, "")
    assert served_by(result.stdout) == (build / "lib" / "libmarline.so").resolve()


def test_serves_a_library_that_is_loaded_later(marline, compiled):
    host = compiled("gcc-12", "plugin_host.c")
    plugin = compiled("gcc-12", "plugin.c", "-fopenmp", "-shared", "-fPIC")
    result = marline("run", "-t", "3", "--", host, plugin)
    assert (result.returncode, result.stdout) == (0, "threads=3\n")
    assert "note:" not in result.stderr


def test_a_script_can_start_a_program_without_marline(marline, gcc_probe):
    off = f"env -u LD_PRELOAD -u LD_LIBRARY_PATH {gcc_probe}"
    result = marline("run", "sh", "-c", f"{gcc_probe} && {off}")
    assert result.returncode == 0, result.stderr
    on, without = (served_by(line).name for line in result.stdout.splitlines())
    assert on.startswith("libmarline.so") and without.startswith("libgomp.so")


def test_serves_what_a_script_starts(marline, build, gcc_probe, tmp_path):
    script = tmp_path / "job"
    script.write_text(f"#!/bin/sh\nexec {gcc_probe}\n")
    script.chmod(0o755)
    result = marline("run", script)
    assert (result.returncode, result.stderr) == (0, "")
    assert served_by(result.stdout) == (build / "lib" / "libmarline.so").resolve()


TARGET = """
#include <stdio.h>
#include <unistd.h>
int main(void) {
  int there = 0;
#pragma omp target map(from : there)
  there = getpid();
  printf("%s", there == getpid() ? "here" : "elsewhere");
}
"""


@pytest.fixture
def target_program(tmp_path) -> Path:
    (tmp_path / "target.c").write_text(TARGET)
    subprocess.run(["gcc-12", "-fopenmp", tmp_path / "target.c", "-o", tmp_path / "target"], check=True)
    return tmp_path / "target"


@pytest.mark.parametrize(("devices", "where"), [("none", "here"), ("host", "here"), ("process", "elsewhere")])
def test_gives_devices(marline, target_program, devices, where):
    result = marline("run", "--devices", devices, target_program)
    assert (result.returncode, result.stdout, result.stderr) == (0, where, "")


def test_refuses_devices_that_are_none(marline, target_program):
    result = marline("run", "--devices", "gpu", target_program)
    assert result.returncode == 2
    assert '"gpu" is not usable: expected auto, none, or a list' in result.stderr


def test_passes_the_exit_status(marline, gcc_probe):
    assert marline("run", gcc_probe, "exit", "7").returncode == 7


def test_ends_by_the_signal_that_ended_the_program(marline, gcc_probe):
    assert marline("run", gcc_probe, "signal", str(int(signal.SIGFPE))).returncode == -signal.SIGFPE


def test_leaves_the_environment_alone_without_t(marline, gcc_probe):
    assert "OMP_NUM_THREADS=2" in marline("run", gcc_probe, "env", "OMP_NUM_THREADS", OMP_NUM_THREADS="2").stdout


def test_keeps_the_callers_preloads(marline, gcc_probe, compiled):
    mine = compiled("gcc-12", "plugin.c", "-fopenmp", "-shared", "-fPIC")
    preloaded = marline("run", gcc_probe, "env", "LD_PRELOAD", LD_PRELOAD=str(mine)).stdout.split("LD_PRELOAD=")[1]
    assert preloaded.split(":")[0] == str(mine)


def test_passes_standard_input(build, gcc_probe):
    words = [build / "bin" / "marline", "run", gcc_probe, "cat"]
    result = subprocess.run(words, input="a\nb\n", capture_output=True, text=True, env=clean_environment(),
                            timeout=SECONDS)  # fmt: skip
    assert result.stdout.endswith("\na\nb\n")


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGTERM])
def test_passes_a_signal_once(build, gcc_probe, number):
    words = [build / "bin" / "marline", "run", gcc_probe, "sleep"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=clean_environment()) as process:
        while process.stdout.readline() != "ready\n":
            assert process.poll() is None
        process.send_signal(number)
        assert process.stdout.read() == "signals=1\n"
    assert process.returncode == 0


def test_dies_with_the_command(build, gcc_probe):
    words = [build / "bin" / "marline", "run", gcc_probe, "sleep"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=clean_environment()) as process:
        while process.stdout.readline() != "ready\n":
            assert process.poll() is None
        process.kill()
        assert process.stdout.read() == ""  # the program holds the pipe open as long as it lives


def test_says_what_it_takes(marline):
    assert "-t THREADS" in marline("run", "--help").stdout
    wrong = marline("run", "-t", "none", "true")
    assert wrong.returncode == 2
    assert "'none' is not a positive whole number" in wrong.stderr


def test_names_its_subcommands(marline):
    result = marline("rum")
    assert result.returncode == 2
    assert "no command named 'rum'; there are: run" in result.stderr
