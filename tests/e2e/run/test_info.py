# SPDX-License-Identifier: Apache-2.0
"""`marline info`: each section is there, and what it says is true of this machine."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from conftest import run


@pytest.fixture(scope="module")
def sections(marline) -> dict[str, list[str]]:
    result = marline("info", OMP_NUM_THREADS="3")
    assert (result.returncode, result.stderr) == (0, "")
    found: dict[str, list[str]] = {}
    for line in result.stdout.splitlines():
        if line.startswith("  "):
            found[list(found)[-1]].append(line.strip())
        else:
            found[line] = []
    return found


def test_version_is_the_runtimes(sections, build):
    cache = (build / "CMakeCache.txt").read_text()
    version = re.search(r"CMAKE_PROJECT_VERSION:STATIC=(\S+)", cache)[1]
    assert sections["Marline"][:2] == [f"version  {version}", f"prefix   {build}"]


def test_compilers_and_mpi(sections, build):
    folders = [Path(folder) for folder in os.environ["PATH"].split(":") if Path(folder).is_dir()]
    files = {path.name for folder in folders for path in folder.iterdir()}
    installed = {name for name in files if re.fullmatch(r"(gcc|gfortran|clang|flang)-\d+", name)}
    assert installed <= {line.split()[0] for line in sections["Compilers"]}
    for mpi, launcher in (("openmpi", "mpirun.openmpi"), ("mpich", "mpirun.mpich")):
        assert any(line.startswith(mpi) for line in sections["MPI"]) == bool(shutil.which(launcher))
        library = f"lib/marline/{mpi}/libmarline-mpi.so"
        assert (f"served by {library}" in sections["MPI"]) == (build / library).exists()


def test_python_packages_are_there_or_missing(build):
    packages = ("numpy", "rich", "matplotlib", "PyYAML")
    whole = run([build / "bin" / "marline", "info"]).stdout
    script = build / "lib" / "marline" / "marline-python"
    bare = run([sys.executable, "-S", script, "info"]).stdout  # without site-packages
    assert all(re.search(rf"^  {package} +[0-9]", whole, re.MULTILINE) for package in packages)
    assert all(f"{package} (marline report, study): {sys.executable} -m pip install {package}" in bare
               for package in packages)  # fmt: skip


def test_machine(sections):
    assert any(f"this process may use {len(os.sched_getaffinity(0))} " in line for line in sections["Machine"])


def test_options(sections):
    assert sections["Options in the environment"] == ["OMP_NUM_THREADS=3"]
    assert any(re.search(r"OMP_NUM_THREADS\s*=\s*'3'", line) for line in sections["Options in force"])
    assert not any("OMP_DISPLAY_ENV" in line for line in sections["Options in force"]), "nobody has set it"


def test_missing_tools_come_with_their_package(marline, tmp_path):
    (tmp_path / "python3").symlink_to(Path(sys.base_prefix) / "bin" / "python3")
    result = marline("info", PATH=str(tmp_path))
    assert result.returncode == 0, result.stderr
    missing = result.stdout.split("Missing\n")[1]
    assert "hwloc-ls: apt-get install hwloc" in missing
    assert "mpich: apt-get install mpich libmpich-dev" in missing


def test_nothing_is_missing_that_only_some_need(marline, tmp_path):
    """A compiler, and a second MPI. Of two names of one compiler the longer one is shown."""
    (tmp_path / "python3").symlink_to(Path(sys.base_prefix) / "bin" / "python3")
    for name, version in (("gcc-99", "GCC 99"), ("clang-100", "LLVM 100"), ("clang-99", "LLVM 99"),
                          ("mpirun", "mpirun (Open MPI) 5.0.7")):  # fmt: skip
        (tmp_path / name).write_text(f"#!/bin/sh\necho '{version}'\n")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "gcc").symlink_to("gcc-99")
    said = marline("info", PATH=str(tmp_path)).stdout
    shown = re.search(r"^Compilers\n((?:  .*\n)*)", said, re.MULTILINE)[1]
    assert [line.split() for line in shown.splitlines()] == [
        ["clang-99", "LLVM", "99"], ["clang-100", "LLVM", "100"], ["gcc-99", "GCC", "99"]]  # fmt: skip
    missing = said.split("Missing\n")[1]
    assert all(word not in missing for word in ("gcc", "clang", "mpich:"))


def test_every_module_of_the_command_can_be_imported():
    """Also those that only some options load."""
    package = Path(__file__).resolve().parents[3] / "python" / "marline"
    names = sorted(".".join(path.relative_to(package.parent).with_suffix("").parts) for path in package.rglob("*.py"))
    assert len(names) > 100
    code = "import importlib, sys; [importlib.import_module(name) for name in sys.argv[1:]]"
    result = run([sys.executable, "-c", code, *names], PYTHONPATH=str(package.parent))
    assert (result.returncode, result.stderr) == (0, "")
