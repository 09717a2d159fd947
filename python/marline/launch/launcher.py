# SPDX-License-Identifier: Apache-2.0
"""The launcher's command line. Each rank is started as `marline run` of its own (without -n), so that a job started by
`marline run -n`, by the user's own mpirun and by srun takes one path, and every node proves its own processes."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from marline.errors import Refusal

# A batch system or a host file knows more about the machine than this node does: then placement is the launcher's.
ALLOCATIONS = ("SLURM_JOB_ID", "PBS_NODEFILE", "LSB_HOSTS", "PE_HOSTFILE", "OMPI_MCA_orte_default_hostfile",
               "HYDRA_HOST_FILE")  # fmt: skip
LAUNCHERS = {"openmpi": ("mpirun.openmpi", "mpirun"), "mpich": ("mpirun.mpich", "mpiexec.hydra", "mpirun")}
PACKAGES = {"openmpi": "openmpi-bin", "mpich": "mpich"}
WRAPPERS = {"openmpi": "mpicc.openmpi", "mpich": "mpicc.mpich"}
HEADERS = {"openmpi": "libopenmpi-dev", "mpich": "libmpich-dev"}
# Variables that tell a process its rank: one of each implementation's own launcher; the variables of PMIx, by which
# Slurm starts ranks of either, and of Slurm without it. offload/wire/mpi/mpi_loader.cpp and trace/base/recorder.cpp
# have them, too.
RANK_OF = {"openmpi": "OMPI_COMM_WORLD_RANK", "mpich": "PMI_RANK"}
RANK_IN_STEP = ("PMIX_RANK", "SLURM_PROCID")
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


def launcher(mpi: str, environment: Mapping[str, str]) -> Path:
    for name in LAUNCHERS[mpi]:
        found = shutil.which(name, path=environment.get("PATH"))
        if found:
            return Path(found)
    names = ", ".join(LAUNCHERS[mpi])
    raise Refusal(f"no launcher of {mpi} in PATH ({names}); on Debian: apt-get install {PACKAGES[mpi]}")


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
    if mpi == "mpich":
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
