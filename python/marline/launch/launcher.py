# SPDX-License-Identifier: Apache-2.0
"""The launcher's command line. Each rank is started as `marline run` of its own (without -n), so that a job started by
`marline run -n`, by the user's own mpirun and by srun takes one path, and every node proves its own processes."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from marline.errors import Refusal

# A batch system or a host file knows more about the machine than this node does: then placement is the launcher's.
ALLOCATIONS = ("SLURM_JOB_ID", "PBS_NODEFILE", "LSB_HOSTS", "PE_HOSTFILE", "OMPI_MCA_orte_default_hostfile",
               "HYDRA_HOST_FILE")  # fmt: skip
# The first of these that is in PATH and belongs to the MPI: a module or a virtual environment puts its own `mpirun`
# first. The others are Debian's names.
LAUNCHERS = {"openmpi": ("mpirun", "mpiexec", "mpirun.openmpi"),
             "mpich": ("mpirun", "mpiexec", "mpirun.mpich", "mpiexec.hydra")}  # fmt: skip
# What a launcher's --version says: those of Open MPI 4 and 5, and PRRTE, which is Open MPI 5's; those of MPICH, MVAPICH
# and Intel MPI.
VERSION_TEXTS = {
    "openmpi": r"\((?:Open MPI|OpenRTE|PRRTE)\)\s+(\d\S*)",
    "mpich": r"HYDRA build details:\s+Version:\s+(\d\S*)|Intel\(R\) MPI Library .*Version (\d\S*)",
}
VERSION_SECONDS = 20
# Programs that start ranks, by their name up to its first dot, and the options that say how many.
RANK_STARTERS = ("mpirun", "mpiexec", "orterun", "prterun", "prun", "srun", "jsrun", "aprun")
COUNT_OPTIONS = ("-n", "-np", "--n", "--np", "--ntasks")
PACKAGES = {"openmpi": "openmpi-bin", "mpich": "mpich"}
WRAPPERS = {"openmpi": "mpicc.openmpi", "mpich": "mpicc.mpich"}
HEADERS = {"openmpi": "libopenmpi-dev", "mpich": "libmpich-dev"}
# Variables that tell a process its rank: one of each implementation's own launcher; the variables of PMIx, by which
# Slurm starts ranks of either, and of Slurm without it. offload/wire/mpi/mpi_loader.cpp and trace/base/recorder.cpp
# have them, too.
RANK_OF = {"openmpi": "OMPI_COMM_WORLD_RANK", "mpich": "PMI_RANK"}
# The libraries of the standard ABI of MPI 5.0 are MPICH's and Intel's, which MPICH's launcher starts.
for table in (LAUNCHERS, VERSION_TEXTS, PACKAGES, RANK_OF):
    table["standard"] = table["mpich"]
RANK_IN_STEP = ("PMIX_RANK", "SLURM_PROCID")
# Which MPI is served in a program that loads MPI itself. PMIx without Open MPI's variable is Slurm's: it seldom starts
# MPICH so. If this is wrong, libmarline-mpi says so when the program initialises MPI.
TELLS_MPI = {"OMPI_COMM_WORLD_RANK": "openmpi", "PMI_RANK": "mpich", "PMIX_RANK": "openmpi"}
STEP_SIZE = "SLURM_STEP_NUM_TASKS"  # not in a batch script, and 1 in a shell that srun has started
FORWARDED = ("OMP_", "MARLINE_", "KMP_", "GOMP_")


def rank(environment: Mapping[str, str]) -> str | None:
    """Which rank a launcher says that this process is; None if none has started it."""
    is_alone = environment.get(STEP_SIZE) == "1"
    in_step = () if is_alone else RANK_IN_STEP if STEP_SIZE in environment else RANK_IN_STEP[:1]
    return next((environment[name] for name in (*RANK_OF.values(), *in_step) if name in environment), None)


def by_the_other(mpi: str, environment: Mapping[str, str]) -> str | None:
    """The other implementation, if the process was started by its launcher alone. Slurm's PMI-2 sets MPICH's variable
    for all; Open MPI says so itself if it does not understand PMI-2."""
    if RANK_OF[mpi] in environment:
        return None
    other = next((other for other, variable in RANK_OF.items() if variable in environment), None)
    return None if other == "mpich" and environment.get("SLURM_MPI_TYPE") == "pmi2" else other


def mpi_of_rank(environment: Mapping[str, str]) -> str | None:
    """The implementation whose launcher has started this process; None if no launcher has."""
    return next((mpi for variable, mpi in TELLS_MPI.items() if variable in environment), None)


def refuse_rank_starter(command: str, program: str, arguments: Sequence[str]) -> None:
    """A launcher gives its ranks Marline's runtime, but not libmarline-mpi: they would block in MPI, and may hang. The
    line names what works with the user's own words, where they are as simple as `-n 2 ./app`. `command`: ours."""
    name = Path(program).name
    if name.partition(".")[0] not in RANK_STARTERS:
        return
    ranks, words = _count_and_program(arguments)
    app = " ".join(map(shlex.quote, words)) if words else "PROGRAM"
    each = f", or start `marline run` as each rank: `{program} -n {ranks} marline run {app}`"
    raise Refusal(f"{program} is a launcher, and its ranks would not get Marline's MPI layer; let Marline start them: "
                  f"`{command} -n {ranks} {app}`{each if command == 'marline run' else ''}")  # fmt: skip


def _count_and_program(arguments: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The number of ranks and the program's words in a launcher's arguments; RANKS and nothing if it has other options
    or several programs."""
    ranks = "RANKS"
    rest = list(arguments)
    while len(rest) > 1 and rest[0] in COUNT_OPTIONS:
        ranks, rest = rest[1], rest[2:]
    return (ranks, rest) if rest and not rest[0].startswith("-") and ":" not in rest else ("RANKS", [])


def launcher(mpi: str, environment: Mapping[str, str]) -> Path:
    found = find_launcher(mpi, environment)
    if found is None:
        names = ", ".join(LAUNCHERS[mpi])
        raise Refusal(f"no launcher of {mpi} in PATH ({names}); load its module, or on Debian: apt-get install "
                      f"{PACKAGES[mpi]}")  # fmt: skip
    return found


def find_launcher(mpi: str, environment: Mapping[str, str]) -> Path | None:
    """The first in PATH that says that it is one of this MPI, else the first that does not say that it is another's (a
    site's own script, say)."""
    paths = [path for path in (shutil.which(name, path=environment.get("PATH")) for name in LAUNCHERS[mpi]) if path]
    own = [path for path in paths if version_of(path, mpi)]
    unknown = (path for path in paths if not any(version_of(path, one) for one in VERSION_TEXTS))
    return next(map(Path, own or unknown), None)


def version_of(path: str | Path, mpi: str) -> str | None:
    """The version of the launcher, if it is one of this MPI."""
    match = re.search(VERSION_TEXTS[mpi], _text_of_version(str(path)))
    return next(text for text in match.groups() if text) if match else None


@lru_cache(maxsize=None)
def _text_of_version(path: str) -> str:
    try:
        answer = subprocess.run([path, "--version"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, timeout=VERSION_SECONDS, check=False)  # fmt: skip
    except (OSError, subprocess.SubprocessError):  # not one that can be asked
        return ""
    return answer.stdout.decode(errors="replace")


def unbound(mpi: str, ranks: int, environment: Mapping[str, str]) -> list[str]:
    """The words before the words of `marline run`, which binds its rank itself (placement.py) where no batch system
    does."""
    words = _start(mpi, ranks, environment)
    if mpi == "openmpi" and _is_local(environment):
        words += ["--bind-to", "none", *(["--oversubscribe"] if ranks > core_count() else [])]
    return words + (_forwarded(environment) if mpi == "openmpi" else [])


def command(mpi: str, ranks: int, threads: int | None, environment: Mapping[str, str]) -> list[str]:
    """The words before the words of a program that is started as it is. `threads` is how many each rank will use, where
    that is known."""
    words = _start(mpi, ranks, environment)
    local = _is_local(environment)
    cores = core_count()
    share = threads or max(1, cores // ranks)
    fits = ranks * share <= cores
    if mpi != "openmpi":
        return words + (["-bind-to", f"core:{share}"] if local and fits else [])
    if local:
        # Open MPI's own default binds each of one or two ranks to a single core, whatever its number of threads.
        words += ["--map-by", f"slot:PE={share}", "--bind-to", "core"] if fits else ["--bind-to", "none"]
        words += ["--oversubscribe"] if ranks > cores else []
    return words + _forwarded(environment)


def _start(mpi: str, ranks: int, environment: Mapping[str, str]) -> list[str]:
    root = ["--allow-run-as-root"] if mpi == "openmpi" and os.geteuid() == 0 else []
    return [str(launcher(mpi, environment)), "-n", str(ranks), *root]


def _is_local(environment: Mapping[str, str]) -> bool:
    return not any(name in environment for name in ALLOCATIONS)


def _forwarded(environment: Mapping[str, str]) -> list[str]:
    """Open MPI's launcher takes only the variables along that it is told, to other nodes."""
    return [word for name in sorted(environment) if name.startswith(FORWARDED) for word in ("-x", name)]


def core_count() -> int:
    """Cores (not hardware threads) that this process may use: what Open MPI counts as slots."""
    topology = Path("/sys/devices/system/cpu")
    cores = set()
    for cpu in os.sched_getaffinity(0):
        ids = [topology / f"cpu{cpu}" / "topology" / name for name in ("physical_package_id", "core_id")]
        cores.add(tuple(path.read_text().strip() for path in ids) if all(map(Path.exists, ids)) else ("cpu", str(cpu)))
    return len(cores)
