# SPDX-License-Identifier: Apache-2.0
"""What can be known of a program before it starts: whether Marline's libraries can reach it at all, and which MPI it is
linked with. What only the running process can tell (to whom its symbols are really bound) is proved inside it, by
runtime/platform/identity.cpp."""

import os
import platform
import re
import shutil
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from marline.errors import NOT_EXECUTABLE, NOT_FOUND, Refusal, no_hwloc
from marline.launch.elf import DamagedElf, Elf, NotElf, contains_all, read_elf

# An object that defines one of these is an OpenMP runtime: every parallel region starts there.
RUNTIME_MARKS = {"GOMP_parallel", "__kmpc_fork_call"}
# What code for devices calls. Without -fopenmp-targets, Clang's target regions are code of the host, and call nothing.
DEVICE_CALLS = ("GOMP_target", "__tgt_target", "omp_target_")
RUNTIME_NAME = re.compile(r"lib(gomp|omp|iomp5|marline)\b")
# Texts of the environment variables that libgomp and libomp read: they survive `strip`, and both of a pair occur only
# where the runtime itself is inside.
STATIC_RUNTIME_TEXTS = ((b"GOMP_SPINCOUNT", b"OMP_WAIT_POLICY"), (b"KMP_BLOCKTIME", b"KMP_LIBRARY"))
# The SONAMEs that an MPI program names, by the ABIs of pmpi/abi. (Debian gives MPICH's library another name.)
MPI_SONAMES = {"libmpi.so.40": "openmpi", "libmpi.so.12": "mpich", "libmpich.so.12": "mpich",
               "libmpi_abi.so.1": "standard"}  # fmt: skip
# Any library of an MPI: those for Fortran and C++ among them.
MPI_LIBRARY = re.compile(r"lib(mpi|mpich|mpifort|mpicxx)(fort|cxx|_\w+)?\.so\b")
RELINK = "link it with -fopenmp against the shared runtime (no -static, libgomp.a or libomp.a)"
SHEBANG_DEPTH = 4  # a script's interpreter may be a script; the kernel follows as many
TRACE_SECONDS = 30


@dataclass
class Program:
    """What preflight found. `loaded` maps each library's name to the file that the loader will take for it."""

    path: Path
    is_script: bool = False
    uses_openmp: bool = False
    uses_devices: bool = False
    mpi: str | None = None
    loaded: dict[str, Path] = field(default_factory=dict)


def examine(command: str, environment: Mapping[str, str]) -> Program:
    """Follows `command` to its executable, and raises Refusal where Marline cannot get into the process. `environment`
    is the one that the program will see."""
    path = find(command, environment)
    executable, is_script = _interpreter_of(path, environment)
    elf = _read_executable(executable)
    refuse_privileged(executable)
    if elf.interpreter is None:
        raise Refusal(f"{executable} is statically linked: no library can be put under it; link it without -static")
    program = Program(path, is_script)
    program.loaded, missing = _loaded_libraries(executable, elf.interpreter, environment)
    _refuse_missing_mpi(executable, missing)
    objects = [elf, *(_read_library(library) for library in program.loaded.values())]
    for each in objects:
        _refuse_static_runtime(each)
    _refuse_stripped_runtime(elf)
    calls = {call for each in objects if not _is_runtime(each) for call in each.undefined}
    program.uses_openmp = bool(calls)
    program.uses_devices = any(call.startswith(DEVICE_CALLS) for call in calls)
    program.mpi = next((MPI_SONAMES[name] for name in program.loaded if name in MPI_SONAMES), None)
    return program


def find(command: str, environment: Mapping[str, str]) -> Path:
    """The file that execvp(3) would start."""
    found = shutil.which(command, path=environment.get("PATH"))
    if found:
        return Path(os.path.abspath(found))  # the loader takes a name without a slash for a library
    if "/" in command and Path(command).is_dir():
        raise Refusal(f"{command} is a directory, not a program", NOT_EXECUTABLE)
    if "/" in command and Path(command).exists():
        raise Refusal(f"{command} is not an executable file; check its mode (chmod +x)", NOT_EXECUTABLE)
    hint = "give its path, as in ./" + command if Path(command).is_file() else "check the name"
    where = "this place" if "/" in command else "PATH"
    raise Refusal(f"{command or repr(command)}: no such program in {where}; {hint}", NOT_FOUND)


def refuse_privileged(executable: Path) -> None:
    """The loader ignores LD_PRELOAD for programs that gain rights (ld.so(8), secure-execution mode)."""
    status = executable.stat()
    gains_user = status.st_mode & stat.S_ISUID and status.st_uid != os.getuid()
    gains_group = status.st_mode & stat.S_ISGID and status.st_gid != os.getgid()
    try:
        capable = os.getuid() != 0 and bool(os.getxattr(executable, "security.capability"))
    except OSError:  # no such attribute, or a file system without any: the usual case
        capable = False
    if gains_user or gains_group or capable:
        kind = "setuid" if gains_user else "setgid" if gains_group else "has file capabilities"
        raise Refusal(f"{executable} is {kind}: the loader preloads no library into it; run a plain copy of it")


def _interpreter_of(path: Path, environment: Mapping[str, str]) -> tuple[Path, bool]:
    """The executable at the end of a chain of `#!` lines, and whether there was one."""
    current = path
    for _ in range(SHEBANG_DEPTH):
        try:
            with current.open("rb") as file:
                line = file.readline(256)
        except PermissionError as error:
            mode = stat.S_IMODE(current.stat().st_mode)
            raise Refusal(f"{current} may be executed but not read (its mode is {mode:04o}): Marline reads a program "
                          "before it starts it; make it readable (chmod +r), or run a copy that is") from error
        if not line.startswith(b"#!"):
            return current, current != path
        words = os.fsdecode(line[2:]).split()
        if words and Path(words[0]).name == "env":
            words = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
        if not words:
            raise Refusal(f"{current}: its first line names no interpreter", NOT_EXECUTABLE)
        current = _find_interpreter(current, words[0], environment)
    raise Refusal(f"{path}: its interpreters are scripts, more than {SHEBANG_DEPTH} deep", NOT_EXECUTABLE)


def _find_interpreter(script: Path, name: str, environment: Mapping[str, str]) -> Path:
    try:
        return find(name, environment)
    except Refusal as refusal:
        raise Refusal(f"{script}: its first line asks for {name}, which is not here or cannot be executed; install it, "
                      "or correct the line", refusal.status) from refusal  # fmt: skip


def _read_executable(executable: Path) -> Elf:
    try:
        elf = read_elf(executable)
    except DamagedElf as error:
        raise Refusal(str(error), NOT_EXECUTABLE) from error
    except NotElf as error:
        raise Refusal(f"{error}: Marline runs 64-bit Linux programs, and scripts whose first line names their "
                      "interpreter, as #!/bin/sh does", NOT_EXECUTABLE) from error  # fmt: skip
    if elf.machine != platform.machine():
        raise Refusal(
            f"{executable} is built for {elf.machine}, this machine is {platform.machine()}; build it for this machine",
            NOT_EXECUTABLE,
        )
    return elf


def _loaded_libraries(executable: Path, interpreter: str,
                      environment: Mapping[str, str]) -> tuple[dict[str, Path], list[str]]:  # fmt: skip
    """Asks the program's own loader, which runs nothing of it in this mode (ld.so(8), LD_TRACE_LOADED_OBJECTS). Returns
    what it finds, and the names of what it does not: then the start itself will fail, with the loader's message. That
    would not say that Marline needs hwloc."""
    listing = subprocess.run(
        [interpreter, str(executable)],
        env={**environment, "LD_TRACE_LOADED_OBJECTS": "1"},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
        errors="surrogateescape", timeout=TRACE_SECONDS, check=False,
    )  # fmt: skip
    lines = (re.match(r"\s*(\S+) => (/.*) \(0x[0-9a-f]+\)$", line) for line in listing.stdout.splitlines())
    missing = re.findall(r"^\s*(\S+) => not found$", listing.stdout, re.MULTILINE)
    hwloc = next((name for name in missing if name.startswith("libhwloc.so.")), None)
    if hwloc is not None:
        raise Refusal(no_hwloc(hwloc))
    return {line[1]: Path(line[2]) for line in lines if line}, missing


def _refuse_missing_mpi(executable: Path, missing: list[str]) -> None:
    """The commonest mistake on a cluster, which would otherwise look like a program without MPI."""
    library = next((name for name in missing if MPI_LIBRARY.match(name)), None)
    if library is not None:
        raise Refusal(f"{executable} needs {library}, which the loader does not find: load the module of the MPI that "
                      "it is built with (module load ...), or name the library's folder in LD_LIBRARY_PATH",
                      NOT_FOUND)  # fmt: skip


def _read_library(library: Path) -> Elf:
    try:
        return read_elf(library)
    except NotElf as error:
        raise Refusal(f"{error}, and the program needs it; install it again") from error


def _is_runtime(elf: Elf) -> bool:
    return bool(elf.defined & RUNTIME_MARKS)


def _refuse_static_runtime(elf: Elf) -> None:
    name = elf.soname or elf.path.name
    if RUNTIME_NAME.match(name) or not _is_runtime(elf):
        return  # an OpenMP library proper is no fault, whatever its folder: who uses it is proved inside the process
    entry = sorted(elf.defined & RUNTIME_MARKS)[0]
    raise Refusal(f"{elf.path} contains a statically linked OpenMP runtime (it defines {entry}); {RELINK}")


def _refuse_stripped_runtime(executable: Elf) -> None:
    if executable.undefined or executable.defined:
        return
    if any(contains_all(executable.path, texts) for texts in STATIC_RUNTIME_TEXTS):
        raise Refusal(f"{executable.path} contains a statically linked, stripped OpenMP runtime; {RELINK}")
