#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long the first process of a job lives that does next to nothing, by turns: of an MPI program (MPI_Init and
MPI_Finalize), and of a program with one target region and one worker, the job's other process, as a device and as the
cluster's only node. All jobs are started by the same mpirun. Each process stands below bench/device/lifetime.c, which
takes the time, so the launcher's own time does not count.

Then the same of an MPI program of two ranks without devices, with the other rank as a device that is not used, and
with a region of each rank on each of both.

Figures in ms, medians: `mpi_life`, `node_life`, `cluster_life`; `node_extra` and `cluster_extra`, the second and third
less the first of the same turn; `node_first` and `cluster_first`, what the region takes, which starts the device;
`ranks_life`, `ranks_extra` for devices that are not used, `ranks_used_extra` for devices that are used, less
`ranks_life` of the same turn."""

import argparse
import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

LLVM = "/usr/lib/llvm-19/lib"
SECONDS = 30


def lifetime(words: list[str]) -> float:
    return run(words)[0]


def run(words: list[str]) -> tuple[float, float]:
    """How long the first process lived, and what its region took, if it has one."""
    result = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS,
                            check=False)
    found = re.search(r"^lifetime (\S+) ms$", result.stdout, re.MULTILINE)
    if result.returncode != 0 or not found:
        sys.exit(f"start_end: status {result.returncode} of {' '.join(words)}: "
                 f"{(result.stdout + result.stderr).strip()}")
    first = re.search(r"^first (\S+) ms$", result.stdout, re.MULTILINE)
    return float(found[1]), float(first[1]) if first else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prefix", type=Path, help="the build tree")
    parser.add_argument("--turns", type=int, default=9)
    arguments = parser.parse_args()
    folder, lib = arguments.prefix / "bench" / "device", arguments.prefix / "lib"
    inherited = ("LD_PRELOAD", "LD_LIBRARY_PATH", "MARLINE_DEVICES")
    for name in inherited:
        os.environ.pop(name, None)
    start = ["mpirun.openmpi", "-n", "2", "--allow-run-as-root", "--bind-to", "none", "--oversubscribe",
             str(folder / "device-lifetime")]  # fmt: skip
    region = ["OMP_NUM_THREADS=1", "OMP_TARGET_OFFLOAD=mandatory",
              f"LD_PRELOAD={lib}/libmarline.so", f"LD_LIBRARY_PATH={lib}/marline/compat:{LLVM}",
              str(folder / "device-once-cpu")]  # fmt: skip
    mpi = [*start, str(folder / "device-messages-openmpi"), "--nothing"]
    node, cluster = [*start, "MARLINE_DEVICES=nodes", *region], [*start, "MARLINE_DEVICES=cluster", *region]
    both = [(lifetime(mpi), run(node), run(cluster)) for _ in range(arguments.turns)]
    turns = [(a, b[0], c[0]) for a, b, c in both]
    print(f"node_first {statistics.median(b[1] for _, b, _ in both):.3f} ms")
    print(f"cluster_first {statistics.median(c[1] for _, _, c in both):.3f} ms")
    print(f"mpi_life {statistics.median(a for a, _, _ in turns):.3f} ms")
    print(f"node_life {statistics.median(b for _, b, _ in turns):.3f} ms")
    print(f"cluster_life {statistics.median(c for _, _, c in turns):.3f} ms")
    print(f"node_extra {statistics.median(b - a for a, b, _ in turns):.3f} ms")
    print(f"cluster_extra {statistics.median(c - a for a, _, c in turns):.3f} ms")
    ranks = [*start, "OMP_NUM_THREADS=1",
             f"LD_PRELOAD={lib}/marline/openmpi/libmarline-mpi.so:{lib}/libmarline.so",
             f"LD_LIBRARY_PATH={lib}/marline/compat:{LLVM}"]  # fmt: skip
    each, devices = str(folder / "device-each-openmpi"), "MARLINE_DEVICES=nodes"
    lives = [(lifetime([*ranks, each, "nothing"]), lifetime([*ranks, devices, each, "nothing"]),
              lifetime([*ranks, devices, "OMP_TARGET_OFFLOAD=mandatory", each, "region"]))
             for _ in range(arguments.turns)]  # fmt: skip
    print(f"ranks_life {statistics.median(a for a, _, _ in lives):.3f} ms")
    print(f"ranks_extra {statistics.median(b - a for a, b, _ in lives):.3f} ms")
    print(f"ranks_used_extra {statistics.median(c - a for a, _, c in lives):.3f} ms")


if __name__ == "__main__":
    main()
