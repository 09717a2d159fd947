# SPDX-License-Identifier: Apache-2.0
"""What CMake asks of a machine: for an installation a compiler, hwloc and Python. Parts whose tools are missing are
left out."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXHAUSTIVE = os.environ.get("MARLINE_EXHAUSTIVE", "") not in ("", "0")
# Missing as on a machine with GCC, CMake and hwloc alone. OFF keeps CMake from searching.
ABSENT = ("MPICC_openmpi", "MPICC_mpich", "GCC12", "GXX12", "GFORTRAN12", "CLANG14", "CLANG16", "CLANG19", "CLANG22",
          "SPIN", "OPENBLAS")  # fmt: skip
NOTHING_ELSE = [f"-DMARLINE_{name}=OFF" for name in ABSENT]
NOTHING_ELSE += [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in ("GTest", "PkgConfig")]
PARTS = [f"-DMARLINE_{name}=ON" for name in ("TESTS", "APPS", "BENCH")]


def configure(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *options], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=300, check=False)  # fmt: skip


def targets(folder: Path) -> set[str]:
    listing = subprocess.run(["ninja", "-C", folder, "-t", "targets", "all"], capture_output=True, text=True,
                             check=True)  # fmt: skip
    return {line.partition(":")[0] for line in listing.stdout.splitlines()}


def test_plain_cmake_has_what_is_installed_and_nothing_else(tmp_path):
    result = configure(tmp_path, *NOTHING_ELSE)
    assert result.returncode == 0, result.stderr
    there = targets(tmp_path)
    assert {"installed", "marline", "marline-target", "manual"} <= there
    assert [name for name in there if name.startswith(("tests/", "apps/", "bench/"))] == []


def test_parts_without_their_tools_are_left_out(tmp_path):
    result = configure(tmp_path, *NOTHING_ELSE, *PARTS)
    assert result.returncode == 0, result.stderr
    for said in ("GoogleTest not found", "MPI mpich not found", "compiler clang19 not found", "OpenBLAS not found"):
        assert said in result.stdout


def test_tests_without_the_benchmarks(tmp_path):
    """The tests of delayed messages need a library that lies with the benchmarks."""
    result = configure(tmp_path, "-DMARLINE_TESTS=ON", "-DMARLINE_APPS=OFF", "-DMARLINE_BENCH=OFF")
    assert result.returncode == 0, result.stderr


def test_a_compiler_that_is_too_old_is_refused_in_one_line(tmp_path):
    if shutil.which("clang++-14") is None:
        pytest.skip("clang-14 is not installed")
    result = configure(tmp_path, "-DCMAKE_C_COMPILER=clang-14", "-DCMAKE_CXX_COMPILER=clang++-14")
    assert result.returncode != 0
    said = [line for line in result.stderr.splitlines() if "GCC 12 or later" in line]
    assert len(said) == 1 and "Clang 16 or later" in said[0] and "is Clang 14" in said[0] and "CXX=g++-12" in said[0]


def test_clang_builds_the_libraries(tmp_path):
    """Each of them, and programs of both compilers run on them. Takes ten minutes of a core."""
    if not EXHAUSTIVE or shutil.which("clang++-19") is None:
        pytest.skip("needs clang-19, and MARLINE_EXHAUSTIVE=1")
    tree, program = tmp_path / "build", tmp_path / "probe"
    result = configure(tree, "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_COMPILER=clang-19",
                       "-DCMAKE_CXX_COMPILER=clang++-19")  # fmt: skip
    assert result.returncode == 0, result.stderr
    subprocess.run(["ninja", "-C", tree, "-j2", "installed"], check=True, stdout=subprocess.DEVNULL)
    needed = subprocess.run(["readelf", "-d", tree / "lib" / "libmarline.so"], capture_output=True, text=True,
                            check=True)  # fmt: skip
    assert "libhwloc" in needed.stdout and "stdc++" not in needed.stdout
    for compiler in ("gcc-12", "clang-19"):
        source = ROOT / "tests" / "e2e" / "programs" / "probe.c"
        subprocess.run([compiler, "-fopenmp", source, "-o", program, "-L/usr/lib/llvm-19/lib"], check=True)
        ran = subprocess.run([tree / "bin" / "marline", "run", "-t", "2", program], capture_output=True, text=True,
                             check=True)  # fmt: skip
        assert ran.stdout.startswith(f"library={tree}/") and ran.stdout.endswith("threads=2\n")


def test_missing_hwloc_is_one_line(tmp_path):
    result = configure(tmp_path, *NOTHING_ELSE, "-DCMAKE_IGNORE_PATH=/usr/include")
    assert result.returncode != 0
    said = [line for line in result.stderr.splitlines() if "hwloc" in line.lower() and "FindHwloc" not in line]
    assert len(said) == 1
    assert "libhwloc-dev" in said[0] and "-DHwloc_ROOT=DIR" in said[0]
