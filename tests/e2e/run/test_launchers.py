# SPDX-License-Identifier: Apache-2.0
"""Which MPI `marline run` serves, and by which launcher it starts ranks, where that is not plain: programs that load
MPI when they run, launchers given as the program, several `mpirun` in PATH, an MPI that the loader does not find."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import CROWDED, clean_environment, run, run_without_hang

LAUNCHERS = {"openmpi": "mpirun.openmpi", "mpich": "mpirun.mpich"}
SECONDS = 120  # until a run has hung
LOADS_MPI = "import ctypes, sys\nctypes.CDLL(sys.argv[1]).count_threads()\n"
# What launchers answer to --version.
VERSIONS = [
    ("openmpi", "mpirun (Open MPI) 5.0.11\n\nReport bugs to https://www.open-mpi.org/community/help/\n", "5.0.11"),
    ("openmpi", "mpirun.openmpi (OpenRTE) 4.1.4\n\nReport bugs to http://www.open-mpi.org/community/help/\n", "4.1.4"),
    ("openmpi", "prterun (PRRTE) 3.0.8\n", "3.0.8"),
    ("mpich", "HYDRA build details:\n    Version:                                 4.0.2\n", "4.0.2"),
    ("mpich", "Intel(R) MPI Library for Linux* OS, Version 2021.14 Build 20241121 (id: e7829d6)\n", "2021.14"),
]


@pytest.fixture(params=list(LAUNCHERS))
def mpi(request, build) -> str:
    if not (build / "lib" / "marline" / request.param / "libmarline-mpi.so").exists():
        pytest.skip(f"this build has no library for {request.param}")
    return request.param


def launcher_in(folder: Path, name: str, version: str, then: str = "exit 1") -> Path:
    """A launcher that answers --version, and does `then` with other arguments."""
    folder.mkdir(exist_ok=True)
    made = folder / name
    made.write_text(f'#!/bin/sh\ncase $1 in --version) printf %s "{version}"; exit;; esac\n{then}\n')
    made.chmod(0o755)
    return made


def one_line(result: subprocess.CompletedProcess, status: int = 125) -> str:
    assert (result.returncode, result.stderr.count("\n")) == (status, 1), result.stdout + result.stderr
    return result.stderr


def test_a_script_that_loads_mpi_is_served_under_its_launcher(mpi, build, compiled, tmp_path):
    library = compiled(f"mpicc.{mpi}", "mpi_plugin.c", "-fopenmp", "-shared", "-fPIC")
    (tmp_path / "q.py").write_text(LOADS_MPI)
    words = [LAUNCHERS[mpi], "-n", "2", build / "bin" / "marline", "run", sys.executable, tmp_path / "q.py", library]
    result = run_without_hang([str(word) for word in words], clean_environment(**CROWDED), SECONDS)
    assert result.returncode == 0, result.stderr
    assert sorted(result.stdout.splitlines()) == [f"rank={rank} size=2 got=7" for rank in range(2)]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ("run mpirun -n 2 ./app x", "`marline run -n 2 ./app x`"),
        ("run mpirun -n 2 ./app x", "`mpirun -n 2 marline run ./app x`"),
        ("run srun --ntasks 3 ./app", "`srun -n 3 marline run ./app`"),
        ("run mpiexec -np 4 ./app", "`marline run -n 4 ./app`"),
        ("run mpirun --map-by node -n 2 ./app", "`marline run -n RANKS PROGRAM`"),
        ("run mpirun -n 1 ./app : -n 1 ./other", "`marline run -n RANKS PROGRAM`"),
        ("run prterun -n 2 ./app", "`marline run -n 2 ./app`"),
        ("run jsrun -n 2 ./app", "`marline run -n 2 ./app`"),
        ("run /usr/bin/mpirun.openmpi -n 2 ./app", "`marline run -n 2 ./app`"),
        ("trace mpiexec.hydra -n 2 ./app", "`marline trace -n 2 ./app`"),
        ("trace --runtime native mpirun -n 2 ./app", "`marline trace -n 2 ./app`"),
        ("check mpirun ./app", "`marline check -n RANKS ./app`"),
    ],
)
def test_a_launcher_is_no_program(marline, words, named, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = one_line(marline(*words.split()))
    assert "is a launcher" in said
    assert named in said
    assert list(tmp_path.iterdir()) == []  # no folder for a trace is left


def test_the_first_mpirun_in_path_starts_the_ranks(mpi, marline, compiled, tmp_path):
    program = compiled(f"mpicc.{mpi}", "ranks.c", "-fopenmp")
    version = next(text for of, text, _ in VERSIONS if of == mpi)
    launcher_in(tmp_path / "first", "mpirun", version, f'TAKEN=1 exec {LAUNCHERS[mpi]} "$@"')
    taken = tmp_path / "taken.sh"
    taken.write_text(f'#!/bin/sh\necho "taken=$TAKEN"\nexec {program} "$@"\n')
    taken.chmod(0o755)
    path = f"{tmp_path / 'first'}:{os.environ['PATH']}"
    result = marline("run", "-n", "1", "--mpi", mpi, "-t", "1", "--", taken, PATH=path)
    assert result.stdout.splitlines() == ["taken=1", "rank=0 size=1 threads=1"], result.stderr


@pytest.fixture
def launcher_of(marline):
    """launcher_of("mpich", PATH) is what the command finds: its path, and its version if it says one."""

    def find(mpi: str, path: str) -> dict[str, str]:
        answer = marline("facts", "launcher", mpi, PATH=f"{path}:/usr/sbin:/sbin")  # where no launcher is
        return dict(line.split("\t") for line in answer.stdout.splitlines())

    return find


def test_an_mpirun_that_says_nothing_is_taken_if_no_other_is_there(launcher_of, tmp_path):
    """A site's script, say, which hands --version on to what does not know it."""
    _, text, version = VERSIONS[0]
    silent = launcher_in(tmp_path / "silent", "mpirun", "usage: mpirun FILE")
    own = launcher_in(tmp_path / "own", "mpiexec", text)
    assert launcher_of("openmpi", silent.parent) == {"path": str(silent)}
    assert launcher_of("openmpi", f"{silent.parent}:{own.parent}") == {"path": str(own), "version": version}
    assert launcher_of("mpich", own.parent) == {}


def test_an_mpirun_of_the_other_mpi_is_passed_over(mpi, marline, compiled, tmp_path):
    program = compiled(f"mpicc.{mpi}", "ranks.c", "-fopenmp")
    version = next(text for of, text, _ in VERSIONS if of != mpi)
    for name in ("mpirun", "mpiexec"):
        launcher_in(tmp_path / "first", name, version)
    result = marline("run", "-n", "1", "-t", "1", "--", program, PATH=f"{tmp_path / 'first'}:{os.environ['PATH']}")
    assert (result.returncode, result.stdout) == (0, "rank=0 size=1 threads=1\n"), result.stderr


@pytest.mark.parametrize(("mpi", "text", "version"), VERSIONS, ids=[version for *_, version in VERSIONS])
def test_launchers_are_known_by_what_they_say(launcher_of, tmp_path, mpi, text, version):
    made = launcher_in(tmp_path, "mpirun", text)
    other = next(name for name in LAUNCHERS if name != mpi)
    assert launcher_of(mpi, tmp_path) == {"path": str(made), "version": version}
    assert launcher_of(other, tmp_path) == {}


def test_launchers_are_known_by_their_files(mpi, build, tmp_path):
    """They are not started for that, which takes as long as all the rest."""
    copy = tmp_path / "mpirun"
    copy.symlink_to(shutil.which(LAUNCHERS[mpi]))
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")
    command = build / "bin" / "marline"
    answer = run(["strace", "-f", "-qq", "-e", "trace=execve", command, "facts", "ranks", mpi, "2"],
                 PATH=f"{tmp_path}:{os.environ['PATH']}")  # fmt: skip
    assert answer.stdout.splitlines()[0] == str(copy)
    assert answer.stderr.count("execve(") == 1


def test_info_tells_open_mpi_5_from_mpich(marline, tmp_path):
    mpi, text, version = VERSIONS[0]
    made = launcher_in(tmp_path, "mpirun", text)
    said = marline("info", PATH=f"{made.parent}:{os.environ['PATH']}").stdout
    assert f"  {mpi:<8} {version} ({made})\n" in said
    assert said.count(str(made)) == 1


def test_an_mpi_that_the_loader_does_not_find(marline, compiled, tmp_path):
    """As without the module of the MPI."""
    source, library = tmp_path / "empty.c", tmp_path / "libmpi.so.39"
    source.write_text("int nothing;\n")
    subprocess.run(["gcc-12", "-shared", f"-Wl,-soname,{library.name}", source, "-o", library], check=True)
    program = compiled("gcc-12", "probe.c", "-fopenmp", "-Wl,--no-as-needed", str(library))
    library.unlink()
    for words in (["run", program], ["run", "-n", "2", program]):
        said = one_line(marline(*words), 127)
        assert f"{program} needs libmpi.so.39, which the loader does not find" in said
        assert "LD_LIBRARY_PATH" in said
