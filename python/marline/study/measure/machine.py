# SPDX-License-Identifier: Apache-2.0
"""Describes the machine and the software that figures come from, so that a result can be judged later. Everything is
read, nothing is assumed: what cannot be found out is recorded as "unknown"."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import time
from pathlib import Path

from marline.errors import Refusal
from marline.launch import compiled
from marline.layout import Layout
from marline.study.declare.plan import Point
from marline.study.measure.launch import compiler_command

UNKNOWN = "unknown"
SETTINGS = ("OMP_", "KMP_", "GOMP_", "MARLINE_", "OMPI_MCA_", "MPIR_", "HYDRA_")
CPU = Path("/sys/devices/system/cpu/cpu0")


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


def _content(path: Path) -> str:
    return path.read_text().strip() if path.is_file() else UNKNOWN


def _caches() -> dict[str, str]:
    return {f"L{_content(each / 'level')} {_content(each / 'type')}": _content(each / "size")
            for each in sorted((CPU / "cache").glob("index*"))}  # fmt: skip


def _memory() -> str:
    match = re.search(r"^MemTotal:\s*(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)
    return f"{int(match[1]) / 2**20:.1f} GiB" if match else UNKNOWN


def _version_of_mpi(layout: Layout, mpi: str) -> str:
    try:
        return compiled.find_launcher(layout, mpi).get("version", UNKNOWN)
    except Refusal:
        return UNKNOWN


def commit_of(here: Path, results: Path) -> str:
    """The commit of the repository of the folder `here`, with "-dirty" if its files differ from it. Those in the folder
    `results` may: they are being written."""
    git = ("git", "-C", str(here))
    top, commit = first_line(*git, "rev-parse", "--show-toplevel"), first_line(*git, "describe", "--always")
    if UNKNOWN in (top, commit):
        return UNKNOWN
    inside = results.resolve().is_relative_to(top)
    files = [":/", *([f":(top,exclude){results.resolve().relative_to(top)}"] if inside else [])]
    changed = first_line(*git, "status", "--porcelain", "--untracked-files=no", "--", *files)
    return commit if changed == UNKNOWN else f"{commit}-dirty"


def describe(points: list[Point], layout: Layout, here: Path, results: Path) -> dict[str, object]:
    """`here` is the study's folder: its repository's commit is the one that counts. `results` is written."""
    compilers = sorted({compiler_command(p.variant.compiler) for p in points if p.variant.compiler})
    mpis = sorted({p.mpi for p in points if p.mpi != "none"})
    return {
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "cpu": cpu_model(),
        "cores_usable": len(os.sched_getaffinity(0)),
        "cores_online": os.cpu_count(),
        "caches": _caches(),
        "memory": _memory(),
        "governor": _content(CPU / "cpufreq" / "scaling_governor"),
        "kernel": re.match(r"[\d.]*", platform.release())[0],  # without the packager's suffix
        "libc": " ".join(platform.libc_ver()),
        "load": list(os.getloadavg()),
        "compilers": {name: first_line(name, "--version") for name in compilers},
        "mpi": {name: _version_of_mpi(layout, name) for name in mpis},
        "commit": commit_of(here, results),
        "environment": {key: value for key, value in sorted(os.environ.items()) if key.startswith(SETTINGS)},
    }


def fingerprints(layout: Layout, points: list[Point]) -> dict[str, str]:
    """Of Marline's libraries and the programs, by name: whoever is built anew with another content changes, and runs
    before and after would not be of one population."""
    files = {Path(found) for p in points if (found := shutil.which(p.command[0]))}
    files |= {path for path in (layout.prefix / "lib").rglob("libmarline*.so") if path.is_file()}
    return {str(path.relative_to(layout.prefix)) if path.is_relative_to(layout.prefix) else path.name:
            hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in sorted(files)}  # fmt: skip


def one_line(machine: dict) -> str:
    return (f"{machine['cpu']}, {machine['cores_usable']} cores, Linux {machine['kernel']}, "
            f"load {machine['load'][0]:.2f} before the runs")
