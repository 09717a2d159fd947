# SPDX-License-Identifier: Apache-2.0
"""Describes the machine and the software that figures come from, so that a JSON file can be judged later.

Everything is read, nothing is assumed: what cannot be found out is recorded as "unknown".
"""
from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

UNKNOWN = "unknown"


def first_line(*command: str) -> str:
    if shutil.which(command[0]) is None:
        return UNKNOWN
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    lines = (result.stdout + result.stderr).strip().splitlines()
    return lines[0].strip() if result.returncode == 0 and lines else UNKNOWN


def cpu_model() -> str:
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    match = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return match.group(1).strip() if match else f"{UNKNOWN} {platform.machine()}"


def describe(root: Path) -> dict[str, object]:
    return {
        "cpu": cpu_model(),
        "cores_usable": len(os.sched_getaffinity(0)),
        "cores_online": os.cpu_count(),
        "kernel": platform.release(),
        "libc": " ".join(platform.libc_ver()),
        "load_before": os.getloadavg()[0],
        "gcc12": first_line("gcc-12", "--version"),
        "clang19": first_line("clang-19", "--version"),
        "openmpi": first_line("mpirun.openmpi", "--version"),
        "marline_commit": first_line("git", "-C", str(root), "describe", "--always", "--dirty"),
    }


def load(machine: dict[str, object]) -> float:
    return float(str(machine["load_before"]))


def one_line(machine: dict[str, object]) -> str:
    return (f"{machine['cpu']}, {machine['cores_usable']} cores, Linux {machine['kernel']}, "
            f"load {load(machine):.2f} before the run")
