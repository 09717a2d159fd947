# SPDX-License-Identifier: Apache-2.0
"""Programs that have rights that their user does not have (set-uid, set-gid, file capabilities): no variable of the
user's makes them load code, read or write files, or reach other processes. Every name in our libraries that may be a
variable's is tried, so that a new one is covered. Such a program is made by a set-gid file, for which a user needs a
second group; where there is none, and besides, by a program to which the C library says so (programs/privileged.c,
PRETEND)."""

import ctypes
import os
import re
import secrets
import socket
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import Result, clean_environment

ROOT = Path(__file__).resolve().parents[3]
NAME = re.compile(rb"(?<=\0)[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?=\0)")
# Of libraries that ours use; what an OMP_X_ALL stands for.
OTHERS = ("HWLOC_PLUGINS_PATH", "HWLOC_XMLFILE", "HWLOC_COMPONENTS", "LTDL_LIBRARY_PATH", "LIBOMPTARGET_INFO",
          "CUDA_INJECTION64_PATH", "HSA_TOOLS_LIB", "OMP_TOOL_LIBRARIES_ALL", "OMP_TOOL_VERBOSE_INIT_ALL")  # fmt: skip
# Where the environment is obeyed, each of these reaches the file or folder that it names: the test sees what it looks
# for.
REACHES = {"OMP_TOOL_LIBRARIES": "tool.so", "OMP_TOOL_VERBOSE_INIT": "new", "MARLINE_PROOF": "new",
           "MARLINE_TRACE_DIR": "folder", "MARLINE_CHECK_DIR": "folder", "HWLOC_XMLFILE": "machine.xml"}  # fmt: skip
HARMLESS = {"OMP_NUM_THREADS": "3"}
IN_ACCESS, IN_MODIFY, IN_OPEN, IN_CREATE, IN_DELETE = 0x1, 0x2, 0x20, 0x100, 0x200
libc = ctypes.CDLL(None, use_errno=True)


class Bait:
    """A folder with files that variables may name, and what has been done in it (inotify(7))."""

    def __init__(self, folder: Path) -> None:
        self.path = folder
        (folder / "folder").mkdir(parents=True)
        for name in ("tool.so", "machine.xml"):
            (folder / name).write_bytes(b"no library")
        self.watch = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        assert self.watch >= 0
        for one in (folder, folder / "folder"):
            mask = IN_ACCESS | IN_MODIFY | IN_OPEN | IN_CREATE | IN_DELETE
            assert libc.inotify_add_watch(self.watch, str(one).encode(), mask) >= 0

    def values(self) -> list[str]:
        return [str(self.path / name) for name in ("tool.so", "machine.xml", "folder", "new", "folder/new")]

    def taken(self) -> list[str]:
        """What has been opened, made or changed since the last time."""
        try:
            data = os.read(self.watch, 1 << 16)
        except BlockingIOError:
            return []
        found, at = [], 0
        while at < len(data):
            _, mask, _, length = struct.unpack_from("iIII", data, at)
            name = data[at + 16 : at + 16 + length].rstrip(b"\0").decode()
            found.append(f"{mask:#x} {name}")
            at += 16 + length
        return found


@pytest.fixture
def bait(tmp_path: Path) -> Iterator[Bait]:
    bait = Bait(tmp_path / "bait")
    yield bait
    os.close(bait.watch)


def compiler(build: Path, tool: str, mpi: str = "") -> list[str]:
    """The command line for a program with our libraries, as a user might link them, and one of the two that are
    tools."""
    folders = [build / "lib", build / "lib" / "marline", build / "lib" / "marline" / "compat"]
    folders = [build / "lib" / "marline" / mpi, *folders] if mpi else folders
    words = [f"-L{folder}" for folder in folders] + [f"-Wl,-rpath,{folder}" for folder in folders]
    libraries = [f"marline-{tool}", *(["marline-mpi"] if mpi else []), "marline-target", "marline"]
    first = [f"mpicc.{mpi}", "-cc=gcc-12", "-DUSE_MPI"] if mpi else ["gcc-12"]
    return [*first, "-fopenmp", "-foffload=disable", "-Wl,--no-as-needed", *words, *(f"-l{name}" for name in libraries)]


@pytest.fixture(params=[("trace", ""), ("check", ""), ("trace", "mpich")], ids="-".join)
def sources(request: pytest.FixtureRequest, build: Path) -> list[str]:
    tool, mpi = request.param
    if mpi and not (build / "lib" / "marline" / mpi).exists():
        pytest.skip(f"built without {mpi}")
    return compiler(build, tool, mpi)


@pytest.fixture(params=["setgid", "pretend"])
def privileged(request: pytest.FixtureRequest, sources: list[str], tmp_path: Path) -> Path:
    program = tmp_path / "program"
    compile_to(sources, program, ["-DPRETEND", "-rdynamic"] if request.param == "pretend" else [])
    if request.param == "setgid":
        group = 1 if os.getuid() == 0 else next((one for one in os.getgroups() if one != os.getgid()), None)
        if group is None:
            pytest.skip("this user has no second group")
        os.chown(program, -1, group)
        program.chmod(0o2755)
        if "secure=1" not in start(program).stdout:
            pytest.skip("set-gid files give no rights here")
    return program


def compile_to(sources: list[str], program: Path, more: list[str]) -> None:
    words = [*sources, *more, str(ROOT / "tests/e2e/programs/privileged.c"), "-O1", "-o", str(program)]
    subprocess.run(words, check=True, timeout=120)


def start(program: Path, **changes: str) -> Result:
    return subprocess.run([program], env=clean_environment(**changes), stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=120, check=False, cwd=program.parent)  # fmt: skip


def names_in(build: Path) -> set[str]:
    """All words in our libraries that look like a variable's name; but the loader's and MPI's own."""
    libraries = [*(build / "lib").glob("libmarline*.so"), *(build / "lib" / "marline").rglob("*.so")]
    found = {name.decode() for path in libraries for name in NAME.findall(path.read_bytes())}
    return {name for name in found | set(OTHERS) if not name.startswith(("LD_", "PMI_", "PMIX_"))} - set(HARMLESS)


def test_no_variable_reaches_a_file(build: Path, privileged: Path, bait: Bait) -> None:
    names = names_in(build)
    assert set(REACHES) - {"HWLOC_XMLFILE"} <= names and len(names) > 80
    for value in bait.values():
        result = start(privileged, **dict.fromkeys(names, value), **HARMLESS)
        assert "secure=1 threads=3 " in result.stdout and "right=1" in result.stdout, result.stderr
        assert result.returncode == 0 and bait.taken() == [], value
    assert "OMP_TOOL_LIBRARIES is ignored: the program has rights that its user does not have" in result.stderr


def test_it_joins_no_job(privileged: Path) -> None:
    secret = secrets.token_hex(16)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as meeting:
        meeting.bind(f"\0marline-{secret}")
        meeting.listen()
        meeting.setblocking(False)
        job = {"MARLINE_JOB": secret, "MARLINE_JOB_NUMBER": "1", "MARLINE_JOB_COUNT": "2", "MARLINE_DEVICES": "nodes",
               "MARLINE_JOB_ADDRESS": f"unix:@marline-{secret}", "MARLINE_JOB_SERVE": "1"}  # fmt: skip
        result = start(privileged, **job)
        assert result.returncode == 0 and "secure=1" in result.stdout and "devices=0 right=1" in result.stdout, result
        with pytest.raises(BlockingIOError):
            meeting.accept()


def test_other_programs_reach_what_variables_name(build: Path, tmp_path: Path, bait: Bait) -> None:
    for tool in ("trace", "check"):
        compile_to(compiler(build, tool), tmp_path / tool, [])
    for name, value in REACHES.items():
        tool = "check" if name == "MARLINE_CHECK_DIR" else "trace"
        result = start(tmp_path / tool, **{name: str(bait.path / value)})
        assert "secure=0" in result.stdout
        assert bait.taken(), (name, result.stderr)


def test_traces_and_findings_are_their_owners(build: Path, tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        for tool, variable in (("trace", "MARLINE_TRACE_DIR"), ("check", "MARLINE_CHECK_DIR")):
            folder = tmp_path / f"{tool}-folder"
            folder.mkdir() if tool == "check" else None
            compile_to(compiler(build, tool), tmp_path / tool, [])
            result = start(tmp_path / tool, **{variable: str(folder)})
            assert result.returncode == 0, result.stderr
            written = list(folder.iterdir())
            assert written and all(path.stat().st_mode & 0o777 == 0o600 for path in written), written
    finally:
        os.umask(old)
    assert (tmp_path / "trace-folder").stat().st_mode & 0o777 == 0o700


def test_command_makes_private_folders(marline: Callable[..., Result], compiled: Callable[..., Path],
                                       tmp_path: Path) -> None:  # fmt: skip
    probe = compiled("gcc-12", "probe.c", "-fopenmp")
    old = os.umask(0)
    try:
        result = marline("trace", "-o", tmp_path / "named" / "trace", probe)
    finally:
        os.umask(old)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "named" / "trace").stat().st_mode & 0o777 == 0o700


def test_only_one_file_reads_the_environment() -> None:
    """So that no other one can forget the rule."""
    reads = re.compile(r"\b(?:secure_)?getenv\s*\(|\benviron\b")
    told = {"common/environment.h",
            "runtime/config/read_options.cpp",  # hands it to check_names, of the program's own
            "runtime/config/show_options.cpp",  # shows what is set, for KMP_SETTINGS
            "mpi/inspect/watch.c",  # hands it to `marline ps`
            "trace/signal/on_signal.cpp"}  # the same, at a signal, which a privileged program cannot ask for
    found = {str(path.relative_to(ROOT)) for folder in ("runtime", "common", "mpi", "pmpi", "offload", "trace", "check")
             for path in (ROOT / folder).rglob("*") if path.suffix in {".c", ".cpp", ".h", ".hpp"}
             if reads.search(without_comments(path.read_text(encoding="utf-8")))}  # fmt: skip
    assert found == told


def without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)
