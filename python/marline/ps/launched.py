# SPDX-License-Identifier: Apache-2.0
"""Which processes that run on Marline a process has started: users know the number of `marline run`, `mpirun` or
`srun`. Reads /proc only."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

LISTENS = "0A"  # state of a socket in /proc/net/tcp
# What srun tells its tasks of itself: they are children of slurmstepd, not of srun.
PORTS_OF_SRUN = (b"SLURM_STEP_LAUNCHER_PORT=", b"SLURM_SRUN_COMM_PORT=")


def exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").is_dir()


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return "?"


def started_by(pid: int, serving: Iterable[int]) -> list[int]:
    """Of the processes `serving`: those below `pid`, or those of its job step if it is an srun."""
    known = set(serving)
    below = known & _descendants(pid)
    return sorted(below) if below else _tasks_of_srun(pid, known)


def _descendants(pid: int) -> set[int]:
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        parent = _parent(folder)
        if parent is not None:
            children.setdefault(parent, []).append(int(folder.name))
    found: set[int] = set()
    left = [pid]
    while left:
        mine = children.get(left.pop(), [])
        found.update(mine)
        left += mine
    return found


def _parent(folder: Path) -> int | None:
    try:
        # pid (name) state parent ...; the name may hold blanks and parentheses.
        return int((folder / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[1])
    except OSError:
        return None  # it has ended


def _tasks_of_srun(pid: int, known: set[int]) -> list[int]:
    ports = _listening_ports(pid)
    return sorted(one for one in known if ports & _srun_ports_told(one)) if ports else []


def _srun_ports_told(pid: int) -> set[int]:
    try:
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return set()
    values = (one.partition(b"=")[2] for one in variables if one.startswith(PORTS_OF_SRUN))
    return {int(value) for value in values if value.isdigit()}


def _listening_ports(pid: int) -> set[int]:
    """TCP ports at which the process listens."""
    inodes = set()
    try:
        for file in Path(f"/proc/{pid}/fd").iterdir():
            socket = re.fullmatch(r"socket:\[(\d+)\]", os.readlink(file))
            if socket:
                inodes.add(socket[1])
    except OSError:
        return set()  # it has ended, or is another user's
    ports = set()
    for table in ("tcp", "tcp6"):
        try:
            lines = Path(f"/proc/{pid}/net/{table}").read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for _, local, _, state, _, _, _, _, _, inode, *_ in map(str.split, lines):
            if state == LISTENS and inode in inodes:
                ports.add(int(local.rpartition(":")[2], 16))
    return ports
