# SPDX-License-Identifier: Apache-2.0
"""The messages that a beginner can meet, each with a command that brings it: the table of test_messages.py, from which
docs/guide/messages.md is made:

    messages.py [BUILD]     runs all, and writes the page

A command runs in a folder with the files that it names (FILES), as a user would type it there."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from conftest import CROWDED, PROGRAMS, SECONDS, clean_environment  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "guide" / "messages.md"
TESTS = ROOT / "tests" / "programs"
OLDER = list((Path.home() / ".pyenv" / "versions").glob("3.9.*/bin"))


@dataclass(frozen=True)
class Case:
    what: str  # is wrong, in words
    command: str
    do: str = ""  # where the message does not say it
    costs: bool = False  # more than some tenths of a second: tried with MARLINE_EXHAUSTIVE=1 only
    hangs: bool = False  # it is ended when it has said something
    lines: int = 0  # as many of what it says; 0: those that begin with `marline`
    needs: str = ""  # a program that not every machine has


SECTIONS = {
    "Words of the command": [
        Case("A command that does not exist", "marline rum ./app"),
        Case("No program", "marline run"),
        Case("An option that does not exist", "marline run --fast ./app"),
        Case("A number that is none", "marline run -t many ./app"),
        Case("An MPI that Marline does not know", "marline run --mpi openmp ./app"),
        Case("A study that is not there", "marline study no-study.yaml"),
    ],
    "Programs that cannot be started": [
        Case("The program is not there", "marline run ./ap"),
        Case("It is here, but not in `PATH`", "marline run app"),
        Case("A folder", "marline run ./folder"),
        Case("A file that is no program", "marline run ./text"),
        Case("A script without a first line that names its interpreter", "marline run ./script-without-interpreter"),
        Case("A script whose interpreter is missing", "marline run ./script-of-another-machine"),
        Case("An empty file", "marline run ./empty"),
        Case("A file that was not copied to its end", "marline run ./truncated", costs=True),
        Case("A 32-bit program", "marline run ./app-of-32-bits"),
        Case("A program for another processor", "marline run ./app-for-arm", needs="aarch64-linux-gnu-gcc-12",
             costs=True),
        Case("A program without shared libraries", "marline run ./static-app", costs=True),
        Case("A set-uid program", "marline run ./setuid-app", needs="root", costs=True),
        Case("A library of the program is missing", "marline run ./app-with-lost-library",
             "The line is the loader's. Load the module that has the library, or name its folder in "
             "`LD_LIBRARY_PATH`.", lines=1, costs=True),
    ],
    "The OpenMP runtime": [
        Case("An OpenMP runtime is linked into the program", "marline run ./app-with-libgomp-inside"),
        Case("Another OpenMP runtime is preloaded",
             "LD_PRELOAD=$(gcc-12 -print-file-name=libgomp.so.1) marline run ./app"),
        Case("A plug-in brings a second runtime into the process",
             "marline run ./host ./plugin-with-rpath.so deepbind", costs=True),
        Case("The program does not use OpenMP", "marline run ./serial-app /dev/null"),
        Case("A command before the program clears the environment", "marline run env -i ./app"),
    ],
    "MPI": [
        Case("`marline run` in front of a launcher", "marline run mpirun -n 2 ./mpi-app"),
        Case("Ranks of a program without MPI", "marline run -n 2 ./app"),
        Case("The launcher of another MPI", "mpirun.mpich -n 1 marline run ./mpi-app", needs="mpirun.mpich",
             costs=True),
        Case("`--mpi` names another MPI than the program's", "marline run --mpi mpich ./mpi-app"),
        Case("The MPI's library is not found", "marline run -n 2 ./app-with-lost-mpi"),
        Case("No launcher in `PATH`", "PATH=$PWD/few-programs marline run -n 2 ./mpi-app"),
        Case("MPI calls do not reach Marline",
             "LD_PRELOAD=$MARLINE/lib/libmarline.so mpirun.openmpi -n 1 ./mpi-app"),
        Case("The layer of another MPI is preloaded",
             "LD_PRELOAD=$MARLINE/lib/marline/mpich/libmarline-mpi.so:$MARLINE/lib/libmarline.so ./mpi-app"),
        Case("`marline trace` started by a launcher", "mpirun.openmpi -n 1 marline trace ./mpi-app", costs=True),
        Case("More threads than cores", "marline run -n 2 -t 500 ./mpi-app", costs=True),
        Case("A rank fails", "mpirun.openmpi -n 1 marline run ./app exit 3",
             "The cause is in the program. The launcher prints more lines.", costs=True),
    ],
    "Variables": [
        Case("A misspelt variable of OpenMP", "OMP_NUM_THREAD=4 marline run ./app"),
        Case("A misspelt variable of Marline", "MARLINE_TRHEADS=4 marline run ./app"),
        Case("A value that cannot be used", "OMP_SCHEDULE=dynmaic marline run ./app"),
        Case("A value of Marline's variable that cannot be used", "MARLINE_SPIN=often marline run ./app"),
        Case("Places that the machine does not have", "OMP_PLACES='{900}' marline run ./app", costs=True),
        Case("A variable of LLVM's runtime that Marline does not obey", "KMP_LOCK_KIND=tas marline run ./app"),
        Case("A value of LLVM's variable that cannot be used", "KMP_AFFINITY=compct marline run ./app"),
        Case("A path where the names of libraries are asked for",
             "MARLINE_MPI_NEVER_SUSPEND=/opt/libsolver.so marline run -n 1 ./mpi-app", costs=True),
    ],
    "While the program runs": [
        Case("A stack that is too small",
             "OMP_STACKSIZE=256K MARLINE_SCHEDULE=fifo marline run -t 1 ./app-of-large-arrays task"),
        Case("The same on the first thread, whose stack OpenMP's variables do not set",
             "marline run ./app-of-large-arrays first"),
        Case("Memory that is limited", "ulimit -v 400000; marline run -t 1000 ./app"),
    ],
    "Devices": [
        Case("A device that does not exist", "marline run --devices bogus ./app"),
        Case("The same by the variable", "MARLINE_DEVICES=bogus marline run ./app-with-regions target", costs=True),
        Case("An option of a device that the program does not have",
             "MARLINE_CLUSTER_MEMORY=much marline run ./app-with-regions target", costs=True),
        Case("Too many devices", "marline run --devices host:1000 ./app"),
        Case("Devices on other nodes, and no other process",
             "MARLINE_DEVICES=nodes marline run ./app-with-regions target", costs=True),
        Case("A program without target regions", "marline run -n 2 --devices=nodes ./app", costs=True),
        Case("A device number that is too high",
             "OMP_TARGET_OFFLOAD=mandatory marline run --devices=host ./app-with-regions target", costs=True),
        Case("A region that must run on a device, and no device",
             "OMP_TARGET_OFFLOAD=mandatory marline run --devices none ./app-with-wrong-regions null_write", costs=True),
        Case("A region that writes by a null pointer",
             "marline run --devices=process ./app-with-wrong-regions null_write", costs=True),
        Case("A map of more than is mapped already", "marline run --devices=host ./app-with-wrong-maps extend_up",
             costs=True),
        Case("A variable that must be mapped, and is not", "marline run --devices=host ./app-with-wrong-maps present",
             costs=True),
    ],
    "Recording and reports": [
        Case("The folder for the trace is not empty", "marline trace -o folder ./app"),
        Case("The folder for the trace is a file", "marline trace -o text ./app"),
        Case("A program that does nothing that is recorded", "marline trace true"),
        Case("A word of `--events` that does not exist", "marline trace --events taks ./app"),
        Case("A chart with the file name of another kind", "marline trace --png chart.jpg ./app"),
        Case("A report of a file", "marline report text", costs=True),
        Case("A report of a folder without a trace", "marline report folder"),
        Case("A report of a folder that is not there", "marline report no-trace", costs=True),
        Case("A Python without the packages of reports",
             "/usr/bin/python3 $MARLINE/lib/marline/marline-python report folder", needs="a Python without NumPy"),
        Case("A Python that is too old for reports", "python3.9 $MARLINE/lib/marline/marline-python report folder",
             needs="python3.9"),
    ],
    "marline ps and marline check": [
        Case("A process that does not exist", "marline ps 999999999"),
        Case("A process that is not on Marline", "sleep 9 & marline ps $!; kill $!"),
        Case("No process on Marline", "unshare --pid --fork --mount-proc --net marline ps", lines=1, needs="root"),
        Case("A job that hangs", "MARLINE_MPI_WATCH=1 marline run -n 2 ./app-that-hangs recv",
             "[When a job hangs](hangs.md) explains the report.", costs=True, hangs=True, lines=5),
        Case("A task that was suspended while it held a mutex", "marline check -t 2 ./app-with-mutexes guard",
             "[Checking](checking.md) explains the report.", costs=True),
    ],
}  # fmt: skip


# Files that the commands name -----------------------------------------------------------------------------------------


class Folder:
    """Where the commands run. Makes the files that a command names."""

    def __init__(self, build: Path, path: Path) -> None:
        self._build, self.path = build, path

    def make(self, command: str) -> None:
        for name, make in FILES.items():
            if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])", command) and not (self.path / name).exists():
                make(self, self.path / name)

    def compile(self, path: Path, compiler: str, source: str | Path, *flags: str) -> None:
        words = [compiler, "-O1", "-g", "-w", str(PROGRAMS / source), "-o", str(path), f"-I{ROOT / 'include'}",
                 f"-L{self._build / 'lib'}", *flags]  # fmt: skip
        subprocess.run(words, check=True, timeout=SECONDS, cwd=self.path)

    def mpi_app(self, path: Path, *flags: str) -> None:
        self.compile(path, "mpicc.openmpi", "mpi_plugin.c", "-fopenmp", "-DPROGRAM", *flags)

    def of_lost_library(self, path: Path, soname: str) -> None:
        lost = self.path / soname
        self.compile(lost, "gcc-12", "bundled_runtime.c", "-shared", "-fPIC", f"-Wl,-soname,{soname}")
        self.compile(path, "gcc-12", "probe.c", "-fopenmp", "-Wl,--no-as-needed", str(lost))
        lost.unlink()

    def few_programs(self, path: Path) -> None:
        path.mkdir()
        for name in ("bash", "env", "python3"):
            (path / name).symlink_to(shutil.which(name) or name)
        (path / "marline").symlink_to(self._build / "bin" / "marline")

    def run(self, case: Case) -> list[str]:
        """The lines that the command says, with names instead of what differs from machine to machine."""
        self.make(case.command)
        # SEND_FIRST keeps mpi_plugin.c from hanging.
        env = clean_environment(**CROWDED, MARLINE=str(self._build), SEND_FIRST="1")
        usual = [one for one in env["PATH"].split(":") if not one.endswith("/.pyenv/shims")]
        env["PATH"] = ":".join(map(str, [self._build / "bin", *usual, *OLDER]))
        with subprocess.Popen(["bash", "-c", case.command], cwd=self.path, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              start_new_session=True) as process:  # fmt: skip
            try:
                said = self._ends_with(process, case) if case.hangs else process.communicate(timeout=SECONDS)[0]
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
        lines = self._readable(said).splitlines()
        first = next((at for at, line in enumerate(lines) if line.startswith("marline")), 0)
        return lines[first : first + case.lines] if case.lines else [at for at in lines if at.startswith("marline")]

    def _readable(self, said: str) -> str:
        """Without the folders of this machine."""
        names = {f"{self.path}/": "", str(self._build): "$MARLINE", os.uname().nodename: "node",
                 **{str(one): "/usr/bin" for one in OLDER}}  # fmt: skip
        for name, other in names.items():
            said = said.replace(name, other)
        said = re.sub(r"__omp_offloading_[0-9a-f]+_[0-9a-f]+_", "__omp_offloading_..._", said)
        return re.sub(r"0x[0-9a-f]{5,}", "0x...", re.sub(rf"{ROOT}/[\w/]*/", "", said))

    @staticmethod
    def _ends_with(process: subprocess.Popen[str], case: Case) -> str:
        assert process.stdout is not None
        lines: list[str] = []
        for line in process.stdout:
            lines += [line] if lines or line.startswith("marline") else []
            if len(lines) == case.lines:
                break
        os.killpg(process.pid, signal.SIGKILL)
        return "".join(lines)


Make = Callable[[Folder, Path], object]


def text(content: str | bytes, mode: int = 0o755) -> Make:
    def make(_: Folder, path: Path) -> None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        path.chmod(mode)

    return make


def compiled(compiler: str, source: str | Path, *flags: str) -> Make:
    return lambda folder, path: folder.compile(path, compiler, source, *flags)


def with_regions(source: str) -> Make:
    return compiled("clang-19", TESTS / "offload" / "bad" / source, "-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu")


def folder_with_a_file(_: Folder, path: Path) -> None:
    path.mkdir()
    (path / "notes.txt").write_text("kept\n")


def setuid_app(folder: Folder, path: Path) -> None:
    folder.compile(path, "gcc-12", "probe.c", "-fopenmp")
    os.chown(path, 1, 1)
    path.chmod(0o4755)


RPATH = "-Wl,--disable-new-dtags,-rpath,/usr/lib/gcc/x86_64-linux-gnu/12:/usr/lib/x86_64-linux-gnu"
FILES: dict[str, Make] = {
    "app": compiled("gcc-12", "probe.c", "-fopenmp"),
    "serial-app": compiled("gcc-12", "plugin_host.c"),
    "host": compiled("gcc-12", "plugin_host.c"),
    "plugin-with-rpath.so": compiled("gcc-12", "plugin.c", "-fopenmp", "-shared", "-fPIC", RPATH),
    "static-app": compiled("gcc-12", "probe.c", "-fopenmp", "-static"),
    "setuid-app": setuid_app,
    "app-with-libgomp-inside": compiled("gcc-12", "probe.c", "-fopenmp", "-Wl,-Bstatic", "-lgomp", "-Wl,-Bdynamic",
                                        "-ldl"),
    "app-for-arm": compiled("aarch64-linux-gnu-gcc-12", "plugin_host.c"),
    "app-of-32-bits": text(b"\x7fELF\x01\x01\x01" + bytes(9) + b"\x02\x00\x03\x00" + bytes(100)),
    "app-with-lost-library": lambda folder, path: folder.of_lost_library(path, "libsolver.so.3"),
    "app-with-lost-mpi": lambda folder, path: folder.of_lost_library(path, "libmpi.so.12"),
    "app-with-regions": with_regions("bad_device.c"),
    "app-with-wrong-maps": with_regions("bad_map.c"),
    "app-with-wrong-regions": with_regions("bad_region.c"),
    "app-of-large-arrays": compiled("gcc-12", TESTS / "suspend" / "overflow.c", "-fopenmp", "-lmarline"),
    "app-with-mutexes": compiled("g++-12", "mutex_tasks.cpp", "-fopenmp", "-lmarline"),
    "app-that-hangs": compiled("mpicc.openmpi", "hangs.c", "-fopenmp", "-lmarline"),
    "mpi-app": Folder.mpi_app,
    "folder": folder_with_a_file,
    "few-programs": Folder.few_programs,
    "text": text("no program\n", 0o644),
    "script-without-interpreter": text("echo hello\n"),
    "script-of-another-machine": text("#!/opt/python/bin/python3\n"),
    "empty": text(""),
    "truncated": text(Path("/bin/sh").read_bytes()[:1000]),
}  # fmt: skip


# The page -------------------------------------------------------------------------------------------------------------

HEAD = """\
<!-- Made by tests/e2e/docs/messages.py from its table and from runs on a build. Edit the table, not this page. -->
# What Marline says, and when

Each message of Marline's is one line on standard error: what failed, the value, and what to do. This page lists those
that a beginner can meet, each below a command that brings it. `tests/e2e/docs/test_messages.py` runs the commands.
`$MARLINE` is the folder in which Marline is installed. Numbers, addresses and the names of machines differ.

| exit status | means |
|---|---|
| 2 | the command was not used as it can be, or an option of devices or of the recorder cannot have its value |
| 4 | a condition of [`marline report --fail-if`](scripts.md) holds |
| 123 | `marline check` has found something |
| 125 | Marline refuses: it could not be, or not alone, the program's OpenMP runtime |
| 126, 127 | the program cannot be executed, or a file of it is not there |

Mistakes on a cluster of nodes are in [the guide to it](cluster.md#what-mistakes-say).
"""


def block(case: Case, said: list[str]) -> str:
    lines = [f"**{case.what}:**", "", "```", f"$ {case.command}", *said, "```", ""]
    return "\n".join(lines + ([case.do, ""] if case.do else []))


def page(folder: Folder) -> str:
    parts = [HEAD]
    for title, cases in SECTIONS.items():
        parts += [f"## {title}\n", *(block(case, folder.run(case)) for case in cases)]
    return "\n".join(parts)


def main() -> None:
    build = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "release").resolve()
    with tempfile.TemporaryDirectory() as name:
        PAGE.write_text(page(Folder(build, Path(name))))


if __name__ == "__main__":
    main()
