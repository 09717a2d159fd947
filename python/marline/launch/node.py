# SPDX-License-Identifier: Apache-2.0
"""What placement.py is told of this node: its cores, and what the launcher has left to this rank. Standard library
only."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from marline.launch.placement import Core, Situation, threads_in

# By launcher: which variable holds the rank on the node, and which the number of ranks there.
LOCAL_RANK = (
    ("OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("MPI_LOCALRANKID", "MPI_LOCALNRANKS"),  # Hydra: MPICH, Intel MPI
    ("MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"),
    ("PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE"),
    ("SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"),
    ("MARLINE_JOB_NUMBER", "MARLINE_JOB_COUNT"),  # job.py, on one machine
)
BATCH = ("SLURM_JOB_ID", "PBS_NODEFILE", "LSB_HOSTS", "PE_HOSTFILE")
SYSTEM = Path("/sys/devices/system")
PROCESSES = Path("/proc")


def situation(threads: int | None, environment: Mapping[str, str]) -> Situation:
    """That of this process, which is the program's until it starts it. `threads`: what the command line asks for."""
    variable, rank, ranks = local_rank(environment)
    own = frozenset(os.sched_getaffinity(0))
    return Situation(
        cores=read_cores(SYSTEM),
        own=own,
        shared=launcher_mask(variable) if ranks else own,
        rank=rank,
        ranks=ranks,
        threads=threads or threads_in(environment),
        batch=any(name in environment for name in BATCH),
        environment=environment,
    )


def local_rank(environment: Mapping[str, str]) -> tuple[str, int, int]:
    """The variable that tells this rank's number on the node, that number, and how many there are: 0 without a
    launcher, or with one that does not say."""
    for variable, size in LOCAL_RANK:
        rank, ranks = environment.get(variable, ""), environment.get(size, "")
        if size.startswith("SLURM"):
            ranks = tasks_of_node(ranks, environment.get("SLURM_NODEID", "0"))
        if rank.isdecimal() and ranks.isdecimal() and int(rank) < int(ranks):
            return variable, int(rank), int(ranks)
    return "", 0, 0


def tasks_of_node(text: str, node: str) -> str:
    """Slurm's list, "4(x2),3" for 4, 4 and 3 tasks, at one node; "" where it has none."""
    counts: list[str] = []
    for word in text.split(","):
        match = re.fullmatch(r"(\d+)(?:\(x(\d+)\))?", word)
        if match:
            counts += [match[1]] * int(match[2] or 1)
    return counts[int(node)] if node.isdecimal() and int(node) < len(counts) else ""


def launcher_mask(variable: str) -> frozenset[int]:
    """What the launcher may use: the nearest of our ancestors that is no part of this rank, as the rank's variable is
    not in its environment. (Another user's process is none: its environment cannot be read.)"""
    process = os.getppid()
    while process > 1 and variable.encode() + b"=" in _environment_of(process):
        process = _parent_of(process)
    try:
        return frozenset(os.sched_getaffinity(process))
    except OSError:
        return frozenset(os.sched_getaffinity(0))


def _environment_of(process: int) -> bytes:
    try:
        return b"\0" + (PROCESSES / str(process) / "environ").read_bytes()
    except OSError:
        return b""


def _parent_of(process: int) -> int:
    try:
        text = (PROCESSES / str(process) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 1
    return int(text.rpartition(")")[2].split()[1])  # after the name, which may hold anything: state, parent


def read_cores(system: Path) -> list[Core]:
    """The cores under /sys/devices/system, neighbours side by side: by package, memory, cache and number. A CPU of
    which nothing is said is a core."""
    nodes = {cpu: int(folder.name[4:]) for folder in sorted((system / "node").glob("node[0-9]*"))
             for cpu in _read_list(folder / "cpulist")}  # fmt: skip
    cores: dict[tuple[int, ...], list[int]] = {}
    for folder in (system / "cpu").glob("cpu[0-9]*"):
        cpu = int(folder.name[3:])
        package, die, core = (_read_number(folder / "topology" / name)
                              for name in ("physical_package_id", "die_id", "core_id"))  # fmt: skip
        cache = _read_number(folder / "cache" / "index3" / "id")
        key = (package, nodes.get(cpu, 0), cache, die, core if core >= 0 else cpu)
        cores.setdefault(key, []).append(cpu)
    return [Core(tuple(sorted(cores[key])), (key[0], key[1])) for key in sorted(cores)]


def _read_number(path: Path) -> int:
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return -1


def _read_list(path: Path) -> list[int]:
    try:
        words = path.read_text().strip().split(",")
    except OSError:
        return []
    pairs = (word.partition("-")[::2] for word in words if word)
    return [cpu for first, last in pairs for cpu in range(int(first), int(last or first) + 1)]
