# SPDX-License-Identifier: Apache-2.0
"""Packs a build with MARLINE_PORTABLE=ON: `pack.py BUILD FOLDER` writes a wheel, a tarball for sites without pip, and
the checksums of all archives that FOLDER then has, and prints their paths. Both have the files of `cmake --install`,
without debug information. In the wheel, libraries are in the scheme `data` and commands in the scheme `scripts` (PyPA,
binary distribution format): they get the same places under an environment's prefix as under any other, so the command
finds them as ever. Refuses a file that is a link (a wheel has none), and a library or program that is for another
processor, needs a newer glibc than the wheel's tag says, or a library which not every system has."""

import argparse
import hashlib
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from elftools.elf.elffile import ELFFile
from wheel.wheelfile import WheelFile

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
GLIBC = (2, 28)
# Of every system with glibc and a C++ runtime; hwloc is inside, and MPI is the program's.
SYSTEM = re.compile(r"(libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+|ld-linux-[\w-]+)\.so\.\d+|libmarline\S*")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    cache = (options.build / "CMakeCache.txt").read_text()
    if variable(cache, "MARLINE_PORTABLE") != "ON":
        sys.exit(f"pack: {options.build} is no build with MARLINE_PORTABLE=ON: use `make wheel`")
    with tempfile.TemporaryDirectory(prefix="marline-wheel-") as folder:
        prefix = Path(folder) / "prefix"
        subprocess.run(["cmake", "--install", options.build, "--prefix", prefix, "--strip"], check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        machine = machine_of(prefix / "lib" / "libmarline.so")
        faults = [fault for path in sorted(prefix.rglob("*")) for fault in faults_of(path, machine)]
        if faults:
            sys.exit("\n".join(f"pack: {fault}" for fault in faults))
        options.folder.mkdir(parents=True, exist_ok=True)
        packed = [write_tarball(options.folder, prefix, cache, machine),
                  write_wheel(options.folder, prefix, cache, machine)]  # fmt: skip
    sums = options.folder / "SHA256SUMS"
    there = sorted(path for path in options.folder.glob("marline-*") if path.name.endswith((".whl", ".tar.xz")))
    sums.write_text("".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in there))
    print(*packed, sums, sep="\n")
    return 0


def variable(cache: str, name: str) -> str:
    found = re.search(rf"^{name}:\w+=(.*)$", cache, re.MULTILINE)
    return found[1] if found else ""


def faults_of(path: Path, machine: str) -> list[str]:
    """What a wheel or another system does not allow about this file."""
    if path.is_symlink():
        return [f"{path} is a symbolic link"]
    if path.is_dir() or path.suffix == ".a" or path.read_bytes()[:4] != b"\x7fELF":
        return []
    if machine_of(path) != machine:
        return [f"{path} is for {machine_of(path)}, not for {machine}"]
    with path.open("rb") as file:
        elf = ELFFile(file)
        versions = [named.name[len("GLIBC_"):] for section in elf.iter_sections("SHT_GNU_verneed")
                    for _, names in section.iter_versions() for named in names
                    if named.name.startswith("GLIBC_")]  # fmt: skip
        needed = [tag.needed for tag in elf.get_section_by_name(".dynamic").iter_tags("DT_NEEDED")]
    newer = {version for version in versions if tuple(map(int, version.split("."))) > GLIBC}
    return [f"{path} needs glibc {version}" for version in sorted(newer)] + [
            f"{path} needs {library}" for library in needed if not SYSTEM.fullmatch(library)]  # fmt: skip


def machine_of(path: Path) -> str:
    with path.open("rb") as file:
        return {"EM_X86_64": "x86_64", "EM_AARCH64": "aarch64"}[ELFFile(file)["e_machine"]]


def write_tarball(folder: Path, prefix: Path, cache: str, machine: str) -> Path:
    name = f"marline-{variable(cache, 'CMAKE_PROJECT_VERSION')}-linux-{machine}"
    path = folder / f"{name}.tar.xz"
    with tarfile.open(path, "w:xz") as tar:
        tar.add(prefix, name, filter=by_root)
    return path


def by_root(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Who has packed it is nobody's business."""
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    return member


def write_wheel(folder: Path, prefix: Path, cache: str, machine: str) -> Path:
    version = variable(cache, "CMAKE_PROJECT_VERSION")
    tag = f"py3-none-manylinux_{GLIBC[0]}_{GLIBC[1]}_{machine}"
    path = folder / f"marline-{version}-{tag}.whl"
    # Installers write into scripts of this folder only.
    (prefix / "lib" / "marline" / "marline-python").rename(prefix / "bin" / "marline-python")
    for command in (prefix / "bin").iterdir():
        # Installers write the environment's own Python into a first line `#!python`.
        first, _, rest = command.read_bytes().partition(b"\n")
        if first.startswith(b"#!") and b"python" in first:
            command.write_bytes(b"#!python\n" + rest)
    files = {f"marline-{version}.data/data/{file.relative_to(prefix)}": file
             for file in sorted(prefix.rglob("*")) if file.is_file()}  # fmt: skip
    info = f"marline-{version}.dist-info"
    with WheelFile(path, "w") as wheel:
        for name, file in files.items():
            wheel.write(str(file), name.replace("/data/bin/", "/scripts/"))
        metadata = (HERE / "METADATA.in").read_text().replace("@VERSION@", version)
        summary = variable(cache, "CMAKE_PROJECT_DESCRIPTION")
        wheel.writestr(f"{info}/METADATA", metadata.replace("@SUMMARY@", summary))
        wheel.writestr(f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: pack.py\nRoot-Is-Purelib: false\nTag: {tag}\n")
        wheel.write(str(ROOT / "LICENSE"), f"{info}/licenses/LICENSE")
        hwloc = ROOT / ".deps" / "portable" / machine / "hwloc" / "share" / "COPYING.hwloc"
        wheel.write(str(hwloc), f"{info}/licenses/COPYING.hwloc")
    return path


if __name__ == "__main__":
    sys.exit(main())
