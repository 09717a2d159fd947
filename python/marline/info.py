# SPDX-License-Identifier: Apache-2.0
"""`marline info`: what is installed here, what the machine is, which options are in force, what is missing and how to
get it; with --features, what of OpenMP is supported. Facts come from the parts themselves: the runtime is loaded into a
Python process of its own and asked."""

import argparse
import functools
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from marline import features, loading
from marline.errors import Refusal
from marline.launch import compiled
from marline.layout import Layout

SECONDS = 20
# Of GCC, LLVM, Intel, NVIDIA, AMD, Arm, Fujitsu and Cray; those of the first two may have a version in their name.
COMPILER = re.compile(r"(?:gcc|gfortran|clang|flang|flang-new)(?:-\d+)?|icx|ifx|nvc|nvfortran|amdclang|amdflang"
                      r"|armclang|armflang|fccpx|frtpx|fcc|frt|craycc|crayftn")  # fmt: skip
# By MPI: its compiler as Debian calls it, and Debian's packages with the launcher and with the headers.
MPIS = {"openmpi": ("mpicc.openmpi", "openmpi-bin", "libopenmpi-dev"),
        "mpich": ("mpicc.mpich", "mpich", "libmpich-dev")}  # fmt: skip
# Command, and the Debian package that has it.
TOOLS = {"hwloc-ls": "hwloc", "gdb": "gdb"}
# What reports, charts and studies import, and the distribution that has it.
PACKAGES = {"numpy": "numpy", "rich": "rich", "matplotlib": "matplotlib", "yaml": "PyYAML"}
OPTION_PREFIXES = ("OMP_", "MARLINE_", "KMP_", "GOMP_")
# A line of OMP_DISPLAY_ENV: NAME = 'VALUE', with the device in brackets before it or not.
OPTION_LINE = re.compile(r"(\[\w+\] )?[A-Z_]+\s*=\s*'")
# Runs in a process that has libmarline.so preloaded: prints its version, and touches the runtime so that it starts and
# answers OMP_DISPLAY_ENV.
ASK_RUNTIME = """
import ctypes
here = ctypes.CDLL(None)
here.marline_version.restype = ctypes.c_char_p
print(here.marline_version().decode(), flush=True)
here.omp_get_max_threads()
"""


def main(arguments: list[str], prefix: Path) -> int:
    about = "Shows what is installed, the machine, the options in force, and what is missing."
    parser = argparse.ArgumentParser(prog="marline info", description=about)
    parser.add_argument("--features", action="store_true", help="what of OpenMP is supported, and nothing else")
    if parser.parse_args(arguments).features:
        print("\n".join(features.in_short(features.read_features())))
        return 0
    layout = Layout(prefix)
    missing: list[str] = []
    sections: list[tuple[str, Callable[[Layout, list[str]], list[str]]]] = [
        ("Marline", describe_runtime),
        ("Compilers", describe_compilers),
        ("MPI", describe_mpi),
        ("Python", describe_python),
        ("Machine", describe_machine),
        ("Options in the environment", describe_environment),
        ("Options in force", describe_options),
    ]
    for title, describe in sections:
        print_section(title, describe(layout, missing))
    print_section("Missing", missing or ["nothing"])
    return 0


def print_section(title: str, lines: list[str]) -> None:
    print(title)
    for line in lines:
        print(f"  {line}")


def describe_runtime(layout: Layout, missing: list[str]) -> list[str]:
    version, _ = ask_runtime(layout)
    if version is None:
        missing.append(loading.why_not(layout) or f"{layout.runtime} gives no version; install Marline again")
    lines = [f"version  {version or 'unknown'}", f"prefix   {layout.prefix}"]
    stand_ins = [layout.compat / name for name in ("libomp.so.5", "libiomp5.so", "libgomp.so.1")]
    for library in (layout.trace(None), layout.checker, *stand_ins):
        if library.is_file():
            lines.append(f"has      {library.relative_to(layout.prefix)}")
        else:
            missing.append(f"{library}: install Marline again")
    if layout.pages.is_dir():
        lines.append(f"pages    {layout.pages} (README.md, docs/options.md, ...)")
    return lines


def describe_compilers(_: Layout, __: list[str]) -> list[str]:
    """One line for each file: gcc and gcc-12 are often one, and the longer name tells more."""
    named = {os.path.realpath(shutil.which(name)): name for name in sorted(compilers_in_path(), key=len)}
    by_version = sorted(named.values(), key=lambda name: [int(word) if word.isdigit() else word
                                                          for word in re.split(r"(\d+)", name)])  # fmt: skip
    return [f"{name:<12} {first_line([name, '--version'])}" for name in by_version] or ["none in PATH"]


def compilers_in_path() -> set[str]:
    folders = [folder for folder in os.get_exec_path() if os.path.isdir(folder)]
    names = {name for folder in folders for name in os.listdir(folder) if COMPILER.fullmatch(name)}
    return {name for name in names if shutil.which(name)}


def describe_mpi(layout: Layout, missing: list[str]) -> list[str]:
    lines = []
    programs = {mpi: find_launcher(layout, mpi) for mpi in MPIS}
    for mpi, (wrapper, package, headers) in MPIS.items():
        program = programs[mpi]
        if not program:
            if not any(programs.values()):  # who has one MPI need not have the other
                missing.append(f"{mpi}: apt-get install {package} {headers}")
            continue
        lines.append(f"{mpi:<8} {program.get('version', 'unknown version')} ({program['path']})")
        if layout.mpi(mpi).is_file():
            lines.append(f"         served by {layout.mpi(mpi).relative_to(layout.prefix)}")
        else:
            missing.append(f"Marline's library for {mpi}: build Marline where {wrapper} is in PATH "
                           f"(apt-get install {headers})")  # fmt: skip
    return lines or ["none"]


def find_launcher(layout: Layout, mpi: str) -> dict[str, str]:
    """Nothing if there is none."""
    try:
        return compiled.find_launcher(layout, mpi)
    except Refusal:
        return {}


def describe_python(_: Layout, missing: list[str]) -> list[str]:
    lines = [f"{platform.python_version()} ({sys.executable})"]
    for module, distribution in PACKAGES.items():
        if importlib.util.find_spec(module):
            lines.append(f"{distribution:<12} {version_of_package(distribution)}")
        else:
            missing.append(f"{distribution} (marline report, study): {sys.executable} -m pip install {distribution}")
    return lines


def version_of_package(distribution: str) -> str:
    try:
        from importlib import metadata  # novm: Python 3.8 and newer have it
    except ImportError:
        return "(of an unknown version)"
    return metadata.version(distribution)


def describe_machine(layout: Layout, missing: list[str]) -> list[str]:
    usable, cores = len(os.sched_getaffinity(0)), compiled.ask(layout, "cores")[0]
    lines = [
        f"{platform.machine()}, Linux {platform.release()}: {processor_name()}",
        f"{os.cpu_count()} CPUs, of which this process may use {usable} ({cores} cores)",
    ]
    for command, package in TOOLS.items():
        if found(command, package, missing) and command == "hwloc-ls":
            lines += run(["hwloc-ls", "--no-io", "--of", "console"]).splitlines()
    return lines


def describe_environment(_: Layout, __: list[str]) -> list[str]:
    chosen = [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith(OPTION_PREFIXES)]
    return chosen or ["none set"]


def describe_options(layout: Layout, _: list[str]) -> list[str]:
    _, display = ask_runtime(layout)
    lines = [line.strip() for line in display.splitlines()]
    # OMP_DISPLAY_ENV is `ask_runtime`'s own.
    options = [line for line in lines if OPTION_LINE.match(line) and "OMP_DISPLAY_ENV" not in line]
    return options or ["unknown: the runtime did not answer OMP_DISPLAY_ENV"]


@functools.lru_cache(maxsize=None)
def ask_runtime(layout: Layout) -> tuple[str | None, str]:
    """The runtime's version and what it prints for OMP_DISPLAY_ENV=verbose; (None, reason) if it does not load."""
    environment = {name: value for name, value in os.environ.items() if name != "MARLINE_PROOF"}
    environment.update(LD_PRELOAD=str(layout.runtime), OMP_DISPLAY_ENV="verbose")
    answer = subprocess.run([sys.executable, "-c", ASK_RUNTIME], env=environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                            errors="replace", timeout=SECONDS, check=False)  # fmt: skip
    lines = answer.stdout.splitlines()
    version = next((line for line in lines if re.fullmatch(r"\d+[.]\d+[.]\d+", line)), None)
    return version, answer.stderr + answer.stdout


def processor_name() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == "model name":
            return value.strip()
    return platform.processor() or "unnamed processor"


def found(command: str, package: str, missing: list[str]) -> bool:
    if shutil.which(command):
        return True
    missing.append(f"{command}: apt-get install {package}")
    return False


def run(words: list[str]) -> str:
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True, errors="replace", timeout=SECONDS, check=False).stdout  # fmt: skip


def first_line(words: list[str]) -> str:
    return (run(words).splitlines() or ["gives no version"])[0]

