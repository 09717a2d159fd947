# SPDX-License-Identifier: Apache-2.0
"""The wheel that packaging/wheel/pack.py makes of the build, installed by pip into an environment: it is as small and
as portable as it says, and what it installs does what `make install` does. With MARLINE_EXHAUSTIVE=1 also in clean
roots of Debian 11, 12 and 13 (12 and 13 without compilers), by a user without rights. MARLINE_BUILD names the build
tree, which must be one with MARLINE_PORTABLE=ON (`make check` makes one, and so does `make wheel`)."""

import hashlib
import os
import re
import shutil
import sys
import tarfile
import zipfile
from pathlib import Path

import clean_root
import pytest
from conftest import HERE, ROOT, checked

PROGRAMS = HERE.parent / "e2e" / "programs"
MOST_BYTES = 8 << 20
ROOTS = {"bullseye": ("openmpi",), "bookworm": ("openmpi", "mpich"), "trixie": ("openmpi", "mpich")}
OLDER_GLIBC = "bullseye"  # programs that this machine has linked do not run there
REPORT = {"bullseye": "the report needs Python 3.10"}  # what `marline trace` says there in place of a report
ONE_TARGET_REGION = """
#include <omp.h>
#include <stdio.h>
int main(void) {
  int inside = 0;
#pragma omp target map(tofrom: inside)
  inside = 7;
  printf("%d devices, %d\\n", omp_get_num_devices(), inside);
}
"""

pytestmark = pytest.mark.usefixtures("portable")


@pytest.fixture(scope="module")
def target(tmp_path_factory) -> Path:
    if shutil.which("clang-19") is None or not Path("/usr/lib/llvm-19/lib/libomptarget.so").exists():
        pytest.skip("clang-19 with libomptarget is not installed")
    folder = tmp_path_factory.mktemp("target")
    (folder / "target.c").write_text(ONE_TARGET_REGION)
    checked(["clang-19", "-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu", "-L/usr/lib/llvm-19/lib",
             folder / "target.c", "-o", folder / "target"])  # fmt: skip
    return folder / "target"


def compiled_for(mpi: str, folder: Path) -> Path:
    if shutil.which(f"mpicc.{mpi}") is None:
        pytest.skip(f"{mpi} is not installed")
    program = folder / f"ranks-{mpi}"
    checked([f"mpicc.{mpi}", "-fopenmp", PROGRAMS / "ranks.c", "-o", program])
    return program


def test_the_tutorial_s_first_block(wheel, tmp_path):
    """As printed, but without a package index: the packages that pip would fetch are those of this test's Python."""
    page = (ROOT / "docs" / "guide" / "ten-minutes.md").read_text()
    block = re.search(r"^```sh\n(.*?)^```", page, re.DOTALL | re.MULTILINE)[1]
    shutil.copy(wheel, tmp_path)
    block = block.replace("VERSION", wheel.name.split("-")[1])
    output = checked(["bash", "-e", "-c", f"cd '{tmp_path}'\n{block}"], PIP_NO_INDEX="1", PIP_NO_DEPS="1",
                     PATH=f"{Path(sys.executable).parent}:{os.environ['PATH']}")  # fmt: skip
    assert re.search(rf"^ +prefix +{re.escape(str(tmp_path))}/marline$", output, re.MULTILINE)


def test_is_small_and_says_where_it_runs(wheel):
    assert wheel.stat().st_size <= MOST_BYTES
    assert re.fullmatch(r"marline-[\d.]+-py3-none-manylinux_2_28_(x86_64|aarch64)\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith("/METADATA"))).decode()
    assert [line for line in metadata.splitlines() if line.startswith("Requires-Dist") and ";" not in line] == [
        "Requires-Dist: numpy", "Requires-Dist: rich"]  # fmt: skip
    assert any(name.endswith("licenses/COPYING.hwloc") for name in names)


def test_pack_refuses_a_library_that_needs_another_one(tmp_path):
    """The check is no decoration: a library that needs MPI or a newer glibc is refused."""
    sys.path.insert(0, str(ROOT / "packaging" / "wheel"))
    import pack

    library = tmp_path / "libneeds.so"
    (tmp_path / "needs.c").write_text("int n(void) { return 0; }")
    checked(["gcc-12", "-shared", "-fPIC", tmp_path / "needs.c", "-Wl,--no-as-needed", "-lhwloc", "-o", library])
    machine = pack.machine_of(library)
    assert any("needs libhwloc" in fault for fault in pack.faults_of(library, machine))
    assert pack.faults_of(library, "riscv64") == [f"{library} is for {machine}, not for riscv64"]
    (tmp_path / "link.so").symlink_to(library)
    assert pack.faults_of(tmp_path / "link.so", machine) == [f"{tmp_path / 'link.so'} is a symbolic link"]


def test_the_command_through_a_link_uses_the_environment_s_python(prefix, tmp_path):
    """As pipx links it into a folder of PATH."""
    (tmp_path / "marline").symlink_to(prefix / "bin" / "marline")
    assert (prefix / "bin" / "marline").read_bytes().startswith(b"\x7fELF")
    output = checked([tmp_path / "marline", "info"], PATH="/usr/bin:/bin")
    assert re.search(rf"^Python\n  \S+ \({re.escape(str(prefix))}/bin/python", output, re.MULTILINE)


def test_tarball_is_the_same_tree(dist, prefix, tmp_path):
    (path,) = dist.glob("*.tar.xz")
    sums = dict(reversed(line.split()) for line in (dist / "SHA256SUMS").read_text().splitlines())
    assert sums[path.name] == hashlib.sha256(path.read_bytes()).hexdigest()
    with tarfile.open(path) as tar:
        tar.extractall(tmp_path)  # noqa: S202  (our own)
    (tree,) = tmp_path.iterdir()
    assert not any(file.is_symlink() for file in tree.rglob("*"))
    for file in tree.rglob("*.so*"):
        assert (prefix / file.relative_to(tree)).read_bytes() == file.read_bytes()
    output = checked([tree / "bin" / "marline", "run", "-t", "2", "--", built_probe(tmp_path)])
    assert f"library={tree}/lib/libmarline.so threads=2" in output


def built_probe(folder: Path) -> Path:
    checked(["gcc-12", "-fopenmp", PROGRAMS / "probe.c", "-o", folder / "probe"])
    return folder / "probe"


def test_command_runs_a_program(prefix, tmp_path):
    output = checked([prefix / "bin" / "marline", "run", "-t", "2", "--", built_probe(tmp_path)])
    assert f"library={prefix}/lib/libmarline.so threads=2" in output


def test_library_path_serves_a_program(prefix, tmp_path):
    probe = built_probe(tmp_path)
    output = checked([probe], LD_LIBRARY_PATH=str(prefix / "lib" / "marline" / "compat"), OMP_NUM_THREADS="3")
    assert Path(re.search(r"library=(\S+) threads=3", output)[1]).resolve() == prefix / "lib" / "libmarline.so"


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_ranks_and_their_report(prefix, tmp_path, mpi):
    command, program = prefix / "bin" / "marline", compiled_for(mpi, tmp_path)
    assert "rank" in checked([command, "run", "-n", "2", "-t", "1", "--", program])
    report = checked([command, "trace", "-o", tmp_path / "ranks.trace", "-n", "2", "-t", "1", "--", program])
    assert "2 ranks x 1 thread" in report


@pytest.mark.parametrize("devices", ["process:2", "cluster:2"])
def test_devices(prefix, target, devices):
    output = checked([prefix / "bin" / "marline", "run", f"--devices={devices}", "--", target])
    assert re.search(r"^[23] devices, 7$", output, re.MULTILINE)


def test_devices_are_listed(prefix):
    assert "host-0" in checked([prefix / "bin" / "marline", "devices", "--devices", "host:1"])


def test_cmake_and_the_linker_find_it(prefix, tmp_path):
    """In particular the file that the linker takes, and the name by which the loader finds it again."""
    checked(["cmake", "-S", HERE / "consumer", "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}", "-G", "Ninja"])
    checked(["cmake", "--build", tmp_path])
    assert "1" in checked([tmp_path / "consumer"]).split()
    flags = checked(["pkg-config", "--cflags", "--libs", "marline"],
                    PKG_CONFIG_PATH=str(prefix / "lib" / "pkgconfig")).split()  # fmt: skip
    checked(["gcc-12", HERE / "consumer" / "consumer.c", "-o", tmp_path / "linked", *flags])
    assert "libmarline.so.0" in checked(["readelf", "-d", tmp_path / "linked"])
    assert "1" in checked([tmp_path / "linked"], LD_LIBRARY_PATH=str(prefix / "lib")).split()


def test_uninstalled_without_a_rest(prefix):
    """The last test with this environment."""
    checked([sys.executable, "-m", "pip", "--python", prefix / "bin" / "python3", "uninstall", "--quiet", "--yes",
             "marline"])  # fmt: skip
    assert [str(path) for path in prefix.rglob("*marline*") if path.is_file() and path.suffix != ".pyc"] == []


@pytest.mark.parametrize(("suite", "mpi"), [(suite, mpi) for suite, mpis in ROOTS.items() for mpi in mpis])
def test_in_a_clean_root(wheel, target, tmp_path, suite, mpi):
    """A user without rights and compilers: pip, and then the commands of the README."""
    clean_root.skip_if_impossible()
    package = {"openmpi": "openmpi-bin", "mpich": "mpich"}[mpi]
    packages = ["python3-venv", "ca-certificates", package]
    if suite == OLDER_GLIBC:
        root = clean_root.CleanRoot(tmp_path / "root", suite, [*packages, "gcc", "libc6-dev", "libopenmpi-dev"])
        root.take(target.with_suffix(".c"), PROGRAMS / "ranks.c")
        root.run("cd /home/user && mpicc -fopenmp ranks.c -o ranks-openmpi", user="root")
        root.run("cd /home/user && gcc -fopenmp -foffload=disable target.c -o target", user="root")
    else:
        root = clean_root.CleanRoot(tmp_path / "root", suite, packages)
        root.take(target, compiled_for(mpi, tmp_path))
    root.take(wheel, HERE / "in_root.sh")
    output = root.run("./in_root.sh")
    root.remove()
    assert REPORT.get(suite, "2 ranks x 1 thread") in output
    assert len(re.findall("[23] devices, 7", output)) == 2
